"""Forward mode: each value carries its tangent along."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nestarray import ops
from nestarray.transforms.autodiff.rules import Call, Place, Rule
from nestarray.transforms.autodiff.values import NUMBERS, Dual, is_inexact, stripped


def carry(rule: Rule, call: Call, stand_ins: dict[Place, Dual], level: int) -> Any:
    """The result of a call as stand-ins."""
    y = call.y
    several = isinstance(y, (tuple, list))
    if not several and not is_inexact(y):
        return y
    with np.errstate(all="ignore"):
        found = rule.push(call, {place: x.tangent for place, x in stand_ins.items()})
    if not several:
        return y if found is None else Dual(y, level, found)
    parts = [None] * len(y) if found is None else found
    items = [
        item if tangent is None else Dual(item, level, tangent)
        for item, tangent in zip(y, parts, strict=True)
    ]
    return type(y)(*items) if hasattr(y, "_fields") else type(y)(items)


def jvp(
    fn: Callable[..., tuple[tuple[Any, ...], tuple[Any, ...]]],
    arrays: list[Any],
    tangents: list[Any],
    name: str,
) -> tuple[Any, Any, Any]:
    """As every backend's ``transforms.py`` has it: (results, other arrays, tangents)."""
    level = next(NUMBERS)
    found, others = fn(*(Dual(x, level, t) for x, t in zip(arrays, tangents, strict=True)))
    results = tuple([stripped(y, level) for y in found])
    moved = [
        ops.zeros_like(value) if y is value else y.tangent
        for y, value in zip(found, results, strict=True)
    ]
    return results, tuple([stripped(y, level) for y in others]), moved
