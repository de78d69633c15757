"""Functions in the style of NumPy packages: filters, statistics, geometry, loops in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

RNG = np.random.default_rng(6)


def kalman_step(x: Any, p: Any, z: Any) -> Any:
    """A Kalman filter's prediction and update."""
    f, h = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[1.0, 0.0]])
    x = f @ x
    p = f @ p @ f.T + 0.01 * np.eye(2)
    s = h @ p @ h.T + 0.1
    gain = p @ h.T @ np.linalg.inv(s)
    x = x + gain @ (z - h @ x)
    return x, (np.eye(2) - gain @ h) @ p


def quaternion_product(q: Any, r: Any) -> Any:
    """Products of quaternions, normalized, and the rotation matrices."""
    w, x, y, z = np.moveaxis(q, -1, 0)
    a, b, c, d = np.moveaxis(r, -1, 0)
    out = np.stack(
        [
            w * a - x * b - y * c - z * d,
            w * b + x * a + y * d - z * c,
            w * c - x * d + y * a + z * b,
            w * d + x * c - y * b + z * a,
        ],
        axis=-1,
    )
    out /= np.linalg.norm(out, axis=-1, keepdims=True)
    return out, np.cross(out[:, 1:], q[:, 1:])


def smoothed(x: Any) -> Any:
    """Exponential smoothing in place, and a moving average by cumulative sums."""
    out = x.copy()
    for i in range(1, len(out)):
        out[i] = 0.3 * out[i] + 0.7 * out[i - 1]
    total = np.cumsum(np.insert(x, 0, 0.0))
    return out, (total[3:] - total[:-3]) / 3


def histogram_match(x: Any) -> Any:
    """Ranks by searchsorted, and values at quantiles."""
    order = np.sort(x)
    ranks = np.searchsorted(order, x, side="right") / x.size
    return np.interp(ranks, np.linspace(0, 1, 5), np.quantile(x, np.linspace(0, 1, 5)))


def repeated(x: Any) -> Any:
    """Writes at repeated positions, and `np.add.at`."""
    index = np.array([0, 0, 1, 3])
    y = x.copy()
    y[index] = y[index] * 2 + 1
    z = np.zeros(5)
    np.add.at(z, index, x[:4])
    return y * z


def procrustes(a: Any, b: Any) -> Any:
    """The rotation between two sets of points."""
    a = a - a.mean(0)
    b = b - b.mean(0)
    u, s, vt = np.linalg.svd(a.T @ b)
    sign = np.sign(np.linalg.det(u @ vt))
    d = np.ones(3)
    d[-1] = sign
    return a @ (u * d) @ vt, (s * d).sum() / (a**2).sum()


def spectrum(x: Any) -> Any:
    """A windowed spectrum, with frequencies below a threshold removed."""
    window = np.hanning(len(x))
    f = np.fft.rfft(x * window)
    power = np.abs(f) ** 2
    f = np.where(power > power.mean(), f, 0)
    return np.fft.irfft(f, n=len(x)), 10 * np.log10(power + 1e-3)


def pairwise(x: Any) -> Any:
    """Distances of all pairs, and the nearest neighbour without oneself."""
    difference = x[:, None] - x[None]
    distance = np.sqrt((difference**2).sum(-1) + np.eye(len(x)))
    np.fill_diagonal(distance, np.inf)
    nearest = distance.argmin(1)
    return x[nearest] - x, distance.min(1)


TRIALS: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {
    "kalman_step": (kalman_step, (RNG.normal(size=2), np.eye(2), RNG.normal(size=1))),
    "quaternion_product": (quaternion_product, (RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4)))),
    "smoothed": (smoothed, (RNG.normal(size=6),)),
    "histogram_match": (histogram_match, (RNG.normal(size=9),)),
    "repeated": (repeated, (RNG.normal(size=5),)),
    "procrustes": (procrustes, (RNG.normal(size=(6, 3)), RNG.normal(size=(6, 3)))),
    "spectrum": (spectrum, (RNG.normal(size=16),)),
    "pairwise": (pairwise, (RNG.normal(size=(5, 2)),)),
}
