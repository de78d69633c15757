"""Functions of JAX in every way to run them, against JAX."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from jax import lax

import nestarray as na
from nestarray import errors
from tests.arrays import host, on
from tests.importers.agreement import Expected, check, is_floating, leaves, weights
from tests.importers.jax.rows import FUNCTIONS, Pair, Weights


def example() -> Any:
    return jnp.asarray(np.random.default_rng(0).standard_normal((4, 3)))


def expected(function: Any, x: Any) -> Expected:
    """The results of JAX."""

    def loss(x: Any) -> Any:
        found = jax.tree.leaves(function(x))
        return sum(
            (y * weights(y.shape)).sum() for y in found if jnp.issubdtype(y.dtype, jnp.floating)
        )

    outputs = jax.tree.leaves(function(x))
    is_floating = any(jnp.issubdtype(y.dtype, jnp.floating) for y in outputs)
    gradient = jax.grad(loss)(x) if is_floating else jnp.zeros_like(x)
    return Expected([np.asarray(y) for y in outputs], {}, {}, [np.asarray(gradient)])


@pytest.mark.one_in(66)
@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("backend", ["torch", "tensorflow", "numpy"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name: str, backend: str, tmp_path: Path) -> None:
    x = example()
    want = expected(FUNCTIONS[name], x)
    module = na.to_module(FUNCTIONS[name], x)
    check(module, backend, [np.asarray(x)], False, want, tmp_path)


@pytest.mark.usefixtures("x64")
def test_verify_finds_a_wrong_call() -> None:
    graph = na.trace_graph(FUNCTIONS["softmax"], example())
    node = next(n for n in graph.calls if n.target_name == "jax.nn.softmax")
    node.target, node.target_name = na.log_softmax, "na.log_softmax"
    report = graph.to_backend("numpy").verify()
    assert not report.ok
    assert report.first_divergence is not None
    assert report.first_divergence.name == node.name
    assert "rows.py" in report.first_divergence.where


def test_program_is_readable() -> None:
    weight = jnp.ones((3, 2))
    graph = na.trace_graph(lambda x: jax.nn.relu(x) @ weight, jnp.ones((4, 3)))
    assert graph.to_source(comments=False) == (
        "import nestarray as na\n"
        "import nestarray.frontends.jax as jax\n\n\n"
        "def graph(x, *, v, s, constants, key=None):\n"
        "    relu = jax.nn.relu(x)\n"
        "    dot_general = jax.lax.dot_general("
        "relu, constants['c0'], (((1,), (0,)), ((), ())), preferred_element_type=jax.float32)\n"
        "    return dot_general\n"
    )


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow", "numpy"])
@pytest.mark.parametrize("name", ["custom_jvp", "custom_jvp_of_nests", "custom_vjp_with_settings"])
def test_second_derivatives_follow_the_rules(name: str, backend: str) -> None:
    function, x = FUNCTIONS[name], example()

    def total(x: Any) -> Any:
        leaves = [y for y in jax.tree.leaves(function(x)) if jnp.issubdtype(y.dtype, jnp.floating)]
        return sum((y**2).sum() for y in leaves)

    want = jax.grad(lambda x: (jax.grad(total)(x) ** 2).sum())(x)
    graph = na.trace_graph(function, x).to_backend(backend)

    def ours(x: Any) -> Any:
        return sum(na.sum(y**2) for y in filter(is_floating, leaves(graph(x))))

    x = na.to_backend(x, backend)
    got = na.grad(lambda x: na.sum(na.grad(ours)(x) ** 2))(x)
    np.testing.assert_allclose(na.to_backend(got, "numpy"), want, rtol=1e-9)


def test_program_with_custom_derivatives_is_readable() -> None:
    graph = na.trace_graph(FUNCTIONS["custom_vjp"], jnp.ones(3))
    assert graph.to_source(comments=False) == (
        "import nestarray as na\n"
        "import nestarray.frontends.jax as jax\n\n\n"
        "def graph(x, *, v, s, constants, key=None):\n"
        "    mul = jax.lax.mul(x, 2.0)\n\n"
        "    def clipped(args):\n"
        "        (args_0,) = args\n"
        "        return (args_0,)\n\n"
        "    def clipped_forward(args_1):\n"
        "        (args_0_1,) = args_1\n"
        "        return ((args_0_1,), ())\n\n"
        "    def clipped_backward(residuals, cotangents):\n"
        "        (cotangents_0,) = cotangents\n"
        "        clip = jax.numpy.clip(cotangents_0, -1, 1)\n"
        "        return (clip,)\n\n"
        "    clipped_1 = na.call_with_vjp(clipped, clipped_forward, clipped_backward, (mul,))\n"
        "    clipped_1_0 = clipped_1[0]\n"
        "    mul_1 = jax.lax.mul(5.0, clipped_1_0)\n"
        "    return mul_1\n"
    )


def test_arguments_of_any_pytree() -> None:
    x = jnp.ones((2, 3))
    given = Pair(Weights(x, 2), {"z": x[0], "none": None})

    def scaled(p: Any, scale: Any) -> Any:
        return p.first.w * p.first.n * scale + p.second["z"]

    graph = na.trace_graph(scaled, given, scale=2.0).to_backend("torch")
    assert graph.verify().ok
    tensor = torch.ones(2, 3)
    wanted = torch.full((2, 3), 5.0)
    named = Pair(Weights(tensor, 2), {"z": tensor[0], "none": None})
    nest = {"first": {"w": tensor}, "second": {"z": tensor[0], "none": None}}
    for p in (named, nest):
        assert torch.equal(graph(p, scale=2.0), wanted)


@pytest.mark.parametrize("backend", ["torch", "tensorflow", "numpy"])
def test_verify_finds_outputs_by_key(backend: str) -> None:
    function = lambda x: {"z": jnp.sin(x), "a": x[0], "none": None}  # noqa: E731
    graph = na.trace_graph(function, jnp.ones((4, 3))).to_backend(backend)
    assert graph.verify().ok
    assert {*graph(on(backend, np.ones((4, 3), "float32")))} == {"z", "a", "none"}


@pytest.mark.parametrize("backend", ["torch", "tensorflow", "numpy"])
def test_while_loop_of_a_batch_runs_until_all_rows_end(backend: str) -> None:
    def doubled(row: Any) -> Any:
        return lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1.3, c[1] * 2), (row[0], row))

    graph = na.trace_graph(jax.vmap(doubled), example())
    assert graph.to_backend(backend).verify(gradients=False).ok


def test_functions_without_a_derivative_in_jax_are_compared_by_value() -> None:
    graph = na.trace_graph(lambda x: jax.lax.linalg.schur(x)[0], jnp.eye(3)).to_backend("numpy")
    report = graph.verify()
    assert report.ok
    assert "JAX has no derivative: Differentiation rule for 'schur'" in str(report)


def test_a_function_that_imports_jax_itself_is_one_of_jax() -> None:
    def doubled(x: Any) -> Any:
        from jax.flatten_util import ravel_pytree

        flat, rebuild = ravel_pytree({"x": x})
        return rebuild(flat * 2)

    graph = na.trace_graph(doubled, jnp.ones((2, 3)))
    assert graph.to_backend("torch").verify().ok


def test_numpy_arrays_that_a_function_names_are_constants_of_jax() -> None:
    table = np.arange(3.0, dtype="float32")
    graph = na.trace_graph(lambda x: jnp.sin(x) + table, jnp.ones(3))
    assert graph.constants.map(na.backend_of).leaves() == ("jax",)


TABLE = np.arange(3.0, dtype="float32")


class Scaled:
    """A callable object with a NumPy array."""

    def __init__(self) -> None:
        self.table = TABLE

    def __call__(self, x: Any) -> Any:
        return x * self.table + 1


@pytest.mark.parametrize("backend", ["torch", "tensorflow", "numpy"])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * TABLE + 1,
        lambda x: TABLE * x,
        lambda x: x * [TABLE, TABLE][0] + np.float64(2),
        lambda x: np.ones((2, 3)) @ x,
        functools.partial(lambda a, x: x - a, TABLE),
        Scaled(),
    ],
)
def test_numpy_arrays_beside_operators_are_constants(function: Any, backend: str) -> None:
    x = jnp.asarray([0.5, -2.0, 3.0])
    found = na.trace_graph(function, x).to_backend(backend)(on(backend, np.asarray(x)))
    assert na.dtype_of(found) is na.float32
    np.testing.assert_allclose(host(found), function(x))


def test_numpy_arrays_beside_ops_of_na_are_refused() -> None:
    with pytest.raises(errors.MixedBackendError, match="multiply: got arrays of jax and of numpy"):
        na.trace_graph(lambda x: na.relu(x) * TABLE, jnp.ones(3))


def test_a_function_without_a_module() -> None:
    function = eval("lambda x: jnp.sin(x)", {"jnp": jnp})
    assert [n.target_name for n in na.trace_graph(function, jnp.ones(3)).calls] == ["jax.lax.sin"]


@pytest.mark.parametrize("backend", ["torch", "tensorflow", "numpy"])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.at[jnp.asarray([0, 0, 1])].apply(jnp.sin),
        lambda x: x.at[jnp.asarray([3, 9])].apply(lambda v: v * 2.5 + 1),
        lambda x: x.at[:, -1].apply(jnp.exp),
    ],
)
def test_a_scatter_applies_a_function(function: Any, backend: str) -> None:
    x = example()
    graph = na.trace_graph(function, x).to_backend(backend)
    assert graph.verify().ok
    np.testing.assert_allclose(host(graph(on(backend, np.asarray(x)))), function(x), rtol=1e-5)


@pytest.mark.parametrize("backend", ["torch", "tensorflow", "numpy"])
def test_schur_forms_are_calls_on_the_host(backend: str) -> None:
    x = example()
    graph = na.trace_graph(lambda x: jax.scipy.linalg.schur(x.T @ jnp.roll(x, 1, 0)), x)
    for each in (graph, graph.lower()):
        names = [n.target_name for n in each.calls]
        assert "jax.lax.linalg.schur" in names
        moved = each.to_backend(backend)
        assert moved.verify().ok
        run = moved if backend == "torch" else na.jit(moved)  # torch.compile takes long
        found = run(on(backend, np.asarray(x)))
        product = np.asarray(x).T @ np.roll(np.asarray(x), 1, 0)
        form, vectors = map(host, found)
        np.testing.assert_allclose(vectors @ form @ vectors.T, product, atol=1e-5)
        with pytest.raises(errors.UnsupportedError, match="schur has no derivative"):
            na.grad(lambda y, moved=moved: na.sum(moved(y)[0]))(on(backend, np.asarray(x)))


@pytest.mark.parametrize("backend", ["torch", "tensorflow", "numpy"])
def test_products_of_groups(backend: str) -> None:
    sizes = jnp.asarray([3, 2])
    axes = lax.RaggedDotDimensionNumbers((((0,), (0,)), ((), ())), (0,), ())

    def function(x: Any, sizes: Any) -> Any:
        matrices = jnp.stack([x[:3], x[1:]])
        product = lax.ragged_dot(x.T @ x, matrices, sizes)
        halves = lax.ragged_dot(x.T.astype("bfloat16"), x[None].astype("bfloat16"), sizes[:1],
                                preferred_element_type=jnp.float32)  # fmt: skip
        pair = [jnp.stack([y, y + 1]) for y in (x, matrices)]
        batch = jax.vmap(lax.ragged_dot)(*pair, jnp.stack([sizes, sizes]))
        return product, halves, batch, lax.ragged_dot_general(x, x, sizes, axes)

    x = example()
    report = na.trace_graph(function, x, sizes).to_backend(backend).verify()
    assert report.ok, str(report)


def test_a_choice_by_platform_becomes_the_branch_of_this_platform() -> None:
    choose = lambda x: jax.lax.platform_dependent(x, cpu=jnp.sin, default=jnp.cos)  # noqa: E731
    assert [n.target_name for n in na.trace_graph(choose, jnp.ones(3)).calls] == ["jax.lax.sin"]


def test_refused() -> None:
    x = jnp.ones(3)
    with pytest.raises(errors.ArgumentError, match="train=True is for modules"):
        na.trace_graph(jnp.sin, x, train=True)
    with pytest.raises(errors.MissingOpError, match="rng_uniform"):
        na.trace_graph(lambda x: lax.rng_uniform(x[0], 2.0, (3,)), x)
    report = na.check(lambda x: lax.rng_uniform(x[0], 2.0, (3,)), x, target="torch")
    assert not report.ok
