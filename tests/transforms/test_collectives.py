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
from nestarray.errors import ArgumentError, IndexingError, UnsupportedError
from nestarray.testing import assert_close
from tests.arrays import on

X = np.random.default_rng(0).normal(size=(4, 3)).astype("float32")
REASON = "another order of sums"


def same(found: Any, expected: Any) -> None:
    host = na.tree.map(lambda x: na.to_backend(x, "numpy"), found)
    expected = jax.tree.map(np.asarray, expected)
    assert_close(host, expected, rtol=1e-4, atol=1e-5, reason=REASON)


def normalized(x: Any, lib: Any, axis: str = "i") -> Any:
    """Batch normalization, by two collectives of which the second needs the first."""
    centred = x - lib.pmean(x, axis)
    return centred / (lib.pmean(centred * centred, axis) + 0.1) ** 0.5


#: Functions of one example by `lax`'s names, and the settings of `vmap`.
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


def power(x: Any, lib: Any) -> Any:
    """A function of one example that is normalized by all examples."""
    y = normalized(x, lib) ** 3 * lib.psum(x, "i")
    return y.sum() if lib is lax else na.sum(y)


def own_power(x: Any) -> Any:
    return power(x, na)


def power_of_jax(x: Any) -> Any:
    return power(x, lax)


def test_derivatives_of_one_example(backend: str) -> None:
    """The cotangents of all examples are summed."""
    found = na.vmap(na.grad(own_power), axis_name="i")(on(backend, X))
    same(found, jax.vmap(jax.grad(power_of_jax), axis_name="i")(X))


#: Derivatives inside of mapped functions, by the name of a library's transformations.
INSIDE: dict[str, Callable[[Any, Any], Any]] = {
    "jvp": lambda lib, f: lambda x: lib.jvp(f, (x,), (x,))[1],
    "twice": lambda lib, f: lib.grad(lambda x: (lib.grad(f)(x) * x * x)[0]),
    "hvp": lambda lib, f: lambda x: lib.jvp(lib.grad(f), (x,), (x,))[1],
    "jacrev": lambda lib, f: lib.jacrev(lambda x: x * f(x)),
    "jacfwd": lambda lib, f: lib.jacfwd(lambda x: x * f(x)),
    "in a mapped function": lambda lib, f: lib.grad(lambda x: lib.vmap(lambda y: f(x * y))(x)[1]),
}


@pytest.mark.full
@pytest.mark.parametrize("name", INSIDE)
def test_all_derivatives_of_one_example(name: str, backend: str) -> None:
    inside = INSIDE[name]
    found = na.vmap(inside(na, own_power), axis_name="i")(on(backend, X))
    same(found, jax.vmap(inside(jax, power_of_jax), axis_name="i")(X))


@pytest.mark.full
def test_derivatives_around_those_of_one_example(backend: str) -> None:
    def around(grad: Any, vmap: Any, fn: Any) -> Any:
        return grad(lambda x: (vmap(grad(fn), axis_name="i")(x) ** 2)[0, 1])

    found = around(na.grad, na.vmap, own_power)(on(backend, X))
    same(found, around(jax.grad, jax.vmap, power_of_jax)(X))


def test_rules_of_ones_own_beside_them(backend: str) -> None:
    square = na.custom_vjp(lambda x: x * x)
    square.defvjp(lambda x: (x * x, x), lambda x, ct: (2.0 * x * ct,))

    def fn(x: Any) -> Any:
        return na.sum(na.vmap(lambda x: na.psum(square(x), "i") * square(x), axis_name="i")(x))

    expected = jax.grad(lambda x: ((x * x).sum(0) * x * x).sum())(X)
    same(na.grad(fn)(on(backend, X)), expected)


def test_recorded(backend: str) -> None:
    def fn(x: Any, lib: Any, vmap: Any) -> Any:
        return vmap(lambda x: normalized(x, lib) * lib.axis_index("i"), axis_name="i")(x)

    graph = na.trace_graph(lambda x: fn(x, na, na.vmap), on(backend, X))
    same(graph(on(backend, 2 * X)), fn(2 * X, lax, jax.vmap))
    message = (
        "psum: recorded code cannot collect values inside of a loop or a choice; call it outside of "
        "that"
    )
    in_loop = lambda x: na.fori_loop(0, 2, lambda i, c: na.psum(c, "i"), x)  # noqa: E731
    with pytest.raises(UnsupportedError, match=f"^{re.escape(message)}$"):
        na.trace_graph(lambda x: na.vmap(in_loop, axis_name="i")(x), on(backend, X))


@pytest.mark.full
def test_recorded_in_each_other(backend: str) -> None:
    mapped = na.vmap(lambda x: of_row(na, na.vmap, x), axis_name="i")
    graph = na.trace_graph(mapped, on(backend, X))
    expected = jax.vmap(lambda x: of_row(lax, jax.vmap, x), axis_name="i")(2 * X)
    same(graph(on(backend, 2 * X)), expected)


def test_loops_of_graphs_of_tensorflow() -> None:
    message = (
        "psum: TensorFlow cannot collect values inside of a loop, a choice or a compiled function; "
        "call it outside of that"
    )
    in_loop = lambda x: na.fori_loop(0, 2, lambda i, c: na.psum(c, "i"), x)  # noqa: E731
    with pytest.raises(UnsupportedError, match=re.escape(message)):
        na.jit(lambda x: na.vmap(in_loop, axis_name="i")(x))(on("tensorflow", X))


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
