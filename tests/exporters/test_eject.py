"""Stand-alone source computes, differentiates and trains as the model, and reads as upstream's."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import nestarray as na
from nestarray.errors import ArgumentError, ConversionError, StorageError
from nestarray.exporters.export import example_of
from nestarray.exporters.source.eject import source_of
from tests.exporters.networks import NETWORKS

#: Run in a process in which nestarray cannot be imported: (folder, file of inputs).
_ALONE = """
import json, sys
sys.modules["nestarray"] = None
sys.path.insert(0, sys.argv[1])
import numpy as np
import torch
import model as source
model = source.load()
inputs = [torch.as_tensor(x) for x in np.load(sys.argv[2]).values()]
def leaves(x):
    items = x.values() if isinstance(x, dict) else x
    return [y for z in items for y in leaves(z)] if isinstance(x, (dict, list)) else [x]
def loss():
    return sum((x * x).sum() for x in leaves(model(*inputs)))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
first = loss()
first.backward()
found = {f"grad {k}": x.grad for k, x in model.named_parameters()}
optimizer.step()
found |= {"first": first.detach(), "second": loss().detach()}
np.savez(sys.argv[2], **{k: x.numpy() for k, x in found.items()})
"""


def _graph(name: str) -> tuple[torch.nn.Module, na.graph.Graph]:
    net, inputs = NETWORKS[name]()
    return net, na.trace_graph(net, **inputs)


def _loss(output: Any) -> Any:
    return sum((x * x).sum() for x in na.tree.leaves(output))


@pytest.mark.parametrize("name", NETWORKS)
def test_the_source_runs_and_trains_without_nestarray(name: str, tmp_path: Path) -> None:
    _, graph = _graph(name)
    graph.eject(tmp_path / "net", "torch")
    example = example_of(graph)
    np.savez(tmp_path / "inputs.npz", **example.flat)
    command = [sys.executable, "-c", _ALONE, str(tmp_path / "net"), str(tmp_path / "inputs.npz")]
    subprocess.run(command, check=True, env={"OMP_NUM_THREADS": "1", "PATH": ""})
    found = np.load(tmp_path / "inputs.npz")

    args, kwargs = example.on("torch")
    first, grads = na.value_and_grad(lambda v: _loss(graph(*args, v=v, **kwargs)))(graph.v)
    second = _loss(graph(*args, v=graph.v - 1e-3 * grads, **kwargs))
    np.testing.assert_allclose(found["first"], first, rtol=1e-4)
    np.testing.assert_allclose(found["second"], second, rtol=1e-4)
    variables = source_of(graph, "torch", "torch", example).variables
    for key, value in variables.items():
        if value.source == "v":
            want = grads[value.path]
            largest = max(1.0, float(abs(want).max()))
            np.testing.assert_allclose(found[f"grad {key}"], want, rtol=1e-3, atol=1e-4 * largest)


@pytest.mark.parametrize("name", NETWORKS)
def test_the_source_is_as_short_as_upstream(name: str) -> None:
    net, graph = _graph(name)
    kinds = {type(part) for part in net.modules()}
    kinds = {kind for kind in kinds if not kind.__module__.startswith("torch.")}
    upstream = sum(len(_code(inspect.getsource(kind))) for kind in kinds)
    text = graph.to_source("torch", standalone=True)
    classes = text[text.index("\nclass ") : text.index("\ndef load(")]
    assert len(_code(classes)) <= 1.5 * upstream


def _code(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def test_a_folder_is_replaced_only_when_asked(tmp_path: Path) -> None:
    _, graph = _graph("mlp")
    graph.eject(tmp_path / "net", "torch")
    with pytest.raises(StorageError, match="pass overwrite=True"):
        graph.eject(tmp_path / "net", "torch")
    assert graph.eject(tmp_path / "net", "torch", overwrite=True).error < 1e-6


def test_errors_name_the_argument(tmp_path: Path) -> None:
    net, graph = _graph("mlp")
    with pytest.raises(ArgumentError, match="target: got 'caffe', expected"):
        graph.eject(tmp_path / "net", "caffe")
    with pytest.raises(ArgumentError, match="style: got 'haiku' for torch, expected"):
        graph.eject(tmp_path / "net", "torch", style="haiku")
    training = na.trace_graph(net, torch.ones(4, 5), train=True)
    with pytest.raises(ArgumentError, match="the graph trains"):
        training.eject(tmp_path / "net", "torch")
    with pytest.raises(ArgumentError, match="with standalone=True"):
        graph.to_source("torch")
    assert not list(tmp_path.iterdir())


def test_a_program_with_a_loop_is_refused(tmp_path: Path) -> None:
    def function(x: Any) -> Any:
        return na.fori_loop(0, 3, lambda i, y: y * 2.0, x)

    graph = na.trace_graph(function, torch.ones(2))
    with pytest.raises(ConversionError, match="has a loop or a branch"):
        graph.eject(tmp_path / "net", "torch")
