"""Refused calls of functions that index, gather and scatter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nestarray
from nestarray.errors import ArgumentError, DtypeError, IndexingError, ShapeError
from tests.errors.checks import Row, check_refused, refused

na: Any = nestarray  # whose signatures forbid these calls

ROWS: list[Row] = [
    (
        lambda x: na.getitem(x, x[:, :1] > 9),
        IndexingError,
        "getitem: index: got a mask of shape (2, 1) for axes of shape (2, 3), expected the same",
    ),
    (
        lambda x: na.getitem(x, (slice(None), x[0, :2] > 9)),
        IndexingError,
        "getitem: index: got a mask of shape (2,) for axes of shape (3,), expected the same",
    ),
    (
        lambda x, t: na.embedding(x, t),
        DtypeError,
        "embedding: indices: got float32, expected integers; cast with na.astype",
    ),
    (
        lambda x: na.take(x, x, axis=0),
        DtypeError,
        "take: indices: got float32, expected integers; cast with na.astype",
    ),
    (
        lambda x: na.scatter(x, na.argsort(x), x, axis=1, mode="sum"),
        ArgumentError,
        "scatter: mode: got 'sum', expected one of replace, add, mul, min, max",
    ),
    (
        lambda x: na.put_along_axis(x, na.argsort(na.getitem(x, 0)), 0.0, axis=0),
        ShapeError,
        "put_along_axis: indices: got 1 dimensions, expected those of x, 2",
    ),
    (
        lambda x: na.masked_fill(x, na.astype(x, "uint8"), x),
        DtypeError,
        "masked_fill: mask: got uint8, expected bool; convert it with na.not_equal(x, 0)",
    ),
    (
        lambda x: na.masked_fill(x, x, 0.0),
        DtypeError,
        "masked_fill: mask: got float32, expected bool; convert it with na.not_equal(x, 0)",
    ),
    (
        lambda x: na.take_along_axis(x, x, axis=0),
        DtypeError,
        "take_along_axis: indices: got float32, expected integers; cast with na.astype",
    ),
    (
        lambda x: na.gather_nd(x, na.asarray([[0], [1]], like=x), batch_dims=2),
        ArgumentError,
        "gather_nd: batch_dims: got 2 for x of shape (2, 3) and indices of shape (2, 1), expected 0 <= batch_dims <= 1",
    ),
    (
        lambda x: na.gather_nd(x, na.asarray([[0], [1], [1]], like=x), batch_dims=1),
        ShapeError,
        "gather_nd: x has shape (2, 3) and indices (3, 1), expected the same first 1 axes, as batch_dims=1",
    ),
    (
        lambda x: na.ravel_multi_index((na.argsort(x),), (2, 3)),
        ShapeError,
        "ravel_multi_index: multi_index: got 1 arrays for the shape (2, 3), expected one for each axis",
    ),
    (
        lambda array, x: na.take_along_axis(x, array(np.zeros(0, np.int64)), axis=1),
        ShapeError,
        "take_along_axis: indices: got shape (0,) for x of shape (2, 3), expected equally many axes, which broadcast with x except along axis 1",
    ),
    (
        lambda array, x: na.gather(x, array(np.zeros(0, np.int64)), axis=1),
        ShapeError,
        "gather: indices: got shape (0,) for x of shape (2, 3), expected equally many axes, none longer except axis 1",
    ),
    (
        lambda array, x: na.scatter(x, array(np.zeros(0, np.int64)), 1.0, axis=1),
        ShapeError,
        "scatter: indices: got shape (0,) for x of shape (2, 3), expected equally many axes, none longer except axis 1",
    ),
    (
        lambda array, x: na.gather(x, array(np.full((1, 5), 9)), axis=0),
        ShapeError,
        "gather: indices: got shape (1, 5) for x of shape (2, 3), expected equally many axes, none longer except axis 0",
    ),
    (
        lambda array: na.unravel_index(array(np.zeros(1, np.int64)), (2, 0)),
        ShapeError,
        "unravel_index: shape: got (2, 0), which has no elements, for indices of shape (1,)",
    ),
    (
        lambda x: na.segment_sum(x, na.astype(x[:, 0], "bfloat16"), num_segments=2),
        DtypeError,
        "segment_sum: segment_ids: got bfloat16, expected integers; cast with na.astype",
    ),
    (
        lambda ones: na.getitem(ones(2, 3), 20),
        IndexingError,
        "getitem: index: got 20 for axis 0 of length 2, expected -2 <= index < 2",
    ),
    (
        lambda ones: na.setitem(ones(2, 3), (0, -4), 1.0),
        IndexingError,
        "setitem: index: got -4 for axis 1 of length 3, expected -3 <= index < 3",
    ),
    *(
        (
            lambda ones, at=at: na.setitem(ones(2, 3), (slice(None), at), 1.0),
            IndexingError,
            "setitem: index: got 7 for axis 1 of length 3, expected -3 <= index < 3",
        )
        for at in ([0, 7], np.asarray([[0], [7]]), np.int64(7))
    ),
    (
        lambda ones: na.setitem(ones(2, 3), [0, 1], na.ones((3, 3), like=ones(2, 3))),
        ShapeError,
        "setitem: value: got shape (3, 3), expected (2, 3), the shape of the indexed part, or a shape that broadcasts to it",
    ),
    (
        lambda array, ones: na.take(ones(2, 3), array(np.asarray([True, False])), axis=0),
        DtypeError,
        "take: indices: got bool, expected integers; cast with na.astype",
    ),
    (
        lambda ones, ints: na.gather(ones(2, 3, 4), ints(0, 1), axis=1),
        ShapeError,
        "gather: indices: got shape (2,) for x of shape (2, 3, 4), expected equally many axes, none longer except axis 1",
    ),
    (
        lambda array, ones: na.scatter(
            ones(3, 4), array(np.zeros((2, 2), "int32")), ones(1, 3), axis=1
        ),
        ShapeError,
        "scatter: updates: got shape (1, 3) for indices of shape (2, 2), expected as many axes, none shorter",
    ),
    (
        lambda ones, ints: na.embedding(ints(0, 1), ones(3)),
        ShapeError,
        "embedding: weight: got shape (3,), expected (count, length)",
    ),
    (
        lambda array, ones: na.masked_select(ones(3, 2), array(np.ones((3, 2), "uint8"))),
        DtypeError,
        "masked_select: mask: got uint8, expected bool; convert it with na.not_equal(x, 0)",
    ),
    (
        lambda zeros: na.rotary_embedding(zeros(2, 4), zeros(2, 3), zeros(2, 3)),
        ShapeError,
        "rotary_embedding: got x (2, 4), cos (2, 3) and sin (2, 3), expected cos and sin of one shape with at most half the last axis of x",
    ),
    (
        lambda zeros: na.alibi_bias(2, 3, 2, like=zeros(1)),
        ArgumentError,
        "alibi_bias: got num_heads=2, length=3, source=2, expected a head at least and no more queries than keys",
    ),
    (
        lambda zeros, ones: na.take_along_axis(
            ones(2, 3, 4), zeros(3, 3, 4, dtype="int32"), axis=1
        ),
        ShapeError,
        "take_along_axis: indices: got shape (3, 3, 4) for x of shape (2, 3, 4), expected equally many axes, which broadcast with x except along axis 1",
    ),
    (
        lambda ones: na.take_along_axis(ones(2, 3), True, axis=0),
        DtypeError,
        "take_along_axis: indices: got bool, expected integers; cast with na.astype",
    ),
    (
        lambda zeros, ones: na.gather_nd(ones(2, 3, 4), zeros(3, 4, dtype="int32")),
        ShapeError,
        "gather_nd: indices: got shape (3, 4) for x of shape (2, 3, 4), expected (*batch, k) with k of at most 3",
    ),
    (
        lambda zeros, ones: na.scatter_nd(ones(2, 3, 4), zeros(3, 2, dtype="int32"), ones(2, 4)),
        ShapeError,
        "scatter_nd: updates: got shape (2, 4), expected (3, 4) or a shape that broadcasts to it, for x of shape (2, 3, 4) and indices of shape (3, 2)",
    ),
    *(
        (
            lambda zeros, ones, n=n: na.index_add(
                ones(2, 3, 4), zeros(n, dtype="int32"), ones(2, 3, 5), axis=2
            ),
            ShapeError,
            f"index_add: updates: got shape (2, 3, 5), expected (2, 3, {n}) or a shape that broadcasts to it, for x of shape (2, 3, 4) and indices of shape ({n},)",
        )
        for n in (4, 0)
    ),
    *(
        (
            lambda zeros, ones, op=op, shape=shape: getattr(na, op)(
                ones(2, 3), zeros(*shape, dtype="int32")
            ),
            ShapeError,
            f"{op}: segment_ids: got shape {shape} for x of shape (2, 3), expected one number for each of its rows",
        )
        for op in ("segment_sum", "segment_max", "segment_min", "segment_prod", "segment_mean")
        for shape in ((3,), (0,), (2, 1))
    ),
    (
        lambda zeros, ones: na.segment_max(ones(2, 3), na.astype(zeros(2, dtype="int32"), "bool")),
        DtypeError,
        "segment_max: segment_ids: got bool, expected integers; cast with na.astype",
    ),
]


@refused(ROWS)
def test_refused(row: Row, backend: str) -> None:
    check_refused(row, backend)


#: Indices outside of an axis. JAX clips or drops them, as its documentation says.
OUTSIDE: list[Row] = [
    (
        lambda x, ints: na.take(x, ints(0, 5), axis=0), IndexingError,
        "take: indices: got 5, expected -2 <= index < 2, which is the length of axis 0",
    ),
    (
        lambda x, ints: na.gather(x, ints([0, 7]), axis=1), IndexingError,
        "gather: indices: got 7, expected -3 <= index < 3, which is the length of axis 1",
    ),
    (
        lambda x, ints: na.take_along_axis(x, ints([-4], [0]), axis=1), IndexingError,
        "take_along_axis: indices: got -4, expected -3 <= index < 3, which is the length of axis 1",
    ),
    (
        lambda x, ints: na.embedding(ints(0, 9), x), IndexingError,
        "embedding: indices: got 9, expected 0 <= index < 2, which is the length of axis 0",
    ),
    (
        lambda x, ints: na.embedding(ints(0, -1), x), IndexingError,
        "embedding: indices: got -1, expected 0 <= index < 2, which is the length of axis 0",
    ),
    (
        lambda x, ints: na.getitem(x, (..., ints(0, 7))), IndexingError,
        "getitem: index: got 7 for axis 1 of length 3, expected -3 <= index < 3",
    ),
    (
        lambda x, array: na.setitem(x, array(np.asarray(-3)), 1.0), IndexingError,
        "setitem: index: got -3 for axis 0 of length 2, expected -2 <= index < 2",
    ),
    (
        lambda x, ints: na.gather_nd(x, ints([0, 1], [1, 3])), IndexingError,
        "gather_nd: indices: got 3, expected -3 <= index < 3, which is the length of axis 1",
    ),
    (
        lambda x, ints, ones: na.scatter_nd(x, ints([0], [2]), ones(3)), IndexingError,
        "scatter_nd: indices: got 2, expected -2 <= index < 2, which is the length of axis 0",
    ),
    (
        lambda x, ints: na.segment_sum(x, ints(0, 7), num_segments=2), IndexingError,
        "segment_sum: segment_ids: got 7, expected -2 <= index < 2, which is num_segments",
    ),
    *(
        (
            lambda ones, ints, op=op: getattr(na, op)(ones(1, 3), ints(3)), IndexingError,
            f"{op}: target: got 3, expected 0 <= index < 3, which is the number of classes",
        )
        for op in ("nll_loss", "cross_entropy", "multi_margin_loss")
    ),
    (
        lambda ones, ints: na.roi_align(ones(2, 1, 4, 4), ones(1, 4), ints(3), output_size=1),
        IndexingError,
        "roi_align: box_indices: got 3, expected 0 <= index < 2, which is the length of x",
    ),
    (
        lambda zeros, ints: na.ctc_loss(zeros(4, 1, 3), ints([1, 2]), ints(5), ints(2)), ArgumentError,
        "ctc_loss: input_lengths: got 5, expected 0 to 4, the length of log_probs",
    ),
    (
        lambda zeros, ints: na.ctc_loss(zeros(4, 1, 3), ints([1, 2]), ints(4), ints(3)), ArgumentError,
        "ctc_loss: target_lengths: got 3, expected 0 to 2, the length of targets",
    ),
]  # fmt: skip


@pytest.mark.parametrize("backend", ["numpy", "torch", "tensorflow"])
@refused(OUTSIDE)
def test_indices_outside(row: Row, backend: str) -> None:
    check_refused(row, backend)
