"""JAX: `nestarray.ops.bessel`."""

from __future__ import annotations

import jax.scipy.special as jsp

from nestarray.backends.jax.elementwise import _floating

i0 = _floating(jsp.i0)
i0e = _floating(jsp.i0e)
i1 = _floating(jsp.i1)
i1e = _floating(jsp.i1e)
