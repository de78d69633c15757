"""Linear algebra.

Upstream: https://numpy.org/doc/stable/reference/routines.linalg.html
"""

from __future__ import annotations

import builtins
from functools import partial
from typing import Any

from nestarray.errors import LinearAlgebraError as LinAlgError
from nestarray.frontends.jax.numpy import linalg
from nestarray.frontends.numpy.adaptation import adapted
from nestarray.typing import Array

__all__ = [
    "LinAlgError",
    "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv",
    "lstsq", "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose",
    "multi_dot", "norm", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals",
    "tensordot", "tensorinv", "tensorsolve", "trace", "vecdot", "vector_norm",
]  # fmt: skip

cholesky = adapted("linalg.cholesky", linalg.cholesky, is_inexact=True)
cond = adapted("linalg.cond", linalg.cond, is_inexact=True)
cross = adapted("linalg.cross", linalg.cross)
det = adapted("linalg.det", linalg.det, is_inexact=True)
diagonal = adapted("linalg.diagonal", linalg.diagonal)
eig = adapted("linalg.eig", linalg.eig, is_inexact=True)
eigh = adapted("linalg.eigh", linalg.eigh, is_inexact=True)
eigvals = adapted("linalg.eigvals", linalg.eigvals, is_inexact=True)
eigvalsh = adapted("linalg.eigvalsh", linalg.eigvalsh, is_inexact=True)
inv = adapted("linalg.inv", linalg.inv, is_inexact=True)
lstsq = adapted("linalg.lstsq", partial(linalg.lstsq, numpy_resid=True), is_inexact=True)
matmul = adapted("linalg.matmul", linalg.matmul)
matrix_norm = adapted("linalg.matrix_norm", linalg.matrix_norm, is_inexact=True)
matrix_rank = adapted("linalg.matrix_rank", linalg.matrix_rank, is_inexact=True)
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
