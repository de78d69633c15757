"""Odd calls of which frameworks make different things: refused in one text, or computed alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import backends
from nestarray.errors import ArgumentError, DtypeError, IndexingError, NestarrayError, ShapeError

X = np.arange(6, dtype="float32").reshape(2, 3)

#: A call of x and of what makes an array of NumPy one of the backend's, and what it raises.
REFUSED: dict[str, tuple[Callable[[Any, Any], Any], type[Exception], str]] = {
    "a number is no condition": (
        lambda x, array: na.where(1.5, x, x),
        DtypeError,
        "where: condition: got float32, expected bool; compare it with 0 to make it one",
    ),
    "a number has no axis": (
        lambda x, array: na.softmax(1.5),
        IndexingError,
        "softmax: axis: got -1 for an array of 0 dimensions, expected 0 <= axis < 0",
    ),
    "one array is no sequence": (
        lambda x, array: na.concat(x),
        ArgumentError,
        "concat: got an array, expected a list or a tuple of arrays",
    ),
    "a set has no order": (
        lambda x, array: na.softmax(x, axis={0}),
        ArgumentError,
        "softmax: axis: got {0}, expected an int",
    ),
    "a range is no tuple": (
        lambda x, array: na.sum(x, axis=range(1)),
        ArgumentError,
        "sum: axis: got range(0, 1), expected an int",
    ),
    "contracted axes are not repeated": (
        lambda x, array: na.tensordot(x[:, :1], array(np.ones((3, 2), np.float32)), axes=1),
        ShapeError,
        "tensordot: axes: got 1 for shapes (2, 1) and (3, 2): lengths (1,) of x1 against (3,) of "
        "x2, expected equal ones",
    ),
    "a bias does not repeat the product": (
        lambda x, array: na.linear(x, x[:1], array(np.zeros(4, np.float32))),
        ShapeError,
        "linear: bias: got shape (4,), expected (1,)",
    ),
    "nor does it give it axes": (
        lambda x, array: na.linear(x, x, array(np.zeros((1, 1, 2), np.float32))),
        ShapeError,
        "linear: bias: got shape (1, 1, 2), expected (2,)",
    ),
    "one output has one number for a bias": (
        lambda x, array: na.linear(x, x[0], array(np.zeros(2, np.float32))),
        ShapeError,
        "linear: bias: got shape (2,), expected ()",
    ),
}


@pytest.mark.parametrize("label", REFUSED)
def test_refused_alike(label: str, backend: str) -> None:
    call, error, message = REFUSED[label]
    array = backends.core(backend).from_numpy
    with na.use_backend(backend), pytest.raises(NestarrayError) as caught:
        call(array(X), array)
    assert type(caught.value) is error
    assert str(caught.value) == message


#: Calls of the same, and what they give.
COMPUTED: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "a bool is a condition": (lambda x, array: na.where(True, x, 0.0), X),
    "bools as numbers": (
        lambda x, array: na.astype(na.relu(True), "float32"),
        np.ones((), np.float32),
    ),
    "integers as floats": (
        lambda x, array: na.hard_sigmoid(3),
        np.asarray(1.0, np.float32),
    ),
    "a scalar of NumPy is a flag": (
        lambda x, array: na.sum(x, axis=0, keepdims=np.True_),
        X.sum(axis=0, keepdims=True),
    ),
    "and a number": (
        lambda x, array: na.soft_shrink(x, threshold=np.float32(0.5)),
        np.maximum(X - np.float32(0.5), 0),
    ),
    "an axis of einsum repeated": (
        lambda x, array: na.einsum("ij,jk->ik", x, x[:1, :2] + 1),
        X.sum(axis=1, keepdims=True) * np.float32([[1, 2]]),
    ),
    "and without a result": (
        lambda x, array: na.einsum("ij,jk", x, x[:1, :2] + 1),
        X.sum(axis=1, keepdims=True) * np.float32([[1, 2]]),
    ),
    "sums of small integers": (
        lambda x, array: na.einsum("ij->i", array(X.astype(np.uint8))),
        X.sum(axis=1).astype(np.uint8),
    ),
}


@pytest.mark.parametrize("label", COMPUTED)
def test_computed_alike(label: str, backend: str) -> None:
    call, expected = COMPUTED[label]
    array = backends.core(backend).from_numpy
    with na.use_backend(backend):
        found = backends.core(backend).to_numpy(call(array(X), array))
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-6)
