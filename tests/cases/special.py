"""Cases of `nestarray.ops.special`; the oracle is SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

from tests.cases import Case

Rng = np.random.Generator


def wide(rng: Rng) -> tuple[Any, ...]:
    """All three branches of the approximations, both signs."""
    return (np.asarray([-5.5, -2.0, -0.6, -0.3, -1e-3, 0.2, 0.47, 1.1, 3.9, 4.2, 6.0]),)


def extremes(rng: Rng) -> tuple[Any, ...]:
    return (np.asarray([0.0, np.inf, -np.inf, np.nan, 12.0, 26.0, -40.0]),)


def within_one(rng: Rng) -> tuple[Any, ...]:
    return (np.asarray([-0.9, -0.6, -0.2, -1e-5, 0.1, 0.45, 0.52, 0.9]),)


def ends(rng: Rng) -> tuple[Any, ...]:
    return (np.asarray([1.0, -1.0, 0.0, 1.5, -2.0, np.nan]),)


def off_poles(rng: Rng) -> tuple[Any, ...]:
    return (np.asarray([-3.3, -1.5, -0.2, 0.1, 0.6, 1.3, 3.0, 7.9, 8.1, 40.0]),)


def pairs(rng: Rng) -> tuple[Any, ...]:
    return rng.uniform(0.2, 3.0, (2, 3)), rng.uniform(0.2, 3.0, (3,))


def with_zeros(rng: Rng) -> tuple[Any, ...]:
    return np.asarray([0.0, 0.0, 0.0, 2.0]), np.asarray([0.0, 2.0, np.nan, 3.0])


def small_integers(rng: Rng) -> tuple[Any, ...]:
    return (np.asarray([1, 2, 3]),)


def of_scipy(op: str, draw: Callable[[Rng], tuple[Any, ...]], name: str = "", **more: Any) -> Case:
    return Case(op, draw, reference=getattr(scipy.special, name or op), **more)


CASES = [
    of_scipy("erf", wide),
    of_scipy("erfc", wide),
    *(of_scipy(op, extremes, differentiable=False, id="extremes") for op in ("erf", "erfc")),
    of_scipy("erfinv", within_one),
    of_scipy("erfinv", ends, differentiable=False, id="ends"),
    of_scipy(
        "erfinv",
        lambda rng: (np.asarray([1 - 1e-10, 1 - 1e-15, -(1 - 2e-12), 1e-20]),),
        differentiable=False,
        dtypes=("float64",),
        id="tails",
    ),
    *(of_scipy(op, wide) for op in ("erfcx", "ndtr", "log_ndtr")),
    *(
        of_scipy(op, extremes, differentiable=False, id="extremes")
        for op in ("erfcx", "ndtr", "log_ndtr")
    ),
    of_scipy("ndtri", lambda rng: (np.asarray([0.05, 0.1, 0.2, 0.3, 0.5, 0.74, 0.8, 0.95]),)),
    of_scipy(
        "ndtri",
        lambda rng: (np.asarray([0.0, 1.0, -0.5, 1.5, np.nan, 1e-30, 1e-4]),),
        differentiable=False,
        id="ends",
    ),
    of_scipy("lgamma", off_poles, "gammaln"),
    of_scipy("digamma", off_poles),
    *(
        of_scipy(op, small_integers, name, differentiable=False, id="int")
        for op, name in (
            ("erf", "erf"),
            ("erfc", "erfc"),
            ("lgamma", "gammaln"),
            ("digamma", "digamma"),
        )
    ),
    of_scipy("xlogy", pairs),
    of_scipy("xlogy", with_zeros, differentiable=False, id="zeros"),
    of_scipy("xlog1py", pairs),
    of_scipy("xlog1py", with_zeros, differentiable=False, id="zeros"),
    of_scipy("logit", lambda rng: (rng.uniform(0.05, 0.95, (2, 3)),)),
    Case(
        "logit",
        lambda rng: (np.asarray([0.0, 0.3, 1.0]),),
        {"eps": 0.1},
        reference=lambda x, eps: scipy.special.logit(np.clip(x, eps, 1 - eps)),
        differentiable=False,
        id="eps",
    ),
    Case("sinc", lambda rng: (np.asarray([-1.5, -0.3, 0.7, 2.2]),), reference=np.sinc),
    Case(
        "sinc",
        lambda rng: (np.asarray([0.0, 1.0]),),
        reference=np.sinc,
        differentiable=False,
        id="zero",
    ),
    Case(
        "divide_no_nan",
        lambda rng: (np.asarray([1.0, 0.0, -2.0, 3.0]), np.asarray([0.0, 0.0, 0.5, -4.0])),
        reference=lambda x1, x2: np.divide(x1, x2, out=np.zeros_like(x1), where=x2 != 0),
        differentiable=(0,),
    ),
    Case(
        "divide_no_nan",
        lambda rng: (rng.standard_normal((2, 3)), rng.uniform(0.5, 2.0, 3)),
        reference=np.divide,
        id="nowhere",
    ),
    of_scipy("entr", lambda rng: (rng.uniform(0.05, 2.0, 6),)),
    of_scipy(
        "entr",
        lambda rng: (np.asarray([0.0, 1.0, -1.0, np.inf, np.nan]),),
        differentiable=False,
        id="ends",
    ),
    Case(
        "multigammaln",
        lambda rng: (rng.uniform(2.0, 9.0, (2, 4)),),
        {"p": 3},
        reference=lambda x, p: scipy.special.multigammaln(x, p),
    ),
    Case(
        "multigammaln",
        lambda rng: (np.asarray([0.2, 0.5, -1.0]),),
        {"p": 2},
        reference=lambda x, p: np.full(3, np.nan),
        differentiable=False,
        id="beyond",
    ),
]
