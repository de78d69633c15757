"""Functions of Flax, Haiku and Equinox around models: transformations, training steps, loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import flax
import flax.linen as nn
import haiku as hk
import jax
import jax.numpy as jnp
import optax
import pytest
from flax import nnx
from flax.training import train_state
from jax.experimental.ode import odeint

import nestarray as na
from tests.arrays import normal

KEY = jax.random.PRNGKey(0)
ROWS = normal(4, 3)
MLP = eqx.nn.MLP(3, 2, 8, 1, key=KEY)
LINEAR = nnx.Linear(3, 2, rngs=nnx.Rngs(0))
ADAM = optax.adam(0.1)


class Encoder(nn.Module):
    def setup(self) -> None:
        self.first, self.last = nn.Dense(4), nn.Dense(2)

    def encode(self, x: Any, deterministic: bool) -> Any:
        return self.first(x) * (1.0 if deterministic else 2.0)

    def __call__(self, x: Any) -> Any:
        return self.last(self.encode(x, True))


ENCODER = Encoder()
VARIABLES = ENCODER.init(KEY, ROWS)


def _pair(linear: Any) -> Any:
    return linear, (linear, lambda x: 2 * linear(x))


MULTIPLE = hk.multi_transform(lambda: _pair(hk.Linear(3)))


def equinox_step(model: Any, state: Any, x: Any) -> Any:
    loss, grads = eqx.filter_value_and_grad(lambda m: jnp.mean(jax.vmap(m)(x) ** 2))(model)
    updates, state = ADAM.update(grads, state, eqx.filter(model, eqx.is_array))
    return eqx.apply_updates(model, updates), state, loss


def linen_step(state: Any, x: Any) -> Any:
    def loss(params: Any) -> Any:
        return jnp.mean(state.apply_fn({"params": params}, x) ** 2)

    return state.apply_gradients(grads=jax.grad(loss)(state.params))


STATE = train_state.TrainState.create(apply_fn=ENCODER.apply, params=VARIABLES["params"], tx=ADAM)


def bounded(x: Any) -> Any:
    return eqx.internal.while_loop(
        lambda c: c[1] < 3,
        lambda c: (jnp.sin(c[0]), c[1] + 1),
        (x, 0),
        max_steps=5,
        kind="checkpointed",
    )[0]


#: name → (returns the graph, the number of parameters).
CALLS: dict[str, tuple[Callable[[], na.Graph], int]] = {
    "filter_vmap": (lambda: na.trace_graph(eqx.filter_vmap(MLP), ROWS), 4),
    "filter_jit": (lambda: na.trace_graph(eqx.filter_jit(eqx.filter_vmap(MLP)), ROWS), 4),
    "equinox-step": (
        lambda: na.trace_graph(equinox_step, MLP, ADAM.init(eqx.filter(MLP, eqx.is_array)), ROWS), 0
    ),
    "error_if": (
        lambda: na.trace_graph(
            lambda x: eqx.error_if(x, jnp.any(x > 100), "large"), ROWS, islands=True
        ),
        0,
    ),
    "checkpointed-while": (lambda: na.trace_graph(bounded, ROWS), 0),
    "train-state": (lambda: na.trace_graph(jax.jit(linen_step), STATE, ROWS), 0),
    "frozen": (lambda: na.trace_graph(ENCODER, ROWS, variables=flax.core.freeze(VARIABLES)), 4),
    "method": (lambda: na.trace_graph(ENCODER, ROWS, variables=VARIABLES, method="encode"), 4),
    "bound-method": (
        lambda: na.trace_graph(ENCODER, ROWS, variables=VARIABLES, method=ENCODER.encode, train=True), 4
    ),
    "intermediates": (
        lambda: na.trace_graph(
            lambda w, x: ENCODER.apply(w, x, capture_intermediates=True, mutable=["intermediates"]),
            VARIABLES, ROWS, v="w",
        ),
        4,
    ),
    "nnx-split": (
        lambda: na.trace_graph(
            lambda state, x: nnx.merge(nnx.graphdef(LINEAR), state)(x), nnx.state(LINEAR), ROWS, v="state"
        ),
        2,
    ),
    "multi_transform": (
        lambda: na.trace_graph(MULTIPLE.apply[1], MULTIPLE.init(KEY, ROWS), KEY, ROWS, v="params"), 2
    ),
    "odeint": (
        lambda: na.trace_graph(
            lambda w, x: odeint(lambda y, t, w: jnp.tanh(y @ w), x, jnp.linspace(0.0, 1.0, 3), w),
            jnp.eye(3), ROWS, v="w",
        ),
        1,
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    "backend",
    ["torch", *(pytest.param(name, marks=pytest.mark.full) for name in ("tensorflow", "numpy"))],
)
@pytest.mark.parametrize("name", CALLS)
def test_call(name: str, backend: str) -> None:
    trace, count = CALLS[name]
    graph = trace().to_backend(backend)
    assert len(graph.v.leaves()) == count
    report = graph.verify()
    assert report.ok, str(report)
    assert len(report.outputs) > 0


def test_functions_in_an_output_are_none() -> None:
    output = na.trace_graph(lambda x: eqx.tree_at(lambda m: m.layers[0].bias, MLP, x), jnp.ones(8))(
        jnp.ones(8)
    )
    assert output["activation"] is None
    assert output["layers"][0]["bias"].tolist() == [1.0] * 8
