"""Real model types of `transformers`: outputs and gradients equal torch's on every backend."""

from __future__ import annotations

import pytest

import nestarray as na
from tests import models

_ALWAYS = ("bert", "gpt2", "resnet", "t5")


def _names():
    return [n if n in _ALWAYS else pytest.param(n, marks=pytest.mark.full) for n in models.NAMES]


@pytest.mark.parametrize("name", _names())
def test_outputs_and_gradients(name):
    module, inputs = models.build(name)
    graph = na.trace_graph(module, **inputs)
    for backend in ("jax", "tensorflow", "numpy"):
        report = graph.to_backend(backend).verify(rtol=1e-4, gradient_rtol=1e-3)
        assert report.ok, str(report)
        assert report.outputs
        if backend != "numpy":
            assert len(report.gradients) == len(graph.v.leaves())


@pytest.mark.full
@pytest.mark.parametrize("name", models.NAMES)
def test_outputs_in_double_precision(name, x64):
    module, inputs = models.build(name)
    inputs = {k: _double(x) for k, x in inputs.items()}
    graph = na.trace_graph(module.double(), **inputs)
    for backend in ("jax", "tensorflow", "numpy"):
        report = graph.to_backend(backend).verify(rtol=1e-10, gradients=False)
        assert report.ok, str(report)


def _double(x):
    return x.double() if hasattr(x, "is_floating_point") and x.is_floating_point() else x
