"""Connectionist temporal classification, and regression of monotonic sequences.

Upstream: https://www.tensorflow.org/api_docs/python/tf/nn/ctc_loss
"""

from __future__ import annotations

import math
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.frontends.tensorflow.conversion import floating, normal_axis, tensor
from nestarray.frontends.tensorflow.nn.ctc_decoding import beam_search, greedy_search, to_sparse
from nestarray.frontends.tensorflow.sparse.tensors import SparseTensor, padded_rows
from nestarray.typing import Array

__all__ = [
    "collapse_repeated", "ctc_beam_search_decoder", "ctc_greedy_decoder", "ctc_loss",
    "ctc_unique_labels", "isotonic_regression",
]  # fmt: skip


def ctc_loss(
    labels: Any,
    logits: Any,
    label_length: Any,
    logit_length: Any,
    logits_time_major: bool = True,
    unique: Any = None,
    blank_index: int | None = None,
    name: str | None = None,
) -> Array:
    """−log of the probability of the labels, for each sequence.

    Args:
        labels: `(batch, labels)`, integers; dense or sparse.
        logits: `(time, batch, classes)`, or `(batch, time, classes)`.
        label_length: `(batch,)`, the numbers of labels; None for sparse labels.
        logit_length: `(batch,)`, the lengths of the sequences.
        logits_time_major: whether the time is the first axis of `logits`.
        unique: has no effect.
        blank_index: the class of blanks; negative numbers count from the end; None: 0.
        name: has no effect.
    """
    x = floating("ctc_loss", logits)
    if isinstance(labels, SparseTensor):
        labels, label_length = padded_rows(labels.indices, labels.values, labels.shape[:-1])
    z = tensor(labels, like=x)
    if not logits_time_major:
        x = na.permute_dims(x, (1, 0, 2))
    classes = na.shape(x)[2]
    return na.ctc_loss(
        na.log_softmax(x, axis=-1),
        z,
        tensor(logit_length, like=x),
        tensor(label_length, like=x),
        blank=(blank_index or 0) % classes,
        reduction="none",
    )


def ctc_greedy_decoder(
    inputs: Any, sequence_length: Any, merge_repeated: bool = True, blank_index: int | None = None
) -> tuple[list[SparseTensor], Array]:
    """The classes of the largest logits, without blanks, and minus the sum of these logits.

    Args:
        inputs: `(time, batch, classes)`, logits.
        sequence_length: `(batch,)`.
        merge_repeated: merge equal classes of adjacent steps.
        blank_index: the class of blanks; negative numbers count from the end; None: the last class.
    """
    x = na.permute_dims(na.stop_gradient(floating("ctc_greedy_decoder", inputs)), (1, 0, 2))
    lengths = na.astype(tensor(sequence_length, like=x), dtypes.int32)
    blank = (-1 if blank_index is None else blank_index) % na.shape(x)[2]
    found, scores = greedy_search(x, lengths, blank, merge_repeated)
    return [to_sparse(found[0])], scores


def ctc_beam_search_decoder(
    inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[SparseTensor], Array]:
    """The most probable sequences of classes, and the logarithms of their probabilities.

    Args:
        inputs: `(time, batch, classes)`, logits; the last class is the blank.
        sequence_length: `(batch,)`.
        beam_width: the number of prefixes that the search keeps.
        top_paths: the number of results, at most `beam_width`.
    """
    found, scores = most_probable(inputs, sequence_length, beam_width, top_paths)
    return [to_sparse(path) for path in na.unstack(found)], scores


def most_probable(
    inputs: Any, sequence_length: Any, beam_width: int, top_paths: int
) -> tuple[Array, Array]:
    """The results of `ctc_beam_search_decoder`, `(top_paths, batch, time)`, padded by −1."""
    x = na.permute_dims(na.stop_gradient(floating("ctc_beam_search_decoder", inputs)), (1, 0, 2))
    lengths = na.astype(tensor(sequence_length, like=x), dtypes.int32)
    return beam_search(x, lengths, na.shape(x)[2] - 1, beam_width, top_paths)


