"""Models go to PyTorch, train there with ``torch.optim``, and return to their library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import flax.linen as nn
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from flax import nnx

import nestarray as na

KEY = jax.random.PRNGKey(0)
ROWS = jax.random.normal(KEY, (6, 3))
TARGETS = jnp.sin(ROWS[:, :2])


class LinenNet(nn.Module):
    @nn.compact
    def __call__(self, x: Any, train: bool) -> Any:
        x = nn.BatchNorm(use_running_average=not train, momentum=0.8)(nn.Dense(8)(x))
        return nn.Dense(2)(nn.gelu(x))


class NnxNet(nnx.Module):
    def __init__(self) -> None:
        rngs = nnx.Rngs(0)
        self.first, self.second = nnx.Linear(3, 8, rngs=rngs), nnx.Linear(8, 2, rngs=rngs)
        self.norm = nnx.BatchNorm(8, momentum=0.8, rngs=rngs)
        self.dropout = nnx.Dropout(0.1, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        return self.second(self.dropout(nnx.gelu(self.norm(self.first(x)))))


def haiku_net(x: Any, is_training: bool) -> Any:
    x = hk.BatchNorm(True, True, 0.8)(hk.Linear(8)(x), is_training)
    return hk.Linear(2)(jax.nn.gelu(x))


class EquinoxNet(eqx.Module):
    first: eqx.nn.Linear
    norm: eqx.nn.BatchNorm
    second: eqx.nn.Linear

    def __init__(self) -> None:
        self.first = eqx.nn.Linear(3, 8, key=KEY)
        self.norm = eqx.nn.BatchNorm(8, "batch", mode="batch")
        self.second = eqx.nn.Linear(8, 2, key=KEY)

    def __call__(self, x: Any, state: Any) -> Any:
        x, state = self.norm(self.first(x), state)
        return self.second(jax.nn.gelu(x)), state


#: (source and keywords of `trace_graph`; all variables; returns the output of the library for
#: variables).
Library = tuple[Any, dict[str, Any], na.Container, Callable[[na.Container], Any]]


def linen() -> Library:
    net = LinenNet()
    variables = net.init(KEY, ROWS, train=False)
    return (
        net,
        {"variables": variables},
        na.Container.from_flax(variables),
        lambda c: net.apply(c.to_flax(like=variables), ROWS, train=False),
    )


def bound_linen() -> Library:
    net = LinenNet()
    variables = net.init(KEY, ROWS, train=False)
    return (
        net.bind(variables),
        {},
        na.Container.from_flax(variables),
        lambda c: net.apply(c.to_flax(), ROWS, train=False),
    )


def of_nnx() -> Library:
    net = NnxNet()
    c = na.Container.from_flax(net)

    def output(c: na.Container) -> Any:
        state = nnx.state(net)
        nnx.update(net, c.to_flax(like=state))
        net.eval()
        return net(ROWS)

    return net, {}, c, output


def haiku() -> Library:
    net = hk.without_apply_rng(hk.transform_with_state(haiku_net))
    params, state = net.init(KEY, ROWS, is_training=True)
    c = na.Container.from_haiku(params), na.Container.from_haiku(state)

    def output(given: na.Container) -> Any:
        new = [given.select(*each.paths()).to_haiku() for each in c]
        return net.apply(*new, ROWS, is_training=False)[0]

    return net, {"params": params, "state": state}, c[0].combine(c[1]), output


LIBRARIES: dict[str, Callable[[], Library]] = {
    "linen": linen,
    "bound-linen": bound_linen,
    "nnx": of_nnx,
    "haiku": haiku,
}


def trained(graph: na.Graph, steps: int = 4) -> na.Container:
    """All variables of a graph on PyTorch after some steps."""
    x, y = (na.to_backend(each, "torch") for each in (ROWS, TARGETS))
    v, s = graph.v.map(lambda w: w.clone().requires_grad_()), graph.s
    optimizer = torch.optim.Adam(v.leaves(), 1e-2)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        output, s = graph(x, v=v, s=s)
        loss = torch.nn.functional.mse_loss(output, y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    return v.map(torch.Tensor.detach).combine(s.map(torch.Tensor.detach))


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_model_trains_in_torch_and_returns(name: str) -> None:
    source, kwargs, everything, output = LIBRARIES[name]()
    training = na.trace_graph(source, ROWS, train=True, **kwargs)
    assert {*training.v.paths(), *training.s.paths()} == {*everything.paths()}
    new = trained(training.to_backend("torch"))
    evaluation = na.trace_graph(source, ROWS, **kwargs).to_backend("torch")
    v, s = new.select(*evaluation.v.paths()), new.select(*evaluation.s.paths())
    got = evaluation(na.to_backend(ROWS, "torch"), v=v, s=s)
    before = np.asarray(evaluation(na.to_backend(ROWS, "torch")).detach())
    assert np.abs(np.asarray(got) - before).max() > 1e-2
    np.testing.assert_allclose(got, output(everything.update(new)), rtol=1e-4, atol=1e-5)


def test_an_equinox_module_trains_in_torch_and_returns() -> None:
    net, state = eqx.nn.make_with_state(EquinoxNet)()

    def mapped(net: Any) -> Any:
        return jax.vmap(net, axis_name="batch", in_axes=(0, None), out_axes=(0, None))

    training = na.trace_graph(mapped(net), ROWS, state, train=True)
    assert {*training.v.paths()} <= {*na.Container.from_equinox(net).paths()}
    new = trained(training.to_backend("torch"))
    v = na.Container.from_equinox(net).update(new.select(*training.v.paths()))
    state = na.to_pytree(new["state"].to_backend("jax"), state)
    returned = v.to_equinox(eqx.nn.inference_mode(net))
    placed = eqx.tree_at(lambda n: n.first.weight, net, na.to_backend(v["first/weight"], "jax"))
    np.testing.assert_array_equal(placed.first.weight, returned.first.weight)
    want, _ = mapped(returned)(ROWS, state)
    evaluation = na.trace_graph(mapped(eqx.nn.inference_mode(net)), ROWS, state)
    moved = evaluation.to_backend("torch")
    got = moved(
        na.to_backend(ROWS, "torch"),
        v=new.select(*moved.v.paths()),
        s=new.select(*moved.s.paths()),
    )
    got = got[0] if moved.returns_state else got
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_a_function_of_a_bound_module() -> None:
    net = LinenNet()
    bound = net.bind(net.init(KEY, ROWS, train=False))

    def loss(x: Any) -> Any:
        return jnp.mean((bound(x, train=False) - TARGETS) ** 2)

    graph = na.trace_graph(loss, ROWS).to_backend("torch")
    assert graph.v.paths()[0].startswith("bound/params/")
    assert graph.verify().ok


def test_variables_of_a_function_by_collections() -> None:
    net = LinenNet()
    variables = net.init(KEY, ROWS, train=False)

    def apply(variables: Any, x: Any) -> Any:
        return net.apply(variables, x, train=True, mutable=["batch_stats"])

    graph = na.trace_graph(apply, variables, ROWS, v="variables")
    assert set(graph.v) == {"params"}
    assert set(graph.s) == {"batch_stats"}
    assert graph.to_backend("torch").verify().ok


@pytest.mark.parametrize("make", [NnxNet, lambda: eqx.nn.MLP(3, 2, 8, 1, key=KEY)])
def test_a_module_as_the_argument_with_the_variables(make: Any) -> None:
    model = make()
    is_nnx = isinstance(model, nnx.Module)
    if is_nnx:
        model.eval()

    def loss(model: Any, x: Any) -> Any:
        return jnp.mean((model(x) if is_nnx else jax.vmap(model)(x)) ** 2)

    graph = na.trace_graph(loss, model, ROWS, v="model").to_backend("torch")
    read = na.Container.from_flax if is_nnx else na.Container.from_equinox
    assert {*graph.v.paths(), *graph.s.paths()} == {*read(model).paths()}
    assert graph.verify().ok
