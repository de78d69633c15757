"""Small language models of `transformers`."""

from __future__ import annotations

from typing import Any

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
