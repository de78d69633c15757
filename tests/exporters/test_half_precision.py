"""Files and source in half precision are compared up to its rounding errors."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
import torch

import nestarray as na
from nestarray import errors
from nestarray.exporters.export import (
    Example,
    accepted_error,
    difference,
    example_of,
    named_outputs,
)
from nestarray.graph.precision import HALF, in_dtypes


def test_files_of_half_precision_round_as_the_graph_does(tmp_path: Path) -> None:
    torch.manual_seed(0)
    parts = [(torch.nn.Linear(64, 64), torch.nn.LayerNorm(64), torch.nn.GELU()) for _ in range(6)]
    net = torch.nn.Sequential(*itertools.chain(*parts)).half()
    graph = na.trace_graph(net, torch.randn(4, 64).half())
    found = graph.export(tmp_path / "net.stablehlo").error
    source = graph.eject(tmp_path / "net", "jax").error
    (x,), _ = example_of(graph).on("torch")
    half, single = graph(x), in_dtypes(graph, HALF)(x.float())
    rounding = float((half.float() - single).abs().max() / single.abs().max())
    assert 1e-3 < found <= 2 * rounding
    assert source <= 2 * rounding
    outputs = {"output": half}, {"output": half.numpy() * 1.02}
    with pytest.raises(errors.ConversionError, match="the file differs by"):
        difference("export", "net", "file", 2 * rounding, *outputs)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_overflow_accepts_no_more_than_rounding(dtype: torch.dtype) -> None:
    graph = na.trace_graph(lambda x: torch.exp(x * 20.0), torch.ones(3, dtype=dtype))
    accepted = accepted_error(graph, example_of(graph), _outputs)
    assert accepted == (1e-2 if dtype == torch.float16 else 1e-3)


def _outputs(graph: na.graph.Graph, example: Example) -> dict[str, torch.Tensor]:
    args, kwargs = example.on("torch")
    return named_outputs(graph(*args, **kwargs))
