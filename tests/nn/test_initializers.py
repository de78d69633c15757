"""Initializers: the distributions that their names promise."""

from __future__ import annotations

from typing import Any

import jax
import keras
import numpy as np
import pytest
import torch
from flax import nnx
from scipy import stats

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


def _truncated(std: float) -> Any:
    """The normal distribution of standard deviation `std` after the cut at two deviations."""
    return stats.truncnorm(-2, 2, scale=std / stats.truncnorm(-2, 2).std())


def _between(bound: float) -> Any:
    return stats.uniform(-bound, 2 * bound)


#: Right numbers fail with a probability of 1 % for each row, and the key is fixed.
_DISTRIBUTIONS = {
    "uniform": (initializers.uniform(0.3), _between(0.3)),
    "normal": (initializers.normal(0.3), stats.norm(scale=0.3)),
    "truncated_normal": (
        initializers.truncated_normal(0.3, -1.0, 3.0),
        stats.truncnorm(-1, 3, scale=0.3),
    ),
    "glorot_uniform": (initializers.glorot_uniform(), _between((6 / (FAN_IN + FAN_OUT)) ** 0.5)),
    "glorot_normal": (initializers.glorot_normal(), _truncated((2 / (FAN_IN + FAN_OUT)) ** 0.5)),
    "he_uniform": (initializers.he_uniform(), _between((6 / FAN_IN) ** 0.5)),
    "he_normal": (initializers.he_normal(), _truncated((2 / FAN_IN) ** 0.5)),
    "lecun_uniform": (initializers.lecun_uniform(), _between((3 / FAN_IN) ** 0.5)),
    "lecun_normal": (initializers.lecun_normal(), _truncated(FAN_IN**-0.5)),
    "fan_in_uniform": (initializers.fan_in_uniform(), _between(FAN_IN**-0.5)),
    "variance_scaling": (
        initializers.variance_scaling(3.0, "fan_out", "normal"),
        stats.norm(scale=(3 / FAN_OUT) ** 0.5),
    ),
    "torch": (initializers.default("torch"), _between(FAN_IN**-0.5)),
    "torch bias": (initializers.default("torch", "bias", fan_in=FAN_IN), _between(FAN_IN**-0.5)),
    "torch embedding": (initializers.default("torch", "embedding"), stats.norm()),
    "keras": (initializers.default("keras"), _between((6 / (FAN_IN + FAN_OUT)) ** 0.5)),
    "keras embedding": (initializers.default("keras", "embedding"), _between(0.05)),
    "flax": (initializers.default("flax"), _truncated(FAN_IN**-0.5)),
    "flax embedding": (initializers.default("flax", "embedding"), stats.norm(scale=FAN_IN**-0.5)),
}


@pytest.mark.parametrize("name", _DISTRIBUTIONS)
def test_distribution(name: str) -> None:
    initializer, distribution = _DISTRIBUTIONS[name]
    key = na.random.fold_in(na.random.key(0), name)
    x = initializer(key, SHAPE)
    assert stats.kstest(np.ravel(x), distribution.cdf).pvalue > 0.01


def _of_torch(layer: Any, name: str) -> np.ndarray:
    return getattr(layer, name).detach().numpy()


def _of_keras(layer: Any, name: str) -> np.ndarray:
    layer.build((None, 40))
    return np.asarray(getattr(layer, name)).T


def _of_flax(layer: Any, name: str) -> np.ndarray:
    return np.asarray(getattr(layer, name)[...]).T


#: The variables of the frameworks' own layers of 40 to 60 features, a row for each of the 60.
_OWN = {
    ("torch", "weight"): lambda: _of_torch(torch.nn.Linear(40, 60), "weight"),
    ("torch", "bias"): lambda: _of_torch(torch.nn.Linear(40, 60), "bias"),
    ("torch", "embedding"): lambda: _of_torch(torch.nn.Embedding(60, 40), "weight"),
    ("torch", "recurrent"): lambda: _of_torch(torch.nn.LSTM(9, 40), "weight_hh_l0"),
    ("keras", "weight"): lambda: _of_keras(keras.layers.Dense(60), "kernel"),
    ("keras", "bias"): lambda: _of_keras(keras.layers.Dense(60), "bias"),
    ("keras", "embedding"): lambda: _of_keras(keras.layers.Embedding(60, 40), "embeddings").T,
    ("flax", "weight"): lambda: _of_flax(nnx.Linear(40, 60, rngs=nnx.Rngs(0)), "kernel"),
    ("flax", "bias"): lambda: _of_flax(nnx.Linear(40, 60, rngs=nnx.Rngs(0)), "bias"),
    ("flax", "embedding"): lambda: _of_flax(nnx.Embed(60, 40, rngs=nnx.Rngs(0)), "embedding").T,
}


