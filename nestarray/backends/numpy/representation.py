"""NumPy: `nestarray.ops.representation`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.base import supports
from nestarray.backends.numpy.promotion import promoting

gcd = promoting(np.gcd)
lcm = promoting(np.lcm)


@supports(lambda x: x.dtype.kind in "iu")
def bitwise_count(x: Any, /) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.bitwise_count.html"""
    return np.bitwise_count(x)


@supports(lambda x1, x2: x1.dtype.kind == "f" and getattr(x2, "dtype", x1.dtype).kind in "iu")
def ldexp(x1: Any, x2: Any, /) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.ldexp.html"""
    return np.ldexp(x1, x2)
