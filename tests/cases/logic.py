"""Cases of `nestarray.ops.logic`; the oracle is NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.cases import Case
from tests.cases.elementwise import (
    Rng,
    complex_numbers,
    integers,
    of_numpy,
    special_values,
    two_integers,
)

COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
LOGICAL = ("logical_and", "logical_or", "logical_xor")
BITWISE = ("bitwise_and", "bitwise_or", "bitwise_xor")


def with_ties(rng: Rng) -> tuple[Any, ...]:
    return np.asarray([[1.0, 2.0, np.nan], [3.0, -np.inf, 0.0]]), np.asarray([2.0, 2.0, 0.0])


def two_bools(rng: Rng) -> tuple[Any, ...]:
    return np.asarray([True, True, False, False]), np.asarray([True, False, True, False])


def numbers(rng: Rng) -> tuple[Any, ...]:
    return np.asarray([0.0, 1.5, -2.0, np.nan]), np.asarray([1, 0, 3, 0])


def near(rng: Rng) -> tuple[Any, ...]:
    return np.asarray([1.0, 1.0, np.nan, 100.0]), np.asarray([1.0 + 1e-6, 1.1, np.nan, 100.05])


def shifts_out(rng: Rng) -> tuple[Any, ...]:
    """By the width, by more, and by less than nothing."""
    return np.asarray([[5], [-5]], "int32"), np.asarray([31, 32, 40, -1], "int32")


def logic(op: str, draw: Any, **settings: Any) -> Case:
    return of_numpy(op, draw, differentiable=False, **settings)


CASES = [
    *(logic(op, with_ties) for op in COMPARISONS),
    *(logic(op, two_integers, id="int") for op in COMPARISONS),
    *(logic(op, lambda rng: (np.asarray([1.0, 2.0]), 2), id="number") for op in COMPARISONS),
    *(logic(op, lambda rng: (2, np.asarray([1.0, 2.0])), id="number-first") for op in COMPARISONS),
    *(logic(op, two_bools) for op in (*LOGICAL, *BITWISE)),
    *(logic(op, two_bools, id="bool") for op in ("equal", "not_equal")),
    *(logic(op, numbers, id="numbers") for op in LOGICAL),
    *(logic(op, lambda rng: (np.asarray([True, False]), True), id="number") for op in LOGICAL),
    *(logic(op, two_integers, id="int") for op in BITWISE),
    *(logic(op, lambda rng: (np.asarray([6, 9]), 3), id="number") for op in BITWISE),
    *(logic(op, two_integers) for op in ("bitwise_left_shift", "bitwise_right_shift")),
    *(logic(op, shifts_out, id="beyond") for op in ("bitwise_left_shift", "bitwise_right_shift")),
    logic("bitwise_invert", integers),
    logic("bitwise_invert", lambda rng: (np.asarray([True, False]),), id="bool"),
    logic("logical_not", lambda rng: (np.asarray([True, False]),)),
    logic("logical_not", lambda rng: (np.asarray([0.0, 2.0, np.nan]),), id="numbers"),
    *(logic(op, special_values) for op in ("isfinite", "isinf", "isnan", "signbit")),
    *(logic(op, integers, id="int") for op in ("isfinite", "isinf", "isnan", "signbit")),
    *(logic(op, complex_numbers, id="complex") for op in ("isfinite", "isinf", "isnan")),
    *(logic(op, special_values) for op in ("isneginf", "isposinf")),
    *(logic(op, integers, id="int") for op in ("isneginf", "isposinf")),
    Case("isclose", near, {"rtol": 1e-3, "atol": 0.0}, reference=np.isclose, differentiable=False),
    Case(
        "isclose",
        near,
        {"equal_nan": True, "rtol": 1e-5},
        reference=np.isclose,
        differentiable=False,
        id="nan",
    ),
    Case("isclose", two_integers, reference=np.isclose, differentiable=False, id="int"),
    Case(
        "allclose",
        near,
        {"rtol": 0.2, "equal_nan": True},
        reference=np.allclose,
        differentiable=False,
    ),
    Case("allclose", near, {"rtol": 0.2}, reference=np.allclose, differentiable=False, id="nan"),
]
