"""The interface `nestarray.backends.protocol.Collectives` for NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nestarray.transforms.autodiff.custom import custom_vjp
from nestarray.transforms.autodiff.values import NUMBERS, Dual


def derivative_state() -> int:
    """The level that the next derivative will have."""
    return next(NUMBERS)


def obstacle(state: int) -> None:
    """None: NumPy can always collect values."""


def is_differentiated(x: Any, state: int) -> bool:
    """Whether `x` carries a derivative that began after `state`."""
    return getattr(x, "level", 0) >= state


def linear(
    value: Callable[[Any], Any],
    again: Callable[[Any], Any],
    transpose: Callable[[Any], Any],
    x: Any,
    state: int,
) -> Any:
    """A node of the tape; `again` applies the collective to primals and tangents.

    On the tape the value is of `again` too, which makes nodes for the other derivatives inside
    of the mapped function. Derivatives around it follow the values from example to example.
    """

    def pull(_: None, cotangents: Sequence[Any]) -> list[Any]:
        return [transpose(cotangents[0])]

    def push(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return (again(*primals),), [again(*tangents)]

    rule = push if isinstance(x, Dual) else None
    return custom_vjp(lambda x: (again(x),), lambda x: ((again(x),), None), pull, [x], rule)[0]
