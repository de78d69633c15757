"""Optimizers that optax and PyTorch do not have, in NumPy, as their papers write them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Step = Callable[[np.ndarray, np.ndarray], np.ndarray]


def shampoo(
    rate: float,
    momentum: float,
    eps: float,
    b2: float = 1.0,
    period: int = 1,
    max_size: int = 99,
) -> Callable:
    """Algorithms 1 and 2 of Gupta, Koren and Singer, with momentum; long axes have diagonals."""

    def make(x: np.ndarray) -> Step:
        shape = x.shape or (1,)
        k = len(shape)
        sums = [np.zeros((n, n)) for n in shape]
        roots = [np.eye(n) for n in shape]
        memory = {"m": np.zeros_like(x), "t": 0}

        def step(x: np.ndarray, g: np.ndarray) -> np.ndarray:
            g = g.reshape(shape)
            for i in range(k):
                unfolded = np.moveaxis(g, i, 0).reshape(g.shape[i], -1)
                product = unfolded @ unfolded.T
                if shape[i] > max_size:
                    product = np.diag(np.diag(product))
                sums[i] = b2 * sums[i] + (1 if b2 == 1 else 1 - b2) * product
                if memory["t"] % period == 0:
                    values, vectors = np.linalg.eigh(sums[i] + eps * np.eye(len(sums[i])))
                    roots[i] = vectors @ np.diag(values ** (-1 / (2 * k))) @ vectors.T
            for i in range(k):
                g = np.moveaxis(np.tensordot(roots[i], g, (1, i)), 0, i)
            memory["m"] = momentum * memory["m"] + g.reshape(x.shape)
            memory["t"] += 1
            return x - rate * memory["m"]

        return step

    return make


def soap(
    rate: float,
    b1: float,
    b2: float,
    eps: float,
    decay: float,
    period: int,
    max_size: int = 99,
) -> Callable:
    """Algorithm 3 of Vyas et al. for one matrix, the Kronecker product of the bases of the axes.

    The first basis has the eigenvectors after the first gradient. Columns and squares are sorted by
    eigenvalue, as in the program of the authors.
    """

    def make(x: np.ndarray) -> Step:
        m, n = np.zeros(x.size), np.zeros(x.shape)
        means = [np.zeros((size, size)) for size in x.shape]
        bases = [np.eye(size) for size in x.shape]
        axes = [i for i, size in enumerate(x.shape) if x.ndim > 1 and size <= max_size]
        t = 0

        def step(x: np.ndarray, g: np.ndarray) -> np.ndarray:
            nonlocal m, n, t
            t += 1
            m = b1 * m + (1 - b1) * g.reshape(-1)
            for i in axes:
                unfolded = np.moveaxis(g, i, 0).reshape(len(means[i]), -1)
                means[i] = b2 * means[i] + (1 - b2) * unfolded @ unfolded.T
                if t == 1:
                    bases[i] = np.linalg.eigh(means[i])[1][:, ::-1]
            basis = np.ones((1, 1))
            for other in bases:
                basis = np.kron(basis, other)
            n = b2 * n + (1 - b2) * (basis.T @ g.reshape(-1)).reshape(x.shape) ** 2
            scales = np.sqrt(n.reshape(-1) / (1 - b2**t)) + eps
            direction = basis @ (basis.T @ m / (1 - b1**t) / scales)
            for i in axes if t % period == 0 else ():
                order = np.argsort(-np.diag(bases[i].T @ means[i] @ bases[i]))
                n = np.take(n, order, i)
                bases[i] = np.linalg.qr(means[i] @ bases[i][:, order])[0]
            return x - rate * (direction.reshape(x.shape) + decay * x)

        return step

    return make
