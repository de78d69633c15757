"""Second derivatives of every differentiable op agree between backends and with differences of gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from nestarray.testing import assert_close
from nestarray.transforms import grad
from tests.cases import Case, all_cases, on_backend
from tests.derivatives import AUTODIFF, SUM, gradients, problem, weighted

STEP = 2e-4

#: (case, backend): why the framework has no second derivative there, with its address.
_FLASH = (
    "the fused attention for CPUs has a first derivative only: "
    "https://github.com/pytorch/pytorch/issues/116350"
)
WITHOUT = {
    ("multi_head_attention", "torch"): _FLASH,
    ("scaled_dot_product_attention-shared", "torch"): _FLASH,
    ("scaled_dot_product_attention-shared-causal", "torch"): _FLASH,
}
REASON = "two derivatives of decompositions and logarithms each lose digits"


def rows() -> list[Any]:
    """The differentiable cases; but for the first of each op they are left to ``make test-full``."""
    seen: set[str] = set()
    found = []
    for case in all_cases():
        if case.differentiable:
            marks = [pytest.mark.full] if case.op in seen else []
            seen.add(case.op)
            found.append(pytest.param(case, id=case.name, marks=marks))
    return found


@pytest.mark.one_in(12)
@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("case", rows())
def test_second_derivatives(case: Case) -> None:
    """The gradient of ⟨u, ∇⟨w, f(x)⟩⟩ is the same everywhere, and what differences of ∇ give."""
    inputs, function = problem(case)
    rng = np.random.default_rng(3)
    directions = [np.asarray(rng.uniform(-1, 1, x.shape)) for x in inputs]
    frameworks = [b for b in AUTODIFF if b in case.backends and (case.name, b) not in WITHOUT]
    found = {}
    for backend in frameworks:
        slope = along(weighted(function, backend), directions, backend)
        found[backend] = gradients(case, backend, slope, inputs)
    expected = differences(case, directions)
    for backend in frameworks:
        for second, value in zip(found[backend], expected, strict=True):
            scale = np.abs(value).max(initial=1.0)
            np.testing.assert_allclose(second, value, rtol=0, atol=1e-7 * scale, err_msg=backend)
    for backend in frameworks[1:]:
        assert_close(found[backend], found[frameworks[0]], rtol=1e-9, atol=1e-9, reason=REASON)


def along(
    loss: Callable[..., Any], directions: list[np.ndarray], backend: str
) -> Callable[..., Any]:
    """⟨u, ∇loss⟩ as a function that can be differentiated again."""
    steps = on_backend(directions, backend)

    def slope(*values: Any) -> Any:
        first = SLOPES[backend](loss, values)
        # the gradient of a linear op is constant, which torch would not differentiate
        parts = [g * u + 0.0 * x for g, u, x in zip(first, steps, values, strict=True)]
        return sum(SUM[backend](part) for part in parts)

    return slope


def differences(case: Case, directions: list[np.ndarray]) -> list[np.ndarray]:
    """The gradient's derivative along `directions` by the five-point rule, on PyTorch."""
    inputs, function = problem(case)
    loss = weighted(function, "torch")

    def at(step: float) -> list[np.ndarray]:
        moved = [np.asarray(x + step * u) for x, u in zip(inputs, directions, strict=True)]
        return gradients(case, "torch", loss, moved)

    values = [at(step) for step in (-2 * STEP, -STEP, STEP, 2 * STEP)]
    return [(8 * (c - b) - (d - a)) / (12 * STEP) for a, b, c, d in zip(*values, strict=True)]


def _slope_jax(loss: Callable[..., Any], values: tuple[Any, ...]) -> Any:
    import jax

    return jax.grad(loss, tuple(range(len(values))))(*values)


def _slope_torch(loss: Callable[..., Any], values: tuple[Any, ...]) -> Any:
    import torch

    return torch.autograd.grad(
        loss(*values), values, create_graph=True, allow_unused=True, materialize_grads=True
    )


def _slope_tensorflow(loss: Callable[..., Any], values: tuple[Any, ...]) -> Any:
    import tensorflow as tf

    with tf.GradientTape() as tape:
        tape.watch(values)
        value = loss(*values)
    found = tape.gradient(value, values, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    return [tf.convert_to_tensor(g) for g in found]


def _slope_numpy(loss: Callable[..., Any], values: tuple[Any, ...]) -> Any:
    return grad(loss, tuple(range(len(values))))(*values)


SLOPES = {
    "numpy": _slope_numpy,
    "jax": _slope_jax,
    "torch": _slope_torch,
    "tensorflow": _slope_tensorflow,
}
