"""Greedy text generation on another framework, token by token, with a cache.

A language model of `transformers` fills its cache in place. `Step` makes a function of it:
the cache comes in as a nest of tensors and goes out as a new one, so that one step can be
traced, moved and compiled. The prompt goes through the same step as what is generated.

usage: python examples/text_generation.py
"""

from __future__ import annotations

from typing import Any

import torch
from transformers import cache_utils

import nestarray as na

Cache = dict[str, Any]


class Step(torch.nn.Module):
    """(token, cache) → (logits of the next token, cache).

    Args:
        model: a causal language model, or a model with encoder and decoder.
        length: number of tokens for which the cache has room.
    """

    def __init__(self, model: torch.nn.Module, length: int) -> None:
        super().__init__()
        self.model, self.length = model, length

    def forward(
        self, token: torch.Tensor, cache: Cache, encoded: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, Cache]:
        """`token`: (batch, 1); `encoded`: what the encoder returned, (batch, tokens, channels)."""
        past = self._past(cache)
        if encoded is None:
            inputs = {"input_ids": token, "past_key_values": past} | self._places(cache["used"])
        else:  # keys and values of the encoder's output are computed anew, not cached
            both = cache_utils.EncoderDecoderCache(past, cache_utils.DynamicCache())
            inputs = {
                "decoder_input_ids": token,
                "encoder_outputs": (encoded,),
                "past_key_values": both,
            }
        logits = self.model(**inputs, use_cache=True).logits[:, -1]
        return logits, {
            "keys": [layer.keys for layer in past.layers],
            "values": [layer.values for layer in past.layers],
            "used": cache["used"] + 1,
        }

    def _past(self, cache: Cache) -> cache_utils.Cache:
        """The cache as the model takes it, which will write into copies."""
        past = cache_utils.Cache([cache_utils.StaticLayer(self.length) for _ in cache["keys"]])
        for layer, keys, values in zip(past.layers, cache["keys"], cache["values"], strict=True):
            layer.lazy_initialization(keys, values)
            layer.keys, layer.values = keys.clone(), values.clone()
            layer.cumulative_length = cache["used"].clone()
        return past

    def _places(self, used: torch.Tensor) -> dict[str, torch.Tensor]:
        """Where the token stands, for models that do not ask the cache."""
        import inspect

        names = inspect.signature(self.model.forward).parameters
        return {"position_ids": used[None, None]} if "position_ids" in names else {}

    def empty_cache(self, batch: int) -> Cache:
        """A cache of zeros, shaped like what the model itself caches for one token."""
        token = torch.zeros(batch, 1, dtype=torch.int64)
        with torch.no_grad():
            if self.model.config.is_encoder_decoder:
                found = self.model(input_ids=token, decoder_input_ids=token, use_cache=True)
                layers = found.past_key_values.self_attention_cache.layers
            else:
                layers = self.model(input_ids=token, use_cache=True).past_key_values.layers

        def empty(x: torch.Tensor) -> torch.Tensor:
            return x.new_zeros(batch, x.shape[1], self.length, x.shape[3])

        return {
            "keys": [empty(layer.keys) for layer in layers],
            "values": [empty(layer.values) for layer in layers],
            "used": torch.tensor(0),
        }


def generate(model: torch.nn.Module, tokens: torch.Tensor, count: int, backend: str) -> list:
    """`tokens` and the `count` likeliest next ones, computed on `backend`.

    Args:
        model: a model of `transformers` in evaluation mode.
        tokens: the prompt, (batch, tokens); the encoder's input where there is an encoder.
        count: number of tokens to add.
        backend: a framework that compiles, such as "jax".

    Returns:
        the tokens of each row; those of the decoder, where there is an encoder.
    """
    encoded: tuple[Any, ...] = ()
    if model.config.is_encoder_decoder:
        encoder = na.trace_graph(model.get_encoder(), tokens).to_backend(backend)
        encoded = (encoder(na.to_backend(tokens, backend))["last_hidden_state"],)
        tokens = torch.full((len(tokens), 1), model.generation_config.decoder_start_token_id)

    length = tokens.shape[1] + count
    step = Step(model, length).eval()
    empty = step.empty_cache(len(tokens))
    examples = [na.to_backend(x, "torch") for x in encoded]
    graph = na.trace_graph(step, tokens[:, :1], empty, *examples).to_backend(backend)
    run = na.jit(lambda v, token, cache, *encoded: graph(token, cache, *encoded, v=v))

    cache = na.to_backend(na.Container(empty), backend)
    written = na.to_backend(tokens, backend)
    for place in range(length - 1):
        logits, cache = run(graph.v, written[:, place : place + 1], cache, *encoded)
        if place + 1 >= written.shape[1]:
            following = na.astype(na.argmax(logits, axis=-1, keepdims=True), written.dtype)
            written = na.concat([written, following], axis=1)
    return na.to_backend(written, "numpy").tolist()


def main() -> None:
    """A small model with random weights: the same tokens from torch and from JAX."""
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    config = GPT2Config(vocab_size=128, n_embd=32, n_layer=2, n_head=4, n_positions=64)
    model = GPT2LMHeadModel(config).eval()
    prompt = torch.randint(3, 100, (1, 5))
    theirs = model.generate(prompt, max_new_tokens=8, do_sample=False, eos_token_id=None)
    ours = generate(model, prompt, 8, "jax")
    print(f"torch: {theirs.tolist()}\njax:   {ours}")


if __name__ == "__main__":
    main()
