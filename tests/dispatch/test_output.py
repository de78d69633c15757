"""The keyword ``out`` of ops: results are written into arrays that exist."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import torch

import nestarray as na
from nestarray.errors import (
    ArgumentError,
    DtypeError,
    MixedBackendError,
    ShapeError,
    StructureError,
    UnsupportedError,
)

#: How arrays that can be written are made of NumPy arrays.
WRITABLE: dict[str, Callable[[Any], Any]] = {
    "numpy": np.array, "torch": torch.tensor, "tensorflow": tf.Variable,
}  # fmt: skip


def host(x: Any) -> np.ndarray:
    return np.array(x)


@pytest.mark.parametrize("backend", WRITABLE)
def test_the_result_is_in_the_array(backend: str) -> None:
    made = WRITABLE[backend]
    x, out = made(np.asarray([1.0, 2.0])), made(np.zeros(2))
    assert na.add(x, x, out=out) is out
    np.testing.assert_array_equal(host(out), [2, 4])
    total = made(np.asarray(0.0))
    assert na.sum(x, axis=0, out=total) is total
    assert float(total) == 3
    assert na.multiply(x, 3.0, out=x) is x
    np.testing.assert_array_equal(host(x), [3, 6])
    joined = made(np.zeros(4))
    na.concat([x, out], axis=0, out=joined)
    np.testing.assert_array_equal(host(joined), [3, 6, 2, 4])


@pytest.mark.parametrize("backend", WRITABLE)
def test_a_view_of_the_array_is_copied_first(backend: str) -> None:
    x = WRITABLE[backend](np.arange(9.0).reshape(3, 3))
    na.permute_dims(x, (1, 0), out=x)
    np.testing.assert_array_equal(host(x), np.arange(9.0).reshape(3, 3).T)


@pytest.mark.parametrize("backend", WRITABLE)
def test_several_results(backend: str) -> None:
    made = WRITABLE[backend]
    x = made(np.asarray([3.0, 1.0, 2.0]))
    found = na.top_k(x, 2)
    out = tuple([made(np.zeros_like(host(y))) for y in found])
    assert na.top_k(x, 2, out=out) is out
    for got, expected in zip(out, found, strict=True):
        np.testing.assert_array_equal(host(got), host(expected))


@pytest.mark.parametrize("backend", WRITABLE)
def test_containers(backend: str) -> None:
    made = WRITABLE[backend]
    c = na.Container(a=made(np.ones(2)), b={"w": made(np.zeros(3)), "none": None})
    out = na.Container(b={"none": None, "w": made(np.ones(3))}, a=made(np.zeros(2)))
    assert na.add(c, 1.0, out=out) is out
    np.testing.assert_array_equal(host(out["a"]), [2, 2])
    np.testing.assert_array_equal(host(out["b/w"]), [1, 1, 1])
    assert c.exp(out=c) is c
    np.testing.assert_array_equal(host(c["b/w"]), [1, 1, 1])


def test_fused_containers() -> None:
    c = na.Container(a=torch.ones(2), b=torch.zeros(3)).fuse()
    na.add(c, 1.0, out=c)
    np.testing.assert_array_equal(c.buffers()[0], [2, 2, 1, 1, 1])


def test_torch_compile() -> None:
    @torch.compile(fullgraph=True, backend="eager")
    def step(x: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        na.sum(x, axis=0, out=out[0])
        return na.add(out, x, out=out)

    out = torch.zeros(2)
    step(torch.ones(2), out)
    np.testing.assert_array_equal(out, [3, 1])


X = np.zeros(3)
TREE = na.Container(a=X, b=np.zeros(2))


def read_only() -> np.ndarray:
    x = np.zeros(3)
    x.flags.writeable = False
    return x


ERRORS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "shape": (lambda: na.add(X, 1.0, out=np.zeros(2)), ShapeError,
        "add: out: got an array of shape (2,), expected (3,)"),
    "dtype": (lambda: na.add(X, 1.0, out=np.zeros(3, "float32")), DtypeError,
        "add: out: got an array of float32, expected float64; cast the arguments with na.astype"),
    "read only": (lambda: na.add(X, 1.0, out=read_only()), UnsupportedError,
        "add: out: got a read-only array of NumPy; use the result of the call"),
    "tensorflow": (lambda: na.exp(tf.zeros(2), out=tf.zeros(2)), UnsupportedError,
        "exp: out: got a tensor of TensorFlow, which is constant; use the result of the call"),
    "parameter": (lambda: na.exp(torch.zeros(2), out=torch.nn.Parameter(torch.zeros(2))), UnsupportedError,
        "exp: out: got a parameter, which changes under torch.no_grad(); use the result of the call"),
    "kind": (lambda: na.add(X, 1.0, out=[1]), ArgumentError, "add: out: got list, expected an array of numpy"),
    "backend": (lambda: na.sum(X, out=torch.zeros(())), MixedBackendError,
        'sum: out: got arrays of torch and of numpy in one call. Move one of them first, for example '
        'with na.to_backend(x, "torch")'),
    "tuple": (lambda: na.top_k(X, 2, out=X), ArgumentError,
        "top_k: out: got an array of numpy, expected 2 arrays in a tuple"),
    "container": (lambda: na.add(TREE, 1.0, out=X), ArgumentError,
        "add: out: got an array of numpy, expected a Container of ['a', 'b']"),
    "keys": (lambda: na.add(TREE, 1.0, out=na.Container(a=X)), StructureError,
        "add: out: Containers do not match: 'b' is in the left one (2 leaves), not in the right one "
        "(1 leaf). a.align(b, join='inner') takes the common part, join='outer' with fill=… adds what "
        "is missing"),
    "leaf": (lambda: na.add(TREE, 1.0, out=TREE.set("b", X)), ShapeError,
        "add: out: 'b': got an array of shape (3,), expected (2,)"),
    "position": (lambda: na.add(X, 1.0, X), ArgumentError,
        "add: got 3 positional arguments, expected 2; add(x1, x2, /)"),
    "other arguments": (lambda: na.sum(X, axes=0, out=X), ArgumentError,
        "sum: axes: unknown argument, use axis; sum(x, /, *, axis=None, dtype=None, keepdims=False)"),
    "recorded": (lambda: na.trace_graph(lambda x: na.exp(x, out=x), X), UnsupportedError,
        "exp: out: got a call that is recorded, differentiated or batched, in which arrays are "
        "constant; use the result of the call"),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str) -> None:
    call, error, message = ERRORS[name]
    with pytest.raises(error) as info:
        call()
    assert str(info.value) == message
    assert not X.any()  # an array is written if all can be


def test_arrays_of_jax() -> None:
    import jax.numpy as jnp

    with pytest.raises(
        UnsupportedError, match="exp: out: got an array of JAX, which is constant; use"
    ):
        na.exp(jnp.zeros(2), out=jnp.zeros(2))
    with pytest.raises(UnsupportedError, match="out: got a call that is recorded, diff"):
        na.grad(lambda x: na.sum(na.multiply(x, 2.0, out=np.zeros(3))))(np.zeros(3))
