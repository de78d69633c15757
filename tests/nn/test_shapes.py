"""Padding, sizes, shapes and activations: their errors, and what torch does not have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import nn
from nestarray.errors import ArgumentError, NestarrayError

ERRORS = {
    "sides": (lambda: nn.ZeroPad2d((1, 2)), r"ZeroPad2d: padding: got \(1, 2\), expected an integer or 4"),
    "kind": (
        lambda: nn.ConstantPad1d("same", 0.0),  # pyright: ignore[reportArgumentType]
        "ConstantPad1d: padding: got 'same'",
    ),
    "sizes": (lambda: nn.Upsample(), "Upsample: got size=None and scale_factor=None"),
    "mode": (lambda: nn.Upsample(2, mode="cubist"), "mode: got 'cubist'"),
    "corners": (lambda: nn.Upsample(2, align_corners=True), "align_corners: got True with mode='nearest'"),
    "scale": (lambda: nn.Upsample(2, recompute_scale_factor=True), "recompute_scale_factor: got True"),
    "blocks": (lambda: nn.PixelShuffle(0), "PixelShuffle: upscale_factor: got 0"),
    "rests": (lambda: nn.Unflatten(1, (-1, -1)), "Unflatten: unflattened_size: got"),
    "in place": (
        lambda: nn.LeakyReLU(0.1, inplace=True),  # pyright: ignore[reportCallIssue]
        "LeakyReLU: inplace: unknown argument",
    ),
    "gelu": (lambda: nn.GELU("erf"), "GELU: approximate: got 'erf', expected 'none' or 'tanh'"),
    "slopes": (lambda: nn.RReLU(0.5, 0.1), "RReLU: lower: got 0.5"),
    "limits": (lambda: nn.Hardtanh(1.0, -1.0), "Hardtanh: min_val: got 1.0"),
    "shrinkage": (lambda: nn.Softshrink(-1.0), "Softshrink: lambd: got -1.0"),
    "axis": (lambda: nn.Softmax(), "Softmax: dim: missing argument"),  # pyright: ignore[reportCallIssue]
    "norm": (lambda: nn.PairwiseDistance(-1.0), "PairwiseDistance: p: got -1.0"),
    "features": (lambda: nn.Bilinear(0, 1, 1), "Bilinear: in1_features: got 0"),
}  # fmt: skip


@pytest.mark.parametrize(("layer", "message"), ERRORS.values(), ids=ERRORS)
def test_settings_are_checked(layer: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        layer()


CALLS = {
    "padding": (nn.ZeroPad2d(1), "ZeroPad2d: x: got the shape"),
    "images": (nn.UpsamplingNearest2d(2), "UpsamplingNearest2d: x: got the shape"),
    "axes": (nn.Flatten(2), "Flatten: start_dim: got 2"),
    "order": (nn.Flatten(1, 0), "Flatten: start_dim: got 1 for x of shape"),
    "pixels": (nn.Softmax2d(), "Softmax2d: x: got the shape"),
}


@pytest.mark.parametrize(("layer", "message"), CALLS.values(), ids=CALLS)
def test_shapes_are_checked(layer: nn.Module, message: str) -> None:
    with pytest.raises(NestarrayError, match=message):
        layer.init(na.random.key(0))(np.ones((2, 3), np.float32))


def test_random_slopes(backend: str) -> None:
    layer = nn.RReLU(0.2, 0.4).init(na.random.key(0, backend=backend))
    x = na.to_backend(np.linspace(-1.0, 1.0, 1000, dtype=np.float32), backend)
    out, _ = layer(x, train=True, key=na.random.key(1, backend=backend))
    x, out, mean = (na.to_backend(each, "numpy") for each in (x, out, layer(x)))
    slopes = (out / x)[x < 0]
    assert 0.2 <= slopes.min() < 0.21
    assert 0.39 < slopes.max() <= 0.4 + 1e-6
    assert abs(slopes.mean() - 0.3) < 0.01
    np.testing.assert_array_equal(out[x > 0], x[x > 0])
    np.testing.assert_allclose(mean[x < 0], 0.3 * x[x < 0], rtol=1e-6)


def test_mirror_images_repeat_beyond_the_axis() -> None:
    layer = nn.ReflectionPad1d((0, 5)).init(na.random.key(0))
    np.testing.assert_array_equal(
        layer(np.asarray([[0.0, 1.0, 2.0]])), [[0.0, 1.0, 2.0, 1.0, 0.0, 1.0, 2.0, 1.0]]
    )
