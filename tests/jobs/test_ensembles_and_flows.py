"""Many models as one: an ensemble by vmap over stacked Containers; a neural ODE; both as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp

import nestarray as na
from tests.arrays import on


@pytest.mark.one_in(2)
@pytest.mark.parametrize("backend", ["torch", "tensorflow"])
def test_an_ensemble_of_equinox_models(backend: str, tmp_path: Path) -> None:
    def build(key: Any) -> eqx.nn.MLP:
        return eqx.nn.MLP(3, 2, 8, 2, key=key)

    members = [build(key) for key in jax.random.split(jax.random.key(0), 5)]
    x = np.random.default_rng(0).normal(size=(4, 3)).astype("float32")
    graph = na.trace_graph(members[0], x[0]).to_backend(backend)
    stacked = na.stack([na.trace_graph(member, x[0]).to_backend(backend).v for member in members])
    assert {leaf.shape[0] for leaf in stacked.leaves()} == {5}

    def predict(v: Any, x: Any) -> Any:
        return na.vmap(na.vmap(lambda v, x: graph(x, v=v), in_axes=(None, 0)), in_axes=(0, None))(
            v, x
        )

    rows = on(backend, x)
    expected = jnp.stack([jax.vmap(member)(x) for member in members])
    np.testing.assert_allclose(na.to_backend(predict(stacked, rows), "numpy"), expected, atol=1e-5)

    def loss(v: Any) -> Any:
        return na.mean((predict(v, rows) - 1.0) ** 2)

    optimizer = na.nn.Adam(0.03)
    state = optimizer.init(stacked)
    before = float(loss(stacked))
    for _ in range(25):
        stacked, state = optimizer.step(stacked, na.grad(loss)(stacked), state)
    assert float(loss(stacked)) < 0.2 * before

    stacked.save(tmp_path / "ensemble.safetensors")
    loaded = na.Container.load(tmp_path / "ensemble.safetensors", backend="jax")
    for i in range(5):  # each member is an Equinox module again
        member = loaded.map(lambda leaf, i=i: leaf[i]).to_equinox(members[i])
        np.testing.assert_allclose(
            jax.vmap(member)(x), na.to_backend(predict(stacked, rows), "numpy")[i], atol=1e-5
        )


class Field(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = torch.nn.Sequential(
            torch.nn.Linear(2, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2)
        )

    def forward(self, y: torch.Tensor) -> torch.Tensor:
        return self.net(y)


def solution(field: Any, v: Any, y: Any, steps: int = 40) -> Any:
    """The state at time 1 by the classical Runge–Kutta method."""
    h = 1.0 / steps

    def step(y: Any, _: Any) -> tuple[Any, Any]:
        k1 = field(y, v=v)
        k2 = field(y + 0.5 * h * k1, v=v)
        k3 = field(y + 0.5 * h * k2, v=v)
        k4 = field(y + h * k3, v=v)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        return y, y

    return na.scan(step, y, None, length=steps)[0]


@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_a_neural_ode(backend: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = Field()
    y = np.random.default_rng(1).normal(size=(3, 2)).astype("float32")
    field = na.trace_graph(model, torch.from_numpy(y[:1]), dynamic={"y": {0: "batch"}})
    field = field.to_backend(backend)
    start = on(backend, y)

    def velocity(t: float, flat: np.ndarray) -> np.ndarray:
        rows = torch.from_numpy(flat.reshape(3, 2).astype("float32"))
        return model(rows).detach().numpy().ravel()

    expected = solve_ivp(velocity, (0.0, 1.0), y.ravel(), rtol=1e-7, atol=1e-9).y[:, -1]
    result = solution(field, field.v, start)
    np.testing.assert_allclose(na.to_backend(result, "numpy").ravel(), expected, atol=1e-4)

    def loss(v: Any) -> Any:
        return na.mean(solution(field, v, start) ** 2)

    value, grads = na.value_and_grad(loss)(field.v)
    rest = torch.from_numpy(y)
    for _ in range(40):
        h = 1 / 40
        k1 = model(rest)
        k2 = model(rest + 0.5 * h * k1)
        k3 = model(rest + 0.5 * h * k2)
        rest = rest + h / 6 * (k1 + 2 * k2 + 2 * k3 + model(rest + h * k3))
    (rest**2).mean().backward()
    np.testing.assert_allclose(float(value), (rest**2).mean().item(), rtol=1e-4)
    for path, leaf in grads.flat_items():
        gradient = model.get_parameter(path.replace("/", ".")).grad
        np.testing.assert_allclose(na.to_backend(leaf, "numpy"), gradient, atol=1e-5)

    flow = na.trace_graph(lambda v, y: solution(field, v, y), field.v, start)
    path = tmp_path / ("flow.stablehlo" if backend == "jax" else "flow.pt2")
    flow.export(path)
    assert path.stat().st_size > 0
