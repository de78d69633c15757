"""Functions of sizes, which torch.export writes for open sizes and for sizes that values decide.

Sizes are Python numbers here. Upstream:
https://docs.pytorch.org/docs/stable/torch.html#symbolic-numbers
"""

from __future__ import annotations

import math
from typing import Any

__all__ = [
    "_sym_abs", "_sym_ceil", "_sym_floor", "_sym_round", "_sym_sqrt", "sym_float", "sym_int",
    "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sum",
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


def _sym_floor(a: Any) -> int:
    """The largest integer up to `a`; a call of ``math.floor`` on a symbolic number."""
    return math.floor(a)


def _sym_ceil(a: Any) -> int:
    """The smallest integer from `a` on; a call of ``math.ceil`` on a symbolic number."""
    return math.ceil(a)


def _sym_round(a: Any, ndigits: int | None = None) -> Any:
    """The nearest number, of ties the even one; a call of ``round`` on a symbolic number."""
    return round(a, ndigits)


def _sym_abs(a: Any) -> Any:
    """|a|."""
    return abs(a)
