"""Distributions.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#module-jax.scipy.stats
"""

from nestarray.frontends.jax.scipy.stats import bernoulli as bernoulli
from nestarray.frontends.jax.scipy.stats import beta as beta
from nestarray.frontends.jax.scipy.stats import expon as expon
from nestarray.frontends.jax.scipy.stats import gamma as gamma
from nestarray.frontends.jax.scipy.stats import laplace as laplace
from nestarray.frontends.jax.scipy.stats import multivariate_normal as multivariate_normal
from nestarray.frontends.jax.scipy.stats import norm as norm
from nestarray.frontends.jax.scipy.stats import poisson as poisson
from nestarray.frontends.jax.scipy.stats import t as t
from nestarray.frontends.jax.scipy.stats import uniform as uniform
