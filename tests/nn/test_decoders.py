"""Decoders: equal to Llama, with a cache as without, and generation on every backend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import transformers

import nestarray as na
from nestarray import nn
from nestarray.testing import assert_close

TOKENS = np.random.default_rng(0).integers(0, 11, (2, 6))


class Decoder(nn.Module):
    """A small language model with the paths of Llama."""

    def __init__(self, layers: int = 3, **settings: Any) -> None:
        rotary = nn.RotaryEmbedding(4)
        attention = nn.GroupedQueryAttention(8, 2, 1, bias=False, positions=rotary, **settings)
        block = nn.CausalBlock(
            attention, nn.GatedMLP(8, 12), nn.RMSNorm(8, 1e-6), nn.RMSNorm(8, 1e-6)
        )
        self.embed_tokens = nn.Embedding(11, 8)
        self.stack = nn.CausalTransformer(block, layers, nn.RMSNorm(8, 1e-6))
        self.lm_head = nn.Linear(8, 11, False)

    def forward(
        self, tokens: Any, cache: Any = None, positions: Any = None, mask: Any = None
    ) -> Any:
        x = self.embed_tokens(tokens)
        if cache is None:
            return self.lm_head(self.stack(x))
        x, cache = self.stack(x, mask, positions=positions, cache=cache)
        return self.lm_head(x), cache


def decoder(backend: str) -> Decoder:
    net = Decoder().init(na.random.key(1))
    return net.with_variables(net.v * 2.0).to_backend(backend)


def test_the_model_of_transformers() -> None:
    config = transformers.LlamaConfig(
        vocab_size=11, hidden_size=8, intermediate_size=12, num_hidden_layers=3,
        num_attention_heads=2, num_key_value_heads=1,
    )  # fmt: skip
    torch.manual_seed(0)
    twin = transformers.LlamaForCausalLM(config).eval()
    tree = na.Container.from_torch_module(twin)
    layers = [tree["model/layers"][str(i)] for i in range(3)]
    v = na.Container(
        embed_tokens=tree["model/embed_tokens"],
        stack={
            "layers": na.tree.map(lambda *x: na.stack(x), *layers),
            "norm": tree["model/norm"],
        },
        lm_head=tree["lm_head"],
    )
    logits = Decoder().with_variables(v)(torch.from_numpy(TOKENS))
    assert_close(logits, twin(torch.from_numpy(TOKENS)).logits)


def test_generation_is_the_full_forward(backend: str) -> None:
    net = decoder(backend)
    prompt = na.to_backend(TOKENS[:, :3], backend)
    tokens = prompt
    for _ in range(4):
        token = na.argmax(net(tokens)[:, -1], axis=-1)
        tokens = na.concat([tokens, na.astype(token, prompt.dtype)[:, None]], axis=1)

    def run(prompt: Any) -> Any:
        return na.decoding.generate(net, net.stack.init_cache(2, 7, like=prompt), prompt, 4)

    run = na.jit(run) if backend in ("jax", "tensorflow") else run
    assert_close(run(prompt), tokens[:, 3:])


class FullCache(Decoder):
    """Attention in a window, by a mask over a cache of all tokens."""

    def forward(self, tokens: Any, cache: Any, positions: Any, mask: Any) -> Any:
        places = cache["length"].reshape(-1)[0] + np.arange(tokens.shape[1])
        keys = np.arange(cache["keys"].shape[-2])
        near = places[:, None] - keys < 3
        mask = near if mask is None else near & (mask[:, None, None] > 0)
        return super().forward(tokens, cache, positions, mask)


@pytest.mark.parametrize("length", [1, 2, 3, 7])
def test_generation_beyond_a_window(length: int, backend: str) -> None:
    net = Decoder(window=3).init(na.random.key(1))
    net = net.with_variables(net.v * 2.0)
    full = FullCache().with_variables(net.v)
    prompt = np.resize(TOKENS, (2, length))
    mask = np.ones((2, length), int)
    mask[1, : length // 3] = 0
    expected = na.decoding.generate(
        full, full.stack.init_cache(2, length + 9), prompt, 9, mask=mask
    )

    def run(prompt: Any, mask: Any) -> Any:
        cache = net.stack.init_cache(2, 20, like=prompt)
        assert tuple(cache["keys"].shape) == (2, 3, 1, 3, 4)  # batch, layers, heads, window, dim
        return na.decoding.generate(net, cache, prompt, 9, mask=mask)

    net = net.to_backend(backend)
    run = na.jit(run) if backend in ("jax", "tensorflow") else run
    tokens = run(na.to_backend(prompt, backend), na.to_backend(mask, backend))
    np.testing.assert_array_equal(na.to_backend(tokens, "numpy"), expected)
    whole = np.concatenate([prompt, expected], axis=1)[:1]  # the row without padding
    logits = net(na.to_backend(whole, backend))
    likeliest = na.to_backend(na.argmax(logits, axis=-1), "numpy")
    np.testing.assert_array_equal(likeliest[:, length - 1 : -1], expected[:1])


def test_generation_after_padding_and_by_beams() -> None:
    net = decoder("numpy")
    prompt, mask = TOKENS[:, :4].copy(), np.ones((2, 4), int)
    mask[1, :2] = prompt[1, :2] = 0
    for beams in (1, 3):
        cache = net.stack.init_cache(2 * beams, 8)
        both = na.decoding.generate(net, cache, prompt, 4, mask=mask, beams=beams)
        cache = net.stack.init_cache(beams, 6)
        alone = na.decoding.generate(net, cache, prompt[1:, 2:], 4, beams=beams)
        np.testing.assert_array_equal(both[1:], alone)


def test_the_initial_values_of_the_layers_differ() -> None:
    weight = Decoder().init(na.random.key(0)).v["stack/layers/mlp/up_proj/weight"]
    assert weight.shape == (3, 12, 8)
    assert len({row.tobytes() for row in weight}) == 3


def test_layers_drop_different_places() -> None:
    class Dropping(nn.Module):
        def __init__(self) -> None:
            self.drop = nn.Dropout(0.5)

        def forward(self, x: Any, mask: Any, *, positions: Any, cache: Any) -> Any:
            return self.drop(x)

    net = nn.CausalTransformer(Dropping(), 8).init(na.random.key(0))
    out, _ = net(np.ones((1, 40, 40), "f4"), train=True, key=na.random.key(1))
    assert set(np.unique(out)) == {0.0, 256.0}
    assert np.count_nonzero(out) < 40


def test_a_checkpoint_of_a_stack_has_its_gradients() -> None:
    class Checkpointed(Decoder):
        def forward(self, tokens: Any) -> Any:
            return self.lm_head(na.checkpoint(self.stack)(self.embed_tokens(tokens)))

    net = decoder("jax")
    tokens = na.to_backend(TOKENS, "jax")
    expected = na.grad(lambda v: na.mean(net(tokens, v=v) ** 2))(net.v)
    assert_close(na.grad(lambda v: na.mean(Checkpointed()(tokens, v=v) ** 2))(net.v), expected)
