"""Named tuples of functions with several results; torch.return_types.

https://docs.pytorch.org/docs/stable/torch.html
"""

from __future__ import annotations

from typing import NamedTuple

from nestarray.typing import Array


class ValuesIndices(NamedTuple):
    """Values and indices: torch.return_types.max, sort, topk, median …"""

    values: Array
    indices: Array


class MinMax(NamedTuple):
    """torch.return_types.aminmax."""

    min: Array
    max: Array


class SVD(NamedTuple):
    """torch.return_types.linalg_svd: A = U diag(S) Vh."""

    U: Array
    S: Array
    Vh: Array


class ThinSVD(NamedTuple):
    """torch.return_types.svd, with V instead of its adjoint."""

    U: Array
    S: Array
    V: Array


class QR(NamedTuple):
    """torch.return_types.qr: A = Q R."""

    Q: Array
    R: Array


class Eigen(NamedTuple):
    """torch.return_types.linalg_eigh, linalg_eig."""

    eigenvalues: Array
    eigenvectors: Array


class Polar(NamedTuple):
    """torch.return_types.linalg_polar: A = U H."""

    U: Array
    H: Array


class SignLogDet(NamedTuple):
    """torch.return_types.slogdet."""

    sign: Array
    logabsdet: Array


class PLU(NamedTuple):
    """torch.return_types.linalg_lu: A = P L U."""

    P: Array
    L: Array
    U: Array


class LUFactor(NamedTuple):
    """torch.return_types.linalg_lu_factor."""

    LU: Array
    pivots: Array
