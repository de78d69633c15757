"""Python numbers as values of array elements.

Frameworks wrap some numbers, reject others and drop imaginary parts. In nestarray an integer dtype
accepts numbers in its range and truncates fractions; a floating dtype accepts every real number,
which may overflow to infinity; bool compares with 0.
"""

from __future__ import annotations

import math
from typing import Any

from nestarray import dtypes
from nestarray.errors import ArgumentError


def check_fill(name: str, argument: str, value: Any, dtype: Any) -> None:
    """Check that elements of `dtype` can be set to the Python number `value`.

    Args:
        name: of the op.
        argument: its name in the signature.
        value: the number; arrays are ignored.
        dtype: the framework's or nestarray's dtype of the elements.

    Raises:
        ArgumentError: an integer `dtype` has a smaller range, or `dtype` is real and `value`
        complex.
    """
    kind = type(value)  # torch.compile has no __class__ of sizes
    if kind not in (int, float, complex):
        return
    own = dtypes.as_dtype(dtype)
    if own.is_integer and kind is not complex:
        info = dtypes.iinfo(own)
        is_fraction = kind is float and math.isfinite(value)
        if not info.min <= (math.trunc(value) if is_fraction else value) <= info.max:
            raise ArgumentError(
                f"{name}: {argument}: got {value!r} for elements of {own.name}, expected a number "
                f"from {info.min} to {info.max}; cast to a wider dtype first"
            )
    elif kind is complex and own.kind != "complex":
        raise ArgumentError(
            f"{name}: {argument}: got {value!r} for elements of {own.name}, expected a real number; "
            "cast to a complex dtype first"
        )
