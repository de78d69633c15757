"""Clusters."""

from nestarray.frontends.jax.scipy.cluster import vq as vq
