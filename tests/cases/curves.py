"""Cases of `nestarray.ops.curves`; the oracle is NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.cases import Case

Rng = np.random.Generator


def points(count: int, *, is_complex: bool = False) -> Callable[[Rng], tuple[Any, ...]]:
    """Places on both sides of the points, none at a corner of the line through them."""

    def draw(rng: Rng) -> tuple[Any, ...]:
        x = np.asarray([[-1.3, 0.4, 0.7], [1.6, 2.9, 7.7]])
        fp = rng.standard_normal(count)
        return x, np.arange(float(count)), fp + 1j * fp[::-1] if is_complex else fp

    return draw


def unordered(rng: Rng) -> tuple[Any, ...]:
    return np.asarray([-7.2, -0.3, 0.1, 5.4, 11.0]), np.asarray([3.5, 0.5, 7.0, 2.0]), rng.random(4)


def steep(rng: Rng) -> tuple[Any, ...]:
    """A jump: two points at one place."""
    return (
        np.asarray([0.5, 1.0, 1.5]),
        np.asarray([0.0, 1.0, 1.0, 2.0]),
        np.asarray([0.0, 1.0, 5.0, 6.0]),
    )


def angles(*shape: int) -> Callable[[Rng], tuple[Any, ...]]:
    return lambda rng: (np.cumsum(rng.uniform(-4, 4, shape), axis=-1) % 6.0,)


def values(*shapes: tuple[int, ...]) -> Callable[[Rng], tuple[Any, ...]]:
    return lambda rng: tuple(rng.standard_normal(shape) for shape in shapes)


def whole(rng: Rng) -> tuple[Any, ...]:
    return rng.integers(-3, 4, 4), rng.integers(-3, 4, (2, 3))


def polynomials(p: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A polynomial for each column of the coefficients."""
    return np.stack([np.polyval(p[:, i], x[:, i]) for i in range(p.shape[1])], axis=-1)


CASES = [
    Case("interp", points(4), reference=np.interp),
    Case("interp", points(4), {"left": -1.0, "right": 2.0}, reference=np.interp, id="ends"),
    Case("interp", points(1), reference=np.interp, differentiable=False, id="one-point"),
    Case("interp", unordered, {"period": 8.0}, reference=np.interp, id="period"),
    Case("interp", steep, reference=np.interp, differentiable=False, id="jump"),
    Case(
        "interp",
        points(4, is_complex=True),
        reference=np.interp,
        differentiable=False,
        id="complex",
    ),
    Case("polyval", values((4,), (2, 3)), reference=np.polyval),
    Case("polyval", values((3, 2), (4, 2)), reference=polynomials, id="many"),
    Case("polyval", values((0,), (3,)), reference=np.polyval, differentiable=False, id="none"),
    Case("polyval", whole, reference=np.polyval, differentiable=False, id="int"),
    Case("trapezoid", values((2, 5)), {"dx": 0.5}, reference=np.trapezoid),
    Case("trapezoid", values((4, 2), (4,)), {"axis": 0}, reference=np.trapezoid, id="positions"),
    Case("trapezoid", values((2, 4), (2, 4)), reference=np.trapezoid, id="positions-each"),
    Case("trapezoid", values((3, 1)), reference=np.trapezoid, id="one"),
    Case("unwrap", angles(9), reference=np.unwrap),
    Case("unwrap", angles(2, 6), {"axis": 0, "period": 5.0}, reference=np.unwrap, id="period"),
    Case("unwrap", angles(3, 7), {"discont": 4.0}, reference=np.unwrap, id="discontinuity"),
]
