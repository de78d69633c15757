"""Modules in upstream's style, on all targets: outputs, state and gradients."""

from __future__ import annotations

import pytest
import torch

import nestarray as na
from nestarray.config import BACKENDS
from tests.trials.torch_programs import TRIALS

TARGETS = [backend for backend in BACKENDS if backend != "torch"]


@pytest.mark.one_in(24)
@pytest.mark.parametrize("backend", TARGETS)
@pytest.mark.parametrize("name", TRIALS)
def test_module(name: str, backend: str) -> None:
    trial = TRIALS[name]
    inputs = trial.inputs()
    open_axes = {} if trial.dynamic is None else {"dynamic": trial.dynamic}
    graph = na.trace_graph(trial.build(), *inputs, **open_axes).to_backend(backend)
    graph.verify().raise_if_failed()
    if trial.dynamic is None:
        return
    for size in (1, 3):  # more of each open axis
        others = [_longer(x, axes, size) for x, axes in zip(inputs, trial.dynamic.values())]
        graph.verify(*others).raise_if_failed()


def _longer(x: torch.Tensor, axes: dict[int, str], by: int) -> torch.Tensor:
    """The array with `by` times two more elements along each open axis."""
    shape = [size + 2 * by if axis in axes else size for axis, size in enumerate(x.shape)]
    return torch.randn(*shape)
