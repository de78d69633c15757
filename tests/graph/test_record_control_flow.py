"""Loops and choices in recorded code are one node each, with functions that are printed."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import backends
from nestarray.errors import ArgumentError, ConversionError
from nestarray.testing import assert_close
from tests.arrays import on

X = np.linspace(-1.0, 1.0, 6, dtype=np.float32).reshape(3, 2)


def everything(v: Any, x: Any) -> Any:
    """Every kind of control flow, nested, with values of outside in the bodies."""
    w = na.exp(v.w)

    def step(c: na.Container, row: Any) -> Any:
        inner = na.fori_loop(0, 2, lambda i, h: na.add(h * w, i), c.h)
        chosen = na.cond(na.greater(na.sum(row), 0), lambda: inner, lambda: row - c.h)
        return na.Container(h=na.tanh(chosen), n=c.n + 1), {"y": chosen, "n": c.n}

    carry, ys = na.scan(step, na.Container(h=v.w, n=0), x, reverse=True)
    looped = na.while_loop(lambda c: na.less(na.sum(c * c), 30.0), lambda c: c * 2.0 + w, w)
    bounded = na.while_loop(lambda c: na.less(na.sum(c), 9.0), lambda c: c + w, w, max_steps=2)
    index = na.astype(na.sum(x > 0), na.int32)
    switched = na.switch(index, [lambda: w, lambda: w * 2, lambda: w * 3])
    mapped = na.map(lambda row: row * w, x)
    counted = na.fori_loop(0, index, lambda i, c: c + w, w)
    prefixes = na.associative_scan(na.add, x)
    return [carry, ys, looped, bounded, switched, mapped, counted, prefixes]


def trace(backend: str) -> tuple[Any, na.Container, Any]:
    v, x = na.Container(w=on(backend, X[0] + 0.5)), on(backend, X)
    return na.trace_graph(everything, v, x), v, x


def test_a_graph_computes_what_the_code_computes(backend: str) -> None:
    graph, v, x = trace(backend)
    # each call of the text makes the functions in it anew, which JAX would compile again
    run = graph.compile() if backend == "jax" else graph
    for arguments in ((v, x), (v * 0.1, -x)):
        expected = everything(*arguments)
        assert_close(run(*arguments), list(map(_containers, expected)))
    again = pickle.loads(pickle.dumps(graph))
    assert str(again) == str(graph)
    if backend != "jax":
        assert_close(again(v, x), graph(v, x))
    if backend in ("numpy", "torch"):
        graph.verify().raise_if_failed()


def mapped(x: Any, w: Any) -> Any:
    """`vmap` of every kind: nested, along other axes, of values of outside, of nothing."""
    products = na.vmap(lambda row: na.matmul(na.sin(row), w))(x)

    def column(c: Any) -> Any:
        return na.vmap(lambda e: na.where(e > 0, e * na.sum(c), na.sum(w)))(c)

    columns = na.vmap(column, in_axes=1, out_axes=1)(x)
    doubled, squares = na.vmap(lambda row: (row * 2, w * w), out_axes=(0, None))(x)
    taken = na.vmap(lambda i: na.getitem(x, i))(na.asarray(np.asarray([2, 0]), like=x))
    repeated = na.vmap(lambda w: w + 1, in_axes=None, axis_size=3)(w)
    batches = na.map(lambda row: row + 1, x, batch_size=2)
    choices = na.vmap(lambda r: na.cond(na.sum(r) > 0, lambda: r * 2, lambda: r - w[0]))(x)
    return [products, columns, doubled, squares, taken, repeated, batches, choices]


@pytest.mark.parametrize(
    "backend",
    ["numpy", "torch", *(pytest.param(b, marks=pytest.mark.full) for b in ("jax", "tensorflow"))],
)
def test_mapped_functions_are_recorded(backend: str) -> None:
    x, w = on(backend, X), on(backend, X[:2] + 0.5)
    graph = na.trace_graph(mapped, x, w)
    assert "na.map(row_" in str(graph)
    run = graph.compile() if backend == "jax" else graph
    for given in ((x, w), (-x, w * 2)):
        assert_close(run(*given), mapped(*given))

    def loss(fn: Any) -> Any:
        return na.grad(lambda x: na.sum(fn(x, w)[0]) + na.sum(fn(x, w)[1]))(x)

    assert_close(loss(graph), loss(mapped))
    moved = graph.to_backend("numpy")
    for one in (moved, moved.optimize()):
        assert_close(one(X, X[:2] + 0.5), mapped(X, X[:2] + 0.5))
    with pytest.raises(
        ArgumentError, match=r"^vmap: out_axes: got None for the result of the func"
    ):
        na.trace_graph(lambda x: na.vmap(lambda row: row * 2, out_axes=None)(x), x)


def _containers(nest: Any) -> Any:
    """Mappings in the output of a graph are Containers."""
    return na.Container(nest) if isinstance(nest, dict) else nest


@pytest.mark.parametrize(
    "backend",
    ["torch", *(pytest.param(b, marks=pytest.mark.full) for b in ("jax", "tensorflow"))],
)
def test_on_another_backend_and_compiled(backend: str) -> None:
    graph, v, x = trace("numpy")
    expected = graph(v, x)
    moved = graph.to_backend(backend)
    given = v.to_backend(backend), na.to_backend(x, backend)
    compiled = moved.compile(**({"backend": "aot_eager"} if backend == "torch" else {}))
    for run in (moved, compiled):
        for found, want in zip(run(*given), expected, strict=True):
            host = na.tree.map(lambda a: na.to_backend(a, "numpy"), found)
            assert_close(host, want, check_dtype=False)


def test_how_a_loop_is_printed() -> None:
    def code(x: Any) -> Any:
        def step(c: Any, row: Any) -> Any:
            return na.cond(na.greater(row, 0.0), lambda: c + row, lambda: c), None

        return na.scan(step, x[0] * 0.0, x)[0]

    graph = na.trace_graph(code, X[:, 0])
    assert [call.target_name for call in graph.calls][2:3] == ["na.scan"]
    assert (
        graph.to_source(comments=False)
        == """\
