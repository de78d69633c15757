"""Two programs as one: the steps that both make, those that one makes, and choices of values.

Paired steps are one step; those without a partner are made by one module alone. Where paired steps
take different values, the program of both takes a choice: a Value that is another one, or
None, in each module. A variable, an input or an output may be missing in one of them.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from nestarray.exporters.source.recording.records import (
    Call,
    Function,
    Value,
    functions_in,
    is_equal,
    values_in,
)
from nestarray.exporters.source.tree.modules import (
    Module,
    Step,
    Use,
    output_of,
    results,
    with_values,
)
from nestarray.exporters.source.tree.pairing import (
    Pair,
    Pairing,
    bounds,
    is_same_form,
    kind,
    pairs_of,
    value_pairs,
)
from nestarray.exporters.source.tree.settings import settings_of

#: Choice → module → its value in this module.
Choices = dict[Value, dict[Module, Value | None]]


def is_aligned(
    first: Module, second: Module, is_same: Callable[[Module, Module], bool] | None = None
) -> bool:
    """Whether two modules have equal steps, settings included, and take the same inputs in one order.

    Args:
        first, second: the modules.
        is_same: compares their children; by default this function.
    """
    found = aligned(first, second, is_same or is_aligned)
    if found is None or not found.is_whole or found.inputs != second.inputs:
        return False
    pairs = zip(_settings(first.steps), _settings(second.steps), strict=True)
    return all(is_equal(x, y) for x, y in pairs)


def _settings(steps: Sequence[Step]) -> list[Any]:
    return [value for step in steps for _, value in settings_of(step)]


@dataclasses.dataclass
class Alignment:
    """The program of two modules.

    Attributes:
        module: with the steps, variables, children, inputs and outputs of both.
        steps: for each step of `module` the number of the step of the first, and the step of the
            second; None where one lacks it.
        inputs: for each input of `module` the input of the second, or None.
        outputs: for each output of `module` the output of the second, or None.
        choices: the choices of the steps.
        is_whole: whether the two modules have all steps, variables, inputs and outputs, and no choices.
    """

    module: Module
    steps: list[tuple[int | None, Step | None]]
    inputs: list[Value | None]
    outputs: list[Value | None]
    choices: Choices
    is_whole: bool


def aligned(
    whole: Module,
    part: Module,
    is_same: Callable[[Module, Module], bool],
    members: Iterable[Module] = (),
    choices: Choices | None = None,
    constants: Collection[Value] = (),
) -> Alignment | None:
    """The program of two modules, or None if they share too little.

    Args:
        whole: a module, or the program of several.
        part: another module.
        is_same: whether two children may be called by the same step.
        members: the modules of `whole`.
        choices: of its steps.
        constants: variables that the source computes.
    """
    own = [*members] or [whole]
    return _Aligner(whole, part, is_same, own, choices or {}, constants).alignment()


class _Aligner:
    def __init__(
        self,
        whole: Module,
        part: Module,
        is_same: Callable[[Module, Module], bool],
        members: Sequence[Module],
        choices: Choices,
        constants: Collection[Value],
    ) -> None:
        self.whole, self.part, self.is_same = whole, part, is_same
        self.members, self.constants = members, constants
        self.choices = {value: dict(own) for value, own in choices.items()}
        #: Value of `part` → value of the program of both.
        self.of: dict[Value, Value] = {}
        self.inputs = [*whole.inputs]
        self.taken: set[Value] = set()
        self.made: dict[tuple[Value | None, Value | None], Value] = {}

    def alignment(self) -> Alignment | None:
        """The program of both modules."""
        whole, part = self.whole, self.part
        if whole.layer or part.layer:
            return self._layer()
        if not self._match_variables():
            return None
        pairs = Pairing(whole, part, self.is_same, self.of, self.choices).pairs()
        if not all(self._may_lack(i, j) for i, j in pairs):
            return None
        self._match_inputs(pairs)
        steps: list[Step] = []
        for i, j in pairs:
            made = self._step(i, j)
            if made is None:
                return None
            steps.append(made)
        own = [(i, None if j is None else part.steps[j]) for i, j in pairs]
        outputs, own_outputs = self._outputs()
        children = whole.children | {
            name: child for name, child in part.children.items() if name not in whole.children
        }
        variables = whole.variables | {
            name: value for name, value in part.variables.items() if name not in whole.variables
        }
        module = dataclasses.replace(
            whole, steps=steps, inputs=self.inputs, output=output_of(outputs),
            children=children, variables=variables,
        )  # fmt: skip
        back = {x: own for own, x in self.of.items()}
        inputs = [back.get(x) if x in self.taken else None for x in self.inputs]
        lists = zip(*pairs, strict=True), [inputs, own_outputs]
        is_whole = not self.choices and not any(None in own for own in itertools.chain(*lists))
        is_whole = is_whole and part.variables.keys() == whole.variables.keys()
        is_whole = is_whole and (len(inputs), len(outputs)) == (
            len(whole.inputs),
            len(whole.outputs),
        )
        return Alignment(module, own, inputs, own_outputs, self.choices, is_whole)

    def _layer(self) -> Alignment | None:
        """The program of two layers: their steps are not written."""
        whole, part = self.whole, self.part
        one, other = whole.layer, part.layer
        if one is None or other is None or (one.target, one.form) != (other.target, other.form):
            return None
        is_same_form = pairs_of(one.kwargs, other.kwargs) is not None
        counts = [(len(m.inputs), len(m.outputs)) for m in (whole, part)]
        if not is_same_form or counts[0] != counts[1]:
            return None
        own: list[tuple[int | None, Step | None]] = [*enumerate(whole.steps)]
        return Alignment(whole, own, [*part.inputs], [*part.outputs], {}, True)

    # -- steps -----------------------------------------------------------------------------

    def _may_lack(self, i: int | None, j: int | None) -> bool:
        """Whether a step may depend on a condition: it makes values, and changes none."""
        if i is not None and j is not None:
            return True
        step = self.whole.steps[i] if i is not None else self.part.steps[j or 0]
        if isinstance(step, Use):
            return not step.targets
        is_own = i is None and functions_in(step)  # whose calls take values of `part`
        is_statement = step.writes_in_place or step.target.startswith("flow:")
        return bool(results(step)) and not is_own and not is_statement

    # -- values ----------------------------------------------------------------------------

    def _match_variables(self) -> bool:
        """Match the variables of `part`; those of one name have one source and dtype."""
        known = self.whole.variables
        for name, value in self.part.variables.items():
            own = known.get(name, value)
            if (own.source, own.dtype) != (value.source, value.dtype):
                return False
        below = {(keys, name): x for keys, name, x in self.whole.variables_below()}
        for keys, name, value in self.part.variables_below():
            if (keys, name) in below:
                self.of[value] = below[keys, name]
        return True

    def _match_inputs(self, pairs: Sequence[Pair]) -> None:
        """Match inputs that paired steps take; `whole` gets the others of `part`."""
        left = {*self.whole.inputs}
        for i, j in pairs:
            if i is None or j is None:
                continue
            one, other = self.whole.steps[i], self.part.steps[j]
            for x, y in value_pairs(one, other):
                left -= {x} if y is None else set()
                is_free = x in self.whole.inputs and x not in self.taken
                if is_free and y in self.part.inputs and y not in self.of and kind(x) == kind(y):
                    self.of[y] = x
                    self.taken.add(x)
        for y in self.part.inputs:
            if y in self.of:
                continue
            left -= self.taken
            free = [x for x in self.whole.inputs if x in left and kind(x) == kind(y)]
            self.of[y] = x = free[0] if free else dataclasses.replace(y)
            self.inputs += [] if free else [x]
            self.taken.add(x)

    def _step(self, i: int | None, j: int | None) -> Step | None:
        """The step of a pair, or None if the functions that two calls take differ."""
        if j is None:
            return self.whole.steps[i or 0]
        other = self.part.steps[j]
        if i is None:  # its values are also those of the modules around it
            self.of |= {value: dataclasses.replace(value) for value in results(other)}
            return with_values(other, self.of)
        one = self.whole.steps[i]
        if isinstance(one, Use) and isinstance(other, Use):
            inputs = [self._choice(x, y) for x, y in value_pairs(one, other)]
            self._note_results(one.outputs, other.outputs)
            return dataclasses.replace(one, inputs=inputs)
        assert isinstance(one, Call)
        assert isinstance(other, Call)
        functions = zip(functions_in(one), functions_in(other), strict=True)
        if not all(self._is_same_function(a, b) for a, b in functions):
            return None
        args = itertools.zip_longest(one.args, other.args)
        keys = dict.fromkeys([*one.kwargs, *other.kwargs])
        kwargs = {key: self._both(one.kwargs.get(key), other.kwargs.get(key)) for key in keys}
        self._note_results(results(one), results(other))
        return dataclasses.replace(
            one, args=tuple(itertools.starmap(self._both, args)), kwargs=kwargs
        )

    def _note_results(self, values: Sequence[Value | None], own: Sequence[Value | None]) -> None:
        self.of |= {y: x for x, y in zip(values, own, strict=True) if x and y}

    def _both(self, one: Any, other: Any) -> Any:
        """The nest of choices between two nests, with the settings of the first."""
        if isinstance(one, Value) or isinstance(other, Value):
            return self._choice(one, other)
        if isinstance(one, (list, tuple)):
            return type(one)([*map(self._both, one, other)])
        if isinstance(one, slice):
            return slice(*map(self._both, bounds(one), bounds(other)))
        if isinstance(one, Mapping):
            return {key: self._both(x, other[key]) for key, x in one.items()}
        return one

    def _choice(self, x: Value | None, y: Value | None) -> Value | None:
        """The choice that is `x` in the modules before, and `y` in `part`."""
        own = None if y is None else self.of.get(y, y)
        if x is own or (x is None and self._is_new(own)) or (own is None and self._is_lost(x)):
            return own if x is None else x
        if x in self.choices and self.choices[x].setdefault(self.part, own) is own:
            return x
        if (x, own) not in self.made:
            like = x or own
            assert like is not None
            before = self.choices.get(x, {}) if x else {}
            made = {
                module: before.get(module, x)
                for module in self.members
                if not before or module in before
            }
            self.made[x, own] = choice = Value(like.shape, like.dtype)
            self.choices[choice] = {**made, self.part: own}
        return self.made[x, own]

    def _is_new(self, value: Value | None) -> bool:
        """Whether `whole` lacks an input or a variable, which is None in its modules."""
        if value in self.inputs:
            return value not in self.whole.inputs
        return value in self.part.variables.values()

    def _is_lost(self, value: Value | None) -> bool:
        """Whether `part` lacks an input or a variable."""
        if value in self.inputs:
            return value not in self.taken
        own = self.whole.variables
        return any(own[name] is value for name in own.keys() - self.part.variables.keys()) and (
            value not in self.constants
        )

    def _outputs(self) -> tuple[list[Value], list[Value | None]]:
        """The outputs of both, and for each the output of `part`."""
        outputs: list[Value] = [*self.whole.outputs]
        found: list[Value | None] = [None for _ in outputs]
        left = [*self.part.outputs]
        for y in [*left]:
            own = self.of.get(y, y)
            at = next((i for i, x in enumerate(outputs) if not found[i] and self._is(x, own)), None)
            if at is not None:
                outputs[at], found[at] = self._choice(outputs[at], y) or y, y
                left.remove(y)
        for y in left:
            pairs = enumerate(zip(outputs, found, strict=True))
            at = next((i for i, (x, z) in pairs if not z and kind(x) == kind(y)), None)
            if at is not None:
                outputs[at], found[at] = self._choice(outputs[at], y) or y, y
            else:
                outputs.append(self.of.get(y, y))
                found.append(y)
        return outputs, found

    def _is(self, x: Value, own: Value) -> bool:
        return x is own or own in self.choices.get(x, {}).values()

    # -- functions -------------------------------------------------------------------------

    def _is_same_function(self, one: Function, other: Function) -> bool:
        if one.name != other.name or len(one.calls) != len(other.calls):
            return False
        if not self._add(one.inputs, other.inputs):
            return False
        for a, b in zip(one.calls, other.calls, strict=True):
            is_same = is_same_form(a, b) and self._is_same_child(a, b)
            if not is_same or not all(self._is_given(x, y) for x, y in value_pairs(a, b)):
                return False
            inner = zip(functions_in(a), functions_in(b), strict=True)
            if not all(self._is_same_function(x, y) for x, y in inner):
                return False
            if not self._add(a.result, b.result):
                return False
        pairs = pairs_of(one.output, other.output)
        return pairs is not None and all(self._is_given(x, y) for x, y in pairs)

    def _is_same_child(self, one: Step, other: Step) -> bool:
        """Whether two steps of one form call no child, or one that may be the same."""
        if isinstance(one, Use) and isinstance(other, Use):
            return self.is_same(one.module, other.module)
        return True

    def _is_given(self, x: Value | None, y: Value | None) -> bool:
        """Whether functions use the same value."""
        return x is (None if y is None else self.of.get(y, y))

    def _add(self, one: Any, other: Any) -> bool:
        """Match the values of two nests, if their numbers are equal."""
        values, own = values_in(one), values_in(other)
        self.of |= dict(zip(own, values, strict=False))
        return len(values) == len(own)
