"""More programs in plain NumPy, in the style of exercises, Rosetta Code and tutorials of science."""

from __future__ import annotations

from typing import Any

import numpy as np

RNG = np.random.default_rng(1)


def checkerboard(x: Any) -> Any:
    board = np.zeros((8, 8), dtype=int)
    board[1::2, ::2] = 1
    board[::2, 1::2] = 1
    border = np.pad(x, 1)
    border[1:-1, 1:-1] -= x.mean()
    return board * x[0, 0], border, np.tile(x, (2, 1)), np.rot90(x)


def nearest_value(z: Any, value: Any) -> Any:
    index = np.abs(z - value).argmin()
    ranks = np.argsort(np.argsort(z.flat))
    ordered = np.sort(z, axis=None)[::-1]
    return z.flat[index], ranks, ordered[:3], (z - z.mean()) / z.std()


def cauchy_matrix(x: Any, y: Any) -> Any:
    c = 1.0 / np.subtract.outer(x, y + 10)
    return c, np.linalg.det(c + np.eye(len(c))), np.trace(c), np.triu(c, 1)


def distances(z: Any) -> Any:
    x, y = np.atleast_2d(z[:, 0], z[:, 1])
    d = np.sqrt((x - x.T) ** 2 + (y - y.T) ** 2 + np.eye(len(z)))
    np.fill_diagonal(d, 0)
    return d, np.unravel_index(d.argmax(), d.shape)


def gaussian_kernel(x: Any) -> Any:
    a, b = np.meshgrid(np.linspace(-1, 1, 5), np.linspace(-1, 1, 5))
    g = np.exp(-((np.hypot(a, b) - 0.2) ** 2) / 2)
    g /= g.sum()
    padded = np.pad(x, 2, mode="edge")
    out = np.zeros_like(x)
    for i in range(5):
        for j in range(5):
            out += g[i, j] * padded[i : i + x.shape[0], j : j + x.shape[1]]
    return out


def moving_average(a: Any) -> Any:
    total = np.cumsum(a)
    total[3:] = total[3:] - total[:-3]
    return total[2:] / 3, np.convolve(a, np.ones(3) / 3, mode="valid")


def one_hot(labels: Any, logits: Any) -> Any:
    targets = np.eye(logits.shape[1])[labels]
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    logs = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -(targets * logs).sum(axis=1).mean(), np.bincount(labels, minlength=logits.shape[1])


def bilinear(image: Any, x: Any, y: Any) -> Any:
    x = np.clip(x, 0, image.shape[1] - 2)
    y = np.clip(y, 0, image.shape[0] - 2)
    i, j = y.astype(int), x.astype(int)
    a, b = y - i, x - j
    top = (1 - b) * image[i, j] + b * image[i, j + 1]
    bottom = (1 - b) * image[i + 1, j] + b * image[i + 1, j + 1]
    return (1 - a) * top + a * bottom


def horner(coefficients: Any, x: Any) -> Any:
    value, slope = np.zeros_like(x), np.zeros_like(x)
    for c in coefficients:
        slope = slope * x + value
        value = value * x + c
    return value, slope, np.polyval(coefficients, x)


def gram_schmidt(a: Any) -> Any:
    q = np.zeros_like(a)
    for j in range(a.shape[1]):
        v = a[:, j].copy()
        for i in range(j):
            v -= (q[:, i] @ a[:, j]) * q[:, i]
        q[:, j] = v / np.linalg.norm(v)
    return q, q.T @ q


def lu_decomposition(a: Any) -> Any:
    n = len(a)
    u, lower = a + n * np.eye(n), np.eye(n)
    for k in range(n - 1):
        lower[k + 1 :, k] = u[k + 1 :, k] / u[k, k]
        u[k + 1 :, k:] -= np.outer(lower[k + 1 :, k], u[k, k:])
    return lower, u, np.prod(np.diag(u))


def jacobi(a: Any, b: Any) -> Any:
    a = a + 2 * len(b) * np.identity(len(b))
    d = np.diag(a)
    rest = a - np.diagflat(d)
    x = np.zeros_like(b)
    for _ in range(10):
        x = (b - np.dot(rest, x)) / d
    return x


