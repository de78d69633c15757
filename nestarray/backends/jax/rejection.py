"""JAX: `nestarray.ops.rejection`."""

from __future__ import annotations

from typing import Any

import jax
from jax import numpy as jnp
from jax import random as _random

from nestarray import dtypes
from nestarray.backends import xp
from nestarray.backends.jax.core import native_dtype
from nestarray.backends.jax.derivatives import with_derivative_of
from nestarray.backends.jax.keys import words_of
from nestarray.numerics import threefry
from nestarray.numerics.reparametrization import differentiable_gamma


def random_gamma(key: Any, a: Any, *, log_space: bool = False) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.random.loggamma.html"""
    key = words_of(key)
    threefry.check_key(key)
    threefry.check_uniform_dtype("random_gamma", dtypes.dtype_of(a))
    draw = _random.loggamma if log_space else _random.gamma
    with jax.threefry_partitionable(True):
        drawn = draw(_typed(key), jax.lax.stop_gradient(a), dtype=a.dtype)
    drawn = jnp.where(a == 0, -jnp.inf if log_space else 0.0, jnp.where(a < 0, jnp.nan, drawn))
    return _LOG_GAMMA(a, drawn) if log_space else _GAMMA(a, drawn)


def _drawn(log_space: bool) -> Any:
    """A function of parameters and samples that returns the samples."""

    def smooth(a: Any, drawn: Any) -> Any:
        return differentiable_gamma(xp, a, drawn, log_space)

    return with_derivative_of(smooth, lambda a, drawn: drawn)


_GAMMA, _LOG_GAMMA = _drawn(log_space=False), _drawn(log_space=True)


def random_poisson(key: Any, lam: Any, *, dtype: Any = "int32") -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.random.poisson.html"""
    key = words_of(key)
    wanted = native_dtype(threefry.check_rates(key, lam, dtype))
    with jax.threefry_partitionable(True):
        return _random.poisson(_typed(key), lam, dtype=wanted)


def random_binomial(key: Any, n: Any, p: Any) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.random.binomial.html

    Its loop would not end for n = ∞.
    """
    key = words_of(key)
    threefry.check_trials(key, n, p)
    n = jnp.where(jnp.isinf(n), jnp.nan, n)
    with jax.threefry_partitionable(True):
        return _random.binomial(_typed(key), n, p, dtype=p.dtype)


def _typed(key: Any) -> Any:
    return _random.wrap_key_data(key, impl="threefry2x32")
