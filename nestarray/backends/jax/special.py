"""JAX: `nestarray.ops.special`."""

from __future__ import annotations

import jax.numpy as jnp
import jax.scipy.special as jsp

from nestarray.backends.base import floating, floating_pair, promoting
from nestarray.backends.jax.elementwise import _cast

erf = floating(jsp.erf, _cast)
erfc = floating(jsp.erfc, _cast)
ndtr = floating(jsp.ndtr, _cast)
ndtri = floating(jsp.ndtri, _cast)
erfinv = floating(jsp.erfinv, _cast)
lgamma = floating(jsp.gammaln, _cast)
digamma = floating(jsp.digamma, _cast)
sinc = floating(jnp.sinc, _cast)

xlogy = promoting(floating_pair(jsp.xlogy, _cast), _cast)
xlog1py = promoting(floating_pair(jsp.xlog1py, _cast), _cast)