def power_iteration(a: Any) -> Any:
    m = a @ a.T + np.eye(len(a))
    v = np.ones(len(a))
    for _ in range(8):
        v = m @ v
        v = v / np.sqrt(np.vdot(v, v))
    return v @ m @ v


def runge_kutta(start: Any, rates: Any) -> Any:
    def field(s: Any) -> Any:
        x, y = s
        return np.array([rates[0] * x - rates[1] * x * y, rates[2] * x * y - rates[3] * y])

    states, s, h = [start], start, 0.05
    for _ in range(6):
        k1 = field(s)
        k2 = field(s + h / 2 * k1)
        k3 = field(s + h / 2 * k2)
        k4 = field(s + h * k3)
        s = s + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        states.append(s)
    return np.stack(states)


def trapezoid_rule(a: Any, b: Any) -> Any:
    x = np.linspace(0.0, 1.0, 33)
    y = np.exp(-a * x) * np.cos(b * x)
    simpson = (y[0] + 4 * y[1:-1:2].sum() + 2 * y[2:-1:2].sum() + y[-1]) / (3 * 32)
    return np.trapezoid(y, x), simpson, np.gradient(y, x)[::8]


def linear_regression(x: Any, y: Any) -> Any:
    design = np.column_stack([np.ones(len(x)), x, x**2])
    beta, *_ = np.linalg.lstsq(design, y, rcond=None)
    residual = y - design @ beta
    r2 = 1 - (residual**2).sum() / ((y - y.mean()) ** 2).sum()
    return beta, r2, np.corrcoef(x, y)[0, 1]


def logistic_descent(x: Any, labels: Any) -> Any:
    w, losses = np.zeros(x.shape[1]), []
    for _ in range(5):
        p = 1.0 / (1.0 + np.exp(-x @ w))
        losses.append(-np.mean(labels * np.log(p) + (1 - labels) * np.log1p(-p)))
        w -= 0.5 * x.T @ (p - labels) / len(labels)
    return w, np.array(losses)


def principal_components(x: Any) -> Any:
    centered = x - x.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(centered, rowvar=False))
    order = np.argsort(values)[::-1]
    projected = centered @ vectors[:, order[:2]]
    return values[order], np.abs(projected), np.linalg.svd(centered, compute_uv=False)


def page_rank(links: Any) -> Any:
    n = len(links)
    m = links / np.maximum(links.sum(axis=0), 1e-9)
    r = np.full(n, 1 / n)
    for _ in range(6):
        r = 0.85 * m @ r + 0.15 / n
    return r


def random_walk(steps: Any) -> Any:
    path = np.concatenate(([0.0], np.cumsum(np.where(steps > 0, 1.0, -1.0) * np.abs(steps))))
    highest = np.maximum.accumulate(path)
    return path, highest - path, np.ptp(path), np.flatnonzero(np.diff(np.sign(steps)))


def histogram_equalization(image: Any) -> Any:
    levels = np.clip(np.floor(image * 8), 0, 7).astype(int)
    counts = np.bincount(levels.ravel(), minlength=8)
    distribution = counts.cumsum() / levels.size
    return distribution[levels], counts


