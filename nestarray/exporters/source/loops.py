"""Loops over the modules of a list, found among the steps of a body."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from nestarray.exporters.source.modules import Path, Step, Use, arguments
from nestarray.exporters.source.records import Value, values_in


@dataclasses.dataclass(eq=False)
class Loop:
    """Calls of the modules of a list, one after the other.

    Attributes:
        uses: the calls.
        carried: index among the inputs → index among the outputs of the call before.
    """

    uses: list[Use]
    carried: dict[int, int]


Item = Step | Loop


def with_loops(
    steps: Sequence[Step], output: Any, is_same: Callable[[Path, Path], bool]
) -> list[Item]:
    """The steps, with a Loop for successive calls of a list of modules.

    Args:
        steps: the steps.
        output: nest of the results.
        is_same: whether the calls of two children are written with the same text.
    """
    items: list[Item] = []
    used: dict[Value, list[int]] = {}
    for i, step in enumerate([*steps, None]):
        for value in values_in(output) if step is None else arguments(step):
            used.setdefault(value, []).append(i)
    i = 0
    while i < len(steps):
        stop = i + 1
        while stop < len(steps) and _follows(steps[stop - 1], steps[stop], is_same):
            stop += 1
        uses = [s for s in steps[i:stop] if isinstance(s, Use)]
        loop = _loop(uses, used, i, stop) if _is_whole(uses, steps) else None
        if loop is None:
            items.append(steps[i])
            i += 1
        else:
            items.append(loop)
            i = stop
    return items


def _follows(a: Step, b: Step, is_same: Callable[[Path, Path], bool]) -> bool:
    """Whether `b` calls the next module of a list after `a`."""
    if not isinstance(a, Use) or not isinstance(b, Use):
        return False
    if (
        len(a.name) < 2
        or a.name[:-1] != b.name[:-1]
        or not (a.name[-1].isdigit() and b.name[-1].isdigit())
    ):
        return False
    return int(b.name[-1]) == int(a.name[-1]) + 1 and is_same(a.name, b.name)


def _is_whole(uses: list[Use], steps: Sequence[Step]) -> bool:
    """Whether all calls of the modules of a list are among some."""
    lists = {use.name[:-1] for use in uses}
    return len(uses) == sum(isinstance(s, Use) and s.name[:-1] in lists for s in steps)


def _loop(uses: list[Use], used: dict[Value, list[int]], start: int, stop: int) -> Loop | None:
    """The loop of calls, if each takes the same values or the results of the one before."""
    if len(uses) < 2 or uses[0].name[-1] != "0":
        return None
    carried: dict[int, int] = {}
    for a, b in itertools.pairwise(uses):
        if len(a.inputs) != len(b.inputs):
            return None
        for i, (x, y) in enumerate(zip(a.inputs, b.inputs, strict=True)):
            if y in a.outputs:
                if carried.setdefault(i, a.outputs.index(y)) != a.outputs.index(y):
                    return None
            elif x is not y or i in carried:
                return None
    for j, use in enumerate(uses[:-1]):  # nothing outside of the loop uses its results
        if any(k != start + j + 1 for value in use.outputs for k in used.get(value, [])):
            return None
    return Loop(uses, carried) if carried else None
