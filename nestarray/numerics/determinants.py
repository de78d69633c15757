"""Determinants with derivatives at every matrix.

The rules of the frameworks divide by the determinant: d det X = det X · tr(X⁻¹ dX). For fixed unitary
factors of X = U S Vᴴ, det X is det U · det(Uᴴ X V) · det Vᴴ, and the inner matrix is nearly diagonal.
Its determinant is a polynomial in a shift z of the small diagonal elements, so its value at z = 0
is the mean over a circle, on which all matrices are regular.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from nestarray import dtypes

#: Singular values below this part of the largest one are shifted. Any part gives the derivatives; a
#: smaller one loses digits in nearly singular matrices, a larger one in products of shifts.
_SMALL = 1e-3
#: The number of shifted singular values. Where more are 0, derivatives up to this order are 0.
_MOST = 4

Det = Callable[[Any], Any]
Choose = Callable[[Any, Callable[[], Any], Callable[[], Any]], Any]


def differentiable_det(xp: Any, x: Any, det: Det, choose: Choose) -> Any:
    """The determinant, for differentiation.

    Args:
        xp: the namespace of the ops.
        x: inexact matrices (*batch, n, n).
        det: the framework's determinant, whose derivatives hold for regular matrices.
        choose: ``choose(pred, true_branch, false_branch)``.
    """
    if not math.prod(x.shape[-2:]):
        return det(x)
    is_singular = _is_singular(xp, xp.stop_gradient(x), det)

    def chosen() -> Any:
        unit = xp.eye(x.shape[-1], dtype=dtypes.dtype_of(x), like=x)
        mask = xp.expand_dims(is_singular, axis=(-2, -1))
        regular = det(xp.where(mask, unit, x))
        return xp.where(is_singular, _det_by_circle(xp, x, det), regular)

    return choose(xp.any(is_singular), chosen, lambda: det(x))


def det_by_lu(xp: Any, x: Any) -> Any:
    """The determinant of regular matrices from the framework's factors."""
    LU, pivots = xp.lu_factor(x)
    swaps = xp.sum(
        xp.astype(xp.not_equal(pivots, xp.arange(x.shape[-1], like=x)), "int64"), axis=-1
    )
    sign = xp.astype(1 - 2 * xp.remainder(swaps, 2), dtypes.dtype_of(x))
    return xp.multiply(sign, xp.prod(xp.diagonal(LU), axis=-1))


def _is_singular(xp: Any, x: Any, det: Det) -> Any:
    """Whether a determinant is so small that half of the digits of an inverse are lost.

    The determinant of a random matrix is about e^(-n/2) times the product of the lengths of its rows.
    """
    eps = dtypes.finfo(dtypes.dtype_of(x)).eps
    usual = xp.sum(_log(xp, xp.vector_norm(x, axis=-1)), axis=-1) - x.shape[-1] / 2
    return xp.less_equal(_log(xp, xp.abs(det(x))), usual + math.log(eps) / 2)


def _log(xp: Any, x: Any) -> Any:
    """ln x of x ≥ 0, without NumPy's warning at 0."""
    is_zero = xp.equal(x, 0)
    return xp.where(is_zero, -math.inf, xp.log(xp.where(is_zero, 1.0, x)))


def _det_by_circle(xp: Any, x: Any, det: Det) -> Any:
    size = x.shape[-1]
    U, S, Vh = map(xp.stop_gradient, xp.svd(xp.stop_gradient(x)))
    inner = xp.matmul(xp.matmul(_adjoint(xp, U), x), _adjoint(xp, Vh))
    largest = S[..., :1]
    radius = xp.where(xp.equal(largest, 0), 1.0, largest)
    is_zero = xp.less_equal(S, size * dtypes.finfo(dtypes.dtype_of(S)).eps * radius)
    is_last = xp.greater_equal(xp.arange(size, like=x), size - _MOST)
    is_small = xp.logical_and(xp.less_equal(S, _SMALL * radius), is_last)
    shifted = xp.astype(xp.logical_or(is_small, is_zero), dtypes.dtype_of(S))
    shifts = xp.expand_dims(radius, axis=-1) * xp.expand_dims(shifted, axis=-2)  # (*batch, 1, n)
    points = min(size, _MOST) + 1
    angles = xp.expand_dims(xp.astype(xp.arange(points, like=x), dtypes.dtype_of(S)), axis=-1)
    angles = angles * (2 * math.pi / points)
    shifts = xp.complex(shifts * xp.cos(angles), shifts * xp.sin(angles))  # (*batch, points, n)
    unit = xp.eye(size, dtype=dtypes.dtype_of(shifts), like=x)
    shifts = xp.multiply(xp.expand_dims(shifts, axis=-1), unit)
    is_real = dtypes.dtype_of(x).kind != "complex"
    inner = xp.complex(inner, xp.zeros_like(inner)) if is_real else inner
    average = xp.mean(det(xp.add(xp.expand_dims(inner, axis=-3), shifts)), axis=-1)
    is_flat = xp.greater(xp.sum(xp.astype(is_zero, "int64"), axis=-1), _MOST)
    average = xp.where(is_flat, 0.0, average)
    outer = xp.stop_gradient(det(xp.matmul(U, Vh)))
    return xp.multiply(outer, xp.real(average) if is_real else average)


def _adjoint(xp: Any, x: Any) -> Any:
    return xp.conj(xp.matrix_transpose(x))
