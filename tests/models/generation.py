"""Language models of the same types, and what torch generates with them."""

from __future__ import annotations

from typing import Any

from tests import models

#: How many tokens are generated.
COUNT = 8

#: Decoders whose class with a head for the next token is not in transformers' tables.
_CLASSES = {"seamless_m4t": "SeamlessM4TForTextToText"}

#: Decoders that `na.decoding.generate` cannot call with a cache.
_WITHOUT = (
    "hrm_text",  # writes into its cache under torch.no_grad(), which the trace refuses
    "minimax",  # accepts a class of cache of its own alone, which grows
    "recurrent_gemma",  # keeps its states in attributes of its layers
    "reformer",  # as minimax
)

#: Encoders unless they are told to be decoders.
_ENCODERS = (
    *("bert", "bert-generation", "camembert", "data2vec-text", "electra", "ernie"),
    *("megatron-bert", "rembert", "roberta", "roberta-prelayernorm"),
    *("roformer", "xlm-roberta", "xlm-roberta-xl"),
)

#: As many layers as it takes to have one of attention, which counts the tokens of a cache.
_ATTENDING: dict[str, dict[str, Any]] = {
    "bailing_hybrid": {  # and then some layers have experts, of which the record has few
        "num_hidden_layers": 6,
        "n_group": 2,
        "topk_group": 1,
        "num_key_value_heads": 4,
        "num_experts_per_tok": 2,
    },
    "lfm3": {"num_hidden_layers": 5},
}

#: Tied to the embedding, their random heads answer with the token that they were given.
_UNTIED = ("m2m_100", "marian", "seamless_m4t")

#: Decoders that transformers has as parts of other models only, without a head.
_BODIES = (
    *("cosmos3_edge_text", "glm_ocr_text", "granite_docling_text", "molmo2_text"),
    *("muse_glimmer_text", "qwen3_vl_moe_text"),
)


def names() -> tuple[str, ...]:
    """The model types that generate."""
    return (*classes(), *_BODIES)


def classes() -> dict[str, str]:
    """Model type → class with a head for the next token, where there is one."""
    from transformers.models.auto import modeling_auto as auto

    tables = (
        _CLASSES,
        auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
        auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    )
    heads = {name: next((t[name] for t in tables if name in t), None) for name in models.NAMES}
    return {name: head for name, head in heads.items() if head and name not in _WITHOUT}


def language_model(name: str) -> Any:
    """A model whose likeliest tokens differ from place to place, which small weights would not give."""
    import torch

    changes: dict[str, Any] = {"is_decoder": True} if name in _ENCODERS else {}
    if name in _UNTIED:
        changes["tie_word_embeddings"] = False
    changes |= _ATTENDING.get(name, {})
    if name in _BODIES:
        model = _headed(models.build(name)[0])
    else:
        model = models.build_as(name, classes()[name], **changes)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim > 1:
                weight.normal_(std=2.0 / weight.shape[-1] ** 0.5)
    if name in _BODIES:
        return model
    settings = model.generation_config
    settings.eos_token_id = settings.forced_eos_token_id = None
    if settings.decoder_start_token_id is None:
        settings.decoder_start_token_id = 0
    return model


def _headed(body: Any) -> Any:
    """A decoder with a head for the next token."""
    import torch
    from transformers.modeling_outputs import CausalLMOutputWithPast

    class Headed(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body, self.config = body, body.config
            self.head = torch.nn.Linear(body.config.hidden_size, body.config.vocab_size, False)

        def forward(self, input_ids: Any, cache: Any = None, use_cache: Any = None):
            outputs = self.body(input_ids, cache=cache, use_cache=use_cache)
            logits = self.head(outputs.last_hidden_state)
            return CausalLMOutputWithPast(logits=logits, cache=outputs.cache)

    return Headed().eval()


def greedy(model: Any, count: int = COUNT) -> tuple[Any, list[list[int]]]:
    """(prompt, the new tokens of torch).

    A model with its own `generate` uses its cache there; of others the whole text is read
    again for each token.
    """
    import torch

    torch.manual_seed(1)
    prompt = torch.randint(3, 100, (2, 5))
    if hasattr(model, "generate"):
        tokens = model.generate(prompt, max_new_tokens=count, do_sample=False)
        return prompt, tokens[:, -count:].tolist()
    written = prompt
    with torch.no_grad():
        for _ in range(count):
            token = model(written, use_cache=False).logits[:, -1].argmax(-1, keepdim=True)
            written = torch.cat([written, token], dim=1)
    return prompt, written[:, -count:].tolist()
