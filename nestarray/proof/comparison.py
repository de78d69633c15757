"""Comparisons of arrays: errors relative to the source, and their scale."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from nestarray import backends, dtypes
from nestarray.container import Container
from nestarray.dtypes import DType
from nestarray.proof.report import Comparison

#: Errors up to this many ulps of the model's largest gradient are rounding, in any leaf: the
#: gradient of a bias before a normalization is zero, and its computed value is the rounding error
#: of a sum of large numbers. The same holds for new state: the mean of centred values.
NOISE_ULPS = 4


class Pair(NamedTuple):
    """Two arrays to compare.

    Attributes:
        name: of the array.
        want, got: the source's and the graph's, of any backend.
        dtype: the dtype of `got` that is right; None for any.
    """

    name: str
    want: Any
    got: Any
    dtype: DType | None = None


def compare(pair: Pair, rtol: float, where: str = "", floor: float = 0.0) -> Comparison:
    """A row for two arrays.

    Args:
        pair: the arrays.
        rtol: the largest relative error that passes; integers are equal.
        where: see `Comparison`.
        floor: the smallest number to which the error is relative.
    """
    row = _compare_values(pair.name, host(pair.want), host(pair.got), rtol, where, floor)
    if pair.dtype is None or not backends.is_array(pair.got) or dtypes.is_key(pair.got):
        return row
    dtype = dtypes.dtype_of(pair.got)
    if dtype is pair.dtype:
        return row
    return dataclasses.replace(row, dtypes=(dtype.name, pair.dtype.name))


def _compare_values(
    name: str, want: np.ndarray, got: np.ndarray, rtol: float, where: str, floor: float
) -> Comparison:
    error = difference(want, got)
    if want.shape != got.shape:
        name = f"{name}: shape {got.shape}, expected {want.shape}"
        return Comparison(name, error, 1.0, rtol, where)
    if want.dtype.kind not in "fc":
        return Comparison(name, error, max(want.size, 1), 0.0, where)
    # below the smallest normal number some frameworks have zero only
    floor = max(floor, NOISE_ULPS * float(np.finfo(want.dtype).smallest_normal) / rtol)
    return Comparison(name, error, max(_magnitude(want), floor), rtol, where)


def compare_together(pairs: list[Pair], eps: float, rtol: float) -> list[Comparison]:
    """A row for each pair, where the rounding of the largest of them all passes.

    Args:
        pairs: the arrays.
        eps: unit in the last place of the coarsest dtype behind them.
        rtol: the largest relative error that passes.
    """
    floor = _noise([host(pair.want) for pair in pairs], eps, rtol)
    return [compare(pair, rtol, floor=floor) for pair in pairs]


def worst(rows: list[Comparison]) -> Comparison:
    """The row with the largest relative error, among the failed ones if there are any."""
    return max(rows, key=lambda row: (not row.ok, row.relative))


def difference(want: np.ndarray, got: np.ndarray) -> float:
    """The largest difference of two arrays; of integers and bools, how many are others.

    It is infinite where one has NaN and the other a number, and for other shapes.
    """
    if want.shape != got.shape:
        return float("inf")
    if want.dtype.kind not in "fc":
        return float(np.count_nonzero(want != got))
    with np.errstate(all="ignore"):
        error = np.abs(want.astype(np.complex128 if want.dtype.kind == "c" else np.float64) - got)
    same = (want == got) | (np.isnan(want) & np.isnan(got))
    error = np.where(same, 0.0, error)
    largest = float(error.max()) if error.size else 0.0
    return float("inf") if np.isnan(largest) else largest


def leaves(nest: Any) -> list[tuple[str, Any]]:
    """(path, leaf) of an output, which may be a bare array or hold None and numbers."""
    c = nest if isinstance(nest, Container) else Container(nest)
    return [(name or "output", leaf) for name, leaf in c.flat_items()]


def host(x: Any) -> np.ndarray:
    """An array, or a number, as one of NumPy's own dtypes."""
    backend = backends.backend_of_type(type(x))
    if backend is None:
        return np.asarray(x)
    if dtypes.is_key(x):
        x = backends.chapter("jax", "keys").words_of(x)
    array = backends.core(backend).to_numpy(x)
    return array.astype(np.float64) if dtypes.dtype_of(x) is dtypes.bfloat16 else array


def _magnitude(x: np.ndarray) -> float:
    finite = np.abs(x[np.isfinite(x)]) if x.dtype.kind in "fc" else np.abs(x.astype(np.float64))
    return float(finite.max()) if finite.size else 0.0


def _noise(arrays: list[np.ndarray], eps: float, rtol: float) -> float:
    """The smallest scale of one of these arrays, at which `NOISE_ULPS` of the largest pass."""
    inexact = [x for x in arrays if x.dtype.kind in "fc"]
    largest = max(map(_magnitude, inexact), default=0.0)
    eps = max([eps, *(float(np.finfo(x.dtype).eps) for x in inexact)])
    return NOISE_ULPS * eps * largest / rtol