import nestarray as na


def graph(x, *, v, s, constants, key=None):
    getitem = na.getitem(x, 0)
    multiply = na.multiply(getitem, 0.0)

    def step(carry, row):
        (carry_0,) = carry
        (row_0,) = row
        greater = na.greater(row_0, 0.0)

        def if_true():
            add = na.add(carry_0, row_0)
            return (add,)

        def if_false():
            return (carry_0,)

        cond = na.cond(greater, if_true, if_false)
        cond_0 = cond[0]
        return ((cond_0,), ())

    scan = na.scan(step, (multiply,), (x,))
    scan_0 = scan[0]
    scan_0_0 = scan_0[0]
    return scan_0_0
"""
    )


def test_a_long_loop_is_a_short_graph(backend: str) -> None:
    x = on(backend, np.ones((500, 2), np.float32))
    graph = na.trace_graph(lambda x: na.scan(lambda c, r: (c + r, None), x[0] * 0.0, x)[0], x)
    assert len(graph.calls) < 8
    assert_close(graph(x * 2), x[0] * 1000)


def test_constants_of_a_body_and_of_outside(backend: str) -> None:
    outside = on(backend, X[0])

    def code(x: Any) -> Any:
        start = na.scan(lambda c, _: (c * 2.0, None), outside, length=3)[0]
        assert backends.backend_of_type(type(start)) == backend  # it depends on no argument
        return na.fori_loop(0, 2, lambda i, c: c + na.multiply(outside, x), start)

    graph = na.trace_graph(code, on(backend, X[1]))
    x = on(backend, X[2])
    assert_close(graph(x), outside * 8.0 + outside * x * 2.0)


def test_what_leaves_a_body_by_another_way() -> None:
    kept: list[Any] = []

    def code(x: Any) -> Any:
        def step(c: Any, row: Any) -> Any:
            kept.append(c * 2.0)
            return c + row, None

        carry = na.scan(step, x[0], x)[0]
        return carry + kept[0]

    with pytest.raises(ConversionError) as info:
        na.trace_graph(code, X)
    assert str(info.value) == (
        "trace_graph: add: x2: got an array of the body of a loop or a branch that has ended; "
        "return it from there"
    )
