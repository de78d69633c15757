"""Greedy text generation on another framework, token by token, with a cache.

A language model of `transformers` fills its cache in place. `Step` wraps it as a function from a
nest of cache tensors to a new nest, which can be traced, moved and compiled. There are two
programs: one reads the prompt and fills the cache, the other adds one token.

usage: python examples/text_generation.py
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterable
from typing import Any

import torch
from transformers import cache_utils

import nestarray as na

Tensors = dict[str, Any]

_CACHES = ("cache", "past_key_values", "cache_params", "past_buckets_states")


class Step(torch.nn.Module):
    """(tokens, tensors of the cache) → (logits of the next token, tensors of the cache).

    Args:
        model: a causal language model, or a model with encoder and decoder.
        past: its cache. Values other than tensors, such as flags of filled layers, are constants of
            the trace, and so are empty tensors.
        mask: give the model a mask of the whole cache. Otherwise some models create a mask from the
            number of tokens read, which a traced step does not know.
    """

    def __init__(self, model: torch.nn.Module, past: cache_utils.Cache, mask: bool = False) -> None:
        super().__init__()
        self.model, self.past, self.mask = model, past, mask

    def forward(
        self, tokens: torch.Tensor, cache: Tensors, encoded: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, Tensors]:
        """`tokens`: (batch, tokens); `encoded`: the encoder's output, (batch, tokens, channels)."""
        past = with_tensors(self.past, cache["layers"])
        before = held_by(self.model)
        try:
            hold(self.model, {place: x.clone() for place, x in cache["held"].items()})
            logits = self.advance(tokens, past, cache["used"], encoded)
            return logits, state_of(self.model, past, cache["used"] + tokens.shape[1])
        finally:
            hold(self.model, before)

    def advance(
        self,
        tokens: torch.Tensor,
        past: cache_utils.Cache,
        used: torch.Tensor,
        encoded: torch.Tensor | None,
    ) -> torch.Tensor:
        """Logits of the next token; `past` is filled in place."""
        names = inspect.signature(self.model.forward).parameters
        inputs: dict[str, Any] = {name_of_cache(self.model): past}
        if encoded is not None:
            inputs |= {"decoder_input_ids": tokens, "encoder_outputs": (encoded,)}
        else:
            inputs |= {"input_ids": tokens}
            if "position_ids" in names:
                places = used + torch.arange(tokens.shape[1])
                inputs |= {"position_ids": places.expand(tokens.shape)}
        if self.mask:
            whole = torch.ones(len(tokens), past.get_max_length(), dtype=torch.int64)
            inputs |= {"attention_mask" if encoded is None else "decoder_attention_mask": whole}
        return self.model(**inputs, use_cache=True).logits[:, -1]


def name_of_cache(model: torch.nn.Module) -> str:
    """The name of the model's cache argument."""
    names = inspect.signature(model.forward).parameters
    return next(name for name in _CACHES if name in names)


def state_of(model: torch.nn.Module, past: cache_utils.Cache, used: torch.Tensor) -> Tensors:
    """The tensors that a step takes and returns; `used` is the number of tokens read."""
    return {"layers": tensors_of(past), "held": held_by(model), "used": used}


def held_by(model: torch.nn.Module) -> Tensors:
    """Tensors in plain attributes of modules, which some models use as a cache."""
    return {
        f"{path}:{name}": x
        for path, module in model.named_modules()
        for name, x in vars(module).items()
        if isinstance(x, torch.Tensor)
    }


def hold(model: torch.nn.Module, tensors: Tensors) -> None:
    """Assign tensors from `held_by` to their attributes."""
    for place, x in tensors.items():
        path, name = place.split(":")
        setattr(model.get_submodule(path), name, x)


def empty_cache(model: torch.nn.Module, batch: int, length: int) -> cache_utils.Cache:
    """A cache with room for `length` tokens, so that shapes are static.

    Layers with a sliding window also have room for all tokens, and the mask hides the older ones: a
    ring buffer would use a Python counter, which is a constant of the trace.
    """
    past = cache_utils.StaticCache(model.config, max_cache_len=length)
    past.layers = [_without_window(layer, length) for layer in past.layers]
    if model.config.is_encoder_decoder:
        return cache_utils.EncoderDecoderCache(past, cache_utils.DynamicCache())
    kind = own_kind(model, batch)
    if not issubclass(kind, cache_utils.DynamicCache) or kind is cache_utils.DynamicCache:
        return past
    own = kind()  # of this model alone: it has further lists, with a place for each layer
    lists = [name for name, value in vars(own).items() if value == []]
    vars(own).update({name: [None] * len(past.layers) for name in lists}, layers=past.layers)
    return own


def own_kind(model: torch.nn.Module, batch: int) -> type[Any]:
    """The class of the cache that the model creates by default."""
    with torch.no_grad():
        found = model(torch.zeros(batch, 1, dtype=torch.int64), use_cache=True)
    return type(found.get(name_of_cache(model)))


