"""Cases of `nestarray.ops.factorizations`; the oracles are NumPy and SciPy.

Factors that are determined up to a sign, and derivatives by hermitian matrices, are in
``tests/ops/test_factorizations.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import torch

from tests.cases import Case
from tests.cases.linalg import drawn, exact, hermitian, regular

Rng = np.random.Generator
Args = Callable[[Rng], tuple[Any, ...]]

UP_TO_A_SIGN = "the vectors have no sign of their own; test_factorizations puts them together again"


def complex_matrices(*shape: int) -> Args:
    return lambda rng: (rng.standard_normal(shape) + 1j * rng.standard_normal(shape),)


def lu_factor(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """SciPy's, of a stack, with pivots as int64."""
    if x.ndim == 2:
        LU, pivots = scipy.linalg.lu_factor(x)
        return LU, pivots.astype("int64")
    LU, pivots = zip(*(lu_factor(matrix) for matrix in x))
    return np.stack(LU), np.stack(pivots)


def polar(x: np.ndarray, side: str = "right") -> tuple[np.ndarray, np.ndarray]:
    if x.ndim == 2:
        return scipy.linalg.polar(x, side)
    U, P = zip(*(polar(matrix, side) for matrix in x))
    return np.stack(U), np.stack(P)


def reflections(rng: Rng) -> tuple[Any, ...]:
    return rng.standard_normal((2, 4, 3)), rng.uniform(0.5, 1.5, (2, 3))


def complex_reflections(rng: Rng) -> tuple[Any, ...]:
    (x,), (tau,) = complex_matrices(4, 3)(rng), complex_matrices(2)(rng)
    return x, tau


def householder(x: np.ndarray, tau: np.ndarray) -> np.ndarray:
    return torch.linalg.householder_product(torch.from_numpy(x), torch.from_numpy(tau)).numpy()


CASES = [
    Case("cholesky", hermitian, reference=np.linalg.cholesky, differentiable=False),
    Case(
        "cholesky",
        hermitian,
        {"upper": True},
        reference=np.linalg.cholesky,
        differentiable=False,
        id="upper",
    ),
    Case("svdvals", drawn((2, 4, 3)), reference=np.linalg.svdvals),
    Case("eigvalsh", hermitian, reference=np.linalg.eigvalsh, differentiable=False),
    Case(
        "qr",
        drawn((2, 4, 3)),
        reference=np.linalg.qr,
        differentiable=False,
        backends=("numpy",),
        reason=UP_TO_A_SIGN,
    ),
    Case(
        "svd",
        drawn((2, 4, 3)),
        {"full_matrices": False},
        reference=np.linalg.svd,
        differentiable=False,
        backends=("numpy",),
        reason=UP_TO_A_SIGN,
    ),
    Case(
        "eigh",
        hermitian,
        reference=np.linalg.eigh,
        differentiable=False,
        backends=("numpy",),
        reason=UP_TO_A_SIGN,
    ),
    Case(
        "eig",
        regular(3, 3),
        reference=np.linalg.eig,
        differentiable=False,
        backends=("numpy",),
        reason=UP_TO_A_SIGN,
        dtypes=("float64",),
        dtype="complex128",
    ),
    exact(
        "eigvals",
        lambda rng: (np.triu(rng.standard_normal((3, 3))),),
        lambda x: np.linalg.eigvals(x).astype(complex),
        "triangle",
    ),
    Case("lu_factor", drawn((2, 4, 4)), reference=lu_factor),
    Case("lu_factor", drawn((4, 3)), reference=lu_factor, id="tall"),
    Case("lu_factor", drawn((2, 3)), reference=lu_factor, id="wide"),
    exact("lu_factor", complex_matrices(3, 3), lu_factor, "complex"),
    Case("lu", drawn((2, 4, 4)), reference=scipy.linalg.lu),
    Case("lu", drawn((3, 2)), reference=scipy.linalg.lu, id="tall"),
    exact("lu", complex_matrices(3, 4), scipy.linalg.lu, "complex"),
    Case("polar_decomposition", drawn((2, 4, 3)), reference=polar),
    Case("polar_decomposition", drawn((3, 3)), {"side": "left"}, reference=polar, id="left"),
    exact("polar_decomposition", complex_matrices(3, 3), polar, "complex"),
    Case("householder_product", reflections, reference=householder),
    exact("householder_product", complex_reflections, householder, "complex-fewer"),
]
