"""Decoders of `transformers` generate with a cache, token by token, what torch generates."""

from __future__ import annotations

import pytest

from tests.decoding.decoder import Decoder
from tests.models import generation


@pytest.mark.full
@pytest.mark.parametrize("name", generation.names())
def test_greedy_tokens(name):
    model = generation.language_model(name)
    prompt, want = generation.greedy(model)
    assert len({token for row in want for token in row}) > 1
    decoder = Decoder(model, prompt, generation.COUNT)
    for backend in filter(decoder.can_run, ("jax", "tensorflow", "numpy")):
        assert decoder.generate(backend) == want, backend
