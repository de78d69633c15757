"""Polynomials, highest power first; differences, integrals and interpolation.

Upstream: https://docs.jax.dev/en/latest/jax.numpy.html
"""

from __future__ import annotations

import builtins
import math
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, ShapeError
from nestarray.frontends.jax.numpy import linalg
from nestarray.frontends.jax.numpy.creation import vander
from nestarray.frontends.jax.promotion import (
    as_array,
    axes_of,
    cast,
    inexact,
    normal_axis,
    promote,
    promote_inexact,
)
from nestarray.typing import Array, DTypeLike

__all__ = [
    "convolve", "correlate", "diff", "ediff1d", "gradient", "interp", "poly", "polyadd", "polyder",
    "polydiv", "polyfit", "polyint", "polymul", "polysub", "polyval", "roots", "trapezoid",
    "unwrap",
]  # fmt: skip

# -- polynomials ---------------------------------------------------------------------------------


def polyval(p: Array, x: Array, *, unroll: int = 16) -> Array:
    """The value of a polynomial at x."""
    p, x = promote(p, x)
    shape = na.broadcast_shapes(na.shape(x), na.shape(p)[1:])
    found = na.zeros(shape, dtype=dtypes.dtype_of(x), like=x)
    for coefficient in na.unstack(p):
        found = na.add(na.multiply(found, x), coefficient)
    return found


def polyadd(a1: Array, a2: Array) -> Array:
    """The sum of two polynomials."""
    return na.add(*_aligned(a1, a2))


def polysub(a1: Array, a2: Array) -> Array:
    """The difference of two polynomials."""
    return na.subtract(*_aligned(a1, a2))


def _aligned(a1: Array, a2: Array) -> tuple[Array, Array]:
    """The coefficients of the same powers, in the same places."""
    a1, a2 = promote(a1, a2)
    m, n = na.shape(a1)[0], na.shape(a2)[0]
    return na.pad(a1, [(max(n - m, 0), 0)]), na.pad(a2, [(max(m - n, 0), 0)])


def polymul(a1: Array, a2: Array, *, trim_leading_zeros: builtins.bool = False) -> Array:
    """The product of two polynomials."""
    a1, a2 = promote_inexact(a1, a2)
    if trim_leading_zeros:
        a1, a2 = (na.trim_zeros(x, trim="f") for x in (a1, a2))
        a1, a2 = (
            x if na.shape(x)[0] else na.zeros((1,), dtype=na.dtype_of(x), like=x) for x in (a1, a2)
        )
    return convolve(a1, a2)


def polydiv(
    u: Array, v: Array, *, trim_leading_zeros: builtins.bool = False
) -> tuple[Array, Array]:
    """(quotient, remainder) of two polynomials."""
    u, v = promote_inexact(u, v)
    m, n = na.shape(u)[0] - 1, na.shape(v)[0] - 1
    quotients = []
    for k in range(max(m - n + 1, 1)):
        d = na.divide(na.getitem(u, k), na.getitem(v, 0))
        quotients.append(d)
        if m - n + 1 > 0:
            part = slice(k, k + n + 1)
            u = na.setitem(u, (part,), na.subtract(na.getitem(u, part), na.multiply(v, d)))
    quotient = (
        na.stack(quotients) if m - n + 1 > 0 else na.zeros((1,), dtype=na.dtype_of(u), like=u)
    )
    if trim_leading_zeros:
        u, last = na.trim_zeros(u, trim="f"), na.getitem(u, slice(-1, None))
        u = u if na.shape(u)[0] else last
    return quotient, u


def polyder(p: Array, m: int = 1) -> Array:
    """The m-th derivative of a polynomial."""
    p = inexact(p)
    if m == 0:
        return p
    count = na.shape(p)[0]
    factors = [math.perm(power, m) for power in range(count - 1, m - 1, -1)]
    return na.multiply(na.getitem(p, slice(0, max(count - m, 0))), _like(factors, p))


def polyint(p: Array, m: int = 1, k: Any = None) -> Array:
    """The m-th integral of a polynomial, with constants k."""
    p = inexact(p)
    if m == 0:
        return p
    constants = na.zeros((m,), dtype=na.dtype_of(p), like=p)
    if k is not None:
        given = na.reshape(_like(k, p) if isinstance(k, (int, float, list, tuple)) else k, (-1,))
        constants = na.broadcast_to(cast(given, na.dtype_of(p)), (m,))
    count = na.shape(p)[0]
    coefficients = na.concat([p, constants])
    factors = [math.perm(power + m, m) for power in range(count - 1, -1, -1)]
    factors += [math.factorial(power) for power in range(m - 1, -1, -1)]
    return na.divide(coefficients, _like(factors, p))


