"""Layers whose sizes `init` reads from an example input."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import nestarray as na
from nestarray import nn
from nestarray.errors import ArgumentError, ShapeError, UnknownSizeError
from nestarray.testing import assert_close

KEY = na.random.key(0)
LAYERS = [
    ("Linear", (3,), (5, 2)),
    ("Conv1d", (4, 3), (2, 2, 5)),
    ("Conv2d", (4, 3, 1, 0, 1, 2), (2, 6, 5, 4)),
    ("Conv3d", (4, 2), (2, 3, 2, 2, 2)),
    ("ConvTranspose1d", (4, 3), (2, 2, 5)),
    ("ConvTranspose2d", (4, 3, 2, 1, 1), (2, 2, 5, 4)),
    ("ConvTranspose3d", (4, 2), (2, 3, 2, 2, 2)),
    ("BatchNorm1d", (), (5, 2)),
    ("BatchNorm2d", (), (5, 2, 3, 3)),
    ("BatchNorm3d", (), (5, 2, 3, 2, 2)),
    ("InstanceNorm1d", (1e-5, 0.1, True, True), (5, 2, 4)),
    ("InstanceNorm2d", (1e-5, 0.1, True, True), (5, 2, 3, 3)),
    ("InstanceNorm3d", (1e-5, 0.1, True, True), (5, 2, 3, 2, 2)),
]


def ones(*shape: int) -> Any:
    return np.ones(shape, np.float32)


class Tied(nn.Module):
    """A scan over a layer of unknown size, and one whose weight is read, not called."""

    def __init__(self) -> None:
        self.first = nn.Linear(None, 4)
        self.cell = nn.Linear(None, 4)
        self.last = nn.Linear(4, 3)
        self.heads = {"a": nn.Sequential(nn.BatchNorm(None), nn.Linear(None, 2))}

    def forward(self, x: Any) -> Any:
        x = self.first(x)
        x, _ = na.scan(lambda x, _: (self.cell(x), None), x, None, length=3)
        return self.heads["a"](x @ na.matrix_transpose(self.last.weight))


@pytest.mark.parametrize(("name", "settings", "shape"), LAYERS, ids=[row[0] for row in LAYERS])
def test_sizes_are_those_of_torchs_lazy_layers(
    name: str, settings: tuple[Any, ...], shape: tuple[int, ...], backend: str
) -> None:
    twin = getattr(torch.nn, f"Lazy{name}")(*settings)
    twin(torch.ones(shape))
    key = na.random.key(0, backend=backend)
    x = na.to_backend(ones(*shape), backend)
    layer = getattr(nn, name)(None, *settings).init(key, x)
    expected = na.Container.from_torch_module(twin, buffers=True)
    both = layer.v.update(layer.s)
    assert {p: tuple(a.shape) for p, a in both.flat_items()} == {
        p: tuple(a.shape) for p, a in expected.flat_items()
    }
    assert layer.with_variables(expected)(torch.ones(shape)) is not None


@pytest.mark.parametrize("backend", ["numpy", "jax", "torch", "tensorflow"])
def test_the_values_do_not_depend_on_the_inference(backend: str) -> None:
    key, x = na.random.key(0, backend=backend), na.to_backend(ones(5, 6), backend)
    sized = Tied()
    sized.first, sized.cell = nn.Linear(6, 4), nn.Linear(4, 4)
    sized.heads = {"a": nn.Sequential(nn.BatchNorm(3), nn.Linear(3, 2))}
    expected, net = sized.init(key), Tied().init(key, x)
    assert_close(net.v, expected.v)
    assert_close(net(x), expected(x))
    assert_close(Tied().init(key, x=x).v, expected.v)


#: Modules around layers, by the size of the layer, with a shape and the size that it determines.
ENCLOSING: dict[str, tuple[Callable[[int | None], nn.Module], tuple[int, ...], int]] = {
    "repeat": (lambda n: nn.Repeat(nn.Sequential(nn.Linear(n, 6), nn.Linear(6, 3)), 2), (5, 3), 3),
    "weight_norm": (lambda n: nn.weight_norm(nn.Linear(n, 4)), (5, 3), 3),
    "one norm": (lambda n: nn.weight_norm(nn.Conv2d(n, 4, 3), dim=-1), (2, 3, 4, 4), 3),
    "spectral_norm": (lambda n: nn.spectral_norm(nn.Conv1d(n, 4, 3)), (2, 3, 5), 3),
    "transposed": (lambda n: nn.spectral_norm(nn.ConvTranspose1d(n, 4, 3)), (2, 3, 5), 3),
    "last axis": (lambda n: nn.spectral_norm(nn.Linear(n, 4), dim=-1), (5, 3), 3),
    "orthogonal": (lambda n: nn.orthogonal(nn.Linear(n, 4)), (5, 3), 3),
    "square": (lambda n: nn.orthogonal(nn.Linear(n, 3)), (5, 3), 3),
    "experts": (lambda n: nn.MixtureOfExperts(3, nn.Linear(n, 3), 4), (2, 5, 3), 3),
    "nested": (
        lambda n: nn.Sequential(
            nn.Linear(3, 3), nn.Repeat(nn.weight_norm(nn.Repeat(nn.Linear(n, 3), 2), "bias"), 3)
        ),
        (5, 3),
        3,
    ),
    "depthwise": (lambda n: nn.DepthwiseConv1d(n, 3, depth_multiplier=2), (2, 3, 5), 3),
    "separable": (lambda n: nn.SeparableConv2d(n, 4, 3, depth_multiplier=2), (2, 3, 4, 4), 3),
}


@pytest.mark.parametrize("name", ENCLOSING)
def test_sizes_of_layers_inside_of_others(name: str, backend: str) -> None:
    build, shape, size = ENCLOSING[name]
    key, x = na.random.key(0, backend=backend), na.to_backend(ones(*shape), backend)
    expected, module = build(size).init(key), build(None)
    net = module.init(key, x)
    assert_close(net.v, expected.v)
    assert_close(net.s, expected.s)
    assert_close(net(x), expected(x))
    with pytest.raises(UnknownSizeError):
        module.init(key)


def test_blocks_read_their_sizes_from_the_embeddings() -> None:
    def blocks(size: int | None) -> nn.Module:
        mlp = nn.Sequential(nn.Linear(size, 6), nn.Linear(6, 4))
        attention = nn.GroupedQueryAttention(4, 2, 1)
        return nn.CausalTransformer(nn.CausalBlock(attention, mlp, nn.RMSNorm(4), nn.RMSNorm(4)), 2)

    x, mask, expected = ones(2, 5, 4), np.ones((2, 5), bool), blocks(4).init(KEY)
    assert_close(blocks(None).init(KEY, x, mask).v, expected.v)
    assert_close(blocks(None).init(KEY, x=x, mask=mask)(x, mask), expected(x, mask))


def test_init_changes_nothing() -> None:
    net = nn.Sequential(nn.Linear(None, 3), nn.ReLU())
    two, four = net.init(KEY, ones(5, 2)), net.init(KEY, ones(5, 4))
    assert two.v["0/weight"].shape == (3, 2)
    assert four.v["0/weight"].shape == (3, 4)
    again = pickle.loads(pickle.dumps(two))
    np.testing.assert_array_equal(again(ones(5, 2)), two(ones(5, 2)))
    assert "in_features=2" in repr(two)


def test_a_net_of_known_sizes_ignores_the_inputs() -> None:
    layer = nn.Linear(2, 3)
    assert_close(layer.init(KEY, "no input").v, layer.init(KEY).v)


def test_summary_reads_the_sizes() -> None:
    net = nn.Sequential(nn.Linear(None, 3), nn.ReLU())
    assert net.summary(ones(5, 2))["elements"] == (9, 0)


class TestErrors:
    @pytest.mark.parametrize(
        "use",
        [
            lambda net: net.init(KEY),
            lambda net: net.with_variables({}),
            lambda net: net(ones(5, 2), v={}),
            lambda net: net.summary(),
            lambda net: nn.Repeat(net, 2).init(KEY),
            lambda net: nn.weight_norm(net, "0/weight").init(KEY),
        ],
        ids=["init", "with_variables", "call", "summary", "repeat", "weight_norm"],
    )
    def test_no_input(self, use: Any) -> None:
        message = re.escape(
            "Linear(out_features=2, has_bias=True): in_features is None; net = "
            "net.init(na.random.key(0), x) reads it from an example input x of the net, if that "
            "reaches the layer"
        )
        with pytest.raises(UnknownSizeError, match=message):
            use(nn.Sequential(nn.Linear(None, 2)))

    def test_a_layer_that_the_call_does_not_reach(self) -> None:
        net = Tied()
        net.other = nn.Conv2d(None, 2, 3)
        with pytest.raises(UnknownSizeError, match="in_channels is None"):
            net.init(KEY, ones(5, 6))

    def test_a_weight_is_checked_when_its_shape_is_known(self) -> None:
        with pytest.raises(ArgumentError, match=re.escape("of the shape (2,), expected a matrix")):
            nn.orthogonal(nn.Linear(None, 2), "bias").init(KEY, ones(5, 3))
        with pytest.raises(ArgumentError, match="weight_norm: name: got 'w', expected a variable"):
            nn.weight_norm(nn.Linear(None, 2), "w").init(KEY, ones(5, 3))

    def test_an_input_without_the_axis(self) -> None:
        with pytest.raises(ShapeError, match=re.escape("input of the shape (2,), which has no")):
            nn.Conv2d(None, 2, 3).init(KEY, ones(2))
