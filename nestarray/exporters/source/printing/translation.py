"""Calls of one framework as calls of a library that is no backend, by a table of rows.

MLX and `keras.ops` follow NumPy's names, as JAX does: the calls of JAX are recorded, and a row of a
language's table says how the library spells each. A call without a row raises an error that names it.

A language has its spelling in ``<name>_language.py``, rows in ``<name>_rows.py``, the form of its classes
and its layers in ``styles/<name>_style.py``, and functions that the library lacks in
``functions/<name>_functions.py``; `programs.STYLES` lists it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from nestarray.errors import ConversionError
from nestarray.exporters.source.recording.records import Call, Function, Recording, Value, values_in
from nestarray.graph.node import map_leaves

#: A name for the same arguments, or a function of the call, whose last call has the result; None for a
#: form that the library lacks.
Row = str | Callable[[Call], Call | list[Call] | Value | None]

#: Targets that every language has: operators, statements, sizes and writes of the state.
_PYTHON = ("operator.", "flow:", "state:", "size", "int")


def translated(recording: Recording, rows: Mapping[str, Row], library: str) -> Recording:
    """The recording with the calls of a library.

    Args:
        recording: the calls of a framework, with settings by name.
        rows: public name of a function of the framework → row.
        library: its name, for errors.

    Raises:
        ConversionError: the library has no function for a call.
    """
    stands_for: dict[Value, Any] = {}

    def of(leaf: Any) -> Any:
        if isinstance(leaf, Function):
            calls = run(leaf.calls)
            return dataclasses.replace(leaf, calls=calls, output=map_leaves(of, leaf.output))
        return stands_for.get(leaf, leaf) if isinstance(leaf, Value) else leaf

    def run(calls: list[Call]) -> list[Call]:
        translations = []
        for call in calls:
            args, kwargs = map_leaves(of, (call.args, call.kwargs))
            call = dataclasses.replace(call, args=args, kwargs=kwargs)
            new = _translated(call, rows, library)
            if isinstance(new, Value):
                stands_for[call.result] = new
            else:
                translations += [new] if isinstance(new, Call) else new
        return translations

    calls = run(recording.calls)
    output, updates = map_leaves(of, (recording.output, dict(recording.updates)))
    return dataclasses.replace(recording, calls=calls, output=output, updates=updates)


def _translated(call: Call, rows: Mapping[str, Row], library: str) -> Call | list[Call] | Value:
    row = rows.get(call.target)
    if isinstance(row, str):
        return dataclasses.replace(call, target=row)
    new = call if row is None and call.target.startswith(_PYTHON) else row and row(call)
    if new is None:
        shapes = ", ".join(f"{x.dtype}{list(x.shape)}" for x in values_in([*call.args]))
        place = " ".join(part for part in call.place if part) or "the model"
        raise ConversionError(
            f"eject: {place} calls {call.target}({shapes}), for which {library} has no row; "
            "eject the model for jax, or replace the function"
        )
    return new
