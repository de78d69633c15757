"""Cases of `nestarray.ops.sorting`; the oracle is NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.cases import Case

Rng = np.random.Generator


def apart(rng: Rng) -> tuple[Any, ...]:
    """Elements far enough apart that a small step does not change their order."""
    return (rng.permutation(24).reshape(2, 3, 4) / 4 - 3,)


def with_ties(rng: Rng) -> tuple[Any, ...]:
    return (rng.integers(-2, 2, (3, 9)),)


def bools(rng: Rng) -> tuple[Any, ...]:
    return (rng.random((2, 6)) < 0.5,)


def bytes_(rng: Rng) -> tuple[Any, ...]:
    return (rng.integers(0, 255, (2, 6), dtype="uint8"),)


def extremes(rng: Rng) -> tuple[Any, ...]:
    return (np.asarray([0, -(2**63), 2**63 - 1, -1, 2**62 + 1, 2**62]),)


def with_nan(rng: Rng) -> tuple[Any, ...]:
    x = rng.standard_normal((3, 5))
    x[0, 1] = x[0, 3] = x[1, 0] = np.nan
    x[0, 2], x[1, 3], x[1, 1] = np.inf, np.inf, -np.inf
    return (x,)


def ordered(x: np.ndarray, axis: int = -1, descending: bool = False) -> np.ndarray:
    result = np.sort(x, axis=axis)
    return np.flip(result, axis) if descending else result


def order(x: np.ndarray, axis: int = -1, descending: bool = False) -> np.ndarray:
    """By Python's `sorted`, which is stable in both directions; NaN as the greatest."""

    def positions(row: np.ndarray) -> list[int]:
        def key(i: int) -> tuple[bool, Any]:
            return (True, 0) if row[i] != row[i] else (False, row[i].item())

        return sorted(range(len(row)), key=key, reverse=descending)

    return np.apply_along_axis(positions, axis, x)


CASES = [
    Case("sort", apart, reference=ordered),
    Case("sort", apart, {"axis": 1}, reference=ordered, id="axis"),
    Case("sort", apart, {"axis": 0, "descending": True}, reference=ordered, id="descending"),
    *(
        Case(
            op,
            args,
            {"descending": down},
            reference=reference,
            differentiable=False,
            id=f"{name}-{'down' if down else 'up'}",
        )
        for op, reference in (("sort", ordered), ("argsort", order))
        for name, args in (
            ("ties", with_ties),
            ("nan", with_nan),
            ("bool", bools),
            ("uint8", bytes_),
        )
        for down in (False, True)
    ),
    *(
        Case(
            op,
            extremes,
            {"descending": down},
            reference=reference,
            differentiable=False,
            jit=False,
            id=f"extremes-{'down' if down else 'up'}",
        )
        for op, reference in (("sort", ordered), ("argsort", order))
        for down in (False, True)
    ),
    Case("argsort", apart, reference=order, differentiable=False),
    Case("argsort", apart, {"axis": 1}, reference=order, differentiable=False, id="axis"),
    Case(
        "argsort",
        apart,
        {"axis": 0, "descending": True},
        reference=order,
        differentiable=False,
        id="descending",
    ),
    # Of three elements the middle one in its place leaves one order only;
    # tests/ops/test_partition.py has longer axes.
    *(
        Case(
            op,
            lambda rng: (rng.permutation(12).reshape(4, 3) / 4, 1),
            {"axis": -1},
            reference=getattr(np, op),
            differentiable=op == "partition",
        )
        for op in ("partition", "argpartition")
    ),
    Case(
        "partition",
        lambda rng: (rng.integers(-9, 9, (3, 2)), -2),
        {"axis": 0},
        reference=np.partition,
        differentiable=False,
        id="integers",
    ),
    Case(
        "lexsort",
        lambda rng: ([rng.integers(0, 3, (2, 9)) for _ in range(3)],),
        reference=np.lexsort,
        differentiable=False,
    ),
    Case(
        "lexsort",
        lambda rng: ([rng.standard_normal((4, 2)), rng.integers(0, 2, (4, 2)) > 0],),
        {"axis": 0},
        reference=np.lexsort,
        differentiable=False,
        id="first-axis",
    ),
]
