"""LDLᵀ factors of symmetric matrices that need not be positive, after Bunch and Kaufman.

D has blocks of one or two rows. The block size and the exchanged row of each step depend on
values: both cases are computed and selected with `where`, so that batches and compiled code need
no branches. Factors and pivots equal the results of LAPACK's sytrf for the lower triangle.

Upstream: https://docs.pytorch.org/docs/stable/generated/torch.linalg.ldl_factor.html
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import nestarray as na
from nestarray import dtypes
from nestarray.frontends.torch.dims import shape_of
from nestarray.frontends.torch.promotion import cast, promote
from nestarray.frontends.torch.unchecked import raise_for
from nestarray.typing import Array

__all__ = ["ldl_factor", "ldl_factor_ex", "ldl_solve"]

#: Bounds the growth of elements: https://www.netlib.org/lapack/explore-html/d5/d2e/group__hetf2.html
_ALPHA = (1 + math.sqrt(17)) / 8


class LDL(NamedTuple):
    """torch.return_types.linalg_ldl_factor."""

    LD: Array
    pivots: Array


class LDLInfo(NamedTuple):
    """torch.return_types.linalg_ldl_factor_ex."""

    LD: Array
    pivots: Array
    info: Array


def ldl_factor(A: Array, *, hermitian: bool = False) -> LDL:
    """L and D in one lower triangle, and the exchanges of rows, negative for blocks of two."""
    LD, pivots, _ = ldl_factor_ex(A, hermitian=hermitian)
    return LDL(LD, pivots)


def ldl_factor_ex(A: Array, *, hermitian: bool = False, check_errors: bool = False) -> LDLInfo:
    """`ldl_factor`, and which block of D is the first to be singular, counted from 1, or 0."""
    n = shape_of(A)[-1]
    S = _symmetric(A, hermitian)
    rows = na.arange(n, dtype=dtypes.int64, like=A)
    batch = shape_of(A)[:-2]
    is_second = na.zeros(batch, dtype=dtypes.bool, like=A)
    info = na.zeros(batch, dtype=dtypes.int64, like=A)
    columns: list[Array] = []
    pivots: list[Array] = []
    kept: Any = None  # the second column of a block of two, and its exchange
    for k in range(n):
        place, is_pair = _pivot(S, rows, k)
        is_pair = na.logical_and(is_pair, na.logical_not(is_second))
        place = na.where(is_second, na.full_like(place, k), place)
        S = _exchanged(S, rows, na.add(k, cast(is_pair, dtypes.int64)), place)
        column, S1 = _one(S, rows, k, hermitian)
        number = na.add(place, 1)
        singular = na.equal(na.getitem(S, (..., k, k)), 0)
        if k < n - 1:
            first, second, S2 = _two(S, rows, k, hermitian)
            column = na.where(_column(is_pair), first, column)
            S1 = na.where(_matrix(is_pair), S2, S1)
            number = na.where(is_pair, na.negative(number), number)
            singular = na.logical_and(singular, na.logical_not(is_pair))
        if kept is not None:
            column = na.where(_column(is_second), kept[0], column)
            number = na.where(is_second, kept[1], number)
            singular = na.logical_and(singular, na.logical_not(is_second))
        S = na.where(_matrix(is_second), S, S1)
        if k < n - 1:
            kept = second, number
        info = na.where(
            na.logical_and(na.equal(info, 0), singular), na.full_like(info, k + 1), info
        )
        is_second = is_pair
        columns.append(column)
        pivots.append(number)
    if not columns:
        return LDLInfo(A, na.zeros((*batch, 0), dtype=dtypes.int32, like=A), cast(info, "int32"))
    raise_for("ldl_factor_ex", info, "block", check_errors)
    LD = na.stack(columns, axis=-1)
    return LDLInfo(LD, cast(na.stack(pivots, axis=-1), dtypes.int32), cast(info, dtypes.int32))


def _pivot(S: Array, rows: Array, k: int) -> tuple[Array, Array]:
    """The row to exchange, and whether the next two rows are one block."""
    size = _size(S)
    own = na.getitem(size, (..., k, k))
    below = na.where(na.greater(rows, k), na.getitem(size, (..., slice(None), k)), -1.0)
    place = cast(na.argmax(below, axis=-1), dtypes.int64)
    if k == shape_of(S)[-1] - 1:
        return na.full_like(place, k), na.zeros_like(place, dtype=dtypes.bool)
    largest = na.max(below, axis=-1)
    index = na.expand_dims(place, axis=-1)
    line = na.take_along_axis(size, _spread(index, S), axis=-2)[..., 0, :]
    diagonal = na.take_along_axis(line, index, axis=-1)[..., 0]
    others = na.logical_and(na.greater_equal(rows, k), na.not_equal(rows, index))
    across = na.max(na.where(others, line, na.zeros_like(line)), axis=-1)
    stays = na.logical_or(
        na.greater_equal(own, _ALPHA * largest),
        na.greater_equal(own * across, _ALPHA * largest * largest),
    )
    alone = na.greater_equal(diagonal, _ALPHA * across)
    is_pair = na.logical_not(na.logical_or(stays, alone))
    return na.where(stays, na.full_like(place, k), place), is_pair


def _size(x: Array) -> Array:
    """|x|; for complex numbers |re x| + |im x|, as in LAPACK."""
    if dtypes.dtype_of(x).kind != "complex":
        return na.abs(x)
    return na.add(na.abs(na.real(x)), na.abs(na.imag(x)))


def _spread(index: Array, S: Array) -> Array:
    """`(*batch, 1)` as indices of whole rows, `(*batch, 1, n)`."""
    return na.broadcast_to(na.expand_dims(index, axis=-1), (*shape_of(S)[:-2], 1, shape_of(S)[-1]))


def _exchanged(S: Array, rows: Array, one: Array, other: Array) -> Array:
    """`S` with two rows and the two columns of the same numbers exchanged."""
    one, other = na.expand_dims(one, axis=-1), na.expand_dims(other, axis=-1)
    order = na.where(na.equal(rows, one), other, na.where(na.equal(rows, other), one, rows))
    by_row = na.broadcast_to(na.expand_dims(order, axis=-1), shape_of(S))
    by_column = na.broadcast_to(na.expand_dims(order, axis=-2), shape_of(S))
    return na.take_along_axis(na.take_along_axis(S, by_row, axis=-2), by_column, axis=-1)


def _one(S: Array, rows: Array, k: int, hermitian: bool) -> tuple[Array, Array]:
    """The column of a 1×1 block, and the remaining matrix."""
    w = na.getitem(S, (..., slice(None), k))
    d = na.getitem(S, (..., slice(k, k + 1), k))
    d = na.where(na.equal(d, 0), na.ones_like(d), d)
    below = na.greater(rows, k)
    l = na.where(below, na.divide(w, d), na.zeros_like(w))  # noqa: E741
    rest = na.subtract(S, na.matmul(_column(l), _row(_turned(w, hermitian))))
    inside = na.logical_and(_column(below), _row(below))
    return na.where(na.equal(rows, k), w, l), na.where(inside, rest, S)


def _two(S: Array, rows: Array, k: int, hermitian: bool) -> tuple[Array, Array, Array]:
    """The columns of a 2×2 block, and the remaining matrix."""
    W = na.getitem(S, (..., slice(None), slice(k, k + 2)))
    D = na.getitem(W, (..., slice(k, k + 2), slice(None)))
    below = na.greater(rows, k + 1)
    L = na.where(_column(below), na.matmul(W, _inverse(D)), na.zeros_like(W))
    rest = na.subtract(S, na.matmul(L, na.swapaxes(_turned(W, hermitian), -2, -1)))
    inside = na.logical_and(_column(below), _row(below))
    first = na.where(na.less_equal(rows, k + 1), _lower(W[..., 0], rows, k), L[..., 0])
    second = na.where(na.less_equal(rows, k + 1), _lower(W[..., 1], rows, k + 1), L[..., 1])
    return first, second, na.where(inside, rest, S)


def _lower(w: Array, rows: Array, k: int) -> Array:
    return na.where(na.greater_equal(rows, k), w, na.zeros_like(w))


def _inverse(D: Array) -> Array:
    """The inverse of matrices of two rows; of singular ones, which nothing uses, some matrix."""
    a, b, c, d = D[..., 0, 0], D[..., 0, 1], D[..., 1, 0], D[..., 1, 1]
    det = na.subtract(na.multiply(a, d), na.multiply(b, c))
    det = na.where(na.equal(det, 0), na.ones_like(det), det)
    flat = na.stack([d, na.negative(b), na.negative(c), a], axis=-1)
    return na.reshape(na.divide(flat, na.expand_dims(det, axis=-1)), shape_of(D))


def ldl_solve(LD: Array, pivots: Array, B: Array, *, hermitian: bool = False) -> Array:
    """X with A X = B, of the factors that `ldl_factor` gives."""
    LD, B = promote(LD, B)
    n = shape_of(LD)[-1]
    rows = na.arange(n, dtype=dtypes.int64, like=LD)
    batch = na.broadcast_shapes(shape_of(LD)[:-2], shape_of(B)[:-2])
    LD = na.broadcast_to(LD, (*batch, n, n))
    numbers = na.broadcast_to(cast(pivots, dtypes.int64), (*batch, n))
    X = na.broadcast_to(B, (*batch, *shape_of(B)[-2:]))
    steps = []
    is_second = na.zeros(batch, dtype=dtypes.bool, like=LD)
    for k in range(n):
        number = na.getitem(numbers, (..., k))
        is_pair = na.logical_and(na.less(number, 0), na.logical_not(is_second))
        steps.append((k, number, is_pair, is_second))
        is_second = is_pair
    for step in steps:
        X = _swapped(X, rows, step)
        parts = na.getitem(X, (..., slice(step[0], step[0] + 2), slice(None)))
        X = na.subtract(X, na.matmul(_block(LD, rows, step), parts))
    X = _by_blocks(LD, X, steps, hermitian)
    for step in reversed(steps):
        turned = na.swapaxes(_turned(_block(LD, rows, step), hermitian), -2, -1)
        k = step[0]
        change = na.matmul(turned, X)
        change = na.pad(change, [(0, 0)] * len(batch) + [(k, n - k - shape_of(change)[-2]), (0, 0)])
        X = _swapped(na.subtract(X, change), rows, step)
    return X


Step = tuple[int, Array, Array, Array]


def _swapped(X: Array, rows: Array, step: Step) -> Array:
    """The rows exchanged that a step of the factorization exchanged."""
    k, number, is_pair, is_second = step
    one = na.expand_dims(na.add(k, cast(is_pair, dtypes.int64)), axis=-1)
    other = na.where(is_second, na.full_like(number, k), na.subtract(na.abs(number), 1))
    other = na.expand_dims(other, axis=-1)
    order = na.where(na.equal(rows, one), other, na.where(na.equal(rows, other), one, rows))
    return na.take_along_axis(X, na.broadcast_to(_column(order), shape_of(X)), axis=-2)


def _block(LD: Array, rows: Array, step: Step) -> Array:
    """The columns of L below the block of a step: one or two, and none for a block's second row."""
    k, _, is_pair, is_second = step
    L = na.getitem(LD, (..., slice(None), slice(k, k + 2)))
    width = shape_of(L)[-1]
    column = na.arange(k, k + width, dtype=dtypes.int64, like=LD)
    last = na.expand_dims(na.add(k, cast(is_pair, dtypes.int64)), axis=-1)
    below = na.logical_and(na.greater(_column(rows), _row(last)), na.less_equal(column, _row(last)))
    below = na.logical_and(below, _matrix(na.logical_not(is_second)))
    return na.where(below, L, na.zeros_like(L))


