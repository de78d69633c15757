"""The functions of `jax.image` against JAX."""

from __future__ import annotations

from typing import Any

import jax.image
import numpy as np
import pytest

import nestarray as na
import nestarray.frontends.jax as frontend
from tests.frontends import jax_expressions as expressions

METHODS = [
    "nearest", "linear", "bilinear", "triangle", "lanczos3", "lanczos5", "cubic", "cubic-pytorch", "area"
]  # fmt: skip
EXPRESSIONS = [
    *[f"resize(t, (2, 6, 3), '{name}')" for name in METHODS],
    *[f"resize(t, (1, 5, 9), '{name}', antialias=False)" for name in METHODS],
    *[
        f"scale_and_translate(t, (2, 4, 5), (1, 2), z[::2] * 1.5, y[0, :2], '{name}', {antialias})"
        for name in METHODS[1:]
        for antialias in (True, False)
    ],
    "resize(x, (2, 3), 'linear')", "resize(i, (4, 2), 'linear')", "resize(i, (4, 2), 'nearest')",
    "resize(h, (5,), 'cubic')", "resize(c, (1, 5), ResizeMethod.LINEAR)", "resize(v, (0,), 'linear')",
    "scale_and_translate(x, (2, 5), [1], q[:1] * 2, q[1:2], ResizeMethod.CUBIC)",
    "resize(x[:1], (3, 1), 'cubic-pytorch', False)",
]  # fmt: skip


@pytest.mark.one_in(12)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_values(expression: str) -> None:
    expressions.assert_equal(expression, jax.image, frontend.image, "numpy")


@pytest.mark.parametrize("expression", EXPRESSIONS[18:20])
@pytest.mark.parametrize("backend", ["torch", "jax", "tensorflow"])
def test_values_on_other_backends(expression: str, backend: str) -> None:
    expressions.assert_equal(expression, jax.image, frontend.image, backend)


@pytest.mark.one_in(12)
@pytest.mark.parametrize(
    "expression", [row for row in EXPRESSIONS if "cubic" in row or "area" in row]
)
def test_gradients(expression: str) -> None:
    if expressions.is_differentiable(expression, jax.image):
        expressions.assert_gradients(expression, jax.image, frontend.image, "numpy")


@pytest.mark.full
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_gradients_on_every_backend(expression: str, backend: str) -> None:
    expressions.assert_equal(expression, jax.image, frontend.image, backend)
    if expressions.is_differentiable(expression, jax.image):
        expressions.assert_gradients(expression, jax.image, frontend.image, backend)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda im, x: im.resize(x, (2,), "linear"), "resize: shape: got .2,., expected a length"),
        (lambda im, x: im.resize(x, (2, 2), "mitchell"), "method: got 'mitchell', expected one of"),
        (lambda im, x: im.scale_and_translate(x, (2, 2), (), (), (), "nearest"), "got 'nearest'"),
    ],
)  # fmt: skip
def test_errors(call: Any, message: str) -> None:
    with pytest.raises(na.errors.ArgumentError, match=message):
        call(frontend.image, np.eye(3))
