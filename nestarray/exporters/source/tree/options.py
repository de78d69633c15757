"""Branches for steps that only some modules of a class make.

Successive steps of the same modules are the branch of an ``if``; steps of the other modules that
follow are its ``else``. A choice is assigned in the last branch that makes one of its values, or
is a conditional expression.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from nestarray.exporters.source.recording.records import Value, values_in
from nestarray.exporters.source.tree.alignment import Choices
from nestarray.exporters.source.tree.loops import Item, Loop, Option, arguments_of
from nestarray.exporters.source.tree.modules import (
    Module,
    Step,
    Use,
    arguments,
    results,
    with_values,
)
from nestarray.graph.node import map_leaves

Modules = frozenset[Module]


class NoCondition(Exception):
    """No condition tells the modules that have a value from the others."""


def with_options(
    items: Sequence[Step | Loop],
    output: Any,
    lacking: Callable[[Step], Modules],
    choices: Choices,
    members: Iterable[Module],
    known: Mapping[Modules, Sequence[Value]],
) -> tuple[list[Item], Any]:
    """The items with options, and the output.

    Args:
        items: steps and loops of the program of several modules.
        output: nest of its outputs.
        lacking: the modules without a step.
        choices: the choices that steps and outputs take.
        members: the modules.
        known: sets of modules that a condition tells from the others → the inputs that are None
            just in them.

    Raises:
        NoCondition: the modules that read a value cannot be told from those that lack it.
    """
    return _Options(items, output, lacking, choices, frozenset(members), known).found()


class _Options:
    def __init__(
        self,
        items: Sequence[Step | Loop],
        output: Any,
        lacking: Callable[[Step], Modules],
        choices: Choices,
        members: Modules,
        known: Mapping[Modules, Sequence[Value]],
    ) -> None:
        self.lacking, self.members, self.known = lacking, members, known
        self.choices = dict(choices)
        #: Choice → the value that it is in all modules that read it.
        self.value_of: dict[Value, Value] = {}
        for loop in items:
            if isinstance(loop, Loop):
                self._give_results(loop)
        self.entries: list[Item] = []
        for without, group in itertools.groupby(items, self._without):
            self._add([*group], without)
        self.made = {x: i for i, item in enumerate(self.entries) for x in _made(item)}
        self.choices = {
            choice: {m: x for m, x in row.items() if self._has(m, x)}
            for choice, row in self.choices.items()
        }
        self.output = self._defined(output)
        #: Choice → the modules that read it.
        self.readers: dict[Value, Modules] = {}
        for item in items:
            for value in arguments_of(item):
                self._note(value, members - self._without(item))
        for value in values_in(self.output):
            self._note(value, members)
        #: Number of an entry → the choices that are expressions before it.
        self.before: dict[int, list[Option]] = {}

    def _note(self, value: Value, readers: Modules) -> None:
        self.readers[value] = self.readers.get(value, frozenset()) | readers

    def _without(self, item: Step | Loop) -> Modules:
        return frozenset() if isinstance(item, Loop) else self.lacking(item)

    def found(self) -> tuple[list[Item], Any]:
        """The items, and the output."""
        for value in [*self.readers]:
            if value in self.choices and value not in self.value_of:
                row = self.choices[value]
                own = {m: x for m, x in row.items() if m in self.readers[value]}
                made = self._resolved(value, own)
                if made is not value:
                    assert made is not None
                    self.value_of[value] = made
        self._give_names()
        found: list[Item] = []
        for i, item in enumerate(self.entries):
            found += [*self.before.get(i, ()), self._with_values(item)]
        found += self.before.get(len(self.entries), ())
        output = map_leaves(
            lambda x: self.value_of.get(x, x) if isinstance(x, Value) else x, self.output
        )
        return found, output

    def _add(self, group: list[Any], without: Modules) -> None:
        """Add successive steps that the same modules lack."""
        if not without:
            self.entries += group
            return
        last = self.entries[-1] if self.entries else None
        if isinstance(last, Option) and not last.others and last.without == self.members - without:
            last.others = group
        else:
            used = [value for step in group for value in arguments(step)]
            self.entries.append(Option(group, [], {}, without, self._decides(without, used)))

    def _decides(self, without: Modules, used: Sequence[Value | None]) -> Value | None:
        """An input that is None just in some modules, if possible one that is used."""
        inputs = self.known.get(without, ())
        return next((x for x in inputs if x in used), next(iter(inputs), None))

    def _give_results(self, loop: Loop) -> None:
        """Choices of the last results of a list of modules are the results of the loop.

        Modules that make no call of the loop have their own value before it, and after it.
        """
        first, last = loop.uses[0], loop.uses[-1]
        made = {m: [u for u in loop.uses if m not in self.lacking(u)] for m in self.members}
        for k, j in loop.carried.items():
            start = first.inputs[k]
            known = self.choices.get(start, {}) if start else {}
            before = {m: known.get(m, start) for m in self.members}
            own: dict[Module, Value | None] = {}
            for choice, row in self.choices.items():
                ends = {m: made[m][-1].outputs[j] if made[m] else own.get(m, row[m]) for m in row}
                result = last.outputs[j]
                if result in row.values() and all(ends[m] is x for m, x in row.items()):
                    assert result is not None
                    self.value_of[choice] = result
                    own |= {m: x for m, x in row.items() if not made[m]}
            if any(before[m] is not x for m, x in own.items()):
                choice = _like(next(x for x in own.values() if x))
                self.choices[choice] = before | own
                inputs = [choice if i == k else x for i, x in enumerate(loop.uses[0].inputs)]
                loop.uses[0] = dataclasses.replace(loop.uses[0], inputs=inputs)

    def _defined(self, output: Any) -> Any:
        """The output, with choices of None for values that some modules do not make."""

        def of(value: Any) -> Any:
            if not isinstance(value, Value) or value in self.value_of:
                return value
            row = self.choices.get(value)
            if row is None:
                row = {m: value for m in self.members if self._has(m, value)}
            if row.keys() == self.members:
                return value
            for other, values in self.choices.items():  # what the others return is not read
                if all(m in values and values[m] is x for m, x in row.items()):
                    self.choices[other] = self._filled(values)
                    return other
            choice = _like(value)
            self.choices[choice] = self._filled(row)
            return choice

        return map_leaves(of, output)

    def _filled(self, row: Mapping[Module, Value | None]) -> dict[Module, Value | None]:
        """The values of a choice in all modules: any that the others have."""
        others = self.members - row.keys()
        return {**row} | {
            m: next((x for x in row.values() if self._has(m, x)), None) for m in others
        }

    def _has(self, module: Module, value: Value | None) -> bool:
        """Whether a module has a value, or None in its place."""
        entry = self.entries[self.made[value]] if value in self.made else None
        if not isinstance(entry, Option):
            return True
        return (module in entry.without) == (value in _made_by(entry.others))

    def _is_total(self, value: Value | None) -> bool:
        """Whether all modules have a value, or None in its place."""
        if value is None or value not in self.made:
            return True
        return not isinstance(self.entries[self.made[value]], Option)

    # -- choices ---------------------------------------------------------------------------

    def _resolved(self, choice: Value, row: Mapping[Module, Value | None]) -> Value | None:
        """The value of a choice in some modules, which options make."""
        values = dict.fromkeys(row.values())
        if len(values) == 1:
            return next(iter(values))
        places = {self.made[x] for x in values if x and not self._is_total(x)}
        if self._is_assigned(choice, row, sorted(places)):
            return choice
        row = row if places else self._filled(row)
        without = self._split(row)
        others = {m: x for m, x in row.items() if m in without}
        (value,) = {x for m, x in row.items() if m not in without}
        if not all(self._has(m, value) for m in self.members - without):
            raise NoCondition
        place = 1 + max((self.made.get(x, -1) for x in values if x), default=-1)
        otherwise = self._resolved(_like(choice), others)
        if not all(self._has(m, otherwise) for m in without):
            raise NoCondition
        decides = self._decides(without, [value, otherwise])
        option = Option([], [], {choice: (value, otherwise)}, without, decides)
        self.before.setdefault(place, []).append(option)
        return choice

    def _is_assigned(
        self, choice: Value, row: Mapping[Module, Value | None], places: Sequence[int]
    ) -> bool:
        """Whether options assign a choice: each value where it is made, and before a default."""
        given: dict[int, tuple[Value | None, Value | None]] = {}
        last: dict[Module, Value] = {}
        for place in places:
            entry = self.entries[place]
            assert isinstance(entry, Option)
            sides = []
            for steps, modules in (
                (entry.steps, self.members - entry.without),
                (entry.others, entry.without),
            ):
                made = _made_by(steps)
                own = next((x for x in row.values() if x in made), None)
                last |= dict.fromkeys(modules, own) if own else {}
                sides.append(own or choice)
            given[place] = sides[0], sides[1]
        if not places or any(last.get(m, x) is not x for m, x in row.items()):
            return False
        left = {m: x for m, x in row.items() if m not in last}
        if left:
            first, second = given[places[0]]
            is_late = any(self.made.get(x, -1) > places[0] for x in left.values() if x)
            if is_late or choice not in (first, second):
                return False
            default = self._resolved(_like(choice), left)
            given[places[0]] = (default, second) if first is choice else (first, default)
        for place, pair in given.items():
            entry = self.entries[place]
            assert isinstance(entry, Option)
            entry.results[choice] = pair
        return True

    def _split(self, row: Mapping[Module, Value | None]) -> Modules:
        """A set of modules with a condition, outside of which a choice has one value."""
        sets = [*self.known, *(self.members - without for without in self.known)]
        for without in sets:
            inside = {x for m, x in row.items() if m not in without}
            if len(inside) == 1 and inside.isdisjoint(x for m, x in row.items() if m in without):
                return without
        value = next(iter(row.values()))
        return self.members - {m for m, x in row.items() if x is value}

    def _give_names(self) -> None:
        """Note the values of branches that steps of the same modules use later."""
        read = [(-1, option) for options in self.before.values() for option in options]
        for i, item in (*read, *enumerate(self.entries)):
            for value in arguments_of(item):
                if not self._is_total(value) and self.made[value] != i:
                    entry = self.entries[self.made[value]]
                    assert isinstance(entry, Option)
                    entry.results.setdefault(value, (value, value))

    def _with_values(self, item: Item) -> Item:
        """An item with the values of its choices."""
        if isinstance(item, Option):
            item.steps = [with_values(step, self.value_of) for step in item.steps]
            item.others = [with_values(step, self.value_of) for step in item.others]
            item.results = {
                x: (self._value(a), self._value(b)) for x, (a, b) in item.results.items()
            }
        elif isinstance(item, Loop):
            uses = (with_values(use, self.value_of) for use in item.uses)
            item.uses = [use for use in uses if isinstance(use, Use)]
        else:
            return with_values(item, self.value_of)
        return item

    def _value(self, value: Value | None) -> Value | None:
        return value if value is None else self.value_of.get(value, value)


def _like(value: Value) -> Value:
    return Value(value.shape, value.dtype)


def _made_by(steps: Iterable[Any]) -> set[Value]:
    return {value for step in steps for value in results(step)}


def _made(item: Item) -> set[Value]:
    """The values that an item makes; of an option, the values of its branches."""
    if isinstance(item, Loop):
        return {*results(item.uses[-1])}
    return _made_by([*item.steps, *item.others] if isinstance(item, Option) else [item])
