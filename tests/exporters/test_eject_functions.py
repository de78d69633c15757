"""Source of functions with a derivative of their own, and of functions that are mapped over rows."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tensorflow as tf
import torch

import nestarray as na


@jax.custom_vjp
def _clipped(x: Any) -> Any:
    return jnp.sin(x) * 2


_clipped.defvjp(lambda x: (_clipped(x), x), lambda x, g: (jnp.clip(g, -1, 1) * x,))


@jax.custom_jvp
def _softplus(x: Any) -> Any:
    return jnp.log(1 + jnp.exp(x))


@_softplus.defjvp
def _(primals: Any, tangents: Any) -> Any:
    return _softplus(*primals), 3 * tangents[0] / (1 + jnp.exp(-primals[0]))


@jax.custom_vjp
def _row(x: Any, i: Any) -> Any:
    return x * 2, jnp.cos(x)[i]


_row.defvjp(lambda x, i: (_row(x, i), (x, i)), lambda r, g: (g[0] * 3 * r[0] + g[1].sum(), None))


@tf.custom_gradient
def _bounded(x: Any) -> Any:
    return tf.sin(x), lambda g: tf.clip_by_value(g, -0.5, 0.5) * x


class _Sign(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return torch.sign(x)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * (ctx.saved_tensors[0].abs() < 1)


@functools.cache
def _graphs() -> dict[str, na.graph.Graph]:
    x, w = jnp.ones((4, 3)), jnp.ones((3, 2))
    return {
        "vjp": na.trace_graph(_clipped, x),
        "jvp": na.trace_graph(_softplus, x),
        "several": na.trace_graph(lambda x: _row(x[0], jnp.asarray([0, 1])), x),
        "tensorflow": na.trace_graph(tf.function(lambda x: 2 * _bounded(x)), tf.ones((4, 3))),
        "torch": na.trace_graph(lambda x: 2 * _Sign.apply(x), torch.ones(4, 3)),
        "rows": na.trace_graph(
            lambda x, w: na.vmap(lambda a, b: (na.tanh(a @ w), a * b))(x, x + 1), x, w
        ),
    }


def _square(output: Any, total: Any) -> Any:
    return sum(total(y * y) for y in (output if isinstance(output, (list, tuple)) else [output]))


def _gradient(graph: na.graph.Graph, space: dict[str, Any], target: str, args: list[Any]) -> Any:
    """The gradient of the sum of squares of the source's outputs, by the framework itself."""
    model = space["load"]()
    if target == "jax":
        name = graph.name if graph.name in space else "model"
        x, *others = map(jnp.asarray, args)
        return jax.grad(lambda x: _square(space[name](model, x, *others), jnp.sum))(x)
    if target == "torch":
        x, *others = map(torch.from_numpy, args)
        _square(model(x.requires_grad_(), *others), torch.sum).backward()
        return x.grad
    x, *others = map(tf.constant, args)
    with tf.GradientTape() as tape:
        tape.watch(x)
        value = _square(model(x, *others), tf.reduce_sum)
    return tape.gradient(value, x)


@pytest.mark.parametrize(
    "target",
    ["jax", "torch", pytest.param("tensorflow", marks=pytest.mark.full)],
)
@pytest.mark.parametrize("name", ["vjp", "jvp", "several", "tensorflow", "torch", "rows"])
def test_derivatives_are_those_of_the_graph(name: str, target: str, tmp_path: Any) -> None:
    graph = _graphs()[name]
    assert graph.eject(tmp_path / "net", target).error < 1e-5
    path = tmp_path / "net" / "model.py"
    space: dict[str, Any] = {"__file__": str(path)}
    exec(path.read_text(), space)
    generator = np.random.default_rng(0)
    shapes = [n.aval.shape for n in graph.inputs if n.aval is not None]
    args = [generator.normal(size=shape).astype("float32") for shape in shapes]
    got = _gradient(graph, space, target, args)
    moved, (x, *others) = graph.to_backend("jax"), map(jnp.asarray, args)
    want = jax.grad(lambda x: _square(moved(x, *others), jnp.sum))(x)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_numpy_has_the_values_alone(tmp_path: Any) -> None:
    for name, graph in _graphs().items():
        assert graph.eject(tmp_path / name, "numpy").error < 1e-5
        assert "custom" not in (tmp_path / name / "model.py").read_text()


def test_the_mechanism_is_that_of_the_framework() -> None:
    graphs = _graphs()
    text = graphs["jvp"].to_source("jax", standalone=True)
    assert "jax.custom_jvp(function)" in text
    text = graphs["vjp"].to_source("torch", standalone=True)
    assert "class Function(torch.autograd.Function):" in text
    assert "lax.map(per_row, (" in graphs["rows"].to_source("jax", standalone=True)
    assert "tf.vectorized_map(per_row, (" in graphs["rows"].to_source("tensorflow", standalone=True)
