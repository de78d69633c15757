"""The functions that source for Keras defines compute as those of source for JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from keras import ops

from nestarray.exporters.source.functions import jax_functions, keras_functions

_RANDOM = np.random.default_rng(0)
X = _RANDOM.standard_normal((3, 4, 5)).astype("float32")
QUERY, KEY, VALUE = _RANDOM.standard_normal((3, 2, 3, 4, 8)).astype("float32")
MASK = _RANDOM.random((2, 1, 4, 4)) > 0.4
MASK[0, 0, 1] = False  # a row that admits nothing
CHANNELS = list(_RANDOM.uniform(0.5, 1.5, (4, 4)).astype("float32"))
IDS = np.array([1, 2, 1], "int32")
ROWS, COLUMNS = np.array([[0], [2]], "int32"), np.array([1, 3, -1], "int32")


def _check(name: str, *args: Any, **kwargs: Any) -> None:
    result = getattr(keras_functions, name)(*map(ops.convert_to_tensor, args), **kwargs)
    expected = getattr(jax_functions, name)(*map(jnp.asarray, args), **kwargs)
    _assert_equal(result, expected)


def _assert_equal(result: Any, expected: Any) -> None:
    np.testing.assert_allclose(ops.convert_to_numpy(result), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("args", [(), (MASK,)])
@pytest.mark.parametrize("is_causal", [True, False])
def test_attention(args: tuple[Any, ...], is_causal: bool) -> None:
    _check("scaled_dot_product_attention", QUERY, KEY, VALUE, *args, is_causal=is_causal)


def test_normalization() -> None:
    scale, bias, mean, variance = CHANNELS
    _check("layer_norm", X)
    _check("rms_norm", X)
    _check("group_norm", X, scale, bias, num_groups=2)
    _check("batch_norm", X, mean, variance, scale, bias)


def test_embedding() -> None:
    _check("embedding", IDS, X[0], padding_idx=0)


def test_indices() -> None:
    rows, columns = ops.convert_to_tensor(ROWS), ops.convert_to_tensor(COLUMNS)
    x = ops.convert_to_tensor(X)
    _assert_equal(keras_functions.gather(x, rows, columns), X[ROWS, COLUMNS])
    block = keras_functions.updated(x, (0, 1, 0), (3, 1, 5), ops.convert_to_tensor(X[:, 0]))
    _assert_equal(block, jnp.asarray(X).at[:, 1].set(X[:, 0]))


@pytest.mark.parametrize("reduction", [None, "add", "max"])
def test_scattered_values(reduction: str | None) -> None:
    values = X[:, 1:2]  # for all columns
    ids, new = ops.convert_to_tensor(IDS), ops.convert_to_tensor(values[[0, 1, 0]])
    result = keras_functions.scattered(ops.convert_to_tensor(X), (ids,), new, reduction=reduction)
    at = jnp.asarray(X).at[IDS]
    _assert_equal(result, getattr(at, reduction or "set")(values[[0, 1, 0]]))


@pytest.mark.parametrize("reverse", [True, False])
def test_loops_over_rows(reverse: bool) -> None:
    def step(carry: Any, row: Any) -> Any:
        total, factor = carry
        return (total * factor + row, factor * 0.5), total[0]

    results = keras_functions.scan(
        step, (ops.zeros((4, 5)), ops.ones(())), ops.convert_to_tensor(X), reverse=reverse
    )
    expected = jax.lax.scan(step, (jnp.zeros((4, 5)), jnp.ones(())), X, reverse=reverse)
    for result, other in zip(jax.tree.leaves(results), jax.tree.leaves(expected), strict=True):
        _assert_equal(result, other)


@pytest.mark.parametrize(("most", "steps"), [(None, 5), (3, 3)])
def test_loops_of_values(most: int | None, steps: int) -> None:
    x, count = keras_functions.while_loop(
        lambda carry: carry[1] < 5,
        lambda carry: (carry[0] * 2, carry[1] + 1),
        (ops.ones(()), ops.zeros((), "int32")),
        max_steps=most,
    )
    assert (float(x), int(count)) == (2.0**steps, steps)
