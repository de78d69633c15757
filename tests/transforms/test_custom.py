"""Custom derivatives and checkpoints: equal on JAX, PyTorch and TensorFlow."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray.errors import ArgumentError, StructureError, UnsupportedError
from nestarray.testing import assert_close
from tests.arrays import on

DIFFERENTIABLE = ("numpy", "jax", "torch", "tensorflow")
X = np.asarray([0.5, -1.0, 2.0], "float32")


@pytest.fixture(params=DIFFERENTIABLE)
def backend(request: pytest.FixtureRequest) -> str:
    """Each backend that differentiates."""
    return request.param


def tree(backend: str) -> na.Container:
    return na.Container(a=on(backend, X), n=on(backend, np.arange(2)), name="layer")


def marked() -> Any:
    """a · x with a pullback that is three times too large, so that one sees which is used."""

    @na.custom_vjp
    def product(c: na.Container, x: Any) -> dict[str, Any]:
        return {"y": c["a"] * x, "n": c["n"], "name": c["name"]}

    def forward(c: na.Container, x: Any) -> Any:
        return product(c, x), {"c": c, "x": x, "factor": 3.0}

    def backward(residuals: Any, cotangent: Any) -> Any:
        factor, c, x = residuals["factor"], residuals["c"], residuals["x"]
        y = cotangent["y"]
        return c.set("a", y * x * factor), y * c["a"] * factor

    product.defvjp(forward, backward)
    return product


def test_custom_vjp_of_nests(backend: str) -> None:
    c, x = tree(backend), on(backend, X + 1)
    product = marked()
    out = product(c, x)
    assert_close(out["y"], c["a"] * x)
    assert_close(out["n"], c["n"])
    assert out["name"] == "layer"
    loss = lambda c, x: na.sum(product(c, x)["y"])  # noqa: E731
    to_c, to_x = na.grad(loss, argnums=(0, 1))(c, x)
    assert_close(to_c["a"], 3 * x)
    assert_close(to_x, 3 * c["a"])


def test_custom_vjp_differentiates_its_own_rules(backend: str) -> None:
    @na.custom_vjp
    def cube(x: Any) -> Any:
        return x * x * x

    cube.defvjp(lambda x: (cube(x), na.sin(x)), lambda sine, ct: (ct * sine,))
    x = on(backend, X)
    first = na.grad(lambda x: na.sum(cube(x)))
    assert_close(first(x), na.sin(x))
    assert_close(na.grad(lambda x: na.sum(first(x)))(x), na.cos(x))
    third = na.grad(lambda x: na.sum(na.grad(lambda x: na.sum(first(x)))(x)))
    assert_close(third(x), -na.sin(x))


def test_custom_vjp_inside_of_others(backend: str) -> None:
    c, x = tree(backend), on(backend, X)
    product = marked()
    gradient = na.grad(lambda a, x: na.sum(product(c.set("a", a), x)["y"]))
    rows = na.stack([x, 2 * x])
    assert_close(na.vmap(gradient, in_axes=(None, 0))(c["a"], rows), 3 * rows)
    options = {"backend": "aot_eager"} if backend == "torch" else {}
    assert_close(na.jit(gradient, **options)(c["a"], x), 3 * x)


def test_custom_jvp_serves_both_modes(backend: str) -> None:
    @na.custom_jvp
    def product(x: Any, y: Any, *, power: int = 1) -> Any:
        return (x * y) ** power

    product.defjvp(
        lambda primals, tangents, power=1: (
            product(*primals, power=power),
            5 * (primals[1] * tangents[0] + primals[0] * tangents[1]),
        )
    )
    x, y = on(backend, X), on(backend, X + 1)
    loss = lambda x, y: na.sum(product(x, y))  # noqa: E731
    assert_close(na.grad(loss, argnums=(0, 1))(x, y), (5 * y, 5 * x))
    assert_close(na.grad(lambda x: na.sum(na.grad(loss, 1)(x, y) * x))(x), 10 * x)
    assert_close(na.jvp(product, [x, y], [x, y])[1], 10 * x * y)
    assert_close(na.jvp(lambda x: product(x, y, power=2), [x], [x])[0], (x * y) ** 2)


def test_checkpoint(backend: str) -> None:
    c, x = tree(backend), on(backend, X)
    calls: list[int] = []

    def layer(c: na.Container, x: Any, *, scale: float) -> Any:
        calls.append(1)
        return {"y": na.sin(na.multiply(c["a"], x)) * scale, "n": c["n"], "name": c["name"]}

    def loss(layer: Callable[..., Any], c: na.Container) -> Any:
        return na.sum(layer(c, x, scale=2.0)["y"] ** 2)

    plain = na.value_and_grad(lambda c: loss(layer, c))(c)
    calls.clear()
    again = na.value_and_grad(lambda c: loss(na.checkpoint(layer), c))(c)
    assert_close(again, plain)
    if backend != "jax":  # which traces once and repeats the operations
        assert len(calls) == 2
    out = na.checkpoint(layer)(c, x, scale=1.0)
    assert_close(out["n"], c["n"])
    assert out["name"] == "layer"
    options = {"backend": "aot_eager"} if backend == "torch" else {}
    jitted = na.jit(na.grad(lambda a: loss(na.checkpoint(layer), c.set("a", a))), **options)
    assert_close(jitted(c["a"]), plain[1]["a"])
    per_row = na.vmap(na.grad(lambda a: loss(na.checkpoint(layer), c.set("a", a))))
    assert_close(per_row(na.stack([c["a"], c["a"]]))[1], plain[1]["a"])


def test_checkpoints_run_again_in_the_context_of_the_call(backend: str) -> None:
    x = on(backend, X)
    with na.use_backend(backend):
        y, pull = na.vjp(na.checkpoint(lambda x: na.sin(x) * na.full((3,), 2.0)), x)
    with na.use_backend("jax" if backend == "numpy" else "numpy"):
        assert_close(pull(na.ones_like(y))[0], 2.0 * na.cos(x))


def test_checkpoint_saves_memory_on_torch() -> None:
    import torch

    def depth(x: Any) -> Any:
        for _ in range(20):
            x = na.sin(x)
        return x

    def stored(fn: Callable[..., Any]) -> int:
        sizes: list[int] = []

        def pack(t: torch.Tensor) -> torch.Tensor:
            sizes.append(t.numel())
            return t

        x = torch.ones(100, requires_grad=True)
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
            fn(x)
        return sum(sizes)

    assert stored(depth) >= 20 * 100
    assert stored(na.checkpoint(depth)) <= 2 * 100


def test_checkpoint_saves_memory_on_jax() -> None:
    from jax._src.ad_checkpoint import saved_residuals as residuals

    def depth(x: Any) -> Any:
        for _ in range(20):
            x = na.sin(x)
        return na.sum(x)

    x = on("jax", np.ones(1000, "float32"))
    sizes = [
        sum(int(np.prod(aval.shape)) for aval, _ in residuals(fn, x))
        for fn in (depth, na.checkpoint(depth))
    ]
    assert sizes[0] >= 20 * 1000
    assert sizes[1] <= 2 * 1000


def test_errors(backend: str) -> None:
    x = on(backend, X)
    with pytest.raises(ArgumentError) as info:
        na.custom_vjp(na.sin)(x)
    assert str(info.value) == (
        "custom_vjp: the function 'sin' has no derivative; give it one with "
        "f.defvjp(forward, backward)"
    )
    with pytest.raises(ArgumentError, match=r"^custom_jvp: the function 'sin' has no derivative"):
        na.custom_jvp(na.sin)(x)
    wrong = na.custom_vjp(na.sin)
    wrong.defvjp(lambda x: (na.sin(x), x), lambda x, ct: (ct, ct))
    with pytest.raises(StructureError, match=r"returned 2, expected a tuple of 1, a gradient for"):
        na.grad(lambda x: na.sum(wrong(x)))(x)
    wrong.defvjp(lambda x: na.sin(x), lambda x, ct: (ct,))
    with pytest.raises(ArgumentError, match=r"expected a pair \(value, residuals\)"):
        na.grad(lambda x: na.sum(wrong(x)))(x)


def test_a_pullback_serves_forward_mode_on_tensorflow() -> None:
    sine = na.custom_vjp(na.sin)
    sine.defvjp(lambda x: (na.sin(x), x), lambda x, ct: (7 * ct * na.cos(x),))
    x = on("tensorflow", X)
    assert_close(na.jvp(sine, [x], [x])[1], 7 * x * na.cos(x))


def test_checkpoints_free_tensors_on_tensorflow() -> None:
    inside: list[Any] = []

    def wave(x: Any) -> Any:
        inside.append(weakref.ref(y := na.sin(x)))
        return na.exp(y) * y

    def kept(wave: Any) -> bool:
        inside.clear()

        def loss(x: Any) -> Any:
            y = wave(x)
            kept.append(inside[0]() is not None)
            return na.sum(y)

        kept: list[bool] = []
        na.grad(loss)(on("tensorflow", X))
        return kept[0]

    assert kept(wave)
    assert not kept(na.checkpoint(wave))


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: na.grad(lambda x: na.sum(na.sin(x) * x))(x),
        lambda x: na.jvp(na.sin, [x], [x])[1],
        lambda x: na.vjp(na.sin, x)[1](x)[0],
    ],
)
def test_derivatives_inside_of_checkpoints(fn: Any, backend: str) -> None:
    x = on(backend, X)
    assert_close(na.checkpoint(fn)(x), fn(x))
    expected = na.grad(lambda x: na.sum(fn(x) * x))(x)
    assert_close(na.grad(lambda x: na.sum(na.checkpoint(fn)(x) * x))(x), expected)


def test_mapped_gradients_inside_of_checkpoints(backend: str) -> None:
    fn = na.checkpoint(na.vmap(na.grad(lambda x: na.sin(x) * x)))
    x = on(backend, X)
    assert_close(fn(x), na.sin(x) + x * na.cos(x))
    if backend == "torch":
        with pytest.raises(
            UnsupportedError, match=r"^grad: PyTorch has no grad inside of na.vmap .* na.checkpoint"
        ):
            na.grad(lambda x: na.sum(fn(x)))(x)
        return
    assert_close(na.grad(lambda x: na.sum(fn(x)))(x), 2 * na.cos(x) - x * na.sin(x))


def test_forward_mode_sees_through_checkpoints(backend: str) -> None:
    x = on(backend, X)
    assert_close(na.jvp(na.checkpoint(na.sin), [x], [x])[1], x * na.cos(x))


def test_a_pullback_has_no_forward_mode_in_jax(backend: str) -> None:
    """The other backends transpose it."""
    sine = na.custom_vjp(na.sin)
    sine.defvjp(lambda x: (na.sin(x), x), lambda x, ct: (ct * na.cos(x),))
    x = on(backend, X)
    if backend != "jax":
        assert_close(na.jvp(sine, [x], [x])[1], x * na.cos(x))
        return
    with pytest.raises(
        UnsupportedError,
        match=r"^jvp: a function with custom_vjp has no derivative in forward mode on JAX",
    ):
        na.jvp(sine, [x], [x])


def test_settings_come_first(backend: str) -> None:
    """The examples of JAX's documentation of nondiff_argnums."""

    @partial(na.custom_jvp, nondiff_argnums=(0,))
    def app(f: Any, x: Any) -> Any:
        return f(x)

    @app.defjvp
    def app_jvp(f: Any, primals: Any, tangents: Any) -> Any:
        return f(primals[0]), 2.0 * tangents[0]

    @partial(na.custom_vjp, nondiff_argnums=1)
    def pulled(x: Any, f: Any) -> Any:
        return f(x)

    pulled.defvjp(lambda x, f: (pulled(x, f), x), lambda f, x, ct: (5.0 * ct * f(x),))
    three = na.to_backend(np.float32(3.0), backend)
    cube = lambda x: x**3  # noqa: E731
    assert float(na.grad(lambda x: app(cube, x))(three)) == 2.0
    assert float(na.jvp(lambda x: app(cube, x), (three,), (three,))[1]) == 6.0
    assert float(app_jvp(cube, (three,), (three,))[0]) == 27.0
    assert float(na.grad(lambda x: pulled(x, cube))(three)) == 135.0
    assert float(na.grad(lambda x: app(f=cube, x=x))(three)) == 2.0
    for name, fn in (("custom_jvp", lambda x: app()), ("custom_vjp", pulled)):
        with pytest.raises(ArgumentError) as info:
            fn(three)
        assert str(info.value).startswith(f"{name}: nondiff_argnums: got ")
        assert str(info.value).endswith("; give settings by position, and count from 0")


