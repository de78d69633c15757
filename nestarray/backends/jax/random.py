"""JAX: `nestarray.ops.random`."""

from __future__ import annotations

from typing import Any

import numpy as np
from jax import lax
from jax.extend.random import threefry2x32_p as _threefry2x32

from nestarray.backends import threefry


def threefry2x32(key: Any, x0: Any, x1: Any) -> tuple[Any, Any]:
    """https://docs.jax.dev/en/latest/jax.extend.random.html"""
    threefry.check_words(key=key, x0=x0, x1=x1)
    first, second = _threefry2x32.bind(key[0], key[1], x0, x1)
    return first, second


def normal_quantile(u: Any) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.erf_inv.html"""
    return lax.mul(lax.erf_inv(u), np.asarray(2.0**0.5, u.dtype))
