"""A decoder learns the characters of a license, and generates text with its cache.

Data, weights and generated characters come from one key, so all frameworks train the same network.

usage: python examples/character_transformer.py [--backend numpy | jax | torch | tensorflow]
"""

from __future__ import annotations

import argparse
import functools
from pathlib import Path
from typing import Any

import numpy as np

import nestarray as na
from nestarray import nn

TEXT = (Path(__file__).parent.parent / "LICENSE").read_text()
ALPHABET = sorted(set(TEXT))
BATCH, LENGTH = 16, 32


class CharacterModel(nn.Module):
    """Logits of the next character, and the cache of the characters read so far."""

    def __init__(self, size: int = 48, layers: int = 2) -> None:
        positions = nn.RotaryEmbedding(size // 4)
        attention = nn.GroupedQueryAttention(size, 4, 2, bias=False, positions=positions)
        norms = [nn.RMSNorm(size) for _ in range(3)]
        block = nn.CausalBlock(attention, nn.GatedMLP(size, 2 * size), *norms[:2])
        self.embedding = nn.Embedding(len(ALPHABET), size)
        self.decoder = nn.CausalTransformer(block, layers, norms[2])
        self.head = nn.Linear(size, len(ALPHABET))

    def forward(
        self, tokens: Any, cache: Any = None, positions: Any = None, mask: Any = None
    ) -> Any:
        """tokens: `(batch, length)`; returns `(batch, length, characters)`, with a cache also the next."""
        x = self.embedding(tokens)
        if cache is None:
            return self.head(self.decoder(x, mask))
        x, cache = self.decoder(x, mask, positions=positions, cache=cache)
        return self.head(x), cache


def encode(text: str, backend: str) -> Any:
    """The indices of characters, `(length,)`, int32."""
    return na.to_backend(np.asarray([ALPHABET.index(c) for c in text], "int32"), backend)


def excerpts(key: Any, text: Any) -> Any:
    """Random parts of a text, `(batch, length + 1)`."""
    starts = na.random.randint(key, (BATCH, 1), 0, text.shape[0] - LENGTH)
    return na.take(text, starts + na.arange(LENGTH + 1, dtype="int32", like=text), axis=0)


def continuation(net: CharacterModel, v: na.Container, prompt: str, length: int, key: Any) -> str:
    """Characters drawn after a prompt."""

    def generate(v: na.Container, tokens: Any, key: Any) -> Any:
        cache = net.decoder.init_cache(1, tokens.shape[1] + length, like=tokens)
        read = functools.partial(net, v=v)
        settings = {"key": key, "temperature": 0.7, "top_k": 10}
        return na.decoding.generate(read, cache, tokens, length, **settings)

    backend = na.backend_of(key)
    generate = generate if backend == "torch" else na.jit(generate)  # its compiler is slow
    tokens = generate(v, encode(prompt, backend)[None], key)
    return "".join(ALPHABET[i] for i in na.to_backend(tokens, "numpy")[0])


def main(backend: str = "jax", steps: int = 300) -> list[float]:
    """The loss of each step."""
    key = na.random.key(0, backend=backend)
    net = CharacterModel().init(na.random.fold_in(key, "weights"))

    def loss_fn(v: na.Container, text: Any, key: Any) -> Any:
        tokens = excerpts(key, text)
        return na.cross_entropy(net(tokens[:, :-1], v=v), tokens[:, 1:])

    schedule = nn.schedules.warmup(nn.schedules.cosine(0.01, steps=300), steps=10)
    optimizer = nn.AdamW(schedule, decay="**/weight")
    step = na.train_step(loss_fn, optimizer, compile=backend != "torch")  # its compiler is slow
    state, text = step.init(net.v, key=na.random.fold_in(key, "steps")), encode(TEXT, backend)
    losses = []
    for _ in range(steps):
        state, metrics = step(state, text)
        losses.append(float(metrics.loss))
    written = continuation(net, state["v"], "You may ", 60, na.random.fold_in(key, "text"))
    print(f"{backend}: loss {losses[0]:.4f} → {losses[-1]:.4f}\nYou may {written}")
    return losses


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", default="jax")
    main(**vars(parser.parse_args()))
