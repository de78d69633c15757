"""JAX: `nestarray.ops.bessel`."""

from __future__ import annotations

import jax.scipy.special as jsp

from nestarray.backends.base import floating
from nestarray.backends.jax.elementwise import _cast

i0 = floating(jsp.i0, _cast)
i0e = floating(jsp.i0e, _cast)
i1 = floating(jsp.i1, _cast)
i1e = floating(jsp.i1e, _cast)
