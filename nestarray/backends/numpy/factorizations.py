"""NumPy: `nestarray.ops.factorizations`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.base import supports
from nestarray.backends.numpy.promotion import cast
from nestarray.backends.precision import in_single_precision
from nestarray.numerics.results import (
    EighResult,
    EigResult,
    LUFactorResult,
    QRResult,
    SVDResult,
    gathered,
)

try:
    import scipy.linalg as _scipy
except ImportError:
    _scipy = None

_single = in_single_precision(cast)

svdvals = _single(np.linalg.svdvals)
eigvalsh = _single(np.linalg.eigvalsh)


@_single
def cholesky(x: Any, /, *, upper: bool = False) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.linalg.cholesky.html"""
    return np.linalg.cholesky(x, upper=True) if upper else np.linalg.cholesky(x)


@supports(lambda *_, pivoting=False, **_settings: not pivoting)
@_single
def qr(x: Any, /, *, mode: Any = "reduced", pivoting: bool = False) -> QRResult:
    """https://numpy.org/doc/stable/reference/generated/numpy.linalg.qr.html"""
    return gathered(QRResult, np.linalg.qr(x, mode))


@_single
def svd(x: Any, /, *, full_matrices: bool = True) -> SVDResult:
    """https://numpy.org/doc/stable/reference/generated/numpy.linalg.svd.html"""
    return gathered(SVDResult, np.linalg.svd(x, full_matrices))


@_single
def eigh(x: Any, /) -> EighResult:
    """https://numpy.org/doc/stable/reference/generated/numpy.linalg.eigh.html"""
    return gathered(EighResult, np.linalg.eigh(x))


@_single
def eig(x: Any, /) -> EigResult:
    """https://numpy.org/doc/stable/reference/generated/numpy.linalg.eig.html"""
    if x.dtype.kind == "c":
        return gathered(EigResult, np.linalg.eig(x))
    dtype = np.result_type(x.dtype, np.complex64)  # NumPy returns real values if none is complex
    return EigResult(*(part.astype(dtype, copy=False) for part in np.linalg.eig(x)))


if _scipy is not None:

    @_single
    @supports(lambda x: len(x.shape) > 1 and x.size > 0 and x.dtype.char in "fdFD")
    def lu_factor(x: Any, /) -> LUFactorResult:
        """https://docs.scipy.org/doc/scipy/reference/linalg.lapack.html"""
        # LAPACK directly: scipy.linalg.lu_factor warns of singular matrices
        (getrf,) = _scipy.get_lapack_funcs(("getrf",), (x,))
        found = [getrf(matrix) for matrix in x.reshape(-1, *x.shape[-2:])]
        LU, pivots, _ = (np.stack(part) for part in zip(*found))
        return LUFactorResult(
            LU.reshape(x.shape), pivots.reshape(*x.shape[:-2], -1).astype(np.int64)
        )
