"""JAX: `nestarray.ops.special`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import jax.scipy.special as jsp

from nestarray.backends.base import floating, floating_pair, promoting
from nestarray.backends.jax.elementwise import _cast


def _not_half(native: Callable[..., Any]) -> Callable[..., Any]:
    """`native`, which refuses half precision, in float32 for it."""

    def call(x: Any, /) -> Any:
        is_half = x.dtype.itemsize == 2
        return native(x.astype(jnp.float32)).astype(x.dtype) if is_half else native(x)

    return call


erf = floating(jsp.erf, _cast)
erfc = floating(jsp.erfc, _cast)
ndtr = floating(_not_half(jsp.ndtr), _cast)
ndtri = floating(_not_half(jsp.ndtri), _cast)
erfinv = floating(jsp.erfinv, _cast)
lgamma = floating(jsp.gammaln, _cast)
digamma = floating(jsp.digamma, _cast)
sinc = floating(jnp.sinc, _cast)

xlogy = promoting(floating_pair(jsp.xlogy, _cast), _cast)
xlog1py = promoting(floating_pair(jsp.xlog1py, _cast), _cast)
