"""Modules of equal structure as one class; settings in which they differ become its arguments."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import Any

from nestarray.exporters.source.expressions import Setting
from nestarray.exporters.source.modules import Module, Path, Use, is_setting, numbered, structure
from nestarray.exporters.source.records import Call, Function


@dataclasses.dataclass(eq=False)
class Class:
    """The class of modules with one structure.

    Attributes:
        name: of the class.
        module: a module of the class, which is printed.
        settings: each setting of the module and of its children, in the order of `structure`: a
            constant, or a `Setting` where the modules differ.
        parameters: name of an argument → position of its first use in `settings`.
        shapes: name of a variable → its shape.
        children: child → its class, and the position of its first setting.
    """

    name: str
    module: Module
    settings: list[Any]
    parameters: dict[str, int]
    shapes: dict[str, Any]
    children: dict[Path, tuple[Class, int]]

    def steps(self) -> list[Call | Use]:
        """The steps of the module, with its settings."""
        settings = iter(self.settings)

        def of(value: Any) -> Any:
            return _replaced(value, settings)

        return [
            step
            if isinstance(step, Use)
            else dataclasses.replace(step, args=tuple(of([*step.args])), kwargs=of(step.kwargs))
            for step in self.module.steps
        ]

    def arguments(self, child: Path) -> dict[str, Any]:
        """The arguments of a child's class."""
        cls, start = self.children[child]
        return {name: self.settings[start + i] for name, i in cls.parameters.items()}


def _replaced(value: Any, settings: Iterator[Any]) -> Any:
    """A nest with its settings replaced, in the order of `structure`."""
    if is_setting(value):
        return next(settings)
    if isinstance(value, (list, tuple)):
        return type(value)([_replaced(item, settings) for item in value])
    if isinstance(value, slice):
        parts = [_replaced(part, settings) for part in (value.start, value.stop, value.step)]
        return slice(*parts)
    if isinstance(value, Function):
        calls = [
            dataclasses.replace(
                call,
                args=tuple(_replaced([*call.args], settings)),
                kwargs=_replaced(call.kwargs, settings),
            )
            for call in value.calls
        ]
        return dataclasses.replace(value, calls=calls, output=_replaced(value.output, settings))
    if isinstance(value, Mapping):
        return {key: _replaced(item, settings) for key, item in value.items()}
    return value


def classes_of(root: Module, name: str) -> dict[Module, Class]:
    """Module → its class; the classes of children come first.

    Args:
        root: the module of the model.
        name: of its class.
    """
    groups: dict[Any, list[Module]] = {}
    noted: dict[Module, list[tuple[str, Any]]] = {}
    for module in root.walk():
        settings: list[tuple[str, Any]] = []
        key = structure(module, lambda name, x, found=settings: found.append((name, x)))
        noted[module] = settings
        groups.setdefault(key, []).append(module)
    made: dict[Module, Class] = {}
    taken = {name}
    for modules in groups.values():
        first = modules[0]
        columns = list(zip(*[[x for _, x in noted[m]] for m in modules], strict=True))
        names = [name for name, _ in noted[first]]
        settings, parameters = _settings(names, columns)
        position = len(noted[first])
        if first.layer is None:
            position -= sum(len(noted[c]) for c in first.children.values())
        shapes = dict(
            zip(first.variables, settings[position - len(first.variables) :], strict=False)
        )
        own = name if root in modules else "" if first.layer else _class_name(modules, taken)
        cls = Class(own, first, settings, parameters, shapes, {})
        for key, child in first.children.items():
            cls.children[key] = made[child], position
            position += len(noted[child])
        made |= dict.fromkeys(modules, cls)
    return made


def _settings(names: list[str], columns: list[tuple[Any, ...]]) -> tuple[list[Any], dict[str, int]]:
    """The settings of a class, and its parameters: columns that are equal share one."""
    settings: list[Any] = []
    parameters: dict[str, int] = {}
    known: dict[Any, str] = {}
    for i, (name, column) in enumerate(zip(names, columns, strict=True)):
        kinds = tuple(map(type, column))
        if all(x == column[0] for x in column) and len(set(kinds)) == 1:
            settings.append(column[0])
            continue
        if (kinds, column) not in known:
            base = re.sub(r"\W", "_", name.rpartition(".")[2].rpartition(":")[2]) or "size"
            unique = next(n for n in numbered(base) if n not in parameters)
            known[kinds, column] = unique
            parameters[unique] = i
        settings.append(Setting(known[kinds, column]))
    return settings, parameters


def _class_name(modules: list[Module], taken: set[str]) -> str:
    """The name in the source, or one after the path."""
    kinds = [module.kind for module in modules if module.kind]
    words = [part for part in modules[0].path if not part.isdigit()] or ["block"]
    is_listed = modules[0].path[-1:] and modules[0].path[-1].isdigit()
    word = words[-1].removesuffix("s") if is_listed else words[-1]
    base = max(kinds, key=kinds.count) if kinds else camel(word)
    name = next(n for n in numbered(base) if n not in taken)
    taken.add(name)
    return name


def camel(name: str) -> str:
    """``"self_attention_0"`` as ``"SelfAttention"``."""
    words = re.sub(r"_?\d+$", "", name)
    return "".join(w[:1].upper() + w[1:] for w in re.split(r"[^0-9a-zA-Z]+", words)) or "Block"
