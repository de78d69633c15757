"""Decoders of Flax, whose caches are state, generate in PyTorch what they generate in JAX."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen, nnx

import nestarray as na

VOCABULARY, LENGTH, STEPS = 20, 12, 6
PROMPT = [[3, 4, 5], [6, 7, 8]]
TOKEN = np.zeros((2, 1), "int32")


class Linen(linen.Module):
    @linen.compact
    def __call__(self, tokens, positions):
        x = linen.Embed(VOCABULARY, 16)(tokens) + linen.Embed(LENGTH, 16)(positions)
        x = x + linen.MultiHeadDotProductAttention(num_heads=2, decode=True)(linen.LayerNorm()(x))
        return linen.Dense(VOCABULARY)(linen.LayerNorm()(x))


class NNX(nnx.Module):
    def __init__(self, rngs):
        self.embed = nnx.Embed(VOCABULARY, 16, rngs=rngs)
        self.place = nnx.Embed(LENGTH, 16, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(num_heads=2, in_features=16, decode=True, rngs=rngs)
        self.head = nnx.Linear(16, VOCABULARY, rngs=rngs)
        self.attention.init_cache((2, LENGTH, 16))

    def __call__(self, tokens, positions):
        x = self.embed(tokens) + self.place(positions)
        return self.head(x + self.attention(x))


def linen_decoder():
    """The graph of a step, and the step of Flax."""
    net, whole = Linen(), jnp.zeros((2, LENGTH), int)
    variables = net.init(jax.random.key(0), whole, whole)
    graph = na.trace_graph(net, jnp.asarray(TOKEN), jnp.asarray(TOKEN), variables=variables)
    cache = variables["cache"]

    @jax.jit
    def apply(cache, token, positions):
        named = {"params": variables["params"], "cache": cache}
        logits, new = net.apply(named, token, positions, mutable=["cache"])
        return logits, new["cache"]

    def step(token, positions):
        nonlocal cache
        logits, cache = apply(cache, token, positions)
        return logits

    return graph, step


def nnx_decoder():
    """The graph of a step, and the step of Flax."""
    net = NNX(nnx.Rngs(0))
    graph = na.trace_graph(net, jnp.asarray(TOKEN), jnp.asarray(TOKEN))
    apply = nnx.jit(lambda net, token, positions: net(token, positions))
    return graph, functools.partial(apply, net)


@pytest.mark.full
@pytest.mark.parametrize("decoder", [linen_decoder, nnx_decoder])
def test_tokens_in_torch(decoder):
    graph, step_of_flax = decoder()
    tokens = jnp.asarray(PROMPT)
    for i in range(2 + STEPS):
        logits = step_of_flax(tokens[:, i : i + 1], jnp.full((2, 1), i))
        if i >= 2:
            tokens = jnp.concatenate([tokens, logits[:, -1].argmax(-1)[:, None]], axis=1)
    for backend in ("torch", "numpy"):
        moved = graph.to_backend(backend)

        def step(token, cache, positions, mask, moved=moved):
            return moved(token, positions, s=cache)

        prompt = na.to_backend(np.asarray(PROMPT, "int32"), backend)
        prefill = na.decoding.token_by_token(step)
        new = na.decoding.generate(step, moved.s, prompt, STEPS, prefill=prefill)
        assert na.to_backend(new, "numpy").tolist() == tokens[:, 3:].tolist()