def test_no_gradient_is_zeros(backend: str) -> None:
    @na.custom_vjp
    def clipped(low: Any, high: Any, x: Any) -> Any:
        return x

    clipped.defvjp(
        lambda low, high, x: (x, (low, high)),
        lambda bounds, ct: (None, None, na.clip(ct, bounds[0], bounds[1])),
    )
    low, high, x = (na.to_backend(np.float32(n), backend) for n in (-0.75, 0.75, 0.1))
    found = na.grad(lambda *xs: clipped(xs[0], xs[1], na.sin(xs[2])), (0, 1, 2))(low, high, x)
    assert [float(g) for g in found[:2]] == [0.0, 0.0]
    assert_close(found[2], high * na.cos(x))

    @na.custom_vjp
    def line(v: Any, x: Any) -> Any:
        return v["a"] * x + v["b"]

    line.defvjp(lambda v, x: (line(v, x), x), lambda x, ct: ({"a": ct * x, "b": None}, None))
    of_v, of_x = na.grad(line, (0, 1))({"a": low, "b": high}, x)
    assert_close(of_v["a"], x)
    assert float(of_v["b"]) == float(of_x) == 0.0


def test_recorded_calls_keep_their_rules(backend: str) -> None:
    def clipped(x: Any) -> Any:
        forward = lambda args: (args, (na.sin(args[0]),))  # noqa: E731
        backward = lambda kept, cts: (na.clip(cts[0], -1, 1) * kept[0],)  # noqa: E731
        return na.call_with_vjp(lambda args: args, forward, backward, (x,))[0]

    def counted(x: Any, n: Any) -> Any:
        function = lambda args: (args[0] * 2, args[1] + 1)  # noqa: E731
        rule = lambda args, moved: (7 * moved[0] * args[0],)  # noqa: E731
        return na.call_with_jvp(function, rule, (x, n))[0]

    x, n = on(backend, X), on(backend, np.arange(3))
    total = lambda x: na.sum(5 * clipped(x) + counted(x, n))  # noqa: E731
    graph = na.trace_graph(total, x)
    assert {node.target_name for node in graph.calls} >= {"na.call_with_vjp", "na.call_with_jvp"}
    for function in (total, graph):
        assert_close(na.grad(function)(x), na.sin(x) + 7 * x)


