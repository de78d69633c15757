"""Cases of `nestarray.ops.linalg`; the oracles are NumPy and SciPy.

Factors that are determined up to a sign, and derivatives by hermitian matrices, are in
``tests/test_factorizations.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from tests.cases import Case

Rng = np.random.Generator
Args = Callable[[Rng], tuple[Any, ...]]
UP_TO_A_SIGN = "the vectors have no sign of their own; test_factorizations puts them together again"


def drawn(*shapes: tuple[int, ...]) -> Args:
    return lambda rng: tuple(rng.standard_normal(shape) for shape in shapes)


def regular(*shape: int, right: tuple[int, ...] | None = None) -> Args:
    """Matrices with a heavy diagonal, and right sides."""

    def args(rng: Rng) -> tuple[Any, ...]:
        x = rng.standard_normal(shape) + 4 * np.eye(shape[-1])
        return (x,) if right is None else (x, rng.standard_normal(right))

    return args


def hermitian(rng: Rng) -> tuple[Any, ...]:
    x = rng.standard_normal((2, 3, 3))
    return (x @ np.matrix_transpose(x) + np.diag([1.0, 2.0, 4.0]),)


def integers(*shapes: tuple[int, ...]) -> Args:
    return lambda rng: tuple(rng.integers(-5, 5, shape) for shape in shapes)


def exact(op: str, args: Args, reference: Callable[..., Any], id: str, **kwargs: Any) -> Case:
    return Case(op, args, kwargs, reference=reference, differentiable=False, id=id)


def triangular(x1: np.ndarray, x2: np.ndarray, upper: bool = False) -> np.ndarray:
    if x1.ndim == 2:
        return scipy.linalg.solve_triangular(x1, x2, lower=not upper)
    return np.stack([triangular(a, b, upper) for a, b in zip(x1, x2)])


def low_rank(rng: Rng) -> tuple[Any, ...]:
    return (rng.standard_normal((2, 4, 2)) @ rng.standard_normal((2, 2, 3)),)


def low_rank_whole(rng: Rng) -> tuple[Any, ...]:
    """Of whole numbers, so that rounding to float32 leaves the rank as it is."""
    left, right = rng.integers(-4, 5, (2, 4, 2)), rng.integers(-4, 5, (2, 2, 3))
    return ((left @ right).astype("float64"),)


CASES = [
    Case("matrix_transpose", drawn((2, 3, 4)), reference=np.matrix_transpose),
    Case("diagonal", drawn((2, 3, 4)), reference=np.linalg.diagonal),
    Case("diagonal", drawn((3, 4)), {"offset": 2}, reference=np.linalg.diagonal, id="above"),
    Case("diagonal", drawn((3, 4)), {"offset": -1}, reference=np.linalg.diagonal, id="below"),
    Case("trace", drawn((2, 3, 4)), reference=np.linalg.trace),
    Case("trace", drawn((3, 4)), {"offset": 1}, reference=np.linalg.trace, id="above"),
    exact(
        "trace",
        lambda rng: (rng.integers(-9, 9, (3, 3), dtype="int8"),),
        lambda x: np.trace(x, dtype="int64"),
        "int8",
    ),
    Case("outer", drawn((2,), (3,)), reference=np.outer),
    exact("outer", integers((2,), (3,)), np.outer, "int"),
    Case("cross", drawn((2, 3), (2, 3)), reference=np.linalg.cross),
    Case(
        "cross", drawn((4, 3, 1), (3, 2)), {"axis": -2}, reference=np.linalg.cross, id="broadcasts"
    ),
    exact("cross", integers((2, 3), (3,)), np.linalg.cross, "int"),
    Case("kron", drawn((2, 3), (3, 2)), reference=np.kron),
    Case("kron", drawn((2,), (2, 1, 3)), reference=np.kron, id="ranks"),
    exact("kron", integers((2, 2), (3,)), np.kron, "int"),
    Case("vector_norm", drawn((2, 3, 4)), reference=np.linalg.vector_norm),
    Case(
        "vector_norm",
        drawn((2, 3, 4)),
        {"axis": (0, -1), "keepdims": True},
        reference=np.linalg.vector_norm,
        id="two-kept",
    ),
    *(
        Case(
            "vector_norm",
            drawn((4, 3)),
            {"axis": 0, "ord": order},
            reference=np.linalg.vector_norm,
            id=f"order{order}",
        )
        for order in (1, 3, 0.5, -1, np.inf, -np.inf)
    ),
    exact(
        "vector_norm",
        lambda rng: (np.asarray([[0.0, 1.5, 0.0], [2.0, 0.5, 0.0]]),),
        np.linalg.vector_norm,
        "order0",
        axis=1,
        ord=0,
    ),
    exact(
        "vector_norm", integers((3, 2)), lambda x: np.linalg.vector_norm(x.astype("float32")), "int"
    ),
    exact(
        "vector_norm",
        lambda rng: (rng.standard_normal(4) + 1j * rng.standard_normal(4),),
        np.linalg.vector_norm,
        "complex",
    ),
    *(
        Case(
            "matrix_norm",
            drawn((2, 3, 4)),
            {"ord": order},
            reference=np.linalg.matrix_norm,
            id=f"order{order}",
        )
        for order in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)
    ),
    Case(
        "matrix_norm",
        drawn((2, 3, 4)),
        {"ord": 1, "keepdims": True},
        reference=np.linalg.matrix_norm,
        id="kept",
    ),
    Case("det", regular(2, 3, 3), reference=np.linalg.det),
    Case("slogdet", regular(2, 3, 3), reference=np.linalg.slogdet),
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
    Case("pinv", drawn((2, 4, 3)), reference=np.linalg.pinv),
    exact("pinv", low_rank, np.linalg.pinv, "low-rank", rtol=1e-3),
    exact("matrix_rank", low_rank_whole, np.linalg.matrix_rank, ""),
    exact(
        "matrix_rank",
        drawn((3, 3)),
        lambda x, rtol: np.linalg.matrix_rank(x, rtol=rtol),
        "rtol",
        rtol=0.9,
    ),
    *(
        Case(
            "matrix_power",
            lambda rng, n=n: (*regular(2, 3, 3)(rng), n),
            reference=np.linalg.matrix_power,
            differentiable=(0,),
            id=f"n{n}",
        )
        for n in (-2, 1, 2, 5)
    ),
    exact("matrix_power", lambda rng: (*regular(2, 3, 3)(rng), 0), np.linalg.matrix_power, "n0"),
]
