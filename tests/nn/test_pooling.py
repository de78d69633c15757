"""Pooling: windows with random steps, unpooling to a size, norms of any order, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import nestarray as na
from nestarray import nn
from nestarray.errors import ArgumentError, ShapeError
from nestarray.testing import assert_close

RNG = np.random.default_rng(0)


def normal(*shape: int) -> np.ndarray:
    """Normal numbers."""
    return RNG.normal(size=shape).astype(np.float32)


def drawn(layer: nn.Module, x: np.ndarray, backend: str, **options: Any) -> Any:
    """The result of a layer that draws, as arrays of NumPy."""
    key = na.random.key(4, backend=backend)
    out = layer.init(key)(na.to_backend(x, backend), key=key, **options)
    return na.tree.map(lambda x: np.array(na.to_backend(x, "numpy")), out)


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("settings", [{"output_size": 3}, {"output_ratio": 0.6}], ids=str)
def test_fractional_pooling_is_torchs_with_its_numbers(
    count: int, settings: dict[str, Any], backend: str
) -> None:
    x = normal(2, 3, *(6, 7, 5)[:count])
    name = f"FractionalMaxPool{count}d"
    layer = getattr(nn, name)(2, return_indices=True, **settings)
    samples = na.random.uniform(na.random.fold_in(na.random.key(4), ""), (2, 3, count))
    twin = getattr(torch.nn, name)(
        2, return_indices=True, _random_samples=torch.from_numpy(samples), **settings
    )
    values, indices = twin(torch.from_numpy(x))
    out = drawn(layer, x, backend)
    assert_close(out[0], values.numpy())
    np.testing.assert_array_equal(out[1], indices.numpy())
    train, _ = drawn(layer, x, backend, train=True)
    assert_close(train[0], out[0])


def test_fractional_pooling_without_a_batch(backend: str) -> None:
    layer, x = nn.FractionalMaxPool2d(2, 3, return_indices=True), normal(3, 6, 7)
    expected = drawn(layer, x[None], backend)
    assert_close(drawn(layer, x, backend), tuple(part[0] for part in expected))


def test_fractional_windows_are_of_neighbours_and_in_order() -> None:
    x = np.arange(30.0, dtype=np.float32).reshape(1, 1, 1, 30)
    layer = nn.FractionalMaxPool2d((1, 2), (1, 17)).init(na.random.key(0))
    steps = set()
    for seed in range(20):
        ends = layer(x, key=na.random.key(seed)).ravel()
        steps |= set(np.diff(ends).tolist())
        assert ends[-1] == 29
    assert steps == {1.0, 2.0}  # ⌊α⌋ and ⌈α⌉ of α = 28 / 16


def test_fractional_pooling_needs_a_key() -> None:
    layer = nn.FractionalMaxPool2d(2, 2).init(na.random.key(0))
    with pytest.raises(ArgumentError, match="key: got None, but FractionalMaxPool2d"):
        layer(normal(1, 1, 5, 5))


def test_an_open_batch_of_fractional_pooling() -> None:
    import tensorflow as tf

    key = na.random.key(4, backend="tensorflow")
    layer = nn.FractionalMaxPool2d(2, 3).init(key)
    x = tf.constant(normal(2, 3, 6, 7))
    call = tf.function(
        lambda x: layer(x, key=key), input_signature=[tf.TensorSpec((None, 3, 6, 7))]
    )
    assert_close(call(x), layer(x, key=key))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_unpooling_puts_the_maxima_back(count: int, backend: str) -> None:
    x = np.abs(normal(2, 3, *(5, 6, 7)[:count]))
    pool = getattr(nn, f"MaxPool{count}d")(2, return_indices=True).init(na.random.key(0))
    unpool = getattr(nn, f"MaxUnpool{count}d")(2).init(na.random.key(0))
    values, indices = pool(na.to_backend(x, backend))
    out = na.to_backend(unpool(values, indices, output_size=x.shape), "numpy")
    assert out.shape == x.shape
    np.testing.assert_array_equal(out[out != 0], x[out != 0])
    assert_close(pool(out)[0], na.to_backend(values, "numpy"))


def test_norms_of_negative_numbers() -> None:
    x = normal(2, 3, 8)
    layer = nn.LPPool1d(3, 2).init(na.random.key(0))
    expected = (np.abs(x.reshape(2, 3, 4, 2)) ** 3).sum(-1) ** (1 / 3)
    assert_close(layer(x), expected)


@pytest.mark.parametrize("spatial", [(4,), (4, 5), (2, 3, 4), (2, 3, 2, 2)])
def test_global_pooling_of_any_number_of_axes(spatial: tuple[int, ...]) -> None:
    x = normal(2, 3, *spatial)
    axes = tuple(range(2, x.ndim))
    key = na.random.key(0)
    assert_close(nn.GlobalAvgPool().init(key)(x), x.mean(axes))
    assert_close(nn.GlobalMaxPool(keepdims=True).init(key)(x), x.max(axes, keepdims=True))


SETTINGS = {
    "kernel": (lambda: nn.MaxPool2d((2, 2, 2)), r"MaxPool2d: kernel_size: got \(2, 2, 2\)"),
    "padding": (lambda: nn.AvgPool1d(3, padding=2), "padding: got 2, expected at most half"),
    "divisor": (lambda: nn.AvgPool2d(2, divisor_override=0), "divisor_override: got 0"),
    "order": (lambda: nn.LPPool2d(0, 2), "LPPool2d: norm_type: got 0, expected a number above 0"),
    "parts": (lambda: nn.AdaptiveAvgPool2d(0), "output_size: got 0, expected None, a positive"),
    "sizes": (lambda: nn.FractionalMaxPool2d(2), "got output_size=None and output_ratio=None"),
    "ratio": (lambda: nn.FractionalMaxPool3d(2, None, 1.5), "output_ratio: got 1.5"),
    "stride": (lambda: nn.MaxUnpool1d(2, 0), "MaxUnpool1d: stride: got 0"),
}


@pytest.mark.parametrize(("layer", "message"), SETTINGS.values(), ids=SETTINGS)
def test_settings_are_checked(layer: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        layer()


SHAPES = {
    "maxima": nn.MaxPool2d(2),
    "indices": nn.MaxPool2d(2, return_indices=True),
    "means": nn.AvgPool2d(2),
    "norms": nn.LPPool2d(2, 2),
    "parts": nn.AdaptiveMaxPool2d(2, True),
    "global": nn.GlobalAvgPool(),
}


@pytest.mark.parametrize("layer", SHAPES.values(), ids=SHAPES)
def test_the_number_of_axes_is_checked(layer: nn.Module) -> None:
    with pytest.raises(ShapeError, match=r"\(4, 6\)"):
        layer.init(na.random.key(0))(normal(4, 6))
