"""Connectionist temporal classification, distances of sequences, and monotonic regression.

Upstream: https://www.tensorflow.org/api_docs/python/tf/raw_ops/CTCLoss
"""

from __future__ import annotations

import nestarray as na
from nestarray import dtypes
from nestarray.dtypes import DType
from nestarray.errors import UnsupportedError
from nestarray.frontends.tensorflow import nn
from nestarray.frontends.tensorflow.edit_distance import edit_distance
from nestarray.frontends.tensorflow.nn.ctc_decoding import to_sparse, without_repetitions
from nestarray.frontends.tensorflow.nn.sequences import most_probable
from nestarray.frontends.tensorflow.sparse.tensors import SparseTensor, padded_rows, parts
from nestarray.typing import Array

__all__ = [
    "CTCBeamSearchDecoder", "CTCGreedyDecoder", "CTCLoss", "CTCLossV2", "EditDistance",
    "IsotonicRegression",
]  # fmt: skip


def CTCLoss(
    inputs: Array,
    labels_indices: Array,
    labels_values: Array,
    sequence_length: Array,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False,
) -> tuple[Array, Array]:
    """−log of the probability of the labels, and its gradient; the last class is the blank.

    Args:
        inputs: `(time, batch, classes)`, logits.
        labels_indices, labels_values: a sparse matrix of labels, a row for each sequence.
        sequence_length: `(batch,)`.
        preprocess_collapse_repeated: merge equal labels.
        ctc_merge_repeated: only True.
        ignore_longer_outputs_than_inputs: the loss 0 for more labels than steps, else ∞, where upstream
            raises an error.
    """
    blank = na.shape(inputs)[2] - 1
    settings = (preprocess_collapse_repeated, ctc_merge_repeated, ignore_longer_outputs_than_inputs)
    return _loss(inputs, labels_indices, labels_values, sequence_length, *settings, blank)


def CTCLossV2(
    inputs: Array,
    labels_indices: Array,
    labels_values: Array,
    sequence_length: Array,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False,
) -> tuple[Array, Array]:
    """`CTCLoss` with the blank 0."""
    settings = (preprocess_collapse_repeated, ctc_merge_repeated, ignore_longer_outputs_than_inputs)
    return _loss(inputs, labels_indices, labels_values, sequence_length, *settings, 0)


def _loss(
    inputs: Array,
    indices: Array,
    values: Array,
    lengths: Array,
    collapses: bool,
    merges: bool,
    ignores: bool,
    blank: int,
) -> tuple[Array, Array]:
    if not merges:
        raise UnsupportedError("CTCLoss: ctc_merge_repeated: got False, expected True")
    labels, sizes = padded_rows(indices, values, (na.shape(inputs)[1],))
    if collapses:
        labels, sizes = nn.collapse_repeated(labels, sizes)

    def loss(logits: Array) -> Array:
        return na.ctc_loss(
            na.log_softmax(logits),
            labels,
            lengths,
            sizes,
            blank=blank,
            reduction="none",
            zero_infinity=ignores,
        )

    fixed, pullback = na.vjp(loss, na.stop_gradient(inputs))
    return loss(inputs), na.stop_gradient(pullback(na.ones_like(fixed))[0])


def CTCGreedyDecoder(
    inputs: Array, sequence_length: Array, merge_repeated: bool = False, blank_index: int = -1
) -> tuple[Array, Array, Array, Array]:
    """The classes of the largest logits as a sparse tensor, and minus the sum of these logits."""
    found, scores = nn.ctc_greedy_decoder(inputs, sequence_length, merge_repeated, blank_index)
    return (*parts(found[0]), scores)


def CTCBeamSearchDecoder(
    inputs: Array,
    sequence_length: Array,
    beam_width: int,
    top_paths: int,
    merge_repeated: bool = True,
) -> tuple[list[Array], list[Array], list[Array], Array]:
    """The most probable sequences as sparse tensors, and the logarithms of their probabilities.

    `merge_repeated` merges equal classes of results.
    """
    found, scores = most_probable(inputs, sequence_length, beam_width, top_paths)
    paths = na.unstack(found)
    paths = [to_sparse(without_repetitions(x) if merge_repeated else x) for x in paths]
    indices, values, shapes = zip(*[parts(x) for x in paths], strict=True)
    return [*indices], [*values], [*shapes], scores


def EditDistance(
    hypothesis_indices: Array,
    hypothesis_values: Array,
    hypothesis_shape: Array,
    truth_indices: Array,
    truth_values: Array,
    truth_shape: Array,
    normalize: bool = True,
) -> Array:
    """The least number of changes from one sequence of numbers to the other."""
    hypothesis = SparseTensor(hypothesis_indices, hypothesis_values, hypothesis_shape)
    return edit_distance(
        hypothesis, SparseTensor(truth_indices, truth_values, truth_shape), normalize
    )


def IsotonicRegression(input: Array, output_dtype: DType = dtypes.float32) -> tuple[Array, Array]:
    """The nearest sequence that does not rise, and the numbers of its constant parts."""
    found, numbers = nn.isotonic_regression(input)
    return na.astype(found, output_dtype), numbers
