"""Cases of `nestarray.ops.segments`; the oracles are NumPy's `ufunc.at` and SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.ndimage

from tests.cases import Case

Rng = np.random.Generator


def rows(rng: Rng) -> tuple[Any, ...]:
    return rng.standard_normal((5, 2)), np.asarray([2, 0, 2, 1, 0])


def summed(x: np.ndarray, ids: np.ndarray, num_segments: int | None = None) -> np.ndarray:
    count = int(ids.max()) + 1 if num_segments is None else num_segments
    return np.stack([x[ids == i].sum(0) for i in range(count)])


def greatest(x: np.ndarray, ids: np.ndarray, num_segments: int | None = None) -> np.ndarray:
    count = int(ids.max()) + 1 if num_segments is None else num_segments
    return np.stack([x[ids == i].max(0, initial=-np.inf) for i in range(count)])


def least(x: np.ndarray, ids: np.ndarray, num_segments: int) -> np.ndarray:
    result = np.full((num_segments, *x.shape[1:]), np.inf)
    np.minimum.at(result, ids, x)
    return result


def multiplied(x: np.ndarray, ids: np.ndarray, num_segments: int) -> np.ndarray:
    result = np.ones((num_segments, *x.shape[1:]))
    np.multiply.at(result, ids, x)
    return result


def means(x: np.ndarray, ids: np.ndarray, num_segments: int | None = None) -> np.ndarray:
    present = range(int(ids.max()) + 1 if num_segments is None else num_segments)
    columns = x.reshape(len(ids), -1).T
    found = np.stack(
        [scipy.ndimage.mean(c, ids, [i for i in present if i in ids]) for c in columns]
    )
    result = np.zeros((len(present), *x.shape[1:]))
    result[[i for i in present if i in ids]] = found.T.reshape(-1, *x.shape[1:])
    return result


CASES = [
    Case("segment_sum", rows, {"num_segments": 4}, reference=summed),
    Case("segment_sum", rows, reference=summed, jit=False, id="counted"),
    Case("segment_max", rows, {"num_segments": 4}, reference=greatest, differentiable=False),
    Case("segment_max", rows, {"num_segments": 3}, reference=greatest, id="all"),
    Case("segment_min", rows, {"num_segments": 4}, reference=least, differentiable=False),
    Case("segment_min", rows, {"num_segments": 3}, reference=least, id="all"),
    Case("segment_prod", rows, {"num_segments": 4}, reference=multiplied),
    Case("segment_mean", rows, {"num_segments": 4}, reference=means),
    Case("segment_mean", rows, reference=means, jit=False, id="counted"),
    Case(
        "segment_mean",
        lambda rng: (np.asarray([1, 2, 4]), np.asarray([1, 0, 1])),
        {"num_segments": 2},
        reference=lambda x, ids, **_: means(x, ids),
        differentiable=False,
        id="integers",
    ),
]
