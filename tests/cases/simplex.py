"""Cases of `nestarray.ops.simplex`; the oracles are torch, jax.random and a root finder of SciPy."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.optimize
import torch
import torch.nn.functional as F

from tests.cases import Case

Rng = np.random.Generator


def logits(rng: Rng) -> tuple[Any, ...]:
    return (rng.normal(size=(3, 4)),)


def random(rng: Rng) -> tuple[Any, ...]:
    return (*logits(rng), rng.integers(0, 2**32, 2, dtype=np.uint32))


def softmin(x: Any, *, axis: int = -1) -> Any:
    return F.softmin(torch.as_tensor(x), axis)


def sparsemax(x: Any, *, axis: int = -1) -> Any:
    """The threshold as the root of (sum of the excess above it) − 1."""

    def row(values: np.ndarray) -> np.ndarray:
        top = values.max()
        root: Any = scipy.optimize.brentq(
            lambda tau: np.maximum(values - tau, 0).sum() - 1, top - 1, top, xtol=1e-15
        )
        return np.maximum(values - root, 0)

    return np.apply_along_axis(row, axis, x)


def gumbel_softmax(draw: str) -> Any:
    """With noise drawn in the dtype `draw`, because the bits depend on the dtype."""

    def reference(x: Any, key: Any, *, axis: int = -1, tau: float = 1.0, hard: bool = False) -> Any:
        with jax.enable_x64(True):
            noise = jax.random.gumbel(jnp.asarray(key), x.shape, draw)
            soft = jax.nn.softmax((x + noise.astype("float64")) / tau, axis)
            if hard:
                soft = jax.nn.one_hot(soft.argmax(axis), x.shape[axis], axis=axis, dtype=x.dtype)
            return np.asarray(soft)

    return reference


CASES = [
    Case("softmin", logits, reference=softmin),
    Case("softmin", logits, {"axis": 0}, softmin, id="axis"),
    Case("sparsemax", logits, reference=sparsemax),
    Case("sparsemax", logits, {"axis": 0}, sparsemax, id="axis"),
    Case("gumbel_softmax", random, reference=gumbel_softmax("float64"), dtypes=("float64",)),
    Case(
        "gumbel_softmax",
        random,
        {"axis": 0, "tau": 0.5},
        gumbel_softmax("float32"),
        dtypes=("float32",),
        id="float32",
    ),
    Case(
        "gumbel_softmax",
        random,
        {"axis": 0, "hard": True},
        gumbel_softmax("float64"),
        dtypes=("float64",),
        differentiable=False,  # the straight-through estimator is not a derivative
        id="hard",
    ),
    *(
        Case(op, lambda rng: (rng.uniform(-2.0, 2.0, 12),), reference=getattr(jax.nn, op))
        for op in ("sparse_plus", "sparse_sigmoid")
    ),
]
