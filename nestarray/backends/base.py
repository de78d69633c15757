"""What the chapters of several backends share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nestarray import dtypes

Function = Callable[..., Any]


def promoting(
    native: Function, cast: Callable[[Any, Any], Any], *, scalar_ok: bool = True
) -> Function:
    """A two-operand function that promotes as `nestarray.dtypes` says.

    Args:
        native: the framework's function; called at once where the dtypes are equal.
        cast: ``cast(x, dtype)`` makes an array or a Python number an array of `dtype`.
        scalar_ok: `native` takes a Python number beside an array, as weakly typed.

    Returns:
        the function; its ``select(types)`` skips the test where the types settle it.
    """

    def call(x1: Any, x2: Any, /) -> Any:
        if x1.dtype is x2.dtype:
            return native(x1, x2)
        return by_promotion(x1, x2)

    def by_promotion(x1: Any, x2: Any, /) -> Any:
        dtype = dtypes.result_dtype(x1, x2)
        return native(cast(x1, dtype), cast(x2, dtype))

    def with_scalar(x1: Any, x2: Any, /) -> Any:
        array, scalar = (x2, x1) if isinstance(x1, (bool, int, float, complex)) else (x1, x2)
        if scalar_ok and _stays(scalar, dtypes.dtype_of(array).kind):
            return native(x1, x2)
        return by_promotion(x1, x2)

    def select(types: tuple[type, ...]) -> Function:
        numbers = sum(issubclass(t, (bool, int, float, complex)) for t in types)
        return call if numbers == 0 else with_scalar if numbers == 1 else by_promotion

    call.select = select  # type: ignore[attr-defined]
    return call


_RANK = {"bool": 0, "uint": 1, "int": 1, "float": 2, "complex": 3}


def _stays(scalar: Any, kind: str) -> bool:
    """Whether a Python number leaves the dtype of an array of this kind as it is."""
    return _RANK[dtypes.scalar_dtype(scalar).kind] <= _RANK[kind]
