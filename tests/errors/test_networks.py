"""Refused calls of functions that make up networks: convolutions, pools, norms, attention, recurrences, losses and images."""

from __future__ import annotations

from typing import Any

import numpy as np

import nestarray
from nestarray.errors import ArgumentError, DtypeError, IndexingError, ShapeError
from tests.errors.checks import Row, check_refused, refused

na: Any = nestarray  # whose signatures forbid these calls

CHANNELS_LAST: Any = {"data_format": "channels_last", "weight_format": "channels_last"}

ROWS: list[Row] = [
    (
        lambda x: na.random_uniform(na.astype(x[0, 1:], "uint32"), shape=(2, -1)),
        ArgumentError,
        "random: shape: got -1 in (2, -1), expected sizes of at least 0",
    ),
    (
        lambda x: na.cov(na.expand_dims(x, 0)),
        ShapeError,
        "cov: x: got the shape (1, 2, 3), expected (variables, observations) or (observations,)",
    ),
    (
        lambda x: na.corrcoef(na.expand_dims(x, 0)),
        ShapeError,
        "corrcoef: x: got the shape (1, 2, 3), expected (variables, observations) or (observations,)",
    ),
    (
        lambda x: na.cov(x, aweights=na.getitem(x, (0, slice(2)))),
        ShapeError,
        "cov: aweights: got the shape (2,) for 3 observations, expected (3,)",
    ),
    (
        lambda array, x: na.batch_norm_training(x, array(np.ones((1, 3), np.float32))),
        ShapeError,
        "batch_norm_training: weight: got shape (1, 3), expected (3,), as axis 1 of x (2, 3)",
    ),
    (
        lambda array, x: na.instance_norm(x[None], array(np.ones((2, 1), np.float32))),
        ShapeError,
        "instance_norm: weight: got shape (2, 1), expected (2,), as axis 1 of x (1, 2, 3)",
    ),
    (
        lambda array, x: na.nll_loss(x, array(np.asarray([0, 2])), x[0, :1]),
        ShapeError,
        "nll_loss: weight: got shape (1,), expected (3,), one for each class",
    ),
    (
        lambda x: na.batch_norm_training(x, x[0, :1]),
        ShapeError,
        "batch_norm_training: weight: got shape (1,), expected (3,), as axis 1 of x (2, 3)",
    ),
    (
        lambda x: na.group_norm(x, bias=x[0, :1], num_groups=3),
        ShapeError,
        "group_norm: bias: got shape (1,), expected (3,), as axis 1 of x (2, 3)",
    ),
    (
        lambda x: na.instance_norm(x[None], x[0, 0]),
        ShapeError,
        "instance_norm: weight: got shape (), expected (2,), as axis 1 of x (1, 2, 3)",
    ),
    (
        lambda x: na.normalize(x, eps=-1.0),
        ArgumentError,
        "normalize: eps: got -1.0, expected a number of at least 0",
    ),
    (
        lambda array, x: na.random_poisson(
            array(np.asarray([1, 2], np.uint32)), na.astype(x, "bfloat16")
        ),
        DtypeError,
        "random_poisson: lam: got bfloat16, expected float32",
    ),
    (
        lambda ones: na.adaptive_avg_pool1d(ones(3, 4)[None], output_size=True),
        ArgumentError,
        "adaptive_avg_pool1d: output_size: got True, expected a positive integer",
    ),
    (
        lambda ones: na.cross_entropy(ones(3, 4), ones(3, 4)[:, 0] > 0, label_smoothing=-1.0),
        ArgumentError,
        "cross_entropy: label_smoothing: got -1.0, expected a number from 0 to 1",
    ),
    (
        lambda ones: na.adaptive_avg_pool1d(ones(3, 4)[None, :, :0], output_size=1),
        ShapeError,
        "adaptive_avg_pool1d: x: got shape (1, 3, 0), expected at least one element along each spatial axis",
    ),
    (
        lambda ones: na.conv1d(ones(2, 2, 4), ones(2, 2, 4)[:1], padding=True),
        ArgumentError,
        "conv1d: padding: got True, expected 'same', 'valid', an integer or a pair (before, after)",
    ),
    (
        lambda ones: na.conv1d(ones(2, 2, 4), ones(2, 2, 4)[:1], stride=True),
        ArgumentError,
        "conv1d: stride: got True, expected an int or a sequence of ints",
    ),
    (
        lambda ones: na.conv_transpose1d(ones(2, 2, 4), ones(2, 2, 4), output_padding=True),
        ArgumentError,
        "conv_transpose1d: output_padding: got True, expected an int or a sequence of ints",
    ),
    (
        lambda ones: na.fold(ones(2, 2, 4), output_size=(4,), kernel_size=1, dilation=True),
        ArgumentError,
        "fold: dilation: got True, expected an int or a sequence of ints",
    ),
    (
        lambda ones: na.max_pool1d(ones(2, 2, 4), kernel_size=2, padding=True),
        ArgumentError,
        "max_pool1d: padding: got True, expected 'same', 'valid', an integer or a pair (before, after)",
    ),
    (
        lambda ones: na.avg_pool1d(ones(2, 2, 4), kernel_size=True),
        ArgumentError,
        "avg_pool1d: kernel_size: got True, expected an int or a sequence of ints",
    ),
    (
        lambda ones: na.scaled_dot_product_attention(
            ones(2, 3), ones(2, 3), ones(2, 3), is_causal="a"
        ),
        ArgumentError,
        "scaled_dot_product_attention: is_causal: got 'a', expected True or False",
    ),
    (
        lambda ones: na.scaled_dot_product_attention(ones(2, 3), ones(2, 3), ones(2, 3), 1.5),
        ArgumentError,
        "scaled_dot_product_attention: mask: got float, expected an array",
    ),
    (
        lambda ones: na.max_pool1d(ones(2, 3, 9), kernel_size=2, ceil_mode="a"),
        ArgumentError,
        "max_pool1d: ceil_mode: got 'a', expected True or False",
    ),
    (
        lambda ones: na.huber_loss(ones(3), ones(3), delta=0.0),
        ArgumentError,
        "huber_loss: delta: got 0.0, expected a number above 0",
    ),
    (
        lambda ones: na.smooth_l1_loss(ones(3), ones(3), beta=-1.0),
        ArgumentError,
        "smooth_l1_loss: beta: got -1.0, expected a number of at least 0",
    ),
    (
        lambda ones: na.cross_entropy(ones(3, 2), ones(3, 2), label_smoothing=2.5),
        ArgumentError,
        "cross_entropy: label_smoothing: got 2.5, expected a number from 0 to 1",
    ),
    (
        lambda ones: na.local_response_norm(ones(4, 3, 2), size=0),
        ArgumentError,
        "local_response_norm: size: got 0, expected a number of at least 1",
    ),
    (
        lambda ones: na.conv_transpose1d(ones(2, 3, 8), ones(3, 4, 3), groups=0),
        ArgumentError,
        "conv_transpose1d: groups: got 0, expected at least 1",
    ),
    (
        lambda array: na.random_gamma(
            na.random.split(array(np.asarray([0, 1], "uint32")), 1)[0],
            na.ones((2,), like=array(np.asarray([0, 1], "uint32"))),
            log_space=2,
        ),
        ArgumentError,
        "random_gamma: log_space: got 2, expected True or False",
    ),
    (
        lambda ones: na.scaled_dot_product_attention(ones(2, 6, 5), ones(2, 6, 5), ones(2, 5, 5)),
        ShapeError,
        "scaled_dot_product_attention: matmul: got shapes (2, 6, 6) and (2, 5, 5): the last axis of x1 has 6 elements, expected 5, as the second last axis of x2",
    ),
    (
        lambda ones: na.scaled_dot_product_attention(ones(2, 3, 0), ones(2, 3, 0), ones(2, 3, 0)),
        ShapeError,
        "scaled_dot_product_attention: query: got shape (2, 3, 0), expected a last axis of at least one element",
    ),
    (
        lambda ones: na.conv1d(ones(2, 3, 8), ones(4, 3, 3), ones(1, 4)),
        ShapeError,
        "conv1d: bias: got shape (1, 4), expected (4,), one for each channel of the result",
    ),
    (
        lambda ones: na.conv_transpose1d(ones(2, 3, 0), ones(3, 4, 3)),
        ShapeError,
        "conv_transpose1d: x: got shape (2, 3, 0), expected spatial axes of 1 and more",
    ),
    (
        lambda ones: na.conv_transpose1d(ones(2, 3, 8), ones(3, 4, 3), padding=9),
        ShapeError,
        "conv_transpose1d: padding: got 9 for x of shape (2, 3, 8), of whose result nothing is left",
    ),
    (
        lambda ones: na.depthwise_conv(ones(2, 3, 8), ones(4, 1, 3)),
        ShapeError,
        "depthwise_conv: weight has shape (4, 1, 3), expected (channels, 1, *kernel) with a multiple of the 3 channels of x (2, 3, 8)",
    ),
    (
        lambda ones: na.batch_norm(ones(4, 3, 2), ones(1, 3), ones(3)),
        ShapeError,
        "batch_norm: mean: got shape (1, 3), expected (3,), as axis 1 of x (4, 3, 2)",
    ),
    (
        lambda ones: na.layer_norm(ones(4, 3, 2), axis=-4),
        IndexingError,
        "layer_norm: axis: got -4 for an array of 3 dimensions, expected -3 <= axis < 3",
    ),
    (
        lambda ones: na.grid_sample(ones(1, 3, 4, 5), ones(2, 3, 4, 2)),
        ShapeError,
        "grid_sample: got 1 images and 2 grids, expected equal numbers",
    ),
    (
        lambda ones, ints: na.roi_align(ones(2, 0, 5, 4), ones(2, 4), ints(0, 1), output_size=2),
        ShapeError,
        "roi_align: x has shape (2, 0, 5, 4), expected an image with elements",
    ),
    (
        lambda zeros: na.conv2d(zeros(1, 3, 4, 4), zeros(2, 4, 3, 3)),
        ShapeError,
        "conv2d: x has 3 channels (axis 1 of (1, 3, 4, 4)), expected 4: axis 1 of weight (2, 4, 3, 3) times groups=1",
    ),
    (
        lambda zeros: na.conv1d(zeros(1, 4, 4), zeros(3, 2, 3), groups=2),
        ShapeError,
        "conv1d: weight has 3 output channels, expected a multiple of groups=2",
    ),
    (
        lambda zeros: na.conv2d(zeros(3, 4, 4), zeros(2, 3, 3, 3)),
        ShapeError,
        "conv2d: x has 3 axes, shape (3, 4, 4), expected 4: (batch, in, *spatial) with 2 spatial",
    ),
    (
        lambda zeros: na.conv1d(zeros(1, 1, 3), zeros(1, 1, 3), dilation=2, padding=(0,)),
        ShapeError,
        "conv1d: the window spans (5,) elements and the padded input has (3,); expected an input at least as large as the window: pad more, or make the kernel smaller",
    ),
    (
        lambda zeros: na.conv2d(zeros(1, 1, 3, 3), zeros(1, 1, 3, 3), stride=(1, 1, 1)),
        ArgumentError,
        "conv2d: stride: got (1, 1, 1), expected an integer or 2 integers",
    ),
    (
        lambda zeros: na.conv2d(zeros(1, 1, 3, 3), zeros(1, 1, 3, 3), padding="full"),
        ArgumentError,
        "conv2d: padding: got 'full', expected 'same', 'valid', an integer, or 2 integers or pairs (before, after)",
    ),
    (
        lambda zeros: na.conv_transpose2d(zeros(1, 3, 4, 4), zeros(2, 4, 3, 3)),
        ShapeError,
        "conv_transpose2d: x has 3 channels (axis 1 of (1, 3, 4, 4)), expected 2: axis 0 of weight (2, 4, 3, 3)",
    ),
    (
        lambda zeros: na.conv_transpose1d(zeros(1, 2, 4), zeros(2, 4, 3), padding="same"),
        ArgumentError,
        "conv_transpose1d: padding: got 'same', expected 'valid', an integer or a pair (before, after); the size of the output is given by output_padding",
    ),
    (
        lambda zeros: na.fold(zeros(1, 6, 4), output_size=(4,), kernel_size=2),
        ShapeError,
        "fold: x has shape (1, 6, 4), expected (batch, channels · 2, 3): the patches of size (2,) of an array of size (4,)",
    ),
    (
        lambda zeros: na.max_pool2d(zeros(3, 4, 4), kernel_size=2),
        ShapeError,
        "max_pool2d: x has 3 axes, shape (3, 4, 4), expected 4: (batch, channels, *spatial) with 2 spatial",
    ),
    (
        lambda zeros: na.avg_pool1d(zeros(1, 1, 4), kernel_size=0),
        ArgumentError,
        "avg_pool1d: kernel_size: got 0, expected integers that are at least 1",
    ),
    (
        lambda zeros: na.adaptive_avg_pool2d(zeros(1, 1, 4, 4), output_size=(1, 2, 3)),
        ArgumentError,
        "adaptive_avg_pool2d: output_size: got (1, 2, 3), expected a positive integer or 2 of them",
    ),
    (
        lambda zeros: na.group_norm(zeros(2, 5, 3), num_groups=2),
        ShapeError,
        "group_norm: x has shape (2, 5, 3), num_groups is 2; expected (batch, channels, *spatial) with num_groups a divisor of the channels",
    ),
    (
        lambda zeros: na.layer_norm(zeros(2, 3), zeros(4), zeros(4)),
        ShapeError,
        "layer_norm: weight or bias has shape (4,), expected (3,): the shape of x (2, 3) along axis (1,)",
    ),
    (
        lambda zeros: na.instance_norm(zeros(2, 3)),
        ShapeError,
        "instance_norm: x has shape (2, 3), expected (batch, channels, *spatial) with at least one spatial axis",
    ),
    (
        lambda zeros: na.normalize(zeros(3), ord=0, axis=(0,)),
        ArgumentError,
        "normalize: ord: got 0, expected a positive number",
    ),
    (
        lambda zeros: na.scaled_dot_product_attention(*[zeros(1, 2, 3)] * 3, dropout_p=1.5),
        ArgumentError,
        "scaled_dot_product_attention: dropout_p: got 1.5, expected a probability from 0 to 1",
    ),
    (
        lambda zeros: na.scaled_dot_product_attention(*[zeros(1, 2, 3)] * 3, dropout_p=0.5),
        ArgumentError,
        "scaled_dot_product_attention: dropout_key: got None with dropout_p=0.5, expected a key, such as na.random.key(0)",
    ),
    (
        lambda zeros: na.scaled_dot_product_attention(
            *[zeros(1, 2, 3)] * 3, None, zeros(4, dtype="uint32"), dropout_p=0.5
        ),
        ShapeError,
        "scaled_dot_product_attention: dropout_key: got the shape (4,), expected (2,), as na.random.key(0) makes it",
    ),
    (
        lambda zeros: na.scaled_dot_product_attention(
            zeros(1, 3, 2, 4), zeros(1, 2, 2, 4), zeros(1, 2, 2, 4), enable_gqa=True
        ),
        ShapeError,
        "scaled_dot_product_attention: query has 3 heads, key 2; expected a number of heads of query that is a multiple of that of key",
    ),
    (
        lambda zeros: na.mse_loss(zeros(3), zeros(3), reduction="average"),
        ArgumentError,
        'mse_loss: reduction: got \'average\', expected "mean", "sum" or "none"',
    ),
    (
        lambda zeros: na.cross_entropy(zeros(2, 3, 4), zeros(2, 4, dtype="int64")),
        ShapeError,
        "cross_entropy: target has shape (2, 4), expected (2, 3) for class indices; `axis` says where the classes are",
    ),
    (
        lambda zeros: na.cross_entropy(zeros(2, 3), zeros(2)),
        ShapeError,
        "cross_entropy: target has shape (2,), expected (2, 3) for probabilities; `axis` says where the classes are",
    ),
    (
        lambda zeros: na.interpolate(zeros(1, 1, 2), size=3, mode="lanczos"),
        ArgumentError,
        "interpolate: mode: got 'lanczos', expected one of nearest, nearest-exact, linear, bilinear, trilinear, cubic, bicubic, area, tf-area, tf-bicubic, mitchellcubic, lanczos3, lanczos5, gaussian",
    ),
    (
        lambda zeros: na.interpolate(zeros(1, 1, 2), size=3, scale_factor=2),
        ArgumentError,
        "interpolate: got size=3 and scale_factor=2, expected one of them",
    ),
    (
        lambda zeros: na.pixel_shuffle(zeros(1, 3, 2, 2), upscale_factor=2),
        ShapeError,
        "pixel_shuffle: x has 3 channels (axis -3 of (1, 3, 2, 2)), expected a multiple of upscale_factor² = 4",
    ),
    (
        lambda zeros: na.grid_sample(zeros(1, 1, 2, 2), zeros(1, 2, 2, 2), mode="cubic"),
        ArgumentError,
        'grid_sample: mode: got \'cubic\', expected "bilinear", "nearest" or, for images, "bicubic"',
    ),
    (
        lambda zeros: na.lstm(zeros(3, 2, 4), [zeros(8, 4)] * 6),
        ArgumentError,
        "lstm: weights: got 6 arrays, expected one of 2, 3, 4, 5 for each of num_layers=1 layers and 1 directions",
    ),
    (
        lambda zeros: na.gru(zeros(3, 2, 4), [zeros(8, 4), zeros(8, 2)]),
        ShapeError,
        "gru: weights: got the shapes (8, 4) for the input and (8, 2) for the hidden state, expected (3 · hidden, in) and (3 · hidden, out)",
    ),
    (
        lambda zeros: na.rnn(zeros(3, 2, 5), [zeros(2, 4), zeros(2, 2)]),
        ShapeError,
        "rnn: x has shape (3, 2, 5), expected (length, batch, in) or (length, in) with in = 4: axis 1 of the first weight (2, 4)",
    ),
    (
        lambda zeros: na.rnn(zeros(2, 0, 4), [zeros(2, 4), zeros(2, 2)], batch_first=True),
        ShapeError,
        "rnn: x has shape (2, 0, 4), expected a length of at least 1",
    ),
    (
        lambda zeros: na.rnn(zeros(3, 2, 4), [zeros(5, 4), zeros(5, 5)], zeros(1, 3, 5)),
        ShapeError,
        "rnn: h0 has shape (1, 3, 5), expected (1, 2, 5): (layers · directions, batch, size)",
    ),
    (
        lambda zeros: na.rnn(
            zeros(3, 2, 4), [zeros(5, 4), zeros(5, 5)], None, zeros(3, dtype="int32")
        ),
        ShapeError,
        "rnn: lengths has shape (3,) for x (3, 2, 4), expected one length for each sequence of a batch",
    ),
    (
        lambda zeros: na.rnn(zeros(3, 2, 4), [zeros(5, 4), zeros(5, 5)], nonlinearity="gelu"),
        ArgumentError,
        "rnn: nonlinearity: got 'gelu', expected 'tanh' or 'relu'",
    ),
    (
        lambda zeros: na.multi_head_attention(*[zeros(2, 4)] * 3, [zeros(4, 4)] * 3, num_heads=2),
        ArgumentError,
        "multi_head_attention: got 3 weights and 0 biases, expected four: of query, key, value and of the result",
    ),
    (
        lambda zeros: na.multi_head_attention(*[zeros(2, 4)] * 3, [zeros(4, 4)] * 4, num_heads=3),
        ShapeError,
        "multi_head_attention: the projection of query has shape (4, 4), expected rows that are a multiple of num_heads=3",
    ),
    (
        lambda zeros: na.conv(zeros(2, 5, 4, 3), zeros(3, 2, 3, 4), zeros(5), **CHANNELS_LAST),
        ShapeError,
        "conv: bias: got shape (5,), expected (4,), one for each channel of the result",
    ),
    (
        lambda zeros: na.conv(zeros(2, 5, 4, 3), zeros(2, 3, 4), **CHANNELS_LAST),
        ShapeError,
        "conv: weight has 3 axes, shape (4, 3, 2), expected 4: (out, in / groups, *kernel) with 2 spatial",
    ),
    (
        lambda zeros: na.conv_transpose(zeros(2, 4, 3), zeros(3, 2, 3), zeros(1), **CHANNELS_LAST),
        ShapeError,
        "conv_transpose: bias: got shape (1,), expected (2,), one for each channel of the result",
    ),
    *(
        (
            lambda zeros, op=op: getattr(na, op)(
                zeros(2, 6, 5, 3), kernel_size=9, data_format="channels_last"
            ),
            ShapeError,
            f"{op}: the window spans (9, 9) elements and the padded input has (6, 5); expected an input at least as large as the window: pad more, or make the kernel smaller",
        )
        for op in ("max_pool", "avg_pool")
    ),
    (
        lambda zeros: na.max_pool(
            zeros(2, 6, 5, 3), kernel_size=2, dilation=(1, 1, 1), data_format="channels_last"
        ),
        ArgumentError,
        "max_pool: dilation: got (1, 1, 1), expected an integer or 2 integers",
    ),
    (
        lambda zeros: na.avg_pool(
            zeros(2, 6, 5, 3), kernel_size=2, divisor_override=0, data_format="channels_last"
        ),
        ArgumentError,
        "avg_pool: divisor_override: got 0, expected a nonzero number",
    ),
    (
        lambda zeros: na.multi_margin_loss(zeros(2, 3), zeros(2, dtype="int32"), zeros(2)),
        ShapeError,
        "multi_margin_loss: weight: got shape (2,), expected (3,), one for each class",
    ),
    (
        lambda zeros: na.triplet_margin_loss(zeros(2, 3), zeros(2, 3), zeros(2, 3), p=0.0),
        ArgumentError,
        "triplet_margin_loss: p: got 0.0, expected a number above 0",
    ),
    (
        lambda zeros: na.multi_margin_loss(zeros(2, 3), zeros(2, dtype="int32"), p=3),
        ArgumentError,
        "multi_margin_loss: p: got 3, expected 1 or 2",
    ),
    (
        lambda zeros: na.multi_margin_loss(zeros(2, 3), zeros(3, dtype="int32")),
        ShapeError,
        "multi_margin_loss: target has shape (3,), expected (2,)",
    ),
    (
        lambda zeros: na.multilabel_margin_loss(zeros(2, 3), zeros(2, dtype="int32")),
        ShapeError,
        "multilabel_margin_loss: target has shape (2,), expected (2, 3)",
    ),
    (
        lambda zeros: na.dice_loss(zeros(2), zeros(2), reduction="median"),
        ArgumentError,
        'dice_loss: reduction: got \'median\', expected "mean", "sum" or "none"',
    ),
    (
        lambda zeros: na.ctc_loss(
            zeros(4, 2, 3), *(zeros(*n, dtype="bool") for n in ((2, 2), (2,), (2,)))
        ),
        DtypeError,
        "ctc_loss: targets: got bool, expected integers; cast with na.astype",
    ),
    (
        lambda zeros: na.ctc_loss(
            zeros(4, 2, 3), *(zeros(*n, dtype="int32") for n in ((3, 2), (2,), (2,)))
        ),
        ShapeError,
        "ctc_loss: got log_probs (4, 2, 3), targets (3, 2), input_lengths (2,) and target_lengths (2,), expected (length, batch, classes), (batch, targets), (batch,) and (batch,), or all without the batch, and place for one target at least",
    ),
    (
        lambda zeros: na.ctc_loss(
            zeros(4, 3), *(zeros(*n, dtype="int32") for n in ((2,), (), ())), blank=3
        ),
        ArgumentError,
        "ctc_loss: blank: got 3, expected one of the 3 classes",
    ),
    (
        lambda zeros: na.avg_pool2d(zeros(1, 1, 4, 4), kernel_size=2, divisor_override=0),
        ArgumentError,
        "avg_pool2d: divisor_override: got 0, expected a nonzero number",
    ),
    (
        lambda zeros: na.avg_pool(zeros(1, 1, 4, 4), kernel_size=2, stride=()),
        ArgumentError,
        "avg_pool: stride: got (), expected an integer or 2 integers",
    ),
    (
        lambda zeros: na.conv(zeros(1, 3, 4), zeros(2, 3, 2), data_format="NCW"),
        ArgumentError,
        "conv: data_format: got 'NCW', expected one of channels_first, channels_last",
    ),
    (
        lambda zeros: na.conv_transpose(zeros(1, 3), zeros(3, 2)),
        ShapeError,
        "conv_transpose: x has shape (1, 3), expected a batch, channels and one to three spatial axes",
    ),
    (
        lambda zeros: na.separable_conv(zeros(1, 2, 4), zeros(4, 1, 2), zeros(3, 2)),
        ShapeError,
        "separable_conv: pointwise has shape (3, 2), expected (out, 4): as many columns as depthwise (4, 1, 2) has kernels",
    ),
    (
        lambda zeros: na.locally_connected(zeros(1, 2, 4), zeros(3, 4, 4), kernel_size=2),
        ShapeError,
        "locally_connected: weight has shape (3, 4, 4), expected (out, 4, 3): (out, in · kernel, *out_spatial)",
    ),
    (
        lambda zeros: na.weight_norm(zeros(3, 2), zeros(2)),
        ShapeError,
        "weight_norm: g has shape (2,), expected 3 lengths: one for each element along axis 0 of weight (3, 2)",
    ),
    (
        lambda zeros: na.spectral_norm(zeros(3, 2), zeros(2)),
        ShapeError,
        "spectral_norm: u has shape (2,), expected (3,): axis 0 of weight (3, 2)",
    ),
    (
        lambda zeros: na.spectral_norm(zeros(3, 2), zeros(3), num_steps=0),
        ArgumentError,
        "spectral_norm: num_steps: got 0, expected at least 1",
    ),
    (
        lambda zeros: na.rgb_to_grayscale(zeros(4, 2, 2)),
        ShapeError,
        "rgb_to_grayscale: x has shape (4, 2, 2), expected three channels along axis -3",
    ),
    (
        lambda zeros: na.hsv_to_rgb(zeros(3, 3)),
        ShapeError,
        "hsv_to_rgb: x has shape (3, 3), expected three channels along axis -3",
    ),
    (
        lambda zeros: na.interpolate(zeros(1, 1, 3), size=(1.5,)),
        ArgumentError,
        "interpolate: size: got (1.5,), expected an int or a sequence of ints",
    ),
    (
        lambda zeros: na.interpolate(zeros(1, 1, 3), size=5, mode="lanczos3", align_corners=True),
        ArgumentError,
        "interpolate: align_corners: got True with mode 'lanczos3', expected a linear or a cubic mode",
    ),
    (
        lambda zeros: na.gaussian_blur(zeros(5, 5), kernel_size=(3, 4)),
        ArgumentError,
        "gaussian_blur: kernel_size: got 4, expected an odd positive number",
    ),
    (
        lambda zeros: na.gaussian_blur(zeros(5, 5), sigma=0.0),
        ArgumentError,
        "gaussian_blur: sigma: got 0.0, expected a number above 0",
    ),
    (
        lambda zeros: na.gaussian_blur(zeros(5, 5), sigma=None),
        ArgumentError,
        "gaussian_blur: sigma: got None, expected a real number",
    ),
    (
        lambda zeros: na.sobel(zeros(5)),
        ShapeError,
        "sobel: x has shape (5,), expected (*batch, height, width)",
    ),
    (
        lambda zeros: na.sobel(zeros(5, 5), axis=0),
        ArgumentError,
        "sobel: axis: got 0, expected -1 (width) or -2 (height)",
    ),
    (
        lambda zeros: na.median_filter(zeros(5, 5), size=(3, 3, 3)),
        ArgumentError,
        "median_filter: size: got (3, 3, 3), expected one or two numbers",
    ),
    (
        lambda zeros: na.ssim(zeros(1, 9, 12), zeros(1, 9, 12)),
        ShapeError,
        "ssim: x1 has shape (1, 9, 12), which is smaller than a window of 11",
    ),
    (
        lambda zeros: na.ssim(zeros(1, 12, 12), zeros(12, 12)),
        ShapeError,
        "ssim: got shapes (1, 12, 12) and (12, 12), expected two equal ones (*batch, channels, height, width)",
    ),
    (
        lambda zeros: na.box_iou(zeros(2, 4), zeros(2, 5)),
        ShapeError,
        "box_iou: boxes2 has shape (2, 5), expected (n, 4): four numbers a box",
    ),
    (
        lambda zeros: na.nms(zeros(2, 4), zeros(3), iou_threshold=0.5),
        ShapeError,
        "nms: boxes has shape (2, 4) and scores (3,), expected (n, 4) and (n,)",
    ),
    (
        lambda zeros: na.roi_align(
            zeros(1, 2, 3, 3), zeros(2, 5), zeros(2, dtype="int32"), output_size=2
        ),
        ShapeError,
        "roi_align: got x (1, 2, 3, 3), boxes (2, 5) and box_indices (2,), expected (batch, channels, height, width), (n, 4) and (n,)",
    ),
    (
        lambda zeros: na.roi_align(
            zeros(1, 2, 3, 3),
            zeros(2, 4),
            zeros(2, dtype="int32"),
            output_size=2,
            sampling_ratio=-1,
        ),
        ArgumentError,
        "roi_align: sampling_ratio: got -1, expected at least 1: a number that depends on the size of the box would make shapes depend on values",
    ),
    (
        lambda zeros: na.crop_and_resize(
            zeros(2, 3, 3), zeros(2, 4), zeros(2, dtype="int32"), crop_size=2
        ),
        ShapeError,
        "crop_and_resize: got x (2, 3, 3), boxes (2, 4) and box_indices (2,), expected (batch, channels, height, width), (n, 4) and (n,)",
    ),
    (
        lambda ones: na.nms(ones(3, 4), ones(3), iou_threshold=0.5, soft_nms_sigma=-1.0),
        ArgumentError,
        "nms: soft_nms_sigma: got -1.0, expected a number of at least 0",
    ),
    (
        lambda ones: na.scaled_dot_product_attention(
            ones(1, 2, 3), ones(1, 2, 3), ones(1, 2, 3), attn_logits_soft_cap=0.0
        ),
        ArgumentError,
        "scaled_dot_product_attention: attn_logits_soft_cap: got 0.0, expected a number above 0",
    ),
]


@refused(ROWS)
def test_refused(row: Row, backend: str) -> None:
    check_refused(row, backend)
