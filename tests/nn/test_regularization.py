"""Layers that draw: which elements share a draw, and the moments of the results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import nestarray as na
from nestarray import nn
from nestarray.errors import ArgumentError, ShapeError
from nestarray.testing import assert_close


def trained(layer: nn.Module, x: Any, seed: int = 1) -> Any:
    """The result in training mode."""
    return layer.init(na.random.key(0))(x, train=True, key=na.random.key(seed))[0]


@pytest.mark.parametrize(
    ("layer", "shape", "axes"),
    [
        (nn.Dropout(0.4), (50, 8, 3), ()),
        (nn.Dropout1d(0.4), (50, 8, 3), (2,)),
        (nn.Dropout1d(0.4), (400, 3), (1,)),
        (nn.Dropout2d(0.4), (50, 8, 3), (2,)),
        (nn.Dropout2d(0.4), (50, 8, 3, 2), (2, 3)),
        (nn.Dropout3d(0.4), (50, 8, 3, 2, 2), (2, 3, 4)),
        (nn.Dropout3d(0.4), (400, 3, 2, 2), (1, 2, 3)),
        (nn.DropPath(0.4), (400, 3, 2), (1, 2)),
    ],
    ids=repr,
)
def test_elements_along_these_axes_share_a_draw(
    layer: nn.Module, shape: tuple[int, ...], axes: tuple[int, ...]
) -> None:
    out = trained(layer, np.full(shape, 3.0, np.float32))
    rows = np.moveaxis(out, axes, range(-len(axes), 0)).reshape(
        -1, int(np.prod([shape[i] for i in axes]))
    )
    assert (rows == rows[:, :1]).all()
    np.testing.assert_allclose(np.unique(rows), [0.0, 5.0], rtol=1e-6)
    assert abs((rows[:, 0] == 0.0).mean() - 0.4) < 0.08


@pytest.mark.parametrize("kind", ["AlphaDropout", "FeatureAlphaDropout"])
def test_alpha_dropout_has_the_two_values_of_torch(kind: str) -> None:
    x = np.full((60, 50, 2), 0.7, np.float32)
    out = trained(getattr(nn, kind)(0.3), x)
    torch.manual_seed(0)
    expected = getattr(torch.nn, kind)(0.3)(torch.from_numpy(x)).numpy()
    values = np.unique(expected)
    assert len(values) == 2
    assert_close(np.unique(out), values)
    assert abs((out == np.unique(out)[0]).mean() - 0.3) < 0.03
    if kind == "FeatureAlphaDropout":
        assert (out == out[..., :1]).all()


def test_the_moments_of_noise() -> None:
    x = np.full((100, 100), 2.0, np.float32)
    noisy = trained(nn.GaussianNoise(0.3), x)
    assert abs(noisy.mean() - 2.0) < 0.01
    assert abs(noisy.std() - 0.3) < 0.01
    scaled = trained(nn.GaussianDropout(0.2), x)
    assert abs(scaled.mean() - 2.0) < 0.05
    assert abs(scaled.std() - 1.0) < 0.05  # 2 √(0.2 / 0.8)


def test_all_or_nothing() -> None:
    x = np.ones((2, 3, 4), np.float32)
    for kind in (nn.Dropout, nn.Dropout1d, nn.AlphaDropout, nn.FeatureAlphaDropout, nn.DropPath):
        assert trained(kind(0.0), x) is x
        assert not trained(kind(1.0), x).any()
    assert trained(nn.GaussianNoise(0.0), x) is x


def test_settings_and_shapes_are_checked() -> None:
    with pytest.raises(
        ArgumentError, match=r"Dropout2d: p: got 1\.5, expected a number from 0 to 1"
    ):
        nn.Dropout2d(1.5)
    with pytest.raises(ArgumentError, match="GaussianNoise: stddev: got -1, expected at least 0"):
        nn.GaussianNoise(-1)
    with pytest.raises(
        ArgumentError, match=r"GaussianDropout: rate: got 1\.0, expected a number belo"
    ):
        nn.GaussianDropout(1.0)
    x = np.ones(3, np.float32)
    with pytest.raises(
        ShapeError, match=r"Dropout1d: x: got the shape \(3,\), expected \(batch, ch"
    ):
        trained(nn.Dropout1d(), x)
    with pytest.raises(ShapeError, match=r"FeatureAlphaDropout: x: got the shape \(3,\), expected"):
        trained(nn.FeatureAlphaDropout(), x)
