"""Convolutions: Keras' layers with converted weights, sizes of transposed ones, causality, errors."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import torch

import nestarray as na
from nestarray import nn
from nestarray.errors import ArgumentError
from nestarray.testing import assert_close

RNG = np.random.default_rng(0)


def normal(*shape: int) -> np.ndarray:
    """Normal numbers."""
    return RNG.normal(size=shape).astype(np.float32)


def kernels(weight: Any) -> np.ndarray:
    """Keras' `(*kernel, in, out)` as `(out, in, *kernel)`."""
    return np.moveaxis(np.asarray(weight), (-1, -2), (0, 1))


def depthwise_kernels(weight: Any) -> np.ndarray:
    """Keras' `(*kernel, in, multiplier)` as `(in · multiplier, 1, *kernel)`."""
    weight = np.moveaxis(np.asarray(weight), (-2, -1), (0, 1))
    return weight.reshape(-1, 1, *weight.shape[2:])


def is_keras(layer: nn.Module, twin: Any, x: np.ndarray) -> None:
    """Assert that a layer of channels first computes as Keras' layer of channels last."""
    expected = np.asarray(twin(np.moveaxis(x, 1, -1)))
    assert_close(layer(x), np.moveaxis(expected, -1, 1))


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("padding", ["valid", "same"])
def test_separable_convolutions_are_those_of_keras(count: int, padding: str) -> None:
    name = f"SeparableConv{count}"
    twin = getattr(keras.layers, f"{name}D")(
        5, 3, padding=padding, depth_multiplier=2, bias_initializer="normal"
    )
    x = normal(2, 3, *(7, 6)[:count])
    twin.build((None, *x.shape[2:], 3))
    layer = getattr(nn, f"{name}d")(3, 5, 3, 1, padding, depth_multiplier=2)
    depthwise, pointwise, bias = twin.get_weights()
    layer = layer.with_variables({
        "depthwise": {"weight": depthwise_kernels(depthwise)},
        "pointwise": {"weight": kernels(pointwise), "bias": bias},
    })  # fmt: skip
    is_keras(layer, twin, x)


@pytest.mark.parametrize("count", [1, 2])
def test_depthwise_convolutions_are_those_of_keras(count: int) -> None:
    name = f"DepthwiseConv{count}"
    twin = getattr(keras.layers, f"{name}D")(
        2, strides=2, padding="same", depth_multiplier=3, bias_initializer="normal"
    )
    x = normal(2, 3, *(7, 5)[:count])
    twin.build((None, *x.shape[2:], 3))
    weight, bias = twin.get_weights()
    layer = getattr(nn, f"{name}d")(3, 2, 2, "same", depth_multiplier=3)
    layer = layer.with_variables({"weight": depthwise_kernels(weight), "bias": bias})
    is_keras(layer, twin, x)


@pytest.mark.parametrize("padding", ["same", "causal"])
def test_paddings_of_keras(padding: str) -> None:
    twin = keras.layers.Conv1D(4, 3, strides=2, padding=padding, bias_initializer="normal")
    twin.build((None, 8, 3))
    weight, bias = twin.get_weights()
    layer = nn.Conv1d(3, 4, 3, 2, padding).with_variables({"weight": kernels(weight), "bias": bias})
    is_keras(layer, twin, normal(2, 3, 8))


def test_a_causal_convolution_does_not_see_the_future() -> None:
    layer = nn.Conv1d(2, 3, 3, padding="causal", dilation=2).init(na.random.key(0))
    x = normal(1, 2, 9)
    changed = x.copy()
    changed[:, :, 5:] += 1.0
    before, after = layer(x), layer(changed)
    assert before.shape == (1, 3, 9)
    np.testing.assert_array_equal(before[:, :, :5], after[:, :, :5])
    assert (before[:, :, 5] != after[:, :, 5]).all()


@pytest.mark.parametrize("size", [(7, 5), (8, 5), (2, 3, 8, 5)])
def test_output_size_of_transposed_convolutions(size: tuple[int, ...], backend: str) -> None:
    twin = torch.nn.ConvTranspose2d(4, 3, 3, (2, 1), 1)
    layer = nn.ConvTranspose2d(4, 3, 3, (2, 1), 1)
    layer = layer.with_variables(na.Container.from_torch_module(twin)).to_backend(backend)
    x = normal(2, 4, 4, 5)
    expected = twin(torch.from_numpy(x), output_size=size).detach().numpy()
    out = layer(na.to_backend(x, backend), output_size=size)
    assert_close(na.to_backend(out, "numpy"), expected)


@pytest.mark.parametrize("size", [(9, 5), (8,)])
def test_an_output_size_that_no_padding_gives(size: tuple[int, ...]) -> None:
    layer = nn.ConvTranspose2d(4, 3, 3, (2, 1), 1).init(na.random.key(0))
    with pytest.raises(ArgumentError, match=r"ConvTranspose2d: output_size: got .* 2 numbers from"):
        layer(normal(2, 4, 4, 5), output_size=size)


ERRORS = {
    "groups": (lambda: nn.Conv2d(4, 6, 3, groups=4), "out_channels: got 6, expected a multiple"),
    "no group": (lambda: nn.Conv2d(4, 6, 3, groups=0), "groups: got 0"),
    "mode": (lambda: nn.Conv1d(1, 1, 3, padding_mode="mirror"), "padding_mode: got 'mirror'"),
    "padding": (lambda: nn.Conv2d(1, 1, 3, padding="causal"), "padding: got 'causal'"),
    "kernel": (lambda: nn.Conv2d(1, 1, (3, 3, 3)), r"kernel_size: got \(3, 3, 3\), expected"),
    "stride": (lambda: nn.Conv3d(1, 1, 3, 0), "stride: got 0"),
    "strided same": (
        lambda: nn.Conv1d(1, 1, 3, 2, "same", padding_mode="reflect"),
        "expected stride=1 or padding_mode='zeros'",
    ),
    "transposed mode": (
        lambda: nn.ConvTranspose1d(1, 1, 3, padding_mode="circular"),
        "padding_mode: got 'circular', expected 'zeros'",
    ),
    "transposed padding": (lambda: nn.ConvTranspose1d(1, 1, 3, padding=-1), "padding: got -1"),
    "patch": (lambda: nn.Unfold((1, 2, 3)), "Unfold: kernel_size: got"),
}


@pytest.mark.parametrize(("layer", "message"), ERRORS.values(), ids=ERRORS)
def test_settings_are_checked(layer: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        layer()


def test_folding_without_a_batch(backend: str) -> None:
    x = np.random.default_rng(0).normal(size=(8, 12)).astype(np.float32)
    expected = torch.nn.Fold((4, 5), 2)(torch.from_numpy(x)).numpy()
    layer = nn.Fold((4, 5), 2).init(na.random.key(0, backend=backend))
    assert_close(na.to_backend(layer(na.to_backend(x, backend)), "numpy"), expected)