@pytest.mark.parametrize(("framework", "role"), _OWN)
def test_the_framework_draws_from_the_same_distribution(framework: str, role: str) -> None:
    torch.manual_seed(0)
    keras.utils.set_random_seed(0)
    expected = _OWN[framework, role]()
    initializer = initializers.default(framework, role, fan_in=40)
    x = initializer(na.random.key(0), expected.shape)
    if role == "bias" and framework != "torch":
        assert not x.any()
        assert not expected.any()
    else:
        assert stats.ks_2samp(np.ravel(x), np.ravel(expected)).pvalue > 0.01


@pytest.mark.parametrize("shape", [(6, 6), (8, 3), (3, 8), (4, 2, 3)])
def test_orthogonal(shape: tuple[int, ...], backend: str) -> None:
    x = initializers.orthogonal(2.0)(na.random.key(0, backend=backend), shape)
    x = na.to_backend(x, "numpy").reshape(shape[0], -1)
    gram = x @ x.T if x.shape[0] <= x.shape[1] else x.T @ x
    np.testing.assert_allclose(gram, 4 * np.eye(len(gram)), atol=1e-5)
    expected = initializers.orthogonal(2.0)(na.random.key(0), shape).reshape(x.shape)
    np.testing.assert_allclose(x, expected, atol=1e-5)


def test_orthogonal_is_uniform() -> None:
    """An element of a Haar matrix of n rows is distributed as 2 B − 1, B ~ Beta((n−1)/2, (n−1)/2)."""
    keys = [na.random.fold_in(na.random.key(1), i) for i in range(400)]
    x = np.asarray([initializers.orthogonal()(key, (5, 5))[2, 3] for key in keys])
    assert stats.kstest((x + 1) / 2, stats.beta(2, 2).cdf).pvalue > 0.01


def test_delta_orthogonal_keeps_the_norm_of_an_image() -> None:
    kernel = initializers.delta_orthogonal()(na.random.key(0), (6, 4, 3, 3))
    assert np.count_nonzero(kernel) == 24
    x = na.random.normal(na.random.key(1), (2, 4, 5, 5))
    y = na.conv2d(x, kernel, padding=1)
    np.testing.assert_allclose(np.linalg.norm(y), np.linalg.norm(x), rtol=1e-5)


@pytest.mark.parametrize(("shape", "groups"), [((4, 6, 3), 1), ((6, 2, 3, 5), 3), ((2, 2, 4), 1)])
def test_dirac_is_that_of_torch(shape: tuple[int, ...], groups: int) -> None:
    expected = torch.nn.init.dirac_(torch.empty(shape), groups)
    got = initializers.dirac(groups)(na.random.key(0), shape)
    np.testing.assert_array_equal(got, expected.numpy())


def test_identity_is_that_of_torch() -> None:
    expected = torch.nn.init.eye_(torch.empty(3, 5)).numpy() * 2
    np.testing.assert_array_equal(initializers.identity(2.0)(na.random.key(0), (3, 5)), expected)


def test_sparse(backend: str) -> None:
    x = initializers.sparse(0.21, std=0.5)(na.random.key(0, backend=backend), (200, 50))
    x = na.to_backend(x, "numpy")
    np.testing.assert_array_equal((x == 0).sum(axis=0), 42)
    assert stats.kstest(x[x != 0], stats.norm(scale=0.5).cdf).pvalue > 0.01
    rows = (x == 0).sum(axis=1)  # zeros are at any row: binomial, 50 draws of probability 0.21
    assert abs(rows.var() / (50 * 0.21 * 0.79) - 1) < 0.3


def test_gains_are_those_of_torch() -> None:
    for name in ("linear", "sigmoid", "tanh", "relu", "selu"):
        assert initializers.gain(name) == pytest.approx(torch.nn.init.calculate_gain(name))
    expected = torch.nn.init.calculate_gain("leaky_relu", 0.2)
    assert initializers.gain("leaky_relu", 0.2) == pytest.approx(expected)


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
    with pytest.raises(errors.ShapeError, match=r"delta_orthogonal: got the shape \(2, 3, 3\)"):
        initializers.delta_orthogonal()(na.random.key(0), (2, 3, 3))
    with pytest.raises(
        errors.ShapeError, match=r"identity: got the shape .*, expected \(out, in\)"
    ):
        initializers.identity()(na.random.key(0), (2, 3, 3))
    with pytest.raises(errors.ShapeError, match="that groups=2 divides"):
        initializers.dirac(2)(na.random.key(0), (3, 3, 3))
    with pytest.raises(errors.ArgumentError, match=r"sparse: sparsity: got 1\.5, expected a share"):
        initializers.sparse(1.5)
    with pytest.raises(errors.ArgumentError, match="default: framework: got 'jax', expected"):
        initializers.default("jax")
    with pytest.raises(errors.ArgumentError, match="default: role: got 'kernel', expected"):
        initializers.default("flax", "kernel")
    with pytest.raises(errors.ArgumentError, match="default: fan_in: got None"):
        initializers.default("torch", "bias")
    with pytest.raises(errors.ArgumentError, match="gain: activation: got 'gelu', expected"):
        initializers.gain("gelu")
