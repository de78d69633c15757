"""Optimizers that optax and PyTorch do not have, in NumPy, as their papers write them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Step = Callable[[np.ndarray, np.ndarray], np.ndarray]


def shampoo(rate: float, momentum: float, eps: float, b2: float = 1.0, period: int = 1) -> Callable:
    """Algorithms 1 and 2 of Gupta, Koren and Singer, with momentum."""

    def make(x: np.ndarray) -> Step:
        k = x.ndim
        sums = [np.zeros((n, n)) for n in x.shape]
        roots = [np.eye(n) for n in x.shape]
        memory = {"m": np.zeros_like(x), "t": 0}

        def step(x: np.ndarray, g: np.ndarray) -> np.ndarray:
            for i in range(k):
                unfolded = np.moveaxis(g, i, 0).reshape(g.shape[i], -1)
                sums[i] = b2 * sums[i] + (1 if b2 == 1 else 1 - b2) * unfolded @ unfolded.T
                if memory["t"] % period == 0:
                    values, vectors = np.linalg.eigh(sums[i] + eps * np.eye(len(sums[i])))
                    roots[i] = vectors @ np.diag(values ** (-1 / (2 * k))) @ vectors.T
            for i in range(k):
                g = np.moveaxis(np.tensordot(roots[i], g, (1, i)), 0, i)
            memory["m"] = momentum * memory["m"] + g
            memory["t"] += 1
            return x - rate * memory["m"]

        return step

    return make


def soap(rate: float, b1: float, b2: float, eps: float, decay: float, period: int) -> Callable:
    """Algorithm 3 of Vyas et al.; the first basis has the eigenvectors after the first gradient."""

    def make(x: np.ndarray) -> Step:
        m, n = np.zeros_like(x), np.zeros_like(x)
        means = [np.zeros((size, size)) for size in x.shape]
        bases: list[np.ndarray] = []
        t = 0

        def step(x: np.ndarray, g: np.ndarray) -> np.ndarray:
            nonlocal m, n, t, bases
            t += 1
            m = b1 * m + (1 - b1) * g
            if x.ndim == 1:
                n = b2 * n + (1 - b2) * g**2
                direction = m / (1 - b1**t) / (np.sqrt(n / (1 - b2**t)) + eps)
                return x - rate * (direction + decay * x)
            means[0] = b2 * means[0] + (1 - b2) * g @ g.T
            means[1] = b2 * means[1] + (1 - b2) * g.T @ g
            if t == 1:
                bases = [np.linalg.eigh(mean)[1] for mean in means]
            left, right = bases
            n = b2 * n + (1 - b2) * (left.T @ g @ right) ** 2
            mean = left.T @ m @ right / (1 - b1**t)
            direction = left @ (mean / (np.sqrt(n / (1 - b2**t)) + eps)) @ right.T
            if t % period == 0:
                bases = [np.linalg.qr(mean @ basis)[0] for mean, basis in zip(means, bases)]
            return x - rate * (direction + decay * x)

        return step

    return make
