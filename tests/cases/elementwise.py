"""Cases of `nestarray.ops.elementwise`; the oracle is NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.cases import Case

Rng = np.random.Generator


def real(rng: Rng) -> tuple[Any, ...]:
    return (rng.uniform(-2.0, 2.0, (2, 3)),)


def two_real(rng: Rng) -> tuple[Any, ...]:
    return rng.uniform(0.5, 3.0, (2, 3)), rng.uniform(0.5, 3.0, (3,))


def two_integers(rng: Rng) -> tuple[Any, ...]:
    return rng.integers(-9, 9, (2, 3)), rng.integers(1, 5, (3,))


def two_bools(rng: Rng) -> tuple[Any, ...]:
    return rng.random((2, 3)) < 0.5, rng.random((3,)) < 0.5


def unary(op: str, args: Callable[..., Any] = real, **settings: Any) -> Case:
    return Case(op, args, reference=getattr(np, op), **settings)


def binary(op: str, args: Callable[..., Any], **settings: Any) -> Case:
    return Case(op, args, reference=getattr(np, op), **settings)


CASES = [
    unary("abs"),
    unary("exp"),
    unary("negative"),
    unary("positive"),
    *(binary(op, two_real) for op in ("add", "subtract", "multiply", "divide", "pow")),
    *(binary(op, two_real, differentiable=False) for op in ("floor_divide", "remainder")),
    *(
        binary(op, two_real, differentiable=False)
        for op in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
    ),
    *(
        binary(op, two_integers, differentiable=False, id="int")
        for op in ("add", "floor_divide", "remainder", "bitwise_and", "bitwise_or", "bitwise_xor")
    ),
    *(
        binary(op, two_integers, differentiable=False)
        for op in ("bitwise_left_shift", "bitwise_right_shift")
    ),
    *(
        binary(op, two_bools, differentiable=False)
        for op in ("bitwise_and", "bitwise_or", "bitwise_xor")
    ),
    unary("bitwise_invert", lambda rng: (rng.integers(-9, 9, (4,)),), differentiable=False),
]
