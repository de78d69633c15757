"""Control flow against ``jax.lax``: values, gradients, compiled, mapped, on every backend."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import jax
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from jax import lax

import nestarray as na
from nestarray import backends
from nestarray.errors import UnsupportedError
from nestarray.testing import assert_close
from tests.arrays import on

#: torch's own compiler takes seconds for a kernel; only its tracing is tested here.
OPTIONS: dict[str, dict[str, Any]] = {"torch": {"backend": "aot_eager"}}
ORDER: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-5, "reason": "sums in another order"}
ROWS = np.linspace(-1.0, 1.0, 8, dtype=np.float32).reshape(4, 2)


class Pair(NamedTuple):
    """A node with names."""

    first: Any
    second: Any


def moved(nest: Any, backend: str) -> Any:
    """A nest of NumPy arrays on a backend."""
    return na.tree.map(lambda x: on(backend, x) if hasattr(x, "dtype") else x, nest)


def jit(fn: Callable[..., Any], backend: str) -> Callable[..., Any]:
    return na.jit(fn, **OPTIONS.get(backend, {}))


def assert_same(actual: Any, expected: Any, backend: str, **options: Any) -> None:
    """`actual` is of the backend and has the values of `expected`, a nest of `jax.lax`."""
    host = na.tree.map(lambda x: np.asarray(x) if hasattr(x, "dtype") else x, expected)
    # JAX alone counts in int32
    assert_close(actual, host, backend=backend, check_dtype=backend == "jax", **options)


# -- values, on nests of every kind ----------------------------------------------------------


def grow(nest: Any) -> Any:
    """A carry of the next step: each leaf depends on itself."""
    return na.tree.map(lambda x: x if x is None or isinstance(x, str) else na.sin(x) + x, nest)


CARRIES: dict[str, Any] = {
    "array": ROWS[0],
    "scalar": np.float32(0.5),
    "container": na.Container({"a": ROWS, "b/c": [ROWS[0], (ROWS[1],)], 3: np.float32(2.0)}),
    "fused": na.Container(a=ROWS, b={"c": ROWS[0]}).fuse(),
    "bare": na.Container(ROWS[0]),
    "empty": na.Container(),
    "dict": {"z": ROWS[0], "a": [ROWS[1], na.Container(w=ROWS[2])], "none": None},
    "namedtuple": Pair(ROWS[0], (ROWS[1],)),
    "none": None,
}


OVER = {"r": ROWS, "n": None}


def growing(carry: Any, x: Any) -> Any:
    return grow(carry), (na.sum(x["r"]), {"before": carry})


@cache
def scanned_by_lax(kind: str) -> Any:
    return lax.scan(growing, moved(CARRIES[kind], "jax"), moved(OVER, "jax"), reverse=True)


@pytest.mark.parametrize("kind", CARRIES)
def test_scan_of_every_structure_is_that_of_lax(kind: str, backend: str) -> None:
    init = CARRIES[kind]
    carry, ys = scanned_by_lax(kind)
    found = na.scan(growing, moved(init, backend), moved(OVER, backend), reverse=True)
    if kind == "fused":  # stacked leaves are not one buffer
        ys = (ys[0], {"before": na.stack([moved(init, "jax").unfuse()] * 4)})
        carry, found = carry.unfuse(), (found[0].unfuse(), found[1])
        assert_same(found[0], carry, backend)
        assert tuple(found[1][1]["before"]["a"].shape) == (4, 4, 2)
        return
    assert_same(found, (carry, ys), backend)
    if not hasattr(init, "dtype"):
        assert type(found[0]) is type(carry)


def test_a_fused_carry_stays_fused(backend: str) -> None:
    init = moved(CARRIES["fused"], backend)
    for body in (lambda i, c: c * 2, lambda i, c: c.unfuse() * 2):
        found = na.fori_loop(0, 3, body, init)
        assert type(found) is type(init)
        assert_close(found, init * 8)


def every_loop(m: Any, x: Any, n: Any) -> Any:
    """All loops and choices of `m`, which is nestarray or has the functions of ``jax.lax``."""
    outside = na.exp(x)
    c = na.Container(x=x, n=n)
    looped = m.while_loop(
        lambda c: na.less(na.sum(c.x), 50.0),
        lambda c: na.Container(x=c.x * 1.5 + outside, n=c.n + 1),
        c,
    )
    counted = m.fori_loop(1, 4, lambda i, x: na.add(na.multiply(x, i), outside), x)
    to_n = m.fori_loop(n, 5, lambda i, x: na.add(x, i), x)
    mapped = m.map(lambda row: {"p": row * 2, "q": na.sum(row)}, x)
    carry, ys = m.scan(lambda c, _: (c * 2, c + outside), x, None, length=3)
    one = m.cond(na.greater(na.sum(x), 0), lambda x: x + outside, lambda x: x - 1, x)
    chosen = m.switch(n, [lambda x: x, lambda x: x * 2, lambda x: x * outside], x)
    nowhere = m.switch(n + 9, [lambda x: x, lambda x: x * 2], x)
    prefixes = m.associative_scan(lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), (x, outside))
    return [looped, counted, to_n, mapped, carry, ys, one, chosen, nowhere, list(prefixes)]


LOOPED = ROWS + 0.25, np.asarray(2, np.int32)


@cache
def looped_by_lax() -> Any:
    return every_loop(lax, *(on("jax", x) for x in LOOPED))


@pytest.mark.release("backend")
@pytest.mark.parametrize("compiled", [False, True])
def test_every_loop_is_that_of_lax(compiled: bool, backend: str) -> None:
    run = jit(lambda *a: every_loop(na, *a), backend) if compiled else partial(every_loop, na)
    assert_same(run(*(on(backend, x) for x in LOOPED)), looped_by_lax(), backend)


# -- associative_scan -------------------------------------------------------------------------


@given(
    st.integers(0, 17),
    st.sampled_from([0, 1, -1]),
    st.booleans(),
    st.sampled_from(["numpy", "torch"]),
)
def test_associative_scan_is_the_scan_of_products(
    n: int, axis: int, reverse: bool, backend: str
) -> None:
    """Of affine maps, which do not commute."""
    rng = np.random.default_rng(n)
    elems = na.Container(
        a=rng.normal(size=(n, 3) if axis == 0 else (3, n)).round(1),
        b=rng.normal(size=(n, 3) if axis == 0 else (3, n)).round(1),
    )

    def combine(f: na.Container, g: na.Container) -> na.Container:
        return na.Container(b=g.a * f.b + g.b, a=f.a * g.a)

    found = na.associative_scan(combine, moved(elems, backend), axis=axis, reverse=reverse)
    steps = na.unstack(elems, axis=axis) if n else []
    parts: list[Any] = []
    for step in reversed(steps) if reverse else steps:
        parts.append(combine(parts[-1], step) if parts else step)
    expected = na.stack(parts[::-1] if reverse else parts, axis=axis) if n else elems
    assert_close(
        found, moved(expected, backend), rtol=1e-9, atol=1e-9, reason="another order of products"
    )


@pytest.mark.parametrize("reverse", [False, True])
def test_associative_scan_of_axes_from_the_end(reverse: bool, backend: str) -> None:
    elems = {"m": on(backend, ROWS), "v": on(backend, ROWS[0])}
    found = na.associative_scan(na.add, elems["m"], axis=-1, reverse=reverse)
    flip = (lambda x: x[..., ::-1]) if reverse else (lambda x: x)
    assert_close(found, on(backend, flip(np.cumsum(flip(ROWS), -1)).copy()))
    both = na.associative_scan(
        lambda a, b: {k: na.add(a[k], b[k]) for k in a}, elems, axis=-1, reverse=reverse
    )
    assert_close(both["m"], found)
    assert_close(both["v"], found[0])


# -- gradients --------------------------------------------------------------------------------


def losses() -> dict[str, Callable[[Any, Any], Any]]:
    """Functions of Container and rows, to differentiate; each in both factors."""

    def scanned(v: Any, x: Any) -> Any:
        carry, ys = na.scan(
            lambda c, r: (na.tanh(na.matmul(v.w, c) + r), na.sum(c) * v.b), v.h, x, reverse=True
        )
        return na.sum(carry) + na.sum(ys)

    def counted(v: Any, x: Any) -> Any:
        return na.sum(na.fori_loop(0, 3, lambda i, c: na.tanh(na.matmul(v.w, c)) + v.b, v.h))

    def looped(v: Any, x: Any) -> Any:
        found = na.while_loop(
            lambda c: na.less(c["n"], 3),
            lambda c: {"h": na.tanh(na.matmul(v.w, c["h"])) + v.b, "n": c["n"] + 1},
            {"h": v.h, "n": 0},
            max_steps=5,
        )
        return na.sum(found["h"])

    def chosen(v: Any, x: Any) -> Any:
        at_zero = v.h * 0.0  # whose square root has no derivative, and is not taken
        one = na.cond(na.greater(v.b, 0), lambda: v.b * v.h, lambda: na.sqrt(at_zero))
        index = na.astype(na.greater(v.b, 0), na.int32)
        two = na.switch(index, [lambda w: w, lambda w: w * v.b, lambda w: w], v.w)
        return na.sum(one * v.h) + na.sum(two * v.w)

    def combined(v: Any, x: Any) -> Any:
        pair = (na.sin(x), x * v.b)
        first, second = na.associative_scan(
            lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), pair, axis=0
        )
        return na.sum(first) + na.sum(second * second)

    def mapped(v: Any, x: Any) -> Any:
        return na.sum(na.map(lambda r: na.tanh(na.matmul(v.w, r)), x))

    functions = (scanned, counted, looped, chosen, combined, mapped)
    return {f.__name__: f for f in functions}


def variables(backend: str) -> tuple[na.Container, Any]:
    rng = np.random.default_rng(0)
    v = na.Container(
        w=rng.normal(size=(2, 2)).astype("float32"), b=np.float32(0.5), h=ROWS[3] * 0.5
    )
    return moved(v, backend), on(backend, ROWS)


@cache
def differentiated_by_jax(name: str) -> Any:
    return jax.jit(jax.grad(losses()[name]))(*variables("jax"))


@pytest.mark.release("backend")
@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", losses())
def test_gradients_are_those_of_jax(name: str, backend: str) -> None:
    v, x = variables(backend)
    found = na.grad(losses()[name])(v, x)
    assert_close(found, moved(differentiated_by_jax(name).to_backend("numpy"), backend))


FAST = {("scanned", "torch"), ("scanned", "tensorflow"), ("chosen", "tensorflow")}


@pytest.mark.parametrize(
    ("name", "backend"),
    [
        pytest.param(n, b, marks=() if (n, b) in FAST else pytest.mark.full)
        for n in losses()
        for b in ("torch", "tensorflow")
    ],
)
def test_gradients_compiled(name: str, backend: str) -> None:
    loss = losses()[name]
    v, x = variables(backend)
    found = na.grad(loss)(v, x)
    assert_close(jit(na.grad(loss), backend)(v, x), found)
    assert_close(na.grad(jit(loss, backend))(v, x), found)


def test_gradients_of_a_loop_without_a_bound() -> None:
    """What depends on values runs in Python on NumPy and PyTorch, and is recorded by TensorFlow."""

    def loss(x: Any) -> Any:
        found = na.while_loop(lambda c: na.less(na.sum(c), 50.0), lambda c: c * x + 1.0, x)
        return na.sum(found)

    expected = na.grad(loss)(ROWS[3] + 1)
    for backend in ("torch", "tensorflow"):
        x = on(backend, ROWS[3] + 1)
        assert_close(na.grad(loss)(x), on(backend, expected))
        assert_close(jit(na.grad(loss), backend)(x), on(backend, expected))
        assert_close(na.grad(jit(loss, backend))(x), on(backend, expected))
    message = (
        "grad: while_loop: max_steps: got None, expected a number: in compiled code JAX has the "
        "derivative in reverse only of a loop that ends after a number of steps known beforehand. "
        "Pass max_steps= to na.while_loop, known bounds to na.fori_loop; or take the derivative "
        "forward, by na.jvp or na.jacfwd"
    )
    with pytest.raises(UnsupportedError, match=f"^{re.escape(message)}"):  # JAX adds a note
        jit(na.grad(loss), "jax")(on("jax", ROWS[3] + 1))


# -- compiled and mapped ----------------------------------------------------------------------


def everything(x: Any) -> Any:
    """A value of each kind of control flow."""
    y = na.exp(x)
    total, ys = na.scan(lambda c, r: (c + r, c * y[0]), x[0], x)
    halved = na.while_loop(lambda c: na.greater(na.sum(c), 1.0), lambda c: c * 0.5, y, max_steps=6)
    one = na.cond(na.greater(x[0, 0], 0), lambda: (x, y), lambda: (y, x * y))
    index = na.astype(na.round(x[0, 0] * 3.0), na.int32)
    two = na.switch(index, [lambda x: x, lambda x: x * 2, lambda x: y], x)
    three = na.fori_loop(0, 3, lambda i, c: c * x + y, x)
    return {"s": [total, ys], "w": halved, "o": one, "t": two, "f": three}


def test_vmap_is_single_calls(backend: str) -> None:
    inputs = np.stack([ROWS + 1.1, ROWS * 0.5, -ROWS])
    rows = [everything(x) for x in inputs]  # of NumPy, which has nothing to compile
    columns = zip(*[na.tree.flatten(row)[0] for row in rows], strict=True)
    stacked = na.tree.unflatten(na.tree.flatten(rows[0])[1], [np.stack(c) for c in columns])
    xs, expected = on(backend, inputs), moved(stacked, backend)
    assert_close(na.vmap(everything)(xs), expected)
    assert_close(jit(na.vmap(everything), backend)(xs), expected)


def test_vmap_of_loops_that_end_at_different_steps(backend: str) -> None:
    def steps(x: Any) -> Any:
        return na.while_loop(lambda c: na.less(c[0], 9.0), lambda c: (c[0] * 2, c[1] + 1), (x, 0))[
            1
        ]

    xs = on(backend, np.asarray([8.0, 1.0, 20.0], np.float32))
    assert na.to_backend(na.vmap(steps)(xs), "numpy").tolist() == [1, 4, 0]


def test_jax_has_loops_in_its_programs() -> None:
    text = str(jax.make_jaxpr(everything)(on("jax", ROWS)))
    for primitive in ("scan[", "cond["):
        assert primitive in text
    loop = jax.make_jaxpr(lambda x: na.while_loop(lambda c: c < 9, lambda c: c * 2, x))(1.0)
    assert "while[" in str(loop)


def test_jax_traces_a_function_once() -> None:
    calls: list[str] = []

    def step(c: Any, x: Any) -> Any:
        calls.append("scan")
        return na.Container(h=c.h + x), c.h

    def test(c: Any) -> Any:
        calls.append("test")
        return c["x"] < 5.0

    def body(c: Any) -> Any:
        calls.append("body")
        return {"x": c["x"] + 1.0, "n": c["n"] + 1}

    def run() -> None:
        na.scan(step, na.Container(h=on("jax", ROWS[0])), on("jax", ROWS))
        na.while_loop(test, body, {"x": on("jax", np.float32(1.0)), "n": 0})
        na.while_loop(test, body, {"x": on("jax", np.float32(1.0)), "n": 0}, max_steps=3)

    run()
    before = len(calls)
    run()
    assert len(calls) == before


def test_jax_traces_a_function_again_for_64_bits() -> None:
    def step(c: Any, x: Any) -> Any:
        return c, na.sum(x)  # an integer of 64 bits where there are any

    x = np.ones((2, 3), np.int32)
    for bits in (False, True, False):
        with jax.enable_x64(bits):
            _, sums = na.scan(step, on("jax", np.float32(0.0)), on("jax", x))
            assert na.dtype_of(sums) is (na.int64 if bits else na.int32)
            assert sums.tolist() == [3, 3]


def test_tensorflow_has_loops_in_its_graphs() -> None:
    import tensorflow as tf

    graph = tf.function(everything, autograph=False).get_concrete_function(on("tensorflow", ROWS))
    kinds = {node.op for node in graph.graph.as_graph_def().node}
    assert {"StatelessWhile", "StatelessIf"} <= kinds

    @tf.function(autograph=False, input_signature=[tf.TensorSpec((None, 2))])
    def of_any_length(x: Any) -> Any:
        return na.scan(lambda c, r: (c + r, c), x[0] * 0.0, x), na.map(lambda r: r * 2, x)

    for n in (1, 4):
        (carry, ys), doubled = of_any_length(on("tensorflow", ROWS[:n]))
        assert_close(carry, on("tensorflow", ROWS[:n].sum(0)))
        assert_close(doubled, on("tensorflow", ROWS[:n] * 2))
        assert_close(ys[0], carry * 0.0)


def test_torch_has_choices_in_its_traces() -> None:
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx

    def program(x: Any) -> Any:
        y = na.exp(x)
        one = na.cond(na.greater(na.sum(x), 0), lambda: (x[0], y), lambda: (y[0], x))
        return one, na.while_loop(lambda c: na.less(na.sum(c), 9.0), lambda c: c + y * x, x)

    graph = make_fx(program, tracing_mode="fake")(torch.as_tensor(ROWS))
    targets = {str(node.target) for node in graph.graph.nodes}
    assert {"cond", "while_loop"} <= targets
    for x in (ROWS, ROWS + 0.5):
        assert_close(graph(on("torch", x)), program(on("torch", x)))


def recurrent(w: Any, x: Any, *, reverse: bool = False) -> Any:
    """A loss of a loop with a counter in its carry, and with a stopped gradient."""

    def step(c: Any, row: Any) -> Any:
        h = na.tanh(na.matmul(w, c["h"]) + row * na.stop_gradient(c["h"]))
        return {"h": h, "n": c["n"] + 1}, {"y": h * na.astype(c["n"], na.float32), "n": c["n"]}

    carry, ys = na.scan(step, {"h": x[0], "n": 0}, x, reverse=reverse)
    return na.sum(carry["h"]) + na.sum(na.sin(ys["y"]))


def of_index(w: Any, x: Any) -> Any:
    return na.sum(na.fori_loop(0, 4, lambda i, c: na.tanh(na.matmul(w, c)) * x[i] + i, x[0]))


def bounded(w: Any, x: Any) -> Any:
    def body(c: Any) -> Any:
        return na.tanh(na.matmul(w, c)) + 0.5

    return na.sum(na.while_loop(lambda c: na.sum(c) < 1.0, body, x[0], max_steps=4))


def nested(w: Any, x: Any) -> Any:
    def outer(c: Any, row: Any) -> Any:
        inner = na.scan(lambda d, r: (na.tanh(na.matmul(w, d) + r * row), d), c, x)
        return inner[0] - 0.1 * na.grad(lambda c: na.sum(na.sin(c) * row))(c), None

    return na.sum(na.scan(outer, x[0], x)[0])


def rowwise(w: Any, x: Any) -> Any:
    return na.sum(na.map(lambda row: na.tanh(na.matmul(w, row)), x))


DERIVATIVES: dict[str, Callable[[Any, Any], Any]] = {
    "grad": na.grad(recurrent, argnums=(0, 1)),
    "grad of reverse": na.grad(lambda w, x: recurrent(w, x, reverse=True), argnums=(0, 1)),
    "grad of fori_loop": na.grad(of_index, argnums=(0, 1)),
    "grad of while_loop": na.grad(bounded),
    "grad of nested": na.grad(nested),
    "grad of map": na.grad(rowwise),
    "grad of grad": na.grad(lambda w, x: na.sum(na.grad(recurrent)(w, x) ** 2)),
    "jvp of grad": lambda w, x: na.jvp(lambda w: na.grad(recurrent)(w, x), (w,), (w,)),
    "vmap of grad": lambda w, x: na.vmap(lambda r: na.grad(recurrent)(w * r[0], x))(x),
    "grad of vmap": na.grad(lambda w, x: na.sum(na.vmap(lambda r: recurrent(w * r[0], x))(x))),
    "jacrev": lambda w, x: na.jacrev(lambda h: na.scan(lambda c, r: (c * h + r, c), h, x)[1])(w[0]),
    "hessian": lambda w, x: na.hessian(lambda r: recurrent(na.stack((r, w[0])), x))(w[1]),
}


@pytest.mark.parametrize("name", DERIVATIVES)
def test_torch_differentiates_loops_in_its_traces(name: str) -> None:
    from torch.fx.experimental.proxy_tensor import make_fx

    w, x = on("torch", ROWS[:2] + 0.3), on("torch", ROWS)
    program = DERIVATIVES[name]
    flat = make_fx(lambda *xs: na.tree.flatten(program(*xs))[0], tracing_mode="fake")(w, x)
    assert "higher_order.scan" in flat.code
    assert_close(flat(w, x), na.tree.flatten(program(w, x))[0])


def test_torch_traces_the_step_of_a_loop_as_often_for_any_length() -> None:
    from torch.fx.experimental.proxy_tensor import make_fx

    calls: list[int] = []

    def loss(w: Any, x: Any) -> Any:
        def step(c: Any, row: Any) -> Any:
            calls.append(1)
            return na.tanh(na.matmul(w, c) + row), None

        return na.sum(na.scan(step, x[0], x)[0])

    counts = []
    for length in (4, 400):
        calls.clear()
        x = on("torch", np.tile(ROWS, (length // 4, 1)))
        graph = make_fx(na.grad(loss), tracing_mode="fake")(on("torch", ROWS[:2]), x)
        counts.append((len(calls), len(graph.graph.nodes)))
    assert counts[0] == counts[1]
    assert counts[0][0] < 4


@pytest.mark.full
def test_torch_differentiates_a_compiled_loop() -> None:
    w, x = on("torch", ROWS[:2] + 0.3), on("torch", ROWS)
    assert_close(na.grad(jit(recurrent, "torch"))(w, x), na.grad(recurrent)(w, x))


def chosen(w: Any, x: Any) -> Any:
    """One branch has an expanded gradient, the other a dense one."""
    return na.cond(na.sum(w) > 0, lambda: na.sum(na.matmul(x, w) ** 3), lambda: na.sum(w))


COMPILED = DERIVATIVES | {"grad of cond": na.grad(chosen)}


@pytest.mark.parametrize(
    "name",
    [n if n == "grad of cond" else pytest.param(n, marks=pytest.mark.full) for n in COMPILED],
)
def test_inductor_compiles_derivatives(name: str) -> None:
    w, x = on("torch", ROWS[:2] + 0.3), on("torch", ROWS)
    assert_close(na.jit(COMPILED[name])(w, x), COMPILED[name](w, x))


def _constants_in_subgraphs(x: Any) -> Any:
    """A loop inside of a choice inside of a scan, each with a host array."""

    def loop(x: Any) -> Any:
        body = lambda c: c * na.asarray([2.0, 3.0], like=c) + 1.0  # noqa: E731
        return na.while_loop(lambda c: na.sum(c) < 50.0, body, x, max_steps=9)

    def step(x: Any, _: Any) -> Any:
        scaled = x * na.asarray([0.5, 0.25], like=x)
        return na.cond(na.sum(scaled) < 9.0, lambda: loop(x), lambda: scaled), x[0]

    return na.scan(step, x, length=4)


@pytest.mark.parametrize("options", [{}, pytest.param(OPTIONS["torch"], marks=pytest.mark.full)])
def test_constants_of_compiled_branches_and_loops(options: dict[str, Any]) -> None:
    x = on("torch", ROWS[0] + 1.5)
    compiled = na.jit(_constants_in_subgraphs, **options)
    assert_close(compiled(x), _constants_in_subgraphs(x))


COMPILED_BY_TORCH = """
import torch
import nestarray as na
from nestarray.errors import UnsupportedError
from nestarray.testing import assert_close

