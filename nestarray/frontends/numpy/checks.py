"""Errors of NumPy that functions of `jax.numpy` do not raise.

A check takes the arguments of a call under NumPy's names. It reads shapes, dtypes and settings.
Elements of arrays are read where NumPy's error depends on them: positions, edges of bins, quantiles,
and not of arrays that are being traced.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

import nestarray as na
from nestarray.errors import ArgumentError, ShapeError
from nestarray.frontends.numpy.arrays import (
    as_array,
    check_positions,
    known_values,
    numpy_dtype,
)

Check = Callable[..., None]


def _shape(x: Any) -> tuple[int, ...]:
    return tuple(na.shape(x if hasattr(x, "shape") else as_array(x)))


def _rank(name: str, argument: str, lowest: int, highest: float = math.inf) -> Check:
    def check(**given: Any) -> None:
        shape = _shape(given[argument])
        if not lowest <= len(shape) <= highest:
            expected = f"{lowest} to {highest}" if highest < math.inf else f"at least {lowest}"
            raise ShapeError(f"{name}: {argument}: got shape {shape}, expected {expected} axes")

    return check


def _packbits(a: Any, **given: Any) -> None:
    dtype = numpy_dtype(as_array(a))
    if dtype.kind not in "biu":
        raise ArgumentError(f"packbits: a: got {dtype}, expected integers or booleans")


def _unpackbits(a: Any, **given: Any) -> None:
    dtype = numpy_dtype(as_array(a))
    if dtype != np.uint8:
        raise ArgumentError(f"unpackbits: a: got {dtype}, expected uint8")


def _fraction(name: str, whole: float) -> Check:
    def check(q: Any, **given: Any) -> None:
        values = known_values(q)
        if values is not None and not np.all((values >= 0) & (values <= whole)):
            raise ArgumentError(f"{name}: q: got {values}, expected numbers from 0 to {whole:g}")

    return check


def _cumulative(name: str) -> Check:
    def check(x: Any, axis: Any = None, **given: Any) -> None:
        if axis is None and len(_shape(x)) > 1:
            raise ArgumentError(f"{name}: axis: got None for shape {_shape(x)}, expected an axis")

    return check


def _axis(a: Any, axis: Any = None, **given: Any) -> None:
    """The axis of a reduction is one of the array, before `where` broadcasts it."""
    if axis is None or (axis in (0, -1) and not _shape(a)):
        return
    np.lib.array_utils.normalize_axis_tuple(axis, len(_shape(a)))
    if isinstance(axis, list):
        raise ArgumentError(f"axis: got {axis}, expected an integer or a tuple")


def _changed(name: str, *new: Any) -> Check:
    """NumPy changes an array of the same length, without its elements and its other axes."""

    def check(**given: Any) -> None:
        shape, axis = _shape(given["arr"]), given.get("axis")
        obj = given["obj"] if isinstance(given["obj"], slice) else known_values(given["obj"])
        if obj is None:
            return
        length = math.prod(shape) if axis is None else shape[axis]
        obj = obj.item() if isinstance(obj, np.ndarray) and not obj.ndim else obj
        getattr(np, name)(np.empty(length, bool), obj, *new)

    return check


def _bins(name: str) -> Check:
    """Edges of bins are one axis of increasing numbers; a number of bins is an integer."""

    def check(
        bins: Any = 10, a: Any = None, range: Any = None, weights: Any = None, **_: Any
    ) -> None:
        if range is not None and not isinstance(range[0], (tuple, list)) and range[0] > range[1]:
            raise ArgumentError(f"{name}: range: got {range}, expected the lower end first")
        if weights is not None and a is not None and _shape(weights) != _shape(a):
            raise ShapeError(
                f"{name}: weights: got shape {_shape(weights)}, expected that of a, {_shape(a)}"
            )
        if isinstance(bins, str):
            return
        values = known_values(bins)
        if values is not None and not values.ndim and values.dtype.kind not in "iu":
            raise ArgumentError(f"{name}: bins: got {bins!r}, expected an integer, a name or edges")
        if values is not None and values.ndim:
            _edges(name, values)

    return check


def _edges(name: str, values: np.ndarray) -> None:
    if values.ndim != 1:
        raise ShapeError(f"{name}: bins: got shape {values.shape}, expected one axis")
    if np.any(values[1:] < values[:-1]):
        raise ArgumentError(f"{name}: bins: got edges that decrease, expected increasing ones")


def _digitize(bins: Any, **given: Any) -> None:
    values = known_values(bins)
    if values is not None and values.ndim == 1 and len(values) and values[0] > values[-1]:
        values = values[::-1]
    if values is not None:
        _edges("digitize", values)


def _interp(xp: Any, fp: Any, **given: Any) -> None:
    if _shape(xp) != _shape(fp) or not math.prod(_shape(xp)):
        raise ShapeError(
            f"interp: got xp of shape {_shape(xp)} and fp of shape {_shape(fp)}, expected equal "
            f"numbers of points, at least one"
        )


def _where(condition: Any, x: Any = None, y: Any = None) -> None:
    if (x is None) != (y is None):
        raise ArgumentError("where: got one of x and y, expected both or neither")


def _gradient(f: Any, axis: Any = None, edge_order: int = 1, **given: Any) -> None:
    shape = _shape(f)
    axes = range(len(shape)) if axis is None else axis
    axes = np.lib.array_utils.normalize_axis_tuple(
        tuple(axes) if axis is None else axes, len(shape)
    )
    if any(shape[i] < edge_order + 1 for i in axes):
        raise ShapeError(
            f"gradient: f: got shape {shape}, expected at least {edge_order + 1} points on each axis"
        )


def _average(a: Any, axis: Any = None, weights: Any = None, **given: Any) -> None:
    if weights is None or _shape(weights) == _shape(a):
        return
    axes = () if axis is None else np.lib.array_utils.normalize_axis_tuple(axis, len(_shape(a)))
    if not axes or _shape(weights) != tuple(_shape(a)[i] for i in axes):
        raise ArgumentError(
            f"average: weights: got shape {_shape(weights)} for shape {_shape(a)} and axis {axis}"
        )


def _unravel_index(indices: Any, shape: Any, **given: Any) -> None:
    values = known_values(indices)
    if values is not None:
        np.unravel_index(values, shape)


def _selected(name: str, argument: str) -> Check:
    """The positions at which a condition is true are within the array."""

    def check(condition: Any, axis: Any = None, **given: Any) -> None:
        shape, values = _shape(given[argument]), known_values(condition)
        size = math.prod(shape) if axis is None else shape[axis]
        if values is not None and math.prod(values.shape) > size:
            check_positions(name, np.flatnonzero(values), size)

    return check


def _take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> None:
    shape = _shape(arr)
    if axis is None and len(_shape(indices)) != 1:
        raise ShapeError(
            f"take_along_axis: indices: got shape {_shape(indices)}, expected one axis"
        )
    check_positions("take_along_axis", indices, math.prod(shape) if axis is None else shape[axis])


def _diag_indices_from(arr: Any) -> None:
    shape = _shape(arr)
    if len(shape) < 2 or len({*shape}) > 1:
        raise ShapeError(
            f"diag_indices_from: arr: got shape {shape}, expected equal sizes, two or more"
        )


def _ix(args: tuple[Any, ...] = ()) -> None:
    for x in args:
        if len(_shape(x)) != 1:
            raise ShapeError(f"ix_: got shape {_shape(x)}, expected one axis")


def _resize(a: Any, new_shape: Any) -> None:
    if np.any(np.asarray(new_shape) < 0):
        raise ArgumentError(f"resize: new_shape: got {new_shape}, expected sizes of at least 0")


def _diff(a: Any, n: int = 1, **given: Any) -> None:
    if n < 0:
        raise ArgumentError(f"diff: n: got {n}, expected at least 0")
    _rank("diff", "a", 1)(a=a)


def _select(condlist: Any, **given: Any) -> None:
    if not len(condlist):
        raise ArgumentError("select: condlist: got no condition, expected at least one")


def _cov(m: Any, ddof: Any = None, **given: Any) -> None:
    _rank("cov", "m", 0, 2)(m=m)
    if ddof is not None and ddof != int(ddof):
        raise ArgumentError(f"cov: ddof: got {ddof}, expected an integer")


def _round(a: Any, decimals: Any = 0, **given: Any) -> None:
    operator.index(decimals)  # raises a TypeError for numbers with a fraction


def _multi_dot(arrays: Any, **given: Any) -> None:
    if len(arrays) < 2:
        raise ArgumentError(f"linalg.multi_dot: got {len(arrays)} arrays, expected at least two")


def _sorter(a: Any, sorter: Any = None, **given: Any) -> None:
    if sorter is not None and _shape(sorter) != _shape(a):
        raise ShapeError(f"searchsorted: sorter: got shape {_shape(sorter)}, expected {_shape(a)}")


def check_negative_powers(x2: Any) -> None:
    """Integers have no negative powers."""
    values = known_values(x2)
    if values is not None and np.any(values < 0):
        raise ArgumentError("power: x2: got negative numbers, expected at least 0 for integers")


CHECKS: dict[str, Check] = {
    **dict.fromkeys(("mean", "std", "var"), _axis),
    "around": _round,
    "average": _average,
    "corrcoef": _rank("corrcoef", "x", 0, 2),
    "cov": _cov,
    "cumulative_prod": _cumulative("cumulative_prod"),
    "cumulative_sum": _cumulative("cumulative_sum"),
    "delete": _changed("delete"),
    "diag_indices_from": _diag_indices_from,
    "diff": _diff,
    "digitize": _digitize,
    "dsplit": _rank("dsplit", "ary", 3),
    "extract": _selected("extract", "arr"),
    "gradient": _gradient,
    "histogram": _bins("histogram"),
    "histogram_bin_edges": _bins("histogram_bin_edges"),
    "hsplit": _rank("hsplit", "ary", 1),
    "insert": _changed("insert", False),
    "interp": _interp,
    "ix_": _ix,
    "linalg.multi_dot": _multi_dot,
    "nanpercentile": _fraction("nanpercentile", 100),
    "nanquantile": _fraction("nanquantile", 1),
    "packbits": _packbits,
    "percentile": _fraction("percentile", 100),
    "quantile": _fraction("quantile", 1),
    "resize": _resize,
    "round": _round,
    "searchsorted": _sorter,
    "select": _select,
    "take_along_axis": _take_along_axis,
    "tril_indices_from": _rank("tril_indices_from", "arr", 2, 2),
    "triu_indices_from": _rank("triu_indices_from", "arr", 2, 2),
    "unpackbits": _unpackbits,
    "unravel_index": _unravel_index,
    "vander": _rank("vander", "x", 1, 1),
    "vsplit": _rank("vsplit", "ary", 2),
    "where": _where,
}  # fmt: skip
