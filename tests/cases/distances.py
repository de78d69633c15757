"""Cases of `nestarray.ops.distances`; the oracles are SciPy and PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.spatial.distance as distance
import torch

from tests.cases import Case

Args = Callable[[np.random.Generator], tuple[Any, ...]]


def drawn(*shapes: tuple[int, ...]) -> Args:
    return lambda rng: tuple(rng.standard_normal(shape) for shape in shapes)


def integers(*shapes: tuple[int, ...]) -> Args:
    return lambda rng: tuple(rng.integers(-5, 5, shape) for shape in shapes)


def metric(p: float) -> dict[str, Any]:
    if p == np.inf:
        return {"metric": "chebyshev"}
    return {"metric": "minkowski", "p": p}


def cdist(x1: np.ndarray, x2: np.ndarray, p: float = 2.0) -> np.ndarray:
    if x1.ndim == 2 and x2.ndim == 2:
        return distance.cdist(x1, x2, **metric(p))
    count = max(len(x) if x.ndim == 3 else 1 for x in (x1, x2))
    pairs = zip(*(np.broadcast_to(x, (count, *x.shape[-2:])) for x in (x1, x2)))
    return np.stack([cdist(a, b, p) for a, b in pairs])


def pdist(x: np.ndarray, p: float = 2.0) -> np.ndarray:
    return distance.pdist(x, **metric(p))


def of_pairs(x1: np.ndarray, x2: np.ndarray, keepdims: bool = False, **kwargs: Any) -> np.ndarray:
    function = torch.nn.functional.pairwise_distance
    return function(torch.from_numpy(x1), torch.from_numpy(x2), keepdim=keepdims, **kwargs).numpy()


def exact(op: str, args: Args, reference: Callable[..., Any], id: str, **kwargs: Any) -> Case:
    return Case(op, args, kwargs, reference=reference, differentiable=False, id=id)


def near(rng: np.random.Generator) -> tuple[Any, ...]:
    """Points whose squares hide their distances, some equal; whole, so exact in float32 too."""
    x1, x2 = (10_000.0 + rng.integers(0, 3, (n, 3)) for n in (4, 5))
    return x1, np.concatenate([x2, x1[:1]])


def of_batches(x1: np.ndarray, x2: np.ndarray) -> np.ndarray:
    return torch.cdist(torch.from_numpy(x1), torch.from_numpy(x2)).numpy()


CASES = [
    Case("cdist", drawn((3, 2), (4, 2)), reference=cdist),
    Case("cdist", drawn((2, 3, 2), (4, 2)), {"p": 1}, reference=cdist, id="batch-p1"),
    Case("cdist", drawn((3, 4), (2, 4)), {"p": 3.5}, reference=cdist, id="p3.5"),
    Case("cdist", drawn((3, 4), (2, 4)), {"p": float("inf")}, reference=cdist, id="inf"),
    exact(
        "cdist",
        integers((3, 2), (4, 2)),
        lambda x1, x2: cdist(x1, x2).astype("float32"),
        "int",
    ),
    exact(
        "cdist",
        integers((3, 2), (4, 2)),
        lambda x1, x2, p: (x1[:, None] != x2).sum(-1).astype("float32"),
        "p0",
        p=0,
    ),
    exact("cdist", near, cdist, "near-points-far-away"),
    Case("cdist", drawn((2, 1, 3, 2), (4, 4, 2)), reference=of_batches, id="batches"),
    exact("cdist", drawn((0, 2), (4, 2)), cdist, "no-points"),
    exact("cdist", drawn((3, 0), (2, 0)), lambda x1, x2: np.zeros((3, 2)), "no-coordinates"),
    exact(
        "cdist",
        lambda rng: (rng.integers(0, 255, (3, 2)).astype("uint8"),) * 2,
        lambda x1, x2: cdist(x1.astype(float), x2.astype(float)).astype("float32"),
        "unsigned",
    ),
    Case("pdist", drawn((5, 3)), reference=pdist),
    Case("pdist", drawn((4, 3)), {"p": 1.5}, reference=pdist, id="p1.5"),
    Case("pdist", drawn((1, 3)), reference=pdist, id="one-point"),
    Case("pairwise_distance", drawn((3, 4), (3, 4)), reference=of_pairs),
    Case(
        "pairwise_distance",
        drawn((3, 4), (4,)),
        {"p": 3, "eps": 0.1, "keepdims": True},
        reference=of_pairs,
        id="p3-kept",
    ),
]
