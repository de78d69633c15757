"""The functions of `tf.bitwise` and `tf.quantization` against TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import nestarray as na
import nestarray.frontends.tensorflow as frontend
from tests.frontends import tensorflow_expressions as expressions

BITWISE = [
    "bitwise_and(i, j)", "bitwise_or(i, j)", "bitwise_xor(i, j)", "bitwise_and(u, [7, 6, 5, 200])",
    "bitwise_or(s, [1, -2, 127])", "bitwise_xor(u, 5)", "invert(i)", "invert(u)", "left_shift(i, j)",
    "right_shift(i, j)", "left_shift(s, [1, 2, 7])", "right_shift(u, [1, 2, 3, 9])",
    "left_shift(i, 40)", "right_shift(i, 40)", "right_shift(s, -1)",
]  # fmt: skip
_LIMITS = ["-1.0, 1.5", "0.1, 2.0", "-2.0, -0.5", "0.0, 0.0"]
QUANTIZATION = [
    *[f"fake_quant_with_min_max_args(x, {row}, 4)" for row in _LIMITS[:3]],
    "fake_quant_with_min_max_args(t * 9)", "fake_quant_with_min_max_args(t, -1, 1, 3, True)",
    *[f"fake_quant_with_min_max_vars(x, {row}, 4)" for row in _LIMITS],
    "fake_quant_with_min_max_vars(t, z[1], z[0], 5, True)",
    "fake_quant_with_min_max_vars_per_channel(x, -p[0], y[0] * y[0] + 0.1, 4)",
    "fake_quant_with_min_max_vars_per_channel(q, -q * 0.5, q * 0.8, 6, True)",
    "fake_quant_with_min_max_args_gradient(y, x, -1.0, 0.5)",
    "fake_quant_with_min_max_vars_gradient(y, x, z[1] * 0.5, z[0], 4)",
    "fake_quant_with_min_max_vars_per_channel_gradient(y, x, -p[0], p[1], 4)",
    *[
        f"quantize_and_dequantize_v2(t, -1.0, 1.6, {signed}, 5, {given}, '{mode}', narrow_range={narrow})"
        for signed in (True, False)
        for given in (True, False)
        for mode in ("HALF_TO_EVEN", "HALF_UP")
        for narrow in (True, False)
    ],
    "quantize_and_dequantize_v2(t, [-1.0, -0.5, -2.0], [1.0, 2.0, 0.5], axis=1)",
    "quantize_and_dequantize_v2(x, p[0, 0] - 1, p[1, 1], range_given=True)",
    "quantize_and_dequantize(t, -1.0, 1.6, num_bits=5, range_given=True)",
]  # fmt: skip


@pytest.mark.one_in(16)
@pytest.mark.parametrize("expression", BITWISE)
def test_bits(expression: str, backend: str) -> None:
    expressions.assert_equal(expression, tf.bitwise, frontend.bitwise, backend)


@pytest.mark.one_in(16)
@pytest.mark.parametrize("expression", QUANTIZATION)
def test_quantized_numbers(expression: str, backend: str) -> None:
    expressions.assert_equal(expression, tf.quantization, frontend.quantization, backend)


@pytest.mark.one_in(16)
@pytest.mark.parametrize("expression", [row for row in QUANTIZATION if "_gradient" not in row])
def test_gradients(expression: str, backend: str) -> None:
    expressions.assert_gradients(expression, tf.quantization, frontend.quantization, backend)


def test_limits_of_each_channel() -> None:
    """Upstream refuses several limits if they are given."""
    x = expressions.INPUTS["x"]
    low, high = [-0.3, -0.5, -2.0], [1.0, 2.0, 0.5]
    quantize = frontend.quantization.quantize_and_dequantize_v2
    found = quantize(x, low, high, range_given=True, axis=1)
    columns = [quantize(x[:, i], low[i], high[i], range_given=True) for i in range(3)]
    np.testing.assert_array_equal(found, np.stack(columns, axis=1))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f, x: f.bitwise.invert(x), "invert: got a tensor of float64, expected a dtype of"),
        (
            lambda f, x: f.quantization.quantize_and_dequantize(x, 0.0, 1.0, round_mode="UP"),
            "round_mode: got 'UP', expected 'HALF_TO_EVEN'",
        ),
    ],
)
def test_errors(call: Any, message: str) -> None:
    with pytest.raises(na.errors.NestarrayError, match=message):
        call(frontend, np.eye(3))
