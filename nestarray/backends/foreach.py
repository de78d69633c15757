"""One compiled call for all leaves of a tree, once it pays.

JAX and TensorFlow take 5 and 16 µs to add two small arrays, and 2 µs a leaf where one compiled
function adds all of them. Compiling takes about a millisecond a leaf, which some hundred calls
save again. Hence the rule: a tree of at least `LEAST` leaves, in the `CALLS`-th call of one
op on trees of as many leaves, and of all further ones. Where other shapes and dtypes keep
coming, each of which would be compiled, it is given up after `CHANGES` of them.

Leaves are taken `PART` at a time: compiling takes more than its share of time for more, and
equal parts of a tree share what was compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nestarray.config import compiles_trees

#: The chapters whose ops compute element by element, whatever the values are.
CHAPTERS = frozenset(("activations", "elementwise", "logic", "transcendental"))

LEAST = 8
CALLS = 100
CHANGES = 4
PART = 128

Columns = tuple[Any, ...]
Run = Callable[..., tuple[Any, ...]]


class Plan:
    """What is known of one op on trees of one number of leaves."""

    __slots__ = ("calls", "changes", "run")

    def __init__(self) -> None:
        self.calls = self.changes = 0
        self.run: Run | None = None


def when_it_pays(
    prepare: Callable[[Columns], Run], is_possible: Callable[[], bool]
) -> Callable[..., tuple[Any, ...] | None]:
    """The function of all leaves at once, which gives None where it is to go leaf by leaf.

    Args:
        prepare: makes the compiled function of columns like those given: tuples of leaves,
            and values for all leaves. That raises when it is called with anything else.
        is_possible: whether a compiled function can stand for the calls just now.
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
        if plan.calls < CALLS or plan.changes > CHANGES or not compiles_trees():
            return None
        try:
            if plan.run is None:
                plan.run = prepare(columns)
            return plan.run(*columns)
        except Exception:  # changed leaves; or leaf by leaf the error will name the path
            plan.changes += 1
            plan.run = None
            return None

    many.plans = plans  # type: ignore[attr-defined]  # by number of leaves
    return many


def parts(columns: Columns) -> list[Columns]:
    """`columns` cut into rows of at most `PART` leaves."""
    count = next(len(c) for c in columns if c.__class__ is tuple)
    return [
        tuple([c[i : i + PART] if c.__class__ is tuple else c for c in columns])
        for i in range(0, count, PART)
    ]
