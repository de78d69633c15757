"""Cases of `nestarray.ops.linear_systems`; the oracles are NumPy and SciPy."""

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


def triangular(
    x1: np.ndarray, x2: np.ndarray, upper: bool = False, unit_diagonal: bool = False
) -> np.ndarray:
    if x1.ndim == 2:
        return scipy.linalg.solve_triangular(x1, x2, lower=not upper, unit_diagonal=unit_diagonal)
    return np.stack([triangular(a, b, upper, unit_diagonal) for a, b in zip(x1, x2)])


def low_rank(rng: Rng) -> tuple[Any, ...]:
    return (rng.standard_normal((2, 4, 2)) @ rng.standard_normal((2, 2, 3)),)


def low_rank_whole(rng: Rng) -> tuple[Any, ...]:
    """Of whole numbers, so that rounding to float32 keeps the rank."""
    left, right = rng.integers(-4, 5, (2, 4, 2)), rng.integers(-4, 5, (2, 2, 3))
    return ((left @ right).astype("float64"),)


def complex_system(n: int, *right: int) -> Args:
    def args(rng: Rng) -> tuple[Any, ...]:
        x = rng.standard_normal((n, n)) + 1j * rng.standard_normal((n, n)) + 4 * np.eye(n)
        return x, rng.standard_normal(right) + 1j * rng.standard_normal(right)

    return args


def by_lu(args: Args) -> Args:
    """The factors in place of the matrices."""

    def factored(rng: Rng) -> tuple[Any, ...]:
        x, right = args(rng)
        LU, pivots = scipy.linalg.lu_factor(x)
        return LU, pivots.astype("int64"), right

    return factored


def hermitian_definite(rng: Rng) -> np.ndarray:
    x = rng.standard_normal((2, 3, 3))
    return x @ x.swapaxes(-1, -2) + 3 * np.eye(3)


def swapping(rng: Rng) -> tuple[Any, ...]:
    """A system whose rows are exchanged when it is factored."""
    return np.flip(4 * np.eye(4) + rng.standard_normal((4, 4)), 0), rng.standard_normal((4, 2))


def lu_solve(LU: np.ndarray, pivots: np.ndarray, right: np.ndarray) -> np.ndarray:
    return scipy.linalg.lu_solve((LU, pivots), right)


def by_cholesky(*right: int, upper: bool = False) -> Args:
    def args(rng: Rng) -> tuple[Any, ...]:
        (x,) = hermitian(rng)
        # with something in the triangle that is not to be looked at
        factor = np.linalg.cholesky(x, upper=upper)
        other = np.ones((3, 3)) - (np.triu(np.ones((3, 3))) if upper else np.tril(np.ones((3, 3))))
        return factor + other, rng.standard_normal(right)

    return args


def cho_solve(x: np.ndarray, right: np.ndarray, upper: bool = False) -> np.ndarray:
    if right.ndim == 1:
        return cho_solve(x, right[:, None], upper)[..., 0]
    right = np.broadcast_to(right, (len(x), *right.shape[-2:]))
    return np.stack([scipy.linalg.cho_solve((a, not upper), b) for a, b in zip(x, right)])


def least_squares(x: np.ndarray, right: np.ndarray, rtol: float | None = None) -> Any:
    """NumPy's, of a stack, with the residuals that it leaves out."""
    if x.ndim == 2:
        solution, _, rank, values = np.linalg.lstsq(x, right, rcond=rtol)
        residuals = (np.abs(right - x @ solution) ** 2).sum(0)
        return solution, residuals, np.asarray(rank, "int64"), values
    return tuple(np.stack(parts) for parts in zip(*map(least_squares, x, right)))


