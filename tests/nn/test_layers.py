"""Layers: the numbers and gradients of their twins in torch, the same on every backend."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

import nestarray as na
from nestarray import nn
from nestarray.errors import ArgumentError
from nestarray.testing import assert_close

pytestmark = pytest.mark.one_in(4)

DIFFERENTIABLE = ("numpy", "jax", "torch", "tensorflow")


@dataclass(frozen=True)
class Row:
    """A layer, its twin, and the function that draws their inputs."""

    name: str
    layer: Callable[[], nn.Module]
    twin: Callable[[], torch.nn.Module]
    shape: tuple[int, ...]
    is_index: bool = False

    def x(self) -> np.ndarray:
        rng = np.random.default_rng(0)
        if self.is_index:
            return rng.integers(0, 5, self.shape)
        return rng.normal(size=self.shape).astype(np.float32)

    def pair(self) -> tuple[nn.Module, torch.nn.Module]:
        """The layer with the variables and the state of its twin, which are not constant."""
        torch.manual_seed(0)
        twin = self.twin().eval()
        with torch.no_grad():
            for tensor in (*twin.parameters(), *twin.buffers()):
                if tensor.is_floating_point():
                    tensor.add_(0.1 * torch.rand_like(tensor))
        tree = na.Container.from_torch_module(twin, buffers=True)
        return self.layer().with_variables(tree.map(lambda t: t.clone())), twin


class Attention(torch.nn.Module):
    """torch's layer called as a self-attention."""

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self.attention = torch.nn.MultiheadAttention(8, 2, batch_first=True, **settings)

    def forward(self, x: Any) -> Any:
        return self.attention(x, x, x, need_weights=False)[0]


class OurAttention(nn.Module):
    """Ours under the same name."""

    def __init__(self, **settings: Any) -> None:
        self.attention = nn.MultiHeadAttention(8, 2, **settings)

    def forward(self, x: Any) -> Any:
        return self.attention(x)


T = torch.nn
ROWS = [
    Row("Linear", lambda: nn.Linear(3, 4), lambda: T.Linear(3, 4), (5, 3)),
    Row("Linear bare", lambda: nn.Linear(3, 4, False), lambda: T.Linear(3, 4, False), (2, 5, 3)),
    Row("Conv1d", lambda: nn.Conv1d(2, 4, 3), lambda: T.Conv1d(2, 4, 3), (2, 2, 7)),
    Row(
        "Conv2d",
        lambda: nn.Conv2d(2, 4, 3, 2, 1),
        lambda: T.Conv2d(2, 4, 3, 2, 1),
        (2, 2, 6, 5),
    ),
    Row(
        "Conv2d grouped",
        lambda: nn.Conv2d(4, 4, (3, 1), groups=2, dilation=2, bias=False),
        lambda: T.Conv2d(4, 4, (3, 1), groups=2, dilation=2, bias=False),
        (2, 4, 6, 5),
    ),
    Row("Conv3d", lambda: nn.Conv3d(1, 2, 2), lambda: T.Conv3d(1, 2, 2), (1, 1, 3, 4, 3)),
    Row(
        "ConvTranspose2d",
        lambda: nn.ConvTranspose2d(4, 2, 3, stride=2, padding=1, output_padding=1, groups=2),
        lambda: T.ConvTranspose2d(4, 2, 3, stride=2, padding=1, output_padding=1, groups=2),
        (1, 4, 3, 3),
    ),
    Row("BatchNorm", lambda: nn.BatchNorm(3), lambda: T.BatchNorm2d(3), (4, 3, 2, 2)),
    Row(
        "BatchNorm average",
        lambda: nn.BatchNorm(3, 1e-3, None, affine=False),
        lambda: T.BatchNorm1d(3, 1e-3, None, affine=False),
        (6, 3),
    ),
    Row("LayerNorm", lambda: nn.LayerNorm(4), lambda: T.LayerNorm(4), (2, 3, 4)),
    Row(
        "LayerNorm axes",
        lambda: nn.LayerNorm((3, 4), bias=False),
        lambda: T.LayerNorm((3, 4), bias=False),
        (2, 3, 4),
    ),
    Row("RMSNorm", lambda: nn.RMSNorm(4), lambda: T.RMSNorm(4, 1e-6), (2, 3, 4)),
    Row("GroupNorm", lambda: nn.GroupNorm(2, 4), lambda: T.GroupNorm(2, 4), (2, 4, 3)),
    Row("Embedding", lambda: nn.Embedding(5, 3), lambda: T.Embedding(5, 3), (2, 4), True),
    Row("MultiHeadAttention", OurAttention, Attention, (2, 5, 8)),
    Row(
        "MultiHeadAttention bare",
        lambda: OurAttention(bias=False),
        lambda: Attention(bias=False),
        (2, 5, 8),
    ),
    Row(
        "Sequential",
        lambda: nn.Sequential(nn.Linear(3, 4), na.tanh, nn.Linear(4, 2)),
        lambda: T.Sequential(T.Linear(3, 4), T.Tanh(), T.Linear(4, 2)),
        (5, 3),
    ),
]


