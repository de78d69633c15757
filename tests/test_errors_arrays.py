"""What ops that make, cut, join, count and compare arrays say about arguments they cannot take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import backends
from nestarray.errors import ArgumentError, DtypeError, IndexingError, ShapeError

X = np.arange(6, dtype="float32").reshape(2, 3)

EVERYWHERE: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (
        lambda x: na.tensordot(x, x, axes=[(1, 0), (0, 1)]),
        ShapeError,
        "tensordot: axes: got [(1, 0), (0, 1)] for shapes (2, 3) and (2, 3): lengths (3, 2) of x1 "
        "against (2, 3) of x2, expected equal ones",
    ),
    (
        lambda x: na.tensordot(na.reshape(x, (3, 2)), x, axes=2),
        ShapeError,
        "tensordot: axes: got 2 for shapes (3, 2) and (2, 3): lengths (3, 2) of x1 against (2, 3) "
        "of x2, expected equal ones",
    ),
    (
        lambda x: na.tensordot(1.5, x, axes=((0,), (1,))),
        IndexingError,
        "tensordot: axes: got 0 for an array of 0 dimensions, expected 0 <= axis < 0",
    ),
    (
        lambda x: na.reshape(x[0, :1], (True,)),
        ArgumentError,
        "reshape: shape: got True, expected an int",
    ),
    (
        lambda x: na.expand_dims(x[0, 0], axis=None),
        ArgumentError,
        "expand_dims: axis: got None, expected an int",
    ),
    (
        lambda x: na.roll(x, (1, 2, 3), axis=(0, 1)),
        ShapeError,
        "roll: shift: got (1, 2, 3) for 2 axes, expected a number, or one for each",
    ),
    (
        lambda x: na.repeat(x, x[:, 0], axis=0),
        DtypeError,
        "repeat: repeats: got float32, expected integers; cast with na.astype",
    ),
    (
        lambda x: na.repeat(x, na.astype(x, "int32"), axis=0),
        ShapeError,
        "repeat: repeats: got shape (2, 3), expected a number, or one for each element along the "
        "axis",
    ),
    (
        lambda x: na.moveaxis(x, (0, 1), (0, 0)),
        ShapeError,
        "moveaxis: destination: got (0, 0), in which an axis stands twice",
    ),
    (
        lambda x: na.pad(x[0, 0], (1, 2)),
        ShapeError,
        "pad: x: got an array of no dimensions, expected one at least",
    ),
    (
        lambda x: na.masked_fill(x, na.astype(x, "uint8"), x),
        DtypeError,
        "masked_fill: mask: got uint8, expected bool; compare it with 0 to make it one",
    ),
    (
        lambda x: na.where(x, x, x),
        DtypeError,
        "where: condition: got float32, expected bool; compare it with 0 to make it one",
    ),
    *(
        (
            lambda x, device=device: na.astype(x, "float16", device=device),
            ArgumentError,
            f"astype: device: got {device!r}, expected one of cpu",
        )
        for device in ("nowhere", 1.5)
    ),
    (
        lambda x: na.random_uniform(na.astype(x[0, 1:], "uint32"), shape=(2, -1)),
        ArgumentError,
        "random: shape: got -1 in (2, -1), expected sizes from 0 on",
    ),
    (
        lambda x: na.masked_fill(x, x, 0.0),
        DtypeError,
        "masked_fill: mask: got float32, expected bool; compare it with 0 to make it one",
    ),
    (
        lambda x: na.take(x, na.getitem(x, 0), axis=0),
        DtypeError,
        "take: indices: got float32, expected integers; cast with na.astype",
    ),
    (
        lambda x: na.take_along_axis(x, x, axis=0),
        DtypeError,
        "take_along_axis: indices: got float32, expected integers; cast with na.astype",
    ),
    (
        lambda x: na.embedding(x, x),
        DtypeError,
        "embedding: indices: got float32, expected integers; cast with na.astype",
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
        lambda x: na.cov(na.expand_dims(x, 0)),
        ShapeError,
        "cov: x: got the shape (1, 2, 3), expected (variables, observations) or (observations,)",
    ),
    (
        lambda x: na.corrcoef(na.expand_dims(x, 0)),
        ShapeError,
        "corrcoef: x: got the shape (1, 2, 3), expected (variables, observations) or "
        "(observations,)",
    ),
    (
        lambda x: na.cov(x, aweights=na.getitem(x, (0, slice(2)))),
        ShapeError,
        "cov: aweights: got the shape (2,) for 3 observations, expected (3,)",
    ),
    (
        lambda x: na.linspace(x, 1.0, 3, axis=3),
        IndexingError,
        "linspace: axis: got 3 for an array of 3 dimensions, expected -3 <= axis < 3",
    ),
    (
        lambda x: na.logspace(x, 1.0, 3, axis=-4),
        IndexingError,
        "logspace: axis: got -4 for an array of 3 dimensions, expected -3 <= axis < 3",
    ),
    (
        lambda x: na.geomspace(1.0, 2.0, 3, axis=1, like=x),
        IndexingError,
        "geomspace: axis: got 1 for an array of 1 dimensions, expected -1 <= axis < 1",
    ),
    (
        lambda x: na.gather_nd(x, na.asarray([[0], [1]], like=x), batch_dims=2),
        ArgumentError,
        "gather_nd: batch_dims: got 2 for x of shape (2, 3) and indices of shape (2, 1), expected "
        "0 <= batch_dims <= 1",
    ),
    (
        lambda x: na.gather_nd(x, na.asarray([[0], [1], [1]], like=x), batch_dims=1),
        ShapeError,
        "gather_nd: x has shape (2, 3) and indices (3, 1), expected the same first 1 axes, as "
        "batch_dims=1",
    ),
    (lambda x: na.chunk(x, 0), ShapeError, "chunk: chunks: got 0, expected at least 1"),
    (
        lambda x: na.chunk(x, 2, axis=2),
        ShapeError,
        "chunk: axis: got 2 for an array of 2 dimensions, expected -2 <= axis < 2",
    ),
    (
        lambda x: na.hsplit(x, 2),
        ShapeError,
        "hsplit: indices_or_sections: got 2 for an axis of length 3, expected a divisor; "
        "array_split makes parts that differ",
    ),
    (
        lambda x: na.vsplit(na.getitem(x, 0), 1),
        ShapeError,
        "vsplit: x: got the shape (3,), expected at least 2 dimensions",
    ),
    (
        lambda x: na.dsplit(x, 1),
        ShapeError,
        "dsplit: x: got the shape (2, 3), expected at least 3 dimensions",
    ),
    (
        lambda x: na.rot90(x, axes=(0, 2)),
        ShapeError,
        "rot90: axes: got 2 for an array of 2 dimensions, expected -2 <= axis < 2",
    ),
    (
        lambda x: na.rot90(x, axes=(0, -2)),
        ShapeError,
        "rot90: axes: got (0, -2), in which an axis stands twice",
    ),
    (lambda x: na.rot90(x, axes=(0,)), ShapeError, "rot90: axes: got (0,), expected two axes"),
    (
        lambda x: na.trim_zeros(x, trim="front"),
        ArgumentError,
        "trim_zeros: trim: got 'front', expected 'f', 'b' or 'fb'",
    ),
    (
        lambda x: na.diag(na.expand_dims(x, 0)),
        ShapeError,
        "diag: x: got the shape (1, 2, 3), expected one or two dimensions; "
        "diagonal takes batches of matrices",
    ),
    (
        lambda x: na.fill_diagonal(na.expand_dims(x, 0), 1.0),
        ShapeError,
        "fill_diagonal: x: got the shape (1, 2, 3), expected a matrix, or more dimensions, "
        "all of one length",
    ),
    (
        lambda x: na.vander(x, N=-1),
        ShapeError,
        "vander: N: got -1, expected a number that is not negative",
    ),
    (
        lambda x: na.vander(na.getitem(x, (0, 0))),
        ShapeError,
        "vander: x: got the shape (), expected at least one dimension",
    ),
    (
        lambda x: na.block_diag([x, na.expand_dims(x, 0)]),
        ShapeError,
        "block_diag: arrays: got the shape (1, 2, 3) at place 1, expected at most two dimensions",
    ),
    (
        lambda x: na.geomspace(-1.0, 1.0, 3, like=x),
        ArgumentError,
        "geomspace: got -1.0 to 1.0, expected ends of one sign, and not 0",
    ),
    (
        lambda x: na.ravel_multi_index((na.argsort(x),), (2, 3)),
        ShapeError,
        "ravel_multi_index: multi_index: got 1 arrays for the shape (2, 3), expected one for each "
        "axis",
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
]


@pytest.mark.parametrize(("call", "error", "message"), EVERYWHERE)
def test_error_on_every_backend(
    backend: str, call: Callable[[Any], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        call(backends.core(backend).from_numpy(X))
    assert str(caught.value) == message


def test_block_diag_of_nothing() -> None:
    with pytest.raises(ShapeError, match="block_diag: arrays: got none, expected at least one"):
        na.block_diag([])
