"""Source of attention and transformers has the target's layers and functions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open

import nestarray as na
from tests.exporters.styles import TARGETS, needs_mlx


class Attention(torch.nn.Module):
    """Attention with and without weights, recurrent networks with states, and a cell."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = torch.nn.MultiheadAttention(4, 2, batch_first=True)
        self.cross = torch.nn.MultiheadAttention(4, 2, kdim=3, vdim=3, batch_first=True)
        self.recurrent = torch.nn.GRU(4, 3, batch_first=True)
        self.encoder = torch.nn.LSTM(4, 4)
        self.decoder = torch.nn.LSTM(4, 4)
        self.cell = torch.nn.LSTMCell(4, 4)

    def forward(self, x: torch.Tensor) -> Any:
        x = x + self.attention(x, x, x, need_weights=False)[0]
        y = self.recurrent(x)[0]
        y, weights = self.cross(x, y, y)
        ends = self.encoder(x)[1]
        y, (h, _) = self.decoder(y, ends)
        h, c = self.cell(h[0], (y[0], y[1]))
        return h + c, weights


class Causal(torch.nn.Module):
    """Attention to earlier positions, by the mask of PyTorch and by an own one."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.MultiheadAttention(4, 2, batch_first=True)
        self.second = torch.nn.MultiheadAttention(4, 2, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mask = torch.nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        own = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        y = self.first(x, x, x, attn_mask=mask, is_causal=True, need_weights=False)[0]
        return self.second(y, y, y, attn_mask=own, need_weights=False)[0]


@pytest.mark.full
def test_masked_attention_of_an_open_length_is_a_layer(tmp_path: Path) -> None:
    graph = na.trace_graph(Causal().eval(), torch.randn(2, 3, 4), dynamic={"x": {1: "length"}})
    assert graph.eject(tmp_path / "net", "torch").error < 1e-5
    text = re.sub(r"\s+", "", (tmp_path / "net" / "model.py").read_text())
    assert text.count("nn.MultiheadAttention(4,2,batch_first=True)") == 2
    assert "attn_mask=nn.Transformer.generate_square_subsequent_mask(x.shape[1])" in text
    assert "attn_mask=mask,need_weights=False" in text


class Banded(torch.nn.Module):
    """Attention to some positions, by masks that are attributes and arguments."""

    def __init__(self) -> None:
        super().__init__()
        self.mask = torch.ones(4, 4, dtype=torch.bool).triu(2)
        self.first = torch.nn.MultiheadAttention(4, 2, batch_first=True)
        self.second = torch.nn.MultiheadAttention(4, 2, batch_first=True)
        self.encoder = torch.nn.TransformerEncoderLayer(4, 2, 6, batch_first=True)
        self.decoder = torch.nn.TransformerDecoderLayer(4, 2, 6, batch_first=True)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Rows of a sequence."""
        causal = torch.ones(4, 4, dtype=torch.bool).triu(1)
        y = self.first(x, x, x, attn_mask=self.mask, need_weights=False)[0]
        y = self.second(y, y, y, attn_mask=causal, need_weights=False)[0]
        return self.decoder(self.encoder(y, src_mask=mask), x, tgt_mask=self.mask)


def test_attention_with_masks_of_booleans_is_a_layer(tmp_path: Path) -> None:
    mask = torch.ones(4, 4, dtype=torch.bool).triu(3)
    graph = na.trace_graph(Banded().eval(), torch.randn(2, 4, 4), mask)
    assert graph.eject(tmp_path / "net", "torch").error < 1e-5
    text = re.sub(r"\s+", "", (tmp_path / "net" / "model.py").read_text())
    assert text.count("class") == 1
    for call in (
        "self.first(x,x,x,attn_mask=self.constant,need_weights=False)",
        "attn_mask=nn.Transformer.generate_square_subsequent_mask(4),is_causal=True",
        "src_mask=mask",
        "tgt_mask=self.constant",
    ):
        assert call in text, text


