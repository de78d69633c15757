"""Derivatives where a framework would divide by zero, or lose all digits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nestarray as na
from tests.arrays import host, on

pytestmark = pytest.mark.usefixtures("x64")

RNG = np.random.default_rng(3)
SECOND: dict[str, Callable[..., Any]] = {
    "hessian": na.hessian,
    "jacfwd of jacfwd": lambda fn: na.jacfwd(na.jacfwd(fn)),
    "jit of hessian": lambda fn: na.jit(na.hessian(fn)),
}
MATRICES = {
    "zeros": np.zeros((3, 3)),
    "rank 1": np.ones((3, 3)),
    "rank 1 by rounding": np.outer(RNG.normal(size=3), RNG.normal(size=3)),
    "rank 2": np.diag([2.0, 0.0, 3.0]),
    "nearly rank 1": np.diag([2.0, 1e-9, 0.0]),
    "regular": RNG.normal(size=(3, 3)),
}


def _cofactors(x: np.ndarray) -> np.ndarray:
    """∂ det x of 3 × 3 matrices: the cross products of the rows."""
    return np.stack([np.cross(x[1], x[2]), np.cross(x[2], x[0]), np.cross(x[0], x[1])])


def _second(x: np.ndarray) -> np.ndarray:
    """∂² det x: `_cofactors` is quadratic, so its differences are exact."""
    units = np.eye(9).reshape(3, 3, 3, 3)
    columns = [(_cofactors(x + unit) - _cofactors(x - unit)) / 2 for row in units for unit in row]
    return np.stack(columns, axis=-1).reshape(3, 3, 3, 3)


@pytest.mark.one_in(12)
@pytest.mark.parametrize("kind", MATRICES)
def test_gradients_of_a_determinant(kind: str, backend: str) -> None:
    x = on(backend, MATRICES[kind])
    for gradient in (na.grad(na.det), na.jacfwd(na.det)):
        np.testing.assert_allclose(host(gradient(x)), _cofactors(host(x)), atol=1e-14)


@pytest.mark.one_in(16)
@pytest.mark.parametrize("kind", MATRICES)
def test_second_derivatives_of_a_determinant(kind: str, backend: str) -> None:
    x = on(backend, MATRICES[kind])
    np.testing.assert_allclose(host(na.hessian(na.det)(x)), _second(host(x)), atol=1e-13)


@pytest.mark.one_in(8)
def test_determinants_of_a_batch(backend: str) -> None:
    x = np.stack([*MATRICES.values()])
    expected = [_cofactors(matrix) for matrix in x]
    np.testing.assert_allclose(host(na.vmap(na.grad(na.det))(on(backend, x))), expected, atol=1e-13)
    total = na.grad(lambda x: na.sum(na.det(x)))(on(backend, x))
    np.testing.assert_allclose(host(total), expected, atol=1e-13)


@pytest.mark.one_in(12)
@pytest.mark.parametrize("name", SECOND)
def test_a_product_of_a_segment_with_zeros(name: str, backend: str) -> None:
    ids = on(backend, [0, 0, 1, 0], "int64")

    def total(x: Any) -> Any:
        return na.sum(na.segment_prod(x, ids, num_segments=2))

    for x in ([0.0, 2.0, 3.0, 5.0], [0.0, 0.0, 3.0, 5.0]):
        a, b, _, c = x
        expected = [[0, c, 0, b], [c, 0, 0, a], [0, 0, 0, 0], [b, a, 0, 0]]
        np.testing.assert_allclose(host(SECOND[name](total)(on(backend, x))), expected)


def test_a_saturated_exponential(backend: str) -> None:
    x = on(backend, -40.0)
    for order, fn in enumerate((na.grad(na.expm1), na.grad(na.grad(na.expm1)))):
        assert float(fn(x)) == pytest.approx(math.exp(-40.0), rel=1e-12), order


@pytest.mark.one_in(8)
def test_a_pseudo_inverse_of_equal_singular_values(backend: str) -> None:
    x, weights = on(backend, np.eye(2)), on(backend, [[1.0, 2.0], [3.0, 4.0]])
    inverse = lambda x: na.sum(na.pinv(x) * weights)  # noqa: E731
    solution = lambda x: na.sum(na.lstsq(x, na.eye(2, like=x))[0] * weights)  # noqa: E731
    of_inverse = lambda x: na.sum(na.inv(x) * weights)  # noqa: E731
    for function in (inverse, solution):
        np.testing.assert_allclose(host(na.grad(function)(x)), -host(weights))
        expected = host(na.hessian(of_inverse)(x))
        np.testing.assert_allclose(host(na.hessian(function)(x)), expected, atol=1e-14)


@pytest.mark.one_in(8)
def test_values_of_equal_eigenvalues_have_a_gradient_and_vectors_none(backend: str) -> None:
    x = on(backend, np.eye(2))
    for values in (lambda x: na.eigh(x)[0], na.eigvalsh, na.svdvals, lambda x: na.svd(x)[1]):
        square = lambda x, values=values: na.sum(values(x) ** 2)  # noqa: E731
        np.testing.assert_allclose(host(na.grad(square)(x)), 2 * np.eye(2))
        assert np.isnan(host(na.hessian(square)(x))).any()  # the true one, but not 0

    def exponential(x: Any) -> Any:
        values, vectors = na.eigh(x)
        return na.sum(na.matmul(vectors * na.exp(values), na.matrix_transpose(vectors)))

    assert np.isnan(host(na.grad(exponential)(x))).all()
    assert not np.isnan(host(na.grad(exponential)(on(backend, np.diag([1.0, 2.0]))))).any()
