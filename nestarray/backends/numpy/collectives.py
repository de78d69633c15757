"""NumPy: `nestarray.transforms.collectives`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nestarray.backends.numpy.transforms import custom_vjp


def mark() -> int:
    """The number of the first derivative that could be taken inside of what begins now."""
    from nestarray.transforms.autodiff.values import NUMBERS  # which is written in ops

    return next(NUMBERS)


def hindrance(first: int) -> None:
    """Why values cannot be handed to other examples: there is nothing."""


def is_differentiated(x: Any, first: int) -> bool:
    """Whether `x` carries a derivative that began after `first`."""
    return getattr(x, "level", 0) >= first


def linear(
    value: Callable[[Any], Any],
    again: Callable[[Any], Any],
    transpose: Callable[[Any], Any],
    x: Any,
    first: int,
) -> Any:
    """A node of the tape; `again` takes what is behind one derivative, and so comes to `value`."""

    def pull(_: None, cotangents: list[Any]) -> list[Any]:
        return [transpose(cotangents[0])]

    def push(primals: list[Any], tangents: list[Any]) -> tuple[Any, Any]:
        return (again(*primals),), [again(*tangents)]

    return custom_vjp(lambda x: (again(x),), lambda x: ((again(x),), None), pull, [x], push)[0]