def _without_window(layer: Any, length: int) -> Any:
    if not isinstance(layer, cache_utils.StaticSlidingWindowLayer):
        return layer
    if isinstance(layer, cache_utils.LinearAttentionLayer):
        kind = cache_utils.LinearAttentionAndStaticFullAttentionLayer
        return kind(length, number_of_states=layer.number_of_states)
    return cache_utils.StaticLayer(length)


def tensors_of(past: cache_utils.Cache) -> list[Tensors]:
    """The tensors of the cache and of each layer by attribute, and by key or number within."""
    if isinstance(past, cache_utils.EncoderDecoderCache):
        return tensors_of(past.self_attention_cache) + tensors_of(past.cross_attention_cache)
    found = []
    for part in (past, *_layers(past)):
        members = [(f"{name}{k}", x) for name, v in vars(part).items() for k, x in _members(v)]
        found.append({name: x for name, x in members if isinstance(x, torch.Tensor) and x.numel()})
    return found


def with_tensors(past: cache_utils.Cache, tensors: Iterable[Tensors]) -> cache_utils.Cache:
    """A cache like `past` with copies of other tensors."""
    given = iter(tensors)
    if isinstance(past, cache_utils.EncoderDecoderCache):
        past = _filled(past, {})
        past.self_attention_cache = with_tensors(past.self_attention_cache, given)
        past.cross_attention_cache = with_tensors(past.cross_attention_cache, given)
        return past
    layers = _layers(past)
    past = _filled(past, next(given))
    if layers:
        past.layers = [_filled(layer, next(given)) for layer in layers]
    return past


def _layers(past: Any) -> list[Any]:
    return getattr(past, "layers", [])


def _filled(part: Any, tensors: Tensors) -> Any:
    part = copy.copy(part)
    for name, value in vars(part).items():
        changed = {k: _copied(tensors.get(f"{name}{k}", x)) for k, x in _members(value)}
        if isinstance(value, dict):
            setattr(part, name, changed)
        else:
            setattr(part, name, [*changed.values()] if isinstance(value, list) else changed[""])
    return part


def _members(value: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else [("", value)]


def _copied(x: Any) -> Any:
    return x.detach().clone() if isinstance(x, torch.Tensor) else x


class Generator:
    """A language model as graphs: one for its encoder, one for the prompt, one for a token.

    Args:
        model: a model of `transformers` in evaluation mode.
        tokens: the prompt, (batch, tokens); the encoder's input for a model with an encoder.
        count: number of tokens to add.
        mask: see `Step`.
        grows: use the model's own cache, which grows by a token per step, with an open length.
            Some models infer the number of tokens read from this length.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        tokens: torch.Tensor,
        count: int,
        mask: bool = False,
        grows: bool = False,
    ) -> None:
        self.source, self.encoder, encoded = tokens, None, None
        if model.config.is_encoder_decoder:
            ones = torch.ones_like(tokens)
            self.encoder = na.trace_graph(model.get_encoder(), tokens, ones)
            encoded = self.encoder(tokens, ones)["last_hidden_state"]
            tokens = torch.full((len(tokens), 1), model.generation_config.decoder_start_token_id)
        self.prompt, self.count = tokens, count
        if grows:
            past = own_kind(model, len(tokens))()
        else:
            past = empty_cache(model, len(tokens), tokens.shape[1] + count)
        used = torch.tensor(0)
        others = () if encoded is None else (encoded,)
        self.cache = state_of(model, past, used)
        first = Step(model, past, mask).eval()
        self.first = na.trace_graph(first, tokens, self.cache, *others)
        past = with_tensors(past, self.cache["layers"])
        with torch.no_grad():
            first.advance(tokens, past, used, encoded)  # now its flags mark the filled layers
        filled = state_of(model, past, used + tokens.shape[1])
        following = Step(model, past, mask).eval()
        inputs = (tokens[:, :1], filled, *others)
        dynamic = {"cache": _growing(filled, following(*inputs)[1])} if grows else None
        self.next = na.trace_graph(following, *inputs, dynamic=dynamic)

    def generate(self, backend: str) -> list[list[int]]:
        """The prompt and the most likely next tokens of each row, computed on `backend`.

        For a model with an encoder they are the decoder's tokens.
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


def _growing(before: Any, after: Any) -> Any:
    """A name for each size that differs, in the form of `dynamic=`."""
    if isinstance(before, torch.Tensor):
        sizes = enumerate(zip(before.shape, after.shape, strict=True))
        return {axis: "read" for axis, (a, b) in sizes if a != b}
    pairs = before.items() if isinstance(before, dict) else enumerate(before)
    named = {key: _growing(x, after[key]) for key, x in pairs}
    return {key: names for key, names in named.items() if names}


def _compiled(graph: na.Graph) -> Any:
    if graph.sized_by_values is not None:  # as of how many tokens an expert gets
        return graph
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
