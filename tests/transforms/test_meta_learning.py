"""MAML, first-order MAML, Reptile and accumulated gradients, against hand-written JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import nestarray as na
from nestarray import nn
from nestarray.errors import ArgumentError, ShapeError
from nestarray.testing import assert_close

BACKENDS = ("numpy", "jax", "torch", "tensorflow")
RNG = np.random.default_rng(0)
V = {"w": RNG.normal(size=(3, 2)).astype("float32"), "b": RNG.normal(size=3).astype("float32")}
TASKS = {
    "x": RNG.normal(size=(4, 5, 2)).astype("float32"),
    "y": RNG.normal(size=(4, 5, 3)).astype("float32"),
}


def loss(v: Any, task: Any) -> Any:
    h = na.tanh(na.linear(task["x"], v["w"], v["b"]))
    return na.mean((h - task["y"]) ** 2)


def outer(v: Any, task: Any) -> Any:
    return loss(v, task) + 0.1 * na.sum(v["w"] ** 2)


def plain(v: Any, x: Any, y: Any) -> Any:
    return jnp.mean((jnp.tanh(x @ v["w"].T + v["b"]) - y) ** 2)


def adapted(v: Any, x: Any, y: Any, steps: int, rate: float, stop: bool) -> Any:
    for _ in range(steps):
        g = jax.grad(plain)(v, x, y)
        g = jax.lax.stop_gradient(g) if stop else g
        v = {k: v[k] - rate * g[k] for k in v}
    return v


@pytest.mark.parametrize(
    "backend", [pytest.param("jax", marks=pytest.mark.full), "torch", "tensorflow"]
)
@pytest.mark.parametrize("first_order", [False, True], ids=["maml", "fomaml"])
def test_maml(backend: str, first_order: bool) -> None:
    v = na.Container(V).to_backend(backend)
    tasks = na.Container(TASKS).to_backend(backend)
    value, grads = nn.maml_step(
        loss, outer, v, tasks, steps=2, learning_rate=0.3, first_order=first_order
    )

    def meta(v: Any) -> Any:
        values = []
        for x, y in zip(TASKS["x"], TASKS["y"], strict=True):
            found = adapted(v, x, y, 2, 0.3, first_order)
            values.append(plain(found, x, y) + 0.1 * jnp.sum(found["w"] ** 2))
        return jnp.mean(jnp.stack(values))

    expected, slopes = jax.value_and_grad(meta)({k: jnp.asarray(x) for k, x in V.items()})
    why = "second derivatives, summed in another order"
    assert_close(na.to_backend(value, "jax"), expected, rtol=2e-5, reason=why)
    assert_close(grads.to_backend("jax"), na.Container(slopes), rtol=1e-4, reason=why)


@pytest.mark.parametrize("backend", BACKENDS)
def test_reptile(backend: str) -> None:
    v = na.Container(V).to_backend(backend)
    tasks = na.Container(TASKS).to_backend(backend)
    value, grads = nn.reptile_step(loss, v, tasks, steps=3, learning_rate=0.3)
    start = {k: jnp.asarray(x) for k, x in V.items()}
    found = [
        adapted(start, x, y, 3, 0.3, True) for x, y in zip(TASKS["x"], TASKS["y"], strict=True)
    ]
    mean = {k: start[k] - sum(f[k] for f in found) / 4 for k in start}
    losses = [plain(f, x, y) for f, x, y in zip(found, TASKS["x"], TASKS["y"], strict=True)]
    why = "means in another order"
    assert_close(grads.to_backend("jax"), na.Container(mean), rtol=1e-4, reason=why)
    expected = jnp.mean(jnp.stack(losses))
    assert_close(na.to_backend(value, "jax"), expected, rtol=2e-5, reason=why)


@pytest.mark.parametrize("backend", BACKENDS)
def test_accumulated_gradients_are_those_of_the_batch(backend: str) -> None:
    v = na.Container(V, steps=np.zeros(2, "int32")).to_backend(backend)
    batch = na.Container(TASKS)[0].to_backend(backend)
    whole = na.execute_with_gradients(lambda v: loss(v, batch), v)
    parts = nn.accumulate_gradients(loss, v, batch, microbatches=5)
    assert_close(parts, whole, rtol=1e-4, reason="sums in another order")
    with pytest.raises(ShapeError) as info:
        nn.accumulate_gradients(loss, v, batch, microbatches=2)
    assert str(info.value) == (
        "accumulate_gradients: microbatches: got 2 for batches of [5], expected a divisor of one size"
    )
    with pytest.raises(
        ArgumentError,
        match=r"^accumulate_gradients: microbatches: got 2.5, expected an integer from 1 on$",
    ):
        nn.accumulate_gradients(loss, v, batch, microbatches=2.5)  # type: ignore[arg-type]
    with pytest.raises(
        ArgumentError, match=r"^reptile_step: steps: got 0, expected an integer from 1 on$"
    ):
        nn.reptile_step(loss, v, na.Container(TASKS).to_backend(backend), steps=0)
