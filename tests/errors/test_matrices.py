"""Refused calls of functions that compute with matrices and vectors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

import nestarray
from nestarray.errors import (
    ArgumentError,
    DtypeError,
    IndexingError,
    LinearAlgebraError,
    ShapeError,
)
from tests.arrays import host, on
from tests.errors.checks import Row, check_refused, refused

na: Any = nestarray  # whose signatures forbid these calls

ROWS: list[Row] = [
    (
        lambda x: na.matmul(x, x),
        ShapeError,
        "matmul: got shapes (2, 3) and (2, 3): the last axis of x1 has 3 elements, expected 2, as the second last axis of x2",
    ),
    (
        lambda x, t: na.linear(x, t),
        ShapeError,
        "linear: got x of shape (2, 3) and weight of shape (3, 2), expected x (*batch, in) and weight (out, in) or (in,)",
    ),
    (
        lambda x: na.tensordot(x, x, axes=1),
        ShapeError,
        "tensordot: axes: got 1 for shapes (2, 3) and (2, 3): lengths (3,) of x1 against (2,) of x2, expected equal ones",
    ),
    (
        lambda x: na.einsum("ij,jk->ik", x, x),
        ShapeError,
        "einsum: operands[1]: got shape (2, 3) for 'jk': j is 2, but 3 before",
    ),
    (
        lambda x: na.inv(x),
        ShapeError,
        "inv: x: got shape (2, 3), expected square matrices (*batch, n, n)",
    ),
    (
        lambda x: na.cholesky(x),
        ShapeError,
        "cholesky: x: got shape (2, 3), expected square matrices (*batch, n, n)",
    ),
    (
        lambda x, t: na.solve(x @ t, t),
        ShapeError,
        "solve: x2: got shape (3, 2), expected 2 rows, like x1 of shape (2, 2)",
    ),
    (lambda x: na.outer(x, x), ShapeError, "outer: got the shape (2, 3), expected one dimension"),
    (
        lambda x: na.vecdot.op.body(x, na.getitem(x, (0, [0, 1]))),
        ShapeError,
        "vecdot: got vectors of 3 and of 2 elements along axis -1, expected equal lengths",
    ),
    (
        lambda x: na.cross.op.body(x, x, axis=0),
        ShapeError,
        "cross: got vectors of length 2 along axis 0, expected 3",
    ),
    (
        lambda x: na.matrix_norm.op.body(x, ord=3),
        ArgumentError,
        "matrix_norm: ord: got 3, expected 'fro', 'nuc', 1, -1, 2, -2, inf or -inf",
    ),
    (
        lambda x: na.tensordot(x, x, axes=[(1, 0), (0, 1)]),
        ShapeError,
        "tensordot: axes: got [(1, 0), (0, 1)] for shapes (2, 3) and (2, 3): lengths (3, 2) of x1 against (2, 3) of x2, expected equal ones",
    ),
    (
        lambda x: na.tensordot(na.reshape(x, (3, 2)), x, axes=2),
        ShapeError,
        "tensordot: axes: got 2 for shapes (3, 2) and (2, 3): lengths (3, 2) of x1 against (2, 3) of x2, expected equal ones",
    ),
    (
        lambda x: na.tensordot(1.5, x, axes=((0,), (1,))),
        IndexingError,
        "tensordot: axes: got 0 for an array of 0 dimensions, expected 0 <= axis < 0",
    ),
    (
        lambda x: na.diag(na.expand_dims(x, 0)),
        ShapeError,
        "diag: x: got the shape (1, 2, 3), expected one or two dimensions; diagonal takes batches of matrices",
    ),
    (
        lambda x: na.fill_diagonal(na.expand_dims(x, 0), 1.0),
        ShapeError,
        "fill_diagonal: x: got the shape (1, 2, 3), expected a matrix, or more dimensions, all of one length",
    ),
    (
        lambda x: na.vander(x, N=-1),
        ShapeError,
        "vander: N: got -1, expected a number that is not negative",
    ),
    (
        lambda x: na.vander(na.getitem(x, (0, 0))),
        ShapeError,
        "vander: x: got the shape (), expected at least one dimension",
    ),
    (
        lambda x: na.block_diag([x, na.expand_dims(x, 0)]),
        ShapeError,
        "block_diag: arrays: got the shape (1, 2, 3) at place 1, expected at most two dimensions",
    ),
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
        "householder_product: tau: got the shape (3,) for x of shape (3, 2), expected (*batch, k) with k at most 2",
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
            f"{name}: x2: got the shape (2, 3), expected (3,) or (*batch, 3, k) for matrices of 3 rows",
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
        "tensorsolve: x1: got the axes (2,) and (3,) for x2 of shape (2,), expected those of x2 and as many elements in the others",
    ),
    (
        lambda x: na.tensorinv(x, ind=1),
        ShapeError,
        "tensorinv: ind: got 1 for the shape (2, 3), which makes 2 rows and 3 columns, expected equally many of both",
    ),
    (
        lambda x: na.multi_dot([x, x[0], x]),
        ShapeError,
        "multi_dot: array 1: got the shape (3,), expected a matrix",
    ),
    (
        lambda x: na.multi_dot([x, x]),
        ShapeError,
        "multi_dot: arrays 0 and 1: got the shapes (2, 3) and (2, 3), expected the rows of one to be the columns of the other",
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
        "pdist: x: got complex64, expected real numbers; stack real and imaginary parts as coordinates",
    ),
    (
        lambda array, x: na.tensordot(x[:, :1], array(np.ones((3, 2), np.float32)), axes=1),
        ShapeError,
        "tensordot: axes: got 1 for shapes (2, 1) and (3, 2): lengths (1,) of x1 against (3,) of x2, expected equal ones",
    ),
    (
        lambda array, x: na.linear(x, x[:1], array(np.zeros(4, np.float32))),
        ShapeError,
        "linear: bias: got shape (4,), expected (1,)",
    ),
    (
        lambda array, x: na.linear(x, x, array(np.zeros((1, 1, 2), np.float32))),
        ShapeError,
        "linear: bias: got shape (1, 1, 2), expected (2,)",
    ),
    (
        lambda array, x: na.linear(x, x, array(np.zeros((2, 1), np.float32))),
        ShapeError,
        "linear: bias: got shape (2, 1), expected (2,)",
    ),
    (
        lambda array, x: na.linear(x, x[0], array(np.zeros(2, np.float32))),
        ShapeError,
        "linear: bias: got shape (2,), expected ()",
    ),
    (
        lambda x: na.cross(x, x[:, :1]),
        ShapeError,
        "cross: got vectors of length 1 along axis -1, expected 3",
    ),
    (
        lambda ones: na.diagonal(ones(3, 4), offset=True),
        ArgumentError,
        "diagonal: offset: got True, expected an int",
    ),
    (
        lambda ones: na.matrix_power(ones(3, 4)[:, :3], True),
        ArgumentError,
        "matrix_power: n: got True, expected an int",
    ),
    (
        lambda ones: na.tensordot(ones(3, 4), ones(3, 4), axes=True),
        ArgumentError,
        "tensordot: axes: got True, expected a number of axes, or the axes of each array",
    ),
    (
        lambda ones: na.tensordot(ones(3, 19), ones(3, 19), axes=((True,), (1,))),
        ArgumentError,
        "tensordot: axes: got True, expected an int",
    ),
    (
        lambda ones: na.cholesky(ones(2, 3, 3, 1)),
        ShapeError,
        "cholesky: x: got shape (2, 3, 3, 1), expected square matrices (*batch, n, n)",
    ),
    (
        lambda ones: na.matrix_cond(ones(2, 4, 0)),
        ShapeError,
        "matrix_cond: x: got shape (2, 4, 0), expected nonempty matrices",
    ),
    (
        lambda zeros: na.linear(zeros(2, 3), zeros(2, 3, 3)),
        ShapeError,
        "linear: got x of shape (2, 3) and weight of shape (2, 3, 3), expected x (*batch, in) and weight (out, in) or (in,)",
    ),
]


@refused(ROWS)
def test_refused(row: Row, backend: str) -> None:
    check_refused(row, backend)


def test_multi_dot_of_nothing() -> None:
    with pytest.raises(
        ArgumentError, match=r"^multi_dot: arrays: got none, expected at least one$"
    ):
        na.multi_dot([])


SINGULAR = np.asarray([[1, 2], [2, 4]], "float32")
#: (function of a matrix, the matrix, the message, the frameworks that detect it).
BAD_VALUES: dict[str, tuple[Callable[[Any], Any], np.ndarray, str, str]] = {
    "inv": (na.inv, SINGULAR, "singular", "numpy torch tensorflow"),
    "solve": (lambda x: na.solve(x, x), SINGULAR, "singular", "numpy torch tensorflow"),
    "matrix_power": (
        lambda x: na.matrix_power(x, -1),
        SINGULAR,
        "singular",
        "numpy torch tensorflow",
    ),
    "solve_triangular": (
        lambda x: na.solve_triangular(x, x),
        np.zeros((2, 2), "float32"),
        "singular",
        "numpy",
    ),
    "cholesky": (na.cholesky, -np.eye(2, dtype="float32"), "not positive definite", "numpy torch"),
    "svd": (lambda x: na.svd(x).S, SINGULAR * np.nan, "infinities or NaN", "numpy torch"),
    "eig": (
        lambda x: na.eigvals(x),
        SINGULAR * np.nan,
        "infinities or NaN",
        "numpy torch tensorflow",
    ),
}


@pytest.mark.parametrize("name", BAD_VALUES)
def test_values_of_a_matrix(name: str, backend: str) -> None:
    function, matrix, message, detecting = BAD_VALUES[name]
    if backend in detecting.split():
        with pytest.raises(LinearAlgebraError, match=message):
            function(on(backend, matrix))
        with pytest.raises(LinearAlgebraError, match=message):
            function(na.Container(a=on(backend, matrix)))
    else:
        assert not np.isfinite(host(function(on(backend, matrix)))).all()


@pytest.mark.parametrize("backend", ["jax", "torch"])
@pytest.mark.parametrize(
    ("function", "corner"),
    [(na.cholesky, 2.0), (na.inv, 1.0), (lambda x: na.solve(x, na.ones_like(x)), 1.0)],
)
def test_compiled_code_returns_nan_for_the_matrix_at_fault(
    function: Any, corner: float, backend: str
) -> None:
    """JAX has infinities for singular matrices."""
    x = on(backend, np.float32([[[1.0, corner], [corner, 1.0]], [[2.0, 0.0], [0.0, 2.0]]]))
    compiled = na.jit if backend == "jax" else partial(torch.compile, backend="eager")
    result = na.to_backend(compiled(function)(x), "numpy")
    assert not np.isfinite(result[0]).all()
    assert np.isfinite(result[1]).all()
