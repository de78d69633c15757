"""JAX: `nestarray.ops.bessel`."""

from __future__ import annotations

import jax.scipy.special as jsp

from nestarray.backends.jax.elementwise import _floating
from nestarray.backends.jax.special import not_half

# exp(|x|) of half precision is infinite long before the product with it
i0 = _floating(not_half(jsp.i0))
i0e = _floating(not_half(jsp.i0e))
i1 = _floating(not_half(jsp.i1))
i1e = _floating(not_half(jsp.i1e))
