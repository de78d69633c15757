"""Initializers: the distributions that their names promise."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import nestarray as na
from nestarray import errors
from nestarray.nn import initializers

SHAPE = (60, 40, 3, 3)  # (out, in, *window)
FAN_IN, FAN_OUT = 40 * 9, 60 * 9


@pytest.mark.parametrize(
    ("initializer", "variance"),
    [
        (initializers.glorot_uniform(), 2 / (FAN_IN + FAN_OUT)),
        (initializers.glorot_normal(), 2 / (FAN_IN + FAN_OUT)),
        (initializers.he_uniform(), 2 / FAN_IN),
        (initializers.he_normal(), 2 / FAN_IN),
        (initializers.lecun_uniform(), 1 / FAN_IN),
        (initializers.lecun_normal(), 1 / FAN_IN),
        (initializers.fan_in_uniform(), 1 / (3 * FAN_IN)),
        (initializers.variance_scaling(3.0, "fan_out", "normal"), 3 / FAN_OUT),
        (initializers.normal(0.5), 0.25),
        (initializers.uniform(0.5), 0.25 / 3),
    ],
)
def test_mean_and_variance(initializer: initializers.Initializer, variance: float) -> None:
    x = initializer(na.random.key(0), SHAPE)
    assert x.shape == SHAPE
    assert x.dtype == np.float32
    assert abs(x.mean()) < 5 * np.sqrt(variance / x.size)
    assert abs(x.var() / variance - 1) < 0.05


def test_the_numbers_of_jax() -> None:
    """jax lays weights out as (in, out); both fans are the same for a square matrix."""
    for ours, theirs in (
        (initializers.he_normal(), jax.nn.initializers.he_normal()),
        (initializers.glorot_uniform(), jax.nn.initializers.glorot_uniform()),
        (initializers.truncated_normal(0.3), jax.nn.initializers.truncated_normal(0.3)),
    ):
        expected = theirs(jax.random.PRNGKey(1), (8, 8))
        np.testing.assert_allclose(ours(na.random.key(1), (8, 8)), expected, rtol=1e-6, atol=1e-7)


def test_constants_and_dtypes(backend: str) -> None:
    key = na.random.key(0, backend=backend)
    for initializer, value in (
        (initializers.zeros, 0.0),
        (initializers.ones, 1.0),
        (initializers.constant(0.25), 0.25),
    ):
        x = initializer(key, (2, 3), "float16")
        assert na.backend_of(x) == backend
        assert na.dtype_of(x) is na.float16
        np.testing.assert_array_equal(na.to_backend(x, "numpy"), np.full((2, 3), value))


def test_errors() -> None:
    with pytest.raises(errors.ShapeError, match=r"got the shape \(3,\), expected \(out, in"):
        initializers.he_normal()(na.random.key(0), (3,))
    with pytest.raises(errors.ArgumentError, match=r"variance_scaling: mode: got 'in', expected"):
        initializers.variance_scaling(1.0, "in", "normal")
    with pytest.raises(errors.ArgumentError, match=r"distribution: got 'gamma', expected"):
        initializers.variance_scaling(1.0, "fan_in", "gamma")
