"""PyTorch: `nestarray.ops.factorizations`."""

from __future__ import annotations

from typing import Any

import torch

from nestarray.backends.matrices import check_matrices, check_reflections
from nestarray.backends.results import (
    EighResult,
    EigResult,
    LUFactorResult,
    LUResult,
    QRResult,
    SVDResult,
)

svdvals = torch.linalg.svdvals
eigvalsh = torch.linalg.eigvalsh
eigvals = torch.linalg.eigvals


def cholesky(x: Any, /, *, upper: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.cholesky.html"""
    return torch.linalg.cholesky(x, upper=upper)


def qr(x: Any, /, *, mode: str = "reduced") -> QRResult:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.qr.html"""
    return QRResult(*torch.linalg.qr(x, mode))


def svd(x: Any, /, *, full_matrices: bool = True) -> SVDResult:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.svd.html"""
    return SVDResult(*torch.linalg.svd(x, full_matrices))


def eigh(x: Any, /) -> EighResult:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.eigh.html"""
    return EighResult(*torch.linalg.eigh(x))


def eig(x: Any, /) -> EigResult:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.eig.html"""
    return EigResult(*torch.linalg.eig(x))


def lu_factor(x: Any, /) -> LUFactorResult:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.lu_factor.html"""
    check_matrices("lu_factor", "x", x)
    LU, pivots = torch.linalg.lu_factor(x)
    return LUFactorResult(LU, pivots.to(torch.int64) - 1)  # PyTorch counts from 1


def lu(x: Any, /) -> LUResult:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.lu.html"""
    check_matrices("lu", "x", x)
    P, L, U = torch.linalg.lu(x)
    return LUResult(P.real, L, U)


def householder_product(x: Any, tau: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.householder_product.html"""
    check_reflections(x, tau)
    return torch.linalg.householder_product(x, tau)
