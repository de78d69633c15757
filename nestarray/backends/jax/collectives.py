"""JAX: `nestarray.transforms.collectives`."""

from __future__ import annotations

from jax import lax

psum = lax.psum
pmean = lax.pmean
pmax = lax.pmax
pmin = lax.pmin
all_gather = lax.all_gather
axis_index = lax.axis_index
axis_size = lax.axis_size
