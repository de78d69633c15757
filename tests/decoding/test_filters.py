"""`top_k` and `top_p` against plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nestarray as na
from nestarray.errors import ArgumentError
from tests.arrays import host, on

# distinct logits, far enough apart for float32
LOGITS = st.lists(st.integers(-40, 40), min_size=1, max_size=9, unique=True)


def nucleus(logits, p):
    """The places of the fewest tokens of probability p."""
    order = sorted(range(len(logits)), key=lambda i: -logits[i])
    weights = [math.exp(x - max(logits)) for x in logits]
    kept, total = [], 0.0
    for i in order:
        if total >= p * sum(weights):
            break
        kept.append(i)
        total += weights[i]
    return kept


def kept_of(filtered):
    return [i for i, x in enumerate(filtered) if x > -math.inf]


@given(LOGITS, st.integers(1, 12))
def test_top_k_keeps_the_k_largest(logits, k):
    filtered = na.decoding.top_k(np.asarray(logits, "float64") / 10, k)
    assert [logits[i] for i in kept_of(filtered)] == [x for x in logits if x in sorted(logits)[-k:]]


@given(LOGITS, st.sampled_from([0.013, 0.31, 0.5021, 0.77, 0.961, 1.0]))
def test_top_p_keeps_the_fewest_tokens(logits, p):
    values = [x / 10 for x in logits]
    filtered = na.decoding.top_p(np.asarray(values), p)
    assert kept_of(filtered) == sorted(nucleus(values, p))


def test_rows_are_filtered_alone(backend):
    logits = on(backend, [[[0.0, 2.0, 1.0], [3.0, 3.0, -1.0]]], "float32")
    assert np.isfinite(host(na.decoding.top_k(logits, 1))).tolist() == [
        [[False, True, False], [True, True, False]]  # equal logits stay
    ]
    assert np.isfinite(host(na.decoding.top_p(logits, 0.6))).tolist() == [
        [[False, True, False], [True, True, False]]
    ]
    assert na.dtype_of(na.decoding.top_p(logits, 0.6)) is na.float32


@pytest.mark.parametrize("k", [0, -1, 1.5, True])
def test_top_k_out_of_range(k):
    with pytest.raises(
        ArgumentError, match=r"decoding: top_k: got .*, expected a positive integer"
    ):
        na.decoding.top_k(np.zeros(3), k)


@pytest.mark.parametrize("p", [0, -0.1, 1.01, float("nan"), "a"])
def test_top_p_out_of_range(p):
    with pytest.raises(ArgumentError, match=r"decoding: top_p: got .*, expected a number above 0"):
        na.decoding.top_p(np.zeros(3), p)
