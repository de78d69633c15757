"""A deployment file is open where the graph is: it refuses other sizes, or is right there."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import nestarray as na
from nestarray.errors import ConversionError
from nestarray.exporters.export import FORMATS, Example


def _halved(x: torch.Tensor) -> torch.Tensor:
    return x[:, : int(x.shape[1] * 0.5)] * 2


def _branched(x: torch.Tensor) -> torch.Tensor:
    return x * 2 if x.shape[1] > 5 else x + 1


def _rest(x: torch.Tensor) -> torch.Tensor:
    return x.sum(1) if x.shape[1] % 3 == 2 else x.amax(1)


def _in_pairs(x: torch.Tensor) -> torch.Tensor:
    return x.view(x.shape[0], -1, 2).sum(2)


def _windows(x: torch.Tensor) -> torch.Tensor:
    pad = (4 - x.shape[1] % 4) % 4
    return torch.nn.functional.pad(x, (0, pad)).view(x.shape[0], -1, 4).amax(2)


def _third(x: torch.Tensor) -> torch.Tensor:
    return x[:, : x.shape[1] // 3 + 1].cumsum(1)


PROGRAMS: list[Callable[[torch.Tensor], torch.Tensor]] = [
    _halved, _branched, _rest, _in_pairs, _windows, _third,
]  # fmt: skip


def _example(length: int) -> Example:
    x = np.arange(2.0 * length, dtype="float32").reshape(2, length)
    return Example((x,), {}, {"x": x})


def _refusal(graph: na.Graph, path: Path, format: str) -> str:
    """Export a graph; the error, if there is one."""
    try:
        graph.export(path, format=format)
    except ConversionError as error:
        return str(error)
    return ""


@pytest.mark.one_in(12)
@pytest.mark.parametrize("format", ["torch", "onnx", "stablehlo", "savedmodel", "tflite"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__[1:])
def test_a_file_refuses_or_is_right(
    program: Callable[[torch.Tensor], torch.Tensor], format: str, tmp_path: Path
) -> None:
    graph = na.trace_graph(program, torch.ones(2, 8), dynamic={"x": {1: "n"}})
    path = tmp_path / f"program{FORMATS[format].suffix}"
    refusal = _refusal(graph, path, format)
    if refusal:
        assert "dynamic=" in refusal
        assert not path.exists()
        return
    file = importlib.import_module(f"nestarray.exporters.{FORMATS[format].file}")
    run = functools.partial(getattr(file, f"run_{format}"), path)
    accepted = []
    for length in range(3, 13):
        try:
            outputs: dict[str, Any] = run(_example(length))
        except Exception:  # of a runtime: it refuses these sizes
            continue
        accepted.append(length)
        (found,) = outputs.values()
        expected = program(torch.as_tensor(_example(length).args[0]))
        np.testing.assert_allclose(found, expected, rtol=1e-6, err_msg=f"length {length}")
    assert 8 in accepted