@pytest.mark.parametrize("is_causal", [False, True])
def test_attention_of_heads_is_a_function_of_jax(is_causal: bool, tmp_path: Path) -> None:
    def attention(x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        h = x.unflatten(-1, (2, 2)).transpose(1, 2)
        attend = torch.nn.functional.scaled_dot_product_attention
        y = attend(h, h, h, mask, is_causal=is_causal, scale=0.3)
        return y.transpose(1, 2).flatten(2)

    graph = na.trace_graph(attention, torch.randn(2, 3, 4))
    assert graph.eject(tmp_path / "net", "jax").error < 1e-6
    text = (tmp_path / "net" / "model.py").read_text()
    own = "is_causal=True, " if is_causal else ""
    assert re.search(rf"jax.nn.dot_product_attention\(.*, {own}scale=0.3\)", text), text
    assert "swapaxes" not in text
    if not is_causal:  # a row of a mask may admit nothing, which gives zeros in PyTorch
        mask = torch.tensor([[True, False, True], [False, False, False], [True, True, True]])
        graph = na.trace_graph(attention, torch.randn(2, 3, 4), mask)
        assert graph.eject(tmp_path / "masked", "jax").error < 1e-6
        text = (tmp_path / "masked" / "model.py").read_text()
        assert "jax.nn.dot_product_attention" not in text


def test_transformers_of_torch() -> None:
    net = torch.nn.Transformer(8, 2, 2, 1, 12, 0.0, activation="gelu", batch_first=True).eval()
    mask = torch.nn.Transformer.generate_square_subsequent_mask(3)
    settings = {"tgt_mask": mask, "tgt_is_causal": True}
    x, y = torch.rand(2, 4, 8), torch.rand(2, 3, 8)
    text = na.trace_graph(lambda x, y: net(x, y, **settings), x, y).to_source(
        "torch", standalone=True
    )
    assert "MultiheadAttention" not in text
    assert (
        text.count("nn.TransformerEncoderLayer(") == text.count("nn.TransformerDecoderLayer(") == 1
    )


def test_dropout_of_a_transformer_stays_a_setting() -> None:
    layer = torch.nn.TransformerEncoderLayer(8, 2, 12, 0.3, norm_first=True, batch_first=True)
    net = torch.nn.Sequential(layer, torch.nn.Flatten(), torch.nn.Unflatten(1, (2, -1)))
    text = na.trace_graph(net, torch.rand(2, 3, 8), train=True).to_source("torch", standalone=True)
    settings = "8,2,12,dropout=0.3,batch_first=True,norm_first=True"
    assert f"nn.TransformerEncoderLayer({settings}" in re.sub(r"\s+", "", text)
    assert "nn.Flatten()" in text
    assert "nn.Unflatten(dim=1, unflattened_size=(2, 12))" in text


class Encoder(torch.nn.Module):
    """Attention, and a layer of a transformer."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)
        self.encoder = torch.nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.encoder(self.attention(x, x, x, need_weights=False)[0] + x)


@pytest.mark.full
def test_layers_of_transformers_have_open_sizes(tmp_path: Path) -> None:
    axes = {"x": {0: "batch", 1: "length"}}
    graph = na.trace_graph(Encoder().eval(), torch.rand(2, 3, 8), dynamic=axes)
    assert graph.eject(tmp_path / "net", "torch").error < 1e-6
    text = (tmp_path / "net" / "model.py").read_text()
    assert "self.attention = nn.MultiheadAttention(8, 2, batch_first=True)" in text
    assert "self.encoder = nn.TransformerEncoderLayer(8, 2, 16, " in text
    assert "class Encoder(nn.Module)" in text
    assert text.count("class ") == 1


@pytest.mark.full
def test_torch_layers_of_several_calls(tmp_path: Path) -> None:
    torch.manual_seed(0)
    net = Attention().eval()
    graph = na.trace_graph(net, torch.randn(2, 3, 4))
    assert graph.eject(tmp_path / "net", "torch").error < 1e-5
    text = (tmp_path / "net" / "model.py").read_text()
    assert text.count("class ") == 1
    for line in (
        "self.attention = nn.MultiheadAttention(4, 2, batch_first=True)",
        "self.cross = nn.MultiheadAttention(4, 2, batch_first=True, kdim=3, vdim=3)",
        "self.decoder = nn.LSTM(4, 4)",
        "self.attention(x, x, x, need_weights=False)[0]",
        ") = self.encoder(x)",
        "self.cell = nn.LSTMCell(4, 4)",
    ):
        assert line in text, text
    with safe_open(tmp_path / "net" / "weights.safetensors", "pt") as file:
        assert {*file.keys()} == {*net.state_dict()}


class Heads(torch.nn.Module):
    """Attention with and without a batch first, with and without weights."""

    def __init__(self) -> None:
        super().__init__()
        layer = torch.nn.TransformerEncoderLayer(8, 2, 12, batch_first=True)
        self.encoder = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.cross = torch.nn.MultiheadAttention(8, 2, batch_first=True)
        self.last = torch.nn.MultiheadAttention(8, 4)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> Any:
        x = self.encoder(x)
        x = x + self.cross(x, y, y, need_weights=False)[0]
        return self.last(x, x, x)[0]


_AXES = {"x": {0: "batch", 1: "length"}, "y": {0: "batch", 1: "keys"}}


@pytest.mark.parametrize("dynamic", [None, _AXES], ids=["fixed", "open"])
@pytest.mark.parametrize(
    "style", ["torch", "functional", "nnx", "module", "numpy", pytest.param("mlx", marks=needs_mlx)]
)
def test_attention_of_torch_splits_and_merges_heads(
    style: str, dynamic: Any, tmp_path: Path
) -> None:
    torch.manual_seed(0)
    x, y = torch.randn(2, 3, 8), torch.randn(2, 5, 8)
    graph = na.trace_graph(Heads().eval(), x=x, y=y, dynamic=dynamic)
    target = TARGETS.get(style, style)
    own = None if style == "numpy" else style
    assert graph.eject(tmp_path / "net", target, style=own).error < 1e-5
    text = (tmp_path / "net" / "model.py").read_text()
    assert not re.search(r"squeeze|expand_dims|swapaxes\(0|MultiheadAttention_2", text), text
    if style == "torch":
        assert "self.cross = nn.MultiheadAttention(8, 2, batch_first=True)" in text
    if style in ("functional", "nnx"):
        assert "jax.nn.dot_product_attention(" in text, text
    if style == "mlx":
        assert "mx.fast.scaled_dot_product_attention(" in text, text
    if style == "nnx":  # transposes of the batch do not separate the layers
        assert "nnx.List([TransformerEncoderLayer(rngs=rngs) for _ in range(2)])" in text


def test_transposes_are_one(tmp_path: Path) -> None:
    def arranged(x: torch.Tensor) -> Any:
        rows = x.reshape(2, 3, 4, 5).unsqueeze(0).transpose(0, 3).squeeze(3)
        return x.transpose(1, 2).transpose(2, 3), rows[1].flatten(1), x[..., 0].reshape(2, -1)

    x = torch.arange(120.0).reshape(2, 3, 4, 5)
    graph = na.trace_graph(arranged, x)
    for target in ("torch", "jax"):
        assert graph.eject(tmp_path / target, target).error == 0
    text = (tmp_path / "torch" / "model.py").read_text()
    assert "x.permute(0, 2, 3, 1)" in text, text
    assert "x[:, :, 1].reshape(2, 15)" in text, text


def test_heads_that_were_examples_are_merged_before_a_layer(tmp_path: Path) -> None:
    class Merged(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.dense = torch.nn.Linear(8, 8, bias=False)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            scores = torch.bmm(x, x.transpose(1, 2)).tanh()  # heads and examples are one axis
            y = torch.bmm(scores, x).reshape(2, 2, 3, 4)
            y = y.permute(0, 2, 1, 3).contiguous().view(2, 3, 8)
            return torch.nn.functional.linear(y, self.dense.weight).reshape(6, 8)

    graph = na.trace_graph(Merged(), torch.randn(4, 3, 4))
    for target in ("torch", "jax", "tensorflow"):
        assert graph.eject(tmp_path / target, target).error < 1e-6


def test_constant_masks_lose_their_first_axes(tmp_path: Path) -> None:
    def attended(x: torch.Tensor) -> torch.Tensor:
        mask = torch.tensor([[[[0.0, 1.0, -2.0], [0.5, 0.0, 3.0], [1.0, -1.0, 0.0]]]])
        return torch.nn.functional.scaled_dot_product_attention(x, x, x, attn_mask=mask)

    graph = na.trace_graph(attended, torch.randn(2, 2, 3, 4))
    for target in ("torch", "jax", "tensorflow"):
        assert graph.eject(tmp_path / target, target).error < 1e-6
