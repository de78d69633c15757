"""Cases of `nestarray.ops.representation`; the oracle is NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.cases import Case
from tests.cases.elementwise import Rng, of_numpy


def multiples(rng: Rng) -> tuple[Any, ...]:
    return np.asarray([[12, 0, -4, 7], [0, 30, 2**31, 1]]), np.asarray([18, 0, 6, -21])


def narrow(rng: Rng) -> tuple[Any, ...]:
    return np.asarray([250, 0, 35, 96], "uint8"), np.asarray([100, 5, 21, 128], "uint8")


def scaled(rng: Rng) -> tuple[Any, ...]:
    return np.asarray([[0.5, -3.0, 1.25]]), np.asarray([[4], [-1], [0]])


def far_scaled(rng: Rng) -> tuple[Any, ...]:
    """Powers of 2 that overflow or underflow in the dtype, and non-finite numbers."""
    x = np.asarray([2.0**-100, 2.0**100, np.inf, np.nan, 0.0, 1.0])
    return x, np.asarray([200, -200, -5, 3, 4000, -4000])


def signed(rng: Rng) -> tuple[Any, ...]:
    return (np.asarray([9.0, -0.75, 1.25, 0.9, 1000.5, -0.3]),)


def apart(rng: Rng) -> tuple[Any, ...]:
    return (np.asarray([0.0, np.inf, -np.inf, np.nan, 1e30, 1e-30, 8.0, 1.0, 0.99999]),)


CASES = [
    of_numpy("gcd", multiples, differentiable=False),
    of_numpy("gcd", narrow, differentiable=False, id="uint8"),
    of_numpy("gcd", lambda rng: (np.asarray([6, 9]), 15), differentiable=False, id="number"),
    of_numpy("lcm", multiples, differentiable=False),
    of_numpy("lcm", lambda rng: (np.asarray([6, 9], "int8"), 4), differentiable=False, id="number"),
    of_numpy(
        "bitwise_count", lambda rng: (rng.integers(-(2**62), 2**62, (5,)),), differentiable=False
    ),
    of_numpy(
        "bitwise_count",
        lambda rng: (np.asarray([0, 255, 7, 128], "uint8"),),
        differentiable=False,
        id="uint8",
    ),
    of_numpy(
        "bitwise_count",
        lambda rng: (np.asarray([-128, -1, 127], "int8"),),
        differentiable=False,
        id="int8",
    ),
    Case("ldexp", scaled, reference=np.ldexp, differentiable=(0,)),
    Case("ldexp", far_scaled, reference=np.ldexp, differentiable=False, id="far"),
    Case("frexp", signed, reference=np.frexp),
    Case("frexp", apart, reference=np.frexp, differentiable=False, id="apart"),
]
