"""NumPy: `nestarray.ops.gamma`, by SciPy if installed, else by default bodies."""

from __future__ import annotations

from nestarray.backends.numpy.special import _pair_in_float32, _scipy

if _scipy is not None:
    gammainc = _pair_in_float32(_scipy.gammainc)
    gammaincc = _pair_in_float32(_scipy.gammaincc)
