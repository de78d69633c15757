"""Normalization layers over mapped axes, in half precision, and their errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import nestarray as na
from nestarray import nn
from nestarray.errors import ArgumentError, ShapeError
from nestarray.testing import assert_close


def test_statistics_over_a_mapped_axis_are_those_of_the_whole_batch(backend: str) -> None:
    x = np.random.default_rng(0).normal(2.0, 3.0, size=(3, 4, 2, 5)).astype(np.float32)
    whole = nn.BatchNorm1d(2).init(na.random.key(0)).to_backend(backend)
    expected, s = whole(na.to_backend(x.reshape(12, 2, 5), backend), train=True)
    layer = nn.BatchNorm1d(2, axis_name="devices")
    mapped = na.vmap(lambda x: layer(x, v=whole.v, s=whole.s, train=True), axis_name="devices")
    out, states = mapped(na.to_backend(x, backend))
    out = na.reshape(out, (12, 2, 5))
    settings: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-5, "reason": "another order of the sums"}
    assert_close(out, expected, **settings)
    for i in range(3):
        assert_close(states.map(lambda x, i=i: x[i]), s, **settings)


def test_gradients_over_a_mapped_axis_are_those_of_the_whole_batch() -> None:
    x = np.random.default_rng(0).normal(size=(3, 4, 2)).astype(np.float32)
    weight = np.random.default_rng(1).normal(size=(3, 4, 2)).astype(np.float32)
    whole = nn.BatchNorm(2).init(na.random.key(0))
    layer = nn.BatchNorm(2, axis_name="devices")

    def loss(x: Any) -> Any:
        call = lambda x: layer(x, v=whole.v, s=whole.s, train=True)[0]  # noqa: E731
        return na.sum(na.vmap(call, axis_name="devices")(x) * weight)

    expected = na.grad(lambda x: na.sum(whole(x, train=True)[0] * weight.reshape(12, 2)))(
        x.reshape(12, 2)
    )
    gradient = na.grad(loss)(x).reshape(12, 2)
    assert_close(gradient, expected, rtol=1e-4, atol=1e-5, reason="another order of the sums")


def test_the_least_eps_of_rms_norm_follows_the_dtype() -> None:
    x = np.asarray([[1e-3, 2e-3]])
    for dtype in (np.float32, np.float64):
        layer = nn.RMSNorm(2, elementwise_affine=False).init(na.random.key(0))
        expected = torch.nn.RMSNorm(2, elementwise_affine=False)(torch.tensor(x.astype(dtype)))
        assert_close(layer(x.astype(dtype)), expected.numpy())


def test_settings_and_shapes_are_checked() -> None:
    key = na.random.key(0)
    with pytest.raises(ArgumentError, match="GroupNorm: num_groups: got 3, expected a divisor of"):
        nn.GroupNorm(3, 4)
    with pytest.raises(ArgumentError, match="LocalResponseNorm: size: got 0, expected at least 1"):
        nn.LocalResponseNorm(0)
    x = np.ones((2, 3, 1), np.float32)
    with pytest.raises(
        ShapeError, match=r"BatchNorm2d: x: got the shape \(2, 3, 1\), expected \(b"
    ):
        nn.BatchNorm2d(3).init(key)(x)
    with pytest.raises(
        ArgumentError, match=r"InstanceNorm1d: x: .* more than one value for each ch"
    ):
        nn.InstanceNorm1d(3).init(key)(x)
    with pytest.raises(
        ArgumentError, match=r"BatchNorm1d: x: .* more than one value for each channe"
    ):
        nn.BatchNorm1d(3).init(key)(x[:1], train=True)
