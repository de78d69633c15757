"""Products with Jacobians, and Jacobians: equal to JAX's on all backends."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import nestarray as na
from nestarray import backends
from nestarray.errors import ArgumentError, DtypeError, ShapeError, StructureError
from nestarray.testing import assert_close
from tests.arrays import on

DIFFERENTIABLE = ("numpy", "jax", "torch", "tensorflow")
RNG = np.random.default_rng(0)
V = {
    "a": {"w": np.float32(RNG.normal(size=(3, 2))), "b": np.float32(RNG.normal(size=3))},
    "n": np.arange(3, dtype="int32"),
}
T = {
    "a": {"w": np.float32(RNG.normal(size=(3, 2))), "b": np.float32(RNG.normal(size=3))},
    "n": np.zeros(3, "int32"),
}
X = np.float32(RNG.normal(size=2))


@pytest.fixture(params=DIFFERENTIABLE)
def backend(request: pytest.FixtureRequest) -> str:
    """Each backend that differentiates."""
    return request.param


def net(v: na.Container, x: Any) -> dict[str, Any]:
    h = na.tanh(na.add(na.matmul(v["a/w"], x), v["a/b"]))
    return {"h": h, "sum": na.sum(na.multiply(h, h)), "n": v["n"], "name": "net"}


def inexact(v: na.Container, x: Any) -> Any:
    out = net(v, x)
    return {"h": out["h"], "sum": out["sum"]}


def scalar(v: na.Container, x: Any) -> Any:
    return net(v, x)["sum"]


def floats(c: na.Container) -> na.Container:
    return c.select(dtype="real floating")


def assert_same(actual: Any, expected: Any) -> None:
    """`expected` is JAX's."""
    assert_close(na.tree.map(lambda x: na.to_backend(x, "jax"), actual), expected, rtol=2e-5,
                 reason="sums of a few terms in another order")  # fmt: skip


@cache
def of_jax() -> dict[str, Any]:
    """What JAX's own functions give: it is the same for all backends, and compiled once."""
    v, x = floats(on("jax", V)), on("jax", X)
    t, dx = floats(on("jax", T)), on("jax", X[::-1].copy())
    fn = lambda v, x: inexact(v.update(n=jnp.arange(3)), x)  # noqa: E731
    total = lambda v: scalar(v.update(n=jnp.arange(3)), x)  # noqa: E731
    _, pull = jax.vjp(fn, v, x)
    return {
        "vjp": pull({"h": on("jax", V["a"]["b"]), "sum": jnp.ones(())}),
        "jvp": jax.jvp(fn, (v, x), (t, dx))[1],
        "jacobian": jax.jacrev(fn)(v, x),
        "by x": jax.jacfwd(lambda x: fn(v, x)["h"])(x),
        "hessian": jax.hessian(total)(v),
        "hvp": jax.jvp(jax.grad(total), (v,), (t,))[1],
    }


def test_vjp(backend: str) -> None:
    v, x = on(backend, V), on(backend, X)
    value, pullback = na.vjp(net, v, x)
    assert_close(value["h"], net(v, x)["h"])
    assert value["name"] == "net"
    cotangents = {**value, "h": on(backend, V["a"]["b"]), "sum": na.ones_like(value["sum"])}
    to_v, to_x = pullback(cotangents)
    assert to_v.spec is v.spec
    assert_close(to_v["n"], na.zeros_like(v["n"]))
    expected = of_jax()["vjp"]
    assert_same(floats(to_v), expected[0])
    assert_same(to_x, expected[1])


def test_jvp_and_linearize(backend: str) -> None:
    v, x = on(backend, V), on(backend, X)
    t, dx = on(backend, T), on(backend, X[::-1].copy())
    value, moved = na.jvp(net, [v, x], [t, dx])
    assert_close(value["sum"], net(v, x)["sum"])
    assert moved["name"] == "net"
    assert_close(moved["n"], na.zeros_like(v["n"]))
    assert_same({"h": moved["h"], "sum": moved["sum"]}, of_jax()["jvp"])
    again, push = na.linearize(net, v, x)
    assert_close(again["h"], value["h"])
    assert_close(push(t, dx)["h"], moved["h"])
    assert_close(push(t * 2, dx * 2)["sum"], moved["sum"] * 2)


def test_aux(backend: str) -> None:
    x = on(backend, X)
    value, moved, aux = na.jvp(lambda x: (x * x, {"n": 3, "x": x}), [x], [x], has_aux=True)
    assert_close(moved, 2 * x * x)
    assert_close((value, aux["x"], aux["n"]), (x * x, x, 3))
    value, pullback, aux = na.vjp(lambda x: (x * x, {"n": 3, "x": x}), x, has_aux=True)
    assert_close(pullback(x)[0], 2 * x * x)
    assert_close((aux["x"], aux["n"]), (x, 3))


