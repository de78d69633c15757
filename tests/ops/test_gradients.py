"""Gradients of every differentiable op equal finite differences and agree between backends."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray.testing import assert_close
from tests.cases import Case, rows
from tests.derivatives import AUTODIFF, gradients, problem, weighted

STEP = 1e-3


@pytest.mark.one_in(16)
@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(
    ("case", "backend"),
    rows(AUTODIFF, lambda case: bool(case.differentiable), rest_on=("numpy", "torch")),
)
def test_gradients(case: Case, backend: str) -> None:
    """d⟨w, f(x)⟩ along random directions u is what differences of f on NumPy give."""
    inputs, function = problem(case)
    assert inputs, f"{case.name} has no floating array argument: set differentiable=False"
    loss = weighted(function, backend)
    found = gradients(case, backend, loss, inputs)
    assert_close(
        [tuple(g.shape) for g in found], [x.shape for x in inputs]
    )  # unconnected inputs get zeros, of their shape
    for directions, expected in differences(case):
        along = sum(float((g * u).sum()) for g, u in zip(found, directions, strict=True))
        scale = sum(float(np.abs(g * u).sum()) for g, u in zip(found, directions, strict=True))
        assert abs(along - expected) <= 1e-7 * (1 + scale), (
            f"along a direction: got {along}, expected {expected}"
        )


@pytest.mark.one_in(16)
@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(
    ("case", "backend"),
    rows(AUTODIFF, lambda case: bool(case.differentiable) and case.jit, one_an_op=True),
)
def test_gradients_of_mapped_ops(case: Case, backend: str) -> None:
    inputs, function = problem(case)
    loss = weighted(function, backend)

    def twice(*values: Any) -> Any:
        return na.sum(na.vmap(loss)(*[na.stack([x, x]) for x in values]))

    found = gradients(case, backend, twice, inputs)
    assert_close(found, [2 * g for g in gradients(case, backend, loss, inputs)])


@cache
def differences(case: Case) -> list[tuple[list[np.ndarray], float]]:
    """(directions, derivative along them) by the five-point rule, of order STEP⁴, on NumPy."""
    inputs, function = problem(case)
    loss = weighted(function, "numpy")
    rng = np.random.default_rng(2)
    found = []
    for _ in range(3):
        directions = [rng.uniform(-1, 1, x.shape) for x in inputs]

        def at(step: float, directions: list[np.ndarray] = directions) -> float:
            moved = [x + step * u for x, u in zip(inputs, directions, strict=True)]
            return float(loss(*moved))

        slope = 8 * (at(STEP) - at(-STEP)) - (at(2 * STEP) - at(-2 * STEP))
        found.append((directions, slope / (12 * STEP)))
    return found
