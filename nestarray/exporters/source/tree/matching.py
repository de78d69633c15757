"""Programs that are equal up to settings, and to children that one of them lacks.

The first program is followed step by step on the values of the second. Equal programs make a class
(`grouping`). The second may pass one value for two inputs of the first, as self-attention does in the
place of attention to a memory. Where it lacks a child, the results of the child are some of its inputs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from nestarray.exporters.source.recording.records import (
    Call,
    Function,
    Value,
    functions_in,
    is_equal,
    values_in,
)
from nestarray.exporters.source.tree.modules import Module, Step, Use, results
from nestarray.exporters.source.tree.settings import is_setting, settings_of


@dataclasses.dataclass
class Match:
    """Two programs that are equal.

    Attributes:
        steps: for each step of the first the step of the second, or None for a call of a child that
            it lacks.
        values: value of the first → value of the second.
        outputs: for each output of the first the output of the second, or None.
        more: the values of the first that the second returns too.
        bypasses: call of a child that the second lacks → for each result the position of the input
            in its place.
    """

    steps: list[Step | None]
    values: dict[Value, Value]
    outputs: list[Value | None]
    more: list[Value] = dataclasses.field(default_factory=list)
    bypasses: dict[Use, tuple[int, ...]] = dataclasses.field(default_factory=dict)

    @property
    def is_whole(self) -> bool:
        """Whether both programs have all steps and outputs."""
        return not self.more and None not in self.steps and None not in self.outputs


def matched(
    first: Module, second: Module, is_same: Callable[[Module, Module], bool]
) -> Match | None:
    """The match of two programs, or None if they differ.

    Args:
        first, second: the modules.
        is_same: compares their children.
    """
    if first.layer or second.layer:
        return _matched_layers(first, second)
    try:
        return _Matcher(first, second, is_same).match()
    except _Different:
        return None


def is_same_program(
    first: Module, second: Module, is_same: Callable[[Module, Module], bool] | None = None
) -> bool:
    """Whether two modules have equal steps, settings included, and take the same inputs in one order.

    Args:
        first, second: the modules.
        is_same: compares their children; by default this function.
    """
    match = matched(first, second, is_same or is_same_program)
    if match is None or not match.is_whole:
        return False
    if [match.values.get(x) for x in first.inputs] != second.inputs:
        return False
    pairs = zip(_settings(first.steps), _settings(second.steps), strict=True)
    return all(is_equal(x, y) for x, y in pairs)


def _settings(steps: Sequence[Step]) -> list[Any]:
    return [value for step in steps for _, value in settings_of(step)]


def _matched_layers(first: Module, second: Module) -> Match | None:
    """The match of two layers: their steps are not written."""
    one, other = first.layer, second.layer
    if one is None or other is None or (one.target, one.form) != (other.target, other.form):
        return None
    counts = [(len(m.inputs), len(m.outputs)) for m in (first, second)]
    try:
        tuple(_pairs(one.kwargs, other.kwargs))
    except _Different:
        return None
    if counts[0] != counts[1]:
        return None
    inputs = zip(first.inputs, second.inputs, strict=True)
    return Match([*first.steps], dict(inputs), [*second.outputs])


class _Different(Exception):
    """Two programs differ."""


class _Matcher:
    def __init__(
        self, first: Module, second: Module, is_same: Callable[[Module, Module], bool]
    ) -> None:
        self.first, self.second, self.is_same = first, second, is_same
        self.values: dict[Value, Value] = {}
        self.inputs = {*first.inputs}
        #: Result of a child that the second lacks → the call.
        self.absent: dict[Value, Use] = {}

    def match(self) -> Match:
        self._match_variables()
        steps: list[Step | None] = []
        others = iter(self.second.steps)
        for step in self.first.steps:
            if isinstance(step, Use) and step.name not in self.second.children:
                if step.targets:
                    raise _Different
                self.absent |= {x: step for x in step.outputs if x is not None}
                steps.append(None)
            else:
                other = next(others, None)
                if other is None:
                    raise _Different
                self._match_steps(step, other)
                steps.append(other)
        if next(others, None) is not None:
            raise _Different
        outputs, more = self._outputs()
        if not {*self.second.inputs} <= {*self.values.values()}:
            raise _Different
        return Match(steps, self.values, outputs, more, self._bypasses())

    def _match_variables(self) -> None:
        """Variables have one name, source and dtype in both programs."""
        one, others = self.first.variables, self.second.variables
        kinds = [
            {name: (value.source, value.dtype) for name, value in variables.items()}
            for variables in (one, others)
        ]
        if kinds[0] != kinds[1]:
            raise _Different
        below = {(keys, name): x for keys, name, x in self.second.variables_below()}
        for keys, name, value in self.first.variables_below():
            if (keys, name) in below:
                self.values[value] = below[keys, name]

    def _outputs(self) -> tuple[list[Value | None], list[Value]]:
        """(output of the second for each of the first, values that the second returns too)."""
        outputs: list[Value | None] = [None] * len(self.first.outputs)
        more: list[Value] = []
        for y in self.second.outputs:
            free = [i for i, x in enumerate(self.first.outputs) if outputs[i] is None]
            place = next((i for i in free if self._is(self.first.outputs[i], y)), None)
            if place is not None:
                outputs[place] = y
                continue
            same = [x for x, z in self.values.items() if z is y]
            if not same:
                raise _Different
            more.append(same[-1])
        return outputs, more

    def _bypasses(self) -> dict[Use, tuple[int, ...]]:
        """The inputs in the place of results of children that the second lacks."""
        bypasses: dict[Use, tuple[int, ...]] = {}
        for use in dict.fromkeys(self.absent.values()):
            places = []
            for x in use.outputs:
                y = self.values.get(x) if x else None
                like = [i for i, z in enumerate(use.inputs) if z and self.values.get(z) is y]
                places.append(like[0] if like else 0)
            bypasses[use] = tuple(places)
        return bypasses

    # -- steps -----------------------------------------------------------------------------

    def _match_steps(self, one: Step, other: Step) -> None:
        if isinstance(one, Use) and isinstance(other, Use):
            is_same = (one.name, one.targets) == (other.name, other.targets)
            counts = [(len(use.inputs), len(use.outputs)) for use in (one, other)]
            if not is_same or counts[0] != counts[1] or not self.is_same(one.module, other.module):
                raise _Different
            self._match_values(zip(one.inputs, other.inputs, strict=True))
            self._note(one.outputs, other.outputs)
            return
        if not isinstance(one, Call) or not isinstance(other, Call) or one.target != other.target:
            raise _Different
        functions = functions_in(one), functions_in(other)
        if len(functions[0]) != len(functions[1]):
            raise _Different
        self._match_values(_pairs([[*one.args], one.kwargs], [[*other.args], other.kwargs]))
        for a, b in zip(*functions, strict=True):
            self._match_functions(a, b)
        self._note(results(one), results(other))

    def _match_functions(self, one: Function, other: Function) -> None:
        if one.name != other.name or len(one.calls) != len(other.calls):
            raise _Different
        self._note(values_in(one.inputs), values_in(other.inputs))
        for a, b in zip(one.calls, other.calls, strict=True):
            self._match_steps(a, b)
        self._match_values(_pairs(one.output, other.output))

    # -- values ----------------------------------------------------------------------------

    def _match_values(self, pairs: Iterator[tuple[Any, Any]]) -> None:
        for x, y in pairs:
            if (x is None) != (y is None) or (x is not None and not self._is(x, y)):
                raise _Different

    def _note(self, values: Sequence[Value | None], others: Sequence[Value | None]) -> None:
        if len(values) != len(others):
            raise _Different
        self.values |= {x: y for x, y in zip(values, others, strict=True) if x and y}

    def _is(self, x: Value, y: Value) -> bool:
        """Whether a value of the first is one of the second; inputs are bound when they are used."""
        if x in self.values:
            return self.values[x] is y
        use = self.absent.get(x)
        if use is not None:
            is_bypassed = any(z is not None and self._is(z, y) for z in use.inputs)
        else:
            is_bypassed = x in self.inputs and y in self.second.inputs and _kind(x) == _kind(y)
            if x not in self.inputs:
                return x is y
        if is_bypassed:
            self.values[x] = y
        return is_bypassed


def _kind(value: Value) -> str:
    """The dtype of a value; masks may be integers."""
    return "int" if value.dtype.startswith(("bool", "int", "uint")) else value.dtype


def _pairs(one: Any, other: Any) -> Iterator[tuple[Any, Any]]:
    """The pairs of the Values of two nests, which differ in settings alone."""
    if isinstance(one, Value) and isinstance(other, Value):
        yield one, other
    elif isinstance(one, slice) and isinstance(other, slice):
        bounds = [[index.start, index.stop, index.step] for index in (one, other)]
        yield from _pairs(*bounds)
    elif isinstance(one, Mapping) and isinstance(other, Mapping) and [*one] == [*other]:
        yield from _pairs([*one.values()], [*other.values()])
    elif is_setting(one) and is_setting(other):
        pass
    elif isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        if len(one) != len(other):
            raise _Different
        for a, b in zip(one, other, strict=True):
            yield from _pairs(a, b)
    elif isinstance(one, Function) and isinstance(other, Function):
        pass
    elif type(one) is not type(other) or one != other:
        raise _Different