def convolution_layer(image: Any, kernels: Any) -> Any:
    count, height, width = kernels.shape
    rows, columns = image.shape[0] - height + 1, image.shape[1] - width + 1
    out = np.empty((count, rows, columns))
    for i in range(rows):
        for j in range(columns):
            out[:, i, j] = np.tensordot(kernels, image[i : i + height, j : j + width], axes=2)
    pooled = np.maximum(out, 0).reshape(count, rows // 2, 2, columns // 2, 2).max(axis=(2, 4))
    return pooled


def attention(q: Any, k: Any, v: Any) -> Any:
    scores = np.einsum("hqd,hkd->hqk", q, k) / np.sqrt(q.shape[-1])
    mask = np.tril(np.ones(scores.shape[-2:], dtype=bool))
    scores = np.where(mask, scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return np.moveaxis(weights @ v, 0, 1).reshape(q.shape[1], -1)


def viterbi(start: Any, move: Any, emit: Any) -> Any:
    score, back = np.log(start) + np.log(emit[:, 0]), []
    for t in range(1, emit.shape[1]):
        candidates = score[:, None] + np.log(move)
        back.append(candidates.argmax(axis=0))
        score = candidates.max(axis=0) + np.log(emit[:, t])
    path = [score.argmax()]
    for choices in reversed(back):
        path.append(choices[path[-1]])
    return score.max(), np.array(path[::-1])


def wave_equation(u: Any) -> Any:
    before, now = u.copy(), u.copy()
    for _ in range(4):
        after = np.zeros_like(now)
        after[1:-1] = 2 * now[1:-1] - before[1:-1] + 0.25 * (now[2:] - 2 * now[1:-1] + now[:-2])
        before, now = now, after
    return now, np.fft.rfft(now)


def quaternions(p: Any, q: Any) -> Any:
    w0, x0, y0, z0 = p
    w1, x1, y1, z1 = q
    product = np.array([
        w0 * w1 - x0 * x1 - y0 * y1 - z0 * z1, w0 * x1 + x0 * w1 + y0 * z1 - z0 * y1,
        w0 * y1 - x0 * z1 + y0 * w1 + z0 * x1, w0 * z1 + x0 * y1 - y0 * x1 + z0 * w1,
    ])  # fmt: skip
    return product, np.sqrt(np.sum(product**2)), np.cross(p[1:], q[1:])


def option_by_tree(spot: Any, strike: Any) -> Any:
    n, up = 6, 1.1
    down, p = 1 / up, 0.55
    prices = spot * up ** np.arange(n, -1, -1.0) * down ** np.arange(0, n + 1.0)
    values = np.maximum(prices - strike, 0)
    for _ in range(n):
        values = 0.99 * (p * values[:-1] + (1 - p) * values[1:])
    return values[0]


def normal(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape)


def positive(*shape: int) -> np.ndarray:
    return RNG.uniform(0.2, 1.0, size=shape)


EXERCISES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "checkerboard": (checkerboard, (normal(3, 4),)),
    "nearest_value": (nearest_value, (normal(3, 3), np.asarray(0.25))),
    "cauchy_matrix": (cauchy_matrix, (positive(3), positive(3))),
    "distances": (distances, (normal(5, 2),)),
    "gaussian_kernel": (gaussian_kernel, (normal(4, 5),)),
    "moving_average": (moving_average, (normal(8),)),
    "one_hot": (one_hot, (RNG.integers(0, 3, 5), normal(5, 3))),
    "bilinear": (bilinear, (normal(4, 5), positive(3) * 3, positive(3) * 2)),
    "horner": (horner, (normal(4), normal(3))),
    "gram_schmidt": (gram_schmidt, (normal(4, 3),)),
    "lu_decomposition": (lu_decomposition, (normal(4, 4),)),
    "jacobi": (jacobi, (normal(4, 4), normal(4))),
    "power_iteration": (power_iteration, (normal(4, 4),)),
    "runge_kutta": (runge_kutta, (positive(2), positive(4))),
    "trapezoid_rule": (trapezoid_rule, (np.asarray(0.7), np.asarray(2.0))),
    "linear_regression": (linear_regression, (normal(7), normal(7))),
    "logistic_descent": (logistic_descent, (normal(6, 3), (positive(6) > 0.6) * 1.0)),
    "principal_components": (principal_components, (normal(6, 3),)),
    "page_rank": (page_rank, (positive(4, 4),)),
    "random_walk": (random_walk, (normal(7),)),
    "histogram_equalization": (histogram_equalization, (positive(4, 4),)),
    "convolution_layer": (convolution_layer, (normal(6, 6), normal(2, 3, 3))),
    "attention": (attention, (normal(2, 4, 3), normal(2, 4, 3), normal(2, 4, 3))),
    "viterbi": (viterbi, (positive(3), positive(3, 3), positive(3, 4))),
    "wave_equation": (wave_equation, (normal(8),)),
    "quaternions": (quaternions, (normal(4), normal(4))),
    "option_by_tree": (option_by_tree, (np.asarray(10.0), np.asarray(9.5))),
}
