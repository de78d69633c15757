"""NumPy: `nestarray.ops.elementwise`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.base import floating, floating_pair, promoting
from nestarray.backends.numpy.core import native_dtype
from nestarray.dispatch import supports


def _cast(x: Any, dtype: Any) -> Any:
    return np.asarray(x, dtype=native_dtype(dtype))


abs = np.abs
ceil = np.ceil
conj = np.conj
floor = np.floor
imag = np.imag
nan_to_num = np.nan_to_num
negative = np.negative
positive = np.positive
real = np.real
sign = np.sign
square = np.square
trunc = np.trunc
angle = floating(np.angle, _cast)
reciprocal = floating(np.reciprocal, _cast)

add = promoting(np.add, _cast)
subtract = promoting(np.subtract, _cast)
multiply = promoting(np.multiply, _cast)
floor_divide = promoting(np.floor_divide, _cast)
remainder = promoting(np.remainder, _cast)
fmod = promoting(np.fmod, _cast)
pow = promoting(np.power, _cast)
maximum = promoting(np.maximum, _cast)
minimum = promoting(np.minimum, _cast)
fmax = promoting(np.fmax, _cast)
fmin = promoting(np.fmin, _cast)
nextafter = promoting(np.nextafter, _cast)
divide = promoting(floating_pair(np.divide, _cast), _cast)
copysign = promoting(floating_pair(np.copysign, _cast), _cast)


@supports(lambda x, decimals=0: decimals == 0)
def round(x: Any, /, *, decimals: int = 0) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.round.html"""
    return np.round(x)
