"""Greedy text generation on another framework, token by token, with a cache.

A language model of `transformers` fills its cache in place. `Step` makes a function of it:
the cache comes in as a nest of tensors and goes out as a new one, so that a step can be
traced, moved and compiled. There are two programs: one reads the prompt and fills the cache,
the other takes one token further.

usage: python examples/text_generation.py
"""

from __future__ import annotations

import copy
import inspect
from typing import Any

import torch
from transformers import cache_utils

import nestarray as na

Tensors = dict[str, Any]


class Step(torch.nn.Module):
    """(tokens, tensors of the cache) → (logits of the next token, tensors of the cache).

    Args:
        model: a causal language model, or a model with encoder and decoder.
        past: its cache. What in it is no tensor, such as which layers have been filled, is
            settled when the step is traced.
    """

    def __init__(self, model: torch.nn.Module, past: cache_utils.Cache) -> None:
        super().__init__()
        self.model, self.past = model, past

    def forward(
        self, tokens: torch.Tensor, cache: Tensors, encoded: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, Tensors]:
        """`tokens`: (batch, tokens); `encoded`: the encoder's output, (batch, tokens, channels)."""
        past = with_tensors(self.past, cache["layers"])
        logits = self.advance(tokens, past, cache["used"], encoded)
        return logits, {"layers": tensors_of(past), "used": cache["used"] + tokens.shape[1]}

    def advance(
        self,
        tokens: torch.Tensor,
        past: cache_utils.Cache,
        used: torch.Tensor,
        encoded: torch.Tensor | None,
    ) -> torch.Tensor:
        """Logits of the next token; `past` is filled in place."""
        names = inspect.signature(self.model.forward).parameters
        inputs = {"cache_params" if "cache_params" in names else "past_key_values": past}
        if encoded is not None:
            inputs |= {"decoder_input_ids": tokens, "encoder_outputs": (encoded,)}
        else:
            inputs |= {"input_ids": tokens}
            if "position_ids" in names:
                places = used + torch.arange(tokens.shape[1])
                inputs |= {"position_ids": places.expand(tokens.shape)}
        return self.model(**inputs, use_cache=True).logits[:, -1]


def empty_cache(model: torch.nn.Module, length: int) -> cache_utils.Cache:
    """A cache with room for `length` tokens, so that no shape depends on how many there are.

    Layers with a window have room for all tokens too: the mask is what hides the older ones,
    and a ring would count in Python numbers, which a traced step cannot take in.
    """
    past = cache_utils.StaticCache(model.config, max_cache_len=length)
    past.layers = [_without_window(layer, length) for layer in past.layers]
    if not model.config.is_encoder_decoder:
        return past
    return cache_utils.EncoderDecoderCache(past, cache_utils.DynamicCache())


def _without_window(layer: Any, length: int) -> Any:
    if not isinstance(layer, cache_utils.StaticSlidingWindowLayer):
        return layer
    if isinstance(layer, cache_utils.LinearAttentionLayer):
        kind = cache_utils.LinearAttentionAndStaticFullAttentionLayer
        return kind(length, number_of_states=layer.number_of_states)
    return cache_utils.StaticLayer(length)


def tensors_of(past: cache_utils.Cache) -> list[Tensors]:
    """For each layer its tensors by attribute; those in a mapping by attribute and key."""
    found = []
    for layer in _layers(past):
        tensors: Tensors = {}
        for name, value in vars(layer).items():
            members = value.items() if isinstance(value, dict) else [("", value)]
            tensors |= {f"{name}{k}": x for k, x in members if isinstance(x, torch.Tensor)}
        found.append(tensors)
    return found


def with_tensors(past: cache_utils.Cache, tensors: list[Tensors]) -> cache_utils.Cache:
    """A cache like `past` with other tensors, in copies that may be written into."""
    past = copy.copy(past)
    if isinstance(past, cache_utils.EncoderDecoderCache):
        past.is_updated = dict(past.is_updated)
        past.self_attention_cache = copy.copy(past.self_attention_cache)
        past.cross_attention_cache = copy.copy(past.cross_attention_cache)
        parts = [past.self_attention_cache, past.cross_attention_cache]
    else:
        parts = [past]
    given = iter(tensors)
    for part in parts:
        part.layers = [_filled(layer, next(given)) for layer in part.layers]
    return past


