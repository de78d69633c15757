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
from nestarray.errors import ArgumentError, DtypeError, ShapeError
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


def _unpackbits(a: Any, axis: Any = None, count: Any = None, **given: Any) -> None:
    dtype, shape = numpy_dtype(as_array(a)), _shape(a)
    if dtype != np.uint8:
        raise ArgumentError(f"unpackbits: a: got {dtype}, expected uint8")
    bits = 8 * (math.prod(shape) if axis is None or not shape else shape[axis])
    if count is not None and count < -bits:
        raise ArgumentError(f"unpackbits: count: got {count}, expected at least {-bits}")


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
    if axis is None:
        return
    np.lib.array_utils.normalize_axis_tuple(axis, len(_shape(a)))
    if isinstance(axis, list):
        raise ArgumentError(f"axis: got {axis}, expected an integer or a tuple")


def _bins(name: str) -> Check:
    """Edges of bins are one axis of increasing numbers; a number of bins is a positive integer."""

    def check(bins: Any = 10, a: Any = None, weights: Any = None, **_: Any) -> None:
        if weights is not None and a is not None and _shape(weights) != _shape(a):
            raise ShapeError(
                f"{name}: weights: got shape {_shape(weights)}, expected that of a, {_shape(a)}"
            )
        check_bins(name, bins)

    return check


def check_bins(name: str, bins: Any) -> None:
    """The bins along one axis: a number, a name or edges."""
    values = None if isinstance(bins, str) else known_values(bins)
    if values is not None and values.ndim:
        _edges(name, values)
    elif values is not None and (values.dtype.kind not in "iu" or values < 1):
        raise ArgumentError(
            f"{name}: bins: got {bins!r}, expected a positive integer, a name or edges"
        )


def check_range(name: str, edges: Any) -> None:
    """Computed edges of bins are numbers that increase, if their values are known."""
    values = known_values(edges)
    if values is not None and not (np.isfinite(values).all() and np.all(values[1:] > values[:-1])):
        raise ArgumentError(
            f"{name}: range: got {values[0]} to {values[-1]}, expected finite ends, the lower first"
        )


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


def _interp(xp: Any, fp: Any, period: Any = None, **given: Any) -> None:
    if period == 0:
        raise ArgumentError("interp: period: got 0, expected another number")
    if _shape(xp) != _shape(fp) or not math.prod(_shape(xp)):
        raise ShapeError(
            f"interp: got xp of shape {_shape(xp)} and fp of shape {_shape(fp)}, expected equal "
            f"numbers of points, at least one"
        )


def _where(condition: Any, x: Any = None, y: Any = None) -> None:
    if (x is None) != (y is None):
        raise ArgumentError("where: got one of x and y, expected both or neither")


