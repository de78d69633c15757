"""Dropout, and losses over sampled classes.

Upstream: https://www.tensorflow.org/api_docs/python/tf/nn/sampled_softmax_loss. Functions that draw
random numbers take a ``key`` in place of a global state, and `seed` has no effect.
"""

from __future__ import annotations

from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.tensorflow.candidates import log_uniform_candidate_sampler
from nestarray.frontends.tensorflow.conversion import floating, integers, tensor
from nestarray.frontends.tensorflow.nn.embedding import embedding_lookup
from nestarray.frontends.tensorflow.nn.losses import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
)
from nestarray.typing import Array

__all__ = ["compute_accidental_hits", "dropout", "nce_loss", "sampled_softmax_loss"]


def dropout(
    x: Any,
    rate: Any,
    noise_shape: Any = None,
    seed: int | None = None,
    name: str | None = None,
    *,
    key: Array,
) -> Array:
    """`x` with a fraction of elements set to 0, and the others divided by 1 − rate.

    Args:
        x: floating.
        rate: the fraction, from 0 to below 1.
        noise_shape: the shape of the mask, which broadcasts; None: of `x`.
        seed, name: have no effect.
        key: the random key.
    """
    x = floating("dropout", x)
    if isinstance(rate, (int, float)) and not 0 <= rate < 1:
        raise ArgumentError(f"dropout: rate: got {rate}, expected a number from 0 to below 1")
    shape = na.shape(x) if noise_shape is None else integers(noise_shape)
    sizes = [n if m is None else m for n, m in zip(na.shape(x), shape, strict=True)]
    is_kept = na.greater_equal(na.random.uniform(key, shape=tuple(sizes)), rate)
    kept = na.divide(x, na.subtract(1.0, rate) if hasattr(rate, "dtype") else 1.0 - rate)
    return na.where(is_kept, kept, na.zeros_like(x))


def compute_accidental_hits(
    true_classes: Any,
    sampled_candidates: Any,
    num_true: int,
    seed: int | None = None,
    name: str | None = None,
) -> tuple[Array, Array, Array]:
    """(rows, positions of samples, weights of −max) of the samples that are true classes of a row."""
    truth, sampled = tensor(true_classes), tensor(sampled_candidates)
    hits = na.equal(na.expand_dims(truth, 2), na.reshape(sampled, (1, 1, -1)))
    rows, _, positions = na.nonzero(hits)
    weights = na.full_like(rows, -float(dtypes.finfo(dtypes.float32).max), dtype=dtypes.float32)
    return na.astype(rows, dtypes.int32), na.astype(positions, dtypes.int64), weights


def _sampled_logits(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int,
    sampled_values: Any,
    remove_accidental_hits: bool,
    key: Array | None,
) -> tuple[Array, Array]:
    """The logits of the true and the sampled classes, less the logarithms of their expected counts, and labels."""
    inputs = floating("sampled_softmax_loss", inputs)
    truth = na.astype(tensor(labels, like=inputs), dtypes.int64)
    if sampled_values is None:
        if key is None:
            raise ArgumentError(
                "sampled_softmax_loss: key: got None, expected a key to draw classes with"
            )
        sampled_values = log_uniform_candidate_sampler(
            truth, num_true, num_sampled, True, num_classes, key=key
        )
    sampled, of_truth, of_sampled = map(na.stop_gradient, map(tensor, sampled_values))
    true_weights = embedding_lookup(weights, truth)
    true_logits = na.add(
        na.sum(na.multiply(na.expand_dims(inputs, 1), true_weights), axis=-1),
        embedding_lookup(biases, truth),
    )
    sampled_weights = embedding_lookup(weights, sampled)
    sampled_logits = na.add(
        na.matmul(inputs, na.matrix_transpose(sampled_weights)), embedding_lookup(biases, sampled)
    )
    if remove_accidental_hits:
        hits = na.equal(na.expand_dims(truth, 2), na.reshape(sampled, (1, 1, -1)))
        count = na.sum(na.astype(hits, na.dtype_of(inputs)), axis=1)
        lowest = -float(dtypes.finfo(dtypes.float32).max)
        sampled_logits = na.add(sampled_logits, na.multiply(count, lowest))
    true_logits = na.subtract(true_logits, na.log(of_truth))
    sampled_logits = na.subtract(sampled_logits, na.log(of_sampled))
    ones = na.divide(na.ones_like(true_logits), num_true)
    targets = na.concat([ones, na.zeros_like(sampled_logits)], axis=1)
    return na.concat([true_logits, sampled_logits], axis=1), targets


def sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    seed: int | None = None,
    name: str | None = "sampled_softmax_loss",
    *,
    key: Array | None = None,
) -> Array:
    """The cross entropy over the true and the sampled classes, for each example.

    Args:
        weights: `(classes, dim)`, or tables one below the other.
        biases: `(classes,)`.
        labels: `(batch, num_true)`, integers.
        inputs: `(batch, dim)`.
        num_sampled: the number of samples.
        num_classes: the number of classes.
        num_true: the number of true classes of an example.
        sampled_values: the result of a sampler; None draws by `log_uniform_candidate_sampler`.
        remove_accidental_hits: whether samples that are true classes are left out.
        seed, name: have no effect.
        key: the random key, if classes are drawn.
    """
    logits, targets = _sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
        remove_accidental_hits, key,
    )  # fmt: skip
    return softmax_cross_entropy_with_logits(na.stop_gradient(targets), logits)


def nce_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = False,
    name: str | None = "nce_loss",
    *,
    key: Array | None = None,
) -> Array:
    """The loss of noise-contrastive estimation, for each example; arguments as of `sampled_softmax_loss`."""
    logits, targets = _sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
        remove_accidental_hits, key,
    )  # fmt: skip
    return na.sum(sigmoid_cross_entropy_with_logits(targets, logits), axis=1)
