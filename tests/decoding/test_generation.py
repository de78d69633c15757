"""`generate` against plain Python, with a step whose cache mixes all tokens before."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import nestarray as na
from nestarray.errors import ArgumentError, DtypeError, ShapeError
from tests.arrays import host, on

VOCABULARY = 5
# the diagonal keeps tokens from repeating
NOISE = np.random.default_rng(0).normal(size=(VOCABULARY, VOCABULARY))
TABLE = (2 * NOISE - 4 * np.eye(VOCABULARY)).astype("float32")
PROMPT = [[1, 2, 0], [4, 3, 1], [0, 0, 2]]


def step_on(backend):
    """A decoder: the logits are a decaying sum of the rows of `TABLE` of the tokens."""
    table = on(backend, TABLE)

    def step(tokens, cache, positions, mask):
        logits = []
        for i in range(tokens.shape[1]):
            row = na.take(table, tokens[:, i], axis=0)
            if mask is not None:
                row = row * na.astype(mask[:, i : i + 1] != 0, row.dtype)
            cache = cache * 0.5 + row
            logits.append(cache)
        return na.stack(logits, axis=1), cache

    return step


def logits_after(tokens):
    cache = np.zeros(VOCABULARY, "float32")
    for token in tokens:
        cache = cache * np.float32(0.5) + TABLE[token]
    return cache


def log_probabilities_after(tokens):
    x = logits_after(tokens).astype("float64")
    return x - np.log(np.sum(np.exp(x)))


def greedy(tokens, steps, stop=(), pad=0):
    tokens, new = list(tokens), []
    for _ in range(steps):
        if new and new[-1] in stop:
            break
        new.append(int(np.argmax(logits_after(tokens + new))))
    return new + [pad] * (steps - len(new))


def generated(backend, steps, *, prompt=PROMPT, rows=None, compiled=False, **settings):
    rows = len(prompt) * settings.get("beams", 1)
    tokens = on(backend, prompt, "int32")
    cache = na.zeros((rows, VOCABULARY), dtype="float32", like=tokens)
    step = step_on(backend)
    run = lambda tokens, cache: na.decoding.generate(step, cache, tokens, steps, **settings)  # noqa: E731
    found = (na.jit(run) if compiled else run)(tokens, cache)
    assert na.backend_of(found) == backend
    assert na.dtype_of(found) is na.int32
    return host(found).tolist()


def test_the_likeliest_tokens(backend):
    assert generated(backend, 6) == [greedy(row, 6) for row in PROMPT]


@pytest.mark.parametrize("stop", [2, [0, 3]])
def test_rows_end_at_stop_tokens(backend, stop):
    stops = [stop] if isinstance(stop, int) else stop
    want = [greedy(row, 7, stops, pad=-1) for row in PROMPT]
    assert any(-1 in row for row in want)
    assert generated(backend, 7, stop=stop, pad=-1) == want


@pytest.mark.parametrize("backend", ["jax", pytest.param("tensorflow", marks=pytest.mark.full)])
def test_a_compiled_loop_draws_the_same_tokens(backend):
    settings = {"temperature": 1.3, "top_k": 4, "top_p": 0.95, "stop": 3}
    want = generated("numpy", 8, key=na.random.key(5), **settings)
    key = na.to_backend(na.random.key(5), backend)
    assert generated(backend, 8, key=key, compiled=True, **settings) == want


def test_drawn_tokens_are_those_of_the_keys(backend):
    key = na.random.key(7)
    drawn = generated(backend, 5, key=na.to_backend(key, backend), temperature=0.7)
    rows = [list(row) for row in PROMPT]
    for i in range(5):
        logits = np.stack([logits_after(row) for row in rows]) / np.float32(0.7)
        new = na.random.categorical(na.random.fold_in(key, i), logits)
        rows = [[*row, int(token)] for row, token in zip(rows, new, strict=True)]
    assert drawn == [row[3:] for row in rows]


def test_one_likely_token_is_greedy():
    key = na.random.key(0)
    want = [greedy(row, 4) for row in PROMPT]
    assert generated("numpy", 4, key=key, top_k=1) == want
    assert generated("numpy", 4, key=key, top_p=1e-6) == want


# -- beams ---------------------------------------------------------------------------------------


def best_sequence(tokens, steps, stop, length_penalty):
    """The best of all sequences that end with a stop token or have all steps."""

    def scores():
        for length in range(1, steps + 1):
            for new in itertools.product(range(VOCABULARY), repeat=length):
                is_whole = length == steps or new[-1] in stop
                if is_whole and not set(new[:-1]) & set(stop):
                    score = sum(
                        log_probabilities_after([*tokens, *new[:i]])[new[i]] for i in range(length)
                    )
                    yield score / length**length_penalty, new

    new = list(max(scores())[1])
    return new + [0] * (steps - len(new))


def test_wide_beams_find_the_best_sequence(backend):
    want = [best_sequence(row, 3, (), 1.0) for row in PROMPT]
    assert generated(backend, 3, beams=25) == want
    assert want != [greedy(row, 3) for row in PROMPT]


def test_beams_end_at_stop_tokens(backend):
    want = [best_sequence(row, 3, (2, 4), 0.0) for row in PROMPT]
    assert any(set(row[:2]) & {2, 4} for row in want)
    assert generated(backend, 3, beams=25, stop=(2, 4), length_penalty=0.0) == want


def test_a_penalty_prefers_long_sequences():
    settings = {"beams": 4, "stop": (2, 4)}
    short = generated("numpy", 6, length_penalty=0.0, **settings)
    long = generated("numpy", 6, length_penalty=4.0, **settings)
    lengths = [sum(token != 0 for row in rows for token in row) for rows in (short, long)]
    assert lengths[0] < lengths[1]


def test_beams_compile():
    settings = {"beams": 3, "stop": 2, "length_penalty": 0.5}
    assert generated("jax", 6, compiled=True, **settings) == generated("numpy", 6, **settings)


# -- prompts -------------------------------------------------------------------------------------


def test_positions_and_mask_of_padded_prompts():
    seen = []

    def step(tokens, cache, positions, mask):
        seen.append((positions.tolist(), mask.tolist()))
        return np.zeros((2, 3), "float32"), cache

    mask = np.asarray([[0, 0, 1], [1, 1, 1]])
    na.decoding.generate(step, (), np.zeros((2, 3), int), 3, mask=mask)
    whole = [[0, 0, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1]]
    assert seen == [
        ([[0, 0, 0], [0, 1, 2]], whole),
        ([[1], [3]], whole),
        ([[2], [4]], whole),
    ]


def test_a_longer_mask_is_passed_as_it_is():
    lengths = set()

    def step(tokens, cache, positions, mask):
        lengths.add(mask.shape[1])
        return np.zeros((1, 3), "float32"), cache

    na.decoding.generate(step, (), np.zeros((1, 2), int), 2, mask=np.ones((1, 9), bool))
    assert lengths == {9}


def test_prompts_are_read_token_by_token(backend):
    step = step_on(backend)
    tokens = on(backend, PROMPT, "int32")
    cache = na.zeros((3, VOCABULARY), dtype="float32", like=tokens)
    prefill = na.decoding.token_by_token(step)
    found = na.decoding.generate(step, cache, tokens, 3, prefill=prefill)
    assert host(found).tolist() == [greedy(row, 3) for row in PROMPT]


# -- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"steps": 0}, "generate: steps: got 0, expected a positive integer"),
        ({"beams": 0}, "generate: beams: got 0, expected a positive integer"),
        (
            {"temperature": 0},
            "generate: temperature: got 0, expected a positive number; without key=",
        ),
        ({"top_k": 3}, r"generate: top_k is for drawn tokens; pass key=na.random.key\(0\)"),
        ({"temperature": 0.5}, "generate: temperature is for drawn tokens"),
        ({"key": True, "beams": 2}, "generate: beams: beam search draws no tokens"),
        ({"length_penalty": 2.0}, "generate: length_penalty compares beams; pass beams=4"),
        ({"stop": [1.0]}, r"generate: stop: got \[1.0\], expected a token or tokens"),
    ],
)
def test_settings_out_of_range(settings, message):
    settings = {"steps": 2} | settings
    with pytest.raises(ArgumentError, match=message):
        generated("numpy", **settings)


def test_prompts_of_other_kinds():
    step, cache = step_on("numpy"), np.zeros((1, VOCABULARY), "float32")
    with pytest.raises(DtypeError, match="generate: prompt: got float64, expected integers"):
        na.decoding.generate(step, cache, np.zeros((1, 2)), 2)
    with pytest.raises(
        ShapeError, match=r"generate: prompt: got shape \(2,\), expected \(batch, l"
    ):
        na.decoding.generate(step, cache, np.zeros(2, int), 2)
    with pytest.raises(ShapeError, match=r"mask: got shape \(1, 1\), expected \(1, 2\) or more"):
        na.decoding.generate(step, cache, np.zeros((1, 2), int), 2, mask=np.ones((1, 1)))


def test_results_of_other_kinds():
    prompt = np.zeros((2, 2), int)
    with pytest.raises(
        ArgumentError, match=r"step: returned ndarray, expected a pair \(logits, ca"
    ):
        na.decoding.generate(lambda *_: np.zeros((2, 3)), (), prompt, 2)
    with pytest.raises(ShapeError, match=r"returned logits of shape \(3,\), expected \(2, tokens"):
        na.decoding.generate(lambda *_: (np.zeros(3), ()), (), prompt, 2)
    step = lambda tokens, cache, *_: (np.zeros((6, 5), "float32"), cache)  # noqa: E731
    with pytest.raises(
        ShapeError, match=r"cache: got an array of shape \(2, 5\), expected batch \*"
    ):
        na.decoding.generate(step, np.zeros((2, 5)), prompt, 2, beams=3)
