"""Ejected source has one class for modules of equal programs, and names for those that differ."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

import nestarray as na
from nestarray.exporters.source.tree.variable_names import snake
from tests.exporters.styles import STYLES, TARGETS

torch.manual_seed(0)


class Attention(torch.nn.Module):
    """Attention to the argument itself, or to a memory, with other weights."""

    def __init__(self, *, has_memory: bool) -> None:
        super().__init__()
        self.query = torch.nn.Linear(4, 4)
        self.key = torch.nn.Linear(4, 4)
        self.has_memory = has_memory

    def forward(self, x: torch.Tensor, memory: torch.Tensor | None = None) -> torch.Tensor:
        """(2, 3, 4) → (2, 3, 4)."""
        keys = self.key(x if memory is None else memory)
        scores = self.query(x) @ keys.transpose(1, 2)
        if self.has_memory:
            weights = torch.softmax(scores.clamp(max=2.0), 2)
        else:
            weights = torch.sigmoid(scores - 1.0) * torch.exp(scores)
        return weights @ keys


class Gate(torch.nn.Module):
    """A mixer with a parameter of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.rand(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(2, 3, 4) → (2, 3, 4)."""
        x = torch.tanh(x * self.scale) + x
        return torch.sin(x) * x


class Block(torch.nn.Module):
    """A normalization, a mixer and the residual sum."""

    def __init__(self, mixer: torch.nn.Module) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(4)
        self.mixer = mixer

    def forward(self, x: torch.Tensor, memory: torch.Tensor | None = None) -> torch.Tensor:
        """(2, 3, 4) → (2, 3, 4)."""
        given = () if memory is None else (memory,)
        return x + self.mixer(self.norm(x), *given)


class Stack(torch.nn.Module):
    """Blocks whose mixers differ."""

    def __init__(self, *mixers: torch.nn.Module) -> None:
        super().__init__()
        self.blocks = torch.nn.ModuleList(map(Block, mixers))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(2, 3, 4) → (2, 3, 4)."""
        for block in self.blocks:
            x = block(x)
        return x


class Model(torch.nn.Module):
    """Two stacks, and a block with a memory."""

    def __init__(self) -> None:
        super().__init__()
        self.first = Stack(Gate(), Attention(has_memory=False))
        self.second = Stack(Attention(has_memory=False), Gate(), Gate())
        self.last = Block(Attention(has_memory=True))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(2, 3, 4) → (2, 3, 4)."""
        return self.last(self.second(self.first(x)), x)


@pytest.mark.release("style")
@pytest.mark.parametrize("style", STYLES)
def test_other_programs_are_classes_named_by_the_difference(style: str, tmp_path: Path) -> None:
    graph = na.trace_graph(Model().eval(), torch.randn(2, 3, 4))
    ejected = graph.eject(tmp_path / "net", TARGETS[style], style=style)
    assert ejected.error < 1e-5
    text = (tmp_path / "net" / "model.py").read_text()
    names = {snake(name) for name in re.findall(r"(?m)^(?:class|def) (\w+)", text)}
    assert {
        "gate", "block", "attention", "block_with_attention", "stack", "stack_with_attention",
        "attention2", "block2", "model",
    } <= names  # fmt: skip


def test_lists_of_several_classes_are_loops() -> None:
    graph = na.trace_graph(Model().eval(), torch.randn(2, 3, 4))
    text = graph.to_source("torch", standalone=True)
    assert "self.blocks = nn.ModuleList([BlockWithAttention(), Block(), Block()])" in text
    assert "for block in self.blocks:" in text


class Row(torch.nn.Module):
    """A normalization, and mixers one after the other."""

    def __init__(self, *mixers: torch.nn.Module) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(4)
        self.mixers = torch.nn.ModuleList(mixers)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(2, 3, 4) → (2, 3, 4)."""
        x = self.norm(x)
        for mixer in self.mixers:
            x = mixer(x)
        return x


class Rows(torch.nn.Module):
    """Rows of one mixer each, of two classes, and a row of several mixers."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = Row(Gate()), Row(Attention(has_memory=True))
        self.third = Row(*(Attention(has_memory=True) for _ in range(3)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(2, 3, 4) → (2, 3, 4)."""
        return self.third(self.second(self.first(x)))


def test_lists_of_different_lengths_share_a_class(tmp_path: Path) -> None:
    torch.manual_seed(0)
    graph = na.trace_graph(Rows().eval(), torch.randn(2, 3, 4))
    assert graph.eject(tmp_path / "torch", "torch").error < 1e-6
    text = (tmp_path / "torch" / "model.py").read_text()
    assert "self.second = RowWithAttention(num_mixers=1)" in text
    assert "self.third = RowWithAttention(num_mixers=3)" in text
    assert graph.eject(tmp_path / "numpy", "numpy").error < 1e-6
    text = (tmp_path / "numpy" / "model.py").read_text()
    assert text.count("def row_with_attention(") == 1
    assert 'for mixer in params["mixers"]:' in text


class Stages(torch.nn.Module):
    """Sequences of blocks, the second with more of them."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Sequential(Gate(), Gate())
        self.second = torch.nn.Sequential(Gate(), Gate(), Gate())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(2, 3, 4) → (2, 3, 4)."""
        return self.second(self.first(x))


def test_sequences_of_different_lengths_are_written_where_they_are_made() -> None:
    text = na.trace_graph(Stages().eval(), torch.randn(2, 3, 4)).to_source("torch", standalone=True)
    assert "self.first = nn.Sequential(*[Gate() for _ in range(2)])" in text
    assert "self.second = nn.Sequential(*[Gate() for _ in range(3)])" in text
    assert text.count("class ") == 2


class Memory(torch.nn.Module):
    """Attention of one array to another one."""

    def __init__(self) -> None:
        super().__init__()
        self.query = torch.nn.Linear(4, 4)
        self.key = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
        """(2, 3, 4), (2, 3, 4) → (2, 3, 4)."""
        return torch.softmax(self.query(x) @ self.key(memory).transpose(1, 2), 2) @ memory


class Memories(torch.nn.Module):
    """Attention of an array to itself, and to another one."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = Memory(), Memory()

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """(2, 3, 4), (2, 3, 4) → (2, 3, 4)."""
        return self.second(self.first(x, x), y)


@pytest.mark.parametrize("target", ["torch", "numpy"])
def test_one_value_may_be_two_inputs(target: str, tmp_path: Path) -> None:
    graph = na.trace_graph(Memories().eval(), torch.randn(2, 3, 4), torch.randn(2, 3, 4))
    assert graph.eject(tmp_path / "net", target).error < 1e-6
    text = (tmp_path / "net" / "model.py").read_text()
    assert len(re.findall("class Memory|def memory", text)) == 1
    assert re.search(r"first\W.*x, x\)", text)


class Shortcut(torch.nn.Module):
    """A block whose argument may be projected."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, width)
        self.project = torch.nn.Sequential(torch.nn.Linear(4, width)) if width != 4 else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(2, 4) → (2, width)."""
        return torch.tanh(self.linear(x)) + (x if self.project is None else self.project(x))


def test_a_child_may_be_absent(tmp_path: Path) -> None:
    net = torch.nn.Sequential(Shortcut(4), Shortcut(5))
    ejected = na.trace_graph(net.eval(), torch.randn(2, 4)).eject(tmp_path / "net", "torch")
    assert ejected.error < 1e-6
    text = (tmp_path / "net" / "model.py").read_text()
    assert "self.project(x) if self.project is not None else x" in text
    assert "Shortcut(4), Shortcut(5, project=True)" in text


class Siamese(torch.nn.Module):
    """One module, which runs on two inputs, twice in a row, and after another call."""

    def __init__(self) -> None:
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), Gate())

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """(2, 3, 4), (2, 3, 4) → (2, 3, 4)."""
        x, y = self.net(x), self.net(y)
        return self.net(self.net(x - y) * 2 + self.net(self.net(y)))


def test_runs_of_one_module_are_calls(tmp_path: Path) -> None:
    graph = na.trace_graph(Siamese().eval(), torch.randn(2, 3, 4), torch.randn(2, 3, 4))
    ejected = graph.eject(tmp_path / "net", "torch")
    assert ejected.error < 1e-6
    text = (tmp_path / "net" / "model.py").read_text()
    assert "self.net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), Gate())" in text
    assert text.count("self.net(") == 6


class Shared(torch.nn.Module):
    """One module, which runs several times in a row."""

    def __init__(self) -> None:
        super().__init__()
        self.net = Gate()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(2, 3, 4) → (2, 3, 4)."""
        for _ in range(5):
            x = self.net(x)
        return x


@pytest.mark.parametrize(("target", "call"), [("torch", "self.net("), ("numpy", "gate(params[")])
def test_runs_of_one_module_in_a_row_are_a_loop(tmp_path: Path, target: str, call: str) -> None:
    torch.manual_seed(0)  # some numbers grow the rounding of each run by a factor of five
    ejected = na.trace_graph(Shared().eval(), torch.randn(2, 3, 4)).eject(tmp_path / "net", target)
    assert ejected.error < 1e-6
    text = (tmp_path / "net" / "model.py").read_text()
    assert "for _ in range(5):" in text
    assert text.count(call) == 1
