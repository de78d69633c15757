"""Gradients of every differentiable op: alike on JAX, PyTorch and TensorFlow, and as finite differences say."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from nestarray import backends, dtypes
from nestarray.testing import assert_close
from tests.cases import Case, all_cases, convert, on_backend

STEP = 1e-3
AUTODIFF = ("jax", "torch", "tensorflow")

ROWS = [
    pytest.param(case, backend, id=case.on(backend))
    for case in all_cases()
    if case.differentiable
    for backend in AUTODIFF
    if backend in case.backends
]


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(("case", "backend"), ROWS)
def test_gradients(case: Case, backend: str) -> None:
    """d⟨w, f(x)⟩ along random directions u is what differences of f on NumPy give."""
    inputs, function = problem(case)
    assert inputs, f"{case.name} has no floating array argument: set differentiable=False"
    loss = weighted(function, backend)
    gradients = GRADIENTS[backend](loss, [on_backend(x, backend) for x in inputs])
    assert_close(
        [tuple(g.shape) for g in gradients], [x.shape for x in inputs]
    )  # unconnected inputs get zeros, of their shape
    for directions, expected in differences(case):
        along = sum(float((g * u).sum()) for g, u in zip(gradients, directions, strict=True))
        scale = sum(float(np.abs(g * u).sum()) for g, u in zip(gradients, directions, strict=True))
        assert abs(along - expected) <= 1e-7 * (1 + scale), (
            f"along a direction: got {along}, expected {expected}"
        )


def problem(case: Case) -> tuple[list[np.ndarray], Callable[[str, list[Any]], list[Any]]]:
    """The inputs to differentiate by, and the op's floating results as a function of them."""
    args, kwargs = case.draw("float64")
    chosen = range(len(args)) if case.differentiable is True else case.differentiable
    inputs: list[np.ndarray] = []
    for position in chosen:
        convert(args[position], lambda x: inputs.append(x) if x.dtype.kind == "f" else None)

    def function(backend: str, values: list[Any]) -> list[Any]:
        rest = iter(values)

        def fill(x: np.ndarray) -> Any:
            return next(rest) if x.dtype.kind == "f" else on_backend(x, backend)

        filled = [
            convert(arg, fill) if position in chosen else on_backend(arg, backend)
            for position, arg in enumerate(args)
        ]
        result = case.record.function(*filled, **on_backend(kwargs, backend))
        results = result if isinstance(result, (list, tuple)) else [result]
        return [r for r in results if dtypes.dtype_of(r).is_floating]

    return inputs, function


def weighted(function: Callable[[str, list[Any]], list[Any]], backend: str) -> Callable[..., Any]:
    """⟨w, f(x)⟩ with fixed random weights w, so that no part of the gradient can hide."""

    def loss(*values: Any) -> Any:
        rng = np.random.default_rng(1)
        total = None
        for result in function(backend, list(values)):
            weight = backends.core(backend).from_numpy(rng.uniform(0.5, 1.5, tuple(result.shape)))
            part = SUM[backend](result * weight)
            total = part if total is None else total + part
        return total

    return loss


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


def _sum_tensorflow(x: Any) -> Any:
    import tensorflow as tf

    return tf.reduce_sum(x)


SUM: dict[str, Callable[[Any], Any]] = {
    "numpy": lambda x: x.sum(),
    "jax": lambda x: x.sum(),
    "torch": lambda x: x.sum(),
    "tensorflow": _sum_tensorflow,
}


def gradients_jax(loss: Callable[..., Any], inputs: list[Any]) -> list[np.ndarray]:
    import jax

    return [np.asarray(g) for g in jax.grad(loss, tuple(range(len(inputs))))(*inputs)]


def gradients_torch(loss: Callable[..., Any], inputs: list[Any]) -> list[np.ndarray]:
    import torch

    leaves = [x.clone().requires_grad_() for x in inputs]
    found = torch.autograd.grad(loss(*leaves), leaves, allow_unused=True, materialize_grads=True)
    return [g.numpy() for g in found]


def gradients_tensorflow(loss: Callable[..., Any], inputs: list[Any]) -> list[np.ndarray]:
    import tensorflow as tf

    with tf.GradientTape() as tape:
        tape.watch(inputs)
        value = loss(*inputs)
    found = tape.gradient(value, inputs, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    return [tf.convert_to_tensor(g).numpy() for g in found]


GRADIENTS = {"jax": gradients_jax, "torch": gradients_torch, "tensorflow": gradients_tensorflow}
