"""One check for all refused calls."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray.errors import ArgumentError, NestarrayError
from tests.arrays import on

#: A wrong call, the type of its error, and the message. The call's parameters name `arrays`.
Row = tuple[Callable[..., Any], type[NestarrayError], str]


def arrays(backend: str) -> dict[str, Any]:
    """Arrays of a backend, and functions that make them, by the names of parameters in a `Row`."""
    x = np.arange(6, dtype="float32").reshape(2, 3)
    return {
        "x": on(backend, x),
        "t": on(backend, np.ascontiguousarray(x.T)),
        "empty": on(backend, np.zeros((0, 3), "float32")),
        "signal": on(backend, np.arange(12, dtype="float32").reshape(2, 6)),
        "array": lambda values: on(backend, values),
        "zeros": lambda *shape, dtype="float32": on(backend, np.zeros(shape, dtype)),
        "ones": lambda *shape, dtype="float32": on(backend, np.ones(shape, dtype)),
        "ints": lambda *values: on(backend, np.asarray(values, "int32")),
    }


def call_with_arrays(call: Callable[..., Any], backend: str) -> Any:
    """The result of the call of a `Row` on a backend."""
    own = inspect.signature(call).parameters.values()
    values = arrays(backend)
    with na.use_backend(backend):
        return call(**{p.name: values[p.name] for p in own if p.default is p.empty})


def check_refused(row: Row, backend: str) -> None:
    """The call raises its error, of the same type on every backend.

    Messages about shapes, axes, indices and dtypes are the same on every backend too. Those about
    other settings may differ, and are compared on NumPy.
    """
    call, kind, message = row
    with pytest.raises(NestarrayError) as caught:
        call_with_arrays(call, backend)
    assert type(caught.value) is kind
    if kind is not ArgumentError or backend == "numpy":
        assert str(caught.value) == message


def refused(rows: list[Row]) -> pytest.MarkDecorator:
    """Parametrize a test by rows."""
    return pytest.mark.parametrize("row", rows, ids=[message for *_, message in rows])
