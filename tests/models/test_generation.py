"""Decoders of `transformers` generate with a cache, token by token, what torch generates."""

from __future__ import annotations

import pytest

from examples.text_generation import Generator
from tests.models import generation

_ALWAYS = ("gpt2",)


@pytest.mark.full
@pytest.mark.parametrize(
    "name",
    [n if n in _ALWAYS else pytest.param(n, marks=pytest.mark.full) for n in generation.names()],
)
def test_greedy_tokens(name):
    model = generation.language_model(name)
    prompt, want = generation.greedy(model)
    assert len({token for row in want for token in row[-generation.COUNT :]}) > 1
    graphs = generation.generator(name, model, prompt)
    for backend in ("jax", "tensorflow", "numpy"):
        assert graphs.generate(backend) == want, backend


def test_a_cache_that_grows_is_of_an_open_size():
    model = generation.language_model("gpt2")
    prompt, want = generation.greedy(model)
    graphs = Generator(model, prompt, generation.COUNT, grows=True)
    assert graphs.generate("numpy") == want
