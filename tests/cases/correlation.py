"""Cases of `nestarray.ops.correlation`; the oracle is NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.cases import Case


def variables(rng: np.random.Generator) -> tuple[Any, ...]:
    return (rng.standard_normal((3, 5)),)


def complex_variables(rng: np.random.Generator) -> tuple[Any, ...]:
    return (rng.standard_normal((2, 5)) + 1j * rng.standard_normal((2, 5)),)


def covariance(x: np.ndarray, correction: float = 1, **settings: Any) -> Any:
    return np.cov(x, ddof=int(correction), **settings)


CASES = [
    Case("cov", variables, reference=np.cov),
    Case(
        "cov",
        variables,
        {"rowvar": False, "correction": 0},
        reference=covariance,
        id="columns",
    ),
    Case("cov", lambda rng: (rng.standard_normal(6),), reference=np.cov, id="vector"),
    Case(
        "cov",
        variables,
        {
            "fweights": np.asarray([1, 2, 0, 1, 3]),
            "aweights": np.asarray([0.5, 1.0, 2.0, 0.25, 1.0]),
        },
        reference=covariance,
        id="weights",
    ),
    Case("cov", complex_variables, reference=np.cov, differentiable=False, id="complex"),
    Case(
        "cov",
        lambda rng: (rng.integers(0, 9, (2, 5)),),
        reference=lambda x: np.cov(x.astype("float32")),
        differentiable=False,
        id="integers",
    ),
    *(
        Case(
            op,
            lambda rng: (np.zeros((0, 4)),),
            reference=lambda x: np.zeros((0, 0)),
            id="no-variables",
        )
        for op in ("cov", "corrcoef")
    ),
    Case("corrcoef", variables, reference=np.corrcoef),
    Case("corrcoef", variables, {"rowvar": False}, reference=np.corrcoef, id="columns"),
    Case("corrcoef", complex_variables, reference=np.corrcoef, differentiable=False, id="complex"),
    Case(
        "corrcoef",
        lambda rng: (rng.standard_normal(6),),
        reference=np.corrcoef,
        differentiable=False,  # it is 1
        id="vector",
    ),
]
