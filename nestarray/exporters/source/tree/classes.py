"""The class of modules with one program, and its arguments."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nestarray.exporters.source.recording.records import Value
from nestarray.exporters.source.tree.alignment import Choices
from nestarray.exporters.source.tree.loops import Item, Option, with_loops
from nestarray.exporters.source.tree.modules import Module, Path, Step, arguments, items_of
from nestarray.exporters.source.tree.options import with_options
from nestarray.exporters.source.tree.settings import ABSENT, with_settings
from nestarray.exporters.source.tree.variable_names import input_names


@dataclasses.dataclass(eq=False)
class Class:
    """The class of modules with one program.

    Attributes:
        name: of the class.
        module: a module of the class with all steps, which is printed.
        members: module → for each step its own, or None.
        inputs: module → for each input its own, or None.
        outputs: module → for each output its own, or None.
        choices: value → module → the value that it stands for.
        settings: of the steps of the module, its variables and its children, and its flags and
            lengths: a constant, or a `Setting` where the modules differ.
        parameters: name of an argument → position of its first use in `settings`.
        defaults: name of an argument that some modules lack → its default.
        shapes: name of a variable → its shape.
        children: (child, its class) → the position of its first setting. Functions may call children
            of several classes in one place, each in the steps of some modules.
        given: child or list of children that is an argument → position of the argument.
        flags: modules that lack steps → the condition of the others, as (name of an argument, rest
            of the text).
        lengths: list of children whose number differs → position of the number.
        periods: such a list → the number of successive children that repeat: two that alternate.
    """

    name: str
    module: Module
    members: dict[Module, list[Step | None]]
    inputs: dict[Module, list[Value | None]]
    outputs: dict[Module, list[Value | None]]
    choices: Choices
    settings: list[Any] = dataclasses.field(default_factory=list)
    parameters: dict[str, int] = dataclasses.field(default_factory=dict)
    defaults: dict[str, Any] = dataclasses.field(default_factory=dict)
    shapes: dict[str, Any] = dataclasses.field(default_factory=dict)
    children: dict[tuple[Path, Class], int] = dataclasses.field(default_factory=dict)
    given: dict[Path, int] = dataclasses.field(default_factory=dict)
    flags: dict[frozenset[Module], tuple[str, str]] = dataclasses.field(default_factory=dict)
    lengths: dict[Path, int] = dataclasses.field(default_factory=dict)
    periods: dict[Path, int] = dataclasses.field(default_factory=dict)

    def lacking(self, i: int) -> frozenset[Module]:
        """The modules without a step."""
        return frozenset(module for module, own in self.members.items() if own[i] is None)

    def without(self, child: Path) -> frozenset[Module]:
        """The modules without a child."""
        return frozenset(module for module in self.members if child not in module.children)

    def lacks(self, variable: str) -> frozenset[Module]:
        """The modules without a variable."""
        return frozenset(module for module in self.members if variable not in module.variables)

    def is_optional(self, variable: str) -> bool:
        """Whether a variable is an argument also in modules that lack it."""
        value, without = self.module.variables[variable], self.lacks(variable)
        steps = enumerate(self.module.steps)
        return any(value in arguments(step) and without - self.lacking(i) for i, step in steps)

    def lacks_input(self, value: Value) -> frozenset[Module]:
        """The modules without an input."""
        i = self.module.inputs.index(value)
        return frozenset(module for module, own in self.inputs.items() if own[i] is None)

    def is_like(self, module: Module) -> bool:
        """Whether a member has all steps, inputs and outputs of the class."""
        lists = self.members[module], self.inputs[module], self.outputs[module]
        return not any(None in own for own in lists)

    def method_inputs(self, names: Mapping[Value, str]) -> list[str]:
        """The parameters of the method: those after the last that all modules have may be None."""
        is_needed = [not self.lacks_input(value) for value in names]
        last = max((i for i, needed in enumerate(is_needed) if needed), default=-1)
        return [name if i <= last else f"{name}=None" for i, name in enumerate(names.values())]

    def method_arguments(self, texts: Sequence[str]) -> list[str]:
        """The texts of the arguments of the method: by name after an input that is left out."""
        names = self.method_inputs(input_names(self.module.inputs))
        pairs = [*zip(texts, names, strict=False)]
        is_left_out = [text == "None" and name.endswith("=None") for text, name in pairs]
        first = is_left_out.index(True) if any(is_left_out) else len(pairs)
        named = zip(pairs[first:], is_left_out[first:], strict=True)
        later = [f"{name.removesuffix('=None')}={text}" for (text, name), out in named if not out]
        return [*texts[:first], *later]

    def conditions(self) -> dict[frozenset[Module], list[Value]]:
        """Sets of modules that lack something → the inputs that just these lack."""
        found: dict[frozenset[Module], list[Value]] = {}
        for value in self.module.inputs:
            found.setdefault(self.lacks_input(value), []).append(value)
        for name in self.module.variables:
            found.setdefault(self.lacks(name), [])
        for i in range(len(self.module.steps)):
            found.setdefault(self.lacking(i), [])
        return {without: values for without, values in found.items() if without}

    def condition(self, without: frozenset[Module], setting: Callable[[str], str]) -> str:
        """Whether a module is outside of a set of modules."""
        if without in self.flags:
            flag, rest = self.flags[without]
            return setting(flag) + rest
        flag, rest = self.flags[frozenset(self.members) - without]
        return f"{setting(flag)} is None" if rest else f"not {setting(flag)}"

    def numbers(self, name: Path) -> list[int]:
        """The numbers of the items of a list, smallest first."""
        return sorted({len(items_of(module, name)) for module in self.members})

    def items(
        self, is_same: Callable[[Path, Path], bool], *, has_slices: bool
    ) -> tuple[list[Item], Any]:
        """The steps of the module with its settings, loops and options; and the output.

        Args:
            is_same: whether the calls of two children are written with the same text.
            has_slices: a loop may begin in the middle of a list.
        """
        settings = iter(self.settings)
        steps = [with_settings(step, settings) for step in self.module.steps]
        lacking = {id(step): self.lacking(i) for i, step in enumerate(steps)}
        items = with_loops(
            steps, self.module.output, is_same, lambda step: bool(lacking[id(step)]), has_slices
        )
        return with_options(
            items,
            self.module.output,
            lambda step: lacking[id(step)],
            self.choices,
            self.members,
            self.conditions(),
        )

    def options(self) -> list[Option]:
        """The options, without the settings."""
        lacking = {id(step): self.lacking(i) for i, step in enumerate(self.module.steps)}
        items, _ = with_options(
            self.module.steps,
            self.module.output,
            lambda step: lacking[id(step)],
            self.choices,
            self.members,
            self.conditions(),
        )
        return [item for item in items if isinstance(item, Option)]

    def signature(self) -> list[str]:
        """The parameters with their defaults."""
        own = self.defaults
        return [f"{name}={own[name]!r}" if name in own else name for name in self.parameters]

    def arguments(self, child: Path, cls: Class) -> dict[str, Any]:
        """The arguments of a child's class."""
        return cls.arguments_of(self.settings[self.children[child, cls] :])

    def arguments_of(self, settings: Sequence[Any]) -> dict[str, Any]:
        """The arguments of the class, without defaults.

        Args:
            settings: of a module of the class, in the order of `settings`.
        """
        found = {name: settings[i] for name, i in self.parameters.items()}
        return {
            name: value
            for name, value in found.items()
            if value is not ABSENT
            and (name not in self.defaults or value is not self.defaults[name])
        }


@dataclasses.dataclass
class Made:
    """Modules that are an argument; equal if the same calls make them.

    Attributes:
        built: (name, class, names and values of its settings) of each.
        is_list: whether the argument is a list.
    """

    built: list[tuple[Path, Class, list[tuple[str, Any]]]]
    is_list: bool