@pytest.fixture(params=ROWS, ids=lambda row: row.name)
def row(request: pytest.FixtureRequest) -> Row:
    """Each layer with its twin."""
    return request.param


def test_forward_is_torchs(row: Row, backend: str) -> None:
    layer, twin = row.pair()
    expected = twin(torch.from_numpy(row.x())).detach().numpy()
    found = layer.to_backend(backend)(na.to_backend(row.x(), backend))
    assert na.backend_of(found) == backend
    assert_close(na.to_backend(found, "numpy"), expected)


@pytest.mark.parametrize("backend", DIFFERENTIABLE)
def test_gradients_are_torchs(row: Row, backend: str) -> None:
    layer, twin = row.pair()
    if not layer.v.leaves():
        return
    twin(torch.from_numpy(row.x())).square().sum().backward()
    layer, x = layer.to_backend(backend), na.to_backend(row.x(), backend)
    found = na.grad(lambda v: na.sum(layer(x, v=v) ** 2))(layer.v).to_backend("numpy")
    expected = {name.replace(".", "/"): p.grad.numpy() for name, p in twin.named_parameters()}
    assert set(found.paths()) == set(expected)
    for path, gradient in found.flat_items():
        assert_close(gradient, expected[path], rtol=1e-4, atol=1e-4, reason="long sums")


def test_training_is_torchs(row: Row, backend: str) -> None:
    layer, twin = row.pair()
    twin.train()
    layer, x = layer.to_backend(backend), na.to_backend(row.x(), backend)
    for _ in range(2):
        expected = twin(torch.from_numpy(row.x())).detach().numpy()
        out, s = layer(x, train=True)
        assert_close(na.to_backend(out, "numpy"), expected)
        layer = layer.with_variables(layer.v, s)
    for path, state in layer.s.flat_items():
        buffer = twin.get_buffer(path.replace("/", ".")).numpy()
        assert_close(na.to_backend(state, "numpy"), buffer, check_dtype=False)


def test_a_call_changes_nothing(row: Row, backend: str) -> None:
    layer, _ = row.pair()
    layer, x = layer.to_backend(backend), na.to_backend(row.x(), backend)
    v, s = layer.v, layer.s
    before = [np.array(na.to_backend(leaf, "numpy")) for c in (v, s) for leaf in c.leaves()]
    layer(x, train=True, key=na.random.key(0, backend=backend))
    assert layer.v is v
    assert layer.s is s
    for old, leaf in zip(before, (*v.leaves(), *s.leaves()), strict=True):
        np.testing.assert_array_equal(old, na.to_backend(leaf, "numpy"))


def test_jit_is_the_plain_call(row: Row, backend: str) -> None:
    layer, _ = row.pair()
    layer, x = layer.to_backend(backend), na.to_backend(row.x(), backend)
    options = {"backend": "aot_eager"} if backend == "torch" else {}

    def step(v: Any, s: Any, x: Any) -> Any:
        return layer(x, v=v, s=s, train=True)

    out, s = na.jit(step, **options)(layer.v, layer.s, x)
    expected, state = step(layer.v, layer.s, x)
    assert_close(out, expected)
    assert_close(s, state)


def test_tensorflow_leaves_the_batch_open(row: Row) -> None:
    import tensorflow as tf

    layer, _ = row.pair()
    layer, x = layer.to_backend("tensorflow"), na.to_backend(row.x(), "tensorflow")

    def step(x: Any) -> Any:
        out, s = layer(x, train=True)
        return out, s.to_flat_dict()

    spec = tf.TensorSpec((None, *x.shape[1:]), x.dtype)
    assert_close(tf.function(step, input_signature=[spec])(x), step(x))


def test_init_has_the_paths_and_shapes_of_torch(row: Row, backend: str) -> None:
    layer = row.layer().init(na.random.key(0, backend=backend))
    twin = na.Container.from_torch_module(row.twin(), buffers=True)
    both = layer.v.update(layer.s)
    assert set(both.paths()) == set(twin.paths())
    for path, leaf in both.flat_items():
        assert tuple(leaf.shape) == tuple(twin[path].shape), path
        assert na.backend_of(leaf) == backend
    assert (
        layer(na.to_backend(row.x(), backend)).shape == row.twin()(torch.from_numpy(row.x())).shape
    )


