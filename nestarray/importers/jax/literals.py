"""Numbers in a jaxpr: Python numbers of a graph where a function takes these, else constants."""

from __future__ import annotations

from typing import Any

from nestarray import dtypes

#: Primitives whose functions take an array and numbers in place of 0-d arrays.
TAKE_NUMBERS = frozenset(
    ["add", "atan2", "clamp", "div", "eq", "ge", "gt", "le", "lt", "max", "min", "mul", "ne",
     "pad", "pow", "rem", "sub", "dynamic_slice", "dynamic_update_slice"]
)  # fmt: skip


def number_of(value: Any) -> Any:
    """The Python number of a 0-d array; None for other arrays, keys, bools and complex numbers."""
    if getattr(value, "shape", ()) != () or dtypes.is_key(value):
        return None
    number = value.item() if hasattr(value, "item") else value
    return number if type(number) in (int, float) else None
