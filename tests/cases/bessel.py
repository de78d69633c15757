"""Cases of `nestarray.ops.bessel`; the oracle is SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.cases.special import Rng, of_scipy, small_integers


def both_series(rng: Rng) -> tuple[Any, ...]:
    """Of both signs, within 8 and beyond."""
    return (np.asarray([-20.0, -7.5, -1.2, -0.3, 0.4, 2.5, 7.9, 8.2, 15.0]),)


def far(rng: Rng) -> tuple[Any, ...]:
    return (np.asarray([0.0, -80.0, 300.0, 1e6, 1e30, np.nan]),)


def large(rng: Rng) -> tuple[Any, ...]:
    return (np.asarray([0.0, -80.0, 60.0, np.nan]),)


OPS = ("i0", "i0e", "i1", "i1e")

CASES = [
    *(of_scipy(op, both_series) for op in OPS),
    *(of_scipy(op, far, differentiable=False, id="far") for op in ("i0e", "i1e")),
    *(of_scipy(op, large, differentiable=False, id="large") for op in ("i0", "i1")),
    *(of_scipy(op, small_integers, differentiable=False, id="int") for op in OPS),
]
