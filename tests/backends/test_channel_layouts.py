"""Channels stand second everywhere; on TensorFlow, whose kernels have them last, at one transpose a side.

Where they are last already there is none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import nestarray as na

SHAPES = {1: (2, 4, 12), 2: (2, 4, 12, 10), 3: (1, 4, 8, 8, 6)}

#: name → (function of x and weight, shape of x, shape of weight)
CONVOLUTIONS: dict[str, tuple[Callable[[Any, Any], Any], tuple[int, ...], tuple[int, ...]]] = {
    f"conv{n}d{label}": (
        lambda x, w, n=n, settings=settings: getattr(na, f"conv{n}d")(x, w, **settings),
        SHAPES[n],
        (6, 4 // settings.get("groups", 1), *(3,) * n),
    )
    for n in (1, 2, 3)
    for label, settings in {
        "": {}, " padded": {"padding": 1}, " strided": {"stride": 2, "padding": 1},
        " dilated": {"dilation": 2, "padding": 2}, " grouped": {"groups": 2},
    }.items()
}  # fmt: skip
for n in (1, 2, 3):
    CONVOLUTIONS[f"conv{n}d depthwise"] = (
        lambda x, w, n=n: getattr(na, f"conv{n}d")(x, w, groups=4, padding=1),
        SHAPES[n],
        (8, 1, *(3,) * n),
    )
    CONVOLUTIONS[f"conv_transpose{n}d"] = (
        lambda x, w, n=n: getattr(na, f"conv_transpose{n}d")(x, w, stride=2, padding=1),
        SHAPES[n],
        (4, 6, *(3,) * n),
    )
INTERPOLATIONS = {
    1: ("nearest", "linear"),
    2: ("nearest", "bilinear", "bicubic", "area"),
    3: ("trilinear",),
}
POOLINGS: dict[str, Callable[[Any], Any]] = {
    f"{kind}_pool{n}d": lambda x, kind=kind, n=n: getattr(na, f"{kind}_pool{n}d")(x, kernel_size=2)
    for kind in ("max", "avg")
    for n in (1, 2, 3)
}
KERNELS = {
    "Conv2D",
    "Conv3D",
    "Conv2DBackpropInput",
    "Conv3DBackpropInputV2",
    "DepthwiseConv2dNative",
    "MaxPool",
    "MaxPool3D",
    "AvgPool",
    "AvgPool3D",
}


def graph_of(function: Callable[..., Any], *shapes: tuple[int, ...]) -> Any:
    import tensorflow as tf

    specs = [tf.TensorSpec(shape, tf.float32) for shape in shapes]
    return tf.function(function, autograph=False).get_concrete_function(*specs).graph


def transposes_between(source: Any, target: Any) -> int:
    """The greatest number of transposes on a way from one operation to another; −1: there is none."""
    if target is source:
        return 0
    found = max((transposes_between(source, t.op) for t in target.inputs), default=-1)
    return found + (target.type == "Transpose") if found >= 0 else -1


def assert_one_a_side(graph: Any, weights: int) -> None:
    kernels = [o for o in graph.get_operations() if o.type in KERNELS]
    assert kernels, sorted({o.type for o in graph.get_operations()})
    x, *weight = (t.op for t in graph.inputs)
    assert len(weight) == weights
    (result,) = (t.op for t in graph.outputs)
    for kernel in kernels:
        assert 0 <= transposes_between(x, kernel) <= 1
        assert 0 <= transposes_between(kernel, result) <= 1
        for w in weight:
            assert 0 <= transposes_between(w, kernel) <= 1


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_a_convolution_transposes_once_a_side(name: str) -> None:
    function, x_shape, weight_shape = CONVOLUTIONS[name]
    assert_one_a_side(graph_of(function, x_shape, weight_shape), weights=1)


@pytest.mark.parametrize("name", POOLINGS)
def test_a_pooling_transposes_once_a_side(name: str) -> None:
    function = POOLINGS[name]
    assert_one_a_side(graph_of(function, SHAPES[int(name[-2])]), weights=0)


@pytest.mark.parametrize(
    ("n", "mode"), [(n, m) for n, modes in INTERPOLATIONS.items() for m in modes]
)
def test_an_interpolation_transposes_nothing(n: int, mode: str) -> None:
    graph = graph_of(lambda x: na.interpolate(x, scale_factor=2, mode=mode), SHAPES[n])
    assert "Transpose" not in {o.type for o in graph.get_operations()}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_a_convolution_on_tensorflow_is_that_of_torch(name: str) -> None:
    import tensorflow as tf
    import torch

    function, x_shape, weight_shape = CONVOLUTIONS[name]
    rng = np.random.default_rng(0)
    x, w = (rng.normal(size=s).astype("float32") for s in (x_shape, weight_shape))
    ours = function(tf.constant(x), tf.constant(w))
    theirs = function(torch.from_numpy(x), torch.from_numpy(w))
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("stride", [(1, 2), (1, 3), (2, 2)])
def test_one_window_along_an_axis_with_a_stride(stride: tuple[int, int]) -> None:
    import tensorflow as tf

    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(3, 1, 5, 4)), rng.normal(size=(2, 1, 2, 3))
    ours = na.conv2d(tf.constant(x, tf.float32), tf.constant(w, tf.float32), stride=stride)
    np.testing.assert_allclose(ours.numpy(), na.conv2d(x, w, stride=stride), rtol=1e-4, atol=1e-5)


LAST: dict[str, Any] = {"data_format": "channels_last"}
CHANNELS_LAST: dict[str, Callable[..., Any]] = {
    "conv": lambda x, w: na.conv(x, w, padding=1, weight_format="channels_last", **LAST),
    "max_pool": lambda x, w: na.max_pool(x, kernel_size=3, padding=1, **LAST),
    "avg_pool": lambda x, w: na.avg_pool(x, kernel_size=3, padding=1, **LAST),
}


@pytest.mark.parametrize("name", CHANNELS_LAST)
def test_channels_that_are_last_need_no_transpose(name: str) -> None:
    for shape in ((2, 12, 4), (2, 12, 10, 4), (1, 8, 8, 6, 4)):
        kernel = (*(3,) * (len(shape) - 2), 4, 6)
        found = {o.type for o in graph_of(CHANNELS_LAST[name], shape, kernel).get_operations()}
        assert found & KERNELS
        assert "Transpose" not in found


@pytest.mark.parametrize(
    "settings",
    [
        {"padding": "same"}, {"padding": "same", "stride": 2}, {"padding": ((1, 0), (0, 2))},
        {"groups": 4, "padding": "same"}, {"groups": 2, "stride": (2, 1)}, {"dilation": 2},
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("kernel", [(3, 3), (2, 3), (1, 1)])
def test_torch_convolves_either_layout_alike(
    settings: dict[str, Any], kernel: tuple[int, ...]
) -> None:
    rng = np.random.default_rng(0)
    shapes = (2, 7, 6, 4), (*kernel, 4 // settings.get("groups", 1), 8), (8,)
    x, w, b = (torch.tensor(rng.normal(size=s), requires_grad=True) for s in shapes)
    last = na.conv(x, w, b, weight_format="channels_last", **LAST, **settings)
    first = na.conv(x.movedim(-1, 1), w.permute(3, 2, 0, 1), b, **settings).movedim(1, -1)
    torch.testing.assert_close(last, first)
    loss = torch.tensor(rng.normal(size=tuple(first.shape)))
    ours, theirs = (torch.autograd.grad((y * loss).sum(), (x, w, b)) for y in (last, first))
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize(("size", "padding"), [(3, "same"), (2, "valid"), (2, "same")])
def test_padding_by_name_uses_pooling_of_torch(size: int, padding: str) -> None:
    x = torch.randn(2, 6, 7, 3, requires_grad=True)
    settings: dict[str, Any] = {"kernel_size": size, "stride": 1, "padding": padding, **LAST}
    for pool in (na.max_pool, na.avg_pool):
        y = pool(x, **settings)
        of_numpy = pool(x.detach().numpy(), **settings)
        np.testing.assert_allclose(y.detach().numpy(), of_numpy, rtol=1e-5, atol=1e-6)
        names = {y.grad_fn.name(), *[fn.name() for fn, _ in y.grad_fn.next_functions if fn]}
        is_native = bool(names & {"MaxPool2DWithIndicesBackward0", "AvgPool2DBackward0"})
        assert is_native == ((size, padding) != (2, "same"))
