"""The public calls that a graph makes compute what the graph computes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray.exporters.source.recording.recorder import record
from tests.arrays import host
from tests.cases import Case, on_backend, rows
from tests.exporters.networks import NETWORKS, graph_of
from tests.exporters.replay import replay

_BACKENDS = ("jax", "torch", "tensorflow", "numpy")


def _loss(output: Any) -> Any:
    """A weighted sum of all results."""
    arrays = [x for x in na.tree.leaves(output) if hasattr(x, "dtype")]
    return sum(na.sum(na.sin(x) * na.cos(na.astype(x, na.float32))) for x in arrays)


def _gradients(function: Any, v: Any) -> Any:
    gradients = na.grad(lambda v: _loss(function(v)))
    return na.jit(gradients)(v) if na.backend_of(v) != "torch" else gradients(v)


@pytest.mark.one_in(32)
@pytest.mark.parametrize("backend", _BACKENDS)
@pytest.mark.parametrize("name", NETWORKS)
def test_values_and_gradients_are_those_of_the_graph(name: str, backend: str) -> None:
    graph, inputs = graph_of(name, backend)
    flat = graph.bind((), inputs)
    recording = record(graph, flat, has_statements=False)
    others = {"s": graph.s, "constants": graph.constants}

    def by_records(v: Any) -> Any:
        return replay(recording, flat, {"v": v, **others})[0]

    got, want = by_records(graph.v), graph(**inputs)
    # leaves of a dict are in the order of its keys, leaves of a Container as they were inserted
    got, want = (na.Container(output=nest) for nest in (got, want))
    for x, y in zip(got.leaves(), want.leaves(), strict=True):
        np.testing.assert_allclose(host(x), host(y), rtol=2e-5, atol=2e-5)
    if backend == "numpy":
        return
    got = _gradients(by_records, graph.v)
    want = _gradients(lambda v: graph(**inputs, v=v), graph.v)
    for path, x in want.flat_items():
        scale = np.abs(host(x)).max() + 1e-3
        np.testing.assert_allclose(host(got[path]) / scale, host(x) / scale, atol=2e-4)


@pytest.mark.one_in(12)
@pytest.mark.parametrize("backend", _BACKENDS)
@pytest.mark.parametrize("name", NETWORKS)
def test_there_is_about_one_call_for_each_call_of_the_graph(name: str, backend: str) -> None:
    graph, inputs = graph_of(name, backend)
    calls = record(graph, graph.bind((), inputs), has_statements=False).calls
    assert len(calls) <= 1.2 * len(list(graph.calls)), Counter(c.target for c in calls)


#: Ops with a public form of their own, or that write in place.
_OPS = frozenset(
    [
        "avg_pool2d",
        "batch_norm",
        "celu",
        "clip",
        "conv1d",
        "conv2d",
        "conv_transpose1d",
        "conv_transpose2d",
        "elu",
        "embedding",
        "gelu",
        "glu",
        "group_norm",
        "hard_sigmoid",
        "hard_swish",
        "interpolate",
        "layer_norm",
        "leaky_relu",
        "linear",
        "log_softmax",
        "max_pool2d",
        "one_hot",
        "relu",
        "relu6",
        "rms_norm",
        "scatter_nd",
        "selu",
        "setitem",
        "sigmoid",
        "silu",
        "softmax",
        "softplus",
        "take_along_axis",
        "var",
    ]
)


@pytest.mark.one_in(16)
@pytest.mark.parametrize(
    ("case", "backend"),
    [row for row in rows(one_an_op=True) if row.values[0].op in _OPS and row.values[0].jit],
)
def test_an_op_by_its_records(case: Case, backend: str) -> None:
    args, kwargs = on_backend(case.draw("float32"), backend)
    first, *rest = args
    graph = na.trace_graph(lambda x: case.record.function(x, *rest, **kwargs), first)
    want = graph(first)
    got, _ = replay(
        record(graph, [first], has_statements=False),
        [first],
        {"v": {}, "s": {}, "constants": graph.constants},
    )
    for x, y in zip(na.tree.leaves(got), na.tree.leaves(want), strict=True):
        np.testing.assert_allclose(host(x), host(y), rtol=1e-4, atol=1e-5)


def test_constants_of_a_backend_are_of_no_recording() -> None:
    words = np.arange(4, dtype=np.uint32)
    graph = na.trace_graph(na.philox4x32, words[:2], words, words, words, words)
    first, second = (graph.to_source("numpy", standalone=True) for _ in range(2))
    assert first == second