def _like(values: Any, x: Array) -> Array:
    return na.asarray(
        [float(v) for v in values] if isinstance(values, list) else values,
        dtype=na.dtype_of(x),
        like=x,
    )


def poly(seq_of_zeros: Array) -> Array:
    """The polynomial with these roots, or the characteristic polynomial of a matrix."""
    x = inexact(seq_of_zeros)
    if len(na.shape(x)) == 2:
        x = na.eigvals(x)
    found = na.ones((1,), dtype=na.dtype_of(x), like=x)
    for root in na.unstack(na.reshape(x, (-1,))):
        factor = na.stack([na.ones_like(root), na.negative(root)])
        found = convolve(found, factor)
    return found


def roots(p: Array, *, strip_zeros: builtins.bool = True) -> Array:
    """The roots of a polynomial: the eigenvalues of its companion matrix."""
    p = na.atleast_1d(inexact(p))
    zeros = 0
    if strip_zeros:
        p = na.trim_zeros(p, trim="f")
        stripped = na.trim_zeros(p, trim="b")
        zeros = na.shape(p)[0] - na.shape(stripped)[0]
        p = stripped
    wide = (
        dtypes.complex128
        if na.dtype_of(p) in (dtypes.float64, dtypes.complex128)
        else dtypes.complex64
    )
    count = na.shape(p)[0]
    tail = na.zeros((zeros,), dtype=wide, like=p)
    if count < 2:
        return tail
    first = na.divide(na.negative(na.getitem(p, slice(1, None))), na.getitem(p, 0))
    companion = na.concat(
        [na.expand_dims(first, 0), na.eye(count - 2, count - 1, dtype=na.dtype_of(p), like=p)],
        axis=0,
    )
    return na.concat([cast(na.eigvals(companion), wide), tail])


def polyfit(
    x: Array,
    y: Array,
    deg: int,
    rcond: float | None = None,
    full: builtins.bool = False,
    w: Array | None = None,
    cov: Any = False,
) -> Any:
    """The polynomial of degree `deg` that fits points in the least squares sense."""
    x, y = promote_inexact(x, y)
    rcond = na.shape(x)[0] * na.finfo(na.dtype_of(x)).eps if rcond is None else rcond
    left, right = vander(x, deg + 1), y
    if w is not None:
        w = cast(w, na.dtype_of(x))
        left = na.multiply(left, na.expand_dims(w, -1))
        right = na.multiply(right, na.expand_dims(w, -1) if len(na.shape(y)) == 2 else w)
    scale = na.sqrt(na.sum(na.square(left), axis=0))
    scaled = na.divide(left, scale)
    found, residuals, rank, singular = linalg.lstsq(scaled, right, rcond)
    found = (
        na.matrix_transpose(na.divide(na.matrix_transpose(found), scale))
        if len(na.shape(y)) == 2
        else na.divide(found, scale)
    )
    if full:
        return found, residuals, rank, singular, na.asarray(rcond, like=x)
    if not cov:
        return found
    base = na.inv(na.matmul(na.matrix_transpose(scaled), scaled))
    base = na.divide(base, na.outer(scale, scale))
    factor: Any = 1.0
    if cov != "unscaled":
        factor = na.divide(
            na.sum(residuals) if len(na.shape(y)) == 1 else residuals, na.shape(x)[0] - deg - 1
        )
    if len(na.shape(y)) == 1:
        return found, na.multiply(base, factor)
    return found, na.multiply(na.expand_dims(base, -1), factor)


# -- differences and integrals -------------------------------------------------------------------


