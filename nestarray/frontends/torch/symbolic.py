"""Functions of sizes, which torch.export writes for sizes that depend on values.

Sizes are Python numbers here. Upstream:
https://docs.pytorch.org/docs/stable/torch.html#symbolic-numbers
"""

from __future__ import annotations

import math
from typing import Any

__all__ = [
    "_sym_sqrt", "sym_float", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sum",
]  # fmt: skip


def sym_max(a: Any, b: Any) -> Any:
    """The larger one."""
    return max(a, b)


def sym_min(a: Any, b: Any) -> Any:
    """The smaller one."""
    return min(a, b)


def sym_not(a: Any) -> bool:
    """Whether `a` is false."""
    return not a


def sym_int(a: Any) -> int:
    """`a` as an integer."""
    return int(a)


def sym_float(a: Any) -> float:
    """`a` as a floating-point number."""
    return a * 1.0


def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """`t` if `b`, else `f`."""
    return t if b else f


def sym_sum(args: Any) -> Any:
    """The sum of a list."""
    return sum(args)


def _sym_sqrt(a: Any) -> float:
    """√a."""
    return math.sqrt(a)
