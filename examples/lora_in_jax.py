"""Low-rank adapters for a PyTorch model, trained in JAX with optax, merged and given back.

No line of the model is touched: its parameters are a Container, the adapters are another one
with two small matrices for each chosen path, and the loss adds their products on the way in.

usage: python examples/lora_in_jax.py
"""

from __future__ import annotations

from typing import Any

import jax
import optax
import torch
from transformers import GPT2Config, GPT2LMHeadModel

import nestarray as na


def adapters(weights: na.Container, rank: int, key: Any) -> na.Container:
    """For each matrix (m, n) of `weights` a random `a` (m, rank) and a `b` (rank, n) of zeros."""
    return na.Container(
        {
            path: {
                "a": 0.02 * na.random.normal(na.random.fold_in(key, path), (w.shape[0], rank)),
                "b": na.zeros((rank, w.shape[1]), like=w),
            }
            for path, w in weights.flat_items()
        }
    )


def merged(v: na.Container, lora: na.Container) -> na.Container:
    """`v` with the product of its adapter added to each matrix that has one."""
    for path, pair in lora.items():
        v = v.at[path].add(pair["a"] @ pair["b"])
    return v


def main(steps: int = 60) -> tuple[float, float]:
    """The losses before, in JAX, and after, in PyTorch."""
    torch.manual_seed(0)
    sizes = {"vocab_size": 64, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 16}
    config = GPT2Config(**sizes, bos_token_id=0, eos_token_id=0)
    net = GPT2LMHeadModel(config).eval()
    tokens = (torch.arange(4)[:, None] + 3 * torch.arange(16)) % 64  # counting in threes

    graph = na.trace_graph(net, input_ids=tokens, use_cache=False).to_backend("jax")
    ids = na.to_backend(tokens, "jax")
    lora = adapters(graph.v.select("**/c_*/weight"), 4, na.random.key(0, backend="jax"))

    def loss_fn(lora: na.Container) -> Any:
        logits = graph(input_ids=ids, v=merged(graph.v, lora))["logits"]
        return na.cross_entropy(logits[:, :-1], ids[:, 1:])

    optimizer = optax.adamw(3e-2)

    @jax.jit
    def step(lora: na.Container, state: Any) -> Any:
        grads = jax.grad(loss_fn)(lora)
        updates, state = optimizer.update(grads, state, lora)
        return optax.apply_updates(lora, updates), state

    before, state = float(loss_fn(lora)), optimizer.init(lora)
    for _ in range(steps):
        lora, state = step(lora, state)

    tuned = merged(graph.v, lora)
    print(graph.v.diff(tuned))  # only the chosen matrices changed
    net.load_state_dict(graph.to_torch_state_dict(tuned))
    with torch.no_grad():
        logits = net(input_ids=tokens).logits
    after = float(torch.nn.functional.cross_entropy(logits[:, :-1].mT, tokens[:, 1:]))
    print(f"{lora.count()} leaves, {lora.size} numbers trained: loss {before:.3f} -> {after:.3f}")
    return before, after


if __name__ == "__main__":
    main()
