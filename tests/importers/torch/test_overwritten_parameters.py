"""Trained parameters that forward overwrites; `rows.py` has the ways to write."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import nestarray as na
from nestarray import errors
from tests.arrays import host, on

BACKENDS = ["numpy", "jax", "torch", "tensorflow"]


class Projected(nn.Module):
    """Rows of unit length, and a normalization with running statistics."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.fc, self.norm = nn.Linear(3, 3), nn.BatchNorm1d(3)

    def forward(self, x: Any) -> Any:
        with torch.no_grad():
            self.fc.weight.div_(self.fc.weight.norm(dim=1, keepdim=True))
        return self.norm(self.fc(x)).tanh()


@pytest.fixture
def x() -> torch.Tensor:
    return torch.randn(4, 3, generator=torch.Generator().manual_seed(0))


def _trained_by_torch(net: nn.Module, x: torch.Tensor) -> None:
    net.train()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    for _ in range(2):
        optimizer.zero_grad()
        net(x).square().sum().backward()
        optimizer.step()


@pytest.mark.one_in(12)
@pytest.mark.parametrize("kind", ["graph", "compiled", "module"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_two_steps_of_training(backend: str, kind: str, x: torch.Tensor) -> None:
    module = na.to_module(Projected(), x)
    graph = module.training_graph.to_backend(backend)
    v, s, own_x = graph.v, graph.s, on(backend, x.numpy())
    if kind == "module":
        layer = module.to_backend(backend)
        call: Any = lambda x, v, s: layer(x, v=v, s=s, train=True)  # noqa: E731
    elif kind == "compiled" and backend != "torch":
        call = graph.compile()
    else:
        call = graph

    def loss(v: Any, s: Any) -> Any:
        out, new = call(own_x, v=v, s=s)
        return na.sum(na.square(out)), new

    for _ in range(2):
        (_, new), grads = na.execute_with_gradients(lambda v, s=s: loss(v, s), v, has_aux=True)
        v, s = v.update(new).partition(*v.paths())
        v = v - 0.5 * grads
    net = Projected()
    _trained_by_torch(net, x)
    found = graph.to_torch_state_dict(v, s)
    assert found.keys() == net.state_dict().keys()
    for name, want in net.state_dict().items():
        np.testing.assert_allclose(
            host(found[name]), want.numpy(), rtol=1e-4, atol=1e-5, err_msg=name
        )


def test_two_calls_in_one_step_add_their_gradients(x: torch.Tensor) -> None:
    class Twice(na.nn.Module):
        def __init__(self, inner: Any) -> None:
            self.inner = inner

        def forward(self, x: Any) -> Any:
            return self.inner(self.inner(x))

    layer = Twice(na.to_module(Projected(), x)).init(na.random.key(0, backend="jax"))
    own_x = on("jax", x.numpy())
    grads = na.grad(lambda v: na.sum(na.square(layer(own_x, v=v, train=True)[0])))(layer.v)
    net = Projected().train()
    # PyTorch refuses the gradient of a call before the last write: torch.autograd does not see .data
    net.fc.weight.data /= net.fc.weight.data.norm(dim=1, keepdim=True)
    plain = lambda x: net.norm(net.fc(x)).tanh()  # noqa: E731
    plain(plain(x)).square().sum().backward()
    np.testing.assert_allclose(
        host(grads["inner/fc/weight"]), net.fc.weight.grad, rtol=1e-3, atol=1e-5
    )


@pytest.mark.parametrize("train", [False, True], ids=["eval", "train"])
def test_the_proof_compares_the_new_value(x: torch.Tensor, train: bool) -> None:
    report = na.trace_graph(Projected(), x, train=train).to_backend("numpy").verify()
    assert report.ok
    assert "fc/weight" in {row.name for row in report.state}
    assert {"fc/weight", "gradient of fc/weight"} <= {row.name for row in report.export}


def test_new_values_in_the_state_are_refused_with_the_remedy(x: torch.Tensor) -> None:
    module = na.to_module(Projected(), x)
    _, new = module.graph(x)
    text = r"v, s = v\.update\(s\)\.partition\(\*v\.paths\(\)\)$"
    with pytest.raises(errors.StructureError, match=rf"s has an unexpected 'fc/weight'.*{text}"):
        module.graph(x, s=new)
    with pytest.raises(errors.StructureError, match=rf"GraphModule: s: has 'fc/weight'.*{text}"):
        module(x, s=new)


def test_a_view_from_before_the_write_is_refused(x: torch.Tensor) -> None:
    class Stale(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(3, 3))

        def forward(self, x: Any) -> Any:
            row = self.weight[0]
            self.weight.data.mul_(0.5)
            return x * row

    message = (
        r"trace_graph: Stale overwrites its parameter 'weight' and then reads a view that was made "
        r"before \(test_overwritten_parameters\.py:\d+, aten\.mul\.Tensor\); make the view after"
    )
    with pytest.raises(errors.ConversionError, match=message):
        na.trace_graph(Stale(), x)


def test_a_write_with_a_gradient_is_refused_as_in_torch(x: torch.Tensor) -> None:
    class Recorded(Projected):
        def forward(self, x: Any) -> Any:
            self.fc.weight.mul_(0.5)
            return self.fc(x)

    with pytest.raises(errors.ConversionError, match="a leaf Variable that requires grad"):
        na.trace_graph(Recorded(), x)
