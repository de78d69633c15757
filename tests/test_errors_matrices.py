"""What linear algebra and distances say about arguments that they cannot take, on every backend."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import backends
from nestarray.errors import ArgumentError, DtypeError, IndexingError, ShapeError

X = np.arange(6, dtype="float32").reshape(2, 3)

ERRORS: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    *(
        (
            lambda x, op=op: op(x),
            ShapeError,
            f"{op.__name__}: x: got shape (2, 3), expected square matrices (*batch, n, n)",
        )
        for op in (na.expm, na.sqrtm)
    ),
    *(
        (
            lambda x, n=n: na.matrix_power(x, n),
            ShapeError,
            "matrix_power: x: got shape (2, 3), expected square matrices (*batch, n, n)",
        )
        for n in (-1, 0, 1, 2)
    ),
    *(
        (
            lambda x, unit=unit: na.solve_triangular(x[:1], x[0], unit_diagonal=unit),
            ShapeError,
            "solve_triangular: x1: got shape (1, 3), expected square matrices (*batch, n, n)",
        )
        for unit in (False, True)
    ),
    (
        lambda x: na.vector_norm(x[0, 0], axis=0),
        IndexingError,
        "vector_norm: axis: got 0 for an array of 0 dimensions, expected 0 <= axis < 0",
    ),
    (
        lambda x: na.cross(x[None], x[0], axis=99),
        IndexingError,
        "cross: axis: got 99 for an array of 3 dimensions, expected -3 <= axis < 3",
    ),
    *(
        (
            lambda x, op=op: op(x[0]),
            ShapeError,
            f"{op.__name__}: x: got shape (3,), expected matrices (*batch, m, n)",
        )
        for op in (na.lu_factor, na.lu, na.polar_decomposition, na.matrix_cond)
    ),
    (
        lambda x: na.matrix_cond(x, p=3),
        ArgumentError,
        "matrix_cond: p: got 3, expected None, 'fro', 'nuc', 1, -1, 2, -2, inf or -inf",
    ),
    (
        lambda x: na.matrix_cond(x, p=1),
        ShapeError,
        "matrix_cond: x: got shape (2, 3), expected square matrices (*batch, n, n)",
    ),
    (
        lambda x: na.polar_decomposition(x, side="up"),
        ArgumentError,
        "polar_decomposition: side: got 'up', expected 'right' or 'left'",
    ),
    (
        lambda x: na.householder_product(x, x[0]),
        ShapeError,
        "householder_product: x: got 2 rows and 3 columns, expected at most 2 columns",
    ),
    (
        lambda x: na.householder_product(na.matrix_transpose(x), x[0]),
        ShapeError,
        "householder_product: tau: got the shape (3,) for x of shape (3, 2), "
        "expected (*batch, k) with k at most 2",
    ),
    (
        lambda x: na.lstsq(x[0], x[0]),
        ShapeError,
        "lstsq: x1: got shape (3,), expected matrices (*batch, m, n)",
    ),
    *(
        (
            call,
            ShapeError,
            f"{name}: x2: got the shape (2, 3), expected (3,) or (*batch, 3, k) "
            "for matrices of 3 rows",
        )
        for name, call in [
            ("lstsq", lambda x: na.lstsq(na.matrix_transpose(x), x)),
            ("cho_solve", lambda x: na.cho_solve(na.eye(3, like=x), x)),
            ("lu_solve", lambda x: na.lu_solve(na.eye(3, like=x), na.arange(3, like=x), x)),
        ]
    ),
    (
        lambda x: na.cho_solve(x, x),
        ShapeError,
        "cho_solve: x1: got shape (2, 3), expected square matrices (*batch, n, n)",
    ),
    (
        lambda x: na.lu_solve(na.eye(3, like=x), na.arange(2, like=x), x[0]),
        ShapeError,
        "lu_solve: pivots: got the shape (2,), expected (3,)",
    ),
    (
        lambda x: na.tensorsolve(x, x[:, 0]),
        ShapeError,
        "tensorsolve: x1: got the axes (2,) and (3,) for x2 of shape (2,), "
        "expected those of x2 and as many elements in the others",
    ),
    (
        lambda x: na.tensorinv(x, ind=1),
        ShapeError,
        "tensorinv: ind: got 1 for the shape (2, 3), which makes 2 rows and 3 columns, "
        "expected as many of both",
    ),
    (
        lambda x: na.multi_dot([x, x[0], x]),
        ShapeError,
        "multi_dot: array 1: got the shape (3,), expected a matrix",
    ),
    (
        lambda x: na.multi_dot([x, x]),
        ShapeError,
        "multi_dot: arrays 0 and 1: got the shapes (2, 3) and (2, 3), "
        "expected the rows of one to be the columns of the other",
    ),
    *(
        (call, ArgumentError, f"{name}: p: got -1, expected a number from 0 to inf")
        for name, call in [
            ("cdist", lambda x: na.cdist(x, x, p=-1)),
            ("pdist", lambda x: na.pdist(x, p=-1)),
            ("pairwise_distance", lambda x: na.pairwise_distance(x, x, p=-1)),
        ]
    ),
    (
        lambda x: na.cdist(x, x[0]),
        ShapeError,
        "cdist: x2: got the shape (3,), expected (*batch, points, coordinates)",
    ),
    (
        lambda x: na.cdist(x, x[:, :2]),
        ShapeError,
        "cdist: got points of 3 and of 2 coordinates, expected equally many",
    ),
    (
        lambda x: na.pdist(x[0]),
        ShapeError,
        "pdist: x: got the shape (3,), expected (points, coordinates)",
    ),
    (
        lambda x: na.pdist(na.multiply(x, 1j)),
        DtypeError,
        "pdist: x: got complex64, expected real numbers; "
        "stack real and imaginary parts as coordinates",
    ),
]


@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_error(
    backend: str, call: Callable[[Any], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        call(backends.core(backend).from_numpy(X))


def test_no_matrices() -> None:
    with pytest.raises(
        ArgumentError, match=r"^multi_dot: arrays: got none, expected one at least$"
    ):
        na.multi_dot([])


@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
@pytest.mark.parametrize("p", [0.5, 1, 2, 3, float("inf")])
def test_derivative_of_no_distance_is_a_number(backend: str, p: float) -> None:
    from tests.derivatives import GRADIENTS, SUM

    points = backends.core(backend).from_numpy(X[:1])
    (found,) = GRADIENTS[backend](lambda x: SUM[backend](na.cdist(x, points, p=p)), [points])
    assert np.asarray(found).tolist() == [[0.0, 0.0, 0.0]]
