"""Loops over the modules of a list, found among the steps of a body."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from nestarray.exporters.source.recording.records import Value, values_in
from nestarray.exporters.source.tree.modules import (
    Path,
    Step,
    Use,
    arguments,
    is_item,
    results,
)


@dataclasses.dataclass(eq=False)
class Loop:
    """Calls of the modules of a list, or of one module, one after the other.

    Attributes:
        uses: the calls.
        carried: index among the inputs → index among the outputs of the call before.
    """

    uses: list[Use]
    carried: dict[int, int]

    @property
    def is_repeated(self) -> bool:
        """Whether all calls are of one module."""
        return self.uses[0].name == self.uses[1].name


Item = Step | Loop


def arguments_of(item: Item) -> list[Value]:
    """The values that an item takes, without those that it makes itself."""
    return arguments(item.uses[0] if isinstance(item, Loop) else item)


#: The fewest calls of one module that are a loop.
_REPEATED = 3


def with_loops(
    steps: Sequence[Step],
    output: Any,
    is_same: Callable[[Path, Path], bool],
    is_optional: Callable[[Path], bool],
    has_slices: bool,
) -> list[Step | Loop]:
    """The steps, with a Loop for successive calls of a list of modules, or of one module.

    Args:
        steps: the steps.
        output: nest of the results.
        is_same: whether the calls of two children are written with the same text.
        is_optional: whether some modules of the class lack a child.
        has_slices: a loop may begin in the middle of a list.
    """

    def follows(a: Step, b: Step) -> bool:
        if not isinstance(a, Use) or not isinstance(b, Use):
            return False
        if a.name == b.name:
            return not is_optional(a.name)
        if not is_item(a.name) or not is_item(b.name) or a.name[:-1] != b.name[:-1]:
            return False
        return int(b.name[-1]) == int(a.name[-1]) + 1 and is_same(a.name, b.name)

    items: list[Step | Loop] = []
    used: dict[Value, list[int]] = {}
    for i, step in enumerate([*steps, None]):
        for value in values_in(output) if step is None else arguments(step):
            used.setdefault(value, []).append(i)
    i = 0
    while i < len(steps):
        stop = i + 1
        while stop < len(steps) and follows(steps[stop - 1], steps[stop]):
            stop += 1
        uses = [s for s in steps[i:stop] if isinstance(s, Use)]
        loop = _loop(uses, used, i, stop) if _is_whole(uses, steps, has_slices) else None
        if loop is None:
            items.append(steps[i])
            i += 1
        else:
            items.append(loop)
            i = stop
    return items


def _is_whole(uses: list[Use], steps: Sequence[Step], has_slices: bool) -> bool:
    """Whether some calls are all those of the modules of a list, or of its end; or of one module."""
    names = {use.name for use in uses}
    if len(names) < len(uses):
        return len(names) == 1 and len(uses) >= _REPEATED
    if len(uses) < 2:
        return False
    *name, first = uses[0].name
    others = [s.name for s in steps if isinstance(s, Use) and s not in uses]
    numbers = [int(key[-1]) for key in others if [*key[:-1]] == name]
    return max(numbers, default=-1) < int(first) and (has_slices or first == "0")


def _loop(uses: list[Use], used: dict[Value, list[int]], start: int, stop: int) -> Loop | None:
    """The loop of calls, if each takes the same values or the results of the one before."""
    carried: dict[int, int] = {}
    for a, b in itertools.pairwise(uses):
        if len(a.inputs) != len(b.inputs) or len(a.outputs) != len(b.outputs):
            return None
        for i, (x, y) in enumerate(zip(a.inputs, b.inputs, strict=True)):
            if y is not None and y in a.outputs:
                if carried.setdefault(i, a.outputs.index(y)) != a.outputs.index(y):
                    return None
            elif x is not y or i in carried:
                return None
    for j, use in enumerate(uses[:-1]):  # nothing outside of the loop uses its results
        if any(k != start + j + 1 for value in results(use) for k in used.get(value, [])):
            return None
    return Loop(uses, carried) if carried else None
