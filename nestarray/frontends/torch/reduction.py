"""Reductions: one value from many.

Upstream: https://docs.pytorch.org/docs/stable/torch.html#reduction-ops, one page a function:
https://docs.pytorch.org/docs/stable/generated/torch.sum.html
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.torch import ordering, pointwise
from nestarray.frontends.torch.dims import (
    axes_of,
    is_empty,
    ndim_of,
    numel_of,
    shape_of,
    wrap,
    wrap_all,
)
from nestarray.frontends.torch.promotion import accumulating, cast, expect_array, floating
from nestarray.frontends.torch.return_types import MinMax, ValuesIndices
from nestarray.numerics.roots import root
from nestarray.typing import Array, DTypeLike

__all__ = [
    "all", "amax", "amin", "aminmax", "any", "argmax", "argmin", "count_nonzero", "logsumexp",
    "max", "mean", "median", "min", "mode", "nanmean", "nansum", "prod", "quantile", "std",
    "std_mean", "sum", "trapezoid", "var", "var_mean",
]  # fmt: skip

Dims = int | Sequence[int] | None


# -- sums ----------------------------------------------------------------------------------


def sum(
    input: Array, dim: Dims = None, keepdim: bool = False, *, dtype: DTypeLike | None = None
) -> Array:
    """Σ over the dimensions `dim`; integers and booleans are counted in int64."""
    return _accumulated(na.sum, "sum", input, dim, keepdim, dtype)


def nansum(
    input: Array, dim: Dims = None, keepdim: bool = False, *, dtype: DTypeLike | None = None
) -> Array:
    """`sum` with NaN as 0."""
    return sum(_without_nan(input), dim, keepdim, dtype=dtype)


def prod(
    input: Array, dim: int | None = None, keepdim: bool = False, *, dtype: DTypeLike | None = None
) -> Array:
    """Π over the dimension `dim`; integers and booleans are multiplied in int64."""
    return _accumulated(na.prod, "prod", input, dim, keepdim, dtype)


def mean(
    input: Array, dim: Dims = None, keepdim: bool = False, *, dtype: DTypeLike | None = None
) -> Array:
    """The average over the dimensions `dim`."""
    x = _inexact("mean", input if dtype is None else cast(input, dtype))
    if is_empty(x):
        return na.multiply(sum(x, dim, keepdim), math.nan)
    return _reduced(na.mean, "mean", x, dim, keepdim)


def nanmean(
    input: Array, dim: Dims = None, keepdim: bool = False, *, dtype: DTypeLike | None = None
) -> Array:
    """The average of the elements that are not NaN."""
    x = _inexact("nanmean", input if dtype is None else cast(input, dtype))
    count = sum(cast(na.logical_not(na.isnan(x)), dtypes.dtype_of(x)), dim, keepdim)
    return na.divide(nansum(x, dim, keepdim), count)


def count_nonzero(input: Array, dim: Dims = None) -> Array:
    """How many elements are not 0."""
    is_bool = dtypes.dtype_of(input) is dtypes.bool
    return sum(input if is_bool else na.not_equal(input, 0), dim)


def logsumexp(input: Array, dim: Dims, keepdim: bool = False) -> Array:
    """ln Σ eˣ over the dimensions `dim`."""
    x = floating(input)
    if dtypes.dtype_of(x).kind != "complex":
        return _reduced(na.logsumexp, "logsumexp", x, dim, keepdim)
    high = na.stop_gradient(amax(na.real(x), dim if dim is not None else (), True))
    high = cast(na.where(na.isfinite(high), high, na.zeros_like(high)), dtypes.dtype_of(x))
    total = sum(na.exp(na.subtract(x, high)), dim, keepdim)
    return na.add(na.log(total), na.reshape(high, shape_of(total)))


def trapezoid(y: Array, x: Array | None = None, *, dx: float = 1, dim: int = -1) -> Array:
    """The integral by the trapezoidal rule."""
    axis = wrap("trapezoid", dim, ndim_of(y))
    return sum(trapezoids(y, x, dx, axis), axis)


def trapezoids(y: Array, x: Array | None, dx: float, axis: int) -> Array:
    """The areas between neighbours along an axis."""
    step: Any = dx if x is None else na.diff(x, axis=-1 if ndim_of(x) == 1 else axis)
    if x is not None and ndim_of(x) == 1:
        step = na.reshape(step, (-1,) + (1,) * (ndim_of(y) - 1 - axis))
    before = [builtins.slice(None)] * axis
    left = na.getitem(y, (*before, builtins.slice(0, -1)))
    right = na.getitem(y, (*before, builtins.slice(1, None)))
    return pointwise.div(pointwise.mul(pointwise.add(left, right), step), 2)


# -- spread --------------------------------------------------------------------------------


def var(
    input: Array,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Array:
    """The variance, Σ(x − mean)² / (n − correction); the default correction is 1."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    return _var(_inexact("var", input), dim, keepdim, _correction(unbiased, correction))


