"""Forward mode: each value carries its tangent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nestarray import ops
from nestarray.transforms.autodiff.values import NUMBERS, Dual, stripped


def jvp(
    fn: Callable[..., tuple[tuple[Any, ...], tuple[Any, ...]]],
    arrays: list[Any],
    tangents: list[Any],
    name: str,
) -> tuple[Any, Any, Any]:
    """The backend interface of ``transforms.py``: (results, other arrays, tangents)."""
    level = next(NUMBERS)
    found, others = fn(*(Dual(x, level, t) for x, t in zip(arrays, tangents, strict=True)))
    results = tuple([stripped(y, level) for y in found])
    moved = [
        ops.zeros_like(value) if y is value else y.tangent
        for y, value in zip(found, results, strict=True)
    ]
    return results, tuple([stripped(y, level) for y in others]), moved
