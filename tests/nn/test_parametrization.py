"""Parametrized layers: initial values, layers with values, and errors."""

from __future__ import annotations

import numpy as np
import pytest

import nestarray as na
from nestarray import nn
from nestarray.errors import ArgumentError
from nestarray.testing import assert_close

X = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)


def test_a_normalized_layer_starts_as_the_plain_one() -> None:
    layer = nn.Sequential(nn.Linear(3, 4), na.tanh, nn.Linear(4, 2))
    key = na.random.key(3)
    expected = layer.init(key)(X)
    for name, dim in (("0/weight", 0), ("2/weight", 1), ("2/weight", None), ("0/bias", 0)):
        assert_close(nn.weight_norm(layer, name, dim).init(key)(X), expected, rtol=1e-5)
    inside = nn.Sequential(nn.weight_norm(nn.Linear(3, 4)), na.tanh, nn.Linear(4, 2))
    assert_close(inside.init(key)(X), expected, rtol=1e-5)


def test_a_layer_with_values_keeps_them() -> None:
    layer = nn.Linear(3, 4).init(na.random.key(0))
    assert_close(nn.weight_norm(layer)(X), layer(X), rtol=1e-5)
    weight = layer.v.weight
    expected = X @ weight.T / np.linalg.norm(weight, 2) + layer.v.bias
    assert_close(nn.spectral_norm(layer)(X), expected, rtol=1e-3, reason="15 steps")
    q, r = np.linalg.qr(weight)
    expected = X @ (q * np.sign(np.diag(r))).T + layer.v.bias
    assert_close(
        nn.orthogonal(layer)(X), expected, rtol=1e-4, atol=1e-5, reason="two factorizations"
    )


@pytest.mark.parametrize("kind", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("has_base", [True, False])
@pytest.mark.parametrize("shape", [(3, 3), (3, 5), (5, 3)])
def test_orthogonal_weights_are_orthogonal(
    kind: str, has_base: bool, shape: tuple[int, int], backend: str
) -> None:
    layer = nn.orthogonal(
        nn.Linear(*shape, bias=False), orthogonal_map=kind, use_trivialization=has_base
    ).init(na.random.key(0, backend=backend))
    weight = na.to_backend(
        layer(na.eye(shape[0], dtype="float32", like=layer.v.leaves()[0])), "numpy"
    )
    product = weight @ weight.T if shape[0] < shape[1] else weight.T @ weight
    assert_close(product, np.eye(3, dtype=np.float32), atol=1e-5, reason="products of matrices")


def test_settings_are_checked() -> None:
    with pytest.raises(
        ArgumentError, match="weight_norm: name: got 'w', expected a variable of the"
    ):
        nn.weight_norm(nn.Linear(2, 3), "w")
    with pytest.raises(ArgumentError, match="weight_norm: dim: got 2, expected None or -1 to 1"):
        nn.weight_norm(nn.Linear(2, 3), dim=2)
    with pytest.raises(
        ArgumentError, match="spectral_norm: n_power_iterations: got 0, expected at"
    ):
        nn.spectral_norm(nn.Linear(2, 3), n_power_iterations=0)
    with pytest.raises(ArgumentError, match="spectral_norm: dim: got 2, expected -2 to 1"):
        nn.spectral_norm(nn.Linear(2, 3), dim=2)
    with pytest.raises(
        ArgumentError, match="orthogonal: orthogonal_map: got 'qr', expected 'matrix"
    ):
        nn.orthogonal(nn.Linear(2, 3), orthogonal_map="qr")
    with pytest.raises(
        ArgumentError, match=r"orthogonal: name: got a weight of the shape \(3,\), expect"
    ):
        nn.orthogonal(nn.Linear(2, 3), "bias")
    twice = nn.weight_norm(nn.Linear(2, 3))
    with pytest.raises(
        ArgumentError, match="spectral_norm: name: got 'weight', expected a variable"
    ):
        nn.spectral_norm(twice)