def std(
    input: Array,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Array:
    """The standard deviation, √`var`."""
    return root(na, var(input, dim, unbiased, keepdim, correction=correction))


def var_mean(
    input: Array,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Array, Array]:
    """`var` and `mean`."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    return var(input, dim, unbiased, keepdim, correction=correction), mean(input, dim, keepdim)


def std_mean(
    input: Array,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Array, Array]:
    """`std` and `mean`."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    return std(input, dim, unbiased, keepdim, correction=correction), mean(input, dim, keepdim)


def _correction(unbiased: bool | None, correction: float | None) -> float:
    if correction is not None:
        return correction
    return 1 if unbiased is None else int(unbiased)


def _var(x: Array, dim: Dims, keepdim: bool, correction: float) -> Array:
    axes = wrap_all("var", dim, ndim_of(x))
    count = math.prod(shape_of(x)[a] for a in axes)
    distance = na.subtract(x, mean(x, dim, keepdim=True))
    if dtypes.dtype_of(x).kind == "complex":
        distance = na.abs(distance)
    total = sum(na.square(distance), dim, keepdim)
    freedom = builtins.max(count - correction, 0)
    if freedom == 0:
        return na.multiply(total, float("inf"))
    return na.divide(total, float(freedom))


# -- extremes ------------------------------------------------------------------------------


def amax(input: Array, dim: Dims = (), keepdim: bool = False) -> Array:
    """The largest element over the dimensions `dim`."""
    return _extreme(na.max, "amax", input, dim, keepdim)


def amin(input: Array, dim: Dims = (), keepdim: bool = False) -> Array:
    """The smallest element over the dimensions `dim`."""
    return _extreme(na.min, "amin", input, dim, keepdim)


def aminmax(input: Array, *, dim: int | None = None, keepdim: bool = False) -> MinMax:
    """`amin` and `amax`."""
    dims: Dims = () if dim is None else dim
    return MinMax(amin(input, dims, keepdim), amax(input, dims, keepdim))


def max(input: Array, dim: Any = None, keepdim: bool = False) -> Any:
    """The largest element; with a dimension also its index; with an array `maximum`."""
    expect_array(input)
    if dim is None:
        return amax(input)
    if not isinstance(dim, int):
        return pointwise.maximum(input, dim)
    return _at(input, argmax(input, dim, keepdim=True), dim, keepdim)


def min(input: Array, dim: Any = None, keepdim: bool = False) -> Any:
    """The smallest element; with a dimension also its index; with an array `minimum`."""
    expect_array(input)
    if dim is None:
        return amin(input)
    if not isinstance(dim, int):
        return pointwise.minimum(input, dim)
    return _at(input, argmin(input, dim, keepdim=True), dim, keepdim)


def argmax(input: Array, dim: int | None = None, keepdim: bool = False) -> Array:
    """The index of the largest element; of the flattened array if `dim` is None."""
    return _arg(na.argmax, "argmax", input, dim, keepdim)


def argmin(input: Array, dim: int | None = None, keepdim: bool = False) -> Array:
    """The index of the smallest element; of the flattened array if `dim` is None."""
    return _arg(na.argmin, "argmin", input, dim, keepdim)


def _at(x: Array, indices: Array, dim: int, keepdim: bool) -> ValuesIndices:
    """The elements at `indices`; only these receive a gradient, as upstream."""
    if ndim_of(x) == 0:
        return ValuesIndices(x, na.reshape(indices, ()))
    axis = wrap("max", dim, ndim_of(x))
    values = na.take_along_axis(x, indices, axis=axis)
    return ordering.one_along(values, indices, axis, keepdim)


def _arg(function: Any, name: str, x: Array, dim: int | None, keepdim: bool) -> Array:
    shape = shape_of(x)
    if dtypes.dtype_of(x) is dtypes.bool:
        x = na.astype(x, dtypes.uint8)
    if dim is None or not shape:
        found = function(na.reshape(x, (-1,)), axis=0)
        found = na.reshape(found, (1,) * len(shape)) if keepdim else found
    else:
        found = function(x, axis=wrap(name, dim, len(shape)), keepdims=keepdim)
    return cast(found, dtypes.int64)


def _extreme(function: Any, name: str, x: Array, dim: Dims, keepdim: bool) -> Array:
    if dtypes.dtype_of(x) is dtypes.bool:
        return cast(_reduced(function, name, cast(x, dtypes.uint8), dim, keepdim), dtypes.bool)
    return _reduced(function, name, x, dim, keepdim)


# -- truth ---------------------------------------------------------------------------------


def all(input: Array, dim: Dims = None, keepdim: bool = False) -> Array:
    """Whether all elements over the dimensions `dim` are true; uint8 for uint8."""
    return _said_of(input, _reduced(na.all, "all", _truth(input), dim, keepdim))


def any(input: Array, dim: Dims = None, keepdim: bool = False) -> Array:
    """Whether an element over the dimensions `dim` is true; uint8 for uint8."""
    return _said_of(input, _reduced(na.any, "any", _truth(input), dim, keepdim))


def _said_of(x: Array, found: Array) -> Array:
    return cast(found, dtypes.uint8) if dtypes.dtype_of(x) is dtypes.uint8 else found


def _truth(x: Array) -> Array:
    return x if dtypes.dtype_of(x) is dtypes.bool else na.not_equal(x, 0)


# -- order statistics ----------------------------------------------------------------------


def median(input: Array, dim: int | None = None, keepdim: bool = False) -> Any:
    """The lower median; with a dimension also its index."""
    if dim is None:
        if numel_of(input) == 0 and dtypes.dtype_of(input).is_floating:
            return na.full((), math.nan, dtype=dtypes.dtype_of(input), like=input)
        if numel_of(input) == 0:
            raise ArgumentError("median: got an empty array, expected at least one element")
        return _median(na.reshape(input, (-1,)), 0, False).values
    return _median(input, dim, keepdim)


def _median(x: Array, dim: int, keepdim: bool) -> ValuesIndices:
    if ndim_of(x) == 0:
        return ValuesIndices(x, na.zeros((), dtype=dtypes.int64, like=x))
    axis = wrap("median", dim, ndim_of(x))
    found = ordering.kthvalue(x, (shape_of(x)[axis] + 1) // 2, axis, keepdim)
    if not dtypes.dtype_of(x).is_floating:
        return found
    # A NaN sorts last, but makes the median NaN.
    first_nan = argmax(na.isnan(x), axis, keepdim=True)
    nan_there = any(na.isnan(x), axis, keepdim)
    at_nan = _at(x, first_nan, axis, keepdim)
    return ValuesIndices(
        na.where(nan_there, at_nan.values, found.values),
        na.where(nan_there, at_nan.indices, found.indices),
    )


def quantile(
    input: Array,
    q: float | Array,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Array:
    """The `q`-quantiles, with a new first dimension if `q` is 1-d."""
    return quantile_by(na.quantile, input, q, dim, keepdim, interpolation)


def quantile_by(
    function: Callable[..., Array],
    input: Array,
    q: float | Array,
    dim: int | None,
    keepdim: bool,
    interpolation: str,
) -> Array:
    """`quantile` or `nanquantile`; without `dim` over all elements."""
    flat = dim is None or ndim_of(input) == 0
    x = na.reshape(input, (-1,)) if flat else input
    axis = 0 if flat else wrap(function.__name__, dim or 0, ndim_of(input))
    result = function(x, q, axis=axis, keepdims=keepdim, method=interpolation)
    if keepdim and flat:
        lead = () if ndim_of(q) == 0 else shape_of(q)
        result = na.reshape(result, lead + (1,) * ndim_of(input))
    return result


def mode(input: Array, dim: int = -1, keepdim: bool = False) -> ValuesIndices:
    """The most frequent element (the smallest of several) and its last index."""
    if ndim_of(input) == 0:
        return ValuesIndices(input, na.zeros((), dtype=dtypes.int64, like=input))
    own = dtypes.dtype_of(input)
    if own is dtypes.bool:  # not all frameworks order them
        found = mode(na.astype(input, dtypes.uint8), dim, keepdim)
        return ValuesIndices(na.astype(found.values, own), found.indices)
    axis = wrap("mode", dim, ndim_of(input))
    x = na.moveaxis(input, axis, -1)
    # of equal neighbours in order, each has the number of those before it
    size = shape_of(x)[-1]
    ordered = na.stop_gradient(na.sort(x, axis=-1))
    places = na.arange(size, dtype=dtypes.int64, like=x)
    is_new = na.not_equal(ordered[..., 1:], ordered[..., :-1])
    is_new = na.concat([na.ones_like(ordered[..., :1], dtype=dtypes.bool), is_new], axis=-1)
    start = na.cummax(na.where(is_new, places, 0), axis=len(shape_of(x)) - 1)
    longest = na.argmax(na.subtract(places, start), axis=-1, keepdims=True)
    values = na.take_along_axis(ordered, longest, axis=-1)
    is_mode = na.equal(x, values)
    if own.is_floating:
        is_mode = na.logical_or(is_mode, na.isnan(values))
    indices = amax(na.where(is_mode, places, -1), -1, keepdim=True)
    values = na.take_along_axis(x, indices, axis=-1)  # for its derivative
    values, indices = na.moveaxis(values, -1, axis), na.moveaxis(indices, -1, axis)
    return ordering.one_along(values, indices, axis, keepdim)


# -- shared --------------------------------------------------------------------------------


def _accumulated(
    function: Any, name: str, input: Array, dim: Dims, keepdim: bool, dtype: DTypeLike | None
) -> Array:
    """The result of `accumulating`, cast to a narrow `dtype`."""
    x = accumulating(input, dtype)
    return cast(_reduced(function, name, x, dim, keepdim), dtypes.dtype_of(x))


def _reduced(function: Any, name: str, x: Array, dim: Dims, keepdim: bool) -> Array:
    return function(x, axis=axes_of(name, x, dim), keepdims=keepdim)


def _inexact(name: str, x: Array) -> Array:
    if not dtypes.dtype_of(x).is_inexact:
        raise ArgumentError(
            f"{name}: input: got {dtypes.dtype_of(x)}, expected a floating dtype; "
            "cast it first, or pass dtype="
        )
    return x


def _without_nan(x: Array) -> Array:
    if not dtypes.dtype_of(x).is_inexact:
        return x
    return na.where(na.isnan(x), na.zeros_like(x), x)