programs = [
    lambda x: na.cond(x.sum() > 0, lambda: x, lambda: x * 2),
    lambda x: na.scan(lambda c, r: (c + r, c), x[0], x),
    lambda x: na.while_loop(lambda c: na.sum(c) < 9, lambda c: c + x.abs(), x),
    lambda x: na.fori_loop(0, 3, lambda i, c: c * x + i, x),
]
x = torch.asarray([1.0, 2.0, -0.5])
for program in programs:
    program(x)  # the tables of the ops are warm from here on
    compiled = torch.compile(program, fullgraph=True, backend="eager")
    for value in (x, x - 1, x + 9):
        assert_close(compiled(value), program(value))
"""


@pytest.mark.full
def test_torchs_own_compiler_reads_control_flow() -> None:
    """In a new process: Dynamo cannot hash the dtypes of other frameworks."""
    subprocess.run([sys.executable, "-c", COMPILED_BY_TORCH], check=True, timeout=120)


# -- errors -----------------------------------------------------------------------------------


def keep(c: Any, *_: Any) -> Any:
    return c


def raised(fn: Callable[[], Any]) -> str:
    with pytest.raises(na.errors.NestarrayError) as info:
        fn()
    return f"{type(info.value).__name__}: {info.value}"


def test_errors_of_carries(backend: str) -> None:
    x = on(backend, ROWS[0])
    init = na.Container(a=x, b=[x])

    def scanned(change: Callable[[Any], Any]) -> str:
        def step(c: Any, _: Any) -> Any:
            return change(c), None

        return raised(lambda: na.scan(step, init, length=2))

    assert scanned(lambda c: c.set("b/0", x[:1])) == (
        "ShapeError: scan: carry at 'b/0': the function 'step' returned an array of float32, shape "
        "(1,), expected an array of float32, shape (2,), as init has it"
    )
    assert scanned(lambda c: c.set("a", na.astype(x, "float16"))) == (
        "DtypeError: scan: carry at 'a': the function 'step' returned an array of float16, shape "
        "(2,), expected an array of float32, shape (2,), as init has it; na.astype casts"
    )
    assert scanned(lambda c: c.delete("a")) == (
        "StructureError: scan: carry: the function 'step' returned a Container with the keys "
        "['b'], expected a Container with the keys ['a', 'b'], as init has it"
    )
    assert scanned(lambda c: c.set("a", None)) == (
        "StructureError: scan: carry at 'a': the function 'step' returned None, expected an array, "
        "as init has it"
    )
    assert scanned(lambda c: {"a": x}) == (
        "StructureError: scan: carry: the function 'step' returned a dict with the keys ['a'], "
        "expected a Container with the keys ['a', 'b'], as init has it"
    )
    assert raised(lambda: na.fori_loop(0, 2, lambda i, c: (c["n"],), {"n": x})).endswith(
        "returned a tuple of 1, expected a dict with the keys ['n'], as init has it"
    )
    inner = {"n": (x, x)}
    assert "carry at 'n': the function '<lambda>' returned a list of 2, expected a tuple of 2" in (
        raised(lambda: na.fori_loop(0, 2, lambda i, c: {"n": [x, x]}, inner))
    )
    assert raised(lambda: na.while_loop(lambda c: True, lambda c: c["s"], {"s": "adam"})) == (
        "StructureError: while_loop: carry: the function '<lambda>' returned 'adam', expected a "
        "dict with the keys ['s'], as init has it"
    )


def test_errors_of_tests_and_lengths(backend: str) -> None:
    x = on(backend, ROWS)
    assert raised(lambda: na.while_loop(lambda c: na.less(c, 1), keep, x)) == (
        "ShapeError: while_loop: the function '<lambda>' returned: got an array of bool, shape "
        "(4, 2), expected a boolean scalar, shape (); reduce it, for example with na.all or na.any"
    )
    assert raised(lambda: na.cond(x[0, 0], keep, keep, x)) == (
        "DtypeError: cond: pred: got an array of float32, shape (), expected a boolean scalar"
    )
    assert raised(lambda: na.cond(1, keep, keep, x)) == (
        "ArgumentError: cond: pred: got a int, expected a boolean scalar"
    )
    assert raised(lambda: na.switch(True, [keep], x)) == (
        "ArgumentError: switch: index: got a bool, expected an integer scalar"
    )
    assert raised(lambda: na.switch(0, keep, x)) == (  # type: ignore[arg-type]
        "ArgumentError: switch: branches: got function, expected a list of functions"
    )
    assert raised(lambda: na.switch(0, [], x)) == (
        "ArgumentError: switch: branches: got none, expected at least one function"
    )
    assert raised(lambda: na.scan(lambda c, r: (c, r), x, {"a": x, "b": x[:3]})) == (
        "ShapeError: scan: xs at 'b': got an array of float32, shape (3, 2), expected a first axis "
        "of 4, as xs at 'a' has it"
    )
    assert raised(lambda: na.scan(lambda c, r: (c, r), x, x, length=3)) == (
        "ShapeError: scan: xs: got an array of float32, shape (4, 2), expected a first axis of 3, "
        "as length has it"
    )
    assert raised(lambda: na.scan(lambda c, r: (c, r), x, [x[0, 0]])) == (
        "ShapeError: scan: xs at '0': got an array of float32, shape (), expected a first axis to "
        "go over"
    )
    assert raised(lambda: na.scan(lambda c, r: (c, r), x)) == (
        "ArgumentError: scan: length: got None, and xs has no array that would tell it"
    )
    assert raised(lambda: na.scan(lambda c, r: c, x, x)) == (
        "ArgumentError: scan: the function '<lambda>' returned an array of float32, shape (4, 2), "
        "expected a pair (carry, y)"
    )
    assert raised(lambda: na.while_loop(keep, keep, x, max_steps=-1)) == (
        "ArgumentError: while_loop: max_steps: got -1, expected an integer from 0 on"
    )
    assert raised(lambda: na.map(keep, {"a": 1})) == (
        "ArgumentError: map: xs: got a dict, expected a nest that has an array to go over"
    )
    assert raised(lambda: na.associative_scan(na.add, x, axis=2)) == (
        "IndexingError: associative_scan: axis: got 2 for elems, an array of float32, shape (4, 2)"
    )
    assert raised(lambda: na.associative_scan(lambda a, b: a[:0], x)).startswith(
        "ShapeError: associative_scan: result: the function '<lambda>' returned an array of"
    )


@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
def test_branches_that_are_traced_have_to_agree(backend: str) -> None:
    x = on(backend, ROWS)

    def choose(false_fn: Callable[[Any], Any]) -> str:
        def true_fn(x: Any) -> Any:
            return na.Container(a=x, b=1)

        program = jit(lambda x: na.cond(na.greater(x[0, 0], 0), true_fn, false_fn, x), backend)
        return raised(lambda: program(x))

    def false_fn(x: Any) -> Any:
        return na.Container(a=x[0], b=1)

    assert choose(false_fn) == (
        "ShapeError: cond: result at 'a': the function 'false_fn' returned an array of float32, "
        "shape (2,), expected an array of float32, shape (4, 2), as the other function has it"
    )
    assert choose(lambda x: {"a": x}) == (
        "StructureError: cond: result: the function '<lambda>' returned a dict with the keys "
        "['a'], expected a Container with the keys ['a', 'b'], as the other function has it"
    )
    number = jit(lambda x: na.cond(na.greater(x[0, 0], 0), lambda: 1, lambda: x[0, 0]), backend)
    assert_close(number(x), x[0, 0])
    assert_close(number(-x), na.ones_like(x[0, 0]))


def test_two_frameworks() -> None:
    message = raised(lambda: na.scan(lambda c, r: (c, r), ROWS, on("jax", ROWS)))
    assert message.startswith("MixedBackendError: scan: got arrays of numpy and of jax in one call")


def test_what_torch_cannot_compile() -> None:
    def steps(x: Any) -> Any:
        return na.while_loop(lambda c: na.less(na.sum(c), 9.0), lambda c: c * 2.0, x)

    x = on("torch", ROWS + 2)
    assert raised(lambda: jit(na.vmap(steps), "torch")(x)) == (
        "UnsupportedError: while_loop: PyTorch cannot compile a loop without max_steps inside of vmap, "
        "jvp, jacrev or a gradient of the gradient; give it max_steps, or do not compile"
    )


@pytest.mark.parametrize("name", ["jax", "torch", "tensorflow"])
def test_compiled_loops_of_a_value_of_the_argument(name: str) -> None:
    def steps(x: Any) -> Any:
        def body(c: Any) -> Any:
            return c[0] + 1, na.sin(c[1]) * 0.5 + x

        return na.while_loop(lambda c: c[0] < 2, body, (na.zeros_like(x)[0], x), max_steps=3)[1]

    x = backends.core(name).from_numpy(np.asarray([0.3, 0.9], "float32"))
    assert_close(na.jit(steps)(x), steps(x))


@pytest.mark.full
def test_torchs_own_compiler_takes_choices_inside_choices_and_loops() -> None:
    x = torch.ones(3)
    branches = [lambda x: x, lambda x: na.multiply(x, 2.0), lambda x: na.add(x, 2)]
    chosen = na.jit(lambda i, x: na.switch(i, branches, x))
    assert [chosen(torch.tensor(i), x)[0].item() for i in range(3)] == [1.0, 2.0, 3.0]
    summed = na.jit(lambda n, x: na.fori_loop(0, n, lambda i, x: x + i, x))
    assert [summed(torch.tensor(n), x)[0].item() for n in (0, 3)] == [1.0, 4.0]