CASES = [
    Case("inv", regular(2, 3, 3), reference=np.linalg.inv),
    Case("solve", regular(3, 3, right=(3,)), reference=np.linalg.solve),
    Case("solve", regular(2, 3, 3, right=(2, 3, 4)), reference=np.linalg.solve, id="batch"),
    Case("solve", regular(3, 3, 3, right=(3, 3)), reference=np.linalg.solve, id="matrix-for-all"),
    Case("solve", regular(3, 3, right=(2, 3, 1)), reference=np.linalg.solve, id="one-matrix"),
    Case("solve", regular(2, 3, 3, right=(3,)), reference=np.linalg.solve, id="vector-for-all"),
    Case("solve_triangular", regular(3, 3, right=(3,)), reference=triangular),
    Case(
        "solve_triangular",
        regular(2, 3, 3, right=(2, 3, 2)),
        {"upper": True},
        reference=triangular,
        id="upper",
    ),
    Case(
        "solve_triangular",
        regular(3, 3, right=(3,)),
        {"unit_diagonal": True},
        reference=triangular,
        id="unit",
    ),
    Case(
        "solve_triangular",
        regular(2, 3, 3, right=(2, 3, 2)),
        {"upper": True, "unit_diagonal": True},
        reference=triangular,
        id="unit-upper",
    ),
    Case("pinv", drawn((2, 4, 3)), reference=np.linalg.pinv),
    exact("pinv", lambda rng: complex_system(3, 3)(rng)[:1], np.linalg.pinv, "complex"),
    exact("pinv", low_rank, np.linalg.pinv, "low-rank", rtol=1e-3),
    exact("matrix_rank", low_rank_whole, np.linalg.matrix_rank, ""),
    exact(
        "pinv",
        drawn((2, 4, 3)),
        lambda x, atol: torch.linalg.pinv(torch.as_tensor(x), atol=atol).numpy(),
        "atol",
        atol=0.8,
    ),
    exact(
        "matrix_rank",
        drawn((2, 4, 3)),
        lambda x, **tol: torch.linalg.matrix_rank(torch.as_tensor(x), **tol).numpy(),
        "atol",
        atol=1.2,
        rtol=0.1,
    ),
    exact(
        "matrix_rank",
        drawn((3, 3)),
        lambda x, rtol: np.linalg.matrix_rank(x, rtol=rtol),
        "rtol",
        rtol=0.9,
    ),
    Case("lstsq", drawn((5, 3), (5,)), reference=least_squares),
    Case("lstsq", drawn((2, 5, 3), (2, 5, 2)), reference=least_squares, id="batch"),
    Case("lstsq", drawn((2, 4), (2, 3)), reference=least_squares, id="wide"),
    exact(
        "lstsq",
        lambda rng: (low_rank(rng)[0][0], rng.standard_normal(4)),
        least_squares,
        "low-rank",
        rtol=1e-3,
    ),
    exact("lstsq", complex_system(3, 3), least_squares, "complex"),
    Case("lu_solve", by_lu(swapping), reference=lu_solve, differentiable=(0, 2)),
    Case(
        "lu_solve",
        by_lu(regular(3, 3, right=(3,))),
        reference=lu_solve,
        differentiable=(0, 2),
        id="vector",
    ),
    exact("lu_solve", by_lu(complex_system(3, 3, 2)), lu_solve, "complex"),
    Case("cho_solve", by_cholesky(2, 3, 2), reference=cho_solve),
    Case("cho_solve", by_cholesky(3, upper=True), {"upper": True}, reference=cho_solve, id="upper"),
    Case(
        "tensorsolve",
        lambda rng: (
            rng.standard_normal((2, 3, 6)) + 3 * np.eye(6).reshape(2, 3, 6),
            *drawn((2, 3))(rng),
        ),
        reference=np.linalg.tensorsolve,
    ),
    Case(
        "tensorsolve",
        lambda rng: (rng.standard_normal((2, 6, 3)), *drawn((6,))(rng)),
        {"axes": (0, 2)},
        reference=np.linalg.tensorsolve,
        id="axes",
    ),
    Case(
        "tensorinv",
        lambda rng: (rng.standard_normal((6, 2, 3)) + 3 * np.eye(6).reshape(6, 2, 3),),
        {"ind": 1},
        reference=np.linalg.tensorinv,
    ),
    Case(
        "cholesky_inverse",
        lambda rng: (np.linalg.cholesky(hermitian_definite(rng)),),
        reference=lambda x: np.linalg.inv(x @ x.swapaxes(-1, -2)),
    ),
    Case(
        "cholesky_inverse",
        lambda rng: (np.linalg.cholesky(hermitian_definite(rng)).swapaxes(-1, -2),),
        {"upper": True},
        reference=lambda x, upper: np.linalg.inv(x.swapaxes(-1, -2) @ x),
        id="upper",
    ),
]
