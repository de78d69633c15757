"""Functions of tensors are told apart without a run: code over torch is exported, over na recorded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import nestarray as na
from nestarray.importers.torch.selection import uses_torch

X = torch.ones(3)
FUNCTIONS = [torch.sin]


class Layers:
    """An object with a layer."""

    def __init__(self) -> None:
        self.net = torch.nn.Linear(3, 3)

    def encode(self, x: Any) -> Any:
        return self.net(x)


class Callable:
    """A function of torch as an object."""

    def __call__(self, x: Any) -> Any:
        return torch.sin(x)


class OverNa:
    """A method over na."""

    def encode(self, x: Any) -> Any:
        return na.sin(x)


LAYERS, OVER_NA = Layers(), OverNa()


def helper(x: Any) -> Any:
    return torch.exp(x)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.relu(),
        lambda x: na.relu(x).sum(),
        lambda x: x.size(0) * x,
        lambda x: FUNCTIONS[0](x),
        lambda x: [torch.relu(row) for row in x],
        lambda x: helper(x) + na.sin(x),
        lambda x: LAYERS.encode(x),
        lambda x: torch.nn.Linear(3, 3)(x),
        LAYERS.encode,
        Callable(),
        torch.sin,
        torch.Tensor.item,
        torch.nn.functional.gelu,
        torch.nn.Linear(3, 3).forward,
    ],
)
def test_code_over_torch(function: Any) -> None:
    assert uses_torch(function, ((X,), {}))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: na.relu(x) * 2,
        lambda x: na.relu(x) * X.sum(),
        lambda x: x * x.shape[0] + x.size,
        lambda x: na.astype(x, torch.float64),
        lambda x: isinstance(x, torch.Tensor),
        lambda x: na.Container(a=x).sum(),
        lambda x: na.vmap(lambda row: na.exp(row))(x),
        lambda x: np.sqrt(2) * x,
        OVER_NA.encode,
        lambda x: OVER_NA.encode(x),
        na.exp,
    ],
)
def test_code_over_na(function: Any) -> None:
    assert not uses_torch(function, ((X,), {}))


def test_methods_of_containers() -> None:
    assert not uses_torch(lambda c: c.sum(), ((na.Container(a=X),), {}))
    assert uses_torch(lambda x: x.sum(), ((X,), {}))


def test_user_code_runs_once() -> None:
    calls = []

    def function(x: Any) -> Any:
        calls.append(x)
        return na.exp(x)

    na.trace_graph(function, X)
    assert len(calls) == 1


def test_variables_of_a_closure_without_a_value() -> None:
    layer = torch.nn.Linear(3, 3)

    def function(x: Any) -> Any:
        return layer(x) if x.ndim else later(x)

    assert na.trace_graph(function, X).v.paths() == ("layer/weight", "layer/bias")
    later = torch.sin
    assert later(X).shape == X.shape
