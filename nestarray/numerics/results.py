"""The named tuples that ops with several results return."""

from __future__ import annotations

from typing import Any, NamedTuple

#: ``gathered(QRResult, fields)`` converts a native tuple in a third of the time of
#: ``QRResult(*fields)``, a Python function.
gathered: Any = tuple.__new__


class TopKResult(NamedTuple):
    """What `top_k` returns."""

    values: Any
    indices: Any


class HistogramResult(NamedTuple):
    """What `histogram` returns."""

    counts: Any
    edges: Any


class ModeResult(NamedTuple):
    """What `mode` returns."""

    values: Any
    counts: Any


class UniqueAllResult(NamedTuple):
    """What `unique_all` returns."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCountsResult(NamedTuple):
    """What `unique_counts` returns."""

    values: Any
    counts: Any


class UniqueInverseResult(NamedTuple):
    """What `unique_inverse` returns."""

    values: Any
    inverse_indices: Any


class QRResult(NamedTuple):
    """What `qr` returns."""

    Q: Any
    R: Any


class PivotedQRResult(NamedTuple):
    """What `qr` returns with pivoting."""

    Q: Any
    R: Any
    P: Any


class SVDResult(NamedTuple):
    """What `svd` returns."""

    U: Any
    S: Any
    Vh: Any


class EighResult(NamedTuple):
    """What `eigh` returns."""

    eigenvalues: Any
    eigenvectors: Any


class EigResult(NamedTuple):
    """What `eig` returns."""

    eigenvalues: Any
    eigenvectors: Any


class SlogdetResult(NamedTuple):
    """What `slogdet` returns."""

    sign: Any
    logabsdet: Any


class LUFactorResult(NamedTuple):
    """What `lu_factor` returns."""

    LU: Any
    pivots: Any


class LUResult(NamedTuple):
    """What `lu` returns."""

    P: Any
    L: Any
    U: Any


class PolarResult(NamedTuple):
    """What `polar_decomposition` returns."""

    U: Any
    P: Any


class LstsqResult(NamedTuple):
    """What `lstsq` returns."""

    solution: Any
    residuals: Any
    rank: Any
    singular_values: Any
