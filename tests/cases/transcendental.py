"""Cases of `nestarray.ops.transcendental`; the oracle is NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.cases import Case
from tests.cases.elementwise import Rng, complex_numbers, of_numpy, two_positive, two_real


def positive(rng: Rng) -> tuple[Any, ...]:
    return (rng.uniform(0.2, 3.0, (2, 3)),)


def any_real(rng: Rng) -> tuple[Any, ...]:
    return (rng.uniform(-1.4, 1.4, (2, 3)),)


def within_one(rng: Rng) -> tuple[Any, ...]:
    return (rng.uniform(-0.9, 0.9, (2, 3)),)


def above_one(rng: Rng) -> tuple[Any, ...]:
    return (rng.uniform(1.2, 3.0, (2, 3)),)


def zeros_and_ones(rng: Rng) -> tuple[Any, ...]:
    return (np.asarray([0, 1]),)


def ones_and_twos(rng: Rng) -> tuple[Any, ...]:
    return (np.asarray([1, 2]),)


def tiny(rng: Rng) -> tuple[Any, ...]:
    return (np.asarray([1e-12, -1e-12, 0.0]),)


DOMAINS = {
    "exp": any_real, "expm1": any_real, "exp2": any_real, "log": positive, "log1p": positive,
    "log2": positive, "log10": positive, "sqrt": positive, "sin": any_real, "cos": any_real,
    "tan": any_real, "asin": within_one, "acos": within_one, "atan": any_real, "sinh": any_real,
    "cosh": any_real, "tanh": any_real, "asinh": any_real, "acosh": above_one, "atanh": within_one,
    "deg2rad": any_real, "rad2deg": any_real,
}  # fmt: skip
NEEDS_POSITIVE = ("log", "log2", "log10", "acosh")

CASES = [
    *(of_numpy(op, draw) for op, draw in DOMAINS.items()),
    *(
        of_numpy(
            op,
            ones_and_twos if op in NEEDS_POSITIVE else zeros_and_ones,
            differentiable=False,
            id="int",
        )
        for op in DOMAINS
        if op != "atanh"
    ),
    *(
        of_numpy(op, complex_numbers, differentiable=False, id="complex")
        for op in ("exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")
    ),
    *(of_numpy(op, tiny, id="tiny") for op in ("expm1", "log1p")),
    Case("rsqrt", positive, reference=lambda x: 1.0 / np.sqrt(x)),
    Case(
        "rsqrt", ones_and_twos, reference=lambda x: 1.0 / np.sqrt(x), differentiable=False, id="int"
    ),
    of_numpy("atan2", two_real),
    of_numpy(
        "atan2",
        lambda rng: (np.asarray([0.0, -0.0, 0.0]), np.asarray([-1.0, -1.0, 0.0])),
        differentiable=False,
        id="zeros",
    ),
    of_numpy("hypot", two_real),
    of_numpy(
        "hypot",
        lambda rng: (np.asarray([3, 5]), np.asarray([4, 12])),
        differentiable=False,
        id="int",
    ),
    of_numpy(
        "hypot",
        lambda rng: (
            np.asarray([0.0, 1e200, np.inf, np.nan]),
            np.asarray([0.0, 1e200, np.nan, 1.0]),
        ),
        differentiable=False,
        dtypes=("float64",),
        id="extremes",
    ),
    of_numpy("cbrt", lambda rng: (np.asarray([-27.0, -0.3, 0.5, 2.0, 1000.0]),)),
    of_numpy(
        "cbrt",
        lambda rng: (np.asarray([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-3]),),
        differentiable=False,
        id="apart",
    ),
    of_numpy("logaddexp2", two_positive),
    of_numpy(
        "logaddexp2",
        lambda rng: (np.asarray([-np.inf, np.inf, 1000.0]), np.asarray([-np.inf, 1.0, 1000.0])),
        differentiable=False,
        id="extremes",
    ),
    of_numpy("logaddexp", two_positive),
    Case(
        "logaddexp",
        lambda rng: (np.asarray([0.5 + 1j, -1.2, 800 - 1j]), np.asarray([[1 - 0.5j], [-2 + 1j]])),
        reference=lambda x1, x2: np.log1p(np.exp(x2 - x1)) + x1,
        differentiable=False,
        id="complex",
    ),
    of_numpy(
        "logaddexp",
        lambda rng: (
            np.asarray([-np.inf, np.inf, 1000.0, -np.inf]),
            np.asarray([-np.inf, 1.0, 1000.0, 2.0]),
        ),
        differentiable=False,
        id="extremes",
    ),
    of_numpy(
        "logaddexp",
        lambda rng: (np.asarray([1, 2]), np.asarray([3, 4])),
        differentiable=False,
        id="int",
    ),
]
