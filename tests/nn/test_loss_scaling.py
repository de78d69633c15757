"""Dynamic loss scaling, by the rule of ``torch.amp.GradScaler``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import nestarray as na
from nestarray import nn
from nestarray.errors import ArgumentError, DtypeError

BACKENDS = ["numpy", "jax", "torch", "tensorflow"]
#: Whether the gradients of a step are finite.
STEPS = [True, True, False, True, True, True, True, False, False, True, True]


def _expected() -> list[tuple[float, float]]:
    """(weight, scale) after each step with PyTorch's own scaler."""
    weight = torch.nn.Parameter(torch.tensor(1.0))
    optimizer = torch.optim.SGD([weight], 0.125)
    scaler = torch.amp.GradScaler("cpu", init_scale=64.0, growth_interval=2)
    found = []
    for is_finite in STEPS:
        optimizer.zero_grad()
        scaler.scale(weight * (2.0 if is_finite else float("inf"))).backward()
        scaler.step(optimizer)
        scaler.update()
        found.append((weight.item(), scaler.get_scale()))
    return found


@pytest.mark.parametrize("backend", BACKENDS)
def test_weights_and_scales_are_those_of_torch(backend: str) -> None:
    optimizer, scaling = nn.SGD(0.125), nn.DynamicLossScale(64.0, interval=2)

    @na.jit
    def step(v: Any, state: Any, scale: Any, slope: Any) -> Any:
        grads = na.grad(lambda v: scaling.scale(v.w * slope, scale))(v)
        return scaling.step(optimizer, v, grads, state, scale)

    v = na.Container(w=na.to_backend(np.float32(1.0).reshape(()), backend))
    state, scale = optimizer.init(v), scaling.init(v)
    found = []
    for is_finite in STEPS:
        slope = na.full((), 2.0 if is_finite else np.inf, dtype="float32", like=v.w)
        v, state, scale = step(v, state, scale, slope)
        found.append((float(v.w), float(scale["scale"])))
    assert found == _expected()
    assert int(state["count"]) == sum(STEPS)
    assert na.dtype_of(scale["scale"]) is na.float32


def test_gradients_of_float16_arrive() -> None:
    """A derivative of 1e-8 is 0 in float16; scaled by 2¹⁶ it is not."""
    x = torch.tensor([[1e-4]])
    graph = na.trace_graph(torch.nn.Linear(1, 1, bias=False), x).cast(compute="float16")
    graph = graph.to_backend("numpy")
    scaling = nn.DynamicLossScale()
    scale = scaling.init(graph.v)

    def loss(v: Any) -> Any:
        return na.sum(graph(x.numpy(), v=v)) * 1e-4

    assert na.grad(loss)(graph.v)["weight"].item() == 0
    grads = na.grad(lambda v: scaling.scale(loss(v), scale))(graph.v)
    unscaled, is_finite = scaling.unscale(grads, scale)
    np.testing.assert_allclose(unscaled["weight"], 1e-8, rtol=1e-3)
    assert is_finite


def test_the_scale_stays_finite() -> None:
    scaling = nn.DynamicLossScale(2.0**127, interval=1)
    state = scaling.init(na.Container(w=np.ones(2, "float32")))
    with np.errstate(over="ignore"):
        state = scaling.update(state, np.asarray(True))
    assert float(state["scale"]) == 2.0**127


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(ArgumentError, match="DynamicLossScale: backoff: got 2, expected a number"):
        nn.DynamicLossScale(backoff=2)
    scaling = nn.DynamicLossScale()
    grads = na.Container(head={"w": np.ones(2, "float16")})
    with pytest.raises(
        DtypeError, match=r"unscale: grads\['head/w'\]: got float16, expected float32"
    ):
        scaling.unscale(grads, scaling.init(grads))
