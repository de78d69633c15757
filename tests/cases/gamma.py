"""Cases of `nestarray.ops.gamma`; the oracle is SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special

from tests.cases import Case
from tests.cases.special import Rng, of_scipy, small_integers

INCOMPLETE = ("gammainc", "gammaincc")


def around_the_mean(rng: Rng) -> tuple[Any, ...]:
    """Both integrals, and all branches of the factor before them."""
    a = np.asarray([0.3, 0.8, 2.0, 9.0, 11.0, 40.0, 40.0, 300.0])
    return a, a * np.asarray([0.5, 3.0, 0.7, 1.3, 0.9, 0.8, 1.2, 1.05])


def extreme_gammas(rng: Rng) -> tuple[Any, ...]:
    a = [0.0, 1.0, 1.0, 0.0, -1.0, 2.0, 1e-3, 1e4, 1e4, np.nan]
    x = [1.0, 0.0, np.inf, 0.0, 1.0, -1.0, 5.0, 9.9e3, 1.01e4, 1.0]
    return np.asarray(a), np.asarray(x)


def betas(rng: Rng) -> tuple[Any, ...]:
    """Small and large parameters in every combination, left and right of the mean."""
    a = np.asarray([0.4, 2.0, 3.0, 15.0, 20.0, 4.0, 30.0])
    b = np.asarray([0.7, 3.0, 15.0, 4.0, 30.0, 2.0, 12.0])
    return a, b, np.asarray([0.3, 0.6, 0.1, 0.8, 0.35, 0.9, 0.8])


def extreme_betas(rng: Rng) -> tuple[Any, ...]:
    a = [1.0, 1.0, -1.0, 1.0, 1.0, 0.01, 5e3, 0.5, 800.0]
    b = [2.0, 2.0, 1.0, 2.0, np.nan, 0.01, 4e3, 2e3, 0.5]
    x = [0.0, 1.0, 0.5, 1.5, 0.5, 0.25, 0.55, 1e-3, 0.999]
    return np.asarray(a), np.asarray(b), np.asarray(x)


def sums(rng: Rng) -> tuple[Any, ...]:
    x = np.asarray([1.2, 2.0, 3.5, 8.0, 25.0])
    return x, np.asarray([0.3, 1.0, 2.5, 12.0, 1.5])


def extreme_sums(rng: Rng) -> tuple[Any, ...]:
    x = [1.0, 0.5, 2.0, 2.0, np.nan, 3.0, 1.5, 400.0]
    return np.asarray(x), np.asarray([1.0, 1.0, 0.0, -3.0, 1.0, 1e8, np.inf, 1.0])


CASES = [
    *(of_scipy(op, around_the_mean) for op in INCOMPLETE),
    *(of_scipy(op, extreme_gammas, differentiable=False, id="extremes") for op in INCOMPLETE),
    *(
        of_scipy(
            op, lambda rng: (2.5, np.asarray([[1, 2], [3, 4]])), differentiable=False, id="int"
        )
        for op in INCOMPLETE
    ),
    of_scipy("betainc", betas),
    of_scipy("betainc", extreme_betas, differentiable=False, id="extremes"),
    of_scipy(
        "betainc",
        lambda rng: (np.asarray([[1], [2]]), 3, np.asarray([0.2, 0.7])),
        differentiable=False,
        id="broadcast",
    ),
    of_scipy("zeta", sums),
    of_scipy("zeta", extreme_sums, differentiable=False, id="extremes"),
    *(
        Case(
            "polygamma",
            lambda rng, n=n: (n, np.asarray([-3.4, -1.5, -0.6, 0.55, 0.7, 1.3, 3.0, 11.9, 40.0])),
            reference=scipy.special.polygamma,
            id=f"order-{n}" if n else "",
        )
        for n in (0, 1, 4)
    ),
    Case(
        "polygamma",
        lambda rng: (2, np.asarray([0.0, -1.0, np.inf, np.nan, 1e3])),
        reference=scipy.special.polygamma,
        differentiable=False,
        id="extremes",
    ),
    Case(
        "polygamma",
        lambda rng: (1, *small_integers(rng)),
        reference=scipy.special.polygamma,
        differentiable=False,
        id="int",
    ),
]
