"""Source lines and module paths of the nodes of JAX graphs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import equinox as eqx
import haiku as hk
import jax
import jax.numpy as jnp
import pytest
from flax import linen, nnx

import nestarray as na
from nestarray.graph.node import Body, Call, Node

X = jnp.ones((2, 3))
KEY = jax.random.key(0)


def nodes_of(nodes: Sequence[Node]) -> Iterator[Call]:
    """Calls, also those in bodies."""
    for node in nodes:
        if not isinstance(node, Call):
            continue
        yield node
        for value in node.args:
            for body in value if isinstance(value, (list, tuple)) else [value]:
                if isinstance(body, Body):
                    yield from nodes_of(body.nodes)


class Linen(linen.Module):
    @linen.compact
    def __call__(self, x: Any) -> Any:
        x = jax.jit(linen.relu)(linen.Dense(4)(x))
        return linen.Dense(2, name="head")(x)


class NNX(nnx.Module):
    def __init__(self) -> None:
        rngs = nnx.Rngs(0)
        self.first = nnx.Linear(3, 4, rngs=rngs)
        self.layers = nnx.List([nnx.Linear(4, 4, rngs=rngs) for _ in range(2)])

    def __call__(self, x: Any) -> Any:
        x = nnx.relu(self.first(x))
        for layer in self.layers:
            x = layer(x)
        return x


class Equinox(eqx.Module):
    net: eqx.nn.MLP

    def __call__(self, x: Any) -> Any:
        return jnp.sin(self.net(x))


EQUINOX = Equinox(eqx.nn.MLP(3, 2, 4, 1, key=KEY))
HAIKU = hk.transform(lambda x: hk.nets.MLP([4, 2])(x))


def graph_of(kind: str) -> na.graph.Graph:
    if kind == "linen":
        return na.trace_graph(Linen(), X, variables=Linen().init(KEY, X))
    if kind == "haiku":
        return na.trace_graph(HAIKU, X, params=HAIKU.init(KEY, X))
    if kind == "equinox under vmap":
        return na.trace_graph(jax.vmap(EQUINOX), X)
    if kind == "equinox in a function":
        return na.trace_graph(lambda x: EQUINOX(x), X[0])
    return na.trace_graph(NNX(), X) if kind == "nnx" else na.trace_graph(EQUINOX, X[0])


PATHS = {
    "linen": ["Linen/Dense_0", "Linen", "Linen/head"],
    "haiku": ["mlp/linear_0", "mlp", "mlp/linear_1"],
    "nnx": ["first", "", "layers/0", "layers/1"],
    "equinox": ["net/layers/0", "net", "net/layers/1", ""],
    "equinox under vmap": ["net/layers/0", "net", "net/layers/1", ""],
    "equinox in a function": ["EQUINOX/net/layers/0", "EQUINOX/net", "EQUINOX/net/layers/1", "EQUINOX"],
}  # fmt: skip


@pytest.mark.parametrize("kind", PATHS)
def test_modules(kind: str) -> None:
    graph = graph_of(kind)
    assert list(dict.fromkeys(node.module for node in graph.calls)) == PATHS[kind]
    assert all(".py:" in node.line for node in graph.calls)


def test_classes_are_restored() -> None:
    before = [vars(cls)["__call__"] for cls in (Equinox, NNX, nnx.Linear, eqx.nn.Linear)]
    graph_of("equinox"), graph_of("nnx")
    assert before == [vars(cls)["__call__"] for cls in (Equinox, NNX, nnx.Linear, eqx.nn.Linear)]


@jax.custom_vjp
def doubled(x: Any) -> Any:
    return x * 2


doubled.defvjp(lambda x: (doubled(x), x), lambda x, g: (g * jnp.cos(x),))


def scoped(x: Any) -> Any:
    def inner(x: Any) -> Any:
        with jax.named_scope("inner"):
            return jnp.sin(x)

    with jax.named_scope("outer"):
        x = jax.jit(inner)(x)
        carry, _ = jax.lax.scan(lambda c, r: (inner(c) + r, None), x[0], x)
        with jax.named_scope("choice"):
            carry = jax.lax.cond(carry.sum() > 0, inner, jnp.cos, carry)
        return jax.grad(lambda x: inner(doubled(x)).sum())(x) + carry


def test_scopes_of_nested_jaxprs() -> None:
    found = {(node.target_name, node.module) for node in nodes_of(na.trace_graph(scoped, X).nodes)}
    assert {
        ("jax.lax.sin", "outer/inner"),
        ("jax.lax.scan", "outer"),
        ("jax.lax.add", "outer"),
        ("jax.lax.switch", "outer/choice"),
        ("jax.lax.sin", "outer/choice/inner"),
        ("jax.lax.cos", "outer/choice"),
        ("jax.lax.cos", "outer/inner"),
    } <= found
    assert all(
        node.line.startswith("test_places.py:")
        for node in nodes_of(na.trace_graph(scoped, X).nodes)
    )
