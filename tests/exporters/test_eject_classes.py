"""Ejected source has one class for the modules of a class of the source, also where they differ."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

import nestarray as na
from tests.exporters.styles import TARGETS

torch.manual_seed(0)


class Attention(torch.nn.Module):
    """Attention to the argument itself, or to a memory; with a bias, or with a mask."""

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
@pytest.mark.parametrize("style", [*TARGETS])
def test_modules_that_differ_share_a_class(style: str, tmp_path: Path) -> None:
    graph = na.trace_graph(Model().eval(), torch.randn(2, 3, 4))
    ejected = graph.eject(tmp_path / "net", TARGETS[style], style=style)
    assert ejected.error < 1e-5
    text = (tmp_path / "net" / "model.py").read_text()
    has_functions = style in ("functional", "numpy")
    for name in ("Attention", "Gate", "Block", "Stack"):
        head = f"def {name.lower()}" if has_functions else f"class {name}"
        assert text.count(head) == 1
    if has_functions:
        assert "if is_gate" in text
        return
    assert "mixer=Gate()" in text or "mixer=Gate(rngs=rngs)" in text
    assert text.count("        else:\n") == 1


def test_branches_read_as_a_human_writes_them() -> None:
    graph = na.trace_graph(Model().eval(), torch.randn(2, 3, 4))
    text = graph.to_source("torch", standalone=True)
    assert "def __init__(self, mixer, is_gate=False):" in text
    assert "self.blocks = nn.ModuleList([*blocks])" in text
    assert "for block in self.blocks:" in text
    assert "y = x if y is None else y" in text
    assert "if self.is_last:" in text


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


def test_a_loop_of_functions_starts_with_the_value_of_a_module_without_its_calls(
    tmp_path: Path,
) -> None:
    graph = na.trace_graph(Rows().eval(), torch.randn(2, 3, 4))
    ejected = graph.eject(tmp_path / "net", "numpy")
    assert ejected.error < 1e-6
    text = (tmp_path / "net" / "model.py").read_text()
    assert text.count("def row(") == 1
    assert 'for mixer in params["mixers"][1:]:' in text


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


class Rotated(torch.nn.Module):
    """A product of two values, which may be rotated by one angle."""

    def __init__(self) -> None:
        super().__init__()
        self.query = torch.nn.Linear(4, 4)
        self.key = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, angle: torch.Tensor | None = None) -> torch.Tensor:
        """(2, 3, 4) → (2, 3, 3)."""
        query, key = torch.tanh(self.query(x)) * 2, torch.tanh(self.key(x))
        if angle is not None:
            cos, sin = torch.cos(angle), torch.sin(angle)
            query = query * cos + torch.cat([-query[..., 2:], query[..., :2]], 2) * sin
            key = key * cos + torch.cat([-key[..., 2:], key[..., :2]], 2) * sin
        return query @ key.transpose(1, 2) + key.sum()


class TwoRotated(torch.nn.Module):
    """With and without the angle."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = Rotated(), Rotated()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(2, 3, 4) → (2, 3, 3)."""
        return self.first(x) + self.second(x, x)


def test_values_of_a_branch_have_other_names_than_its_results(tmp_path: Path) -> None:
    graph = na.trace_graph(TwoRotated().eval(), torch.randn(2, 3, 4))
    ejected = graph.eject(tmp_path / "net", "torch")
    assert ejected.error < 1e-6
    text = (tmp_path / "net" / "model.py").read_text()
    assert text.count("class Rotated") == 1
    assert text.count("if self.use_cos:") == 1


class Tables(torch.nn.Module):
    """Two tables, of which one has a row without gradients."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.types = torch.nn.Embedding(5, 4, padding_idx=0), torch.nn.Embedding(3, 4)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """(2, 3) → (2, 3, 4)."""
        return self.words(ids) * self.types(ids)


def test_modules_of_one_step_share_a_class(tmp_path: Path) -> None:
    graph = na.trace_graph(Tables().eval(), torch.randint(3, (2, 3)))
    assert graph.eject(tmp_path / "net", "jax", style="equinox").error < 1e-6
    text = (tmp_path / "net" / "model.py").read_text()
    assert text.count("class Embedding") == 1
    assert "if self.is_words" in text


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


class Local(torch.nn.Module):
    """A mixer with a bias, which later ones of its kind get as an argument."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.rand(4))

    def mixed(self, x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        """(2, 3, 4) → (2, 3, 4)."""
        return torch.tanh(x * self.scale + bias) - torch.sin(x)

    def forward(
        self, x: torch.Tensor, bias: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """(2, 3, 4) → (2, 3, 4), and the bias."""
        bias = torch.exp(self.scale) if bias is None else bias
        return self.mixed(x, bias), bias


class Global(Local):
    """The same with another formula."""

    def mixed(self, x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        """(2, 3, 4) → (2, 3, 4)."""
        return torch.softmax(x + bias, 1) * self.scale + torch.cos(x)


class WithBias(torch.nn.Module):
    """A normalization and a mixer of two arguments and two results."""

    def __init__(self, mixer: torch.nn.Module) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(4)
        self.mixer = mixer

    def forward(
        self, x: torch.Tensor, bias: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """(2, 3, 4) → (2, 3, 4), and the bias."""
        y, bias = self.mixer(self.norm(x), bias)
        return x + y, bias


class Biased(torch.nn.Module):
    """Two pairs of blocks, whose mixers have two classes; each pair shares a bias."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.ModuleList([WithBias(Local()), WithBias(Local())])
        self.second = torch.nn.ModuleList([WithBias(Global()), WithBias(Global())])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(2, 3, 4) → (2, 3, 4)."""
        for blocks in (self.first, self.second):
            x, bias = blocks[0](x)
            x, _ = blocks[1](x, bias)
        return x


@pytest.mark.parametrize(("target", "style"), [("torch", "torch"), ("jax", "nnx")])
def test_one_step_calls_children_of_two_classes_with_several_arguments(
    tmp_path: Path, target: str, style: str
) -> None:
    graph = na.trace_graph(Biased(), torch.rand(2, 3, 4))
    text = (graph.eject(tmp_path / "net", target, style=style).path / "model.py").read_text()
    assert text.count("class WithBias") == 1
    assert "mixer=Global(" in text
    assert "h, h2 = self.mixer(self.norm(x), y)" in text


class Mask(torch.nn.Module):
    """A normalization after steps of two kinds, which share nothing."""

    def __init__(self, *, is_causal: bool) -> None:
        super().__init__()
        self.is_causal = is_causal
        self.norm = torch.nn.LayerNorm(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(2, 4, 4) → (2, 4, 4)."""
        if self.is_causal:
            x = torch.exp(torch.sin(torch.tril(x)))
        else:
            x = torch.tanh(torch.cos(torch.sigmoid(x)))
        return self.norm(x)


@pytest.mark.parametrize("style", ["torch", "functional"])
def test_modules_of_one_class_that_share_few_steps_share_a_class(
    style: str, tmp_path: Path
) -> None:
    net = torch.nn.Sequential(Mask(is_causal=True), Mask(is_causal=False))
    graph = na.trace_graph(net.eval(), torch.randn(2, 4, 4))
    assert graph.eject(tmp_path / "net", TARGETS[style], style=style).error < 1e-5
    text = (tmp_path / "net" / "model.py").read_text()
    assert len(re.findall(r"class Mask|def mask", text)) == 1
    assert text.count("    else:\n") == 1
