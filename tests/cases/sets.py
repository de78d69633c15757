"""Cases of `nestarray.ops.sets`; the oracles are NumPy and JAX."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from tests.cases import Case

Rng = np.random.Generator


def integers(rng: Rng) -> tuple[Any, ...]:
    return (rng.integers(-3, 3, (3, 4)),)


def halves(rng: Rng) -> tuple[Any, ...]:
    return (rng.integers(-3, 3, 9) / 2,)


def bools(rng: Rng) -> tuple[Any, ...]:
    return (rng.random((2, 3)) < 0.5,)


def with_nan(rng: Rng) -> tuple[Any, ...]:
    return (np.asarray([np.nan, 1.0, np.nan, -1.0, 1.0]),)


def empty(rng: Rng) -> tuple[Any, ...]:
    return (np.zeros((2, 0)),)


def complex_numbers(rng: Rng) -> tuple[Any, ...]:
    return (rng.integers(-1, 2, 12) + 1j * rng.integers(-1, 2, 12),)


ARGS = {
    "": integers,
    "float": halves,
    "complex": complex_numbers,
    "bool": bools,
    "nan": with_nan,
    "empty": empty,
}

REFERENCES = {
    "unique_all": np.unique_all,
    "unique_counts": np.unique_counts,
    "unique_inverse": np.unique_inverse,
    "unique_values": lambda x: np.unique(x, equal_nan=False),
}

#: Of how many values the result is, and what fills it up.
SIZES = {"cut": {"size": 2}, "filled": {"size": 14}, "filled-with": {"size": 14, "fill_value": 9}}


def two_sets(rng: Rng) -> tuple[Any, ...]:
    return rng.integers(-3, 3, (3, 4)), rng.integers(-1, 5, 6)


CASES = [
    Case(
        "isin",
        lambda rng: (rng.integers(0, 9, (2, 3)), rng.integers(0, 9, (2, 2))),
        reference=np.isin,
        differentiable=False,
    ),
    Case(
        "isin",
        lambda rng: (rng.integers(0, 9, 6) / 2, rng.integers(0, 4, 3)),
        {"invert": True},
        reference=np.isin,
        differentiable=False,
        id="promotes",
    ),
    Case(
        "isin",
        lambda rng: (rng.integers(0, 3, 6), 1),
        reference=np.isin,
        differentiable=False,
        id="number",
    ),
    *(
        Case(op, args, reference=reference, differentiable=False, jit=False, id=id)
        for op, reference in REFERENCES.items()
        for id, args in ARGS.items()
    ),
    Case(
        "unique_all",
        lambda rng: (rng.permutation(6).reshape(2, 3) * 1.5,),
        reference=np.unique_all,
        jit=False,
        id="distinct",
    ),
    *(
        Case(
            op,
            lambda rng: (*integers(rng), rng.integers(-1, 5, 6) / 2),
            reference=getattr(np, op),
            differentiable=False,
            jit=False,
        )
        for op in ("union1d", "intersect1d", "setdiff1d", "setxor1d")
    ),
    *(
        Case(
            op,
            lambda rng: (rng.integers(0, 3, 5, dtype="int32"), rng.integers(7, 9, 2)),
            reference=getattr(np, op),
            differentiable=False,
            jit=False,
            id="apart",
        )
        for op in ("intersect1d", "setxor1d")
    ),
    *(
        Case(op, args, settings, reference=getattr(jnp, op), differentiable=False, id=id)
        for op, args in (
            ("unique_all", integers),
            ("unique_counts", with_nan),
            ("unique_inverse", halves),
            ("unique_values", with_nan),
            ("union1d", two_sets),
            ("intersect1d", two_sets),
            ("setxor1d", two_sets),
        )
        for id, settings in SIZES.items()
    ),
    *(
        Case(
            "setdiff1d",
            two_sets,
            {"size": size, "fill_value": 9},
            reference=jnp.setdiff1d,
            differentiable=False,
            id=f"size-{size}",
        )
        for size in (2, 14)
    ),
    Case(
        "unique_values",
        empty,
        {"size": 3, "fill_value": 2.0},
        reference=jnp.unique_values,
        differentiable=False,
        id="none-filled",
    ),
]
