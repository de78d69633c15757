"""Running a function on abstract arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nestarray.dispatch import without_arrays
from nestarray.transforms.abstract import loops
from nestarray.transforms.abstract.interpreter import apply
from nestarray.transforms.recording import recording


def evaluate(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any] | None = None
) -> Any:
    """The abstract result of a function over `na`; nothing is recorded.

    Args:
        function: the function.
        args, kwargs: nests of `Abstract`, `OpenSize` and other values.

    Raises:
        UndecidedSize: it asks for the values of an array or of a size.
    """
    with without_arrays(apply), recording(loops):
        return function(*args, **(kwargs or {}))
