"""NumPy: `nestarray.ops.elementwise`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.base import promoting
from nestarray.backends.numpy.core import native_dtype


def _cast(x: Any, dtype: Any) -> Any:
    return np.asarray(x, dtype=native_dtype(dtype))


abs = np.abs
exp = np.exp
negative = np.negative
positive = np.positive
bitwise_invert = np.bitwise_invert

add = promoting(np.add, _cast)
subtract = promoting(np.subtract, _cast)
multiply = promoting(np.multiply, _cast)
divide = promoting(np.divide, _cast)
floor_divide = promoting(np.floor_divide, _cast)
remainder = promoting(np.remainder, _cast)
pow = promoting(np.power, _cast)
bitwise_and = promoting(np.bitwise_and, _cast)
bitwise_or = promoting(np.bitwise_or, _cast)
bitwise_xor = promoting(np.bitwise_xor, _cast)
bitwise_left_shift = promoting(np.left_shift, _cast)
bitwise_right_shift = promoting(np.right_shift, _cast)
equal = promoting(np.equal, _cast)
not_equal = promoting(np.not_equal, _cast)
less = promoting(np.less, _cast)
less_equal = promoting(np.less_equal, _cast)
greater = promoting(np.greater, _cast)
greater_equal = promoting(np.greater_equal, _cast)
