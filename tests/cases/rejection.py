"""Cases of `nestarray.ops.rejection`; the oracle is jax.random with raw keys."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from tests.cases import Case

KEY = np.asarray([3, 5], np.uint32)
COMMON: dict[str, Any] = {
    "differentiable": False,
    "dtypes": ("float32",),
    "bodies": ("numpy",),
}
LOOPS = "the body is a loop whose length depends on the numbers, which no trace has"


def gamma(key: np.ndarray, a: np.ndarray, *, log_space: bool = False) -> np.ndarray:
    draw = jax.random.loggamma if log_space else jax.random.gamma
    return np.asarray(draw(jax.numpy.asarray(key), a.astype("float32"), dtype="float32"))


def poisson(key: np.ndarray, lam: np.ndarray, *, dtype: str = "int32") -> np.ndarray:
    return np.asarray(
        jax.random.poisson(jax.numpy.asarray(key), lam.astype("float32"), dtype=dtype)
    )


def binomial(key: np.ndarray, n: np.ndarray, p: np.ndarray) -> np.ndarray:
    n, p = n.astype("float32"), p.astype("float32")
    return np.asarray(jax.random.binomial(jax.numpy.asarray(key), n, p, dtype="float32"))


def trials(rng: np.random.Generator) -> tuple[Any, ...]:
    return KEY, rng.integers(0, 200, (4, 5)).astype("float64"), rng.uniform(0.0, 1.0, (4, 5))


def shapes(rng: np.random.Generator) -> tuple[Any, ...]:
    return KEY, rng.uniform(0.2, 9.0, (4, 5))


def rates(rng: np.random.Generator) -> tuple[Any, ...]:
    return KEY, rng.uniform(0.0, 40.0, (4, 5))


def rounding(why: str) -> dict[str, Any]:
    return {"tolerance": 2e-5, "reason": f"{why}; {LOOPS}"}


CASES = [
    Case("random_gamma", shapes, {}, gamma, **COMMON, **rounding("cubes and powers 1 / a")),
    Case(
        "random_gamma",
        shapes,
        {"log_space": True},
        gamma,
        id="log",
        **COMMON,
        **rounding("sums of three logarithms"),
    ),
    Case("random_binomial", trials, {}, binomial, reason=LOOPS, **COMMON),
    Case("random_poisson", rates, {}, poisson, dtype="int32", reason=LOOPS, **COMMON),
]
