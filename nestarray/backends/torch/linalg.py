"""PyTorch: `nestarray.ops.linalg`."""

from __future__ import annotations

from typing import Any

import torch

from nestarray.backends.base import mean_dtype, promoted
from nestarray.backends.results import (
    EighResult,
    EigResult,
    QRResult,
    SlogdetResult,
    SVDResult,
)
from nestarray.backends.torch.core import native_dtype
from nestarray.backends.torch.elementwise import _cast

det = torch.linalg.det
inv = torch.linalg.inv
svdvals = torch.linalg.svdvals
eigvalsh = torch.linalg.eigvalsh
eigvals = torch.linalg.eigvals
matrix_power = torch.linalg.matrix_power


def matrix_transpose(x: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.transpose.html"""
    return torch.transpose(x, -2, -1)


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.diagonal.html"""
    return torch.diagonal(x, offset, -2, -1)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.cross.html"""
    x1, x2 = torch.broadcast_tensors(*promoted((x1, x2), _cast))
    return torch.linalg.cross(x1, x2, dim=axis)


def kron(x1: Any, x2: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.kron.html"""
    return torch.kron(*promoted((x1, x2), _cast))


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: float = 2) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.vector_norm.html"""
    return torch.linalg.vector_norm(x.to(native_dtype(mean_dtype(x))), ord, axis, keepdims)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.matrix_norm.html"""
    return torch.linalg.matrix_norm(x, ord, keepdim=keepdims)


def slogdet(x: Any, /) -> SlogdetResult:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.slogdet.html"""
    return SlogdetResult(*torch.linalg.slogdet(x))


def _columns(x1: Any, x2: Any) -> tuple[Any, Any]:
    """The right sides as columns, of as many dimensions as the matrices.

    With fewer PyTorch could take a matrix for a stack of vectors.
    """
    right = x2[:, None] if x2.ndim == 1 else x2
    return x1, right.reshape((1,) * (x1.ndim - right.ndim) + right.shape)


def solve(x1: Any, x2: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.solve.html"""
    x1, x2 = promoted((x1, x2), _cast)
    solution = torch.linalg.solve(*_columns(x1, x2))
    return solution[..., 0] if x2.ndim == 1 else solution


def solve_triangular(x1: Any, x2: Any, /, *, upper: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.solve_triangular.html"""
    x1, x2 = promoted((x1, x2), _cast)
    solution = torch.linalg.solve_triangular(*_columns(x1, x2), upper=upper)
    return solution[..., 0] if x2.ndim == 1 else solution


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


def pinv(x: Any, /, *, rtol: float | None = None) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.pinv.html"""
    return torch.linalg.pinv(x, rtol=rtol)
