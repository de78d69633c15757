"""Decoders of `transformers` as graphs, as a user of `na.decoding.generate` makes them."""

from __future__ import annotations

import inspect
from typing import Any

import torch
import transformers

import nestarray as na

#: The parameter and the output of a model that are its cache, in this release of `transformers`.
CACHE = next(
    name
    for name in ("cache", "past_key_values")
    if name in inspect.signature(transformers.LlamaForCausalLM.forward).parameters
)


class Decoder:
    """A decoder, the graph that reads its prompt, the graph that reads a token, and its cache.

    Both graphs are one of an open length, unless the first call is another program: it makes the
    keys of the encoder's output, or the states of recurrent layers.

    Args:
        model: a model of `transformers` in evaluation mode.
        source: the prompt, or the encoder's input.
        steps: the number of new tokens.
        mask: of the prompt.
        beams: the number of rows of the cache for each row of `source`.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        source: torch.Tensor,
        steps: int,
        mask: torch.Tensor | None = None,
        beams: int = 1,
    ) -> None:
        parameters = inspect.signature(model.forward).parameters
        self.prompt, self.steps, self.beams, self.inputs = source, steps, beams, {}
        self.tokens, self.names = "input_ids", {CACHE, "position_ids", "attention_mask"}
        if model.config.is_encoder_decoder:
            start = model.generation_config.decoder_start_token_id
            self.prompt = torch.full((len(source), 1), start)
            with torch.no_grad():
                encoded = model.get_encoder()(source.repeat_interleave(beams, 0)).last_hidden_state
            self.inputs = {"encoder_outputs": (encoded,)}
            self.tokens, self.names = "decoder_input_ids", {CACHE}
        self.names = {self.tokens} | self.names & {*parameters}
        length = self.prompt.shape[1]
        decoder = transformers.StaticCache(config=model.config, max_cache_len=length + steps)
        has_states = any(hasattr(layer, "has_previous_state") for layer in decoder.layers)
        if has_states:  # these layers take a mask of the tokens alone
            self.names -= {"attention_mask"}
        mask = torch.ones_like(self.prompt) if mask is None else mask
        self.mask = torch.nn.functional.pad(mask, (0, steps), value=1)

        def cache() -> Any:
            if self.inputs:
                return transformers.EncoderDecoderCache(decoder, transformers.DynamicCache())
            return decoder

        def call(length: int, cache: Any) -> dict[str, Any]:
            tokens, mask = (x.repeat_interleave(beams, 0) for x in (self.prompt, self.mask))
            positions = torch.arange(length).repeat(len(tokens), 1)
            return self._call(tokens[:, :length], cache, positions, mask)

        filled = cache()
        with torch.no_grad():
            model(**call(length, filled))  # makes the arrays of the cache
        if self.inputs or has_states:
            self.next = na.trace_graph(model, **call(1, filled))
            decoder.reset()
            empty = cache()
            self.first = na.trace_graph(model, **call(length, empty))
        else:
            decoder.reset()
            empty = decoder
            sizes = {x: {1: "length"} for x in (self.tokens, "position_ids") if x in self.names}
            self.first = self.next = na.trace_graph(model, **call(length, empty), dynamic=sizes)
        self.cache = na.Container.from_torch_cache(empty)

    def _call(self, tokens: Any, cache: Any, positions: Any, mask: Any) -> dict[str, Any]:
        """The arguments of the model for some tokens."""
        named = {CACHE: cache, "position_ids": positions, "attention_mask": mask}
        named[self.tokens] = tokens
        return {name: x for name, x in named.items() if name in self.names} | self.inputs

    def can_run(self, backend: str) -> bool:
        """False on JAX, whose loops are compiled, if sizes depend on values."""
        return backend != "jax" or self.next.sized_by_values is None

    def generate(self, backend: str, **settings: Any) -> list[list[int]]:
        """The new tokens, of a loop that JAX and TensorFlow compile if sizes are known."""
        first, following = self.first.to_backend(backend), self.next.to_backend(backend)

        def moved(nest: Any) -> Any:
            return na.tree.map(lambda x: na.to_backend(x, backend), nest)

        inputs = moved(self.inputs)

        def run(v: Any, prompt: Any, cache: Any, mask: Any) -> Any:
            def step_of(graph: Any) -> Any:
                def step(tokens: Any, cache: Any, positions: Any, mask: Any) -> tuple[Any, Any]:
                    out = graph(**self._call(tokens, cache, positions, mask) | inputs, v=v)
                    return out["logits"], out[CACHE]

                return step

            return na.decoding.generate(
                *(step_of(following), cache, prompt, self.steps),
                prefill=step_of(first),
                mask=mask,
                beams=self.beams,
                **settings,
            )

        is_compiled = backend in ("jax", "tensorflow") and self.next.sized_by_values is None
        run = na.jit(run) if is_compiled else run
        tokens = run(first.v, *moved((self.prompt, self.cache, self.mask)))
        return na.to_backend(tokens, "numpy").tolist()
