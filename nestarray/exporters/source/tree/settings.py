"""Settings of modules: constants that may be arguments of a class."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from nestarray.exporters.source.recording.records import Call, Function, Value
from nestarray.exporters.source.tree.modules import Step, Use


class Absent:
    """The value of a setting of a step or a child that a module lacks."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = Absent()


@dataclasses.dataclass(frozen=True)
class Setting:
    """A setting that differs between modules of one class: the name of an argument."""

    name: str


def is_setting(value: Any) -> bool:
    """Whether a constant may be an argument of a class: a number, a string, or a tuple of numbers."""
    if isinstance(value, tuple):
        return bool(value) and all(is_setting(x) and not isinstance(x, str) for x in value)
    return isinstance(value, (bool, int, float, str))


def settings_of(step: Step) -> Iterator[tuple[str, Any]]:
    """(name, value) of the settings of a step."""
    if isinstance(step, Use):
        return
    for i, value in enumerate(step.args):
        yield from settings_in(value, _role(step, i))
    yield from settings_in(step.kwargs, "")


#: Functions whose arguments without names are the sizes of the result.
_OF_SIZES = ("broadcast_to", "expand", "full", "ones", "reshape", "view", "zeros")
#: Function → the name of its settings.
_ROLES = {"getitem": "index", "permute": "axis", "transpose": "axis", "split": "sections"}


def _role(call: Call, i: int) -> str:
    """The name of the settings of an argument: by its meaning, else that of the function."""
    name = call.target.rpartition(".")[2].rpartition(":")[2]
    if name not in _OF_SIZES or not isinstance(call.result, Value):
        return _ROLES.get(name, name)
    if isinstance(call.args[i], (tuple, list)):
        return "shape"
    x, shape = call.args[0], call.result.shape
    count = len(x.shape) - 1 if isinstance(x, Value) else len(shape)
    is_split = count < len(shape) - 1 and x.shape[:-1] == shape[:count]  # perhaps into q, k, v too
    axis = i - 1 - len(shape)
    return {-2: "heads", -1: "head_size"}.get(axis, "size") if is_split else "size"


def settings_in(nest: Any, name: str) -> Iterator[tuple[str, Any]]:
    """(name, value) of the settings of a nest; those without a key have a given name."""
    if is_setting(nest):
        yield name, nest
    elif isinstance(nest, (list, tuple)):
        for item in nest:
            yield from settings_in(item, name)
    elif isinstance(nest, slice):
        yield from settings_in([nest.start, nest.stop, nest.step], name)
    elif isinstance(nest, Function):
        for call in nest.calls:
            yield from settings_of(call)
        yield from settings_in(nest.output, nest.name)
    elif isinstance(nest, Mapping):
        for key, item in nest.items():
            yield from settings_in(item, key)


def with_settings(step: Step, settings: Iterator[Any]) -> Step:
    """A step with other settings, in the order of `settings_of`."""
    if isinstance(step, Use):
        return step
    args = _replaced([*step.args], settings)
    return dataclasses.replace(step, args=tuple(args), kwargs=_replaced(step.kwargs, settings))


def _replaced(nest: Any, settings: Iterator[Any]) -> Any:
    """A nest with other settings, in the order of `settings_in`."""
    if is_setting(nest):
        return next(settings)
    if isinstance(nest, (list, tuple)):
        return type(nest)([_replaced(item, settings) for item in nest])
    if isinstance(nest, slice):
        return slice(*_replaced([nest.start, nest.stop, nest.step], settings))
    if isinstance(nest, Function):
        calls = [with_settings(call, settings) for call in nest.calls]
        return dataclasses.replace(nest, calls=calls, output=_replaced(nest.output, settings))
    if isinstance(nest, Mapping):
        return {key: _replaced(item, settings) for key, item in nest.items()}
    return nest
