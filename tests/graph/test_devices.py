"""New arrays of a graph are on the device of its arrays; torch's meta device stands for a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import nestarray as na
from nestarray.errors import ArgumentError
from nestarray.testing import assert_close


class Positions(torch.nn.Module):
    """An embedding of tokens plus their positions, which the program creates."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = torch.nn.Embedding(11, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(batch, length) → (batch, length, 4)."""
        return self.tokens(x) + torch.arange(x.shape[1])[:, None]


def created(x: Any) -> Any:
    """A sum with arrays of each kind of creation."""
    return x + na.arange(3) + na.zeros(3) + na.full((3,), 2.0) + na.eye(3)[0]


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_program_creates_arrays_on_its_device(dynamic: bool) -> None:
    tokens = torch.arange(10).reshape(2, 5)
    graph = na.trace_graph(Positions(), tokens, dynamic=dynamic)
    moved = graph.to_backend("torch", device="meta")
    assert {x.device.type for x in moved.v.leaves()} == {"meta"}
    for program in (moved, graph.lower().to_backend("torch", device="meta")):
        assert program(tokens.to("meta"), v=program.v).device.type == "meta"


def test_a_context_has_a_device() -> None:
    with na.use_backend("torch", device="meta"):
        made = (na.zeros(2), na.arange(3), na.asarray([1.0]), na.eye(2), na.random.key(0))
        assert {x.device.type for x in made} == {"meta"}
        assert na.to_backend(np.ones(2), "torch").device.type == "meta"
        assert na.zeros(2, device="cpu").device.type == "cpu"
        assert na.zeros(2, like=torch.ones(2)).device.type == "cpu"
        assert type(na.zeros(2, like=np.ones(2))) is np.ndarray
        with na.use_backend("torch"):
            assert na.zeros(2).device.type == "cpu"


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_compiled_code_reads_the_device_of_the_context(device: str) -> None:
    x = torch.ones(3, device=device)
    with na.use_backend("torch", device=device):
        expected = created(x)
        found = torch.compile(created, backend="eager", fullgraph=True)(x)
    assert found.device == expected.device == x.device
    if device == "cpu":
        assert_close(found, expected)


def test_a_module_moves_to_a_device() -> None:
    net = na.nn.Linear(2, 3).init(na.random.key(0, backend="torch"))
    assert {x.device.type for x in net.to_backend("torch", device="meta").v.leaves()} == {"meta"}


def test_variables_of_another_device_are_named() -> None:
    graph = na.trace_graph(torch.nn.Linear(2, 3), torch.ones(4, 2))
    message = (
        r"Linear: v\['weight'\]: got an array on cpu, but the first input is on meta; move the graph "
        r'with graph.to_backend\("torch", device="meta"\), or the inputs with na.to_device\(x, "cpu"\)'
    )
    with pytest.raises(ArgumentError, match=message):
        graph(torch.ones(4, 2, device="meta"))
