"""Code over `na` on four backends: a Gaussian process fitted by SciPy, and a Kalman filter by scan."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

import nestarray as na
from nestarray.config import BACKENDS
from tests.arrays import on

rng = np.random.default_rng(0)
TIMES = np.sort(rng.uniform(-3.0, 3.0, (12, 1)), axis=0)
VALUES = np.sin(TIMES[:, 0]) + 0.1 * rng.normal(size=12)
OBSERVATIONS = np.cumsum(rng.normal(size=(15, 1)), axis=0) + 0.3 * rng.normal(size=(15, 1))


def covariance(p: Any, a: Any, b: Any) -> Any:
    return na.exp(p.scale) * na.exp(-0.5 * na.square(na.cdist(a, b) / na.exp(p.length)))


def negative_log_likelihood(p: Any, x: Any, y: Any) -> Any:
    noise = na.exp(p.noise) * na.eye(x.shape[0], dtype=x.dtype, like=x)
    factor = na.cholesky(covariance(p, x, x) + noise)
    white = na.solve_triangular(factor, y[:, None], upper=False)
    constant = 0.5 * x.shape[0] * float(np.log(2 * np.pi))
    return 0.5 * na.sum(white**2) + na.sum(na.log(na.diagonal(factor))) + constant


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("backend", BACKENDS)
def test_gaussian_process(backend: str) -> None:
    x, y = on(backend, TIMES), on(backend, VALUES)
    p = na.Container(length=0.0, scale=0.0, noise=-2.0)
    p = p.map(lambda start: na.asarray(start, dtype=x.dtype, like=x))
    best = na.minimize(lambda p: negative_log_likelihood(p, x, y), p, method="L-BFGS-B")

    def reference(logs: np.ndarray) -> float:
        length, scale, noise = np.exp(logs)
        kernel = scale * np.exp(-0.5 * ((TIMES - TIMES.T) / length) ** 2) + noise * np.eye(12)
        return -multivariate_normal.logpdf(VALUES, np.zeros(12), kernel)

    expected = minimize(reference, [0.0, 0.0, -2.0], method="L-BFGS-B")
    assert best.success
    np.testing.assert_allclose(best.fun, expected.fun, rtol=1e-6)
    np.testing.assert_allclose(na.tree_ravel(best.x.to_backend("numpy"))[0], expected.x, atol=2e-3)


def filtered(p: Any, observations: Any) -> tuple[Any, Any]:
    """The log-likelihood of a local level model, and the means of its states."""
    q, r = na.exp(p.level), na.exp(p.noise)

    def step(state: Any, y: Any) -> tuple[Any, Any]:
        mean, variance, total = state
        variance = variance + q
        spread = variance + r
        gain = variance / spread
        error = y[0] - mean
        total = total - 0.5 * (na.log(2 * np.pi * spread) + error**2 / spread)
        return (mean + gain * error, (1 - gain) * variance, total), mean + gain * error

    zero = na.zeros_like(q)
    (_, _, total), means = na.scan(step, (zero, zero + 1.0, zero), observations)
    return total, means


def by_hand(q: float, r: float) -> tuple[float, list[float]]:
    mean, variance, total, means = 0.0, 1.0, 0.0, []
    for y in OBSERVATIONS[:, 0]:
        variance += q
        total += multivariate_normal.logpdf(y, mean, variance + r)
        gain = variance / (variance + r)
        mean, variance = mean + gain * (y - mean), (1 - gain) * variance
        means.append(mean)
    return total, means


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("backend", BACKENDS)
def test_kalman_filter(backend: str) -> None:
    y = on(backend, OBSERVATIONS)
    p = on(backend, {"level": np.asarray(0.5), "noise": np.asarray(-1.0)})
    (total, means), gradient = na.value_and_grad(filtered, has_aux=True)(p, y)
    expected, states = by_hand(np.exp(0.5), np.exp(-1.0))
    np.testing.assert_allclose(float(total), expected, rtol=1e-9)
    np.testing.assert_allclose(na.to_backend(means, "numpy"), states, rtol=1e-9)
    shifted = (
        by_hand(np.exp(0.5 + 1e-6), np.exp(-1.0))[0] - by_hand(np.exp(0.5 - 1e-6), np.exp(-1.0))[0]
    )
    np.testing.assert_allclose(float(gradient.level), shifted / 2e-6, rtol=1e-6)
    best = na.minimize(lambda p: -filtered(p, y)[0], p, method="trust-ncg")
    assert best.success
    assert -best.fun > expected
