"""Expressions that TensorFlow and its frontend both evaluate, and the comparison of their results."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import tensorflow as tf

import nestarray as na
from nestarray import backends
from tests.arrays import on
from tests.frontends.expressions import (
    TOLERANCE_OF_GRADIENTS,
    assert_same,
    base_arrays,
    evaluate,
    is_inexact,
    leaves,
    names_in,
    projection,
    weights,
)


def inputs() -> dict[str, np.ndarray]:
    """The arrays of expressions, by name."""
    rng = np.random.default_rng(0)
    arrays = base_arrays(rng) | {
        "holes": np.asarray([[0.0, 1.5, 0.0], [-2.0, 0.0, 0.5]]),
        "signal": rng.normal(size=(2, 7, 3)),  # batch, length, channels
        "image": rng.normal(size=(2, 6, 5, 3)),  # batch, height, width, channels
        "volume": rng.normal(size=(1, 4, 5, 3, 2)),  # batch, depth, height, width, channels
        "boxes": np.asarray([[0.1, 0.2, 0.9, 0.7], [0.83, -0.3, 0.21, 1.2]]),
        "f1": rng.normal(size=(3, 3, 4)),  # filters: sizes, input channels, output channels
        "f2": rng.normal(size=(3, 2, 3, 4)),
        "f3": rng.normal(size=(2, 3, 2, 2, 4)),
    }
    floats = {name: value.astype("float32") for name, value in arrays.items()}
    integers = {
        "i": np.asarray([[3, -1, 2], [0, 5, -4]], "int32"),
        "j": np.asarray([[2, 3, 1], [4, 2, 3]], "int32"),
        "k": np.asarray([2, 0, 1, 2, 1], "int32"),
        "l": np.asarray([3, 2], "int32"),
        "s": np.asarray([3, 100, -7], "int8"),
        "u": np.asarray([7, 200, 0, 33], "uint8"),
        "at": np.asarray([[0, 0], [0, 2], [1, 1], [2, 0]], "int64"),
        "at2": np.asarray([[0, 0], [1, 1], [1, 2], [2, 1]], "int64"),
        "philox_key": np.asarray([2**60 + 5], "uint64"),
        "philox_counter": np.asarray([2**64 - 1, 2**40 + 3], "uint64"),
    }
    others = {
        "b": np.asarray([[True, False, True], [False, False, True]]),
        "b2": np.asarray([[True, True, False], [False, True, True]]),
        "c": (arrays["x"] + 1j * arrays["y"]).astype("complex64"),
        "cm": (arrays["m"] + 1j * arrays["m"].T).astype("complex64"),
        "c6": np.linspace(-1, 2, 12).reshape(6, 2).astype("complex64") * (1 + 2j),
        "h": rng.normal(size=3).astype("float16"),
        "n": np.asarray([[1.0, np.nan, -2.0], [np.nan, np.nan, np.nan]], "float32"),
        "e": np.asarray([0.0, -0.0, np.inf, -np.inf, np.nan, 2.0], "float32"),
    }
    corners = rng.uniform(0, 0.7, size=(12, 2))
    sides = rng.uniform(0.2, 0.5, size=(12, 2))
    detections = {
        "boxes_of_many": np.concatenate([corners, corners + sides], axis=1),
        "scores_of_many": rng.uniform(size=12),
        "overlaps_of_many": rng.uniform(size=(12, 12)),
        "class_scores": rng.uniform(size=(1, 12, 3)),
    }
    others |= {name: value.astype("float32") for name, value in detections.items()}
    others["pixels"] = rng.integers(0, 256, size=(4, 5, 3)).astype("uint8")
    return floats | integers | others


INPUTS = inputs()
#: The arrays by which gradients are taken.
DIFFERENTIATED = tuple(
    name for name, value in INPUTS.items() if value.dtype == "float32" and name not in "ne"
)


def used(expression: str) -> list[str]:
    """The names of the arrays in an expression."""
    names = names_in(expression)
    return [name for name in INPUTS if name in names]


@cache
def expected(expression: str, space: Any) -> list[np.ndarray | Any]:
    """TensorFlow's results."""
    arrays = {name: tf.constant(INPUTS[name]) for name in used(expression)}
    found = _leaves(evaluate(expression, space, arrays))
    return [np.asarray(x) if isinstance(x, tf.Tensor) else x for x in found]


