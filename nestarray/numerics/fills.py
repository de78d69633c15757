"""Python numbers that elements are set to.

Frameworks take some of them modulo 2 to the number of bits, refuse others, and drop imaginary
parts: an integer dtype takes what it holds, of a fraction the whole part; a floating one any real
number, which may become infinite; a bool whether it is not 0.
"""

from __future__ import annotations

import math
from typing import Any

from nestarray import dtypes
from nestarray.errors import ArgumentError


def check_fill(name: str, argument: str, value: Any, dtype: Any) -> None:
    """Raise where `value` is a Python number that elements of `dtype` are not set to.

    Args:
        name: of the op.
        argument: of its signature.
        value: the number; arrays are not looked at.
        dtype: of the elements, as the framework or nestarray has it.

    Raises:
        ArgumentError: `dtype` is of integers and does not hold it, or is real and it is complex.
    """
    kind = value.__class__
    if kind not in (int, float, complex):
        return
    own = dtypes.as_dtype(dtype)
    if own.is_integer and kind is not complex:
        info = dtypes.iinfo(own)
        if not info.min <= (math.trunc(value) if math.isfinite(value) else value) <= info.max:
            raise ArgumentError(
                f"{name}: {argument}: got {value!r} for elements of {own.name}, expected a number "
                f"from {info.min} to {info.max}; cast to a wider dtype first"
            )
    elif kind is complex and own.kind != "complex":
        raise ArgumentError(
            f"{name}: {argument}: got {value!r} for elements of {own.name}, expected a real number; "
            "cast to a complex dtype first"
        )
