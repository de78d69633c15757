"""`vmap` equals single calls stacked, on every backend, nested and with the other transforms."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray.errors import ArgumentError, IndexingError, ShapeError, StructureError
from nestarray.testing import assert_close
from tests.arrays import on

RNG = np.random.default_rng(0)
W, B, X = (RNG.normal(size=s).astype("float32") for s in ((3, 4), (3,), (5, 4)))


def net(v: na.Container, x: Any) -> Any:
    return na.tanh(na.add(na.matmul(v["w"], x), v["b"]))


def test_equals_single_calls(backend: str) -> None:
    v = na.Container(w=on(backend, W), b=on(backend, B))
    x = on(backend, X)
    expected = na.stack([net(v, row) for row in na.unstack(x)])
    assert_close(na.vmap(net, in_axes=(None, 0))(v, x), expected)
    by_column = na.permute_dims(x, (1, 0))
    assert_close(
        na.vmap(net, in_axes=(None, -1), out_axes=1)(v, by_column),
        na.permute_dims(expected, (1, 0)),
    )


def test_axes_of_parts(backend: str) -> None:
    v = na.Container(w=on(backend, np.stack([W, 2 * W])), b={"c": on(backend, B)})
    x = on(backend, X[0])

    def fn(v: na.Container, x: Any, *, scale: float) -> Any:
        y = na.multiply(na.add(na.matmul(v["w"], x), v["b/c"]), scale)
        return {"y": y, "v": v, "name": "kept"}

    axes = na.Container(b=None, w=0)
    out = na.vmap(fn, in_axes=(axes, None), out_axes={"name": 0, "v": 0, "y": 1})(v, x, scale=2.0)
    expected = [fn(na.Container(w=v["w"][i], b=v["b"]), x, scale=2.0) for i in range(2)]
    assert out["name"] == "kept"
    assert_close(out["y"], na.stack([e["y"] for e in expected], axis=1))
    assert_close(out["v"], na.stack([e["v"] for e in expected]))
    again = na.vmap(fn, in_axes=({"w": 0, "b": {"c": None}}, None))(v, x, scale=2.0)
    assert_close(again["y"], na.stack([e["y"] for e in expected]))


def test_nests(backend: str) -> None:
    x, y = on(backend, X[:, 0]), on(backend, X[:3, 1])
    table = na.vmap(lambda a: na.vmap(lambda b: na.subtract(a, b))(y))(x)
    assert_close(table, on(backend, X[:, 0][:, None] - X[:3, 1][None, :]))


def test_several_results_and_containers(backend: str) -> None:
    c = na.Container(a=on(backend, X), b=[on(backend, X[:, :1])])
    total, doubled = na.vmap(lambda c: (na.sum(c["a"]), c * 2))(c)
    assert_close(total, na.sum(c["a"], axis=1))
    assert_close(doubled, c * 2)
    assert doubled.spec is c.spec
    rows = na.vmap(lambda c: na.sum(c["a"]))(c.fuse())  # over the leaves' axis, not the buffer's
    assert_close(rows, total)
    assert_close(na.vmap(lambda c: c.fuse() * 2)(c), c * 2)


def test_random_keys(backend: str) -> None:
    with na.use_backend(backend):
        keys = na.random.split(na.random.key(3), 4)
        drawn = na.vmap(lambda key: na.random.normal(key, (2, 3)))(keys)
        expected = na.stack([na.random.normal(key, (2, 3)) for key in na.unstack(keys)])
    assert_close(drawn, expected)


@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
def test_gradients_of_each_example(backend: str) -> None:
    v = na.Container(w=on(backend, W), b=on(backend, B))
    x = on(backend, X)

    def loss(v: na.Container, x: Any) -> Any:
        return na.sum(net(v, x) ** 2)

    single = [na.grad(loss)(v, row) for row in na.unstack(x)]
    per_example = na.vmap(na.grad(loss), in_axes=(None, 0))(v, x)
    assert_close(per_example, na.stack(single))
    of_batch = na.grad(lambda v: na.sum(na.vmap(loss, in_axes=(None, 0))(v, x)))(v)
    assert_close(
        of_batch, na.sum(na.stack(single), axis=0), rtol=1e-5, reason="another order of sums"
    )
    options: dict[str, Any] = {"backend": "aot_eager"} if backend == "torch" else {}
    jitted = na.jit(na.vmap(na.grad(loss), in_axes=(None, 0)), **options)(v, x)
    assert_close(jitted, per_example)


def test_no_rows(backend: str) -> None:
    v = na.Container(w=on(backend, W), b=on(backend, B))
    empty = na.vmap(net, in_axes=(None, 0))(v, on(backend, X[:0]))
    assert tuple(empty.shape) == (0, 3)


def test_errors(backend: str) -> None:
    x, y = on(backend, X), on(backend, X[:2])
    with pytest.raises(ShapeError) as info:
        na.vmap(na.add)(x, y)
    assert str(info.value) == (
        "vmap: the mapped axes have different sizes: 5 (of shape (5, 4)), 2 (of shape (2, 4))"
    )
    with pytest.raises(IndexingError) as info:
        na.vmap(na.exp, in_axes=2)(x)
    assert str(info.value) == (
        "vmap: in_axes: got the axis 2 for an array of shape (5, 4); give None for what every call "
        "gets whole"
    )
    with pytest.raises(ArgumentError, match=r"'add' was called without an array to map over"):
        na.vmap(na.add, in_axes=None)(x, x)
    with pytest.raises(
        ArgumentError, match=r"got 3 axes, but the function 'add' was called with 2"
    ):
        na.vmap(na.add, in_axes=(0, 0, 0))(x, x)
    with pytest.raises(StructureError, match=r"^vmap: in_axes: got \{'q': 0\} for a list"):
        na.vmap(lambda q: q[0], in_axes=({"q": 0},))([x])
    with pytest.raises(StructureError, match=r"^vmap: in_axes: Containers do not match"):
        na.vmap(lambda c: c, in_axes=(na.Container(b=0),))(na.Container(a=x))


def shared(v: na.Container, x: Any) -> dict[str, Any]:
    return {"y": na.multiply(v["w"], x), "v": v, "c": na.Container(t=na.sum(v["w"]), u=x)}


SHARED_AXES = {"y": 1, "v": None, "c": {"t": None, "u": 0}}


def test_results_that_do_not_depend(backend: str) -> None:
    v = na.Container(w=on(backend, W[0]), k={"b": on(backend, B)})
    x = on(backend, X)
    mapped = na.vmap(shared, in_axes=(None, 0), out_axes=SHARED_AXES)
    options: dict[str, Any] = {"backend": "aot_eager"} if backend == "torch" else {}
    for fn in (mapped, na.jit(mapped, **options)):
        out = fn(v, x)
        assert_close(out["y"], na.permute_dims(na.multiply(v["w"], x), (1, 0)))
        assert_close(out["v"], v)
        assert_close(out["c"], na.Container(t=na.sum(v["w"]), u=x))
    assert_close(na.vmap(lambda x: v["w"], out_axes=None)(x), v["w"])
    empty = na.vmap(lambda x: (x, na.exp(v["w"])), out_axes=(0, None))(x[:0])
    assert tuple(empty[0].shape) == (0, 4)
    assert_close(empty[1], na.exp(v["w"]))


def test_numbers_in_results_are_repeated(backend: str) -> None:
    x = on(backend, X)

    def constants(x: Any) -> Any:
        return {"n": [1, True, 2.5, 1j], "x": x, "rest": (None, "text")}

    found = na.vmap(constants)(x)
    for part, number in zip(found["n"], (1, True, 2.5, 1j), strict=True):
        assert_close(part, na.full((5,), number, like=x))
    assert_close(found["x"], x)
    assert found["rest"] == (None, "text")
    assert na.vmap(lambda x: (x, 1), out_axes=(0, None))(x)[1] == 1
    assert_close(na.vmap(lambda x: na.Container(a=2.0))(x).a, na.full((5,), 2.0, like=x))
    assert tuple(na.vmap(na.vmap(lambda x: 1))(x).shape) == (5, 4)
    graph = na.trace_graph(na.vmap(lambda x: (x, 1.5)), x)
    assert_close(graph(x)[1], na.full((5,), 1.5, like=x))


def test_results_that_do_not_depend_nest(backend: str) -> None:
    x, y, w = on(backend, X[:, 0]), on(backend, X[:3, 1]), on(backend, B)

    def rows(a: Any) -> Any:
        return na.vmap(lambda b: (a * b, a + 1, na.exp(w)), out_axes=(0, None, None))(y)

    products, sums, whole = na.vmap(rows, out_axes=(0, 0, None))(x)
    assert_close(products, on(backend, X[:, :1] * X[None, :3, 1]))
    assert_close(sums, x + 1)
    assert_close(whole, na.exp(w))

    def total(w: Any) -> Any:
        return na.sum(na.vmap(lambda b: (b * 2, w * w * w), out_axes=(0, None))(y)[1])

    assert_close(na.grad(total)(w), 3 * w * w)
    assert_close(na.hessian(total)(w), na.diag(6 * w))
    assert_close(na.jvp(total, (w,), (w,))[1], na.sum(3 * w * w * w))


@pytest.mark.parametrize("derivative", [None, na.grad, na.jacfwd])
def test_results_that_depend_are_refused(backend: str, derivative: Any) -> None:
    v, x = na.Container(w=on(backend, W[0])), on(backend, X)
    axes = {**SHARED_AXES, "c": {"t": None, "u": None}}

    def call(x: Any) -> Any:
        found = na.vmap(shared, in_axes=(None, 0), out_axes=axes)(v, x)
        return na.sum(found["c"]["u"])

    with pytest.raises(ArgumentError) as info:
        (derivative(call) if derivative else call)(x)
    assert str(info.value) == (
        "vmap: out_axes: got None for the result at 'c/u' of the function 'shared', which is not the "
        "same for all examples; give the axis along which they are to stand"
    )


@pytest.mark.parametrize("derivative", [na.grad, na.jacfwd])
def test_equal_results_with_derivatives_are_refused(derivative: Any) -> None:
    def call(x: Any) -> Any:  # 0 for every example, and each has its own derivative
        return na.sum(na.vmap(lambda x: x - na.stop_gradient(x), out_axes=None)(x))

    with pytest.raises(ArgumentError, match=r"^vmap: out_axes: got None for the result of"):
        derivative(call)(X)


@pytest.mark.parametrize("mode", [na.jacfwd, na.jacrev, na.hessian], ids=lambda f: f.__name__)
def test_jacobians_of_each_example(mode: Any, backend: str) -> None:
    x = on(backend, X[:, :2])

    def fn(x: Any) -> Any:
        return na.sum(x**3) if mode is na.hessian else x**3

    power, factor = (1, 6) if mode is na.hessian else (2, 3)
    expected = factor * X[:, :2, None] ** power * np.eye(2, dtype="float32")
    assert_close(na.vmap(mode(fn))(x), on(backend, expected))
    if mode is na.jacfwd:
        total = na.grad(lambda x: na.sum(na.vmap(mode(fn))(x)))(x)
        assert_close(total, on(backend, 6 * X[:, :2]))


def test_tensorflow_is_silent_of_how_it_maps(caplog: pytest.LogCaptureFixture) -> None:
    import tensorflow as tf

    def fn(x: Any) -> Any:
        logger.warning("of the user")
        return na.cond(x > 0, na.sin, lambda x: x**3, x)

    said: list[str] = []
    logger, handler = tf.get_logger(), logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())
    logger.addHandler(handler)
    try:
        with caplog.at_level(logging.WARNING, logger.name):  # converters of TensorFlow raise it
            found = na.vmap(na.grad(fn))(tf.constant([-1.0, 0.5]))  # which vectorized_map cannot
    finally:
        logger.removeHandler(handler)
    np.testing.assert_allclose(found, [3.0, np.cos(0.5)], rtol=1e-6)
    assert set(said) == {"of the user"}
