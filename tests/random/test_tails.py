"""Tails of the normal distribution, numbers near 0, and probabilities that are none."""

from __future__ import annotations

import jax
import numpy as np
import pytest
import scipy.stats

import nestarray as na
from nestarray.errors import ArgumentError
from tests.arrays import host, on


@pytest.mark.parametrize("bounds", [(8.0, 9.0), (-9.0, -8.0), (5.0, np.inf)])
def test_truncated_normal_in_the_tails(bounds: tuple[float, float], backend: str) -> None:
    key = on(backend, np.asarray([0, 7], "uint32"))
    found = host(na.random.truncated_normal(key, *bounds, (2000,)))
    assert np.all((bounds[0] < found) & (found < bounds[1]))
    assert scipy.stats.kstest(found, scipy.stats.truncnorm(*bounds).cdf).pvalue > 0.01
    half = host(na.random.truncated_normal(key, *bounds, (2000,), "float16"))
    assert len(np.unique(half)) > 20


def test_truncated_normal_by_bounds_in_and_outside_the_tails(backend: str) -> None:
    key = on(backend, np.asarray([0, 7], "uint32"))
    low, high = on(backend, np.float32([8, -1, -9])), on(backend, np.float32([9, 1, -8]))
    found = host(na.random.truncated_normal(key, low, high, (500, 3)))
    own = jax.random.truncated_normal(host(key), host(low), host(high), (500, 3))
    np.testing.assert_allclose(found[:, 1], own[:, 1], rtol=0, atol=2.0**-22)
    assert all(len(np.unique(column)) > 400 for column in found.T)


@pytest.mark.parametrize("name", ["gumbel", "logistic"])
def test_differences_from_jax_random_near_zero(name: str, backend: str) -> None:
    key = np.asarray([0, 7], "uint32")
    found = host(getattr(na.random, name)(on(backend, key), (100000,)))
    own = np.asarray(getattr(jax.random, name)(key, (100000,)))
    assert np.max(np.abs(found - own) / np.spacing(np.maximum(np.abs(own), 1))) <= 2


@pytest.mark.parametrize("replace", [True, False])
@pytest.mark.parametrize("wrong", [-0.5, np.nan])
def test_probabilities_are_not_negative(wrong: float, replace: bool, backend: str) -> None:
    key = on(backend, np.asarray([0, 7], "uint32"))
    p = on(backend, np.float32([wrong, 1.0, 0.5]))
    with pytest.raises(
        ArgumentError, match=r"random\.choice: p: got a negative probability or NaN"
    ):
        na.random.choice(key, 3, (2,), replace=replace, p=p)
    drawn = na.random.choice(key, 3, (2,), replace=replace, p=on(backend, np.ones(3, "float32")))
    assert host(drawn).max() < 3
