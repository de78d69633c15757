"""One compiled call for all leaves of a tree, after enough calls to pay for compilation.

JAX and TensorFlow add two small arrays in 5 and 16 µs; a compiled function of all leaves takes 2
µs per leaf. Compilation takes about 1 ms per leaf, which about a hundred calls save. Hence a tree
of at least `LEAST` leaves is compiled from the `CALLS`-th call of an op on trees of that size on.
After `CHANGES` changes of shapes or dtypes, compilation stops for that op and size.

Leaves are compiled `PART` at a time: compilation time grows faster than the number of leaves, and
equal parts share a program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

LEAST = 8
CALLS = 100
CHANGES = 4
PART = 128

Columns = tuple[Any, ...]
Run = Callable[..., tuple[Any, ...]]


class Plan:
    """The state of one op on trees of one size."""

    __slots__ = ("calls", "changes", "run")

    def __init__(self) -> None:
        self.calls = self.changes = 0
        self.run: Run | None = None


def when_it_pays(
    prepare: Callable[[Columns], Run], is_possible: Callable[[], bool]
) -> Callable[..., tuple[Any, ...] | None]:
    """A function of all leaves; it returns None if the caller must go leaf by leaf.

    Args:
        prepare: compiles a function of columns (tuples of leaves, or one value for all leaves); it
            raises for columns of other shapes or dtypes.
        is_possible: whether a compiled function may replace the calls at present.
    """
    plans: dict[int, Plan] = {}

    def many(*columns: Any) -> tuple[Any, ...] | None:
        count = next(len(c) for c in columns if c.__class__ is tuple)
        if count < LEAST or not is_possible():
            return None
        plan = plans.get(count)
        if plan is None:
            plan = plans[count] = Plan()
        plan.calls += 1
        if plan.calls < CALLS or plan.changes > CHANGES:
            return None
        try:
            if plan.run is None:
                plan.run = prepare(columns)
            return plan.run(*columns)
        except Exception:  # changed leaves; or the calls per leaf report the error
            plan.changes += 1
            plan.run = None
            return None

    many.plans = plans  # type: ignore[attr-defined]  # by number of leaves
    return many


def parts(columns: Columns) -> list[Columns]:
    """`columns` in parts of at most `PART` leaves."""
    count = next(len(c) for c in columns if c.__class__ is tuple)
    return [
        tuple([c[i : i + PART] if c.__class__ is tuple else c for c in columns])
        for i in range(0, count, PART)
    ]
