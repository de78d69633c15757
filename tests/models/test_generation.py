"""Decoders of `transformers` generate with a cache, token by token, what torch generates."""

from __future__ import annotations

import pytest
import torch

from examples.text_generation import generate
from tests import models

_ALWAYS = ("gpt2",)

#: The classes with a head for the next token.
CLASSES = {
    "gpt2": "GPT2LMHeadModel",
    "llama": "LlamaForCausalLM",
    "mistral": "MistralForCausalLM",
    "mixtral": "MixtralForCausalLM",
    "qwen2": "Qwen2ForCausalLM",
    "gemma": "GemmaForCausalLM",
    "opt": "OPTForCausalLM",
    "bloom": "BloomForCausalLM",
    "gpt_neox": "GPTNeoXForCausalLM",
    "phi3": "Phi3ForCausalLM",
    "t5": "T5ForConditionalGeneration",
    "bart": "BartForConditionalGeneration",
}


def _language_model(name):
    """A model whose likeliest tokens differ from place to place, which small weights would not give."""
    model = models.build_as(name, CLASSES[name])
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim > 1:
                weight.normal_(std=2.0 / weight.shape[-1] ** 0.5)
    settings = model.generation_config
    settings.eos_token_id = settings.forced_eos_token_id = None
    if settings.decoder_start_token_id is None:
        settings.decoder_start_token_id = 0
    return model


@pytest.mark.parametrize(
    "name", [n if n in _ALWAYS else pytest.param(n, marks=pytest.mark.full) for n in CLASSES]
)
def test_greedy_tokens(name):
    model = _language_model(name)
    prompt = torch.randint(3, 100, (2, 5))
    want = model.generate(prompt, max_new_tokens=8, do_sample=False).tolist()
    assert len({token for row in want for token in row[-8:]}) > 1
    assert generate(model, prompt, 8, "jax") == want
