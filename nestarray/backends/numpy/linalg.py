"""NumPy: `nestarray.ops.linalg`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.base import supports
from nestarray.backends.numpy.core import in_dtype
from nestarray.backends.numpy.promotion import cast, promoted
from nestarray.backends.precision import in_single_precision
from nestarray.numerics.matrices import check_square
from nestarray.numerics.results import SlogdetResult, gathered

try:
    import scipy.linalg as _scipy
except ImportError:
    _scipy = None

_single = in_single_precision(cast)

matrix_transpose = np.matrix_transpose
det = _single(np.linalg.det)
matrix_norm = _single(np.linalg.matrix_norm)
_power = in_single_precision(cast, integers=True)(np.linalg.matrix_power)


@supports(lambda x, n: n >= 0)  # the inverse of integers is not integral
def matrix_power(x: Any, /, n: int) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.linalg.matrix_power.html"""
    return _power(x, n)


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.diagonal.html"""
    return np.diagonal(x, offset, -2, -1)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.linalg.cross.html"""
    if x1.dtype is x2.dtype and x1.shape[axis] == x2.shape[axis] == 3:
        return np.cross(x1, x2, axis=axis)  # np.linalg.cross checks and calls it
    return np.linalg.cross(*promoted((x1, x2)), axis=axis)


def kron(x1: Any, x2: Any, /) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.kron.html"""
    if getattr(x1, "dtype", x1) is getattr(x2, "dtype", None):
        return np.kron(x1, x2)
    return np.kron(*promoted((x1, x2)))


@supports(lambda x, **_: 0 not in x.shape)  # not the extremes of no elements
@_single
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: float = 2) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.linalg.vector_norm.html"""
    if axis.__class__ is list:
        axis = tuple(axis)
    found = np.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)
    return found if found.dtype is x.dtype or x.dtype.kind == "c" else in_dtype(found, x.dtype)


@_single
def slogdet(x: Any, /) -> SlogdetResult:
    """https://numpy.org/doc/stable/reference/generated/numpy.linalg.slogdet.html"""
    return gathered(SlogdetResult, np.linalg.slogdet(x))


if _scipy is not None:

    @_single
    def expm(x: Any, /) -> Any:
        """https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.expm.html"""
        check_square("expm", "x", x)
        return _scipy.expm(x)
