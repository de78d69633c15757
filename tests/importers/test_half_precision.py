"""Models of half and mixed precision: dtypes of outputs and gradients, on each backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest
import torch
from flax import linen
from torch import nn

import nestarray as na

ROWS = np.random.default_rng(0).normal(size=(4, 6)).astype("float32")


class Net(nn.Module):
    """Layers with statistics, sums and products; autocast surrounds them if `half` is a dtype."""

    def __init__(self, half: torch.dtype | None = None) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.half_dtype = half
        self.first, self.batch, self.last = nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Linear(8, 3)
        self.layer, self.group = nn.LayerNorm(8), nn.GroupNorm(2, 8)

    def forward(self, x: Any) -> Any:
        if self.half_dtype is None:
            return self._layers(x)
        with torch.autocast("cpu", dtype=self.half_dtype):
            return self._layers(x)

    def _layers(self, x: Any) -> Any:
        x = self.group(self.layer(torch.relu(self.batch(self.first(x)))))
        return torch.softmax(self.last(x), -1)


def _torch(net: Net, dtype: torch.dtype = torch.float32) -> na.Graph:
    return na.trace_graph(net, torch.tensor(ROWS).to(dtype), train=True)


def _surrounded() -> na.Graph:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return _torch(Net())


def _keras(policy: str) -> na.Graph:
    layers = keras.layers
    keras.utils.set_random_seed(0)
    stack = [
        keras.Input((6,)),
        layers.Dense(8, "relu", dtype=policy),
        layers.BatchNormalization(dtype=policy),
        layers.LayerNormalization(dtype=policy),
        layers.Dense(3, "softmax", dtype=policy),
    ]
    return na.trace_graph(keras.Sequential(stack), ROWS, train=True)


class Linen(linen.Module):
    """Flax's layers with a dtype of computation and a dtype of parameters."""

    dtype: Any
    param_dtype: Any

    @linen.compact
    def __call__(self, x: Any, train: bool = False) -> Any:
        dtypes = {"dtype": self.dtype, "param_dtype": self.param_dtype}
        x = linen.relu(linen.Dense(8, **dtypes)(x))
        x = linen.BatchNorm(use_running_average=not train, **dtypes)(x)
        x = linen.LayerNorm(**dtypes)(x)
        return jax.nn.softmax(linen.Dense(3, **dtypes)(x))


def _flax(dtype: Any, param_dtype: Any) -> na.Graph:
    module, x = Linen(dtype, param_dtype), jnp.asarray(ROWS)
    return na.trace_graph(module.bind(module.init(jax.random.key(0), x)), x, train=True)


#: Name → the graph, and the dtypes of its parameters and its output.
MODELS: dict[str, tuple[Callable[[], na.Graph], na.DType, na.DType]] = {
    "half": (lambda: _torch(Net().half(), torch.float16), na.float16, na.float16),
    "bfloat16": (lambda: _torch(Net().bfloat16(), torch.bfloat16), na.bfloat16, na.bfloat16),
    "autocast inside": (lambda: _torch(Net(torch.bfloat16)), na.float32, na.bfloat16),
    "autocast around": (_surrounded, na.float32, na.bfloat16),
    "keras mixed_bfloat16": (lambda: _keras("mixed_bfloat16"), na.float32, na.bfloat16),
    "keras mixed_float16": (lambda: _keras("mixed_float16"), na.float32, na.float16),
    "flax dtype": (lambda: _flax(jnp.bfloat16, jnp.float32), na.float32, na.bfloat16),
    "flax param_dtype": (lambda: _flax(None, jnp.bfloat16), na.bfloat16, na.float32),
}


@pytest.mark.parametrize(
    "backend",
    ["numpy", *(pytest.param(b, marks=pytest.mark.full) for b in ("jax", "torch", "tensorflow"))],
)
@pytest.mark.parametrize("name", MODELS)
def test_models_keep_their_dtypes_and_train(name: str, backend: str) -> None:
    trace, of_parameters, of_output = MODELS[name]
    graph = trace().to_backend(backend)
    report = graph.verify()
    assert report.ok, str(report)
    x = na.to_backend(ROWS, backend)
    x = na.astype(x, graph.inputs[0].aval.dtype)

    def loss(v: na.Container) -> tuple[Any, Any]:
        out, _ = graph(x, v=v)
        return -na.mean(na.log(na.astype(out, na.float32)[:, 0])), out

    (before, out), gradients = na.value_and_grad(loss, has_aux=True)(graph.v)
    assert na.dtype_of(out) is of_output
    assert {na.dtype_of(x) for x in graph.v.leaves()} == {of_parameters}
    assert {na.dtype_of(x) for x in gradients.leaves()} == {of_parameters}
    after, _ = loss(graph.v - gradients * 0.5)
    assert float(after) < float(before)


def test_autocast_around_a_trace_casts_as_autocast_in_forward() -> None:
    net, x = Net(), torch.tensor(ROWS)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        around = na.trace_graph(net, x)
    inside = na.trace_graph(Net(torch.bfloat16), x)
    assert around.to_source(comments=False) == inside.to_source(comments=False)
    assert not torch.is_autocast_enabled("cpu")
    plain = na.trace_graph(net, x)
    assert "bfloat16" not in str(plain)
