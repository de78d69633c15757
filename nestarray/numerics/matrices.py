"""Matrices at fault: checks of shapes, and NaN where a factorization failed."""

from __future__ import annotations

import math
from typing import Any

from nestarray.errors import ShapeError


def check_matrices(op: str, argument: str, x: Any) -> None:
    """Raise ShapeError unless `x` is a stack of matrices."""
    if len(x.shape) < 2:
        raise ShapeError(
            f"{op}: {argument}: got shape {_text(x)}, expected matrices (*batch, m, n)"
        )


def check_square(op: str, argument: str, x: Any) -> None:
    """Raise ShapeError unless `x` is a stack of square matrices."""
    if len(x.shape) < 2 or x.shape[-1] != x.shape[-2]:
        raise ShapeError(
            f"{op}: {argument}: got shape {_text(x)}, expected square matrices (*batch, n, n)"
        )


def check_right_side(op: str, x1: Any, x2: Any) -> None:
    """Raise ShapeError unless `x2` has as many rows as the matrices `x1`."""
    rows = x1.shape[-2]
    if len(x2.shape) == 0 or x2.shape[-1 if len(x2.shape) == 1 else -2] != rows:
        raise ShapeError(
            f"{op}: x2: got the shape {_text(x2)}, expected ({rows},) or (*batch, {rows}, k) "
            f"for matrices of {rows} rows"
        )


def check_factors(LU: Any, pivots: Any, x2: Any) -> None:
    """Raise ShapeError unless the arguments of `lu_solve` have matching shapes."""
    check_square("lu_solve", "LU", LU)
    check_right_side("lu_solve", LU, x2)
    expected = tuple(LU.shape[:-1])
    if tuple(pivots.shape) != expected:
        raise ShapeError(f"lu_solve: pivots: got the shape {_text(pivots)}, expected {expected}")


def check_reflections(x: Any, tau: Any) -> None:
    """Raise ShapeError unless `x` and `tau` have the shapes of Householder reflections."""
    name = "householder_product"
    check_matrices(name, "x", x)
    m, n = x.shape[-2:]
    if n > m:
        raise ShapeError(f"{name}: x: got {m} rows and {n} columns, expected at most {m} columns")
    fits = len(tau.shape) == len(x.shape) - 1 and tau.shape[-1] <= n
    if not fits or tuple(tau.shape[:-1]) != tuple(x.shape[:-2]):
        raise ShapeError(
            f"{name}: tau: got the shape {_text(tau)} for x of shape {_text(x)}, "
            f"expected (*batch, k) with k at most {n}"
        )


def _text(x: Any) -> str:
    return str(tuple(x.shape))


def nan_where_failed(xp: Any, x: Any, info: Any) -> Any:
    """NaN for the matrices of which LAPACK's `info` is not 0: compiled loops cannot raise an error."""
    return xp.where((info != 0)[..., None, None], math.nan, x)