def _leaves(value: Any) -> list[Any]:
    """The results in order; of sparse tensors two arrays, and the sizes as integers."""
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _leaves(item)]
    if isinstance(value, tf.SparseTensor):
        return [value.indices, value.values, *value.dense_shape.numpy().tolist()]
    if isinstance(value, tf.IndexedSlices):
        return [value.values, value.indices, value.dense_shape]
    return [value]


@cache
def expected_gradients(expression: str, space: Any) -> list[np.ndarray]:
    """TensorFlow's derivatives of the weighted sum of all floating results."""
    arrays = {name: tf.constant(INPUTS[name]) for name in used(expression)}
    floats = [value for name, value in arrays.items() if name in DIFFERENTIATED]
    with tf.GradientTape() as tape:
        for x in floats:
            tape.watch(x)
        results = filter(is_inexact, _leaves(evaluate(expression, space, arrays)))
        parts = [tf.reduce_sum(tf.math.real(x) * weights(x.shape)) for x in results]
        loss = tf.add_n(parts)
    zeros = tf.UnconnectedGradients.ZERO
    found = tape.gradient(loss, floats, unconnected_gradients=zeros)
    return [tf.convert_to_tensor(g).numpy() for g in found]


def is_differentiable(expression: str, space: Any) -> bool:
    """Whether an expression has floating arrays and floating results."""
    has_inputs = any(name in DIFFERENTIATED for name in used(expression))
    return has_inputs and any(map(is_inexact, expected(expression, space)))


def assert_equal(expression: str, theirs: Any, ours: Any, backend: str) -> None:
    """Backend, dtypes, shapes and values of all results are TensorFlow's; JAX has 32 bits."""
    with na.use_backend(backend):
        arrays = {name: on(backend, INPUTS[name]) for name in used(expression)}
        found = leaves(evaluate(expression, ours, arrays))
    wanted = expected(expression, theirs)
    assert len(found) == len(wanted), f"got {len(found)} results, expected {len(wanted)}"
    for one, other in zip(found, wanted):
        assert_same(one, _narrowed(other) if backend == "jax" else other, backend)


def _narrowed(x: Any) -> Any:
    """A result as JAX has it without ``jax_enable_x64``."""
    narrow = {"int64": "int32", "uint64": "uint32", "float64": "float32", "complex128": "complex64"}
    if isinstance(x, np.ndarray) and x.dtype.name in narrow:
        return x.astype(narrow[x.dtype.name])
    return x


def assert_gradients(expression: str, theirs: Any, ours: Any, backend: str) -> None:
    """The derivatives are TensorFlow's."""
    names = used(expression)
    floats = [name for name in names if name in DIFFERENTIATED]
    rest = {name: on(backend, INPUTS[name]) for name in names if name not in floats}

    def loss(*values: Any) -> Any:
        arrays = rest | dict(zip(floats, values, strict=True))
        return projection(evaluate(expression, ours, arrays), backend)

    values = [on(backend, INPUTS[name]) for name in floats]
    with na.use_backend(backend), np.errstate(all="ignore"):
        found = na.grad(loss, argnums=tuple(range(len(floats))))(*values)
    rtol, atol = TOLERANCE_OF_GRADIENTS
    for name, one, other in zip(floats, found, expected_gradients(expression, theirs)):
        one = backends.core(backend).to_numpy(one)
        np.testing.assert_allclose(one, other, rtol, atol, err_msg=f"by {name}")