def ctc_unique_labels(labels: Any, name: str | None = None) -> tuple[Array, Array]:
    """The distinct labels of each row in order of appearance, padded with zeros, and the index of each label."""
    x = tensor(labels)
    size = na.shape(x)[1]
    is_equal = na.equal(na.expand_dims(x, 2), na.expand_dims(x, 1))
    first = na.argmax(na.astype(is_equal, dtypes.int32), axis=2)  # of equal labels
    position = na.arange(size, dtype=na.dtype_of(first), like=first)
    is_first = na.equal(first, position)
    rank = na.subtract(na.cumulative_sum(na.astype(is_first, dtypes.int32), axis=1), 1)
    index = na.take_along_axis(rank, first, axis=1)
    place = na.arange(size, dtype=na.dtype_of(rank), like=rank)
    is_there = na.logical_and(
        na.equal(na.expand_dims(index, 1), na.reshape(place, (1, -1, 1))),
        na.expand_dims(is_first, 1),
    )
    values = na.multiply(na.astype(is_there, na.dtype_of(x)), na.expand_dims(x, 1))
    unique = na.sum(values, axis=2, dtype=na.dtype_of(x))
    return na.astype(unique, dtypes.int64), na.astype(index, dtypes.int32)


def collapse_repeated(labels: Any, seq_length: Any, name: str | None = None) -> tuple[Array, Array]:
    """Sequences without repetitions, padded with zeros to the longest one, and their lengths."""
    x, lengths = tensor(labels), tensor(seq_length)
    size = na.shape(x)[1]
    position = na.arange(size, dtype=na.dtype_of(lengths), like=x)
    is_inside = na.less(position, na.expand_dims(lengths, 1))
    differs = na.not_equal(
        na.getitem(x, (slice(None), slice(1, None))), na.getitem(x, (slice(None), slice(None, -1)))
    )
    first = na.ones((na.shape(x)[0], 1), dtype=dtypes.bool, like=x)
    is_kept = na.logical_and(na.concat([first, differs], axis=1), is_inside)
    counts = na.sum(na.astype(is_kept, na.dtype_of(lengths)), axis=1, dtype=na.dtype_of(lengths))
    order = na.argsort(na.astype(na.logical_not(is_kept), dtypes.int32), axis=1)
    longest = int(na.max(counts))
    kept = na.where(is_kept, x, na.zeros_like(x))
    found = na.take_along_axis(kept, order, axis=1)
    return na.getitem(found, (slice(None), slice(longest))), counts


def isotonic_regression(
    inputs: Any, decreasing: bool = True, axis: int = -1
) -> tuple[Array, Array]:
    """The nearest monotonic sequence along an axis, and the numbers of its constant parts.

    A part begins where no mean of elements before is beyond a mean of elements after. The memory is
    quadratic in the length.
    """
    x = floating("isotonic_regression", inputs)
    axis = normal_axis(axis, len(na.shape(x)))
    x = na.moveaxis(x, axis, -1)
    ascending = na.stop_gradient(na.negative(x) if decreasing else x)
    size = na.shape(x)[-1]
    zero = na.zeros_like(na.getitem(x, (..., slice(1))))
    start = na.concat([zero, na.cumulative_sum(ascending, axis=-1)], axis=-1)
    index = na.arange(size, dtype=dtypes.int32, like=x)
    first, last = na.expand_dims(index, 1), na.expand_dims(index, 0)
    lengths = na.astype(na.maximum(na.add(na.subtract(last, first), 1), 1), na.dtype_of(x))
    ends, starts = na.getitem(start, (..., slice(1, None))), na.getitem(start, (..., slice(-1)))
    means = na.divide(na.subtract(na.expand_dims(ends, -2), na.expand_dims(starts, -1)), lengths)
    is_part = na.less_equal(first, last)
    before = na.max(na.where(is_part, means, na.full_like(means, -math.inf)), axis=-2)
    after = na.min(na.where(is_part, means, na.full_like(means, math.inf)), axis=-1)
    begins = na.less_equal(
        na.getitem(before, (..., slice(-1))), na.getitem(after, (..., slice(1, None)))
    )
    parts = na.cumulative_sum(na.astype(begins, dtypes.int32), axis=-1, dtype=dtypes.int32)
    parts = na.concat([na.zeros_like(zero, dtype=dtypes.int32), parts], axis=-1)
    together = na.equal(na.expand_dims(parts, -1), na.expand_dims(parts, -2))
    together = na.astype(together, na.dtype_of(x))
    total = na.sum(na.multiply(together, na.expand_dims(x, -2)), axis=-1)
    found = na.divide(total, na.sum(together, axis=-1))
    return na.moveaxis(found, -1, axis), na.moveaxis(parts, -1, axis)
