"""NumPy: `nestarray.ops.bessel`, by SciPy if installed, else by default bodies."""

from __future__ import annotations

from nestarray.backends.numpy.special import _in_float32, _scipy

if _scipy is not None:
    i0 = _in_float32(_scipy.i0)
    i0e = _in_float32(_scipy.i0e)
    i1 = _in_float32(_scipy.i1)
    i1e = _in_float32(_scipy.i1e)