def test_linear_transpose(backend: str) -> None:
    w = on(backend, V["a"]["w"])
    transpose = na.linear_transpose(lambda x: na.matmul(w, x), on(backend, X))
    y = on(backend, V["a"]["b"])
    assert_close(transpose(y)[0], na.matmul(na.permute_dims(w, (1, 0)), y))


@pytest.mark.parametrize("mode", [na.jacrev, na.jacfwd, na.jacobian], ids=lambda f: f.__name__)
def test_jacobians(backend: str, mode: Callable[..., Any]) -> None:
    v, x = on(backend, V), on(backend, X)
    found = mode(inexact)(v, x)
    assert_same({k: floats(c) for k, c in found.items()}, of_jax()["jacobian"])
    assert tuple(found["h"]["a/w"].shape) == (3, 3, 2)
    by_x = mode(lambda v, x: inexact(v, x)["h"], argnums=1)(v, x)
    assert_same(by_x, of_jax()["by x"])
    part = mode(lambda v, x: inexact(v, x)["h"], wrt="**/b")(v, x)
    assert part.paths() == ("a/b",)
    assert_close(part["a/b"], found["h"]["a/b"])


def test_hessian(backend: str) -> None:
    v, x = on(backend, V), on(backend, X)
    found = na.hessian(scalar, wrt="a")(v, x)
    for path in ("a/w", "a/b"):
        assert_same(found[path], of_jax()["hessian"][path])
    t = floats(on(backend, T))
    product = na.hvp(lambda v: scalar(v.update(n=on(backend, V["n"])), x), [floats(v)], [t])
    assert_same(product, of_jax()["hvp"])


def test_derivatives_of_containers_are_one_tree(backend: str) -> None:
    v = na.Container(w=on(backend, V["a"]["w"]), b=on(backend, V["a"]["b"]))
    found = na.hessian(lambda v: na.sum(v.w**3) + na.sum(v.b) ** 2)(v)
    w, b = v.w.shape, v.b.shape
    assert found.map(lambda x: tuple(x.shape)).to_flat_dict() == {
        "w/w": (*w, *w), "w/b": (*w, *b), "b/w": (*b, *w), "b/b": (*b, *b),
    }  # fmt: skip
    for mode in (na.jacrev, na.jacfwd):
        matrices = mode(lambda v, x: {"y": na.Container(z=v.b * x)}, argnums=(0, 1))(v, v.b)
        assert matrices["y"].paths() == ("z/0/w", "z/0/b", "z/1")
    parts = na.tree.map(lambda x: na.Container(half=x / 2), [v])
    assert parts[0].paths() == ("w/half", "b/half")


def test_gauss_newton(backend: str) -> None:
    v, t, x = floats(on(backend, V)), floats(on(backend, T)), on(backend, X)

    def model(v: na.Container) -> Any:
        return na.tanh(na.add(na.matmul(v["a/w"], x), v["a/b"]))

    def loss(y: Any) -> Any:
        return na.logsumexp(y)

    product = na.gauss_newton_vp(model, loss, v, t)
    jacobian = na.jacrev(model)(v)
    columns = [na.reshape(jacobian[p], (3, -1)) for p in v.paths()]
    j = np.concatenate([np.asarray(na.to_backend(c, "numpy")) for c in columns], axis=1)
    h = np.asarray(na.to_backend(na.hessian(loss)(model(v)), "numpy"))
    flat = np.concatenate([np.asarray(na.to_backend(leaf, "numpy")).ravel() for leaf in t.leaves()])
    expected = j.T @ h @ j @ flat
    actual = [np.asarray(na.to_backend(leaf, "numpy")).ravel() for leaf in product.leaves()]
    np.testing.assert_allclose(np.concatenate(actual), expected, rtol=1e-4, atol=1e-6)


def test_complex_numbers_follow_one_convention(backend: str) -> None:
    z = backends.core(backend).from_numpy(np.asarray([1 + 2j, 3 - 1j], "complex64"))
    t = backends.core(backend).from_numpy(np.asarray([0.5 - 1j, 2j], "complex64"))
    factor = backends.core(backend).from_numpy(np.asarray([2 + 1j, 1j], "complex64"))
    _, pullback = na.vjp(lambda z: z * factor, z)
    assert_close(pullback(t)[0], t * na.conj(factor))
    _, moved = na.jvp(lambda z: z * factor, [z], [t])
    assert_close(moved, t * factor)
    _, pullback = na.vjp(lambda z: na.sum(na.real(z * na.conj(z))), z)
    one = backends.core(backend).from_numpy(np.asarray(1, "float32"))
    assert_close(pullback(one)[0], na.grad(lambda z: na.sum(na.real(z * na.conj(z))))(z))
    with pytest.raises(DtypeError, match=r"^jacrev: got an array of complex64; Jacobians are of"):
        na.jacrev(lambda z: z * factor)(z)


