"""The class of modules with one program, and its arguments."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from nestarray.exporters.source.tree.loops import Item, with_loops
from nestarray.exporters.source.tree.modules import Module, Path, Step, items_of
from nestarray.exporters.source.tree.settings import ABSENT, with_settings


@dataclasses.dataclass(eq=False)
class Class:
    """The class of modules with one program.

    Attributes:
        name: of the class.
        module: a module of the class with all children and outputs, which is printed.
        members: module → for each step its own, or None for a call of a child that it lacks.
        settings: of the steps of the module, its variables and its children, and its flags and
            lengths: a constant, or a `Setting` where the modules differ.
        parameters: name of an argument → position of its first use in `settings`.
        defaults: name of an argument that some modules lack → its default.
        shapes: name of a variable → its shape.
        children: child → the position of its first setting.
        flags: child that some modules lack → the argument that says whether a module has it.
        lengths: list of children whose number differs → position of the number.
        periods: such a list → the number of successive children that repeat: two that alternate.
    """

    module: Module
    members: dict[Module, list[Step | None]]
    name: str = ""
    settings: list[Any] = dataclasses.field(default_factory=list)
    parameters: dict[str, int] = dataclasses.field(default_factory=dict)
    defaults: dict[str, Any] = dataclasses.field(default_factory=dict)
    shapes: dict[str, Any] = dataclasses.field(default_factory=dict)
    children: dict[Path, int] = dataclasses.field(default_factory=dict)
    flags: dict[Path, str] = dataclasses.field(default_factory=dict)
    lengths: dict[Path, int] = dataclasses.field(default_factory=dict)
    periods: dict[Path, int] = dataclasses.field(default_factory=dict)

    def is_optional(self, child: Path) -> bool:
        """Whether some modules lack a child."""
        return any(child not in module.children for module in self.members)

    def numbers(self, name: Path) -> list[int]:
        """The numbers of the items of a list, smallest first."""
        return sorted({len(items_of(module, name)) for module in self.members})

    def items(self, is_same: Callable[[Path, Path], bool], *, has_slices: bool) -> list[Item]:
        """The steps of the module with its settings and loops.

        Args:
            is_same: whether the calls of two children are written with the same text.
            has_slices: a loop may begin in the middle of a list.
        """
        settings = iter(self.settings)
        steps = [with_settings(step, settings) for step in self.module.steps]
        return with_loops(steps, self.module.output, is_same, self.is_optional, has_slices)

    def signature(self) -> list[str]:
        """The parameters with their defaults."""
        defaults = self.defaults
        return [
            f"{name}={defaults[name]!r}" if name in defaults else name for name in self.parameters
        ]

    def arguments(self, child: Path, cls: Class) -> dict[str, Any]:
        """The arguments of a child's class."""
        return cls.arguments_of(self.settings[self.children[child] :])

    def arguments_of(self, settings: Sequence[Any]) -> dict[str, Any]:
        """The arguments of the class, without defaults.

        Args:
            settings: of a module of the class, in the order of `settings`.
        """
        values = {name: settings[i] for name, i in self.parameters.items()}
        return {
            name: value
            for name, value in values.items()
            if value is not ABSENT
            and (name not in self.defaults or value is not self.defaults[name])
        }