def _by_blocks(LD: Array, X: Array, steps: list[Step], hermitian: bool) -> Array:
    """D⁻¹ X: D is built whole, with ones and twos on its diagonal."""
    n = shape_of(LD)[-1]
    unit = na.eye(n, dtype=dtypes.bool, like=LD)
    is_pair = na.stack([step[2] for step in steps], axis=-1) if steps else None
    if is_pair is None:
        return X
    under = na.logical_and(na.eye(n, k=-1, dtype=dtypes.bool, like=LD), _row(is_pair))
    off = na.where(under, LD, na.zeros_like(LD))
    D = na.add(na.where(unit, LD, na.zeros_like(LD)), off)
    D = na.add(D, na.swapaxes(_turned(off, hermitian), -2, -1))
    return na.solve(D, X)


def _symmetric(A: Array, hermitian: bool) -> Array:
    """The matrix that the lower triangle describes."""
    rest = _turned(na.tril(A, k=-1), hermitian)
    whole = na.add(na.tril(A), na.swapaxes(rest, -2, -1))
    if hermitian and dtypes.dtype_of(A).kind == "complex":
        unit = na.eye(shape_of(A)[-1], dtype=dtypes.bool, like=A)
        whole = na.where(unit, cast(na.real(whole), dtypes.dtype_of(A)), whole)
    return whole


def _turned(x: Array, hermitian: bool) -> Array:
    return na.conj(x) if hermitian and dtypes.dtype_of(x).kind == "complex" else x


def _column(x: Array) -> Array:
    return na.expand_dims(x, axis=-1)


def _row(x: Array) -> Array:
    return na.expand_dims(x, axis=-2)


def _matrix(x: Array) -> Array:
    return na.expand_dims(x, axis=(-2, -1))
