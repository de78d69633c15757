"""The functions of `na.random` and their counterparts in ``jax.random``, one row each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

import nestarray as na

SHAPES = np.asarray([0.3, 1.0, 2.5, 40.0])
RATES = np.asarray([0.0, 0.5, 9.5, 300.0])
PARTS = np.asarray([0.1, 0.5, 0.3, 0.1])
SCALES = np.asarray([0.5, 1.0, 3.0, 8.0])
TRIALS = np.asarray([0.0, 7.0, 40.0, 900.0])
CHANCES = np.asarray([0.03, 0.4, 0.97, 1.0])
SHARES = np.stack([PARTS, PARTS[::-1], np.eye(4)[1], np.full(4, 0.25)])
LOGITS = np.log(np.stack([PARTS, PARTS[::-1]]))
COV = np.asarray([[2.0, 1.0], [1.0, 2.0]])
MEAN = np.asarray([1.0, -1.0])
TABLE = np.arange(40.0).reshape(5, 8)


@dataclass(frozen=True)
class Row:
    """A draw in both libraries: arguments between the key and the shape, and behind the dtype."""

    name: str
    before: tuple[Any, ...] = ()
    last: tuple[int, ...] = ()  # sizes behind the shape that parameters broadcast to
    kwargs: dict[str, Any] = field(default_factory=dict)
    theirs: str = ""  # the name in jax.random
    ulps: float = 2.0  # of the number, or of 1 where that is more
    wide_ulps: float = 0.0  # of float64, where that is another
    narrow_ulps: float = 0.0  # of float16 and bfloat16
    rare: float = 0.0  # how many of all may be off because a rounding has tipped a decision
    reason: str = ""

    def ours(self, key: Any, shape: Any, dtype: str) -> Any:
        before = [cast(x, key, dtype) for x in self.before]
        draw = getattr(na.random, self.name)
        return draw(key, *before, shape=(*shape, *self.last), dtype=dtype, **self.kwargs)

    def reference(self, key: Any, shape: Any, dtype: str) -> Any:
        before = [cast(x, key, dtype) for x in self.before]
        draw = getattr(jax.random, self.theirs or self.name)
        return draw(key, *before, shape=(*shape, *self.last), dtype=dtype, **self.kwargs)


def cast(x: Any, key: Any, dtype: str) -> Any:
    """A floating parameter in `dtype` on the backend of `key`; integers and numbers unchanged."""
    if not isinstance(x, np.ndarray):
        return x
    wanted = dtype if x.dtype.kind == "f" and "int" not in dtype else x.dtype.name
    wanted = "float32" if wanted == "float64" and dtype != "float64" else wanted
    return na.astype(
        na.to_backend(
            x.astype(wanted) if wanted != "bfloat16" else x.astype("f4"), na.backend_of(key)
        ),
        wanted,
    )


CLOSE = "in float64 there is no wider type, in which a product and a sum are rounded together"
ROOT = (
    "XLA's reciprocal root is an estimate of the processor's, made better; a unit of it moves all "
    "numbers of that parameter, and the cube, and the power 1 / a, multiply it"
)
SQUARES = "the errors of three normal numbers and of their root"
POWERS = "an exponential function multiplies the error of the logarithm below"
FLOORED = "a rounding may tip which whole number is next"

FLOATS = [
    Row("uniform", ulps=0.0),
    Row("uniform", kwargs={"minval": -3.0, "maxval": 0.7}, ulps=0.0),
    Row("normal", ulps=0.0, wide_ulps=2.0, narrow_ulps=2.0, reason=CLOSE),
    Row("truncated_normal", (-1.0, 2.0)),
    Row("exponential", ulps=1.0, wide_ulps=2.0),
    Row("gumbel"),
    Row("gumbel", kwargs={"mode": "high"}),
    Row("laplace", ulps=1.0, wide_ulps=2.0),
    Row("logistic"),
    Row("cauchy", ulps=1.0),
]
PARAMETRIC = [
    Row("rayleigh", (SCALES,), (4,)),
    Row("weibull_min", (3.0, 2.0)),
    Row("pareto", (4.0,), ulps=4.0, reason=POWERS),
    Row("lognormal", (0.5,), ulps=4.0, reason=POWERS),
    Row("maxwell", wide_ulps=4.0, reason=SQUARES),
    Row("double_sided_maxwell", (1.0, 2.0), wide_ulps=8.0, reason=SQUARES),
    Row("triangular", (-1.0, 0.5, 3.0)),
]
REJECTED = [
    Row("generalized_normal", (2.5,), ulps=2.0, wide_ulps=8.0, reason=ROOT),
    Row(
        "wald",
        (2.0,),
        ulps=400.0,
        wide_ulps=400.0,
        reason="jax.random loses the digits of small numbers, which a difference of large ones is",
    ),
    Row("binomial", (TRIALS, CHANCES), (4,), ulps=0.0, rare=1e-3, reason=FLOORED),
    Row("gamma", (SHAPES,), (4,), ulps=2.0, wide_ulps=8.0, reason=ROOT),
    Row("loggamma", (SHAPES,), (4,), ulps=2.0, wide_ulps=8.0, reason=ROOT),
    Row("beta", (SHAPES, 2.0), (4,), ulps=2.0, wide_ulps=8.0, reason=ROOT),
    Row("chisquare", (SHAPES,), (4,), ulps=6.0, wide_ulps=8.0, reason=ROOT),
    Row(
        "student_t",
        (SHAPES,),
        (4,),
        theirs="t",
        ulps=6.0,
        wide_ulps=8.0,
        reason=ROOT,
    ),
    Row("dirichlet", (SHAPES,), ulps=2.0, wide_ulps=8.0, reason=ROOT),
    Row("ball", (3,), ulps=2.0, wide_ulps=32.0, reason=ROOT),
    Row("ball", (3, 1.0), ulps=2.0, wide_ulps=32.0, reason=ROOT),
    Row("multivariate_normal", (MEAN, COV), ulps=8.0, reason="sums of products of normal numbers"),
]
INTEGERS = [
    Row("randint", (), kwargs={"minval": -5, "maxval": 100}),
    Row("rademacher"),
    Row("poisson", (RATES,), (4,)),
    Row("geometric", (CHANCES,), (4,)),
]

Draw = Callable[[Any], Any]


def beside(x: np.ndarray, key: Any) -> Any:
    """`x` on the backend of `key`, in 32 bits."""
    small = {"f": "float32", "i": "int32", "u": "uint32"}[x.dtype.kind]
    return na.to_backend(x.astype(small), na.backend_of(key))


LOW = np.asarray([0, 5, 7])
HIGH = np.asarray([[10], [3], [2**31 - 1], [100]])

#: Draws without a dtype, exact: (na.random, jax.random).
EXACT: dict[str, tuple[Draw, Draw]] = {
    "split shape": (lambda k: na.random.split(k, (2, 3)), lambda k: jax.random.split(k, (2, 3))),
    "bernoulli array": (
        lambda k: na.random.bernoulli(k, beside(PARTS, k), (50, 4)),
        lambda k: jax.random.bernoulli(k, beside(PARTS, k), (50, 4)),
    ),
    "bernoulli high": (
        lambda k: na.random.bernoulli(k, 0.3, (200,), mode="high"),
        lambda k: jax.random.bernoulli(k, np.float32(0.3), (200,), mode="high"),
    ),
    "randint bounds": (
        lambda k: na.random.randint(k, (4, 3), beside(LOW, k), beside(HIGH, k)),
        lambda k: jax.random.randint(k, (4, 3), beside(LOW, k), beside(HIGH, k)),
    ),
    "randint one bound": (
        lambda k: na.random.randint(k, (4, 3), -(2**31), beside(HIGH, k)),
        lambda k: jax.random.randint(k, (4, 3), -(2**31), beside(HIGH, k)),
    ),
    "randint bytes": (
        lambda k: na.random.randint(k, (4, 3), beside(LOW, k), beside(HIGH, k), "uint8"),
        lambda k: jax.random.randint(k, (4, 3), beside(LOW, k), beside(HIGH, k), "uint8"),
    ),
    "permutation independent": (
        lambda k: na.random.permutation(k, beside(TABLE, k), 1, independent=True),
        lambda k: jax.random.permutation(k, beside(TABLE, k), 1, independent=True),
    ),
    "permutation large": (
        lambda k: na.astype(na.random.permutation(k, 5000), "int32"),
        lambda k: jax.random.permutation(k, 5000),
    ),
    "choice": (
        lambda k: na.random.choice(k, beside(TABLE, k), (3, 2), axis=1),
        lambda k: jax.random.choice(k, beside(TABLE, k), (3, 2), axis=1),
    ),
    "choice of count": (
        lambda k: na.astype(na.random.choice(k, 7, (30,)), "int32"),
        lambda k: jax.random.choice(k, 7, (30,)),
    ),
    "choice once": (
        lambda k: na.random.choice(k, beside(TABLE, k), (2, 2), replace=False, axis=1),
        lambda k: jax.random.choice(k, beside(TABLE, k), (2, 2), replace=False, axis=1),
    ),
    "choice by p": (
        lambda k: na.astype(na.random.choice(k, 4, (300,), p=beside(PARTS, k)), "int32"),
        lambda k: jax.random.choice(k, 4, (300,), p=beside(PARTS, k)),
    ),
    "choice once by p": (
        lambda k: na.astype(na.random.choice(k, 4, (3,), False, beside(PARTS, k)), "int32"),
        lambda k: jax.random.choice(k, 4, (3,), False, beside(PARTS, k)),
    ),
    "multinomial": (
        lambda k: na.random.multinomial(k, 50.0, beside(PARTS, k), shape=(20,)),
        lambda k: jax.random.multinomial(k, 50.0, beside(PARTS, k), shape=(20,)),
    ),
    "multinomial of arrays": (
        lambda k: na.random.multinomial(k, beside(TRIALS, k), beside(SHARES, k), shape=(3, 4)),
        lambda k: jax.random.multinomial(k, beside(TRIALS, k), beside(SHARES, k), shape=(3, 4)),
    ),
    "categorical once": (
        lambda k: na.astype(
            na.random.categorical(k, beside(LOGITS, k), shape=(3, 2), replace=False), "int32"
        ),
        lambda k: jax.random.categorical(k, beside(LOGITS, k), shape=(3, 2), replace=False),
    ),
    "categorical once axis": (
        lambda k: na.astype(
            na.random.categorical(k, beside(LOGITS, k), axis=0, shape=(2, 4), replace=False),
            "int32",
        ),
        lambda k: jax.random.categorical(k, beside(LOGITS, k), axis=0, shape=(2, 4), replace=False),
    ),
}