def test_arguments_without_a_gradient_end_it(backend: str) -> None:
    """Zeros would meet the infinite slope in the loop."""

    def steep(x: Any) -> Any:
        step = lambda c, row: (na.log(na.exp(c) * 0 + row), row)  # noqa: E731
        return na.scan(step, x, na.zeros(2, like=x))[0]

    def total(x: Any) -> Any:
        forward = lambda args: (args[:1], args[1:])  # noqa: E731
        backward = lambda kept, cts: (cts[0] * kept[0] + na.cos(kept[1]),)  # noqa: E731
        args = (steep(x), na.exp(x), x)
        return na.call_with_vjp(lambda a: a[:1], forward, backward, args, (0, 1))[0]

    x = on(backend, np.asarray(1.0, "float32"))
    with np.errstate(divide="ignore"):
        assert_close(na.grad(total)(x), na.exp(x) + na.cos(x))
        assert_close(na.grad(na.grad(total))(x), na.exp(x) - na.sin(x))


def test_wrong_number_of_gradients_in_a_call(backend: str) -> None:
    def same(x: Any) -> Any:
        return na.call_with_vjp(lambda a: a, lambda a: (a, ()), lambda r, cts: (), (x,))[0]

    with pytest.raises(StructureError, match="returned 0 gradients, expected 1, one for each"):
        na.grad(lambda x: na.sum(same(x)))(on(backend, X))
