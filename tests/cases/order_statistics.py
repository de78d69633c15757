"""Cases of `nestarray.ops.order_statistics`; the oracles are NumPy and SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.stats

from nestarray.ops.order_statistics import QUANTILE_METHODS
from tests.cases import Case
from tests.cases.statistical import (
    Rng,
    apart,
    as_float32,
    block,
    exact,
    reductions,
    small_integers,
    with_nan,
)


def quantiles(method: str) -> Case:
    def args(rng: Rng) -> tuple[Any, ...]:
        # Multiples of 1/8 times 7 are exact, so that no rounding decides between neighbours.
        return rng.permutation(16).reshape(2, 8) / 4, np.asarray([0.0, 0.125, 0.5, 0.875, 1.0])

    settings = {"axis": -1, "method": method}
    return Case("quantile", args, settings, reference=np.quantile, differentiable=(0,), id=method)


#: Powers of two, and a zero: their shares are exact.
WEIGHTS = np.asarray([0.0, 0.25, 0.5, 1.0, 0.25, 1.0, 0.5, 0.5])


def weighted_rows(rng: Rng) -> tuple[Any, ...]:
    return rng.permutation(16).reshape(2, 8) / 4, np.asarray([[0.0, 0.125], [0.5, 1.0]])


def few(rng: Rng) -> tuple[Any, ...]:
    return (rng.integers(0, 3, (3, 7)),)


def most_common(x: np.ndarray, **kwargs: Any) -> list[np.ndarray]:
    return [np.asarray(part) for part in scipy.stats.mode(x, **kwargs)]


CASES = [
    *(case for case in reductions("median", np.median, apart) if case.id != "no-axis"),
    exact("median", with_nan, "nan", np.median, axis=1),
    exact("median", small_integers, "int8", as_float32(np.median)),
    *(quantiles(method) for method in QUANTILE_METHODS),
    Case(
        "quantile",
        weighted_rows,
        {"axis": -1, "method": "inverted_cdf", "weights": WEIGHTS},
        reference=np.quantile,
        differentiable=(0,),
        id="weights-of-axis",
    ),
    Case(
        "quantile",
        lambda rng: (*with_nan(rng), 0.4),
        {
            "axis": 1,
            "method": "inverted_cdf",
            "keepdims": True,
            "weights": np.arange(12.0).reshape(3, 4),
        },
        reference=np.quantile,
        differentiable=False,
        id="weights-nan",
    ),
    Case(
        "percentile",
        lambda rng: (weighted_rows(rng)[0], 37.5),
        {"method": "inverted_cdf", "weights": np.stack([WEIGHTS, WEIGHTS[::-1]])},
        reference=np.percentile,
        id="weights",
    ),
    Case(
        "quantile",
        lambda rng: (*apart(rng), 0.3),
        {"axis": (0, 2), "keepdims": True},
        reference=np.quantile,
        id="two-kept",
    ),
    Case(
        "quantile",
        lambda rng: (*apart(rng), np.asarray([[0.1], [0.6]])),
        {"axis": 1},
        reference=np.quantile,
        differentiable=(0,),
        id="shares-2d",
    ),
    Case(
        "percentile",
        lambda rng: (*apart(rng), np.asarray([5.0, 50.0, 80.0])),
        {"axis": (0, -1), "keepdims": True},
        reference=np.percentile,
        differentiable=(0,),
    ),
    Case("percentile", lambda rng: (*apart(rng), 30), reference=np.percentile, id="all"),
    Case("ptp", apart, {"axis": (0, 2)}, reference=np.ptp),
    exact("ptp", small_integers, "int8", np.ptp, axis=1, keepdims=True),
    exact("ptp", with_nan, "nan", np.ptp),
    exact("mode", few, "axis", most_common, axis=1),
    exact("mode", few, "kept", most_common, axis=0, keepdims=True),
    exact("mode", few, "flat", most_common, axis=None),
    Case("mode", block, {"axis": -2}, reference=most_common, id="floating"),
]