def _gradient(
    f: Any, varargs: Any = (), axis: Any = None, edge_order: int = 1, **given: Any
) -> None:
    shape = _shape(f)
    if edge_order not in (1, 2):
        raise ArgumentError(f"gradient: edge_order: got {edge_order}, expected 1 or 2")
    axes = range(len(shape)) if axis is None else axis
    axes = np.lib.array_utils.normalize_axis_tuple(
        tuple(axes) if axis is None else axes, len(shape)
    )
    if len(varargs) not in (0, 1, len(axes)):
        raise ArgumentError(
            f"gradient: got {len(varargs)} spacings, expected one or one for each axis"
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


def _cov(m: Any, ddof: Any = None, fweights: Any = None, aweights: Any = None, **_: Any) -> None:
    _rank("cov", "m", 0, 2)(m=m)
    if ddof is not None and ddof != int(ddof):
        raise ArgumentError(f"cov: ddof: got {ddof}, expected an integer")
    count = _shape(m)[-1:] or (1,)
    for name, weights in (("fweights", fweights), ("aweights", aweights)):
        if weights is None:
            continue
        if _shape(weights) != count:
            raise RuntimeError(f"cov: {name}: got shape {_shape(weights)}, expected {count}")
        values = known_values(weights)
        if values is not None and np.any(values < 0):
            raise ArgumentError(f"cov: {name}: got negative numbers, expected at least 0")
    values = None if fweights is None else known_values(fweights)
    if values is not None and np.any(values != np.round(values)):
        raise ArgumentError("cov: fweights: got fractions, expected integers")


def _round(a: Any, decimals: Any = 0, **given: Any) -> None:
    operator.index(decimals)  # raises a TypeError for numbers with a fraction
    if decimals and numpy_dtype(as_array(a)) == np.bool_:
        raise DtypeError(f"round: a: got booleans and {decimals} decimals, expected numbers")


def _multi_dot(arrays: Any, **given: Any) -> None:
    if len(arrays) < 2:
        raise ArgumentError(f"linalg.multi_dot: got {len(arrays)} arrays, expected at least two")


def _sorter(a: Any, sorter: Any = None, **given: Any) -> None:
    if sorter is not None and _shape(sorter) != _shape(a):
        raise ShapeError(f"searchsorted: sorter: got shape {_shape(sorter)}, expected {_shape(a)}")


def _joined(name: str, argument: str) -> Check:
    """Arrays to join are in a sequence, and there is one."""

    def check(**given: Any) -> None:
        arrays = given[argument]
        if not (isinstance(arrays, (list, tuple)) or _shape(arrays)) or not len(arrays):
            raise ArgumentError(f"{name}: {argument}: got {arrays!r}, expected at least one array")

    return check


def _step(step: Any = None, **given: Any) -> None:
    values = known_values(step)
    if step is not None and values is not None and not values:
        raise ZeroDivisionError("arange: step: got 0")


def _kth(a: Any, kth: Any, axis: Any = -1, **given: Any) -> None:
    shape = _shape(a)
    axis = None if axis is None else np.lib.array_utils.normalize_axis_index(axis, len(shape))
    if math.prod(shape):
        np.partition(np.empty(math.prod(shape) if axis is None else shape[axis]), kth)


def _sorting(kind: Any = None, order: Any = None, stable: Any = None, **given: Any) -> None:
    np.sort(np.empty(0), kind=kind, order=order, stable=stable)


def _triangle(name: str) -> Check:
    def check(UPLO: str = "L", **given: Any) -> None:
        if UPLO.upper() not in ("L", "U"):
            raise ArgumentError(f"{name}: UPLO: got {UPLO!r}, expected 'L' or 'U'")

    return check


def _polyfit(x: Any, y: Any, deg: Any, **given: Any) -> None:
    sizes = _shape(x)
    if len(sizes) != 1 or not sizes[0] or _shape(y)[:1] != sizes:
        raise ArgumentError(
            f"polyfit: got x of shape {sizes} and y of shape {_shape(y)}, expected points"
        )


def check_negative_powers(x2: Any) -> None:
    """Integers have no negative powers."""
    values = known_values(x2)
    if values is not None and np.any(values < 0):
        raise ArgumentError("power: x2: got negative numbers, expected at least 0 for integers")


CHECKS: dict[str, Check] = {
    **dict.fromkeys(("mean", "std", "var"), _axis),
    "arange": _step,
    "argpartition": _kth,
    "argsort": _sorting,
    "around": _round,
    "average": _average,
    "column_stack": _joined("column_stack", "tup"),
    "concatenate": _joined("concatenate", "arrays"),
    "corrcoef": _rank("corrcoef", "x", 0, 2),
    "cov": _cov,
    "cumulative_prod": _cumulative("cumulative_prod"),
    "cumulative_sum": _cumulative("cumulative_sum"),
    "diag_indices_from": _diag_indices_from,
    "diff": _diff,
    "digitize": _digitize,
    "dsplit": _rank("dsplit", "ary", 3),
    "dstack": _joined("dstack", "tup"),
    "extract": _selected("extract", "arr"),
    "gradient": _gradient,
    "histogram": _bins("histogram"),
    "histogram_bin_edges": _bins("histogram_bin_edges"),
    "hsplit": _rank("hsplit", "ary", 1),
    "hstack": _joined("hstack", "tup"),
    "interp": _interp,
    "ix_": _ix,
    "lexsort": _joined("lexsort", "keys"),
    "linalg.eigh": _triangle("eigh"),
    "linalg.eigvalsh": _triangle("eigvalsh"),
    "linalg.multi_dot": _multi_dot,
    "nanpercentile": _fraction("nanpercentile", 100),
    "nanquantile": _fraction("nanquantile", 1),
    "packbits": _packbits,
    "partition": _kth,
    "percentile": _fraction("percentile", 100),
    "polyfit": _polyfit,
    "quantile": _fraction("quantile", 1),
    "resize": _resize,
    "round": _round,
    "searchsorted": _sorter,
    "select": _select,
    "sort": _sorting,
    "stack": _joined("stack", "arrays"),
    "take_along_axis": _take_along_axis,
    "tril_indices_from": _rank("tril_indices_from", "arr", 2, 2),
    "triu_indices_from": _rank("triu_indices_from", "arr", 2, 2),
    "unpackbits": _unpackbits,
    "unravel_index": _unravel_index,
    "vander": _rank("vander", "x", 1, 1),
    "vsplit": _rank("vsplit", "ary", 2),
    "vstack": _joined("vstack", "tup"),
    "where": _where,
}  # fmt: skip
