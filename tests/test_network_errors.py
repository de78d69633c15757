"""What convolutions, pools, norms, losses and images say of shapes and settings that do not fit."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import backends
from nestarray.errors import ArgumentError, ShapeError

Zeros = Callable[..., Any]

ROWS: list[tuple[str, Callable[[Zeros], Any], type[Exception], str]] = [
    (
        "conv-channels",
        lambda zeros: na.conv2d(zeros(1, 3, 4, 4), zeros(2, 4, 3, 3)),
        ShapeError,
        "conv2d: x has 3 channels (axis 1 of (1, 3, 4, 4)), expected 4: axis 1 of weight "
        "(2, 4, 3, 3) times groups=1",
    ),
    (
        "conv-groups",
        lambda zeros: na.conv1d(zeros(1, 4, 4), zeros(3, 2, 3), groups=2),
        ShapeError,
        "conv1d: weight has 3 output channels, expected a multiple of groups=2",
    ),
    (
        "conv-rank",
        lambda zeros: na.conv2d(zeros(3, 4, 4), zeros(2, 3, 3, 3)),
        ShapeError,
        "conv2d: x has 3 axes, shape (3, 4, 4), expected 4: (batch, in, *spatial) with 2 spatial",
    ),
    (
        "conv-window",
        lambda zeros: na.conv1d(zeros(1, 1, 3), zeros(1, 1, 3), dilation=2, padding=(0,)),
        ShapeError,
        "conv1d: the window spans (5,) elements and the padded input has (3,); expected an input "
        "at least as large as the window: pad more, or make the kernel smaller",
    ),
    (
        "conv-stride",
        lambda zeros: na.conv2d(zeros(1, 1, 3, 3), zeros(1, 1, 3, 3), stride=(1, 1, 1)),
        ArgumentError,
        "conv2d: stride: got (1, 1, 1), expected an integer or 2 integers",
    ),
    (
        "conv-padding",
        lambda zeros: na.conv2d(zeros(1, 1, 3, 3), zeros(1, 1, 3, 3), padding="full"),
        ArgumentError,
        "conv2d: padding: got 'full', expected 'same', 'valid', an integer, or 2 integers or "
        "pairs (before, after)",
    ),
    (
        "transpose-channels",
        lambda zeros: na.conv_transpose2d(zeros(1, 3, 4, 4), zeros(2, 4, 3, 3)),
        ShapeError,
        "conv_transpose2d: x has 3 channels (axis 1 of (1, 3, 4, 4)), expected 2: axis 0 of "
        "weight (2, 4, 3, 3)",
    ),
    (
        "transpose-same",
        lambda zeros: na.conv_transpose1d(zeros(1, 2, 4), zeros(2, 4, 3), padding="same"),
        ArgumentError,
        "conv_transpose1d: padding: got 'same', expected 'valid', an integer or a pair (before, "
        "after); the size of the output is given by output_padding",
    ),
    (
        "fold",
        lambda zeros: na.fold(zeros(1, 6, 4), output_size=(4,), kernel_size=2),
        ShapeError,
        "fold: x has shape (1, 6, 4), expected (batch, channels · 2, 3): the patches of size "
        "(2,) of an array of size (4,)",
    ),
    (
        "pool-rank",
        lambda zeros: na.max_pool2d(zeros(3, 4, 4), kernel_size=2),
        ShapeError,
        "max_pool2d: x has 3 axes, shape (3, 4, 4), expected 4: (batch, channels, *spatial) with "
        "2 spatial",
    ),
    (
        "pool-kernel",
        lambda zeros: na.avg_pool1d(zeros(1, 1, 4), kernel_size=0),
        ArgumentError,
        "avg_pool1d: kernel_size: got 0, expected integers that are at least 1",
    ),
    (
        "adaptive",
        lambda zeros: na.adaptive_avg_pool2d(zeros(1, 1, 4, 4), output_size=(1, 2, 3)),
        ArgumentError,
        "adaptive_avg_pool2d: output_size: got (1, 2, 3), expected a positive integer or 2 of them",
    ),
    (
        "group-norm",
        lambda zeros: na.group_norm(zeros(2, 5, 3), num_groups=2),
        ShapeError,
        "group_norm: x has shape (2, 5, 3), num_groups is 2; expected (batch, channels, "
        "*spatial) with num_groups a divisor of the channels",
    ),
    (
        "layer-norm",
        lambda zeros: na.layer_norm(zeros(2, 3), zeros(4), zeros(4)),
        ShapeError,
        "layer_norm: weight or bias has shape (4,), expected (3,): the shape of x (2, 3) along "
        "axis (1,)",
    ),
    (
        "instance-norm",
        lambda zeros: na.instance_norm(zeros(2, 3)),
        ShapeError,
        "instance_norm: x has shape (2, 3), expected (batch, channels, *spatial) with at least "
        "one spatial axis",
    ),
    (
        "normalize",
        lambda zeros: na.normalize(zeros(3), ord=0, axis=(0,)),
        ArgumentError,
        "normalize: ord: got 0, expected a positive number",
    ),
    (
        "glu",
        lambda zeros: na.glu(zeros(2, 3)),
        ShapeError,
        "glu: axis -1 of x (2, 3) has 3 elements, expected an even number: it is cut in two halves",
    ),
    (
        "prelu",
        lambda zeros: na.prelu(zeros(2, 3), zeros(2)),
        ShapeError,
        "prelu: weight has shape (2,), x (2, 3); expected one slope, or one for each channel "
        "(axis 1 of x)",
    ),
    (
        "dropout-share",
        lambda zeros: na.scaled_dot_product_attention(*[zeros(1, 2, 3)] * 3, dropout_p=1.5),
        ArgumentError,
        "scaled_dot_product_attention: dropout_p: got 1.5, expected a probability from 0 to 1",
    ),
    (
        "dropout-key",
        lambda zeros: na.scaled_dot_product_attention(*[zeros(1, 2, 3)] * 3, dropout_p=0.5),
        ArgumentError,
        "scaled_dot_product_attention: dropout_key: got None with dropout_p=0.5, expected a key, "
        "such as na.random.key(0)",
    ),
    (
        "dropout-words",
        lambda zeros: na.scaled_dot_product_attention(
            *[zeros(1, 2, 3)] * 3, None, zeros(4, dtype="uint32"), dropout_p=0.5
        ),
        ShapeError,
        "scaled_dot_product_attention: dropout_key: got the shape (4,), expected (2,), as "
        "na.random.key(0) makes it",
    ),
    (
        "heads",
        lambda zeros: na.scaled_dot_product_attention(
            zeros(1, 3, 2, 4), zeros(1, 2, 2, 4), zeros(1, 2, 2, 4), enable_gqa=True
        ),
        ShapeError,
        "scaled_dot_product_attention: query has 3 heads, key 2; expected a number of heads of "
        "query that is a multiple of that of key",
    ),
    (
        "reduction",
        lambda zeros: na.mse_loss(zeros(3), zeros(3), reduction="average"),
        ArgumentError,
        'mse_loss: reduction: got \'average\', expected "mean", "sum" or "none"',
    ),
    (
        "target",
        lambda zeros: na.cross_entropy(zeros(2, 3, 4), zeros(2, 4, dtype="int64")),
        ShapeError,
        "cross_entropy: target has shape (2, 4), expected (2, 3) for class indices; `axis` says "
        "where the classes are",
    ),
    (
        "distributions",
        lambda zeros: na.cross_entropy(zeros(2, 3), zeros(2)),
        ShapeError,
        "cross_entropy: target has shape (2,), expected (2, 3) for probabilities; `axis` says "
        "where the classes are",
    ),
    (
        "interpolate-mode",
        lambda zeros: na.interpolate(zeros(1, 1, 2), size=3, mode="lanczos"),
        ArgumentError,
        "interpolate: mode: got 'lanczos', expected one of nearest, nearest-exact, linear, "
        "bilinear, trilinear, cubic, bicubic, area, tf-area, mitchellcubic, lanczos3, lanczos5, "
        "gaussian",
    ),
    (
        "interpolate-size",
        lambda zeros: na.interpolate(zeros(1, 1, 2), size=3, scale_factor=2),
        ArgumentError,
        "interpolate: got size=3 and scale_factor=2, expected one of them",
    ),
    (
        "pixel-shuffle",
        lambda zeros: na.pixel_shuffle(zeros(1, 3, 2, 2), upscale_factor=2),
        ShapeError,
        "pixel_shuffle: x has 3 channels (axis -3 of (1, 3, 2, 2)), expected a multiple of "
        "upscale_factor² = 4",
    ),
    (
        "grid-sample",
        lambda zeros: na.grid_sample(zeros(1, 1, 2, 2), zeros(1, 2, 2, 2), mode="cubic"),
        ArgumentError,
        'grid_sample: mode: got \'cubic\', expected "bilinear", "nearest" or, for images, '
        '"bicubic"',
    ),
]


@pytest.mark.parametrize(
    ("call", "error", "message"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_message(
    backend: str, call: Callable[[Zeros], Any], error: type[Exception], message: str
) -> None:
    def zeros(*shape: int, dtype: str = "float32") -> Any:
        if backend == "jax" and dtype == "int64":
            dtype = "int32"
        return backends.core(backend).from_numpy(np.zeros(shape, dtype))

    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        call(zeros)
