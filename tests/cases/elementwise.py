"""Cases of `nestarray.ops.elementwise`; the oracle is NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.cases import Case

Rng = np.random.Generator
Draw = Callable[[Rng], tuple[Any, ...]]


def real(rng: Rng) -> tuple[Any, ...]:
    return (rng.uniform(-2.0, 2.0, (2, 3)),)


def special_values(rng: Rng) -> tuple[Any, ...]:
    return (np.asarray([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.5, 2.5]),)


def complex_numbers(rng: Rng) -> tuple[Any, ...]:
    return (rng.normal(size=(3,)) + 1j * rng.normal(size=(3,)),)


def integers(rng: Rng) -> tuple[Any, ...]:
    return (rng.integers(-9, 9, (4,)),)


def small_unsigned(rng: Rng) -> tuple[Any, ...]:
    return (rng.integers(0, 9, (4,)).astype("uint8"),)


def two_positive(rng: Rng) -> tuple[Any, ...]:
    # the second from 1, so that there is a quotient of integers too
    return rng.uniform(0.5, 3.0, (2, 3)), rng.uniform(1.0, 3.0, (3,))


def two_real(rng: Rng) -> tuple[Any, ...]:
    return rng.uniform(-3.0, 3.0, (2, 3)), rng.uniform(-3.0, 3.0, (2, 1))


def two_integers(rng: Rng) -> tuple[Any, ...]:
    return rng.integers(-9, 9, (2, 3)), rng.integers(1, 5, (3,))


def with_number(rng: Rng) -> tuple[Any, ...]:
    return rng.uniform(0.5, 3.0, (2, 3)), 1.5


def number_first(rng: Rng) -> tuple[Any, ...]:
    return 1.5, rng.uniform(0.5, 3.0, (2, 3))


def mixed_widths(rng: Rng) -> tuple[Any, ...]:
    return rng.integers(-9, 9, (3,)).astype("int8"), rng.integers(-9, 9, (3,)).astype("int32")


def integer_and_floating(rng: Rng) -> tuple[Any, ...]:
    return rng.integers(1, 9, (3,)), rng.uniform(0.5, 3.0, (3,))


def with_nan(rng: Rng) -> tuple[Any, ...]:
    return np.asarray([1.0, np.nan, 3.0, np.nan]), np.asarray([2.0, 2.0, np.nan, np.nan])


def of_numpy(op: str, draw: Draw, name: str = "", **settings: Any) -> Case:
    """A case whose reference is NumPy's function of the op's name."""
    return Case(op, draw, reference=getattr(np, name or op), **settings)


ARITHMETIC = ("add", "subtract", "multiply", "divide", "floor_divide", "remainder", "fmod", "pow")
BOUNDS = ("maximum", "minimum", "fmax", "fmin")
SMOOTH = frozenset((*ARITHMETIC, *BOUNDS)) - {"floor_divide"}

UNARY = [
    *(of_numpy(op, real) for op in ("abs", "negative", "positive", "square", "reciprocal")),
    *(of_numpy(op, real, differentiable=False) for op in ("sign", "ceil", "floor", "trunc")),
    *(of_numpy(op, real, differentiable=op != "angle") for op in ("real", "conj", "angle")),
    of_numpy("imag", real, differentiable=False),
    *(
        of_numpy(op, complex_numbers, differentiable=False, id="complex")
        for op in ("abs", "negative", "square", "sign", "real", "imag", "conj", "angle")
    ),
    *(
        of_numpy(op, integers, differentiable=False, id="int")
        for op in ("abs", "negative", "positive", "square", "sign", "ceil", "floor", "trunc")
    ),
    Case(
        "reciprocal",
        lambda rng: (np.asarray([1, -2, 4]),),
        reference=lambda x: 1.0 / x,
        differentiable=False,
        id="int",
    ),
    *(
        of_numpy(op, small_unsigned, differentiable=False, id="uint8")
        for op in ("abs", "negative", "square", "sign")
    ),
    *(
        of_numpy(op, special_values, differentiable=False, id="special")
        for op in ("abs", "negative", "sign", "ceil", "floor", "trunc", "square")
    ),
]

BINARY = [
    *(of_numpy(op, two_positive, differentiable=op in SMOOTH) for op in (*ARITHMETIC, *BOUNDS)),
    *(
        of_numpy(op, two_real, differentiable=False, id="signs")
        for op in ("floor_divide", "remainder", "fmod", "copysign", *BOUNDS)
    ),
    *(
        of_numpy(op, two_integers, differentiable=False, id="int")
        for op in ("add", "subtract", "multiply", "floor_divide", "remainder", "fmod", *BOUNDS)
    ),
    of_numpy("divide", two_integers, differentiable=False, id="int"),
    *(of_numpy(op, with_number, differentiable=op in SMOOTH, id="number") for op in ARITHMETIC),
    *(
        of_numpy(op, number_first, differentiable=op in SMOOTH, id="number-first")
        for op in (*ARITHMETIC, "maximum", "minimum")
    ),
    *(
        of_numpy(op, mixed_widths, differentiable=False, id="widths")
        for op in ("add", "multiply", "maximum")
    ),
    *(
        of_numpy(op, integer_and_floating, differentiable=False, id="mixed")
        for op in ("add", "divide", "pow", "maximum")
    ),
    *(of_numpy(op, with_nan, differentiable=False, id="nan") for op in BOUNDS),
    of_numpy(
        "pow",
        lambda rng: (rng.integers(-4, 5, (3,)), rng.integers(0, 4, (3,))),
        "power",
        differentiable=False,
        id="int",
    ),
    of_numpy("float_power", two_positive),
    of_numpy(
        "float_power",
        lambda rng: (np.asarray([2, 4]), np.asarray([-1, 2])),
        differentiable=False,
        id="int",
    ),
    of_numpy(
        "copysign",
        lambda rng: (np.asarray([1.0, -2.0, 0.0]), np.asarray([-0.0, 3.0, -1.0])),
        differentiable=False,
    ),
    Case(
        "nextafter",
        lambda rng: (
            np.asarray([1.0, 0.0, -1.0, 2.0, np.nan]),
            np.asarray([2.0, -1.0, 1.0, 2.0, 0.0]),
        ),
        reference=np.nextafter,
        differentiable=False,
        dtypes=("float64",),
    ),
    Case(
        "nextafter",
        lambda rng: (-2, np.asarray([1.0, -3.0])),
        reference=np.nextafter,
        differentiable=False,
        dtypes=("float64",),
        id="of-a-number",
    ),
]

OTHER = [
    Case("clip", real, {"min": -0.5, "max": 0.75}, reference=np.clip),
    Case("clip", real, {"min": -0.5}, reference=np.clip, id="min"),
    Case("clip", lambda rng: (*real(rng), None, 0.75), reference=np.clip, id="max"),
    Case("clip", real, reference=np.clip, id="none"),
    Case(
        "clip", integers, {"min": -2, "max": 3}, reference=np.clip, differentiable=False, id="int"
    ),
    Case("clip", integers, {"min": -1.5}, reference=np.clip, differentiable=False, id="int-float"),
    Case(
        "clip",
        lambda rng: (*real(rng), rng.uniform(-1.5, -0.5, (3,)), rng.uniform(0.5, 1.5, (2, 1))),
        reference=np.clip,
        id="arrays",
    ),
    Case(
        "clip",
        lambda rng: (rng.integers(-9, 9, (4,)).astype("int8"), np.asarray(-3), np.asarray(5)),
        reference=lambda x, low, high: np.clip(x, low, high).astype("int8"),
        differentiable=False,
        id="wider-bounds",
    ),
    Case(
        "clip",
        special_values,
        {"min": -1.0, "max": 1.0},
        reference=np.clip,
        differentiable=False,
        id="special",
    ),
    Case(
        "clip",
        lambda rng: (np.asarray([[1.0], [np.nan]]), np.asarray([np.nan, 0.0, 2.0]), 1.5),
        reference=np.clip,
        differentiable=False,
        id="nan-bound",
    ),
    Case(
        "clip",
        lambda rng: (np.asarray([[5], [-5]]), np.asarray([-1.5, 0.5]), np.asarray([1.5, 2.5])),
        reference=np.clip,
        differentiable=False,
        id="int-arrays",
    ),
    Case(
        "heaviside",
        lambda rng: (np.asarray([[-1.5, 0.0], [2.0, np.nan]]), np.asarray([0.5, 0.25])),
        reference=np.heaviside,
        differentiable=False,
    ),
    Case(
        "heaviside",
        lambda rng: (np.asarray([0.0, 3.0, -3.0]), 0.5),
        reference=np.heaviside,
        differentiable=False,
        id="number",
    ),
    Case(
        "heaviside",
        lambda rng: (np.asarray([0.0, 3.0, -3.0, 0.0]), np.asarray([0.5, 0.25, 2.0, -1.0])),
        reference=np.heaviside,
        differentiable=(1,),
        id="by-x2",
    ),
    of_numpy("round", special_values, differentiable=False),
    of_numpy("round", integers, differentiable=False, id="int"),
    Case(
        "round",
        lambda rng: (rng.uniform(-9, 9, (5,)),),
        {"decimals": 2},
        reference=np.round,
        differentiable=False,
        id="decimals",
    ),
    Case(
        "round",
        lambda rng: (rng.uniform(-999, 999, (5,)),),
        {"decimals": -1},
        reference=np.round,
        differentiable=False,
        id="tens",
    ),
    Case(
        "round",
        lambda rng: (rng.integers(-999, 999, (5,)),),
        {"decimals": -1},
        reference=np.round,
        differentiable=False,
        id="int-tens",
    ),
    Case(
        "nan_to_num",
        lambda rng: (np.asarray([np.nan, np.inf, -np.inf, 1.5]),),
        {"nan": 2.0, "posinf": 9.0, "neginf": -9.0},
        reference=np.nan_to_num,
        differentiable=False,
    ),
    Case(
        "nan_to_num",
        lambda rng: (np.asarray([np.nan, np.inf, -np.inf, 1.5]),),
        reference=np.nan_to_num,
        differentiable=False,
        dtypes=("float64",),
        id="limits",
    ),
    of_numpy("nan_to_num", integers, differentiable=False, id="int"),
    of_numpy("nan_to_num", real, id="finite"),
    Case(
        "lerp",
        lambda rng: (rng.normal(size=(2, 3)), rng.normal(size=(3,)), rng.random((2, 1))),
        reference=lambda start, end, weight: start + weight * (end - start),
    ),
    Case(
        "lerp",
        lambda rng: (rng.normal(size=(2, 3)), rng.normal(size=(3,)), 0.25),
        reference=lambda start, end, weight: start + weight * (end - start),
        id="number",
    ),
]

CASES = UNARY + BINARY + OTHER