def _filled(layer: Any, tensors: Tensors) -> Any:
    layer = copy.copy(layer)
    for name, value in vars(layer).items():
        if isinstance(value, dict):
            members = {k: tensors.get(f"{name}{k}", x) for k, x in value.items()}
            setattr(layer, name, {k: _copied(x) for k, x in members.items()})
        else:
            setattr(layer, name, _copied(tensors.get(name, value)))
    return layer


def _copied(x: Any) -> Any:
    return x.clone() if isinstance(x, torch.Tensor) else x


def _layers(past: cache_utils.Cache) -> list[Any]:
    if isinstance(past, cache_utils.EncoderDecoderCache):
        return [*past.self_attention_cache.layers, *past.cross_attention_cache.layers]
    return past.layers


class Generator:
    """A language model as graphs: one for its encoder, one for the prompt, one for a token.

    Args:
        model: a model of `transformers` in evaluation mode.
        tokens: the prompt, (batch, tokens); the encoder's input where there is an encoder.
        count: number of tokens to add.
    """

    def __init__(self, model: torch.nn.Module, tokens: torch.Tensor, count: int) -> None:
        self.source, self.encoder, encoded = tokens, None, None
        if model.config.is_encoder_decoder:
            mask = torch.ones_like(tokens)
            self.encoder = na.trace_graph(model.get_encoder(), tokens, mask)
            encoded = self.encoder(tokens, mask)["last_hidden_state"]
            tokens = torch.full((len(tokens), 1), model.generation_config.decoder_start_token_id)
        self.prompt, self.count = tokens, count
        past = empty_cache(model, tokens.shape[1] + count)
        used = torch.tensor(0)
        others = () if encoded is None else (encoded,)
        self.cache = {"layers": tensors_of(past), "used": used}
        first = Step(model, past).eval()
        self.first = na.trace_graph(first, tokens, self.cache, *others)
        past = with_tensors(past, self.cache["layers"])
        with torch.no_grad():
            first.advance(tokens, past, used, encoded)  # now it says what has been filled
        filled = {"layers": tensors_of(past), "used": used + tokens.shape[1]}
        self.next = na.trace_graph(Step(model, past).eval(), tokens[:, :1], filled, *others)

    def generate(self, backend: str) -> list[list[int]]:
        """The prompt and the likeliest next tokens, computed on `backend`, for each row.

        Of a model with an encoder they are the decoder's.
        """
        first, following = (_compiled(g.to_backend(backend)) for g in (self.first, self.next))
        encoded: tuple[Any, ...] = ()
        if self.encoder is not None:
            encoder = _compiled(self.encoder.to_backend(backend))
            source = na.to_backend(self.source, backend)
            encoded = (encoder(source, na.ones_like(source))["last_hidden_state"],)
        written = na.to_backend(self.prompt, backend)
        cache = na.Container(self.cache).to_backend(backend)
        logits, cache = first(written, cache, *encoded)
        for left in reversed(range(self.count)):
            token = na.astype(na.argmax(logits, axis=-1, keepdims=True), written.dtype)
            written = na.concat([written, token], axis=1)
            if left:
                logits, cache = following(token, cache, *encoded)
        return na.to_backend(written, "numpy").tolist()


def _compiled(graph: na.Graph) -> Any:
    run = na.jit(lambda v, s, inputs: graph(*inputs, v=v, s=s))
    return lambda *inputs: run(graph.v, graph.s, inputs)


def main() -> None:
    """A small model with random weights: the same tokens from torch and from JAX."""
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    config = GPT2Config(vocab_size=128, n_embd=32, n_layer=2, n_head=4, n_positions=64)
    model = GPT2LMHeadModel(config).eval()
    prompt = torch.randint(3, 100, (1, 5))
    theirs = model.generate(prompt, max_new_tokens=8, do_sample=False, eos_token_id=None)
    ours = Generator(model, prompt, 8).generate("jax")
    print(f"torch: {theirs.tolist()}\njax:   {ours}")


if __name__ == "__main__":
    main()
