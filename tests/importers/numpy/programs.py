"""Programs in plain NumPy, as people write them, and arguments."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy import zeros

RNG = np.random.default_rng(0)


def k_means(x: Any, steps: int = 4) -> Any:
    centers = x[:3].copy()
    for _ in range(steps):
        distances = ((x[:, None, :] - centers[None]) ** 2).sum(axis=2)
        nearest = distances.argmin(axis=1)
        for k in range(3):
            chosen = (nearest == k)[:, np.newaxis]
            centers[k] = (x * chosen).sum(axis=0) / np.maximum(chosen.sum(), 1)
    return centers, nearest


def game_of_life(board: Any) -> Any:
    neighbours = np.zeros(board.shape, dtype=int)
    neighbours[1:-1, 1:-1] += (
        board[:-2, :-2] + board[:-2, 1:-1] + board[:-2, 2:] + board[1:-1, :-2]
        + board[1:-1, 2:] + board[2:, :-2] + board[2:, 1:-1] + board[2:, 2:]
    )  # fmt: skip
    born = (neighbours == 3) & (board == 0)
    stays = ((neighbours == 2) | (neighbours == 3)) & (board == 1)
    board[...] = 0
    board[born | stays] = 1
    return board


def gaussian_process(x: Any, y: Any, new: Any) -> Any:
    def kernel(a: Any, b: Any) -> Any:
        return np.exp(-0.5 * np.subtract.outer(a, b) ** 2)

    factor = np.linalg.cholesky(kernel(x, x) + 0.1 * np.eye(len(x)))
    weights = np.linalg.solve(factor.T, np.linalg.solve(factor, y))
    cross = kernel(new, x)
    half = np.linalg.solve(factor, cross.T)
    return cross @ weights, np.diag(kernel(new, new)) - (half**2).sum(0)


def n_body(position: Any, velocity: Any, mass: Any) -> Any:
    for _ in range(3):
        apart = position[None, :, :] - position[:, None, :]
        cubes = (np.sum(apart**2, axis=-1) + 0.1) ** 1.5
        velocity += 0.01 * np.einsum("ijk,j->ik", apart / cubes[..., None], mass)
        position = position + 0.01 * velocity
    return position, velocity


def black_scholes(spot: Any, strike: Any) -> Any:
    rate, volatility, years = 0.02, 0.3, 1.5
    root = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + volatility**2 / 2) * years) / root
    normal = lambda x: 1 / (1 + np.exp(-1.702 * x))  # noqa: E731
    return spot * normal(d1) - strike * np.exp(-rate * years) * normal(d1 - root)


def mandelbrot(c: Any) -> Any:
    z = np.zeros_like(c)
    count = np.zeros(c.shape, dtype=int)
    for _ in range(8):
        inside = np.abs(z) < 2
        z = np.where(inside, z * z + c, z)
        count[inside] += 1
    return count


def heat_equation(u: Any) -> Any:
    for _ in range(5):
        u[1:-1, 1:-1] += 0.1 * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        )
        u[0], u[-1] = 0, 1
    return u


def kalman_filter(measured: Any) -> Any:
    f, h = np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([[1.0, 0.0]])
    state, p = np.zeros((2, 1)), np.eye(2)
    out = np.empty((len(measured), 2))
    for i, value in enumerate(measured):
        state, p = f @ state, f @ p @ f.T + 0.01 * np.eye(2)
        gain = p @ h.T / (h @ p @ h.T + 0.5)
        state = state + gain * (value - h @ state)
        p = (np.eye(2) - gain @ h) @ p
        out[i] = state[:, 0]
    return out


def mlp(x: Any, w1: Any, b1: Any, w2: Any) -> Any:
    hidden = np.maximum(np.dot(x, w1) + b1, 0)
    scores = hidden @ w2
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    return scores / scores.sum(axis=1, keepdims=True)


def lstm(x: Any, w: Any, u: Any) -> Any:
    n = u.shape[0]
    h, c, outputs = np.zeros(n), np.zeros(n), []
    for t in range(x.shape[0]):
        i, f, g, o = np.split(x[t] @ w + h @ u, 4)
        c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
        h = np.tanh(c) / (1 + np.exp(-o))
        outputs.append(h)
    return np.array(outputs)


def spectral_solver(u: Any) -> Any:
    k = np.fft.fftfreq(u.size, 1 / u.size)
    return np.fft.ifft(np.exp(-(k**2) * 0.01) * np.fft.fft(u)).real


def views(x: Any) -> Any:
    z = zeros(6)
    z.reshape(2, 3)[1] = x[:3]
    row = z[3:]
    row *= 2
    column = z.reshape(2, 3).T[0]
    column[:] += 10
    half = z[::2]
    z[0] = -1
    swapped = x[::-1].copy()
    swapped[[0, 1]] = swapped[[1, 0]]
    return z, row, half, swapped, np.asarray(z) is z


def scatter(x: Any, index: Any) -> Any:
    total = np.zeros(4)
    np.add.at(total, index, x)
    counts = np.bincount(index, minlength=4)
    best = np.full(4, -np.inf)
    np.maximum.at(best, index, x)
    np.copyto(best, 0, where=np.isinf(best))
    filled = np.tri(4)
    np.fill_diagonal(filled, total)
    return total, counts, best, filled, np.take_along_axis(filled, np.argsort(filled, 1), 1)


def moving_statistics(x: Any) -> Any:
    windows = np.stack([x[i : i + 3] for i in range(len(x) - 2)])
    trend = np.polyval(np.array([0.5, -1.0]), np.linspace(0, 1, len(x)))
    clipped = np.clip(x, *np.percentile(x, [10, 90]))
    return windows.mean(1), windows.std(1, ddof=1), x - trend, clipped, np.cumsum(x)[-1]


def newton(x: Any) -> Any:
    for _ in range(20):
        step = (x**3 - 2) / (3 * x**2)
        x = x - step
        if np.abs(step).max() < 1e-10:
            break
    return x


def kabsch(p: Any, q: Any) -> Any:
    u, _, vt = np.linalg.svd((p - p.mean(0)).T @ (q - q.mean(0)))
    sign = np.sign(np.linalg.det(vt.T @ u.T))
    return vt.T @ np.diag([1, 1, sign]) @ u.T, np.max([sign, 0.5]), np.linalg.norm([sign, p[0, 0]])


def sobel(image: Any) -> Any:
    kernel = np.array([[1, 0, -1], [2, 0, -2], [1, 0, -1]])
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3))
    noise = np.random.default_rng(0).normal(size=(3, 3))  # constant
    return np.hypot(*[np.einsum("ijkl,kl->ij", windows, k) for k in (kernel, kernel.T, noise)][:2])


class Regression:
    """A model with parameters as attributes."""

    def __init__(self) -> None:
        self.w, self.b, self.names = RNG.normal(size=(3, 2)), np.zeros(2), ["x", "y"]

    def predict(self, x: Any) -> Any:
        return np.tanh(x @ self.w + self.b)


def boids(position: Any, velocity: Any) -> Any:
    apart = position[:, None] - position
    distance = np.hypot(apart[..., 0], apart[..., 1])
    near = (distance > 0) & (distance < 1.5)
    count = np.maximum(near.sum(axis=1), 1).reshape(-1, 1)
    target = np.dot(near, velocity) / count
    length = np.sqrt((target * target).sum(axis=1)).reshape(-1, 1)
    np.divide(target, length, out=target, where=length != 0)
    repulsion = apart.copy()
    np.divide(apart, distance[..., None] ** 2, out=repulsion, where=near[..., None])
    push = (repulsion * near[..., None]).sum(axis=1) / count
    velocity = velocity + 0.1 * (target + push)
    position += velocity
    position[position > 1] -= 2
    return position, velocity


def viterbi(transition: Any, emission: Any) -> Any:
    steps, states = emission.shape
    score, back = np.empty((steps, states)), np.zeros((steps, states), dtype=int)
    score[0] = emission[0]
    for t in range(1, steps):
        every = score[t - 1][:, None] + transition
        back[t] = np.argmax(every, axis=0)
        score[t] = every.max(axis=0) + emission[t]
    path = np.zeros(steps, dtype=int)
    path[-1] = score[-1].argmax()
    for t in range(steps - 2, -1, -1):
        path[t] = back[t + 1, path[t + 1]]
    return path, score


class Layer:
    """A layer whose weights its own method updates."""

    def __init__(self, size: int, features: int) -> None:
        self.w, self.b = RNG.normal(size=(size, features)), np.zeros(features)

    def forward(self, x: Any) -> Any:
        self.x, self.y = x, np.tanh(x @ self.w + self.b)
        return self.y

    def backward(self, gradient: Any, rate: Any) -> Any:
        gradient = gradient * (1 - self.y**2)
        before = gradient @ self.w.T
        self.w -= rate * self.x.T @ gradient
        self.b = self.b - rate * gradient.sum(axis=0)
        return before


@dataclasses.dataclass(frozen=True)
class Scale:
    """A normalization."""

    mean: np.ndarray
    deviation: np.ndarray


class Network:
    """Layers in a list, arrays in a frozen dataclass and in a dict, and a training loop."""

    def __init__(self) -> None:
        self.layers = [Layer(3, 4), Layer(4, 2)]
        self.scale, self.settings = Scale(np.ones(3), np.full(3, 2.0)), {"rate": np.array(0.1)}
        self.steps, self.losses, self.itself = np.array(0), [], self

    def fit(self, x: Any, y: Any) -> Any:
        for _ in range(2):
            out = (x - self.scale.mean) / self.scale.deviation
            for layer in self.layers:
                out = layer.forward(out)
            gradient = 2 * (out - y) / len(x)
            for layer in self.layers[::-1]:
                gradient = layer.backward(gradient, self.settings["rate"])
            self.losses.append(((out - y) ** 2).mean())
            self.steps += 1
        return np.array(self.losses)


def normal(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape)


PROGRAMS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "k_means": (k_means, (normal(8, 2),)),
    "game_of_life": (game_of_life, (RNG.integers(0, 2, (6, 7)),)),
    "gaussian_process": (gaussian_process, (normal(5), normal(5), normal(3))),
    "n_body": (n_body, (normal(4, 3), normal(4, 3), np.abs(normal(4)))),
    "black_scholes": (black_scholes, (np.abs(normal(5)) + 1, np.abs(normal(5)) + 1)),
    "mandelbrot": (mandelbrot, (normal(3, 4) + 1j * normal(3, 4),)),
    "heat_equation": (heat_equation, (normal(5, 6),)),
    "kalman_filter": (kalman_filter, (normal(6),)),
    "mlp": (mlp, (normal(4, 3), normal(3, 5), normal(5), normal(5, 2))),
    "lstm": (lstm, (normal(4, 3), normal(3, 8), normal(2, 8))),
    "spectral_solver": (spectral_solver, (normal(8),)),
    "kabsch": (kabsch, (normal(5, 3), normal(5, 3))),
    "sobel": (sobel, (normal(5, 6),)),
    "boids": (boids, (normal(5, 2), normal(5, 2))),
    "viterbi": (viterbi, (normal(3, 3), normal(4, 3))),
    "views": (views, (normal(6),)),
    "scatter": (scatter, (normal(6), np.asarray([0, 2, 2, 1, 0, 2]))),
    "moving_statistics": (moving_statistics, (normal(9),)),
}
