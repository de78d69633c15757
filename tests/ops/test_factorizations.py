"""Factors that are determined up to a sign: put together again, and their derivatives.

Backends are compared by invariants of the signs: the product of the factors, orthonormality,
values, and derivatives of functions of these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import torch

import nestarray as na
from nestarray import Container, backends
from nestarray.errors import LinearAlgebraError
from nestarray.testing import assert_close
from tests.arrays import host, on
from tests.derivatives import AUTODIFF, GRADIENTS, SUM

RNG = np.random.default_rng(0)
TALL = RNG.standard_normal((2, 4, 3))
WIDE = RNG.standard_normal((3, 4))
SQUARE = RNG.standard_normal((2, 3, 3))
POSITIVE = SQUARE @ SQUARE.swapaxes(-1, -2) + np.diag([1.0, 2.0, 4.0])

pytestmark = pytest.mark.usefixtures("x64")


def identity_like(x: np.ndarray) -> np.ndarray:
    return np.broadcast_to(np.eye(x.shape[-1]), (*x.shape[:-2], x.shape[-1], x.shape[-1]))


def adjoint(x: np.ndarray) -> np.ndarray:
    return np.conj(x.swapaxes(-1, -2))


def scipy_pivots(x: np.ndarray) -> list[int]:
    found: Any = scipy.linalg.qr(x, pivoting=True)
    return found[2].tolist()


@pytest.mark.parametrize("x", [TALL, WIDE, SQUARE], ids=["tall", "wide", "square"])
@pytest.mark.parametrize("mode", ["reduced", "complete"])
def test_qr(backend: str, x: np.ndarray, mode: str) -> None:
    Q, R = map(host, na.qr(on(backend, x), mode=mode))
    m, n = x.shape[-2:]
    k = m if mode == "complete" else min(m, n)
    assert (Q.shape[-2:], R.shape[-2:]) == ((m, k), (k, n))
    assert_close(Q @ R, x)
    assert_close(adjoint(Q) @ Q, identity_like(Q))
    assert_close(R, np.triu(R))


@pytest.mark.parametrize(
    "x", [TALL, WIDE, SQUARE + 1j * TALL[:, :3]], ids=["tall", "wide", "complex"]
)
def test_qr_with_pivoting(backend: str, x: np.ndarray) -> None:
    def factor(x: Any) -> tuple[Any, ...]:
        return tuple(na.qr(x, pivoting=True))

    # torch.compile takes 20 s for loops like this one
    ways = (factor, na.jit(factor)) if backend in ("jax", "tensorflow") else (factor,)
    for function in ways:
        Q, R, P = map(host, function(on(backend, x)))
        assert_close(Q @ R, np.take_along_axis(x, P[..., None, :], axis=-1))
        assert_close(adjoint(Q) @ Q, identity_like(Q).astype(Q.dtype))
        size = np.abs(np.diagonal(R, axis1=-2, axis2=-1))
        assert (np.diff(size) <= 0).all()
        for matrix, order in zip(x.reshape(-1, *x.shape[-2:]), P.reshape(-1, P.shape[-1])):
            assert order.tolist() == scipy_pivots(matrix)


def test_pivots_say_the_rank(backend: str) -> None:
    x = np.outer([1.0, 2.0, 3.0, 4.0], [1.0, 3.0, -2.0]) + np.outer([1.0, 0, 0, 1.0], [0, 1.0, 1.0])
    _, R, P = map(host, na.qr(on(backend, x), pivoting=True))
    assert P.tolist() == scipy_pivots(x)
    assert abs(R[2, 2]) < 1e-12 < abs(R[1, 1])


@pytest.mark.parametrize(
    "x", [TALL, WIDE, SQUARE + 1j * TALL[:, :3]], ids=["tall", "wide", "complex"]
)
@pytest.mark.parametrize("full_matrices", [True, False])
def test_svd(backend: str, x: np.ndarray, full_matrices: bool) -> None:
    result = na.svd(on(backend, x), full_matrices=full_matrices)
    U, S, Vh = map(host, result)
    m, n = x.shape[-2:]
    k = min(m, n)
    assert (U.shape[-1], Vh.shape[-2]) == ((m, n) if full_matrices else (k, k))
    assert_close(U[..., :k] * S[..., None, :] @ Vh[..., :k, :], x)
    assert_close(adjoint(U) @ U, identity_like(U), check_dtype=False)
    assert_close(Vh @ adjoint(Vh), identity_like(adjoint(Vh)), check_dtype=False)
    assert_close(S, np.linalg.svdvals(x))
    assert result._fields == ("U", "S", "Vh")


def test_eigh(backend: str) -> None:
    values, vectors = map(host, na.eigh(on(backend, POSITIVE)))
    assert_close(values, np.linalg.eigvalsh(POSITIVE))
    assert_close(POSITIVE @ vectors, vectors * values[..., None, :])
    assert_close(adjoint(vectors) @ vectors, identity_like(vectors))


def test_eig(backend: str) -> None:
    values, vectors = map(host, na.eig(on(backend, SQUARE)))
    assert values.dtype == vectors.dtype == np.complex128
    assert_close(SQUARE @ vectors, vectors * values[..., None, :])
    assert_close(np.linalg.norm(vectors, axis=-2), np.ones((2, 3)))
    found = host(na.eigvals(on(backend, SQUARE)))
    assert_close(np.sort_complex(found.round(9)), np.sort_complex(values.round(9)))


def test_containers_of_factors(backend: str) -> None:
    both = na.svd(Container(a=on(backend, TALL), b=on(backend, WIDE)), full_matrices=False)
    assert [part.spec is both.U.spec for part in both] == [True] * 3
    assert_close(host(both.S["b"]), np.linalg.svdvals(WIDE))


def symmetric(x: Any) -> Any:
    return na.multiply(na.add(x, na.matrix_transpose(x)), 0.5)


def of_svd(x: Any) -> Any:
    """U S² Vh, in which the signs cancel."""
    U, S, Vh = na.svd(x, full_matrices=False)
    return na.matmul(na.multiply(U, na.expand_dims(na.multiply(S, S), -2)), Vh)


def of_qr(x: Any) -> Any:
    Q, R = na.qr(x)
    return na.concat([na.matmul(Q, na.matrix_transpose(Q)), na.matmul(na.matrix_transpose(R), R)])


def of_eigh(x: Any) -> Any:
    values, vectors = na.eigh(symmetric(x))
    scaled = na.multiply(vectors, na.expand_dims(na.exp(na.multiply(values, 0.1)), -2))
    return na.matmul(scaled, na.matrix_transpose(vectors))


def of_eigvalsh(x: Any) -> Any:
    return na.eigvalsh(symmetric(x))


def of_cholesky(x: Any) -> Any:
    return na.cholesky(symmetric(x))


def of_upper_cholesky(x: Any) -> Any:
    return na.cholesky(symmetric(x), upper=True)


def complex_of(x: Any) -> Any:
    """Complex matrices that depend on reals, and do not commute with their adjoints."""
    return na.add(na.multiply(x, 1.0 - 0.5j), na.multiply(na.matrix_transpose(x), 0.25j))


def real_parts(z: Any) -> Any:
    return na.concat([na.real(z), na.imag(z)], axis=-1)


def of_complex_lu_factor(x: Any) -> Any:
    return real_parts(na.lu_factor(complex_of(x)).LU)


def of_complex_lu(x: Any) -> Any:
    P, L, U = na.lu(complex_of(x))
    return na.concat([real_parts(L), real_parts(U), P], axis=-1)


def of_complex_expm(x: Any) -> Any:
    return real_parts(na.expm(complex_of(x)))


def of_pivoted_qr(x: Any) -> Any:
    Q, R, _ = na.qr(x, pivoting=True)
    return na.square(Q) + na.square(R)


def of_complex_sqrtm(x: Any) -> Any:
    return real_parts(na.sqrtm(complex_of(x)))


def of_complex_lstsq(x: Any) -> Any:
    return real_parts(na.lstsq(complex_of(x), na.multiply(x, 1j)).solution)


FUNCTIONS: list[tuple[Callable[[Any], Any], np.ndarray]] = [
    (of_svd, TALL[0]),
    (of_qr, SQUARE[0] + 2 * np.eye(3)),
    (of_pivoted_qr, SQUARE[0] + 2 * np.eye(3)),
    (of_eigh, POSITIVE),
    (of_eigvalsh, POSITIVE),
    (of_cholesky, POSITIVE),
    (of_upper_cholesky, POSITIVE),
    (of_complex_lu_factor, SQUARE),
    (of_complex_lu, SQUARE),
    (of_complex_expm, SQUARE),
    (of_complex_sqrtm, POSITIVE),
    (of_complex_lstsq, SQUARE + 3 * np.eye(3)),
]


@pytest.mark.one_in(8)
@pytest.mark.parametrize("backend", AUTODIFF)
@pytest.mark.parametrize(("function", "x"), FUNCTIONS, ids=[f.__name__ for f, _ in FUNCTIONS])
def test_derivatives(backend: str, function: Callable[[Any], Any], x: np.ndarray) -> None:
    """The gradient of ⟨w, f(x)⟩ is what central differences of f on NumPy give."""
    weight = np.random.default_rng(1).uniform(0.5, 1.5, function(x).shape)

    def loss(value: Any) -> Any:
        return SUM[backend](function(value) * on(backend, weight))

    (gradient,) = GRADIENTS[backend](loss, [on(backend, x)])
    step, direction = 1e-5, np.random.default_rng(2).uniform(-1, 1, x.shape)
    moved = [(function(x + sign * step * direction) * weight).sum() for sign in (1, -1)]
    slope = (moved[0] - moved[1]) / (2 * step)
    assert abs((gradient * direction).sum() - slope) <= 1e-6 * (1 + abs(slope))


@pytest.mark.parametrize("backend", AUTODIFF)
@pytest.mark.parametrize("function", [lambda x: na.eigh(x).eigenvalues, na.eigvalsh, na.cholesky])
def test_gradients_of_symmetric_matrices_are_symmetric(
    backend: str, function: Callable[[Any], Any]
) -> None:
    def loss(x: Any) -> Any:
        return SUM[backend](function(x) * on(backend, np.arange(1.0, 4.0)))

    (gradient,) = GRADIENTS[backend](loss, [on(backend, POSITIVE)])
    np.testing.assert_allclose(gradient, np.swapaxes(gradient, -1, -2), rtol=1e-9)


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_qr_of_large_elements(backend: str, dtype: str) -> None:
    a = (np.asarray([[3.0, 1.0], [4.0, 2.0], [0.0, 5.0]]) * 1e37).astype(dtype)
    q, r = na.qr(backends.core(backend).from_numpy(a))
    to_numpy = backends.core(backend).to_numpy
    np.testing.assert_allclose(to_numpy(q) @ (to_numpy(r) / 1e37), a / 1e37, rtol=1e-5, atol=1e-5)


def test_eigenvalues_of_nan_do_not_end_the_process() -> None:
    for value in (np.nan, np.inf):
        x = on("torch", np.full((3, 3), value, "float32"))
        with pytest.raises(LinearAlgebraError, match="got infinities or NaN"):
            na.eigvals(x)
    mapped = torch.func.vmap(na.eigvals)(torch.ones(2, 3, 3))
    assert tuple(mapped.shape) == (2, 3)


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_failed_factorizations_are_nan_on_tensorflow(dtype: str) -> None:
    """Not the contents of the memory."""
    a = np.stack([np.diag([4.0, 9.0]), -np.eye(2)]).astype(dtype)
    lower, upper = (host(na.cholesky(on("tensorflow", a), upper=u)) for u in (False, True))
    np.testing.assert_allclose(lower[0], np.diag([2.0, 3.0]), rtol=1e-6)
    assert np.isnan(lower[1][np.tril_indices(2)]).all()
    assert lower[1][0, 1] == upper[1][1, 0] == 0
