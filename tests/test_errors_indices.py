"""What ops that take indices say of shapes that do not fit, and of settings of two values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import backends
from nestarray.errors import ArgumentError, DtypeError, IndexingError, NestarrayError, ShapeError

Arrays = Callable[..., Any]

#: Calls of functions that make float32 ones, and zeros to index with, of a shape.
CALLS: list[tuple[Callable[[Arrays, Arrays], Any], type[NestarrayError], str]] = [
    (
        lambda x, i: na.take_along_axis(x(2, 3, 4), i(3, 3, 4), axis=1),
        ShapeError,
        "take_along_axis: indices: got shape (3, 3, 4) for x of shape (2, 3, 4), expected as many "
        "axes, which broadcast with those of x but for axis 1",
    ),
    (
        lambda x, i: na.take_along_axis(x(2, 3), True, axis=0),
        DtypeError,
        "take_along_axis: indices: got bool, expected integers; cast with na.astype",
    ),
    (
        lambda x, i: na.in_top_k(na.astype(i(2), "bool"), x(2, 3), k=1),
        DtypeError,
        "in_top_k: targets: got bool, expected integers; cast with na.astype",
    ),
    *(
        (
            lambda x, i, op=op: getattr(na, op)(x(0), axis=1),
            IndexingError,
            f"{op}: axis: got 1 for an array of 1 dimensions, expected -1 <= axis < 1",
        )
        for op in ("cummax", "cummin", "cumulative_sum", "cumulative_logsumexp")
    ),
    (
        lambda x, i: na.concat([x(2, 3), x(0)]),
        ShapeError,
        "concat: arrays[1]: got shape (0,), expected that of the first, (2, 3), but for axis 0",
    ),
    (
        lambda x, i: na.eye(2, batch_shape=(True,), like=x(1)),
        ArgumentError,
        "eye: batch_shape: got True, expected an int",
    ),
    (
        lambda x, i: na.eye(2, batch_shape=None, like=x(1)),
        ArgumentError,
        "eye: batch_shape: got None, expected a sequence of ints",
    ),
    (
        lambda x, i: na.gather_nd(x(2, 3, 4), i(3, 4)),
        ShapeError,
        "gather_nd: indices: got shape (3, 4) for x of shape (2, 3, 4), expected (*batch, k) with "
        "k of at most 3",
    ),
    (
        lambda x, i: na.scatter_nd(x(2, 3, 4), i(3, 2), x(2, 4)),
        ShapeError,
        "scatter_nd: updates: got shape (2, 4), expected (3, 4) or what broadcasts to it, for x of "
        "shape (2, 3, 4) and indices of shape (3, 2)",
    ),
    *(
        (
            lambda x, i, n=n: na.index_add(x(2, 3, 4), i(n), x(2, 3, 5), axis=2),
            ShapeError,
            f"index_add: updates: got shape (2, 3, 5), expected (2, 3, {n}) or what broadcasts to "
            f"it, for x of shape (2, 3, 4) and indices of shape ({n},)",
        )
        for n in (4, 0)
    ),
    *(
        (
            lambda x, i, op=op, shape=shape: getattr(na, op)(x(2, 3), i(*shape)),
            ShapeError,
            f"{op}: segment_ids: got shape {shape} for x of shape (2, 3), expected one number for "
            "each of its rows",
        )
        for op in ("segment_sum", "segment_max", "segment_min", "segment_prod", "segment_mean")
        for shape in ((3,), (0,), (2, 1))
    ),
    (
        lambda x, i: na.segment_max(x(2, 3), na.astype(i(2), "bool")),
        DtypeError,
        "segment_max: segment_ids: got bool, expected integers; cast with na.astype",
    ),
    (
        lambda x, i: na.bincount(i()),
        ShapeError,
        "bincount: x: got shape (), expected (n,)",
    ),
    (
        lambda x, i: na.nonzero(x(2, 3), size=2, fill_value=(1, 2, 3)),
        ArgumentError,
        "nonzero: fill_value: got (1, 2, 3), expected an int or one for each of 2 axes",
    ),
    *(
        (
            lambda x, i, op=op: getattr(na, op)(x(2, 3), size=-1),
            ArgumentError,
            f"{op}: size: got -1, expected a number of at least 0",
        )
        for op in ("nonzero", "unique_all")
    ),
    (
        lambda x, i: na.repeat(x(0), 2, total_repeat_length=3),
        ShapeError,
        "repeat: total_repeat_length: got 3 for an axis of length 0, which has no element to fill "
        "up with",
    ),
    *(
        (
            lambda x, i, op=op, q=q: getattr(na, op)(x(2, 3), q),
            ArgumentError,
            f"{op}: q: got {float(q)}, expected a number from 0 to {most}",
        )
        for op, q, most in (
            ("quantile", 1.5, 1),
            ("quantile", np.float32(1.5), 1),
            ("nanquantile", np.nan, 1),
            ("percentile", -1.0, 100),
            ("nanpercentile", 101.0, 100),
        )
    ),
    (
        lambda x, i: na.quantile(x(2, 3), 0.5, axis=1, weights=x(2, 3)),
        ArgumentError,
        "quantile: method: got 'linear' with weights, expected 'inverted_cdf', the one that takes "
        "them",
    ),
    (
        lambda x, i: na.quantile(x(2, 3), 0.5, method="inverted_cdf", axis=1, weights=x(4)),
        ShapeError,
        "quantile: weights: got the shape (4,) for x of shape (2, 3) along 1, expected that of x, "
        "or one weight for each position of the axis",
    ),
    (
        lambda x, i: na.reduce_window(x(3), computation="add", window=(2,), base_dilation=(0,)),
        ArgumentError,
        "reduce_window: base_dilation: got (0,), expected numbers of at least 1",
    ),
    (
        lambda x, i: na.nms(x(3, 4), x(3), iou_threshold=0.5, soft_nms_sigma=-1.0),
        ArgumentError,
        "nms: soft_nms_sigma: got -1.0, expected a number of at least 0",
    ),
    (
        lambda x, i: na.scaled_dot_product_attention(
            x(1, 2, 3), x(1, 2, 3), x(1, 2, 3), attn_logits_soft_cap=0.0
        ),
        ArgumentError,
        "scaled_dot_product_attention: attn_logits_soft_cap: got 0.0, expected a number above 0",
    ),
    *(
        (
            lambda x, i, op=op: getattr(na, op)(x(2, 3), keepdims="a"),
            ArgumentError,
            f"{op}: keepdims: got 'a', expected True or False",
        )
        for op in ("sum", "max", "mean", "all")
    ),
]


@pytest.mark.parametrize(("call", "error", "message"), CALLS)
def test_error_on_every_backend(
    backend: str, call: Callable[[Arrays, Arrays], Any], error: type[NestarrayError], message: str
) -> None:
    def ones(*shape: int) -> Any:
        return backends.core(backend).from_numpy(np.ones(shape, "float32"))

    def zeros(*shape: int) -> Any:
        return backends.core(backend).from_numpy(np.zeros(shape, "int32"))

    with pytest.raises(error) as caught:
        call(ones, zeros)
    assert str(caught.value) == message


EMPTY: list[tuple[Callable[[Arrays], Any], tuple[int, ...]]] = [
    (lambda x: na.fft(x(0, 5)), (0, 5)),
    (lambda x: na.rfft(x(0, 5), n=8), (0, 5)),
    (lambda x: na.irfft(x(0, 5)), (0, 8)),
    (lambda x: na.fftn(x(3, 0, 5), axes=(0, 2)), (3, 0, 5)),
    (lambda x: na.dct(x(0, 5)), (0, 5)),
    (lambda x: na.conv1d(x(0, 3, 5), x(2, 3, 3)), (0, 2, 3)),
    (lambda x: na.conv2d(x(0, 3, 5, 6), x(2, 3, 3, 3)), (0, 2, 3, 4)),
    (lambda x: na.conv3d(x(0, 3, 5, 6, 3), x(2, 3, 3, 3, 3)), (0, 2, 3, 4, 1)),
    (lambda x: na.depthwise_conv(x(0, 3, 5, 6), x(6, 1, 3, 3)), (0, 6, 3, 4)),
    (lambda x: na.quantile(x(0, 5), 0.5, axis=-1), (0,)),
    (lambda x: na.unique_values(x(0, 5), size=3), (3,)),
]


@pytest.mark.parametrize(("call", "shape"), EMPTY)
def test_arrays_without_elements(
    backend: str, call: Callable[[Arrays], Any], shape: tuple[int, ...]
) -> None:
    def ones(*shape: int) -> Any:
        return backends.core(backend).from_numpy(np.ones(shape, "float32"))

    assert tuple(call(ones).shape) == shape


def test_bits_are_counted_without_64_bit_integers(backend: str) -> None:
    x = np.asarray([0, 7, -8, 2**31 - 1, -(2**31)], "int32")
    found = na.bitwise_count(backends.core(backend).from_numpy(x))
    assert backends.core(backend).to_numpy(found).tolist() == np.bitwise_count(x).tolist()
