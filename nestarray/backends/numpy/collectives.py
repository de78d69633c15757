"""NumPy: `nestarray.transforms.collectives`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def mark() -> int:
    """The number of the first derivative that could be taken inside of what begins now."""
    from nestarray.transforms.autodiff.values import NUMBERS  # which is written in ops

    return next(NUMBERS)


def hindrance(values: Sequence[Any], first: int) -> str | None:
    """Why values cannot be handed to other examples: they carry a derivative of this one."""
    if any(getattr(x, "level", 0) >= first for x in values):
        return (
            "NumPy has no derivative of one example by what others have; differentiate the function "
            "that na.vmap gives, or call it on the gradient"
        )
    return None
