"""Idioms of NumPy code that its protocols do not see: lists, `math`, random numbers, iteration."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from math import erf, exp, log, sqrt
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

RNG = np.random.default_rng(2)


def lists_of_numbers(a: Any, b: Any) -> Any:
    total = np.sum([a, b]) + np.dot([a, b], [1, 2]) + np.add.reduce([a, b])
    return np.sqrt([a, b]), np.maximum([a, b], 0.5), np.arctan2([a, 1.0], [b, 2.0]), total


def option_price(spot: Any, strike: Any, volatility: Any) -> Any:
    root = volatility * sqrt(1.5)
    d1 = (log(spot / strike) + (0.02 + volatility**2 / 2) * 1.5) / root
    normal = lambda x: 0.5 * (1 + erf(x / math.sqrt(2)))  # noqa: E731
    return spot * normal(d1) - strike * exp(-0.03) * normal(d1 - root), math.floor(spot)


def random_weights(x: Any, y: Any) -> Any:
    np.random.seed(0)
    w, b = np.random.randn(3) * 0.1, np.zeros(1)
    rng = np.random.default_rng(1)
    order = np.arange(len(x))
    for _ in range(2):
        rng.shuffle(order)
        for start in range(0, len(x), 2):
            rows = order[start : start + 2]
            error = x[rows] @ w + b - y[rows]
            w -= 0.1 * x[rows].T @ error
            b -= error.mean()
    shuffled = x.copy()
    np.random.shuffle(shuffled)
    return w, b, shuffled, rng.permutation(x), rng.choice(x, 3, replace=False)


def policy_gradient(w: Any, frames: Any) -> Any:
    states, hidden = [], []
    for frame in frames:
        x = np.r_[frame, 0.5, frame[:2]]
        x[x < -1] = -1
        h = np.tanh(w @ x)
        states.append(x)
        hidden.append(h)
    advantage = np.c_[np.ones(len(frames)), np.arange(len(frames))].sum(axis=1)
    return (np.vstack(hidden) * advantage[:, None]).T @ np.vstack(states)


def iteration(x: Any) -> Any:
    out, total = np.zeros_like(x), 0.0
    with np.nditer([x, out], op_flags=[["readonly"], ["writeonly"]]) as pairs:
        for a, b in pairs:
            b[...] = 2 * a
    it = np.nditer(x.T, flags=["multi_index"])
    while not it.finished:
        i, j = it.multi_index
        total += x[j, i] * (i + j)
        it.iternext()
    for (i, j), value in np.ndenumerate(x):
        total += value * (i - j)
    return out, total, np.stack([v[...] for v in np.nditer(x.T)])


def windows(x: Any, image: Any) -> Any:
    step, (down, right) = x.strides[0], image.strides
    rows = as_strided(x, shape=(4, 3), strides=(step, step))
    patches = np.lib.stride_tricks.as_strided(image, (2, 3, 2, 2), (down, right, down, right))
    return rows.mean(axis=1), patches.max(axis=(2, 3))


def targets(q: Any, rewards: Any) -> Any:
    new = q.copy()
    new[range(len(q)), [0, 2, 1]] = rewards + 0.9 * q[range(len(q)), [1, 1, 1]]
    np.subtract.at(new, (slice(None), 1), rewards)
    new.flat = new.flat[::-1]
    return new, round(q[0, 0], 2), [2 * x for x in q.tolist()[0]]


def polynomials(c: Any, x: Any) -> Any:
    p = np.poly1d(c)
    return p(x), p.deriv()(x), np.polynomial.polynomial.polyval(x, c), np.polymul(c, [1, 2])


def entropy(labels: Any) -> Any:
    counts: dict[Any, int] = defaultdict(int)
    for label in labels:
        counts[label] += 1
    p = np.array(list(counts.values())) / len(labels)
    return -np.sum(p * np.log2(p)), Counter(labels.tolist()).most_common(1)[0][1]


@np.vectorize
def _leaky(x: Any, slope: Any = 0.1) -> Any:
    return x if x > 0 else slope * x


def vectorized_only(x: Any) -> Any:
    return np.vectorize(lambda y: y * 2 if y > 0 else -y)(x)


def vectorized_choice(x: Any) -> Any:
    return _leaky(x), np.vectorize(math.atan)(x)


def pivoting(a: Any, b: Any) -> Any:
    rows = np.hstack([a, b[:, None]])
    for i in range(len(b)):
        p = i + np.argmax(np.abs(rows[i:, i]))
        rows[[i, p]] = rows[[p, i]]
        for j in range(i + 1, len(b)):
            rows[j] -= rows[i] * (rows[j, i] / rows[i, i])
    return rows


def masks_computed_twice(c: Any) -> Any:
    low, high = np.zeros_like(c), np.full_like(c, 4.0)
    middle = (low + high) / 2
    low[middle**3 < c] = middle[middle**3 < c]
    high[~(middle**3 < c)] = middle[~(middle**3 < c)] + low[~(middle**3 < c)]
    return low, high


def buffers(x: Any, w: Any) -> Any:
    rows, out = x.copy(), np.zeros_like(x)
    np.matmul(rows, w, out=rows)
    np.tanh(rows, out=out)
    return out, rows.repeat(2, axis=1), np.repeat(x[0], 3)


def normal(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape)


IDIOMS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "lists_of_numbers": (lists_of_numbers, (np.asarray(2.0), np.asarray(0.3))),
    "option_price": (option_price, (np.asarray(9.5), np.asarray(9.0), np.asarray(0.3))),
    "random_weights": (random_weights, (normal(6, 3), normal(6))),
    "policy_gradient": (policy_gradient, (normal(3, 7), normal(2, 4))),
    "iteration": (iteration, (normal(2, 3),)),
    "windows": (windows, (normal(6), normal(3, 4))),
    "targets": (targets, (normal(3, 3), normal(3))),
    "polynomials": (polynomials, (normal(4), normal(3))),
    "entropy": (entropy, (np.asarray([1, 0, 2, 0, 1]),)),
    "vectorized_choice": (vectorized_choice, (normal(4),)),
    "vectorized_only": (vectorized_only, (normal(4),)),
    "masks_computed_twice": (masks_computed_twice, (normal(5) * 8,)),
    "buffers": (buffers, (normal(2, 3), normal(3, 3))),
    "pivoting": (pivoting, (normal(3, 3), normal(3))),
}
