"""What activations, recurrences, attention, losses and images say of arguments that do not fit."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import backends
from nestarray.errors import ArgumentError, DtypeError, ShapeError

Zeros = Callable[..., Any]
Row = tuple[str, Callable[[Zeros], Any], type[Exception], str]

CHANNELS_LAST: Any = {"data_format": "channels_last", "weight_format": "channels_last"}

ACTIVATIONS: list[Row] = [
    (
        "geglu",
        lambda zeros: na.geglu(zeros(2, 3)),
        ShapeError,
        "geglu: axis -1 of x (2, 3) has 3 elements, expected an even number: it is cut in two "
        "halves",
    ),
    (
        "swiglu",
        lambda zeros: na.swiglu(zeros(5, 2), axis=0),
        ShapeError,
        "swiglu: axis 0 of x (5, 2) has 5 elements, expected an even number: it is cut in two "
        "halves",
    ),
    (
        "rrelu",
        lambda zeros: na.rrelu(zeros(2), lower=0.5, upper=0.25),
        ArgumentError,
        "rrelu: lower: got 0.5, expected at most upper, which is 0.25",
    ),
    (
        "gumbel",
        lambda zeros: na.gumbel_softmax(zeros(2), na.random.key(0, like=zeros(1)), tau=0.0),
        ArgumentError,
        "gumbel_softmax: tau: got 0.0, expected a positive number",
    ),
]

RECURRENT: list[Row] = [
    (
        "lstm-count",
        lambda zeros: na.lstm(zeros(3, 2, 4), [zeros(8, 4)] * 6),
        ArgumentError,
        "lstm: weights: got 6 arrays, expected one of 2, 3, 4, 5 for each of num_layers=1 layers and 1 "
        "directions",
    ),
    (
        "gru-rows",
        lambda zeros: na.gru(zeros(3, 2, 4), [zeros(8, 4), zeros(8, 2)]),
        ShapeError,
        "gru: weights: got the shapes (8, 4) for the input and (8, 2) for the hidden state, "
        "expected (3 · hidden, in) and (3 · hidden, out)",
    ),
    (
        "rnn-features",
        lambda zeros: na.rnn(zeros(3, 2, 5), [zeros(2, 4), zeros(2, 2)]),
        ShapeError,
        "rnn: x has shape (3, 2, 5), expected (length, batch, in) or (length, in) with in = 4: "
        "axis 1 of the first weight (2, 4)",
    ),
    (
        "rnn-empty",
        lambda zeros: na.rnn(zeros(2, 0, 4), [zeros(2, 4), zeros(2, 2)], batch_first=True),
        ShapeError,
        "rnn: x has shape (2, 0, 4), expected a length of at least 1",
    ),
    (
        "rnn-state",
        lambda zeros: na.rnn(zeros(3, 2, 4), [zeros(5, 4), zeros(5, 5)], zeros(1, 3, 5)),
        ShapeError,
        "rnn: h0 has shape (1, 3, 5), expected (1, 2, 5): (layers · directions, batch, size)",
    ),
    (
        "rnn-lengths",
        lambda zeros: na.rnn(
            zeros(3, 2, 4), [zeros(5, 4), zeros(5, 5)], None, zeros(3, dtype="int32")
        ),
        ShapeError,
        "rnn: lengths has shape (3,) for x (3, 2, 4), expected one length for each sequence of a "
        "batch",
    ),
    (
        "rnn-nonlinearity",
        lambda zeros: na.rnn(zeros(3, 2, 4), [zeros(5, 4), zeros(5, 5)], nonlinearity="gelu"),
        ArgumentError,
        "rnn: nonlinearity: got 'gelu', expected 'tanh' or 'relu'",
    ),
]

ATTENTION: list[Row] = [
    (
        "heads-count",
        lambda zeros: na.multi_head_attention(*[zeros(2, 4)] * 3, [zeros(4, 4)] * 3, num_heads=2),
        ArgumentError,
        "multi_head_attention: got 3 weights and 0 biases, expected four: of query, key, value "
        "and of the result",
    ),
    (
        "heads-rows",
        lambda zeros: na.multi_head_attention(*[zeros(2, 4)] * 3, [zeros(4, 4)] * 4, num_heads=3),
        ShapeError,
        "multi_head_attention: the projection of query has shape (4, 4), expected rows that are a "
        "multiple of num_heads=3",
    ),
    (
        "rotary",
        lambda zeros: na.rotary_embedding(zeros(2, 4), zeros(2, 3), zeros(2, 3)),
        ShapeError,
        "rotary_embedding: got x (2, 4), cos (2, 3) and sin (2, 3), expected cos and sin of one "
        "shape with at most half the last axis of x",
    ),
    (
        "alibi",
        lambda zeros: na.alibi_bias(2, 3, 2, like=zeros(1)),
        ArgumentError,
        "alibi_bias: got num_heads=2, length=3, source=2, expected a head at least and no more "
        "queries than keys",
    ),
]

LAYOUTS: list[Row] = [
    (
        "conv-bias",
        lambda zeros: na.conv(zeros(2, 5, 4, 3), zeros(3, 2, 3, 4), zeros(5), **CHANNELS_LAST),
        ShapeError,
        "conv: bias: got shape (5,), expected (4,), one for each channel of the result",
    ),
    (
        "conv-rank",
        lambda zeros: na.conv(zeros(2, 5, 4, 3), zeros(2, 3, 4), **CHANNELS_LAST),
        ShapeError,
        "conv: weight has 3 axes, shape (4, 3, 2), expected 4: (out, in / groups, *kernel) with 2 "
        "spatial",
    ),
    (
        "conv-transpose-bias",
        lambda zeros: na.conv_transpose(zeros(2, 4, 3), zeros(3, 2, 3), zeros(1), **CHANNELS_LAST),
        ShapeError,
        "conv_transpose: bias: got shape (1,), expected (2,), one for each channel of the result",
    ),
    *(
        (
            f"{op}-window",
            lambda zeros, op=op: getattr(na, op)(
                zeros(2, 6, 5, 3), kernel_size=9, data_format="channels_last"
            ),
            ShapeError,
            f"{op}: the window spans (9, 9) elements and the padded input has (6, 5); expected an "
            "input at least as large as the window: pad more, or make the kernel smaller",
        )
        for op in ("max_pool", "avg_pool")
    ),
    (
        "max-pool-dilation",
        lambda zeros: na.max_pool(
            zeros(2, 6, 5, 3), kernel_size=2, dilation=(1, 1, 1), data_format="channels_last"
        ),
        ArgumentError,
        "max_pool: dilation: got (1, 1, 1), expected an integer or 2 integers",
    ),
    (
        "avg-pool-divisor",
        lambda zeros: na.avg_pool(
            zeros(2, 6, 5, 3), kernel_size=2, divisor_override=0, data_format="channels_last"
        ),
        ArgumentError,
        "avg_pool: divisor_override: got 0, expected a number but 0",
    ),
]

LOSSES: list[Row] = [
    (
        "multi-margin-weights",
        lambda zeros: na.multi_margin_loss(zeros(2, 3), zeros(2, dtype="int32"), zeros(2)),
        ShapeError,
        "multi_margin_loss: weight: got shape (2,), expected (3,), one for each class",
    ),
    (
        "triplet-power",
        lambda zeros: na.triplet_margin_loss(zeros(2, 3), zeros(2, 3), zeros(2, 3), p=0.0),
        ArgumentError,
        "triplet_margin_loss: p: got 0.0, expected a number above 0",
    ),
    (
        "multi-margin-power",
        lambda zeros: na.multi_margin_loss(zeros(2, 3), zeros(2, dtype="int32"), p=3),
        ArgumentError,
        "multi_margin_loss: p: got 3, expected 1 or 2",
    ),
    (
        "multi-margin-target",
        lambda zeros: na.multi_margin_loss(zeros(2, 3), zeros(3, dtype="int32")),
        ShapeError,
        "multi_margin_loss: target has shape (3,), expected (2,)",
    ),
    (
        "multilabel-target",
        lambda zeros: na.multilabel_margin_loss(zeros(2, 3), zeros(2, dtype="int32")),
        ShapeError,
        "multilabel_margin_loss: target has shape (2,), expected (2, 3)",
    ),
    (
        "dice-reduction",
        lambda zeros: na.dice_loss(zeros(2), zeros(2), reduction="median"),
        ArgumentError,
        'dice_loss: reduction: got \'median\', expected "mean", "sum" or "none"',
    ),
    (
        "ctc-dtypes",
        lambda zeros: na.ctc_loss(
            zeros(4, 2, 3), *(zeros(*n, dtype="bool") for n in ((2, 2), (2,), (2,)))
        ),
        DtypeError,
        "ctc_loss: targets: got bool, expected integers; cast with na.astype",
    ),
    (
        "ctc-shapes",
        lambda zeros: na.ctc_loss(
            zeros(4, 2, 3), *(zeros(*n, dtype="int32") for n in ((3, 2), (2,), (2,)))
        ),
        ShapeError,
        "ctc_loss: got log_probs (4, 2, 3), targets (3, 2), input_lengths (2,) and "
        "target_lengths (2,), expected (length, batch, classes), (batch, targets), (batch,) and "
        "(batch,), or all without the batch, and place for one target at least",
    ),
    (
        "ctc-blank",
        lambda zeros: na.ctc_loss(
            zeros(4, 3), *(zeros(*n, dtype="int32") for n in ((2,), (), ())), blank=3
        ),
        ArgumentError,
        "ctc_loss: blank: got 3, expected one of the 3 classes",
    ),
]

WINDOWS: list[Row] = [
    (
        "lp-order",
        lambda zeros: na.lp_pool(zeros(1, 1, 4), ord=0.0, kernel_size=2),
        ArgumentError,
        "lp_pool: ord: got 0.0, expected a positive number",
    ),
    (
        "lp-ceil-window",
        lambda zeros: na.lp_pool(zeros(1, 1, 3), kernel_size=4, stride=1, ceil_mode=True),
        ShapeError,
        "lp_pool: the window spans (4,) elements and the padded input has (3,); expected an input "
        "at least as large as the window: pad more, or make the kernel smaller",
    ),
    (
        "avg-divisor",
        lambda zeros: na.avg_pool2d(zeros(1, 1, 4, 4), kernel_size=2, divisor_override=0),
        ArgumentError,
        "avg_pool2d: divisor_override: got 0, expected a number but 0",
    ),
    (
        "avg-stride-handed-on",
        lambda zeros: na.avg_pool(zeros(1, 1, 4, 4), kernel_size=2, stride=()),
        ArgumentError,
        "avg_pool: stride: got (), expected an integer or 2 integers",
    ),
    (
        "linear-weight-of-three-axes",
        lambda zeros: na.linear(zeros(2, 3), zeros(2, 3, 3)),
        ShapeError,
        "linear: got x of shape (2, 3) and weight of shape (2, 3, 3), expected x (*batch, in) and "
        "weight (out, in) or (in,)",
    ),
    (
        "lp-rank",
        lambda zeros: na.lp_pool(zeros(1, 4), kernel_size=2),
        ShapeError,
        "lp_pool: x has shape (1, 4), expected (batch, channels, *spatial) with one to 3 spatial "
        "axes",
    ),
    (
        "indices-window",
        lambda zeros: na.max_pool_with_indices(zeros(1, 1, 3), kernel_size=4),
        ShapeError,
        "max_pool_with_indices: the window spans (4,) elements and the padded input has (3,); "
        "expected an input at least as large as the window: pad more, or make the kernel smaller",
    ),
    (
        "unpool",
        lambda zeros: na.max_unpool(zeros(1, 1, 3), zeros(1, 1, 2, dtype="int32"), kernel_size=2),
        ShapeError,
        "max_unpool: indices has shape (1, 1, 2), expected that of x, (1, 1, 3)",
    ),
    (
        "fractional",
        lambda zeros: na.fractional_max_pool2d(
            zeros(1, 1, 3, 3), na.random.key(0, like=zeros(1)), kernel_size=2, output_size=(2, 3)
        ),
        ShapeError,
        "fractional_max_pool2d: x has shape (1, 1, 3, 3), expected (batch, channels, height, width) "
        "with sizes of at least (3, 4): output_size + kernel_size − 1",
    ),
    (
        "reduce-computation",
        lambda zeros: na.reduce_window(zeros(3), computation="mean", window=(2,)),
        ArgumentError,
        "reduce_window: computation: got 'mean', expected one of add, mul, max, min",
    ),
    (
        "reduce-window",
        lambda zeros: na.reduce_window(zeros(3), computation="add", window=(2, 2)),
        ArgumentError,
        "reduce_window: window: got (2, 2), expected 1 numbers: one for each axis of x (3,)",
    ),
    (
        "conv-format",
        lambda zeros: na.conv(zeros(1, 3, 4), zeros(2, 3, 2), data_format="NCW"),
        ArgumentError,
        "conv: data_format: got 'NCW', expected one of channels_first, channels_last",
    ),
    (
        "conv-rank",
        lambda zeros: na.conv_transpose(zeros(1, 3), zeros(3, 2)),
        ShapeError,
        "conv_transpose: x has shape (1, 3), expected a batch, channels and one to three spatial "
        "axes",
    ),
    (
        "separable",
        lambda zeros: na.separable_conv(zeros(1, 2, 4), zeros(4, 1, 2), zeros(3, 2)),
        ShapeError,
        "separable_conv: pointwise has shape (3, 2), expected (out, 4): as many columns as "
        "depthwise (4, 1, 2) has kernels",
    ),
    (
        "locally-connected",
        lambda zeros: na.locally_connected(zeros(1, 2, 4), zeros(3, 4, 4), kernel_size=2),
        ShapeError,
        "locally_connected: weight has shape (3, 4, 4), expected (out, 4, 3): (out, in · kernel, "
        "*out_spatial)",
    ),
]

IMAGES: list[Row] = [
    (
        "weight-norm",
        lambda zeros: na.weight_norm(zeros(3, 2), zeros(2)),
        ShapeError,
        "weight_norm: g has shape (2,), expected 3 lengths: one for each element along axis 0 of "
        "weight (3, 2)",
    ),
    (
        "spectral-norm",
        lambda zeros: na.spectral_norm(zeros(3, 2), zeros(2)),
        ShapeError,
        "spectral_norm: u has shape (2,), expected (3,): axis 0 of weight (3, 2)",
    ),
    (
        "spectral-steps",
        lambda zeros: na.spectral_norm(zeros(3, 2), zeros(3), num_steps=0),
        ArgumentError,
        "spectral_norm: num_steps: got 0, expected at least 1",
    ),
    (
        "grayscale",
        lambda zeros: na.rgb_to_grayscale(zeros(4, 2, 2)),
        ShapeError,
        "rgb_to_grayscale: x has shape (4, 2, 2), expected three channels along axis -3",
    ),
    (
        "hsv-axis",
        lambda zeros: na.hsv_to_rgb(zeros(3, 3)),
        ShapeError,
        "hsv_to_rgb: x has shape (3, 3), expected three channels along axis -3",
    ),
    (
        "interpolate-size",
        lambda zeros: na.interpolate(zeros(1, 1, 3), size=(1.5,)),
        ArgumentError,
        "interpolate: size: got (1.5,), expected an int or a sequence of ints",
    ),
    (
        "corners",
        lambda zeros: na.interpolate(zeros(1, 1, 3), size=5, mode="lanczos3", align_corners=True),
        ArgumentError,
        "interpolate: align_corners: got True with mode 'lanczos3', expected a linear or a cubic "
        "mode",
    ),
    (
        "box",
        lambda zeros: na.box_iou(zeros(2, 4), zeros(2, 5)),
        ShapeError,
        "box_iou: boxes2 has shape (2, 5), expected (n, 4): four numbers a box",
    ),
    (
        "nms",
        lambda zeros: na.nms(zeros(2, 4), zeros(3), iou_threshold=0.5),
        ShapeError,
        "nms: boxes has shape (2, 4) and scores (3,), expected (n, 4) and (n,)",
    ),
    (
        "roi-axes",
        lambda zeros: na.roi_align(
            zeros(1, 2, 3, 3), zeros(2, 5), zeros(2, dtype="int32"), output_size=2
        ),
        ShapeError,
        "roi_align: got x (1, 2, 3, 3), boxes (2, 5) and box_indices (2,), expected (batch, "
        "channels, height, width), (n, 4) and (n,)",
    ),
    (
        "roi-samples",
        lambda zeros: na.roi_align(
            zeros(1, 2, 3, 3),
            zeros(2, 4),
            zeros(2, dtype="int32"),
            output_size=2,
            sampling_ratio=-1,
        ),
        ArgumentError,
        "roi_align: sampling_ratio: got -1, expected at least 1: a number that depends on the size "
        "of the box would make shapes depend on values",
    ),
    (
        "crop",
        lambda zeros: na.crop_and_resize(
            zeros(2, 3, 3), zeros(2, 4), zeros(2, dtype="int32"), crop_size=2
        ),
        ShapeError,
        "crop_and_resize: got x (2, 3, 3), boxes (2, 4) and box_indices (2,), expected (batch, "
        "channels, height, width), (n, 4) and (n,)",
    ),
]

ROWS = [*ACTIVATIONS, *RECURRENT, *ATTENTION, *LAYOUTS, *LOSSES, *WINDOWS, *IMAGES]


@pytest.mark.parametrize(
    ("call", "error", "message"), [pytest.param(*row[1:], id=row[0]) for row in ROWS]
)
def test_the_words_are_the_same_everywhere(
    backend: str, call: Callable[[Zeros], Any], error: type[Exception], message: str
) -> None:
    def zeros(*shape: int, dtype: str = "float32") -> Any:
        return backends.core(backend).from_numpy(np.zeros(shape, dtype))

    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        call(zeros)
