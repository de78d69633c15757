"""NumPy: `nestarray.ops.linalg`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.base import mean_dtype, promoted
from nestarray.backends.numpy.core import native_dtype
from nestarray.backends.numpy.elementwise import _cast
from nestarray.backends.results import (
    EighResult,
    EigResult,
    QRResult,
    SlogdetResult,
    SVDResult,
)

matrix_transpose = np.matrix_transpose
det = np.linalg.det
inv = np.linalg.inv
svdvals = np.linalg.svdvals
eigvalsh = np.linalg.eigvalsh
matrix_norm = np.linalg.matrix_norm
matrix_power = np.linalg.matrix_power


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.diagonal.html"""
    return np.diagonal(x, offset, -2, -1)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.linalg.cross.html"""
    return np.linalg.cross(*promoted((x1, x2), _cast), axis=axis)


def kron(x1: Any, x2: Any, /) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.kron.html"""
    return np.kron(*promoted((x1, x2), _cast))


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: float = 2) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.linalg.vector_norm.html"""
    x = x.astype(native_dtype(mean_dtype(x)), copy=False)
    axis = tuple(axis) if isinstance(axis, list) else axis
    return np.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)


def slogdet(x: Any, /) -> SlogdetResult:
    """https://numpy.org/doc/stable/reference/generated/numpy.linalg.slogdet.html"""
    return SlogdetResult(*np.linalg.slogdet(x))


def solve(x1: Any, x2: Any, /) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.linalg.solve.html"""
    return np.linalg.solve(*promoted((x1, x2), _cast))


def cholesky(x: Any, /, *, upper: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.linalg.cholesky.html"""
    return np.linalg.cholesky(x, upper=upper)


def qr(x: Any, /, *, mode: Any = "reduced") -> QRResult:
    """https://numpy.org/doc/stable/reference/generated/numpy.linalg.qr.html"""
    return QRResult(*np.linalg.qr(x, mode))


def svd(x: Any, /, *, full_matrices: bool = True) -> SVDResult:
    """https://numpy.org/doc/stable/reference/generated/numpy.linalg.svd.html"""
    return SVDResult(*np.linalg.svd(x, full_matrices))


def eigh(x: Any, /) -> EighResult:
    """https://numpy.org/doc/stable/reference/generated/numpy.linalg.eigh.html"""
    return EighResult(*np.linalg.eigh(x))


def eig(x: Any, /) -> EigResult:
    """https://numpy.org/doc/stable/reference/generated/numpy.linalg.eig.html"""
    dtype = np.result_type(x.dtype, np.complex64)  # NumPy gives real ones if none is complex
    return EigResult(*(part.astype(dtype, copy=False) for part in np.linalg.eig(x)))
