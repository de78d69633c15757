"""Converted networks compute on a GPU what their source computes on the CPU, with gradients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
import pytest
import torch

import nestarray as na
from nestarray import backends
from nestarray.testing import assert_close
from tests.arrays import host
from tests.exporters.networks import LOOPS, NETWORKS

pytestmark = pytest.mark.usefixtures("x64")

ALL = {**NETWORKS, **{name: LOOPS[name] for name in ("lstm", "gru", "branch")}}


def built(name: str) -> tuple[torch.nn.Module, dict[str, Any]]:
    """A network and its inputs in float64, where rounding differs little between devices."""
    net, inputs = ALL[name]()
    return net.double(), {k: x.double() if x.is_floating_point() else x for k, x in inputs.items()}


def flat(outputs: Any) -> list[np.ndarray]:
    """The arrays of a nest on the host."""
    return [host(x) for x in na.tree.leaves(outputs) if backends.is_array(x)]


def close(found: Any, expected: Any, *, tolerance: float = 1e-7) -> None:
    """Equal up to rounding: sums have other orders on a GPU."""
    for x, y in zip(flat(found), flat(expected), strict=True):
        scale = float(np.abs(y).max(initial=1e-6))
        assert_close(x / scale, y / scale, rtol=0, atol=tolerance, reason="orders of sums")


def placed(values: Mapping[str, Any], backend: str) -> dict[str, Any]:
    """Arrays of torch on the GPU of a backend."""
    return {k: na.to_backend(x, backend, device="gpu") for k, x in values.items()}


def on_gpu(nest: Any) -> bool:
    leaves = [x for x in na.tree.leaves(nest) if backends.is_array(x)]
    names = {backends.core(na.backend_of(x)).device_of(x).partition(":")[0] for x in leaves}
    return names <= {"cuda", "gpu"}


def gradients(graph: Any, inputs: Mapping[str, Any]) -> Any:
    def loss(v: Any) -> Any:
        out = graph(**inputs, v=v)
        return sum(na.sum(x * x) for x in na.tree.leaves(out) if na.dtype_of(x).is_floating)

    return na.execute_with_gradients(loss, graph.v)[1]


@pytest.mark.parametrize("traced_on", ["cpu", "cuda"])
@pytest.mark.parametrize("backend", ["torch", "jax"])
@pytest.mark.parametrize("name", list(ALL))
def test_outputs_and_gradients(name: str, backend: str, traced_on: str) -> None:
    net, inputs = built(name)
    host_graph = na.trace_graph(net, **inputs)
    expected, slopes = host_graph(**inputs), gradients(host_graph, inputs)
    source = {k: x.to(traced_on) for k, x in inputs.items()}
    graph = na.trace_graph(net.to(traced_on), **source).to_backend(backend, device="gpu")
    there = placed(inputs, backend)
    for program in (graph, graph.lower()):
        found = program(**there)
        assert on_gpu(found)
        close(found, expected)
    found = gradients(graph, there)
    assert on_gpu(found)
    close(found, slopes)


@pytest.mark.parametrize("name", ["resnet18", "bert", "lstm"])
def test_verify_on_the_gpu(name: str) -> None:
    net, inputs = built(name)
    inputs = {k: x.to("cuda") for k, x in inputs.items()}
    graph = na.trace_graph(net.to("cuda"), **inputs)
    for backend in ("torch", "jax"):
        report = graph.to_backend(backend).verify()
        assert report.ok, str(report)


@pytest.mark.parametrize("name", ["resnet18", "gpt2", "lstm"])
def test_compiled(name: str) -> None:
    net, inputs = built(name)
    graph = na.trace_graph(net, **inputs)
    expected = graph(**inputs)
    close(graph.to_backend("jax", device="gpu").compile()(**placed(inputs, "jax")), expected)
    if torch.__version__ >= "2.12":  # torch.compile reads calls of nestarray from then on
        compiled = graph.to_backend("torch", device="gpu").compile()
        close(compiled(**placed(inputs, "torch")), expected)


def test_open_sizes() -> None:
    net, inputs = built("gpt2")
    graph = na.trace_graph(net, **inputs, dynamic=True)
    longer = {k: torch.cat((x, x), dim=-1) for k, x in inputs.items()}
    expected = graph(**longer)
    for backend in ("torch", "jax"):
        there = graph.to_backend(backend, device="gpu")
        close(there(**placed(longer, backend)), expected)


def test_arrays_of_two_devices_raise_an_error_that_tells_the_remedy() -> None:
    net = torch.nn.Linear(2, 3)
    graph = na.trace_graph(net, torch.ones(4, 2))
    with pytest.raises(na.errors.ArgumentError, match=r'to_backend\("torch", device="cuda:0"\)'):
        graph(torch.ones(4, 2, device="cuda"))


@pytest.mark.parametrize("name", ["resnet18", "gpt2", "lstm"])
def test_torch_module(name: str) -> None:
    net, inputs = built(name)
    module = na.to_module(net, **inputs).to_torch_module()
    with torch.no_grad():
        expected = module(**inputs)
        found = module.to("cuda")(**placed(inputs, "torch"))
    assert on_gpu(found)
    close(found, expected)
    module.train()
    optimizer = torch.optim.SGD(module.parameters(), 0.01)
    loss = sum((x.float() ** 2).sum() for x in na.tree.leaves(module(**placed(inputs, "torch"))))
    loss.backward()
    optimizer.step()
    close(module.cpu().eval()(**inputs), module.to("cuda")(**placed(inputs, "torch")))


@pytest.mark.parametrize("name", ["resnet18", "gpt2"])
def test_flax_module(name: str) -> None:
    from flax import nnx

    net, inputs = built(name)
    expected = na.trace_graph(net, **inputs)(**inputs)
    module = na.to_module(net, **inputs).to_backend("jax").to_flax_module()
    there = placed(inputs, "jax")
    module.eval()
    found = module(**there)
    assert on_gpu(found)
    close(found, expected)
    state = nnx.state(module)
    assert {next(iter(x.devices())).platform for x in jax.tree.leaves(state)} == {"gpu"}


@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_a_module_of_nestarray_trains(backend: str) -> None:
    def trained(device: str) -> tuple[list[float], Any]:
        key = na.to_device(na.random.key(0, backend=backend), device)
        net = na.nn.Sequential(
            na.nn.Conv2d(1, 4, 3), na.nn.BatchNorm(4), na.nn.Lambda(na.relu), na.nn.Dropout(0.2)
        ).init(key)
        x = na.random.normal(na.random.key(1, backend=backend), (2, 1, 8, 8))
        x = na.to_device(x, device)
        optimizer = na.nn.SGD(1e-2)
        v, s = net.v, net.s
        state = optimizer.init(v)
        losses = []
        for i in range(3):

            def loss(v: Any, s: Any = s, i: int = i) -> Any:
                out, new = net(x, v=v, s=s, train=True, key=na.random.fold_in(key, i))
                return na.mean(out * out), new

            (value, s), slopes = na.execute_with_gradients(loss, v, has_aux=True)
            v, state = optimizer.step(v, slopes, state)
            losses.append(float(host(value)))
        return losses, v

    expected, v = trained("cpu")
    found, there = trained("gpu")
    assert on_gpu(there)
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    close(there, v, tolerance=1e-5)  # float32
