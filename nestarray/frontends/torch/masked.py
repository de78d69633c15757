"""torch.masked: reductions over the elements where a mask holds.

Masked-out elements count as the neutral element of the reduction. A mask is broadcast to the
array. Upstream: https://docs.pytorch.org/docs/stable/masked.html
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.torch import linalg, ordering, pointwise, reduction, statistics
from nestarray.frontends.torch.dims import ndim_of, shape_of, wrap
from nestarray.frontends.torch.nn.functional import activation
from nestarray.frontends.torch.promotion import cast
from nestarray.frontends.unknown_names import public_namespace as _public_namespace
from nestarray.typing import Array, DTypeLike

__all__ = [
    "amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp",
    "logsumexp", "mean", "median", "norm", "normalize", "prod", "softmax", "softmin", "std",
    "sum", "var",
]  # fmt: skip

Dims = int | Sequence[int] | None


def _filled(x: Array, mask: Array | None, value: float) -> Array:
    """`x` with `value` where `mask` does not hold."""
    return x if mask is None else na.where(_of_shape(mask, x), x, na.full_like(x, value))


def _of_shape(mask: Array, x: Array) -> Array:
    mask = mask if dtypes.dtype_of(mask) is dtypes.bool else na.not_equal(mask, 0)
    return na.broadcast_to(mask, shape_of(x))


def _lowest(x: Array) -> float:
    dtype = dtypes.dtype_of(x)
    return -math.inf if dtype.is_inexact else na.iinfo(dtype).min


def _highest(x: Array) -> float:
    dtype = dtypes.dtype_of(x)
    return math.inf if dtype.is_inexact else na.iinfo(dtype).max


def _as(x: Array, dtype: DTypeLike | None, default: DTypeLike) -> Array:
    return cast(x, default if dtype is None else dtype)


def _summed(x: Array) -> dtypes.DType:
    """The dtype of a sum: int64 for integers, else the dtype of `x`."""
    dtype = dtypes.dtype_of(x)
    return dtype if dtype.is_inexact else dtypes.int64


# -- sums ----------------------------------------------------------------------------------


def sum(
    input: Array,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: DTypeLike | None = None,
    mask: Array | None = None,
) -> Array:
    """Σ over the dimensions `dim`."""
    x = _as(_filled(input, mask, 0), dtype, _summed(input))
    return reduction.sum(x, dim, keepdim, dtype=dtypes.dtype_of(x))


def prod(
    input: Array,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: DTypeLike | None = None,
    mask: Array | None = None,
) -> Array:
    """Π over the dimensions `dim`."""
    x = _as(_filled(input, mask, 1), dtype, _summed(input))
    ndim = ndim_of(x)
    axes = range(ndim) if dim is None else (dim,) if isinstance(dim, int) else dim or range(ndim)
    for axis in sorted((wrap("prod", a, ndim) for a in axes), reverse=True):
        x = reduction.prod(x, axis, keepdim, dtype=dtypes.dtype_of(x))
    return x


def mean(
    input: Array,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: DTypeLike | None = None,
    mask: Array | None = None,
) -> Array:
    """The average over the dimensions `dim`; NaN where all elements are masked out."""
    wanted = dtypes.dtype_of(input) if dtype is None else dtypes.as_dtype(dtype)
    if not wanted.is_inexact:
        raise ArgumentError(f"mean: dtype: got {wanted}, expected a floating dtype; pass dtype=")
    total = sum(input, dim, keepdim=keepdim, dtype=wanted, mask=mask)
    return pointwise.div(total, _count(input, dim, keepdim, mask))


def _count(x: Array, dim: Dims, keepdim: bool, mask: Array | None) -> Array:
    ones = na.ones_like(x, dtype=dtypes.bool) if mask is None else _of_shape(mask, x)
    return reduction.sum(ones, dim, keepdim)


def var(
    input: Array,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: DTypeLike | None = None,
    mask: Array | None = None,
) -> Array:
    """The variance, Σ(x − mean)² / (n − correction)."""
    wanted = dtypes.dtype_of(input) if dtype is None else dtypes.as_dtype(dtype)
    if dtype is None and not wanted.is_inexact:
        wanted = dtypes.float32
    computed = wanted if wanted.is_inexact else dtypes.float32
    count = _count(input, dim, True, mask)
    total = sum(input, dim, keepdim=True, dtype=wanted, mask=mask)
    distance = pointwise.sub(input, pointwise.div(total, count))
    square = na.square(na.abs(distance))
    total = sum(cast(square, _real(computed)), dim, keepdim=keepdim, mask=mask)
    if correction is None:
        correction = 1 if unbiased is None else int(unbiased)
    kept = _count(input, dim, keepdim, mask)
    freedom = na.maximum(na.subtract(cast(kept, dtypes.dtype_of(total)), float(correction)), 0.0)
    result = na.divide(total, freedom)
    return cast(result, wanted)


def _real(dtype: dtypes.DType) -> dtypes.DType:
    return {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}.get(dtype, dtype)


def std(
    input: Array,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: DTypeLike | None = None,
    mask: Array | None = None,
) -> Array:
    """The standard deviation, √`var`."""
    found = var(
        input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask
    )
    return pointwise.sqrt(found)


def norm(
    input: Array,
    ord: float | None = 2.0,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: DTypeLike | None = None,
    mask: Array | None = None,
) -> Array:
    """(Σ|x|ᵖ)^(1/p) over the dimensions `dim`."""
    order = 2.0 if ord is None else ord
    x = _filled(input, mask, math.inf if order == -math.inf else 0)
    return linalg.vector_norm(x, order, dim, keepdim, dtype=dtype)


def cumsum(
    input: Array, dim: int, *, dtype: DTypeLike | None = None, mask: Array | None = None
) -> Array:
    """Running sums along `dim`, in the dtype of `input`."""
    x = _as(_filled(input, mask, 0), dtype, dtypes.dtype_of(input))
    return ordering.cumsum(x, dim, dtype=dtypes.dtype_of(x))


def cumprod(
    input: Array, dim: int, *, dtype: DTypeLike | None = None, mask: Array | None = None
) -> Array:
    """Running products along `dim`, in the dtype of `input`."""
    x = _as(_filled(input, mask, 1), dtype, dtypes.dtype_of(input))
    return ordering.cumprod(x, dim, dtype=dtypes.dtype_of(x))


# -- extremes ------------------------------------------------------------------------------


def amax(
    input: Array,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: DTypeLike | None = None,
    mask: Array | None = None,
) -> Array:
    """The largest element over the dimensions `dim`."""
    x = _filled(input, mask, _lowest(input))
    found = reduction.amax(x, () if dim is None else dim, keepdim)
    return _as(found, dtype, dtypes.dtype_of(input))


def amin(
    input: Array,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: DTypeLike | None = None,
    mask: Array | None = None,
) -> Array:
    """The smallest element over the dimensions `dim`."""
    x = _filled(input, mask, _highest(input))
    found = reduction.amin(x, () if dim is None else dim, keepdim)
    return _as(found, dtype, dtypes.dtype_of(input))


def argmax(
    input: Array,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: DTypeLike | None = None,
    mask: Array | None = None,
) -> Array:
    """The index of the largest element, in the dtype of `input`, as upstream."""
    found = reduction.argmax(_filled(input, mask, _lowest(input)), dim, keepdim)
    return _as(found, dtype, dtypes.dtype_of(input))


def argmin(
    input: Array,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: DTypeLike | None = None,
    mask: Array | None = None,
) -> Array:
    """The index of the smallest element, in the dtype of `input`, as upstream."""
    found = reduction.argmin(_filled(input, mask, _highest(input)), dim, keepdim)
    return _as(found, dtype, dtypes.dtype_of(input))


def median(
    input: Array,
    dim: int = -1,
    *,
    keepdim: bool = False,
    dtype: DTypeLike | None = None,
    mask: Array | None = None,
) -> Array:
    """The middle element along `dim`, the lower one of two."""
    own = dtypes.dtype_of(input)
    x = _filled(input if own.is_floating else cast(input, dtypes.float32), mask, math.nan)
    found = statistics.nanmedian(x, dim, keepdim).values
    return found if own.is_floating else _as(found, dtype, own)


# -- exponentials --------------------------------------------------------------------------


def logsumexp(
    input: Array,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: DTypeLike | None = None,
    mask: Array | None = None,
) -> Array:
    """ln Σ eˣ over the dimensions `dim`."""
    dims = tuple(range(ndim_of(input))) if dim is None else dim
    found = reduction.logsumexp(_filled(input, mask, _lowest(input)), dims, keepdim)
    return _as(found, dtype, dtypes.dtype_of(input))


def logaddexp(
    input: Array,
    other: Array,
    *,
    dtype: DTypeLike | None = None,
    input_mask: Array | None = None,
    other_mask: Array | None = None,
) -> Array:
    """ln(eˣ + eʸ)."""
    x, y = _filled(input, input_mask, -math.inf), _filled(other, other_mask, -math.inf)
    return _as(pointwise.logaddexp(x, y), dtype, dtypes.dtype_of(input))


def softmax(
    input: Array, dim: int, *, dtype: DTypeLike | None = None, mask: Array | None = None
) -> Array:
    """eˣ / Σ eˣ along `dim`."""
    wanted = dtypes.dtype_of(input) if dtype is None else dtype
    return activation.softmax(_filled(input, mask, _lowest(input)), dim, dtype=wanted)


def log_softmax(
    input: Array, dim: int, *, dtype: DTypeLike | None = None, mask: Array | None = None
) -> Array:
    """x − ln Σ eˣ along `dim`."""
    wanted = dtypes.dtype_of(input) if dtype is None else dtype
    return activation.log_softmax(_filled(input, mask, _lowest(input)), dim, dtype=wanted)


def softmin(
    input: Array, dim: int, *, dtype: DTypeLike | None = None, mask: Array | None = None
) -> Array:
    """e⁻ˣ / Σ e⁻ˣ along `dim`."""
    wanted = dtypes.dtype_of(input) if dtype is None else dtype
    return activation.softmin(_filled(input, mask, _highest(input)), dim, dtype=wanted)


def normalize(
    input: Array,
    ord: float,
    dim: int,
    *,
    eps: float = 1e-12,
    dtype: DTypeLike | None = None,
    mask: Array | None = None,
) -> Array:
    """x / max(‖x‖ₚ, eps) along `dim`, 0 where masked out."""
    length = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    smallest = na.full_like(length, eps)
    return pointwise.div(_filled(input, mask, 0), na.maximum(length, smallest))


_public_namespace(__name__)
