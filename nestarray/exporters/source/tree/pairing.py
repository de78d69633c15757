"""Pairs of steps that two modules share.

Steps are paired if they call the same function or child with arguments of the same form. Of all
pairings in the order of the programs, the best has the highest score: arguments count by the similarity
of the calls that make them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nestarray.exporters.source.recording.records import Call, Function, Value
from nestarray.exporters.source.tree.modules import Module, Step, Use, arguments, results
from nestarray.exporters.source.tree.settings import is_setting

#: Numbers of a step of the first module and of one of the second; None for a step without a partner.
Pair = tuple[int | None, int | None]

#: The calls before an argument that are compared.
_DEPTH = 5
#: The most comparisons of steps; longer programs share only their start.
_MOST = 40_000


class Pairing:
    """Finds the pairs of steps of two modules.

    Args:
        whole, part: the modules.
        may_call: whether one step may call two children.
        of: variable of `part` → variable of `whole`.
        choices: choice of `whole` → module → its value.
    """

    def __init__(
        self,
        whole: Module,
        part: Module,
        may_call: Callable[[Module, Module], bool],
        of: Mapping[Value, Value],
        choices: Mapping[Value, Mapping[Module, Value | None]],
    ) -> None:
        self.whole, self.part, self.may_call = whole, part, may_call
        self.of, self.choices = of, choices
        self.makers = [
            {value: (step, i) for step in module.steps for i, value in enumerate(results(step))}
            for module in (whole, part)
        ]
        self.known: dict[tuple[Value, Value, int], float] = {}

    def pairs(self) -> list[Pair]:
        """The numbers of paired steps, and of those that one module makes alone, in order."""
        one, other = self.whole.steps, self.part.steps
        start = 0
        while start < min(len(one), len(other)) and self._score(one[start], other[start]) == 1:
            start += 1
        rows, columns = len(one) - start, len(other) - start
        pairs: list[Pair] = [(i, i) for i in range(start)]
        if rows * columns > _MOST:
            pairs += [(i, None) for i in range(start, len(one))]
            return [*pairs, *((None, j) for j in range(start, len(other)))]
        best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
        for i in reversed(range(rows)):
            for j in reversed(range(columns)):
                score = self._score(one[start + i], other[start + j])
                both = best[i + 1][j + 1] + score if score > 0 else 0.0
                best[i][j] = max(both, best[i + 1][j], best[i][j + 1])
        i = j = 0
        alone: list[int] = []  # steps of `part`, which follow those of `whole`
        while i < rows or j < columns:
            if i < rows and best[i][j] == best[i + 1][j]:
                pairs.append((start + i, None))
                i += 1
            elif j < columns and best[i][j] == best[i][j + 1]:
                alone.append(start + j)
                j += 1
            else:
                pairs += [(None, k) for k in alone]
                alone = []
                pairs.append((start + i, start + j))
                i, j = i + 1, j + 1
        return [*pairs, *((None, k) for k in alone)]

    def _score(self, one: Step, other: Step) -> float:
        """How well two steps fit: at most 1, and negative if they do not."""
        similarity = self._similarity_of(value_pairs(one, other)) if is_same_form(one, other) else 0
        if isinstance(one, Use) and isinstance(other, Use):
            may_call = is_same_form(one, other) and self.may_call(one.module, other.module)
            return (1 + similarity) / 2 if may_call else -1
        return 1.5 * similarity - 0.5

    def _similarity_of(self, pairs: Sequence[tuple[Any, Any]], depth: int = _DEPTH) -> float:
        found = [self._similarity(x, y, depth) for x, y in pairs]
        return sum(found) / len(found) if found else 1

    def _similarity(self, x: Any, y: Any, depth: int) -> float:
        """The similarity of two arguments, from 0 to 1, by the calls that make them.

        It is smaller if one is the other after further calls, which a module may lack.
        """
        if x is None or y is None:
            return 0.5
        if (x, y, depth) not in self.known:
            self.known[x, y, depth] = self._origin(x, y, depth)
        return self.known[x, y, depth]

    def _origin(self, x: Value, y: Value, depth: int) -> float:
        if x in self.choices:
            values = {*self.choices[x].values()} - {None}
            return max(self._similarity(value, y, depth) for value in values)
        one, other = (makers.get(v) for makers, v in zip(self.makers, (x, y), strict=True))
        if one is None and other is None:
            is_input = x in self.whole.inputs and y in self.part.inputs
            return float(kind(x) == kind(y) if is_input else self.of.get(y, y) is x)
        if not depth:
            return float(one is not None and other is not None and is_same_form(one[0], other[0]))
        found = [0.0]
        if one and other and one[1] == other[1] and is_same_form(one[0], other[0]):
            is_use = isinstance(one[0], Use)
            same = 1 if is_use else self._similarity_of(value_pairs(one[0], other[0]), depth - 1)
            found.append(0.25 + 0.75 * same)
        if one:
            found += [0.8 * self._similarity(v, y, depth - 1) for v in arguments(one[0])]
        if other:
            found += [0.8 * self._similarity(x, v, depth - 1) for v in arguments(other[0])]
        return max(found)


def kind(value: Value) -> str:
    """The dtype of a value; masks may be integers."""
    return "int" if value.dtype.startswith(("bool", "int", "uint")) else value.dtype


def value_pairs(one: Step, other: Step) -> list[tuple[Any, Any]]:
    """The pairs of the Values that two steps take."""
    if isinstance(one, Use) and isinstance(other, Use):
        return [*itertools.zip_longest(one.inputs, other.inputs)]
    if isinstance(one, Call) and isinstance(other, Call):
        return call_pairs(one, other) or []
    return []


def is_same_form(one: Step, other: Step) -> bool:
    """Whether two steps call the same function or child, with arguments of the same form."""
    if isinstance(one, Use) and isinstance(other, Use):
        return (one.name, one.targets) == (other.name, other.targets)
    if not isinstance(one, Call) or not isinstance(other, Call) or one.target != other.target:
        return False
    return len(results(one)) == len(results(other)) and call_pairs(one, other) is not None


def call_pairs(one: Call, other: Call) -> list[tuple[Any, Any]] | None:
    """The pairs of the Values that two calls take, or None if their arguments have another form.

    None may be in the place of a Value, also as the default of an argument.
    """
    given, own = _without_none(one.kwargs), _without_none(other.kwargs)
    shared = [key for key in given if key in own]
    if shared != [key for key in own if key in given]:
        return None
    pairs: list[tuple[Any, Any]] = []
    keys = dict.fromkeys([*given, *own])
    both = [*itertools.zip_longest(one.args, other.args)]
    both += [(given.get(key), own.get(key)) for key in keys]
    for x, y in both:
        is_value = isinstance(x, Value) or isinstance(y, Value)
        found = [(x, y)] if is_value and (x is None or y is None) else pairs_of(x, y)
        if found is None:
            return None
        pairs += found
    return pairs


def pairs_of(one: Any, other: Any) -> list[tuple[Any, Any]] | None:
    """The pairs of the Values of two nests, or None if they differ in more than settings."""
    if isinstance(one, Value) and isinstance(other, Value):
        return [(one, other)]
    if is_setting(one) or is_setting(other):
        return [] if is_setting(one) and is_setting(other) else None
    if isinstance(one, Function) and isinstance(other, Function):
        return []
    if isinstance(one, slice) and isinstance(other, slice):
        return pairs_of(bounds(one), bounds(other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        is_same = [*one] == [*other]
        return pairs_of([*one.values()], [*other.values()]) if is_same else None
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        found = [*map(pairs_of, one, other)]
        if len(one) != len(other) or any(pairs is None for pairs in found):
            return None
        return [pair for pairs in found for pair in pairs or ()]
    return [] if type(one) is type(other) and one == other else None


def _without_none(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords without those whose value is None, the default of an argument."""
    return {key: x for key, x in kwargs.items() if x is not None}


def bounds(index: slice) -> Sequence[Any]:
    return index.start, index.stop, index.step
