"""Interpolation, polynomials, integration and phase unwrapping."""

from __future__ import annotations

import math

from nestarray import dtypes, ops
from nestarray.backends.base import refuse_complex
from nestarray.dispatch import floating_op, op
from nestarray.errors import ArgumentError, ShapeError
from nestarray.numerics.axes import one_axis
from nestarray.typing import Array

__all__ = ["interp", "polyval", "trapezoid", "unwrap"]


@floating_op(not_promoted=("fp",))
def interp(
    x: Array,
    xp: Array,
    fp: Array,
    /,
    *,
    left: float | None = None,
    right: float | None = None,
    period: float | None = None,
) -> Array:
    """Piecewise linear interpolation of the points (`xp`, `fp`) at `x`.

    Args:
        x: real, any shape: the positions to evaluate.
        xp: `(n,)`, real, ascending unless there is a `period`; n is at least 1.
        fp: `(n,)`, any number: the values at `xp`.
        left: the value before the first point; None means the first value.
        right: the value after the last point; None means the last value.
        period: the period of the function: the points are reduced modulo |period| and sorted;
            `left` and `right` are ignored. None: not periodic.

    Returns:
        array of the shape of `x`, floating; complex where `fp` is.

    Raises:
        ArgumentError: `period` is 0.
        ShapeError: `xp` and `fp` are not of one shape `(n,)`, or n is 0.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.interp(np.asarray([0.5, 3.0]), np.asarray([0.0, 1.0]), np.asarray([0.0, 10.0]))
        array([ 5., 10.])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.interp.html
    """
    refuse_complex(x)
    refuse_complex(xp)
    if len(xp.shape) != 1 or tuple(xp.shape) != tuple(fp.shape) or xp.shape[0] == 0:
        raise ShapeError(
            f"interp: got xp of the shape {tuple(xp.shape)} and fp of {tuple(fp.shape)}, "
            "expected one shape (n,) with n at least 1"
        )
    fp = ops.astype(fp, dtypes.result_dtype(x, fp), copy=False)
    if period is not None:
        period = abs(float(period))
        if period == 0:
            raise ArgumentError("interp: period: got 0, expected another number")
        x, xp = ops.remainder(x, period), ops.remainder(xp, period)
        order = ops.argsort(xp)
        xp, fp = ops.take(xp, order, axis=0), ops.take(fp, order, axis=0)
        xp = ops.concat([xp[-1:] - period, xp, xp[:1] + period])
        fp = ops.concat([fp[-1:], fp, fp[:1]])
    elif xp.shape[0] == 1:  # add a second point with the same value
        xp, fp = ops.concat([xp, xp + 1]), ops.concat([fp, fp])
    right_end = xp[-1]
    after = ops.clip(ops.searchsorted(xp, x, side="right"), 1, xp.shape[0] - 1)
    x0, x1 = ops.take(xp, after - 1, axis=0), ops.take(xp, after, axis=0)
    y0, y1 = ops.take(fp, after - 1, axis=0), ops.take(fp, after, axis=0)
    width = x1 - x0
    share = (x - x0) / ops.where(width == 0, 1, width)
    step = y1 - y0
    y = ops.where(width == 0, y1, ops.add(y0, ops.multiply(share, step)))
    is_infinite = ops.logical_not(ops.isfinite(step))  # beside which a knot has its own value
    y = ops.where(ops.logical_and(is_infinite, x == x0), y0, y)
    y = ops.where(ops.logical_and(is_infinite, x == x1), y1, y)
    if period is not None:
        return y
    y = ops.where(x < xp[0], fp[0] if left is None else left, y)
    return ops.where(x > right_end, fp[-1] if right is None else right, y)


