"""JAX: `nestarray.ops.special`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import jax.scipy.special as jsp

from nestarray.backends.base import floating_pair
from nestarray.backends.jax.elementwise import _cast, _floating, _promoting


def _not_half(native: Callable[..., Any]) -> Callable[..., Any]:
    """`native`, which refuses half precision, in float32 for it."""

    def call(x: Any, /) -> Any:
        is_half = x.dtype.itemsize == 2
        return native(x.astype(jnp.float32)).astype(x.dtype) if is_half else native(x)

    return call


erf = _floating(jsp.erf)
erfc = _floating(jsp.erfc)
ndtr = _floating(_not_half(jsp.ndtr))
ndtri = _floating(_not_half(jsp.ndtri))
erfinv = _floating(jsp.erfinv)
lgamma = _floating(jsp.gammaln)
digamma = _floating(jsp.digamma)
sinc = _floating(jnp.sinc)

xlogy = _promoting(floating_pair(jsp.xlogy, _cast))
xlog1py = _promoting(floating_pair(jsp.xlog1py, _cast))
