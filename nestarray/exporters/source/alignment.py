"""Alignment of two modules: equal steps, of which one module may lack some.

A module lacks a step if the rest of its program is the same with an argument of the step in the
place of its result: ``x + h`` for ``x + downsample(h)``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nestarray.exporters.source.modules import Module, Path, Step, Use, arguments, parts, results
from nestarray.exporters.source.records import Call, Function, Value, values_in
from nestarray.exporters.source.settings import is_setting


def is_aligned(first: Module, second: Module) -> bool:
    """Whether two modules are equal but for their settings."""
    steps = Alignment(first, second, is_aligned).steps()
    return steps is not None and None not in steps


class Alignment:
    """The steps of a module, aligned with those of a module that has all of them.

    Args:
        whole: the module that has all steps.
        part: the other one.
        is_same: whether two children may be called by the same step.
        otherwise: results of steps that modules lack → the values that they use instead; an
            alignment that succeeds adds those of `part`.
    """

    def __init__(
        self,
        whole: Module,
        part: Module,
        is_same: Callable[[Module, Module], bool],
        otherwise: Mapping[Value, Value] | None = None,
    ) -> None:
        self.whole, self.part, self.is_same = whole, part, is_same
        self.otherwise = dict(otherwise or {})
        #: Result of a step that `part` lacks → the values that it may use instead.
        self.lacking: dict[Value, list[Value]] = {}
        #: Value of `part` → value of `whole`.
        self.stands_for: dict[Value, Value] = {}

    def steps(self) -> list[Step | None] | None:
        """For each step of `whole` that of `part`, or None where it lacks it; None if they differ."""
        whole, part = self.whole, self.part
        if whole.layer or part.layer:
            return [*whole.steps] if self._is_same_layer() else None  # its steps are not written
        if len(whole.inputs) != len(part.inputs) or not self._has_variables():
            return None
        if len(whole.steps) < len(part.steps) or not part.children.keys() <= whole.children.keys():
            return None
        names = part.variables.items()
        self.stands_for = dict(zip(part.inputs, whole.inputs, strict=True))
        self.stands_for |= {value: whole.variables[name] for name, value in names}
        own: list[Step | None] = []
        left = list(reversed(part.steps))
        for step in whole.steps:
            if left and self._is_same_step(step, left[-1]):
                own.append(left.pop())
            elif self._may_lack(step):
                own.append(None)
            else:
                return None
        return None if left or not self._is_same(whole.output, part.output) else own

    def _is_same_layer(self) -> bool:
        one, other = self.whole.layer, self.part.layer
        if one is None or other is None or one.target != other.target:
            return False
        return self._is_same(one.kwargs, other.kwargs)

    def _has_variables(self) -> bool:
        """Whether the variables of `part` are among those of `whole`."""
        known = self.whole.variables
        return all(
            name in known and (known[name].source, known[name].dtype) == (value.source, value.dtype)
            for name, value in self.part.variables.items()
        )

    def _may_lack(self, step: Step) -> bool:
        """Note that `part` lacks a step, if it has a single result."""
        made = results(step)
        if len(made) != 1 or not (isinstance(step, Use) or made[0] is step.result):
            return False
        if isinstance(step, Call) and (step.writes_in_place or step.target.startswith("flow:")):
            return False
        given = [x for x in arguments(step) if not x.source or x in self.whole.inputs]
        fixed = self.otherwise.get(made[0])
        self.lacking[made[0]] = [fixed] if fixed else given
        return True

    # -- comparison ------------------------------------------------------------------------

    def _is_same_step(self, one: Step, other: Step) -> bool:
        made, own = results(one), results(other)
        if len(made) != len(own):
            return False
        if isinstance(one, Use) and isinstance(other, Use):
            children = self.whole.children[one.name], self.part.children[other.name]
            is_same = one.name == other.name and self.is_same(*children)
            is_same = is_same and self._is_same(one.inputs, other.inputs)
        elif isinstance(one, Call) and isinstance(other, Call):
            is_same = self._is_same_call(one, other)
        else:
            return False
        if is_same:
            self.stands_for |= zip(own, made, strict=True)
        return is_same

    def _is_same_call(self, one: Call, other: Call) -> bool:
        """Whether two calls are equal but for settings, and for variables that `part` lacks."""
        if one.target != other.target:
            return False
        shared = {key: x for key, x in one.kwargs.items() if key in other.kwargs}
        extra = [*one.args[len(other.args) :], *(one.kwargs[k] for k in one.kwargs.keys() - shared)]
        first = [*one.args[: len(other.args)], shared]
        return all(map(self._is_lacking, extra)) and self._is_same(
            first, [*other.args, other.kwargs]
        )

    def _is_lacking(self, value: Any) -> bool:
        """Whether a value is a parameter that `part` lacks: an argument whose default is None."""
        names = self.whole.variables.keys() - self.part.variables.keys()
        known = [self.whole.variables[name] for name in names]
        return isinstance(value, Value) and value.source in ("v", "s") and value in known

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
        for given in self.lacking.get(value, ()):
            if self._may_be(given, wanted):
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
        """Note that the values of two nests stand for each other, if their numbers are equal."""
        values, own = values_in(one), values_in(other)
        self.stands_for |= dict(zip(own, values, strict=False))
        return len(values) == len(own)


def _relative(value: Value, path: Path) -> tuple[str, Path]:
    """The source and the path of a variable, as a module at a path sees it."""
    own = parts(value.path)
    return value.source, own[len(path) :] if own[: len(path)] == path else own


def _bounds(index: slice) -> Sequence[Any]:
    return index.start, index.stop, index.step
