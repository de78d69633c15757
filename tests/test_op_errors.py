"""What ops that move, search and reduce say about arguments that they cannot take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import backends, errors
from nestarray.config import BACKENDS
from nestarray.errors import ArgumentError, ShapeError

X = np.arange(6, dtype="float32").reshape(2, 3)

#: On every backend: the call, the class and the beginning of the message.
EVERYWHERE: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (
        lambda x: na.split(x, [1, 4], axis=1),
        ShapeError,
        r"split: sizes: got \[1, 4\], which add up to 5, expected the length of the axis, 3",
    ),
    (lambda x: na.split(x, 0), ShapeError, "split: sizes: got 0, expected at least 1"),
    (
        lambda x: na.array_split(x, [2, 1], axis=1),
        ShapeError,
        r"array_split: indices_or_sections: got \[2, 1\], expected places in ascending order",
    ),
    (lambda x: na.array_split(x, 0), ShapeError, "array_split: indices_or_sections: got 0"),
    (
        lambda x: na.pad(x, ((1, 1), (1, 1), (0, 0))),
        ShapeError,
        r"pad: pad_width: got .* for an array of 2 dimensions, expected a number, a pair",
    ),
    (lambda x: na.pad(x, -1), ShapeError, "pad: pad_width: got -1, expected numbers that are not"),
    (
        lambda x: na.flatten(x, start_axis=1, end_axis=0),
        ShapeError,
        "flatten: start_axis 1 comes after end_axis 0 in an array of 2 dimensions",
    ),
    (
        lambda x: na.flatten(x, start_axis=2),
        ShapeError,
        "flatten: axis: got 2 for an array of 2 dimensions, expected -2 <= axis < 2",
    ),
    (
        lambda x: na.sliding_window_view(x, 4, axis=1),
        ShapeError,
        r"sliding_window_view: window_shape: got 4 for axis 1 of shape \(2, 3\), expected 1 to 3",
    ),
    (
        lambda x: na.scatter(x, na.argsort(x), x, axis=1, mode="sum"),
        ArgumentError,
        "scatter: mode: got 'sum', expected one of replace, add, mul, min, max",
    ),
    (
        lambda x: na.put_along_axis(x, na.argsort(na.getitem(x, 0)), 0.0, axis=0),
        ShapeError,
        "put_along_axis: indices: got 1 dimensions, expected those of x, 2",
    ),
    (
        lambda x: na.quantile(x, 0.5, method="middle"),
        ArgumentError,
        "quantile: method: got 'middle', expected one of linear, lower, higher",
    ),
    (
        lambda x: na.average(x, na.getitem(x, 0), axis=0),
        ShapeError,
        r"average: weights: got the shape \(3,\) for x of shape \(2, 3\) along 0",
    ),
    (lambda x: na.histogram(x, 0), ShapeError, "histogram: bins: got 0, expected at least 1"),
    (
        lambda x: na.outer(x, x),
        ShapeError,
        r"outer: got the shape \(2, 3\), expected one dimension",
    ),
]

#: On NumPy, where the op's own body serves; other frameworks have words of their own.
BY_THE_BODY: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (lambda x: na.top_k(x, 4), ShapeError, "top_k: k: got 4, expected 0 to 3, the axis' length"),
    (
        lambda x: na.vecdot.op.body(x, na.getitem(x, (0, [0, 1]))),
        ShapeError,
        "vecdot: got vectors of 3 and of 2 elements along axis -1, expected equal lengths",
    ),
    (
        lambda x: na.cross.op.body(x, x, axis=0),
        ShapeError,
        "cross: got vectors of length 2 along axis 0, expected 3",
    ),
    (
        lambda x: na.matrix_norm.op.body(x, ord=3),
        ArgumentError,
        "matrix_norm: ord: got 3, expected 'fro', 'nuc', 1, -1, 2, -2, inf or -inf",
    ),
    (
        lambda x: na.pad.op.body(x, 1, mode="mirror"),
        ArgumentError,
        "pad: mode: got 'mirror', expected one of constant, edge, reflect, symmetric, wrap",
    ),
]


@pytest.mark.parametrize(("call", "error", "message"), EVERYWHERE)
def test_error_on_every_backend(
    backend: str, call: Callable[[Any], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call(backends.core(backend).from_numpy(X))


@pytest.mark.parametrize(("call", "error", "message"), BY_THE_BODY)
def test_error_of_the_body(
    call: Callable[[Any], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call(X)


@pytest.mark.parametrize("backend", ["torch", "tensorflow"])
def test_squeeze_of_a_long_axis(backend: str) -> None:
    with pytest.raises(
        ShapeError, match=r"squeeze: axis 1 of shape \(2, 3\) has length 3, expected 1"
    ):
        na.squeeze(backends.core(backend).from_numpy(X), 1)


def test_shapes_that_do_not_broadcast() -> None:
    with pytest.raises(ShapeError, match=r"broadcast_shapes: got \(2,\), \(3,\), expected equal"):
        na.broadcast_shapes((2,), (3,))


def test_reshape_that_would_copy() -> None:
    with pytest.raises(ShapeError, match="reshape: copy=False, but"):
        na.reshape(np.transpose(X), (6,), copy=False)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("name", "dtypes"),
    [
        ("bitwise_and", ("float32", "float32")),
        ("maximum", ("complex64", "complex64")),
        ("floor", ("complex64",)),
        ("erf", ("complex64",)),
    ],
)
def test_dtypes_without_a_kernel(name: str, dtypes: tuple[str, ...], backend: str) -> None:
    arrays = [backends.core(backend).from_numpy(np.ones(2, dtype)) for dtype in dtypes]
    with pytest.raises(errors.DtypeError) as info:
        getattr(na, name)(*arrays)
    assert str(info.value) == (
        f"{name}: {backend} cannot compute it for {dtypes[0]}; cast to a dtype that it takes with "
        "na.astype"
    )
