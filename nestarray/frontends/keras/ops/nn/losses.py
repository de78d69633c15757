"""Losses.

Upstream: https://keras.io/api/ops/nn/. Probabilities are clipped to `config.epsilon`.
"""

from __future__ import annotations

from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, ShapeError
from nestarray.frontends.keras import config
from nestarray.frontends.keras.promotion import as_array, as_arrays, cast, result_type
from nestarray.frontends.tensorflow import nn as tf_nn
from nestarray.frontends.tensorflow.nn.ctc_decoding import beam_search, greedy_search
from nestarray.typing import Array

__all__ = [
    "binary_crossentropy", "categorical_crossentropy", "ctc_decode", "ctc_loss", "psnr",
    "sparse_categorical_crossentropy",
]  # fmt: skip


def _same_shape(op: str, target: Array, output: Array) -> None:
    if na.shape(target) != na.shape(output):
        raise ShapeError(
            f"{op}: target: got the shape {na.shape(target)}, expected the shape of output, "
            f"{na.shape(output)}"
        )


def _clipped(probabilities: Array) -> Array:
    eps = config.epsilon()
    return na.clip(probabilities, eps, 1.0 - eps)


def categorical_crossentropy(
    target: Array, output: Array, from_logits: bool = False, axis: int = -1
) -> Array:
    """−Σ target · ln output along an axis.

    Args:
        target: probabilities, of the shape of `output`.
        output: probabilities, which are normalized first, or logits.
        from_logits: whether `output` has logits.
        axis: the axis of the classes.
    """
    target, output = as_arrays(target, output)
    _same_shape("categorical_crossentropy", target, output)
    target = cast(target, dtypes.dtype_of(output))
    if from_logits:
        return tf_nn.softmax_cross_entropy_with_logits(target, output, axis)
    normalized = na.divide(output, na.sum(output, axis=axis, keepdims=True))
    logarithms = na.log(_clipped(normalized))
    return na.negative(na.sum(na.multiply(target, logarithms), axis=axis))


def sparse_categorical_crossentropy(
    target: Array, output: Array, from_logits: bool = False, axis: int = -1
) -> Array:
    """The cross entropy of integer classes, along the last axis.

    Raises:
        ArgumentError: `axis` is not the last one.
        ShapeError: `target` does not have the shape of `output` without the last axis.
    """
    target, output = as_arrays(target, output)
    shape = na.shape(output)
    if axis not in (-1, len(shape) - 1):
        raise ArgumentError(f"sparse_categorical_crossentropy: axis: got {axis}, expected −1")
    if len(na.shape(target)) == len(shape) and na.shape(target)[-1] == 1:
        target = na.squeeze(target, -1)
    if na.shape(target) != shape[:-1]:
        raise ShapeError(
            f"sparse_categorical_crossentropy: target: got the shape {na.shape(target)}, expected "
            f"{shape[:-1]}, the shape of output without the last axis"
        )
    logits = output if from_logits else na.log(_clipped(output))
    logarithms = na.log_softmax(logits, axis=-1)
    classes = na.expand_dims(cast(target, dtypes.int32), -1)
    return na.negative(na.squeeze(na.take_along_axis(logarithms, classes, axis=-1), -1))


def binary_crossentropy(target: Array, output: Array, from_logits: bool = False) -> Array:
    """−target · ln output − (1 − target) · ln(1 − output), elementwise."""
    target, output = as_arrays(target, output)
    _same_shape("binary_crossentropy", target, output)
    target = cast(target, dtypes.dtype_of(output))
    if from_logits:
        return na.binary_cross_entropy_with_logits(output, target, reduction="none")
    output = _clipped(output)
    loss = na.add(
        na.multiply(target, na.log(output)),
        na.multiply(na.subtract(1, target), na.log(na.subtract(1, output))),
    )
    return na.negative(loss)


def psnr(x1: Array, x2: Array, max_val: Any) -> Array:
    """The peak signal-to-noise ratio in decibels, 20 log₁₀ max_val − 10 log₁₀ mse."""
    x1, x2 = as_arrays(x1, x2)
    _same_shape("psnr", x1, x2)
    mse = na.mean(na.square(na.subtract(x1, x2)))
    peak = na.log10(as_array(max_val, dtypes.dtype_of(x2), x2))
    return na.subtract(na.multiply(peak, 20), na.multiply(na.log10(mse), 10))


def ctc_loss(
    target: Array,
    output: Array,
    target_length: Array,
    output_length: Array,
    mask_index: int = 0,
) -> Array:
    """The CTC loss of each sequence.

    Args:
        target: `(batch, max_targets)`, integer classes.
        output: `(batch, length, classes)`, logits.
        target_length, output_length: `(batch,)`, integers.
        mask_index: the blank class.
    """
    target, output, target_length, output_length = as_arrays(
        target, output, target_length, output_length
    )
    dtype = result_type(output, dtypes.float32)
    logarithms = na.log_softmax(cast(output, dtype), axis=-1)
    return na.ctc_loss(
        na.moveaxis(logarithms, 1, 0),
        cast(target, dtypes.int32),
        cast(output_length, dtypes.int32),
        cast(target_length, dtypes.int32),
        blank=mask_index,
        reduction="none",
    )


def ctc_decode(
    inputs: Array,
    sequence_lengths: Array,
    strategy: str = "greedy",
    beam_width: int = 100,
    top_paths: int = 1,
    merge_repeated: bool = True,
    mask_index: int = 0,
) -> tuple[Array, Array]:
    """The most probable targets of a network trained with `ctc_loss`.

    Args:
        inputs: `(batch, length, classes)`, logits.
        sequence_lengths: `(batch,)`, integers.
        strategy: ``"greedy"`` or ``"beam_search"``.
        beam_width: the number of prefixes that beam search keeps.
        top_paths: the number of results of beam search, at most `beam_width`.
        merge_repeated: of greedy search: merge equal classes of adjacent steps.
        mask_index: the blank class; negative numbers count from the end; None: the last class.

    Returns:
        The classes `(top_paths, batch, length)`, int32, padded by −1, and scores: of beam search the
        logarithms of the probabilities `(batch, top_paths)`, of greedy search minus the sum of the
        largest logits `(batch, 1)`. They have no derivative.

    Raises:
        ArgumentError: `strategy` is unknown.
    """
    inputs = as_array(inputs)
    inputs = na.stop_gradient(cast(inputs, result_type(inputs, dtypes.float32)))
    lengths = as_array(sequence_lengths, dtypes.int32, inputs)
    classes = na.shape(inputs)[-1]
    blank = classes - 1 if mask_index is None else mask_index % classes
    if strategy == "greedy":
        return greedy_search(inputs, lengths, blank, merge_repeated)
    if strategy == "beam_search":
        return beam_search(inputs, lengths, blank, beam_width, top_paths)
    raise ArgumentError(
        f"ctc_decode: strategy: got {strategy!r}, expected 'greedy' or 'beam_search'"
    )
