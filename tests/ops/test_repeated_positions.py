"""Writes at repeated positions: the value that remains, and a derivative for each write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import nestarray as na
import nestarray.frontends.tensorflow as ftf
import nestarray.frontends.torch as ftorch
from tests.arrays import host, on

pytestmark = pytest.mark.usefixtures("x64")

PLACES = np.asarray([0, 0, 1])
COLUMN = PLACES[:, None]
WEIGHTS = np.asarray([1.0, 10.0, 100.0])
X = np.asarray([1.0, 2.0, 3.0])

#: Function of (y, v, places, places as a column) → the same in PyTorch.
WRITES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "setitem": (
        lambda y, v, i, c: na.setitem(y, i, v),
        lambda y, v, i, c: y.index_put((i,), v),
    ),
    "setitem of rows": (
        lambda y, v, i, c: na.setitem(na.stack([y, y]), (slice(None), i), v)[1],
        lambda y, v, i, c: y.index_put((i,), v),
    ),
    "setitem, broadcast indices": (
        lambda y, v, i, c: na.setitem(na.stack([y, y]), (i[:1] * 0 + 1, i), v)[1],
        lambda y, v, i, c: y.index_put((i,), v),
    ),
    "at": (
        lambda y, v, i, c: na.at(y)[i].set(v),
        lambda y, v, i, c: y.index_put((i,), v),
    ),
    "put_along_axis": (
        lambda y, v, i, c: na.put_along_axis(y, i, v, axis=0),
        lambda y, v, i, c: y.scatter(0, i, v),
    ),
    "scatter": (
        lambda y, v, i, c: na.scatter(y, i, v, axis=0),
        lambda y, v, i, c: y.scatter(0, i, v),
    ),
    "scatter_nd": (
        lambda y, v, i, c: na.scatter_nd(y, c, v),
        lambda y, v, i, c: y.index_put((i,), v),
    ),
    "torch.index_copy": (
        lambda y, v, i, c: ftorch.index_copy(y, 0, i, v),
        lambda y, v, i, c: y.index_copy(0, i, v),
    ),
    "torch.scatter": (
        lambda y, v, i, c: ftorch.scatter(y, 0, i, v),
        lambda y, v, i, c: y.scatter(0, i, v),
    ),
    "torch.index_put": (
        lambda y, v, i, c: ftorch.index_put(y, (i,), v),
        lambda y, v, i, c: y.index_put((i,), v),
    ),
    "torch.index_put, accumulate": (
        lambda y, v, i, c: ftorch.index_put(y, (i,), v, True),
        lambda y, v, i, c: y.index_put((i,), v, True),
    ),
    "tf.tensor_scatter_nd_update": (
        lambda y, v, i, c: ftf.tensor_scatter_nd_update(y, c, v),
        lambda y, v, i, c: y.index_put((i,), v),
    ),
    "scatter, mul": (
        lambda y, v, i, c: na.scatter(y, i, v, axis=0, mode="mul"),
        lambda y, v, i, c: torch.stack([y[0] * v[0] * v[1], y[1] * v[2], y[2]]),
    ),
    "scatter, max": (
        lambda y, v, i, c: na.scatter(y, i, v, axis=0, mode="max"),
        lambda y, v, i, c: torch.stack([torch.stack([y[0], v[0], v[1]]).amax(),
                                        torch.maximum(y[1], v[2]), y[2]]),
    ),
}  # fmt: skip


def _derivatives(function: Callable[..., Any], backend: str, transform: Any) -> list[np.ndarray]:
    i, column, weights = (on(backend, x, str(x.dtype)) for x in (PLACES, COLUMN, WEIGHTS))
    y, v = on(backend, X), on(backend, X + 0.5)
    loss = lambda y, v: na.sum(function(y, v, i, column) ** 2 * weights)  # noqa: E731
    return [np.asarray(host(g)) for g in transform(loss, argnums=(0, 1))(y, v)]


@pytest.mark.parametrize("name", WRITES)
def test_derivatives_of_writes(name: str, backend: str) -> None:
    ours, theirs = WRITES[name]
    y, v = (torch.tensor(x, requires_grad=True) for x in (X, X + 0.5))
    i, column = torch.tensor(PLACES), torch.tensor(COLUMN)
    loss = (theirs(y, v, i, column) ** 2 * torch.tensor(WEIGHTS)).sum()
    expected = torch.autograd.grad(loss, (y, v))
    for transform in (na.grad, na.jacfwd):
        for found, wanted in zip(_derivatives(ours, backend, transform), expected, strict=True):
            np.testing.assert_allclose(found, wanted)


def test_an_element_that_is_read_and_written_twice(backend: str) -> None:
    i = on(backend, PLACES, "int64")
    function = lambda y: na.sum(na.setitem(y, i, na.take(y, i, axis=0) * 2 + 1))  # noqa: E731
    y = on(backend, np.ones(3))
    for transform in (na.grad, na.jacfwd, lambda f: na.jit(na.grad(f))):
        np.testing.assert_array_equal(host(transform(function)(y)), [4.0, 2.0, 1.0])
    rows = on(backend, np.ones((2, 3)))
    np.testing.assert_array_equal(host(na.vmap(na.grad(function))(rows)), [[4.0, 2.0, 1.0]] * 2)


def test_the_imported_program_has_the_derivative_of_its_source(backend: str) -> None:
    def function(y: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        y = y.clone()
        y[i] = y[i] * 2 + 1
        return (y * torch.arange(1.0, 4.0)).sum()

    y, i = torch.tensor([1.0, 2.0, 3.0], requires_grad=True), torch.tensor(PLACES)
    function(y, i).backward()
    graph = na.trace_graph(function, torch.ones(3), i).to_backend(backend)
    found = na.grad(lambda y: graph(y, on(backend, PLACES, "int64")))(on(backend, X, "float32"))
    np.testing.assert_allclose(host(found), y.grad)
