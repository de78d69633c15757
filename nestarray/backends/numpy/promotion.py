"""NumPy: promotion of operands of several dtypes and of Python numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nestarray.backends import promotion
from nestarray.backends.base import refuse_complex
from nestarray.backends.numpy.core import native_dtype


def cast(x: Any, dtype: Any, like: Any = None) -> Any:
    """An array or a Python number as an array of `dtype`; `like` has no effect."""
    return np.asarray(x, dtype=native_dtype(dtype))


def has_weak_numbers(dtype: Any) -> bool:
    """Whether Python numbers are weak with arrays of `dtype`; with ml_dtypes' bfloat16 they give
    float32."""
    return dtype.kind != "V"


def promoting(
    native: Callable[..., Any], *, declined: Any = None, **kind: bool
) -> Callable[..., Any]:
    """A two-operand function that promotes; see `nestarray.backends.promotion`."""
    return promotion.promoting(
        native, cast, scalar_ok=has_weak_numbers, reflected=native, declined=declined, **kind
    )


def ordering(native: Callable[..., Any], **kind: bool) -> Callable[..., Any]:
    """`promoting` for real numbers; NumPy would order complex numbers lexicographically."""

    def array_first(x1: Any, x2: Any, /) -> Any:
        if x1.dtype.kind == "c":
            refuse_complex(x1)
        return native(x1, x2)

    def number_first(x1: Any, x2: Any, /) -> Any:
        refuse_complex(x2)
        return native(x1, x2)

    for function in (array_first, number_first):  # for Containers, whose dtypes are known
        function.for_dtype = lambda dtype: None if dtype.kind == "c" else native
    return promotion.promoting(
        array_first, cast, scalar_ok=has_weak_numbers, reflected=number_first, **kind
    )


def floating(
    native: Callable[..., Any], of_complex: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """`native` with integers cast to float32; `of_complex` for complex numbers."""
    return promotion.floating(native, cast, of_complex)


def floating_pair(
    native: Callable[..., Any], of_complex: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """Like `floating`, for two operands of one dtype."""
    return promotion.floating_pair(native, cast, of_complex)


promoted = promotion.promoting_all(cast)
