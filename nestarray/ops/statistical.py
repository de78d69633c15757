"""Sums, means, extrema and cumulative reductions.

Every reduction takes `axis`: one axis, several, or None for all, and `keepdims`, which keeps
the reduced axes with length 1. With ``axis=()`` no axis is reduced.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from nestarray import ops
from nestarray.backends.base import mean_dtype, refuse_complex
from nestarray.backends.precision import rounded_once
from nestarray.backends.truth import through_numbers
from nestarray.dispatch import Trait, floating_op, op, primitive
from nestarray.dtypes import dtype_of
from nestarray.errors import ShapeError
from nestarray.numerics.axes import many_axes, one_axis
from nestarray.numerics.roots import root
from nestarray.typing import Array, Axis, DTypeLike

__all__ = [
    "all",
    "any",
    "average",
    "cummax",
    "cummin",
    "cumulative_logsumexp",
    "cumulative_prod",
    "cumulative_sum",
    "logsumexp",
    "max",
    "mean",
    "min",
    "prod",
    "std",
    "sum",
    "var",
]


@primitive(traits=Trait.LINEAR)
def sum(
    x: Array, /, *, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False
) -> Array:
    """The sum, Σᵢ xᵢ; 0 for an empty slice.

    Args:
        x: any number.
        axis: the axis to reduce, or several; None means all.
        dtype: the dtype to sum in and to return; None keeps a floating dtype and takes
            int64, or uint64, for integers and bools. Sums in bool are "or", products "and".
        keepdims: keep the reduced axes, with length 1.

    Returns:
        array without the reduced axes, or with length 1 there; of `dtype`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.sum(np.asarray([[1.0, 2.0], [3.0, 4.0]]), axis=1)
        array([3., 7.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.sum.html
    """


@primitive
def prod(
    x: Array, /, *, axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False
) -> Array:
    """The product, Πᵢ xᵢ; 1 for an empty slice.

    Args:
        x: any number.
        axis: the axis to reduce, or several; None means all.
        dtype: the dtype to multiply in and to return; None keeps a floating dtype and takes
            int64, or uint64, for integers and bools.
        keepdims: keep the reduced axes, with length 1.

    Returns:
        array without the reduced axes, or with length 1 there; of `dtype`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.prod(np.asarray([[1.0, 2.0], [3.0, 4.0]]), axis=1)
        array([ 2., 12.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.prod.html
    """


@primitive(traits=Trait.LINEAR)
def mean(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The arithmetic mean, Σᵢ xᵢ / n; NaN for an empty slice.

    Args:
        x: any number.
        axis: the axis to reduce, or several; None means all.
        keepdims: keep the reduced axes, with length 1.

    Returns:
        array of the dtype of `x`; float32 for integers and bools.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.mean(np.asarray([[1.0, 2.0], [3.0, 4.0]]), axis=1)
        array([1.5, 3.5])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.mean.html
    """


@primitive
def max(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The largest element; NaN if there is one, an error if there is none. Equal extrema share the
    gradient evenly.

    Args:
        x: real or bool.
        axis: the axis to reduce, or several; None means all.
        keepdims: keep the reduced axes, with length 1.

    Returns:
        array without the reduced axes, of the dtype of `x`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.max(np.asarray([[1.0, 2.0], [3.0, 4.0]]), axis=1)
        array([2., 4.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.max.html
    """


@primitive
def min(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The smallest element; NaN if there is one, an error if there is none. Equal extrema share the
    gradient evenly.

    Args:
        x: real or bool.
        axis: the axis to reduce, or several; None means all.
        keepdims: keep the reduced axes, with length 1.

    Returns:
        array without the reduced axes, of the dtype of `x`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.min(np.asarray([[1.0, 2.0], [3.0, 4.0]]), axis=1)
        array([1., 3.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.min.html
    """


@op
@rounded_once
def var(
    x: Array, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False
) -> Array:
    """The variance, Σᵢ |xᵢ − x̄|² / (n − correction).

    Args:
        x: any number.
        axis: the axis to reduce, or several; None means all.
        correction: subtracted from n: 0 for the variance of a population, 1 for the unbiased
            estimate from a sample; n or more gives NaN.
        keepdims: keep the reduced axes, with length 1.

    Returns:
        real array of the precision of `x`; float32 for integers and bools.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.var(np.asarray([1.0, 2.0, 3.0]), correction=1)
        np.float64(1.0)

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.var.html
    """
    x = ops.astype(x, mean_dtype(x), copy=False)
    axes = many_axes(axis, len(x.shape), "var")
    deviation = ops.subtract(x, ops.mean(x, axis=axes, keepdims=True))
    total = ops.sum(squares(deviation), axis=axes, keepdims=keepdims)
    count = math.prod(ops.shape(x)[i] for i in axes)
    if isinstance(count, int):
        return ops.divide(total, float(count - correction) if count > correction else math.nan)
    count = ops.full((), count, dtype=dtype_of(total), like=x)  # in a `tf.function`
    return ops.divide(total, ops.where(count > correction, count - correction, math.nan))


def squares(x: Array) -> Array:
    """|xᵢ|², real; not from |xᵢ|, whose second derivative at 0 is lost."""
    if dtype_of(x).kind != "complex":
        return ops.square(x)
    return ops.add(ops.square(ops.real(x)), ops.square(ops.imag(x)))


@op
@rounded_once
def std(
    x: Array, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False
) -> Array:
    """The standard deviation, the square root of `var`.

    The derivative at 0, of equal elements, is 0.

    Args:
        x: any number.
        axis: the axis to reduce, or several; None means all.
        correction: subtracted from n: 0 for the variance of a population, 1 for the unbiased
            estimate from a sample.
        keepdims: keep the reduced axes, with length 1.

    Returns:
        real array of the precision of `x`; float32 for integers and bools.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.std(np.asarray([1.0, 2.0, 3.0]), correction=1)
        np.float64(1.0)

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.std.html
    """
    return root(ops, ops.var(x, axis=axis, correction=correction, keepdims=keepdims))


@primitive(traits=Trait.CONSTANT)
def all(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Whether all elements are True; True for an empty slice.

    Args:
        x: bool or numeric; nonzero elements are True.
        axis: the axis to reduce, or several; None means all.
        keepdims: keep the reduced axes, with length 1.

    Returns:
        bool, without the reduced axes.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.all(np.asarray([[True, False], [True, True]]), axis=1)
        array([False,  True])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.all.html
    """


@primitive(traits=Trait.CONSTANT)
def any(x: Array, /, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Whether any element is True; False for an empty slice.

    Args:
        x: bool or numeric; nonzero elements are True.
        axis: the axis to reduce, or several; None means all.
        keepdims: keep the reduced axes, with length 1.

    Returns:
        bool, without the reduced axes.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.any(np.asarray([[True, False], [False, False]]), axis=1)
        array([ True, False])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.any.html
    """


@op(traits=Trait.ROWWISE | Trait.LINEAR)
def cumulative_sum(
    x: Array,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    include_initial: bool = False,
) -> Array:
    """The cumulative sum, yᵢ = Σⱼ≤ᵢ xⱼ.

    Args:
        x: any number.
        axis: the axis to accumulate along; None flattens first.
        dtype: the dtype to compute in and to return; None keeps a floating dtype and takes
            int64, or uint64, for integers and bools.
        include_initial: prepend 0, the empty sum.

    Returns:
        array of the shape of `x`, one longer along the axis with `include_initial`; of
        `dtype`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.cumulative_sum(np.asarray([1, 2, 3]))
        array([1, 3, 6])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.cumulative_sum.html
    """
    # The backends compute all except the initial element.
    if axis is None:
        x, axis = ops.reshape(x, (-1,)), 0
    running = ops.cumulative_sum(x, axis=axis, dtype=dtype)
    if not include_initial:
        return running
    axis = one_axis(axis, len(x.shape), "cumulative_sum")
    shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    initial = ops.full(shape, 0, dtype=running.dtype, like=running)
    return ops.concat([initial, running], axis=axis)


@op(traits=Trait.ROWWISE)
def cumulative_prod(
    x: Array,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    include_initial: bool = False,
) -> Array:
    """The cumulative product, yᵢ = Πⱼ≤ᵢ xⱼ.

    Args:
        x: any number.
        axis: the axis to accumulate along; None flattens first.
        dtype: the dtype to compute in and to return; None keeps a floating dtype and takes
            int64, or uint64, for integers and bools.
        include_initial: prepend 1, the empty product.

    Returns:
        array of the shape of `x`, one longer along the axis with `include_initial`; of
        `dtype`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.cumulative_prod(np.asarray([1, 2, 3]))
        array([1, 2, 6])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.cumulative_prod.html
    """
    # The backends compute all except the initial element.
    if axis is None:
        x, axis = ops.reshape(x, (-1,)), 0
    running = ops.cumulative_prod(x, axis=axis, dtype=dtype)
    if not include_initial:
        return running
    axis = one_axis(axis, len(x.shape), "cumulative_prod")
    shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    initial = ops.full(shape, 1, dtype=running.dtype, like=running)
    return ops.concat([initial, running], axis=axis)


@op(traits=Trait.ROWWISE)
@through_numbers
def cummax(x: Array, /, *, axis: int | None = None) -> Array:
    """The cumulative maximum, yᵢ = maxⱼ≤ᵢ xⱼ.

    Of equal elements, only the last has a derivative.

    Args:
        x: real.
        axis: the axis to accumulate along; None flattens first.

    Returns:
        array of the shape and the dtype of `x`; a vector if `axis` is None.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.cummax(np.asarray([1.0, 3.0, 2.0]))
        array([1., 3., 3.])
    """
    return _running(x, axis, _last(ops.greater_equal), _last_before(ops.max), "cummax")


@op(traits=Trait.ROWWISE)
@through_numbers
def cummin(x: Array, /, *, axis: int | None = None) -> Array:
    """The cumulative minimum, yᵢ = minⱼ≤ᵢ xⱼ.

    Of equal elements, only the last has a derivative.

    Args:
        x: real.
        axis: the axis to accumulate along; None flattens first.

    Returns:
        array of the shape and the dtype of `x`; a vector if `axis` is None.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.cummin(np.asarray([1.0, 3.0, 2.0]))
        array([1., 1., 1.])
    """
    return _running(x, axis, _last(ops.less_equal), _last_before(ops.min), "cummin")


def _last(replaces: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """The choice between an earlier and a later element; the later one of equal elements, and NaN."""

    def choose(earlier: Array, later: Array) -> Array:
        return ops.where(ops.logical_or(replaces(later, earlier), ops.isnan(later)), later, earlier)

    return choose


def _last_before(extreme: Callable[..., Array]) -> Callable[[Array, Array], Array]:
    """For each place of rows, the last extreme element of the places that `is_before` selects."""

    def choose(rows: Array, is_before: Array) -> Array:
        x = ops.expand_dims(rows, axis=-2)
        found = extreme(ops.where(is_before, x, x[..., :1]), axis=-1, keepdims=True)
        is_found = ops.logical_and(is_before, ops.logical_or(ops.equal(x, found), ops.isnan(x)))
        places = ops.arange(ops.shape(rows)[-1], like=rows)
        last = ops.max(ops.where(is_found, places, 0), axis=-1)
        return ops.take_along_axis(rows, last, axis=-1)

    return choose


def _running(
    x: Array,
    axis: int | None,
    combine: Callable[[Array, Array], Array],
    reduce: Callable[[Array, Array], Array],
    name: str,
) -> Array:
    """Combine each element with the one 1, 2, 4, … places before it: log₂ n steps.

    An open size, which leaves their number open, takes n² steps: `reduce` of rows and a mask,
    `(n, n)`, of the places up to each place.
    """
    if axis is None:
        x, axis = ops.reshape(x, (-1,)), 0
    axis = one_axis(axis, len(x.shape), name)
    if not isinstance(x.shape[axis], int):
        places = ops.arange(ops.shape(x)[axis], like=x)
        is_before = ops.less_equal(places, ops.expand_dims(places, axis=-1))
        return ops.moveaxis(reduce(ops.moveaxis(x, axis, -1), is_before), -1, axis)
    before = (slice(None),) * axis
    distance = 1
    while distance < x.shape[axis]:
        head = ops.getitem(x, (*before, slice(None, distance)))  # unchanged
        rest = ops.getitem(x, (*before, slice(distance, None)))
        earlier = ops.getitem(x, (*before, slice(None, -distance)))
        x = ops.concat([head, combine(earlier, rest)], axis=axis)
        distance *= 2
    return x


@op(traits=Trait.ROWWISE)
@rounded_once
def cumulative_logsumexp(x: Array, /, *, axis: int | None = None) -> Array:
    """The logarithm of the cumulative sum of exponentials, yᵢ = log Σⱼ≤ᵢ exp xⱼ, without overflow.

    Where all terms are −∞ the derivative is 0.

    Args:
        x: any number.
        axis: the axis to accumulate along; None flattens first.

    Returns:
        array of the dtype of `x`; float32 for integers.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.cumulative_logsumexp(np.asarray([1000.0, 1000.0]))
        array([1000.        , 1000.69314718])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.logcumsumexp.html
    """
    x = ops.astype(x, mean_dtype(x), copy=False)

    def total(rows: Array, is_before: Array) -> Array:
        return ops.logsumexp(ops.where(is_before, rows[..., None, :], -math.inf), axis=-1)

    y = _running(x, axis, ops.logaddexp, total, "cumulative_logsumexp")
    return ops.where(ops.equal(y, -math.inf), -math.inf, y)  # a constant there


@floating_op
def logsumexp(
    x: Array,
    /,
    *,
    axis: Axis = None,
    b: Array | None = None,
    keepdims: bool = False,
    return_sign: bool = False,
) -> Array | tuple[Array, Array]:
    """The logarithm of a sum of exponentials, log Σᵢ bᵢ exp xᵢ, without overflow.

    Where all terms are −∞ the derivative is 0.

    Args:
        x: floating; real where `b` or `return_sign` are given.
        axis: the axis to reduce, or several; None means all.
        b: the factors, real, which broadcast to `x`; terms with a factor 0 are ignored.
            None: 1.
        keepdims: keep the reduced axes, with length 1.
        return_sign: return log |Σᵢ bᵢ exp xᵢ| and the sign of the sum, which is −1, 0 or 1.

    Returns:
        array of the dtype of `x`, NaN where the sum is negative; with `return_sign` two.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.logsumexp(np.asarray([[1000.0, 1000.0]]), axis=1)
        array([1000.69314718])
        >>> na.logsumexp(np.asarray([0.0, 1000.0]), b=np.asarray([2.0, 0.0])).round(6)
        np.float64(0.693147)

    References:
        https://docs.scipy.org/doc/scipy/reference/generated/scipy.special.logsumexp.html
    """
    if b is not None:
        refuse_complex(x)
        x = ops.where(ops.equal(b, 0), -math.inf, x)
    if 0 in x.shape:  # the maximum of an empty array is undefined
        nothing = ops.full_like(ops.sum(x, axis=axis, keepdims=keepdims), -math.inf)
        return (nothing, ops.zeros_like(nothing)) if return_sign else nothing
    is_complex = dtype_of(x).kind == "complex"
    greatest = ops.max(ops.real(x) if is_complex else x, axis=axis, keepdims=True)
    # ±∞ and NaN are the result; subtracting them would give NaN.
    is_finite = ops.isfinite(greatest)
    shift = ops.stop_gradient(ops.where(is_finite, greatest, 0.0))  # any shift gives the same
    if b is None and not return_sign:
        total = ops.sum(ops.exp(ops.subtract(x, shift)), axis=axis, keepdims=True)
        logarithm = ops.log(ops.where(is_finite, total, 1.0))
        result = ops.where(is_finite, ops.add(logarithm, shift), greatest)
        return _reduced("logsumexp", result, x, axis, keepdims)
    powers = ops.exp(ops.subtract(x, shift))
    if b is not None:
        powers = ops.multiply(ops.astype(b, powers.dtype), powers)
    total = ops.sum(powers, axis=axis, keepdims=True)
    sign = ops.sign(total)
    is_zero = ops.equal(total, 0)
    logarithm = ops.log(ops.where(is_zero, 1.0, ops.abs(total)))
    result = ops.where(is_zero, -math.inf, ops.add(logarithm, shift))
    if return_sign:
        result, sign = (_reduced("logsumexp", part, x, axis, keepdims) for part in (result, sign))
        return result, sign
    result = ops.where(ops.less(sign, 0), math.nan, result)
    return _reduced("logsumexp", result, x, axis, keepdims)


def _reduced(name: str, result: Array, x: Array, axis: Axis, keepdims: bool) -> Array:
    """Remove the reduced axes of a reduction of `x`, unless `keepdims`."""
    return result if keepdims else ops.squeeze(result, many_axes(axis, len(x.shape), name))


@op
def average(
    x: Array, /, weights: Array | None = None, *, axis: Axis = None, keepdims: bool = False
) -> Array:
    """The weighted mean, Σᵢ wᵢ xᵢ / Σᵢ wᵢ.

    Args:
        x: any number.
        weights: array that broadcasts to `x`, or one weight for each index of the reduced axis;
            None gives equal weights.
        axis: the axis to reduce, or several; None means all.
        keepdims: keep the reduced axes, with length 1.

    Returns:
        array without the reduced axes, floating.

    Raises:
        ShapeError: the weights fit neither `x` nor the axis.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.average(np.asarray([1.0, 2.0]), np.asarray([3.0, 1.0]))
        np.float64(1.25)
    """
    if weights is None:
        return ops.mean(x, axis=axis, keepdims=keepdims)
    x = ops.astype(x, mean_dtype(x), copy=False)
    weights = each_weight(x, weights, axis, "average")
    total = ops.sum(ops.multiply(x, weights), axis=axis, keepdims=keepdims)
    return ops.divide(total, ops.sum(weights, axis=axis, keepdims=keepdims))


def each_weight(x: Array, weights: Array, axis: Axis, name: str) -> Array:
    """`weights` broadcast to the shape of `x`, or along one axis.

    Raises:
        ShapeError: they are neither.
    """
    shape, own = tuple(x.shape), tuple(weights.shape)
    if own == shape:
        return weights
    axes = many_axes(axis, len(shape), name)
    if len(own) == len(axes) == 1 and own[0] == shape[axes[0]]:
        weights = ops.reshape(weights, (-1,) + (1,) * (len(shape) - 1 - axes[0]))
    elif len(own) != len(shape):
        raise ShapeError(
            f"{name}: weights: got the shape {own} for x of shape {shape} along {axis}, expected "
            "that of x, or one weight for each position of the axis"
        )
    return ops.broadcast_to(weights, x.shape)
