"""JAX: `nestarray.ops.bessel`."""

from __future__ import annotations

from typing import Any

import jax
import jax.scipy.special as jsp

from nestarray.backends.jax.promotion import floating
from nestarray.backends.jax.special import _not_half


@jax.custom_jvp
def _i0(x: Any) -> Any:
    return jsp.i0(x)


@_i0.defjvp
def _(primals: tuple[Any], tangents: tuple[Any]) -> tuple[Any, Any]:
    """I₁; JAX differentiates |x|, which has the slope 1 at 0 there."""
    return _i0(*primals), tangents[0] * jsp.i1(*primals)


# exp(|x|) of half precision is infinite long before the product with it
i0 = floating(_not_half(_i0))
i0e = floating(_not_half(jsp.i0e))
i1 = floating(_not_half(jsp.i1))
i1e = floating(_not_half(jsp.i1e))