@op(promoted=("p", "x"))
def polyval(p: Array, x: Array, /) -> Array:
    """The polynomial Σⱼ pⱼ xⁿ⁻¹⁻ʲ with the coefficients `p`, highest power first.

    Args:
        p: `(n,)`, any number; or `(n, *shape)`, where `shape` broadcasts with `x`.
        x: any number and shape; the dtypes promote.

    Returns:
        array of the broadcast shape of `x` and `p[0]`; 0 without coefficients.

    Raises:
        ShapeError: `p` is a scalar.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.polyval(np.asarray([1.0, 0.0, -1.0]), np.asarray([2.0, 3.0]))
        array([3., 8.])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.polyval.html
    """
    if len(p.shape) == 0:
        raise ShapeError("polyval: p: got an array without dimensions, expected (n,)")
    if p.shape[0] == 0:
        return ops.zeros_like(x)
    y = ops.add(ops.multiply(ops.zeros_like(p[0]), x), p[0])
    for i in range(1, p.shape[0]):
        y = ops.add(ops.multiply(y, x), p[i])
    return y


@floating_op
def trapezoid(y: Array, x: Array | None = None, /, *, dx: float = 1.0, axis: int = -1) -> Array:
    """The integral of sampled values by the trapezoidal rule, Σₖ (yₖ + yₖ₊₁) (xₖ₊₁ − xₖ) / 2.

    Args:
        y: any number, of at least one dimension.
        x: the sample points: `(n,)`, or a shape that broadcasts with the shape of `y`; None means
            equal steps of `dx`.
        dx: the step, where `x` is None.
        axis: the axis of y to integrate along.

    Returns:
        array of the shape of `y` without `axis`.

    Raises:
        IndexingError: the axis is out of range.
        ShapeError: `x` does not match `y`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> float(na.trapezoid(np.asarray([1.0, 2.0, 3.0]), np.asarray([4.0, 6.0, 8.0])))
        8.0

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.trapezoid.html
    """
    rank = len(y.shape)
    place = one_axis(axis, rank, "trapezoid")
    front = (slice(None),) * place
    behind, before = (*front, slice(1, None)), (*front, slice(None, -1))
    heights = ops.getitem(y, behind) + ops.getitem(y, before)
    if x is None:
        return ops.sum(heights, axis=place) * (dx / 2)
    if len(x.shape) == 1:
        if x.shape[0] != y.shape[place]:
            raise ShapeError(
                f"trapezoid: x: got {x.shape[0]} positions for {y.shape[place]} values of y"
            )
        steps = ops.reshape(ops.diff(x), (-1,) + (1,) * (rank - 1 - place))
    else:
        steps = ops.diff(x, axis=place - rank)
    return ops.sum(steps * heights, axis=place) / 2


@floating_op
def unwrap(
    x: Array, /, *, discont: float | None = None, axis: int = -1, period: float = 2 * math.pi
) -> Array:
    """`x` with multiples of the period added, so that no step along an axis exceeds half a period.

    Args:
        x: real, of at least one dimension.
        discont: smaller steps are kept; None, or less than half a period, means half a period.
        axis: the axis of the sequence.
        period: the period, 2π for angles in radians.

    Returns:
        array of the shape of `x`.

    Raises:
        IndexingError: the axis is out of range.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.unwrap(np.asarray([0.0, 3.0, 2.0, 1.0]), period=4.0)
        array([ 0., -1., -2., -3.])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.unwrap.html
    """
    refuse_complex(x)
    place = one_axis(axis, len(x.shape), "unwrap")
    half = period / 2
    step = ops.diff(x, axis=place)
    short = ops.remainder(step + half, period) - half
    short = ops.where(ops.logical_and(short == -half, step > 0), half, short)
    least = half if discont is None else max(discont, half)
    added = ops.where(ops.abs(step) < least, 0.0, short - step)
    first = ops.getitem(x, (*(slice(None),) * place, slice(0, 1)))
    total = ops.cumulative_sum(added, axis=place)
    return x + ops.concat([ops.zeros_like(first), total], axis=place)
