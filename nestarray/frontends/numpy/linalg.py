"""Linear algebra.

Upstream: https://numpy.org/doc/stable/reference/routines.linalg.html
"""

from __future__ import annotations

import builtins
import math
from functools import partial
from typing import Any

import nestarray as na
from nestarray.errors import LinearAlgebraError as LinAlgError
from nestarray.frontends.jax.numpy import linalg
from nestarray.frontends.numpy import functions, ufuncs
from nestarray.frontends.numpy.adaptation import adapted
from nestarray.frontends.numpy.arrays import as_array
from nestarray.typing import Array

__all__ = [
    "LinAlgError",
    "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv",
    "lstsq", "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose",
    "multi_dot", "norm", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals",
    "tensordot", "tensorinv", "tensorsolve", "trace", "vecdot", "vector_norm",
]  # fmt: skip

cholesky = adapted(
    "linalg.cholesky", partial(linalg.cholesky, symmetrize_input=False), is_inexact=True
)
cross = adapted("linalg.cross", linalg.cross)
det = adapted("linalg.det", linalg.det, is_inexact=True)
diagonal = adapted("linalg.diagonal", linalg.diagonal)
eig = adapted("linalg.eig", linalg.eig, is_inexact=True)
eigh = adapted("linalg.eigh", partial(linalg.eigh, symmetrize_input=False), is_inexact=True)
eigvals = adapted("linalg.eigvals", linalg.eigvals, is_inexact=True)
eigvalsh = adapted(
    "linalg.eigvalsh", partial(linalg.eigvalsh, symmetrize_input=False), is_inexact=True
)
inv = adapted("linalg.inv", linalg.inv, is_inexact=True)
lstsq = adapted("linalg.lstsq", partial(linalg.lstsq, numpy_resid=True), is_inexact=True)
matmul = adapted("linalg.matmul", linalg.matmul)
matrix_norm = adapted("linalg.matrix_norm", linalg.matrix_norm, is_inexact=True)
matrix_transpose = adapted("linalg.matrix_transpose", linalg.matrix_transpose)
multi_dot = adapted("linalg.multi_dot", linalg.multi_dot, is_inexact=True)
norm = adapted("linalg.norm", linalg.norm, is_inexact=True)
outer = adapted("linalg.outer", linalg.outer)
pinv = adapted("linalg.pinv", linalg.pinv, is_inexact=True)
qr = adapted("linalg.qr", linalg.qr, is_inexact=True)
slogdet = adapted("linalg.slogdet", linalg.slogdet, is_inexact=True)
solve = adapted("linalg.solve", linalg.solve, is_inexact=True)
svd = adapted("linalg.svd", linalg.svd, is_inexact=True)
svdvals = adapted("linalg.svdvals", linalg.svdvals, is_inexact=True)
tensordot = adapted("linalg.tensordot", linalg.tensordot)
tensorinv = adapted("linalg.tensorinv", linalg.tensorinv, is_inexact=True)
tensorsolve = adapted("linalg.tensorsolve", linalg.tensorsolve, is_inexact=True)
trace = adapted("linalg.trace", linalg.trace)
vecdot = adapted("linalg.vecdot", linalg.vecdot)
vector_norm = adapted("linalg.vector_norm", linalg.vector_norm, is_inexact=True)


_matrix_power = adapted("linalg.matrix_power", linalg.matrix_power)


def matrix_power(a: Any, n: int) -> Array:
    """Square matrices to an integer power; of integers an integer if it is not negative."""
    return _matrix_power(a if n >= 0 else inv(a), builtins.abs(n))


_cond = adapted("linalg.cond", linalg.cond, is_inexact=True)


def cond(x: Any, p: Any = None) -> Array:
    """The condition number: norm(x) · norm(x⁻¹), infinite for matrices without an inverse."""
    x = as_array(x)
    found = _cond(x, p)
    is_zero = na.logical_and(na.isnan(found), na.logical_not(na.any(na.isnan(x), axis=(-2, -1))))
    return na.where(is_zero, na.full_like(found, math.inf), found)


_matrix_rank = adapted("linalg.matrix_rank", linalg.matrix_rank, is_inexact=True)


def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Array:
    """The number of singular values above `tol`, or above `rtol` times the largest one."""
    A = as_array(A)
    if tol is None or len(na.shape(A)) < 2:
        return _matrix_rank(A, rtol=rtol)
    least = na.expand_dims(as_array(tol, A), -1)
    return functions.count_nonzero(ufuncs.greater(svdvals(A), least), axis=-1)
