"""Calls of a graph on JAX, which compile one program for each shape."""

from __future__ import annotations

import gc
import warnings
import weakref
from typing import Any

import jax
import jax.numpy as jnp
import pytest
import torch
from torch import nn

import nestarray as na
from nestarray.testing import assert_close


@pytest.fixture(scope="module")
def traced() -> na.Graph:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    return na.trace_graph(net, torch.ones(2, 3), dynamic={"input": {0: "batch"}}).to_backend("jax")


def rows(count: int) -> Any:
    return jnp.linspace(-1.0, 1.0, 3 * count).reshape(count, 3)


def test_a_shape_is_compiled_once(traced: na.Graph) -> None:
    graph = traced.replace(name="Net")
    eager = traced.replace(compiled=False, name="Net")
    for count in (2, 3, 2, 3):
        assert_close(graph(rows(count)), eager(rows(count)))
    assert graph._compiled.traces == 2
    assert eager._compiled.traces == 0


def test_graphs_with_other_variables_share_the_program(traced: na.Graph) -> None:
    graph = traced.replace(name="Net")
    doubled = graph.replace(v=graph.v * 2.0)
    assert_close(doubled(rows(2)), graph(rows(2), v=graph.v * 2.0))
    assert graph._compiled.traces == doubled._compiled.traces == 1
    doubled.compiled = False
    assert graph.compiled


def test_traces_of_jax_take_the_calls(traced: na.Graph) -> None:
    graph, x = traced.replace(name="Net"), rows(2)
    eager = graph.replace(compiled=False, name="Net")

    def loss(graph: na.Graph) -> Any:
        return lambda v: na.sum(graph(x, v=v) ** 2)

    assert_close(na.grad(loss(graph))(graph.v), na.grad(loss(eager))(graph.v))
    assert_close(jax.vmap(lambda f: graph(x * f))(x[0]), jax.vmap(lambda f: eager(x * f))(x[0]))
    assert "name=program" not in str(jax.make_jaxpr(lambda x: graph(x))(x))
    assert graph._compiled.traces == 0


def test_many_shapes_are_a_warning(traced: na.Graph) -> None:
    graph = traced.replace(name="Net")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for count in range(1, 8):
            graph(rows(count))
    with pytest.warns(UserWarning, match=r"Net: compiled for 8 shapes\. Pad the inputs .*dynamic="):
        graph(rows(8))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph(rows(9))


class Drawing(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.dropout(x, 0.5, self.training)


def test_random_numbers_are_those_of_the_key() -> None:
    graph = na.trace_graph(Drawing().train(), torch.ones(8), train=True).to_backend("jax")
    eager, x = graph.replace(compiled=False), jnp.ones(8)
    for seed in range(4):
        key = na.random.key(seed, backend="jax")
        assert_close(graph(x, key=key)[0], eager(x, key=key)[0])
    assert graph._compiled.traces <= 2  # JAX traces again after it imports further modules


class Choosing(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[x > 0] * 2


def test_sizes_of_values_stay_eager() -> None:
    graph = na.trace_graph(Choosing(), torch.tensor([1.0, -1.0, 2.0])).to_backend("jax")
    assert graph(jnp.asarray([1.0, 2.0, -3.0])).tolist() == [2.0, 4.0]
    assert graph(jnp.asarray([1.0, -2.0, -3.0])).tolist() == [2.0]


def test_errors_are_those_of_the_calls(traced: na.Graph) -> None:
    graph = traced.replace(name="Net")
    with pytest.raises(na.errors.NestarrayError):
        graph(rows(2), v=graph.v.map(lambda x: x[:1]))
    assert graph.compiled


def test_a_program_ends_with_its_graph(traced: na.Graph) -> None:
    graph = traced.replace(name="Net")
    graph(rows(2))
    program = weakref.ref(graph._compiled)
    del graph
    gc.collect()
    assert program() is None
