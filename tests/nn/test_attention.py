"""Attention layers: equal to the attention of `transformers`, with a cache as without."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import transformers
from transformers.models.gemma2.modeling_gemma2 import Gemma2Attention
from transformers.models.gpt_oss.modeling_gpt_oss import GptOssAttention
from transformers.models.llama.modeling_llama import LlamaAttention
from transformers.models.qwen3.modeling_qwen3 import Qwen3Attention

import nestarray as na
from nestarray import nn
from nestarray.errors import ArgumentError
from nestarray.testing import assert_close

X = np.random.default_rng(0).normal(size=(2, 7, 16)).astype("float32")
SIZES = {
    "hidden_size": 16,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "attn_implementation": "eager",
}
ROTARY = nn.RotaryEmbedding(8)


def causal(length: int, window: int | None = None) -> torch.Tensor:
    """An additive mask."""
    distance = torch.arange(length)[:, None] - torch.arange(length)
    hidden = (distance < 0) | (distance >= (window or length))
    return torch.zeros(1, 1, length, length).masked_fill(hidden, -torch.inf)


def upstream(attention: torch.nn.Module, window: int | None = None) -> np.ndarray:
    """The result of an attention of `transformers`."""
    angles = torch.arange(7)[:, None] * torch.tensor(10000.0) ** (-torch.arange(0, 8, 2) / 8)
    angles = angles if isinstance(attention, GptOssAttention) else torch.cat([angles, angles], -1)
    waves = angles.cos()[None], angles.sin()[None]
    with torch.no_grad():
        return attention(torch.from_numpy(X), waves, causal(7, window))[0].numpy()


def filled(attention: torch.nn.Module) -> torch.nn.Module:
    """With parameters that are not constant, in evaluation mode."""
    torch.manual_seed(0)
    for parameter in attention.parameters():
        torch.nn.init.normal_(parameter, 0.1, 0.3)
    return attention.eval()


def llama() -> tuple[nn.Module, torch.nn.Module, int | None]:
    config = transformers.LlamaConfig(**SIZES)
    layer = nn.GroupedQueryAttention(16, 4, 2, 8, bias=False, positions=ROTARY)
    return layer, LlamaAttention(config, 0), None


def qwen() -> tuple[nn.Module, torch.nn.Module, int | None]:
    config = transformers.Qwen3Config(**SIZES, rms_norm_eps=1e-6)
    norms = {"q_norm": nn.RMSNorm(8, 1e-6), "k_norm": nn.RMSNorm(8, 1e-6)}
    layer = nn.GroupedQueryAttention(16, 4, 2, 8, bias=False, positions=ROTARY, **norms)
    return layer, Qwen3Attention(config, 0), None


def gemma() -> tuple[nn.Module, torch.nn.Module, int | None]:
    settings = {"query_pre_attn_scalar": 16, "attn_logit_softcapping": 2.0, "sliding_window": 3}
    config = transformers.Gemma2Config(**SIZES, **settings)
    layer = nn.GroupedQueryAttention(
        16, 4, 2, 8, bias=False, positions=ROTARY, scale=0.25, soft_cap=2.0, window=3
    )
    return layer, Gemma2Attention(config, 0), 3


def gpt_oss() -> tuple[nn.Module, torch.nn.Module, int | None]:
    config = transformers.GptOssConfig(**SIZES, sliding_window=3)
    layer = nn.GroupedQueryAttention(16, 4, 2, 8, positions=ROTARY, window=3, sinks=True)
    return layer, GptOssAttention(config, 0), 3


@pytest.mark.parametrize("model", [llama, qwen, gemma, gpt_oss])
def test_the_attention_of_transformers(model: Any) -> None:
    layer, twin, window = model()
    layer = layer.with_variables(na.Container.from_torch_module(filled(twin)))
    layer = layer.to_backend("numpy")
    assert_close(layer(X, is_causal=True), upstream(twin, window))


@pytest.mark.parametrize("model", [llama, gpt_oss])
def test_a_cache_continues(model: Any, backend: str) -> None:
    layer = model()[0].init(na.random.key(0, backend=backend))
    x = na.to_backend(X, backend)
    expected = layer(x, is_causal=True)
    out, cache = layer(x[:, :4], cache=layer.init_cache(2, 9, like=x))
    outs = [out]
    for i in range(4, 7):
        out, cache = layer(x[:, i : i + 1], cache=cache)
        outs.append(out)
    assert int(cache["length"]) == 7
    assert_close(na.concat(outs, axis=1), expected)


@pytest.mark.parametrize("parts", [(7,), (2, 5), (5, 2), (1,) * 7, (4, 1, 2)], ids=str)
def test_a_cache_of_a_window_in_parts(parts: tuple[int, ...], backend: str) -> None:
    settings = {"positions": nn.RotaryEmbedding(4), "relative_bias": nn.AlibiBias(4), "window": 3}
    layer = nn.GroupedQueryAttention(16, 4, 2, sinks=True, **settings)
    layer = layer.init(na.random.key(0, backend=backend))
    x = na.to_backend(X, backend)
    cache, outs, start = layer.init_cache(2, 9, like=x), [], 0
    for count in parts:
        out, cache = layer(x[:, start : start + count], cache=cache)
        outs.append(out)
        start += count
    assert_close(na.concat(outs, axis=1), layer(x, is_causal=True))
    assert tuple(cache["keys"].shape) == (2, 2, 3, 4)
    assert int(cache["length"]) == 7


def test_padding_before_a_prompt_changes_nothing() -> None:
    layer = nn.GroupedQueryAttention(
        16, 4, 2, positions=nn.RotaryEmbedding(4), relative_bias=nn.AlibiBias(4), sinks=True
    ).init(na.random.key(0))
    alone = layer(X[:, 2:], is_causal=True)
    mask = np.arange(9) >= 2
    positions = np.maximum(np.arange(7) - 2, 0)
    out, _ = layer(X, None, mask, positions=positions, cache=layer.init_cache(2, 9))
    assert_close(out[:, 2:], alone)


def test_one_group_for_each_head_is_multi_head_attention() -> None:
    both = nn.MultiHeadAttention(16, 4).init(na.random.key(0))
    weights = na.split(both.v["in_proj_weight"], 16)
    names = ("q_proj", "k_proj", "v_proj")
    v = na.Container(
        {name: {"weight": w, "bias": np.zeros(16, "f4")} for name, w in zip(names, weights)},
        o_proj=both.v["out_proj"],
    )
    layer = nn.GroupedQueryAttention(16, 4, 4).with_variables(v)
    assert_close(layer(X, X[:, :3]), both(X, X[:, :3]))


def test_a_window_without_causality_is_symmetric() -> None:
    layer = nn.GroupedQueryAttention(16, 2, 1, window=2).init(na.random.key(0))
    near = abs(np.arange(7)[:, None] - np.arange(7)) < 2
    free = nn.GroupedQueryAttention(16, 2, 1).with_variables(layer.v)
    assert_close(layer(X), free(X, mask=near))


def test_masks_of_keys_that_the_layer_appends() -> None:
    torch.manual_seed(0)
    settings = {"add_bias_kv": True, "add_zero_attn": True}
    twin = torch.nn.MultiheadAttention(16, 4, batch_first=True, **settings)
    layer = nn.MultiHeadAttention(16, 4, **settings)
    layer = layer.with_variables(na.Container.from_torch_module(twin)).to_backend("numpy")
    x, hidden = torch.from_numpy(X), torch.ones(7, 7, dtype=torch.bool).triu(1)
    expected = twin(x, x, x, attn_mask=hidden, need_weights=False)[0].detach().numpy()
    assert_close(layer(X, is_causal=True), expected)
    assert_close(layer(X, mask=~hidden.numpy()), expected)


def test_errors() -> None:
    with pytest.raises(
        ArgumentError, match="num_kv_heads: got 3, expected a divisor of num_heads=4"
    ):
        nn.GroupedQueryAttention(16, 4, 3)
    with pytest.raises(ArgumentError, match="num_heads: got 3, expected a divisor of embed_dim=16"):
        nn.GroupedQueryAttention(16, 3, 1)
    with pytest.raises(ArgumentError, match="window: got 0, expected a positive number"):
        nn.GroupedQueryAttention(16, 4, 2, window=0)
    with pytest.raises(ArgumentError, match="num_heads: got 3, expected a divisor of embed_dim=16"):
        nn.MultiHeadAttention(16, 3)
    layer = nn.GroupedQueryAttention(16, 4, 2).init(na.random.key(0))
    with pytest.raises(ArgumentError, match="source: got an array with a cache, expected None"):
        layer(X, X, cache=layer.init_cache(2, 7))