def diff(a: Array, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Array:
    """The n-th differences along an axis."""
    a = as_array(a)
    if n == 0:
        return a
    if n < 0:
        raise ArgumentError(f"diff: n: got {n}, expected at least 0")
    normal_axis(axis, len(na.shape(a)))
    ends = [_end(x, a, axis) for x in (prepend, append)]
    parts = [x for x in (ends[0], a, ends[1]) if x is not None]
    a = na.concat(list(promote(*parts)), axis=axis) if len(parts) > 1 else a
    for _ in range(n):
        size = na.shape(a)[axis]
        lead = (slice(None),) * normal_axis(axis, len(na.shape(a)))
        after, before = (na.getitem(a, (*lead, slice(i, i + max(size - 1, 0)))) for i in (1, 0))
        is_bool = dtypes.dtype_of(a) is dtypes.bool
        a = na.not_equal(after, before) if is_bool else na.subtract(after, before)
    return a


def _end(x: Any, like: Array, axis: int) -> Array | None:
    if x is None:
        return None
    x = na.asarray(x, dtype=na.dtype_of(like), like=like) if isinstance(x, (int, float)) else x
    if na.shape(x):
        return x
    sizes = list(na.shape(like))
    sizes[axis] = 1
    return na.broadcast_to(x, sizes)


def ediff1d(ary: Array, to_end: Any = None, to_begin: Any = None) -> Array:
    """The differences of all elements, between optional ends."""
    ary = na.reshape(as_array(ary), (-1,))
    ends = [
        None
        if x is None
        else na.reshape(
            cast(
                as_array(x) if not isinstance(x, (list, int, float)) else na.asarray(x, like=ary),
                na.dtype_of(ary),
            ),
            (-1,),
        )
        for x in (to_begin, to_end)
    ]
    parts = [x for x in (ends[0], diff(ary), ends[1]) if x is not None]
    return na.concat(parts)


def gradient(f: Array, *varargs: Any, axis: Any = None, edge_order: int | None = None) -> Any:
    """Central differences along axes, one-sided at the ends."""
    f = inexact(f)
    rank = len(na.shape(f))
    axes = axes_of(axis, rank)
    spacings = list(varargs) or [1.0]
    spacings = spacings * len(axes) if len(spacings) == 1 else spacings
    order = 1 if edge_order is None else edge_order
    if any(na.shape(f)[i] <= order for i in axes):
        raise ShapeError(f"gradient: f: got shape {na.shape(f)}, expected > {order} along {axes}")
    found = [_slope(f, i, h, order) for i, h in zip(axes, spacings, strict=True)]
    return found[0] if len(found) == 1 else found


def _slope(f: Array, axis: int, spacing: Any, order: int) -> Array:
    f = na.moveaxis(f, axis, -1)
    part = lambda a, b: na.getitem(f, (..., slice(a, b)))  # noqa: E731
    if not isinstance(spacing, (int, float)) and len(na.shape(spacing)):
        d = na.diff(cast(spacing, na.dtype_of(f)))
        d1, d2 = na.getitem(d, slice(0, -1)), na.getitem(d, slice(1, None))
        a, b = na.divide(na.negative(d2), d1 * (d1 + d2)), na.divide(na.subtract(d2, d1), d1 * d2)
        c = na.divide(d1, d2 * (d1 + d2))
        middle = part(0, -2) * a + part(1, -1) * b + part(2, None) * c
        ends = [na.getitem(d, slice(i, i + 1 or None)) for i in (0, order - 1, -order, -1)]
    else:
        ends = [spacing] * 4
        middle = na.divide(na.subtract(part(2, None), part(0, -2)), spacing * 2.0)
    if order == 1:
        first = na.divide(na.subtract(part(1, 2), part(0, 1)), ends[0])
        last = na.divide(na.subtract(part(-1, None), part(-2, -1)), ends[-1])
    else:
        first = na.negative(_end_slope(part(0, 1), part(1, 2), part(2, 3), *ends[:2]))
        last = _end_slope(part(-1, None), part(-2, -1), part(-3, -2), *ends[:1:-1])
    return na.moveaxis(na.concat([first, middle, last], axis=-1), -1, axis)


def _end_slope(f0: Array, f1: Array, f2: Array, h0: Any, h1: Any) -> Array:
    """The outward slope at f0 of the parabola through values h0 and then h1 apart."""
    inner = na.multiply(na.subtract(f1, f2), h0 / (h1 * (h0 + h1)))
    return na.subtract(na.multiply(na.subtract(f0, f1), (2 * h0 + h1) / (h0 * (h0 + h1))), inner)


def trapezoid(y: Array, x: Array | None = None, dx: Any = 1.0, axis: int = -1) -> Array:
    """The integral by the trapezoidal rule."""
    if x is None:
        y = inexact(y)
        return na.trapezoid(y, dx=dx, axis=axis)
    y, x = promote_inexact(y, x)
    y = na.moveaxis(y, axis, -1)
    steps = na.diff(na.moveaxis(x, axis, -1) if len(na.shape(x)) > 1 else x)
    pairs = na.add(na.getitem(y, (..., slice(1, None))), na.getitem(y, (..., slice(0, -1))))
    return na.multiply(na.sum(na.multiply(steps, pairs), axis=-1), 0.5)


def unwrap(p: Array, discont: Any = None, axis: int = -1, period: Any = 2 * math.pi) -> Array:
    """Phases without jumps of more than half a period."""
    p = as_array(p)
    if not dtypes.dtype_of(p).is_inexact and isinstance(period, float):
        p = inexact(p)
    jumps = diff(p, axis=axis)
    is_odd = not dtypes.dtype_of(p).is_inexact and period % 2
    high = period // 2 if not dtypes.dtype_of(p).is_inexact else period / 2
    low = -high - 1 if is_odd else -high
    wrapped = na.add(na.remainder(na.subtract(jumps, low), period), low)
    if not is_odd:
        is_edge = na.logical_and(na.equal(wrapped, low), na.greater(jumps, 0))
        wrapped = na.where(is_edge, na.full_like(wrapped, high), wrapped)
    limit = period / 2 if discont is None else max(discont, period / 2)
    fixes = na.where(
        na.less(na.abs(jumps), limit), na.zeros_like(jumps), na.subtract(wrapped, jumps)
    )
    lead = (slice(None),) * normal_axis(axis, len(na.shape(p)))
    rest = na.add(
        na.getitem(p, (*lead, slice(1, None))),
        na.cumulative_sum(fixes, axis=axis, dtype=na.dtype_of(fixes)),
    )
    return na.concat([na.getitem(p, (*lead, slice(0, 1))), rest], axis=axis)


def interp(
    x: Array, xp: Array, fp: Array, left: Any = None, right: Any = None, period: Any = None
) -> Array:
    """Linear interpolation between points."""
    x, xp, fp = inexact(x), inexact(xp), inexact(fp)
    x, xp = promote(x, xp)
    left, right = (
        na.asarray(v, like=fp) if isinstance(v, (int, float)) else v for v in (left, right)
    )
    if period is not None:
        period = abs(period)
        x, xp = na.remainder(x, period), na.remainder(xp, period)
        order = na.argsort(xp)
        xp, fp = na.take(xp, order, axis=0), na.take(fp, order, axis=0)
        xp = na.concat(
            [na.getitem(xp, slice(-1, None)) - period, xp, na.getitem(xp, slice(0, 1)) + period]
        )
        fp = na.concat([na.getitem(fp, slice(-1, None)), fp, na.getitem(fp, slice(0, 1))])
    i = na.clip(na.searchsorted(xp, x, side="right"), 1, na.shape(xp)[0] - 1)
    before = na.subtract(i, 1)
    x0, f0 = na.take(xp, before), na.take(fp, before)
    df, dx = na.subtract(na.take(fp, i), f0), na.subtract(na.take(xp, i), x0)
    is_flat = na.less_equal(na.abs(dx), na.finfo(na.dtype_of(xp)).eps)
    share = na.divide(na.subtract(x, x0), na.where(is_flat, na.ones_like(dx), dx))
    found = na.where(is_flat, f0, na.add(f0, na.multiply(share, df)))
    if period is not None:
        return found
    first, last = (
        na.getitem(fp, 0) if left is None else left,
        na.getitem(fp, -1) if right is None else right,
    )
    found = na.where(na.less(x, na.getitem(xp, 0)), cast(first, na.dtype_of(found)), found)
    return na.where(na.greater(x, na.getitem(xp, -1)), cast(last, na.dtype_of(found)), found)


# -- convolution ---------------------------------------------------------------------------------


def convolve(
    a: Array,
    v: Array,
    mode: str = "full",
    *,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """The convolution of two vectors."""
    a, v = _signals(a, v, preferred_element_type)
    a, v = (v, a) if na.shape(a)[0] < na.shape(v)[0] else (a, v)
    return na.convolve(a, v, mode=mode)


def correlate(
    a: Array,
    v: Array,
    mode: str = "valid",
    *,
    precision: Any = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """The cross-correlation of two vectors."""
    a, v = _signals(a, v, preferred_element_type)
    m, n = na.shape(a)[0], na.shape(v)[0]
    full = na.convolve(a, na.conj(na.flip(v))) if m >= n else na.convolve(na.conj(na.flip(v)), a)
    if mode == "full":
        return full
    length = max(m, n) if mode == "same" else max(m, n) - min(m, n) + 1
    start = (m + n - 1 - length) // 2
    if mode == "same" and m >= n:
        start = (n - 1) // 2
    if mode == "same" and m < n:
        start = m // 2
    return na.getitem(full, slice(start, start + length))


def _signals(a: Any, v: Any, dtype: DTypeLike | None) -> tuple[Array, ...]:
    return promote_inexact(a, v) if dtype is None else (cast(a, dtype), cast(v, dtype))
