"""Cases of `nestarray.ops.linalg`; the oracles are NumPy and SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from tests.cases import Case

Rng = np.random.Generator
Args = Callable[[Rng], tuple[Any, ...]]


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


def each(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, which takes one matrix, of a stack."""

    def call(x: np.ndarray, **kwargs: Any) -> np.ndarray:
        if x.ndim == 2:
            return function(x, **kwargs)
        return np.stack([call(matrix, **kwargs) for matrix in x])

    return call


def chain(*shapes: tuple[int, ...]) -> Args:
    return lambda rng: (list(drawn(*shapes)(rng)),)


def gram(rng: np.random.Generator, n: int, rank: int) -> np.ndarray:
    """A matrix of whole numbers, symmetric, without negative eigenvalues, of this rank."""
    x = rng.integers(-3, 4, (n, rank)).astype(float)
    return x @ x.T


def root_of_hermitian(x: np.ndarray) -> np.ndarray:
    """The root by the eigenvectors; SciPy's has half the digits where x is singular."""
    values, vectors = np.linalg.eigh(x)
    values[values < 1e-12 * values.max()] = 0.0
    return (vectors * np.sqrt(values)) @ vectors.T


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
        for order in ("fro", None, "nuc", 1, -1, 2, -2, np.inf, -np.inf)
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
    Case("expm", drawn((2, 3, 3)), reference=scipy.linalg.expm),
    Case(
        "expm",
        lambda rng: (3 * rng.standard_normal((3, 3)),),
        reference=scipy.linalg.expm,
        id="large",
    ),
    exact(
        "expm",
        lambda rng: (1j * rng.standard_normal((3, 3)),),
        scipy.linalg.expm,
        "complex",
    ),
    Case("sqrtm", regular(2, 3, 3), reference=each(scipy.linalg.sqrtm)),
    exact(
        "sqrtm",
        lambda rng: (np.diag([-4.0, 9.0]) + 1j * rng.standard_normal((2, 2)),),
        scipy.linalg.sqrtm,
        "complex",
    ),
    exact(
        "sqrtm",
        lambda rng: (np.diag([-1.0, 4.0]),),
        lambda x: np.full((2, 2), np.nan),
        "no-real-root",
    ),
    exact("sqrtm", lambda rng: (np.diag([0.0, 9.0]),), np.sqrt, "singular"),
    exact("sqrtm", lambda rng: (np.zeros((2, 3, 3)),), np.zeros_like, "zeros"),
    exact(
        "sqrtm",
        lambda rng: (gram(rng, 6, 3),),
        root_of_hermitian,
        "half-the-rank",
    ),
    Case("multi_dot", chain((2, 5), (5, 1), (1, 4), (4, 3)), reference=np.linalg.multi_dot),
    Case("multi_dot", chain((3,), (3, 4), (4,)), reference=np.linalg.multi_dot, id="vectors"),
    *(
        Case("matrix_cond", regular(2, 3, 3), {"p": p}, reference=np.linalg.cond, id=f"p{p}")
        for p in (None, -2, "fro", "nuc", 1, np.inf)
    ),
    Case("matrix_cond", drawn((4, 3)), reference=np.linalg.cond, id="tall"),
    exact("matrix_cond", lambda rng: (np.zeros((2, 2)),), lambda x: np.asarray(np.inf), "singular"),
]
