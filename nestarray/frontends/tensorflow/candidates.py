"""Samples of classes, for losses over many classes.

Upstream: https://www.tensorflow.org/api_docs/python/tf/random/log_uniform_candidate_sampler. The
samples are determined by ``key`` and differ from upstream's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, UnsupportedError
from nestarray.frontends.tensorflow.conversion import tensor
from nestarray.typing import Array

__all__ = [
    "all_candidate_sampler", "fixed_unigram_candidate_sampler", "learned_unigram_candidate_sampler",
    "log_uniform_candidate_sampler", "uniform_candidate_sampler",
]  # fmt: skip


class Candidates(NamedTuple):
    """Sampled classes, and how often the true and the sampled classes are expected among them."""

    sampled_candidates: Any
    true_expected_count: Any
    sampled_expected_count: Any


def _sampled(
    log_p: Array, true_classes: Any, num_sampled: int, unique: bool, key: Array
) -> Candidates:
    """Samples of classes with these logarithms of probabilities.

    Unique classes are the first arrivals of a race with exponential times. The last arrival is the
    expected number of draws until all are distinct, for which upstream counts its draws.
    """
    truth = tensor(true_classes, like=log_p)
    p = na.exp(log_p)
    if unique:
        uniform = na.random.uniform(key, shape=tuple(na.shape(log_p)))
        waits = na.negative(na.log1p(na.negative(na.maximum(uniform, 1e-30))))
        times = na.exp(na.subtract(na.log(waits), log_p))
        arrivals, sampled = na.top_k(times, num_sampled, largest=False)
        tries = na.maximum(na.getitem(arrivals, -1), float(num_sampled))
        expected = na.negative(na.expm1(na.multiply(tries, na.log1p(na.negative(p)))))
    else:
        sampled = na.random.categorical(key, log_p, shape=(num_sampled,))
        expected = na.multiply(p, num_sampled)
    sampled = na.astype(sampled, dtypes.int64)
    return Candidates(sampled, na.take(expected, truth, axis=0), na.take(expected, sampled, axis=0))


def _check(
    name: str, true_classes: Any, num_true: int, num_sampled: int, unique: bool, n: int
) -> None:
    if na.shape(tensor(true_classes))[1] != num_true:
        raise ArgumentError(
            f"{name}: true_classes: got the shape {tuple(na.shape(tensor(true_classes)))}, expected "
            f"{num_true} columns, as num_true says"
        )
    if unique and num_sampled > n:
        raise ArgumentError(
            f"{name}: num_sampled: got {num_sampled}, expected at most {n} of {n} classes"
        )


def uniform_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
    *,
    key: Array,
) -> Candidates:
    """Classes below `range_max`, all equally likely; `seed` has no effect."""
    _check("uniform_candidate_sampler", true_classes, num_true, num_sampled, unique, range_max)
    log_p = na.full((range_max,), -math.log(range_max), dtype=dtypes.float32, like=key)
    return _sampled(log_p, true_classes, num_sampled, unique, key)


def log_uniform_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
    *,
    key: Array,
) -> Candidates:
    """Classes with the probabilities log((c + 2) / (c + 1)) / log(range_max + 1); `seed` has no effect."""
    _check("log_uniform_candidate_sampler", true_classes, num_true, num_sampled, unique, range_max)
    classes = na.arange(range_max, dtype=dtypes.float32, like=key)
    p = na.divide(na.log1p(na.reciprocal(na.add(classes, 1))), math.log1p(range_max))
    return _sampled(na.log(p), true_classes, num_sampled, unique, key)


def learned_unigram_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
    *,
    key: Array,
    counts: Any = None,
) -> Candidates:
    """Classes with probabilities in proportion to `counts`; `seed` has no effect.

    Upstream's kernel keeps the counts: 1 for each class, and 1 more for each true class of an
    earlier call. Here they are an argument, which the caller updates.

    Args:
        true_classes: `(batch, num_true)`.
        num_true: the number of true classes of an example.
        num_sampled: the number of samples.
        unique: whether the samples are distinct.
        range_max: the number of classes.
        seed, name: have no effect.
        key: the random key.
        counts: `(range_max,)`; None: of upstream's first call, 1 for each class.
    """
    _check(
        "learned_unigram_candidate_sampler", true_classes, num_true, num_sampled, unique, range_max
    )
    ones = na.ones((range_max,), dtype=dtypes.float32, like=key)
    counts = ones if counts is None else na.multiply(ones, tensor(counts, like=key))
    log_p = na.subtract(na.log(counts), na.log(na.sum(counts)))
    return _sampled(log_p, true_classes, num_sampled, unique, key)


def fixed_unigram_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: str = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Sequence[float] = (),
    seed: int | None = None,
    name: str | None = None,
    *,
    key: Array,
) -> Candidates:
    """Classes with probabilities in proportion to `unigrams` to the power `distortion`.

    Args:
        true_classes: `(batch, num_true)`.
        num_true: the number of true classes of an example.
        num_sampled: the number of samples.
        unique: whether the samples are distinct.
        range_max: the number of classes.
        vocab_file: has to be empty; give the counts as `unigrams`.
        distortion: the power of the counts.
        num_reserved_ids: the number of classes before the first of `unigrams`, which are not sampled.
        num_shards, shard: sample only the classes with class mod num_shards = shard.
        unigrams: the counts.
        seed, name: have no effect.
        key: the random key.
    """
    if vocab_file:
        raise UnsupportedError(
            f"fixed_unigram_candidate_sampler: vocab_file: got {vocab_file!r}, expected ''; give the "
            "counts as unigrams"
        )
    _check(
        "fixed_unigram_candidate_sampler", true_classes, num_true, num_sampled, unique, range_max
    )
    counts = [0.0] * num_reserved_ids + [float(n) ** distortion for n in unigrams]
    if len(counts) != range_max:
        raise ArgumentError(
            f"fixed_unigram_candidate_sampler: unigrams: got {len(counts)} counts with the reserved "
            f"ones, expected {range_max}"
        )
    counts = [n if i % num_shards == shard else 0.0 for i, n in enumerate(counts)]
    log_p = [math.log(n / sum(counts)) if n else -math.inf for n in counts]
    return _sampled(
        na.asarray(log_p, dtype=dtypes.float32, like=key), true_classes, num_sampled, unique, key
    )


def all_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: int | None = None,
    name: str | None = None,
) -> Candidates:
    """All classes, each expected once."""
    truth = tensor(true_classes)
    _check("all_candidate_sampler", truth, num_true, num_sampled, unique, num_sampled)
    ones = na.ones((num_sampled,), dtype=dtypes.float32, like=truth)
    return Candidates(
        na.arange(num_sampled, dtype=dtypes.int64, like=truth),
        na.ones_like(truth, dtype=dtypes.float32),
        ones,
    )