def test_init_draws_the_same_on_every_backend(row: Row) -> None:
    expected = row.layer().init(na.random.key(3)).v
    for backend in DIFFERENTIABLE:
        found = row.layer().init(na.random.key(3, backend=backend)).v.to_backend("numpy")
        assert_close(found, expected)


class TestDropout:
    def test_rate_and_scale(self, backend: str) -> None:
        x = na.to_backend(np.ones((100, 100), np.float32), backend)
        layer = nn.Dropout(0.3).init(na.random.key(0, backend=backend))
        out, _ = layer(x, train=True, key=na.random.key(1, backend=backend))
        values = na.to_backend(out, "numpy")
        kept = np.float32(1.0) / np.float32(1.0 - 0.3)
        np.testing.assert_array_max_ulp(np.unique(values), np.asarray([0, kept], np.float32), 1)
        assert abs((values == 0).mean() - 0.3) < 0.02
        assert layer(x) is x

    def test_the_same_places_on_every_backend(self) -> None:
        x = np.ones((7, 5), np.float32)
        layer = nn.Sequential(nn.Dropout(0.5))
        drawn = []
        for backend in ("numpy", *DIFFERENTIABLE):
            key = na.random.key(2, backend=backend)
            out, _ = layer.init(key)(na.to_backend(x, backend), train=True, key=key)
            drawn.append(na.to_backend(out, "numpy"))
        for other in drawn[1:]:
            np.testing.assert_array_equal(other, drawn[0])

    def test_places_and_uses_differ(self) -> None:
        shared = nn.Dropout(0.5)

        class Twice(nn.Module):
            def __init__(self) -> None:
                self.a, self.b = shared, nn.Dropout(0.5)

            def forward(self, x: Any) -> Any:
                return np.stack([self.a(x), self.a(x), self.b(x)])

        out, _ = Twice().init(na.random.key(0))(
            np.ones(40, np.float32), train=True, key=na.random.key(1)
        )
        assert len({row.tobytes() for row in out}) == 3

    def test_the_ends(self) -> None:
        x = np.ones(3, np.float32)
        key = na.random.key(0)
        assert nn.Dropout(0.0).init(key)(x, train=True)[0] is x
        np.testing.assert_array_equal(nn.Dropout(1.0).init(key)(x, train=True)[0], 0 * x)


class TestAttention:
    def test_sources_and_masks(self) -> None:
        torch.manual_seed(0)
        twin = torch.nn.MultiheadAttention(8, 2, batch_first=True)
        layer = nn.MultiHeadAttention(8, 2).with_variables(na.Container.from_torch_module(twin))
        q, k, value = torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 8)
        mask = torch.rand(3, 5) < 0.7
        mask[:, 0] = True
        expected = twin(q, k, value, attn_mask=~mask, need_weights=False)[0]
        assert_close(layer(q, k, value, mask), expected.detach())
        causal = torch.ones(3, 3, dtype=torch.bool).tril()
        expected = twin(q, q, q, attn_mask=~causal, need_weights=False)[0]
        assert_close(layer(q, is_causal=True), expected.detach())

    def test_weights_drop_in_training_alike_on_every_backend(self, backend: str) -> None:
        key = na.random.key(3, backend=backend)
        layer = nn.MultiHeadAttention(8, 2, dropout=0.5).init(na.random.key(0, backend=backend))
        x = na.to_backend(np.random.default_rng(0).normal(size=(2, 5, 8)).astype("f4"), backend)
        out, _ = layer(x, train=True, key=key)
        weights = [*na.split(layer.v["in_proj_weight"], 8), layer.v["out_proj/weight"]]
        biases = [*na.split(layer.v["in_proj_bias"], 8), layer.v["out_proj/bias"]]
        expected = na.multi_head_attention(
            x, x, x, weights, biases, None, na.random.fold_in(key, "dropout"),
            num_heads=2, dropout_p=0.5,
        )  # fmt: skip
        assert_close(out, expected)
        assert not np.allclose(na.to_backend(out, "numpy"), na.to_backend(layer(x), "numpy"))

    def test_a_layer_that_drops_needs_a_key(self) -> None:
        layer = nn.MultiHeadAttention(8, 2, dropout=0.5).init(na.random.key(0))
        with pytest.raises(ArgumentError, match="key: got None, but Dropout"):
            layer(np.ones((1, 2, 8), np.float32), train=True)


def test_the_initial_numbers_of_linear_are_distributed_as_torchs() -> None:
    layer = nn.Linear(100, 200).init(na.random.key(0))
    for leaf in layer.v.leaves():
        assert abs(leaf).max() <= 0.1
        assert abs(leaf.std() - 0.1 / 3**0.5) < 0.005
