"""Alignment of two modules: equal steps, of which one module may lack some.

A module lacks a step if the rest of its program is the same with an argument of the step in the
place of its result: ``x + h`` for ``x + downsample(h)``. It lacks a variable or an input if its
calls have the default None in the place of this value: a bias, or the mask of attention. An input
may have another one in its place: the queries for the keys of attention. A module lacks an output
that nothing uses: the keys and values of attention. It may take as an input a value that the other
one computes: the bias of relative positions.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nestarray.exporters.source.modules import Module, Path, Step, Use, arguments, parts, results
from nestarray.exporters.source.records import Call, Function, Value, is_equal, values_in
from nestarray.exporters.source.settings import is_setting, settings_of


def is_aligned(
    first: Module, second: Module, is_same: Callable[[Module, Module], bool] | None = None
) -> bool:
    """Whether two modules have equal steps, settings included.

    Args:
        first, second: the modules.
        is_same: compares their children; by default this function.
    """
    found = aligned(first, second, is_same or is_aligned)
    if found is None or None in (*found.own, *found.inputs):
        return False
    if found.own_outputs != second.outputs:
        return False
    pairs = zip(_settings(first.steps), _settings(second.steps), strict=True)
    return all(is_equal(x, y) for x, y in pairs)


def _settings(steps: Sequence[Step]) -> list[Any]:
    return [value for step in steps for _, value in settings_of(step)]


def aligned(
    whole: Module,
    part: Module,
    is_same: Callable[[Module, Module], bool],
    otherwise: Mapping[Value, Value | None] | None = None,
    constants: Mapping[Value, str] | None = None,
) -> Alignment | None:
    """The alignment of two modules, for inputs of `whole` that may match the inputs of `part`.

    Of several, it is the first with the fewest substitutions. If there is none, an input of `part` may be a value that `whole` computes, which gets this input too.
    """
    has_steps = bool(whole.kind) and whole.kind == part.kind and not whole.layer
    for computed in [None, *(part.inputs if has_steps else ())]:
        own = [x for x in part.inputs if x is not computed]
        new = {dataclasses.replace(computed): computed} if computed else {}
        wider = dataclasses.replace(whole, inputs=[*whole.inputs, *new]) if new else whole
        found: list[Alignment] = []
        for inputs in itertools.combinations(whole.inputs, len(own)):
            if [*map(_kind, inputs)] != [*map(_kind, own)]:
                continue
            given = dict(zip(inputs, own, strict=True)) | new
            alignment = Alignment(wider, part, given, is_same, otherwise or {}, constants or {})
            if alignment.succeeds():
                found.append(alignment)
        if found:
            return min(found, key=lambda alignment: len(alignment.otherwise))
    return None


class Alignment:
    """The steps of a module, aligned with the steps of a module that has all of them.

    Args:
        whole: the module that has all steps.
        part: the other one.
        given: input of `whole` → input of `part`.
        is_same: whether two children may be called by the same step.
        otherwise: values that modules lack → the values that they use instead, or None; an
            alignment that succeeds adds the values that `part` lacks.
        constants: variable → the text that computes it, which is equal in both modules.

    Attributes:
        own: for each step of `whole` the step of `part`, or None where it lacks it.
        inputs: for each input of `whole` the input of `part`, or None.
        outputs: the outputs of `whole`, and its values that only `part` returns.
        own_outputs: for each output the output of `part`, or None.
    """

    def __init__(
        self,
        whole: Module,
        part: Module,
        given: Mapping[Value, Value],
        is_same: Callable[[Module, Module], bool],
        otherwise: Mapping[Value, Value | None],
        constants: Mapping[Value, str],
    ) -> None:
        self.whole, self.part, self.is_same = whole, part, is_same
        self.otherwise, self.constants = dict(otherwise), constants
        self.own: list[Step | None] = []
        self.inputs = [given.get(x) for x in whole.inputs]
        self.outputs = whole.outputs
        self.own_outputs: list[Value | None] = [None for _ in self.outputs]
        #: Values whose place None may take.
        self.absent = {x for x in whole.inputs if x not in given}
        for name in whole.variables.keys() - part.variables.keys():
            self.absent |= {whole.variables[name]} - constants.keys()
        #: Input or result of a step that `part` lacks → the values that it may use instead.
        self.lacking: dict[Value, list[Value]] = {}
        for i, x in enumerate(whole.inputs):
            if x not in given:
                self.lacking[x] = [y for y in whole.inputs[:i] if y in given]
        #: Inputs of `part` that may take the place of any value.
        used = {x for step in whole.steps for x in arguments(step)}
        self.computed = [x for x in given if x not in used]
        #: Value of `part` → value of `whole`.
        self.stands_for: dict[Value, Value] = {own: x for x, own in given.items()}

    def succeeds(self) -> bool:
        """Whether the modules are equal but for the steps and values that `part` lacks."""
        whole, part = self.whole, self.part
        if whole.layer or part.layer:
            self.own = [*whole.steps]  # which are not written
            return self._is_same_layer() and self._has_outputs()
        if not self._has_variables():
            return False
        if len(whole.steps) < len(part.steps) or not part.children.keys() <= whole.children.keys():
            return False
        self.stands_for |= {x: whole.variables[name] for name, x in part.variables.items()}
        left = list(reversed(part.steps))
        for step in whole.steps:
            before = dict(self.otherwise)
            if left and self._is_same_step(step, left[-1]):
                self.own.append(left.pop())
            elif self._may_lack(step):
                self.own.append(None)
                self.otherwise = before
            else:
                return False
        return not left and self._has_outputs()

    def _has_outputs(self) -> bool:
        """Whether the outputs of `part` are values of `whole`, which has those that `part` lacks."""
        for own in self.part.outputs:
            pairs = enumerate(zip(self.outputs, self.own_outputs, strict=True))
            i = next((i for i, (x, y) in pairs if not y and self._is_same(x, own)), None)
            if i is not None:
                self.own_outputs[i] = own
            elif own in self.stands_for:
                self.outputs.append(self.stands_for[own])
                self.own_outputs.append(own)
            else:
                return False
        return True

    def _is_same_layer(self) -> bool:
        one, other = self.whole.layer, self.part.layer
        if one is None or other is None or (one.target, one.form) != (other.target, other.form):
            return False
        return self._is_same(one.kwargs, other.kwargs)

    def _has_variables(self) -> bool:
        """Whether `whole` has the variables of `part`."""
        known = self.whole.variables

        def kind(value: Value) -> tuple[str, str, str | None]:
            return value.source, value.dtype, self.constants.get(value)

        own = self.part.variables.items()
        return all(name in known and kind(known[name]) == kind(value) for name, value in own)

    def _may_lack(self, step: Step) -> bool:
        """Note that `part` lacks a step, if it has a single result."""
        made = results(step)
        if len(made) != 1 or not (isinstance(step, Use) or made[0] is step.result):
            return False
        if isinstance(step, Call) and (step.writes_in_place or step.target.startswith("flow:")):
            return False
        given = [x for x in arguments(step) if not x.source or x in self.whole.inputs]
        self.lacking[made[0]] = [*given, *self.computed]
        return True

    # -- comparison ------------------------------------------------------------------------

    def _is_same_step(self, one: Step, other: Step) -> bool:
        if isinstance(one, Use) and isinstance(other, Use):
            made, own = one.outputs, other.outputs
            children = self.whole.children[one.name], self.part.children[other.name]
            is_same = (one.name, one.targets) == (other.name, other.targets)
            is_same = is_same and self.is_same(*children)
            is_same = is_same and all(map(self._is_given, one.inputs, other.inputs))
        elif isinstance(one, Call) and isinstance(other, Call):
            made, own = results(one), results(other)
            is_same = len(made) == len(own) and self._is_same_call(one, other)
        else:
            return False
        if not is_same:
            return False
        self.stands_for |= {x: y for x, y in zip(own, made, strict=False) if x and y}
        return True

    def _is_same_call(self, one: Call, other: Call) -> bool:
        """Whether two calls are equal but for settings, and for values that `part` lacks."""
        if one.target != other.target:
            return False
        given, own = _without_none(one.kwargs), _without_none(other.kwargs)
        if len(one.args) < len(other.args) or [key for key in given if key in own] != [*own]:
            return False
        pairs = [*itertools.zip_longest(one.args, other.args)]
        pairs += [(x, own.get(key)) for key, x in given.items()]
        return all(self._is_given(x, y) for x, y in pairs)

    def _is_given(self, value: Any, own: Any) -> bool:
        """Whether arguments are equal; `part` has None for a value that it lacks."""
        if own is None and isinstance(value, Value) and value in self.absent:
            return self.otherwise.setdefault(value, None) is None
        return self._is_same(value, own)

    def _is_same(self, one: Any, other: Any) -> bool:
        """Whether two nests are equal but for their settings."""
        if isinstance(one, Value) and isinstance(other, Value):
            if other in self.stands_for:
                return self._may_be(one, self.stands_for[other])
            return _relative(one, self.whole.path) == _relative(other, self.part.path)
        if is_setting(one) or is_setting(other):
            return is_setting(one) and is_setting(other)
        if isinstance(one, Function) and isinstance(other, Function):
            return self._is_same_function(one, other)
        if isinstance(one, slice) and isinstance(other, slice):
            return self._is_same(_bounds(one), _bounds(other))
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            return [*one] == [*other] and self._is_same([*one.values()], [*other.values()])
        if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
            return len(one) == len(other) and all(map(self._is_same, one, other))
        return type(one) is type(other) and one == other

    def _may_be(self, value: Value, wanted: Value) -> bool:
        """Whether a value is another one where steps are lacking; note the values used instead."""
        if value is wanted:
            return True
        if value not in self.lacking:
            return False
        known = [self.otherwise[value]] if value in self.otherwise else self.lacking[value]
        for given in known:
            if given and self._may_be(given, wanted):
                self.otherwise[value] = given
                return True
        return False

    def _is_same_function(self, one: Function, other: Function) -> bool:
        if one.name != other.name or len(one.calls) != len(other.calls):
            return False
        if not self._add(one.inputs, other.inputs):
            return False
        for a, b in zip(one.calls, other.calls, strict=True):
            if not self._is_same_call(a, b) or not self._add(a.result, b.result):
                return False
        return self._is_same(one.output, other.output)

    def _add(self, one: Any, other: Any) -> bool:
        """Match the values of two nests, if their numbers are equal."""
        values, own = values_in(one), values_in(other)
        self.stands_for |= dict(zip(own, values, strict=False))
        return len(values) == len(own)


def _kind(value: Value) -> str:
    """The dtype of a value; masks may be integers."""
    return "int" if value.dtype.startswith(("bool", "int", "uint")) else value.dtype


def _without_none(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords without those whose value is None, the default of an argument."""
    return {key: x for key, x in kwargs.items() if x is not None}


def _relative(value: Value, path: Path) -> tuple[str, Path]:
    """The source and the path of a variable, as a module at a path sees it."""
    own = parts(value.path)
    return value.source, own[len(path) :] if own[: len(path)] == path else own


def _bounds(index: slice) -> Sequence[Any]:
    return index.start, index.stop, index.step
