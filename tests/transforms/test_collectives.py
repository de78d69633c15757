"""Collectives give what ``jax.lax`` gives, on every backend."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest
from jax import lax

import nestarray as na
from nestarray import backends
from nestarray.errors import ArgumentError, IndexingError, UnsupportedError
from nestarray.testing import assert_close

X = np.random.default_rng(0).normal(size=(4, 3)).astype("float32")
REASON = "another order of sums"


def on(backend: str, x: Any) -> Any:
    return backends.core(backend).from_numpy(np.asarray(x))


def same(found: Any, expected: Any) -> None:
    host = na.tree.map(lambda x: na.to_backend(x, "numpy"), found)
    expected = jax.tree.map(np.asarray, expected)
    assert_close(host, expected, rtol=1e-4, atol=1e-5, reason=REASON)


def normalized(x: Any, lib: Any, axis: str = "i") -> Any:
    """Batch normalization, by two collectives of which the second needs the first."""
    centred = x - lib.pmean(x, axis)
    return centred / (lib.pmean(centred * centred, axis) + 0.1) ** 0.5


#: Functions of one example by `lax`'s names, and what else `vmap` is told.
FUNCTIONS: dict[str, tuple[Callable[[Any, Any], Any], dict[str, Any]]] = {
    "sum": (lambda lib, x: x / lib.psum(x * x, "i"), {}),
    "max": (lambda lib, x: x - lib.pmax(x, "i"), {}),
    "min": (lambda lib, x: lib.pmin(x, "i"), {"out_axes": None}),
    "sum of ints": (lambda lib, x: lib.psum(x > 0, "i"), {}),
    "sum of a number": (lambda lib, x: x * lib.psum(2.0, "i"), {}),
    "tree": (lambda lib, x: lib.psum({"a": x, "b": (x[0],)}, "i"), {}),
    "gather": (lambda lib, x: lib.all_gather(x, "i"), {}),
    "gather last": (lambda lib, x: lib.all_gather(x, "i", axis=-1), {"out_axes": None}),
    "gather tiled": (lambda lib, x: lib.all_gather(x[None], "i", axis=-1, tiled=True), {}),
    "size": (lambda lib, x: x * lib.axis_size("i"), {}),
    "index": (lambda lib, x: lib.axis_index("i"), {}),
    "normalized": (lambda lib, x: normalized(x, lib), {}),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_equals_lax(name: str, backend: str) -> None:
    fn, settings = FUNCTIONS[name]
    found = na.vmap(lambda x: fn(na, x), axis_name="i", **settings)(on(backend, X))
    same(found, jax.vmap(lambda x: fn(lax, x), axis_name="i", **settings)(X))


def of_row(lib: Any, vmap: Any, x: Any) -> Any:
    def of_element(y: Any) -> Any:
        both = lib.psum(y, ("i", "j")) * lib.axis_size(("i", "j"))
        return both + lib.psum(y * lib.pmax(y, "j"), "i") - normalized(y, lib, "j")

    def unnamed(y: Any) -> Any:
        return (
            (lib.all_gather(y, "i") * y).sum() if lib is lax else na.sum(lib.all_gather(y, "i") * y)
        )

    return vmap(of_element, axis_name="j")(x) + vmap(unnamed)(x)


def test_names_nest(backend: str) -> None:
    found = na.vmap(lambda x: of_row(na, na.vmap, x), axis_name="i")(on(backend, X))
    same(found, jax.vmap(lambda x: of_row(lax, jax.vmap, x), axis_name="i")(X))
    index = na.vmap(
        lambda x: na.vmap(lambda _: na.axis_index(("i", "j")), axis_name="j")(x), axis_name="i"
    )(on(backend, X))
    same(index, np.arange(12, dtype="int32").reshape(4, 3))


def test_the_innermost_of_one_name(backend: str) -> None:
    found = na.vmap(lambda x: na.vmap(lambda y: na.psum(y, "i"), axis_name="i")(x), axis_name="i")(
        on(backend, X)
    )
    same(found, np.repeat(X.sum(1, keepdims=True), 3, 1))


def loss(x: Any, lib: Any, vmap: Any) -> Any:
    y = vmap(lambda x: normalized(x, lib), axis_name="i")(x)
    return (y * y * y * x).sum() if lib is lax else na.sum(y * y * y * x)


def own_loss(x: Any) -> Any:
    return loss(x, na, na.vmap)


def loss_of_jax(x: Any) -> Any:
    return loss(x, lax, jax.vmap)


def test_gradients_of_mapped_functions(backend: str) -> None:
    same(na.grad(own_loss)(on(backend, X)), jax.grad(loss_of_jax)(X))


@pytest.mark.full
def test_derivatives_of_mapped_functions(backend: str) -> None:
    x = on(backend, X)
    same(na.jvp(own_loss, (x,), (x,)), jax.jvp(loss_of_jax, (X,), (X,)))
    same(na.hvp(own_loss, (x,), (x,)), jax.jvp(jax.grad(loss_of_jax), (X,), (X,))[1])
    options: dict[str, Any] = {"backend": "aot_eager"} if backend == "torch" else {}
    same(na.jit(na.grad(own_loss), **options)(x), jax.grad(loss_of_jax)(X))


@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_derivatives_of_one_example(backend: str) -> None:
    def own(x: Any) -> Any:
        return na.sum(normalized(x, na) ** 3 * na.psum(x, "i"))

    def of_jax(x: Any) -> Any:
        return (normalized(x, lax) ** 3 * lax.psum(x, "i")).sum()

    x = on(backend, X)
    same(na.vmap(na.grad(own), axis_name="i")(x), jax.vmap(jax.grad(of_jax), axis_name="i")(X))
    same(
        na.vmap(lambda x: na.jvp(own, (x,), (x,))[1], axis_name="i")(x),
        jax.vmap(lambda x: jax.jvp(of_jax, (x,), (x,))[1], axis_name="i")(X),
    )
    same(
        na.grad(lambda x: na.sum(na.vmap(na.grad(own), axis_name="i")(x) ** 2))(x),
        jax.grad(lambda x: (jax.vmap(jax.grad(of_jax), axis_name="i")(x) ** 2).sum())(X),
    )


@pytest.mark.parametrize(("backend", "label"), [("numpy", "NumPy"), ("tensorflow", "TensorFlow")])
def test_derivatives_of_one_example_are_refused(backend: str, label: str) -> None:
    message = (
        f"psum: {label} has no derivative of one example by what others have; differentiate the "
        "function that na.vmap gives, or call it on the gradient"
    )
    x = on(backend, X)
    with pytest.raises(UnsupportedError, match=f"^{re.escape(message)}$"):
        na.vmap(na.grad(lambda x: na.sum(na.psum(x * x, "i"))), axis_name="i")(x)
    with pytest.raises(UnsupportedError, match=f"^{re.escape(message)}$"):
        na.vmap(na.grad(lambda x: na.sum(na.vmap(lambda y: na.psum(y, "i"))(x))), axis_name="i")(x)


def test_means_of_gradients(backend: str) -> None:
    def step(x: Any) -> Any:
        return na.pmean(na.grad(lambda x: na.sum(x * x))(x), "i")

    same(na.vmap(step, axis_name="i")(on(backend, X)), np.tile(2 * X.mean(0), (4, 1)))


def test_in_loops(backend: str) -> None:
    def of_example(x: Any) -> Any:
        total, _ = na.scan(lambda c, y: (c + na.psum(y, "i") * y, c), x[0], x)
        return na.fori_loop(
            0, 2, lambda _, c: c + na.sum(na.vmap(lambda y: na.psum(y, "i"))(x)), total
        )

    expected = X[:, 0] + (X.sum(0) * X).sum(1) + 2 * X.sum()
    same(na.vmap(of_example, axis_name="i")(on(backend, X)), expected)


def test_names_that_are_not_mapped(backend: str) -> None:
    message = (
        "psum: axis_name: got 'rows', but no axis of this name is mapped around the call; write "
        "na.vmap(fn, axis_name='rows')"
    )
    x = on(backend, X)
    with pytest.raises(ArgumentError, match=f"^{re.escape(message)}$"):
        na.psum(x, "rows")
    with pytest.raises(ArgumentError, match=f"^{re.escape(message)}"):  # JAX adds a note
        na.vmap(lambda x: na.psum(x, "rows"), axis_name="i")(x)
    with pytest.raises(ArgumentError, match=r"^axis_index: axis_name: got 'rows'"):
        na.axis_index("rows")


def test_other_collectives_for_some(backend: str) -> None:
    def fn(x: Any) -> Any:
        return na.cond(x[0] > 0, lambda: na.psum(x, "i"), lambda: x)

    if backend in ("jax", "torch"):  # both branches run for all
        expected = np.where(X[:, :1] > 0, X.sum(0), X)
        same(na.vmap(fn, axis_name="i")(on(backend, X)), expected)
        return
    message = (
        "vmap: axis_name: got 'i' for a function in which some examples call other collectives than "
        "the rest; all of them must call the same ones"
    )
    with pytest.raises(ArgumentError, match=f"^{re.escape(message)}$"):
        na.vmap(fn, axis_name="i")(on(backend, X))


@pytest.mark.parametrize("backend", ["numpy", "torch", "tensorflow"])
def test_axes_that_are_not_there(backend: str) -> None:
    with pytest.raises(
        IndexingError, match=r"^all_gather: axis: got 2 for an array of 2 dimensions"
    ):
        na.vmap(lambda x: na.all_gather(x, "i", axis=2), axis_name="i")(on(backend, X))
