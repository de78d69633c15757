"""PyTorch: `nestarray.ops.factorizations`."""

from __future__ import annotations

from cmath import isfinite
from typing import Any

import torch

from nestarray.backends.base import supports
from nestarray.backends.precision import in_single_precision
from nestarray.backends.torch.derivatives import is_compiled
from nestarray.backends.torch.promotion import cast
from nestarray.dynamo import is_compiling
from nestarray.errors import LinearAlgebraError
from nestarray.numerics.matrices import check_matrices, check_reflections, nan_where_failed
from nestarray.numerics.results import (
    EighResult,
    EigResult,
    LUFactorResult,
    LUResult,
    QRResult,
    SVDResult,
    gathered,
)

_single = in_single_precision(cast)
_single_pair = in_single_precision(cast, arrays=(0, 1))

svdvals = _single(torch.linalg.svdvals)
eigvalsh = _single(torch.linalg.eigvalsh)


@_single
def eigvals(x: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.eigvals.html"""
    if x.is_cpu and not is_compiling() and _has_nonfinite(x):
        raise LinearAlgebraError("eigvals: x: got infinities or NaN, expected finite numbers")
    return torch.linalg.eigvals(x)


def _has_nonfinite(x: Any) -> bool:
    """Whether x has infinities or NaN, for which LAPACK aborts the process; eig checks itself."""
    try:
        # a finite sum implies finite numbers, without a test of each
        return not isfinite(x.sum().item()) and not torch.isfinite(x).all()
    except RuntimeError:  # no values under tracing or vmap
        return False


@_single
def cholesky(x: Any, /, *, upper: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.cholesky.html"""
    if is_compiled():
        return nan_where_failed(torch, *torch.linalg.cholesky_ex(x, upper=upper))
    return torch.linalg.cholesky(x, upper=upper)


@supports(lambda *_, pivoting=False, **_settings: not pivoting)
@_single
def qr(x: Any, /, *, mode: str = "reduced", pivoting: bool = False) -> QRResult:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.qr.html"""
    return gathered(QRResult, torch.linalg.qr(x, mode))


@_single
def svd(x: Any, /, *, full_matrices: bool = True) -> SVDResult:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.svd.html"""
    return gathered(SVDResult, torch.linalg.svd(x, full_matrices))


@_single
def eigh(x: Any, /) -> EighResult:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.eigh.html"""
    return gathered(EighResult, torch.linalg.eigh(x))


@_single
def eig(x: Any, /) -> EigResult:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.eig.html"""
    return gathered(EigResult, torch.linalg.eig(x))


@_single
def lu_factor(x: Any, /) -> LUFactorResult:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.lu_factor_ex.html"""
    check_matrices("lu_factor", "x", x)
    LU, pivots, _ = torch.linalg.lu_factor_ex(x)  # factors of singular matrices too
    return LUFactorResult(LU, pivots.to(torch.int64) - 1)  # PyTorch counts from 1


@_single
def lu(x: Any, /) -> LUResult:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.lu.html"""
    check_matrices("lu", "x", x)
    P, L, U = torch.linalg.lu(x)
    return LUResult(P.real, L, U)


@_single_pair
def householder_product(x: Any, tau: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.householder_product.html"""
    check_reflections(x, tau)
    return torch.linalg.householder_product(x, tau)
