"""A PyTorch decoder generates text in JAX: the tokens of `model.generate`, and drawn ones.

The model is traced once, as a function of tokens and of its cache of keys and values. The length of
the tokens is open: `na.decoding.generate` reads the prompt with the graph, then each new token.

usage: python examples/text_generation.py
"""

from __future__ import annotations

import inspect
from typing import Any

import torch
from transformers import LlamaConfig, LlamaForCausalLM, StaticCache

import nestarray as na

#: The parameter and the output of a model that are its cache. Older releases of `transformers` say
#: `past_key_values`.
PARAMETERS = inspect.signature(LlamaForCausalLM.forward).parameters
CACHE = "cache" if "cache" in PARAMETERS else "past_key_values"


def decoder(model: Any, prompt: torch.Tensor, room: int) -> tuple[na.Graph, na.Container]:
    """The graph of a model of `transformers`, and an empty cache for `room` tokens."""
    cache = StaticCache(config=model.config, max_cache_len=room)
    with torch.no_grad():
        model(prompt, **{CACHE: cache})  # makes the arrays of the cache
    cache.reset()
    inputs = {"input_ids": prompt, CACHE: cache}
    graph = na.trace_graph(model, **inputs, dynamic={"input_ids": {1: "length"}})
    return graph, na.Container.from_torch_cache(cache)


def main(steps: int = 12) -> tuple[list[list[int]], list[list[int]], list[list[int]]]:
    """The likeliest tokens in PyTorch and in JAX, and drawn tokens in JAX."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=100,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        eos_token_id=None,
        initializer_range=0.3,  # with small weights, one token would follow every other
    )
    model = LlamaForCausalLM(config).eval()
    prompt = torch.randint(3, 100, (2, 5))
    graph, cache = (x.to_backend("jax") for x in decoder(model, prompt, 5 + steps))

    @na.jit
    def generate(v: na.Container, cache: na.Container, prompt: Any, key: Any = None) -> Any:
        def step(tokens: Any, cache: na.Container, positions: Any, mask: Any) -> tuple[Any, Any]:
            out = graph(**{"input_ids": tokens, CACHE: cache}, v=v)
            return out["logits"], out[CACHE]

        settings = {} if key is None else {"key": key, "temperature": 0.8, "top_p": 0.9}
        return na.decoding.generate(step, cache, prompt, steps, **settings)

    inputs = graph.v, cache, na.to_backend(prompt, "jax")
    likeliest = generate(*inputs)
    drawn = generate(*inputs, na.random.key(0, backend="jax"))
    native = model.generate(prompt, max_new_tokens=steps, do_sample=False)[:, 5:]
    return native.tolist(), likeliest.tolist(), drawn.tolist()


if __name__ == "__main__":
    for name, tokens in zip(("PyTorch", "JAX", "JAX, drawn"), main(), strict=True):
        print(f"{name}: {tokens}")
