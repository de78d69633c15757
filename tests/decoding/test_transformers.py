"""`generate` has the tokens of `model.generate` of `transformers`."""

from __future__ import annotations

import pytest
import torch
import transformers

from tests.decoding.decoder import Decoder
from tests.decoding.transformers_models import MODELS, build

STEPS = 7


def source_of(name):
    torch.manual_seed(1)
    if name == "whisper":
        return torch.randn(2, 8, 12)
    return torch.randint(3, 60, (2, 5))


def mask_of(name, source):
    """Of the prompt: two tokens of padding in the first row."""
    if MODELS[name][2].get("d_model"):
        return None
    mask = torch.ones_like(source)
    mask[0, :2] = 0
    return mask


def native_tokens(model, source, mask, stop, **settings):
    """The new tokens of `model.generate`, with zeros after `stop`."""
    model.generation_config.eos_token_id = stop
    named = {} if mask is None else {"attention_mask": mask}
    generate = transformers.GenerationMixin.generate  # Whisper's own is for long recordings
    tokens = generate(model, source, max_new_tokens=STEPS, do_sample=False, **named, **settings)
    new = tokens[:, 1 if model.config.is_encoder_decoder else source.shape[1] :]
    ends = [row.index(stop) + 1 if stop in row else len(row) for row in new.tolist()]
    return [row[:end] + [0] * (STEPS - end) for row, end in zip(new.tolist(), ends, strict=True)]


def assert_tokens(name, backend, beams):
    model, source = build(name), source_of(name)
    mask = mask_of(name, source)
    free = native_tokens(model, source, mask, None)
    stop = free[0][3]  # a token that ends a row in the middle
    assert len({token for row in free for token in row}) > 3
    settings = {} if beams == 1 else {"num_beams": beams, "length_penalty": 0.7}
    want = native_tokens(model, source, mask, stop, **settings)
    decoder = Decoder(model, source, STEPS, mask, beams)
    settings = {} if beams == 1 else {"length_penalty": 0.7}
    assert decoder.generate(backend, stop=stop, **settings) == want


ROWS = [(name, backend, beams) for name in MODELS for backend in ("jax", "tensorflow") for beams in (1, 3)]  # fmt: skip
#: In `make test`: without compilation, and with padding and beams.
ALWAYS = [("llama", "numpy", 3)]


@pytest.mark.parametrize(
    ("name", "backend", "beams"),
    [*ALWAYS, *(pytest.param(*row, marks=pytest.mark.full) for row in ROWS)],
)
def test_tokens_of_generate(name, backend, beams):
    assert_tokens(name, backend, beams)
