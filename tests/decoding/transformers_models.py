"""Small language models of `transformers`, and their steps as graphs."""

from __future__ import annotations

from typing import Any

import nestarray as na

VOCABULARY, START = 64, 1

_LAYERS = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2}
_HEADS = {"num_attention_heads": 4, "max_position_embeddings": 64}
_GROUPS = {"num_key_value_heads": 2, "head_dim": 8}
_UNTIED = {"tie_word_embeddings": False}  # tied weights repeat the last token
_TOKENS = {"pad_token_id": 0, "eos_token_id": 2, "bos_token_id": START}
_BART = {
    **{f"{part}_{size}": n for part in ("encoder", "decoder") for size, n in (("layers", 2), ("attention_heads", 4), ("ffn_dim", 48))},
    "d_model": 32,
    "decoder_start_token_id": START,
    "forced_eos_token_id": None,
}  # fmt: skip

#: Name → class, class of the configuration, settings.
MODELS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}),
    "llama": ("LlamaForCausalLM", "LlamaConfig", _LAYERS | _HEADS | _GROUPS),
    "gemma": ("GemmaForCausalLM", "GemmaConfig", _LAYERS | _HEADS | _GROUPS | _UNTIED),
    "gemma3": ("Gemma3ForCausalLM", "Gemma3TextConfig", _LAYERS | _HEADS | _GROUPS | _UNTIED | {"sliding_window": 4, "layer_types": ["sliding_attention", "full_attention"]}),
    "qwen": ("Qwen2ForCausalLM", "Qwen2Config", _LAYERS | _HEADS | {"num_key_value_heads": 2}),
    "t5": ("T5ForConditionalGeneration", "T5Config", {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4, "decoder_start_token_id": START}),
    "bart": ("BartForConditionalGeneration", "BartConfig", _BART | {"max_position_embeddings": 64}),
    "whisper": ("WhisperForConditionalGeneration", "WhisperConfig", _BART | {"num_mel_bins": 8, "max_source_positions": 6, "max_target_positions": 64}),
}  # fmt: skip


def build(name: str) -> Any:
    """A model whose likeliest tokens differ from place to place, which small weights would not give."""
    import torch
    import transformers

    kind, config, settings = MODELS[name]
    torch.manual_seed(0)
    made = getattr(transformers, config)(vocab_size=VOCABULARY, **_TOKENS, **settings)
    model = getattr(transformers, kind)(made).eval()
    for weight in model.parameters():
        if weight.ndim > 1:
            weight.data.normal_(std=2.0 / weight.shape[-1] ** 0.5)
    return model


class Decoder:
    """The prompt and the steps of a model as graphs, from the example of one backend.

    Args:
        model: a model of `build`.
        source: the prompt, or the encoder's input.
        mask: of the prompt and all new tokens, or None.
        steps: the number of new tokens.
        beams: the number of rows for each row of `source`.
    """

    def __init__(self, model: Any, source: Any, mask: Any, steps: int, beams: int = 1) -> None:
        import torch
        import transformers

        rows = source.repeat_interleave(beams, 0)
        self.has_encoder = model.config.is_encoder_decoder
        self.prompt = torch.full((len(source), 1), START) if self.has_encoder else source
        length = self.prompt.shape[1] + steps
        cache: Any = transformers.StaticCache(config=model.config, max_cache_len=length)
        tokens = self.prompt.repeat_interleave(beams, 0)
        inputs: dict[str, Any] = (
            {} if mask is None else {"attention_mask": mask.repeat_interleave(beams, 0)}
        )
        if self.has_encoder:
            cache = transformers.EncoderDecoderCache(cache, transformers.DynamicCache())
            inputs["encoder_outputs"] = (model.get_encoder()(rows).last_hidden_state,)
        self.token = "decoder_input_ids" if self.has_encoder else "input_ids"
        self.is_placed = mask is not None
        # the first call reads the prompt, and makes the keys of the encoder
        settings = {self.token: tokens, "cache": cache} | self._placed(tokens) | inputs
        kept = cache.self_attention_cache if self.has_encoder else cache
        with torch.no_grad():
            model(**settings)
        kept.reset()
        if self.has_encoder:
            settings["cache"] = transformers.EncoderDecoderCache(kept, transformers.DynamicCache())
        self.cache = na.Container.from_torch_cache(settings["cache"])
        self.first = na.trace_graph(model, **settings)
        settings |= {self.token: tokens[:, :1], "cache": cache} | self._placed(tokens[:, :1])
        self.next = na.trace_graph(model, **settings)
        self.inputs = {k: x for k, x in inputs.items() if k == "encoder_outputs"}

    def _placed(self, tokens: Any) -> dict[str, Any]:
        return {"position_ids": tokens} if self.is_placed else {}

    def generate(self, backend: str, steps: int, mask: Any = None, **settings: Any) -> Any:
        """The new tokens, of a compiled loop on `backend`."""
        first, following = self.first.to_backend(backend), self.next.to_backend(backend)

        def moved(nest: Any) -> Any:
            return na.tree.map(lambda x: x if x is None else na.to_backend(x, backend), nest)

        inputs = moved(self.inputs)

        def step_of(graph: Any, v: Any) -> Any:
            def step(tokens: Any, cache: Any, positions: Any, mask: Any) -> tuple[Any, Any]:
                named = {self.token: tokens, "cache": cache} | inputs
                if self.is_placed:
                    named |= {"position_ids": positions, "attention_mask": mask}
                out = graph(**named, v=v)
                return out["logits"], out["cache"]

            return step

        def run(v: Any, prompt: Any, cache: Any, mask: Any) -> Any:
            return na.decoding.generate(
                step_of(following, v),
                cache,
                prompt,
                steps,
                prefill=step_of(first, v),
                mask=mask,
                **settings,
            )

        run = na.jit(run) if backend in ("jax", "tensorflow") else run
        return na.to_backend(
            run(first.v, *moved((self.prompt, self.cache, mask))), "numpy"
        ).tolist()
