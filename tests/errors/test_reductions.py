"""Refused calls of functions that reduce, search, sort and count."""

from __future__ import annotations

from typing import Any

import numpy as np

import nestarray
from nestarray.errors import ArgumentError, DtypeError, IndexingError, ShapeError
from tests.errors.checks import Row, check_refused, refused

na: Any = nestarray  # whose signatures forbid these calls

ROWS: list[Row] = [
    (
        lambda x: na.sum(x, axis=5),
        IndexingError,
        "sum: axis: got 5 for an array of 2 dimensions, expected -2 <= axis < 2",
    ),
    (
        lambda x: na.mean(x, axis=(0, -3)),
        IndexingError,
        "mean: axis: got -3 for an array of 2 dimensions, expected -2 <= axis < 2",
    ),
    (
        lambda x: na.cumulative_sum(x, axis=4),
        IndexingError,
        "cumulative_sum: axis: got 4 for an array of 2 dimensions, expected -2 <= axis < 2",
    ),
    (
        lambda x: na.sort(x, axis=2),
        IndexingError,
        "sort: axis: got 2 for an array of 2 dimensions, expected -2 <= axis < 2",
    ),
    (
        lambda x, t: na.where(x > 0, x, t),
        ShapeError,
        "where: got arrays of shapes (2, 3) and (3, 2), which do not broadcast",
    ),
    (
        lambda empty: na.max(empty),
        ShapeError,
        "max: x: got shape (0, 3), which has no elements to reduce",
    ),
    (
        lambda empty: na.argmin(empty, axis=0),
        ShapeError,
        "argmin: x: got shape (0, 3), which has no elements to reduce over axis 0",
    ),
    (
        lambda x: na.quantile(x, 0.5, method="middle"),
        ArgumentError,
        "quantile: method: got 'middle', expected one of linear, lower, higher, midpoint, nearest, inverted_cdf, averaged_inverted_cdf, closest_observation, interpolated_inverted_cdf, hazen, weibull, median_unbiased, normal_unbiased",
    ),
    (
        lambda x: na.average(x, na.getitem(x, 0), axis=0),
        ShapeError,
        "average: weights: got the shape (3,) for x of shape (2, 3) along 0, expected that of x, or one weight for each position of the axis",
    ),
    (lambda x: na.histogram(x, 0), ShapeError, "histogram: bins: got 0, expected at least 1"),
    (lambda x: na.top_k(x, 4), ShapeError, "top_k: k: got 4, expected 0 to 3, the axis' length"),
    (
        lambda x: na.where(x, x, x),
        DtypeError,
        "where: condition: got float32, expected bool; convert it with na.not_equal(x, 0)",
    ),
    (
        lambda x: na.nanquantile(x, 0.5, method="middle"),
        ArgumentError,
        "nanquantile: method: got 'middle', expected one of linear, lower, higher, midpoint, nearest, inverted_cdf, averaged_inverted_cdf, closest_observation, interpolated_inverted_cdf, hazen, weibull, median_unbiased, normal_unbiased",
    ),
    (
        lambda x: na.percentile(x, 50, method="middle"),
        ArgumentError,
        "percentile: method: got 'middle', expected one of linear, lower, higher, midpoint, nearest, inverted_cdf, averaged_inverted_cdf, closest_observation, interpolated_inverted_cdf, hazen, weibull, median_unbiased, normal_unbiased",
    ),
    (
        lambda x: na.mode(na.getitem(x, (slice(0, 0),)), axis=0),
        ShapeError,
        "mode: x: got the shape (0, 3) and axis 0, expected at least one element",
    ),
    (
        lambda x: na.histogramdd(na.getitem(x, 0)),
        ShapeError,
        "histogramdd: x: got the shape (3,), expected (points, dimensions)",
    ),
    (
        lambda x: na.histogramdd(x, (2, 2)),
        ShapeError,
        "histogramdd: bins: got 2 for 3 dimensions, expected one for each",
    ),
    (lambda x: na.histogramdd(x, 0), ShapeError, "histogramdd: bins: got 0, expected at least 1"),
    (
        lambda x: na.histogram2d(x, x),
        ShapeError,
        "histogram2d: got the shapes (2, 3) and (2, 3), expected two vectors of one length",
    ),
    (
        lambda x: na.sum(x, axis=range(1)),
        ArgumentError,
        "sum: axis: got range(0, 1), expected an int",
    ),
    (
        lambda array, x: na.searchsorted(x[0], x, sorter=array(np.asarray([1], np.int32))),
        ShapeError,
        "searchsorted: sorter: got int32 of shape (1,), expected integers of shape (3,), such as na.argsort(x1)",
    ),
    (lambda x: na.searchsorted(1j, x), ShapeError, "searchsorted: x1: got shape (), expected (n,)"),
    (
        lambda ones: na.max(ones(3, 4), axis=True),
        ArgumentError,
        "max: axis: got True, expected an int",
    ),
    (
        lambda ones: na.argmax(ones(3, 4), axis=True),
        ArgumentError,
        "argmax: axis: got True, expected an int",
    ),
    (
        lambda ones: na.sum(ones(3, 4)[0, 0], axis=0),
        IndexingError,
        "sum: axis: got 0 for an array of 0 dimensions, expected 0 <= axis < 0",
    ),
    (
        lambda ones: na.argsort(ones(3, 4)[0, 0]),
        IndexingError,
        "argsort: axis: got -1 for an array of 0 dimensions, expected 0 <= axis < 0",
    ),
    (
        lambda ones: na.cumulative_sum(ones(3, 4)[0, 0], axis=-1),
        IndexingError,
        "cumulative_sum: axis: got -1 for an array of 0 dimensions, expected 0 <= axis < 0",
    ),
    (
        lambda ones: na.sum(ones(3, 4), keepdims=2),
        ArgumentError,
        "sum: keepdims: got 2, expected True or False",
    ),
    (
        lambda ones: na.max(ones(3, 4), keepdims=None),
        ArgumentError,
        "max: keepdims: got None, expected True or False",
    ),
    (
        lambda ones: na.argmax(ones(3, 4), keepdims="a"),
        ArgumentError,
        "argmax: keepdims: got 'a', expected True or False",
    ),
    (
        lambda ones: na.var(ones(3, 4), correction=None),
        ArgumentError,
        "var: correction: got None, expected a real number",
    ),
    (
        lambda ones: na.partition(ones(3, 4), True),
        ArgumentError,
        "partition: kth: got True, expected an int",
    ),
    (lambda ones: na.top_k(ones(3, 4), True), ArgumentError, "top_k: k: got True, expected an int"),
    (
        lambda ones: na.sort(ones(3, 4), axis=[0, 0]),
        ArgumentError,
        "sort: axis: got [0, 0], expected an int",
    ),
    (
        lambda ones: na.sum(ones(3, 19), axis=(True,)),
        ArgumentError,
        "sum: axis: got True, expected an int",
    ),
    (
        lambda ones: na.any(na.greater(ones(3, 19), 0), axis=[True]),
        ArgumentError,
        "any: axis: got True, expected an int",
    ),
    (
        lambda ones: na.logsumexp(ones(3, 19), axis=(0, True)),
        ArgumentError,
        "logsumexp: axis: got True, expected an int",
    ),
    (
        lambda ones: na.median(ones(3, 19), axis=(True,)),
        ArgumentError,
        "median: axis: got True, expected an int",
    ),
    (
        lambda ones: na.searchsorted(ones(3), ones(3), side=None),
        ArgumentError,
        "searchsorted: side: got None, expected a string",
    ),
    (
        lambda ones: na.searchsorted(ones(3), ones(3), side="mid"),
        ArgumentError,
        "searchsorted: side: got 'mid', expected 'left' or 'right'",
    ),
    (
        lambda array, ones: na.where(array(np.ones(3, "uint8")), ones(3), ones(3)),
        DtypeError,
        "where: condition: got uint8, expected bool; convert it with na.not_equal(x, 0)",
    ),
    (
        lambda ones: na.nanmax(ones(0, 3), axis=0),
        ShapeError,
        "nanmax: x: got shape (0, 3), which has no elements to reduce over axis 0",
    ),
    (
        lambda zeros: na.gumbel_softmax(zeros(2), na.random.key(0, like=zeros(1)), tau=0.0),
        ArgumentError,
        "gumbel_softmax: tau: got 0.0, expected a positive number",
    ),
    (
        lambda zeros: na.lp_pool(zeros(1, 1, 4), ord=0.0, kernel_size=2),
        ArgumentError,
        "lp_pool: ord: got 0.0, expected a positive number",
    ),
    (
        lambda zeros: na.lp_pool(zeros(1, 1, 3), kernel_size=4, stride=1, ceil_mode=True),
        ShapeError,
        "lp_pool: the window spans (4,) elements and the padded input has (3,); expected an input at least as large as the window: pad more, or make the kernel smaller",
    ),
    (
        lambda zeros: na.lp_pool(zeros(1, 4), kernel_size=2),
        ShapeError,
        "lp_pool: x has shape (1, 4), expected (batch, channels, *spatial) with one to 3 spatial axes",
    ),
    (
        lambda zeros: na.max_pool_with_indices(zeros(1, 1, 3), kernel_size=4),
        ShapeError,
        "max_pool_with_indices: the window spans (4,) elements and the padded input has (3,); expected an input at least as large as the window: pad more, or make the kernel smaller",
    ),
    (
        lambda zeros: na.max_unpool(zeros(1, 1, 3), zeros(1, 1, 2, dtype="int32"), kernel_size=2),
        ShapeError,
        "max_unpool: indices has shape (1, 1, 2), expected that of x, (1, 1, 3)",
    ),
    (
        lambda zeros: na.fractional_max_pool2d(
            zeros(1, 1, 3, 3), na.random.key(0, like=zeros(1)), kernel_size=2, output_size=(2, 3)
        ),
        ShapeError,
        "fractional_max_pool2d: x has shape (1, 1, 3, 3), expected (batch, channels, height, width) with sizes of at least (3, 4): output_size + kernel_size − 1",
    ),
    (
        lambda zeros: na.reduce_window(zeros(3), computation="mean", window=(2,)),
        ArgumentError,
        "reduce_window: computation: got 'mean', expected one of add, mul, max, min",
    ),
    (
        lambda zeros: na.reduce_window(zeros(3), computation="add", window=(2, 2)),
        ArgumentError,
        "reduce_window: window: got (2, 2), expected 1 numbers: one for each axis of x (3,)",
    ),
    (
        lambda zeros, ones: na.in_top_k(
            na.astype(zeros(2, dtype="int32"), "bool"), ones(2, 3), k=1
        ),
        DtypeError,
        "in_top_k: targets: got bool, expected integers; cast with na.astype",
    ),
    *(
        (
            lambda ones, op=op: getattr(na, op)(ones(0), axis=1),
            IndexingError,
            f"{op}: axis: got 1 for an array of 1 dimensions, expected -1 <= axis < 1",
        )
        for op in ("cummax", "cummin", "cumulative_sum", "cumulative_logsumexp")
    ),
    (
        lambda zeros: na.bincount(zeros(dtype="int32")),
        ShapeError,
        "bincount: x: got shape (), expected (n,)",
    ),
    (
        lambda ones: na.nonzero(ones(2, 3), size=2, fill_value=(1, 2, 3)),
        ArgumentError,
        "nonzero: fill_value: got (1, 2, 3), expected an int or one for each of 2 axes",
    ),
    *(
        (
            lambda ones, op=op: getattr(na, op)(ones(2, 3), size=-1),
            ArgumentError,
            f"{op}: size: got -1, expected a number of at least 0",
        )
        for op in ("nonzero", "unique_all")
    ),
    *(
        (
            lambda ones, op=op, q=q: getattr(na, op)(ones(2, 3), q),
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
        lambda ones: na.quantile(ones(2, 3), 0.5, axis=1, weights=ones(2, 3)),
        ArgumentError,
        "quantile: method: got 'linear' with weights, expected 'inverted_cdf', the one that takes them",
    ),
    (
        lambda ones: na.quantile(ones(2, 3), 0.5, method="inverted_cdf", axis=1, weights=ones(4)),
        ShapeError,
        "quantile: weights: got the shape (4,) for x of shape (2, 3) along 1, expected that of x, or one weight for each position of the axis",
    ),
    (
        lambda ones: na.reduce_window(ones(3), computation="add", window=(2,), base_dilation=(0,)),
        ArgumentError,
        "reduce_window: base_dilation: got (0,), expected numbers of at least 1",
    ),
    *(
        (
            lambda ones, op=op: getattr(na, op)(ones(2, 3), keepdims="a"),
            ArgumentError,
            f"{op}: keepdims: got 'a', expected True or False",
        )
        for op in ("sum", "max", "mean", "all")
    ),
]


@refused(ROWS)
def test_refused(row: Row, backend: str) -> None:
    check_refused(row, backend)
