"""Real model types of `transformers`: outputs and gradients equal torch's on every backend."""

from __future__ import annotations

import pytest

import nestarray as na
from tests import models

_ALWAYS = ("bert", "gpt2", "t5")


def _names(names=models.NAMES):
    return [n if n in _ALWAYS else pytest.param(n, marks=pytest.mark.full) for n in names]


@pytest.mark.parametrize("name", _names())
def test_outputs_and_gradients(name):
    module, inputs = models.build(name)
    graph = na.trace_graph(module, **inputs)
    for backend in ("jax", "tensorflow", "numpy"):
        report = graph.to_backend(backend).verify(rtol=1e-4, gradient_rtol=1e-3)
        assert report.ok, str(report)
        assert report.outputs
        assert len(report.gradients) == len(graph.v.leaves())


@pytest.mark.full
@pytest.mark.parametrize("name", [n for n in models.NAMES if n not in models.FLOAT32_INSIDE])
def test_double_precision(name, x64):
    module, inputs = models.build_double(name)
    graph = na.trace_graph(module, **inputs)
    for backend in ("jax", "tensorflow", "numpy"):
        report = graph.to_backend(backend).verify(rtol=1e-10, gradient_rtol=1e-8)
        assert report.ok, str(report)
        assert len(report.gradients) == len(graph.v.leaves())
