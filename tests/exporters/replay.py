"""Runs a `Recording` with the framework's own public functions."""

from __future__ import annotations

import importlib
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nestarray import backends
from nestarray.dtypes import DType, dtype_of
from nestarray.exporters.source.recording.records import Name, Recording, Value
from nestarray.graph.node import map_leaves


def function_of(target: str, backend: str) -> Callable[..., Any]:
    """The function that a target names."""
    kind, _, name = target.rpartition(":")
    if kind == "method":
        return lambda x, *args, **kwargs: getattr(x, name)(*args, **kwargs)
    if kind == "attribute":
        return operator.attrgetter(name)
    if kind == "at":
        return lambda x, index, *args, **kwargs: getattr(x.at[index], name)(*args, **kwargs)
    if target.startswith("."):
        target = f"nestarray.exporters.source.functions.{backend}_functions{target}"
    root, *names = target.split(".")
    found = importlib.import_module(root)
    for i, part in enumerate(names):
        if not hasattr(found, part):
            importlib.import_module(".".join([root, *names[: i + 1]]))
        found = getattr(found, part)
    return found


def replay(
    recording: Recording,
    inputs: Sequence[Any],
    variables: Mapping[str, Mapping[str, Any]],
) -> tuple[Any, Mapping[str, Any]]:
    """The output and the updates.

    Args:
        recording: of a graph.
        inputs: its flat inputs.
        variables: ``"v"``, ``"s"`` and ``"constants"`` → path → array.
    """
    known: dict[Value, Any] = dict(zip(recording.inputs, inputs, strict=True))
    backend, core = recording.backend, backends.core(recording.backend)

    def given(x: Any) -> Any:
        if isinstance(x, Name):
            return function_of(x, backend)
        if isinstance(x, DType):
            return core.native_dtype(x)
        if not isinstance(x, Value) or x in known:
            return known[x] if isinstance(x, Value) else x
        if x.source == "constants" and x.path in recording.constants:
            return core.from_numpy(recording.constants[x.path])
        return variables[x.source][x.path]

    def bind(value: Any, result: Any) -> None:
        if isinstance(value, Value):
            found = tuple(map(int, result.shape)), dtype_of(result).name
            assert found == (value.shape, value.dtype)
            known[value] = result
        elif isinstance(value, (list, tuple)):
            for v, r in zip(value, result, strict=True):
                bind(v, r)

    for call in recording.calls:
        args, kwargs = map_leaves(given, [list(call.args), call.kwargs])
        found = function_of(call.target, backend)(*args, **kwargs)
        bind(call.result, args[0] if found is None else found)
    output, updates = map_leaves(given, [recording.output, recording.updates])
    return output, updates
