"""Gaussian process regression for arrays of any framework: how a library over nestarray reads.

Nothing here names a framework. The functions compute with whatever arrays they are given, the
parameters are one Container, and the same code is differentiated and compiled on all four.

usage: python examples/gaussian_process.py [numpy | jax | torch | tensorflow]
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

import nestarray as na


def kernel(x1: Any, x2: Any, p: na.Container) -> Any:
    """scale · exp(−|x1 − x2|² / 2 length²) for each pair of rows; parameters are logarithms."""
    distance = na.cdist(x1, x2) / na.exp(p.length)
    return na.exp(p.scale) * na.exp(-0.5 * distance**2)


def conditioned(p: na.Container, x: Any, y: Any) -> tuple[Any, Any]:
    """The Cholesky factor of the covariance of `y`, and its inverse times `y`."""
    noise = na.exp(p.noise) * na.eye(x.shape[0], dtype=x.dtype, like=x)
    factor = na.cholesky(kernel(x, x, p) + noise)
    return factor, na.solve_triangular(factor, y[:, None], upper=False)


def log_likelihood(p: na.Container, x: Any, y: Any) -> Any:
    factor, white = conditioned(p, x, y)
    constant = 0.5 * x.shape[0] * math.log(2.0 * math.pi)
    return -0.5 * na.sum(white**2) - na.sum(na.log(na.diagonal(factor))) - constant


def fit(x: Any, y: Any, steps: int = 60, learning_rate: float = 0.1) -> na.Container:
    """The parameters that make `y` likely."""
    p = na.Container(length=0.0, scale=0.0, noise=-1.0).map(
        lambda start: na.asarray(start, dtype=x.dtype, like=x)
    )
    optimizer = na.nn.Adam(learning_rate)
    gradients = na.jit(na.grad(lambda p: -log_likelihood(p, x, y)))
    state = optimizer.init(p)
    for _ in range(steps):
        p, state = optimizer.step(p, gradients(p), state)
    return p


def predict(p: na.Container, x: Any, y: Any, new: Any) -> Any:
    """The mean at the rows of `new`."""
    factor, white = conditioned(p, x, y)
    across = na.solve_triangular(factor, kernel(x, new, p), upper=False)
    return na.matmul(na.matrix_transpose(across), white)[:, 0]


def data(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Forty noisy values of a sine in two dimensions."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-3.0, 3.0, (40, 2)).astype("float32")
    return x, (np.sin(x[:, 0]) + 0.1 * rng.normal(size=40)).astype("float32")


def main(backend: str = "numpy") -> na.Container:
    x, y = (na.to_backend(part, backend) for part in data())
    p = fit(x, y)
    error = na.sqrt(na.mean((predict(p, x, y, x) - na.sin(x[:, 0])) ** 2))
    print(
        f"{backend}: log-likelihood {float(log_likelihood(p, x, y)):.3f}, error {float(error):.3f}"
    )
    return p


if __name__ == "__main__":
    main(*sys.argv[1:])
