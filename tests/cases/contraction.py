"""Cases of `nestarray.ops.contraction`; the oracle is NumPy."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tests.cases import Case

Rng = np.random.Generator


def two(first: tuple[int, ...], second: tuple[int, ...]) -> Any:
    return lambda rng: (rng.standard_normal(first), rng.standard_normal(second))


def integers(rng: Rng) -> tuple[Any, ...]:
    return rng.integers(-9, 9, (2, 3), dtype="int8"), rng.integers(-9, 9, (3, 4), dtype="int8")


def affine(x: np.ndarray, weight: np.ndarray, bias: np.ndarray | None = None) -> np.ndarray:
    return x @ weight.T + (0.0 if bias is None else bias)


def complex_two(rng: Rng) -> tuple[Any, ...]:
    x = rng.standard_normal((2, 2, 3)) + 1j * rng.standard_normal((2, 2, 3))
    return x[0], x[1]


def einsums(subscripts: str, *shapes: tuple[int, ...], id: str) -> Case:
    def args(rng: Rng) -> tuple[Any, ...]:
        return (subscripts, *(rng.standard_normal(shape) for shape in shapes))

    reference = partial(np.einsum, optimize=True)  # which sums over "..." too
    return Case("einsum", args, reference=reference, id=id)


CASES = [
    Case("matmul", two((2, 3), (3, 4)), reference=np.matmul),
    Case("matmul", two((3,), (3,)), reference=np.matmul, id="vectors"),
    Case("matmul", two((3,), (2, 3, 4)), reference=np.matmul, id="vector-left"),
    Case("matmul", two((2, 5, 3), (3,)), reference=np.matmul, id="vector-right"),
    Case("matmul", two((2, 1, 2, 3), (4, 3, 2)), reference=np.matmul, id="batch"),
    Case("matmul", two((2, 3), (4, 3, 2)), reference=np.matmul, id="batch-right"),
    Case("matmul", two((2, 0), (0, 3)), reference=np.matmul, id="empty"),
    Case("matmul", integers, reference=np.matmul, differentiable=False, id="int8"),
    Case(
        "matmul",
        lambda rng: (rng.integers(-9, 9, (2, 3)), rng.standard_normal((3, 2))),
        reference=np.matmul,
        differentiable=(1,),
        id="promotes",
    ),
    Case(
        "linear",
        lambda rng: (
            rng.standard_normal((2, 5, 3)),
            rng.standard_normal((4, 3)),
            rng.standard_normal(4),
        ),
        reference=affine,
    ),
    Case("linear", two((3,), (4, 3)), reference=affine, id="vector"),
    Case("linear", two((2, 3), (3,)), reference=affine, id="one-output"),
    Case(
        "linear",
        lambda rng: (rng.standard_normal((2, 3)), rng.standard_normal(3), rng.standard_normal(())),
        reference=affine,
        id="one-output-and-bias",
    ),
    Case("tensordot", two((2, 3, 4), (3, 4, 5)), reference=np.tensordot),
    Case("tensordot", two((2,), (3,)), {"axes": 0}, reference=np.tensordot, id="outer"),
    Case(
        "tensordot",
        two((2, 3, 4), (4, 5, 2)),
        {"axes": ((0, -1), (2, 0))},
        reference=np.tensordot,
        id="pairs",
    ),
    Case(
        "tensordot", integers, {"axes": 1}, reference=np.tensordot, differentiable=False, id="int8"
    ),
    Case("vecdot", two((2, 3), (3,)), reference=np.vecdot),
    Case("vecdot", two((2, 3, 4), (3, 1)), {"axis": -2}, reference=np.vecdot, id="axis"),
    Case("vecdot", complex_two, reference=np.vecdot, differentiable=False, id="complex"),
    einsums("ij,jk->ik", (2, 3), (3, 4), id="matmul"),
    einsums("bhqd,bhkd->bhqk", (2, 2, 3, 4), (2, 2, 5, 4), id="attention"),
    einsums("...ij,...j->...i", (2, 2, 3), (3,), id="ellipsis"),
    einsums("i...,j...->ij", (2, 3, 4), (5, 3, 4), id="ellipsis-sum"),
    einsums("i ..., ... j -> j i", (2, 3, 1), (3, 4, 5), id="ellipsis-broadcast"),
    einsums("...ij,...j->...i", (5, 1, 2, 3), (4, 1), id="ellipsis-one"),
    einsums("...ij,...j", (2, 2, 3), (1,), id="ellipsis-implicit-one"),
    einsums("ii", (3, 3), id="trace"),
    einsums("ii->i", (3, 3), id="diagonal"),
    einsums("ij,j", (2, 3), (3,), id="implicit"),
    einsums("i,j,k->kij", (2,), (3,), (4,), id="three"),
    Case(
        "einsum",
        lambda rng: ("ij,jk->ik", *integers(rng)),
        reference=np.einsum,
        differentiable=False,
        id="int8",
    ),
]
