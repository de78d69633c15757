"""NumPy: `nestarray.ops.logic`."""

from __future__ import annotations

import numpy as np

from nestarray.backends.base import promoting
from nestarray.backends.numpy.elementwise import _cast

isfinite = np.isfinite
isinf = np.isinf
isnan = np.isnan
logical_not = np.logical_not
signbit = np.signbit
bitwise_invert = np.bitwise_invert

equal = promoting(np.equal, _cast)
not_equal = promoting(np.not_equal, _cast)
less = promoting(np.less, _cast)
less_equal = promoting(np.less_equal, _cast)
greater = promoting(np.greater, _cast)
greater_equal = promoting(np.greater_equal, _cast)
bitwise_and = promoting(np.bitwise_and, _cast)
bitwise_or = promoting(np.bitwise_or, _cast)
bitwise_xor = promoting(np.bitwise_xor, _cast)
bitwise_left_shift = promoting(np.left_shift, _cast)
bitwise_right_shift = promoting(np.right_shift, _cast)

logical_and = np.logical_and
logical_or = np.logical_or
logical_xor = np.logical_xor

isclose = np.isclose
