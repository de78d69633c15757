"""NumPy: `nestarray.ops.correlation`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.base import supports
from nestarray.backends.numpy.promotion import cast
from nestarray.backends.precision import in_single_precision


def _is_plain(
    x: Any,
    /,
    *,
    rowvar: bool = True,
    correction: float = 1.0,
    fweights: Any = None,
    aweights: Any = None,
) -> bool:
    """Whether x has variables, no weights, and more observations than an integer correction."""
    if x.ndim not in (1, 2) or 0 in x.shape or fweights is not None or aweights is not None:
        return False
    return float(correction).is_integer() and x.shape[-1 if rowvar else 0] > correction


@supports(_is_plain)
@in_single_precision(cast)
def cov(
    x: Any,
    /,
    *,
    rowvar: bool = True,
    correction: float = 1.0,
    fweights: Any = None,
    aweights: Any = None,
) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.cov.html"""
    return np.cov(x, rowvar=rowvar, ddof=int(correction), dtype=x.dtype)


@supports(lambda x, rowvar=True: x.ndim in (1, 2) and 0 not in x.shape)
@in_single_precision(cast)
def corrcoef(x: Any, /, *, rowvar: bool = True) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.corrcoef.html"""
    return np.corrcoef(x, rowvar=rowvar, dtype=x.dtype)
