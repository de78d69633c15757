"""Random functions of the torch frontend: a key, the distribution, the same on every backend."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import nestarray as na
import nestarray.frontends.torch as torch
from nestarray.errors import ArgumentError
from tests.arrays import host

F = torch.nn.functional


@pytest.fixture
def ones(backend: str) -> object:
    return na.to_backend(np.ones((200, 100), np.float32), backend)


@pytest.fixture
def key(backend: str) -> object:
    return na.random.key(3, backend=backend)


def _zeros(key: object) -> object:
    return na.zeros((100, 100), like=key, dtype="float32")


def test_cauchy_has_its_quartiles_where_they_belong(ones: object, key: object) -> None:
    out = host(torch.Tensor.cauchy(ones, 1.0, 2.0, key=key))
    quantiles, density = np.asarray([0.25, 0.5, 0.75]), np.asarray([0.5, 1.0, 0.5]) / (2 * np.pi)
    error = np.abs(np.quantile(out, quantiles) - [-1, 1, 3])
    deviation = np.sqrt(quantiles * (1 - quantiles) / out.size) / density
    assert np.all(error <= 3 * deviation), "three standard deviations of a sample quantile"


def test_factors_of_low_rank_multiply_to_the_matrix(backend: str, key: object, rng) -> None:
    matrix = rng.normal(size=(7, 3)) @ rng.normal(size=(3, 5))
    with jax.enable_x64(True):
        A = na.to_backend(matrix, backend)
        for found in (torch.svd_lowrank(A, 3, key=key), torch.pca_lowrank(A, 3, False, key=key)):
            U, S, V = map(host, found)
            np.testing.assert_allclose(U * S @ V.T, matrix, atol=1e-9)
            np.testing.assert_allclose(S, np.linalg.svd(matrix)[1][:3], rtol=1e-9)
        centred = matrix - matrix.mean(0)
        U, S, V = map(host, torch.pca_lowrank(A, 3, key=key))
        np.testing.assert_allclose(U * S @ V.T, centred, atol=1e-9)


def test_dropout_keeps_the_mean(ones: object, key: object) -> None:
    out = host(F.dropout(ones, 0.25, key=key))
    assert set(np.unique(out)) == {np.float32(0), np.float32(1 / 0.75)}
    assert abs(out.mean() - 1) < 0.02  # three standard deviations of the mean are 0.012


def test_dropout_is_alike_on_every_backend(ones: object, key: object) -> None:
    reference = F.dropout(np.ones((200, 100), np.float32), 0.25, key=na.random.key(3))
    np.testing.assert_array_equal(host(F.dropout(ones, 0.25, key=key)), reference)


def test_dropout_outside_of_training_is_the_identity(ones: object) -> None:
    assert F.dropout(ones, 0.5, training=False) is ones
    assert F.dropout(ones, 0.0) is ones


def test_dropout2d_drops_whole_channels(backend: str, key: object) -> None:
    x = na.to_backend(np.ones((8, 16, 3, 3), np.float32), backend)
    out = host(F.dropout2d(x, 0.5, key=key))
    channels = out.reshape(8 * 16, 9)
    assert (channels == channels[:, :1]).all()
    assert 0 < (channels[:, 0] == 0).mean() < 1


def test_alpha_dropout_keeps_mean_and_variance(backend: str, key: object) -> None:
    x = np.random.default_rng(0).normal(size=(300, 100)).astype(np.float32)
    out = host(F.alpha_dropout(na.to_backend(x, backend), 0.2, training=True, key=key))
    assert abs(out.mean()) < 0.03
    assert abs(out.var() - 1) < 0.05


def test_native_dropout_returns_what_survived(ones: object, key: object) -> None:
    out, kept = torch.ops.aten.native_dropout(ones, 0.5, True, key=key)
    np.testing.assert_array_equal(host(out), host(kept) * np.float32(2))


def test_dropout_attention_without_dropout_is_attention(backend: str, key: object) -> None:
    rng = np.random.default_rng(0)
    q, k, v = (
        na.to_backend(rng.normal(size=(1, 2, 4, 8)).astype(np.float32), backend) for _ in range(3)
    )
    for settings in ({}, {"is_causal": True}, {"scale": 0.3}, {"enable_gqa": True}):
        ours = F.dropout_attention(q, k, v, dropout_p=0.0, key=key, **settings)
        plain = F.scaled_dot_product_attention(q, k, v, **settings)
        np.testing.assert_allclose(host(ours), host(plain), rtol=1e-5, atol=1e-6)
    dropped = F.dropout_attention(q, k, v, dropout_p=0.5, key=key)
    assert not np.allclose(host(dropped), host(F.scaled_dot_product_attention(q, k, v)))
    np.testing.assert_array_equal(
        host(dropped), host(na.scaled_dot_product_attention(q, k, v, None, key, dropout_p=0.5))
    )
    named = F.scaled_dot_product_attention(q, k, v, dropout_p=0.5, dropout_key=key)
    np.testing.assert_array_equal(host(named), host(dropped))


def test_attention_of_heads_drops_weights_in_training(backend: str, key: object) -> None:
    rng = np.random.default_rng(0)
    shapes = ((3, 2, 4), (5, 2, 4), (12, 4), (12,), (4, 4), (4,))
    q, source, *projections = (
        na.to_backend(rng.normal(size=shape).astype(np.float32), backend) for shape in shapes
    )

    def call(p: float, **settings: Any) -> Any:
        rest = (*projections[:2], None, None, False, p, *projections[2:])
        return F.multi_head_attention_forward(q, source, source, 4, 2, *rest, **settings)

    output, shares = call(0.5, dropout_key=key, average_attn_weights=False)
    weights, biases = na.split(projections[0], 4), na.split(projections[1], 4)
    expected, expected_shares = na.multi_head_attention(
        *(na.swapaxes(x, 0, 1) for x in (q, source, source)),
        [*weights, projections[2]], [*biases, projections[3]], None, key,
        num_heads=2, dropout_p=0.5, need_weights=True,
    )  # fmt: skip
    np.testing.assert_allclose(host(shares), host(expected_shares), rtol=1e-5, atol=1e-6)
    expected = na.swapaxes(expected, 0, 1)
    np.testing.assert_allclose(host(output), host(expected), rtol=1e-5, atol=1e-5)
    evaluated = call(0.5, training=False)[0]
    np.testing.assert_allclose(host(evaluated), host(call(0.0)[0]), rtol=1e-6)
    with pytest.raises(ArgumentError, match="dropout_key: got None with dropout_p"):
        call(0.5)


@pytest.mark.parametrize(
    ("draw", "mean", "deviation"),
    [
        (lambda k: torch.rand(100, 100, key=k), 0.5, 12**-0.5),
        (lambda k: torch.randn([100, 100], key=k), 0.0, 1.0),
        (lambda k: torch.normal(2.0, 3.0, (100, 100), key=k), 2.0, 3.0),
        (lambda k: torch.ops.aten.normal_functional(_zeros(k), 2.0, 3.0, key=k), 2.0, 3.0),
        (lambda k: torch.randint(0, 10, (100, 100), key=k), 4.5, (99 / 12) ** 0.5),
        (lambda k: torch.Tensor.uniform(_zeros(k), -1.0, 2.0, key=k), 0.5, 3 * 12**-0.5),
        (lambda k: torch.Tensor.exponential(_zeros(k), 2.0, key=k), 0.5, 0.5),
        (lambda k: torch.Tensor.geometric(_zeros(k), 0.25, key=k), 4.0, 12**0.5),
        (lambda k: torch.log(torch.Tensor.log_normal(_zeros(k), 1.0, 2.0, key=k)), 1.0, 2.0),
    ],
)
def test_distributions(draw: object, mean: float, deviation: float, key: object) -> None:
    with na.use_backend(na.backend_of(key)):
        out = host(draw(key)).astype(np.float64)
    assert out.shape == (100, 100)
    assert abs(out.mean() - mean) < 0.04 * deviation
    assert abs(out.std() - deviation) < 0.04 * deviation


def test_bernoulli_follows_its_probabilities(backend: str, key: object) -> None:
    p = np.tile(np.asarray([0.1, 0.9], np.float32), (5000, 1))
    out = host(torch.bernoulli(na.to_backend(p, backend), key=key))
    deviation = np.sqrt(0.1 * 0.9 / len(p))
    np.testing.assert_allclose(out.mean(axis=0), [0.1, 0.9], atol=3 * deviation)


def test_multinomial_draws_without_replacement(backend: str, key: object) -> None:
    weights = na.to_backend(np.asarray([[1.0, 2.0, 3.0, 0.0]], np.float32), backend)
    with np.errstate(divide="ignore"):
        out = host(torch.multinomial(weights, 3, key=key))
    assert sorted(out[0].tolist()) == [0, 1, 2]


def test_randperm_is_a_permutation(key: object) -> None:
    assert sorted(host(torch.randperm(20, key=key)).tolist()) == list(range(20))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: F.dropout(x, 0.5),
        lambda x: torch.rand(3),
        lambda x: torch.randn_like(x),
        lambda x: torch.bernoulli(x),
        lambda x: torch.multinomial(x, 1),
        lambda x: F.gumbel_softmax(x),
        lambda x: F.rrelu(x, training=True),
    ],
)
def test_without_a_key_the_error_says_what_to_pass(call: object) -> None:
    message = r"key: got None, expected a key: random functions take key=, for example .*key=na\.random\.key\(0\)"
    with pytest.raises(ArgumentError, match=message):
        call(np.ones((2, 3), np.float32))


@pytest.mark.parametrize("count", [2, 3])
def test_fractional_max_pool_takes_maxima_of_random_windows(
    backend: str, key: object, count: int
) -> None:
    pool = (F.fractional_max_pool2d, F.fractional_max_pool3d)[count - 2]
    x = np.random.default_rng(0).normal(size=(2, 3, *(7,) * count)).astype(np.float32)
    out = host(pool(na.to_backend(x, backend), 2, output_ratio=0.5, key=key))
    assert out.shape == (2, 3, *(3,) * count)
    np.testing.assert_array_equal(out, pool(x, 2, output_size=3, key=na.random.key(3)))
    assert set(out.ravel()) <= set(x.ravel())
    one = host(pool(na.to_backend(x[0], backend), 2, output_size=6, key=key))
    assert one.shape == (3, *(6,) * count)


def test_fractional_max_pool_needs_one_size_and_a_key(backend: str, key: object) -> None:
    x = na.to_backend(np.ones((1, 1, 5, 5), np.float32), backend)
    with pytest.raises(ArgumentError) as caught:
        F.fractional_max_pool2d(x, 2, key=key)
    assert str(caught.value) == (
        "fractional_max_pool2d: got output_size=None and output_ratio=None, expected one of them"
    )
    with pytest.raises(ArgumentError, match="fractional_max_pool2d: key: got None, expected a key"):
        F.fractional_max_pool2d(x, 2, 3)