def test_they_nest(backend: str) -> None:
    x = on(backend, X)

    def directional(x: Any) -> Any:
        return na.jvp(lambda x: na.sum(x**4), [x], [x])[1]

    assert_close(na.grad(directional)(x), 16 * x**3)
    assert_close(na.vmap(lambda row: na.jvp(na.sin, [row], [row])[1])(x), x * na.cos(x))
    options: Any = {"backend": "aot_eager"} if backend == "torch" else {}
    compiled = na.jit(lambda x, t: na.hvp(lambda x: na.sum(x**3), [x], [t]), **options)
    assert_close(compiled(x, x), 6 * x * x)
    fused = na.Container(x=x).fuse()
    assert_close(na.jvp(lambda c: na.sum(c["x"]), [fused], [fused])[1], na.sum(x))


def test_gradients_of_a_part(backend: str) -> None:
    v, x = on(backend, V), on(backend, X)
    value, grads = na.execute_with_gradients(lambda v: scalar(v, x), v, wrt="**/b")
    whole = na.grad(scalar)(v, x)
    assert grads.paths() == ("a/b",)
    assert_close(grads["a/b"], whole["a/b"])
    assert_close(na.grad(scalar, wrt=("**/w", "**/b"))(v, x), floats(whole))
    assert_close(value, scalar(v, x))


def test_errors(backend: str) -> None:
    v, x = on(backend, V), on(backend, X)
    with pytest.raises(ArgumentError) as info:
        na.grad(scalar, wrt="**/lora")(v, x)
    assert str(info.value) == (
        "grad: wrt: no leaf matches '**/lora'; the first leaves are 'a/w', 'a/b', 'n'"
    )
    with pytest.raises(ArgumentError, match=r"^grad: wrt: patterns choose leaves of a Container"):
        na.grad(na.sum, wrt="x")(x)
    with pytest.raises(StructureError, match=r"^vjp: cotangents: Containers do not match"):
        na.vjp(lambda v: v * 1, floats(v))[1](floats(v).delete("a/b"))
    with pytest.raises(StructureError, match=r"^jvp: got 1 primals and 2 tangents"):
        na.jvp(na.sin, [x], [x, x])
    with pytest.raises(ArgumentError, match=r"^jvp: primals: got .*, expected a list or a tuple"):
        na.jvp(na.sin, x, x)


SHAPES = [(), (1,), (4,), (2, 3)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_other_shapes_of_directions_are_refused(backend: str, shape: tuple[int, ...]) -> None:
    x, t = (on(backend, a.astype("float32")) for a in (np.arange(3.0), np.ones(shape)))
    directions = {
        "vjp: cotangents": [lambda: na.vjp(na.sin, x)[1](t), lambda: na.linear_transpose(na.sin, x)(t)],
        "jvp: tangents": [lambda: na.jvp(na.sin, [x], [t])],
        "linearize: tangents": [lambda: na.linearize(na.sin, x)[1](t)],
        "hvp: tangents": [lambda: na.hvp(lambda x: na.sum(x**3), [x], [t])],
        "gauss_newton_vp: tangents": [lambda: na.gauss_newton_vp(na.sin, na.sum, x, t)],
    }  # fmt: skip
    for where, calls in directions.items():
        for call in calls:
            with pytest.raises(ShapeError) as info:
                call()
            assert str(info.value) == (
                f"{where}: got an array of shape {shape}, expected the shape (3,)"
            )


def test_directions_take_the_dtype_of_the_argument(backend: str) -> None:
    x = on(backend, np.arange(3.0, dtype="float32"))
    ones = np.ones(3, "float16")
    for t in (ones, on(backend, ones), on(backend, ones.astype("int32"))):
        tangent = na.jvp(na.sin, [x], [t])[1]
        assert_close(tangent, na.cos(x))
        assert_close(na.vjp(na.sin, x)[1](t)[0], na.cos(x))
    assert_close(na.vjp(na.sum, x)[1](2.0)[0], na.full_like(x, 2.0))


@pytest.mark.parametrize("name", ["while_loop", "fori_loop"])
def test_compiled_curvature_of_loops_on_tensorflow(name: str) -> None:
    """A ForwardAccumulator cannot read the loop; two tapes can."""
    loops: dict[str, Callable[[Any], Any]] = {
        "while_loop": lambda x: na.while_loop(
            lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * x), (0, x)
        )[1],
        "fori_loop": lambda x: na.fori_loop(0, 3, lambda i, c: c * x, x),
    }
    x, t = (na.to_backend(np.asarray(n, np.float32), "tensorflow") for n in (2.0, 1.0))
    assert float(na.jit(lambda x: na.hvp(loops[name], [x], [t]))(x)) == 48.0
