"""FLOPs: those that PyTorch counts, and the rule of each op; summaries of nets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

import nestarray as na
from nestarray import nn
from nestarray.errors import MixedBackendError, ShapeError


class Residual(nn.Module):
    """A block of a ResNet."""

    def __init__(self, channels: int) -> None:
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm(channels)

    def forward(self, x: Any) -> Any:
        y = na.relu(self.norm1(self.conv1(x)))
        return na.relu(x + self.norm2(self.conv2(y)))


class ResNet(nn.Module):
    def __init__(self) -> None:
        self.stem = nn.Conv2d(3, 8, 5, 2, 2)
        self.blocks = [Residual(8), Residual(8)]
        self.head = nn.Linear(8, 10)

    def forward(self, x: Any) -> Any:
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.head(na.mean(x, axis=(2, 3)))


class Block(nn.Module):
    """A block of a transformer."""

    def __init__(self, size: int, heads: int) -> None:
        self.norm1, self.norm2 = nn.LayerNorm(size), nn.LayerNorm(size)
        self.attention = nn.MultiHeadAttention(size, heads)
        self.up, self.down = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)

    def forward(self, x: Any) -> Any:
        y = self.norm1(x)
        x = x + self.attention(y, y, y)
        return x + self.down(na.gelu(self.up(self.norm2(x))))


class TorchBlock(torch.nn.Module):
    def __init__(self, size: int, heads: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = torch.nn.LayerNorm(size), torch.nn.LayerNorm(size)
        self.attention = torch.nn.MultiheadAttention(size, heads, batch_first=True)
        self.up, self.down = torch.nn.Linear(size, 4 * size), torch.nn.Linear(4 * size, size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm1(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm2(x))))


def _torch_resnet() -> torch.nn.Module:
    def block() -> torch.nn.Module:
        conv = [torch.nn.Conv2d(8, 8, 3, padding=1, bias=False) for _ in range(2)]
        return torch.nn.Sequential(conv[0], torch.nn.ReLU(), conv[1])

    pool = torch.nn.AdaptiveAvgPool2d(1)
    stem = torch.nn.Conv2d(3, 8, 5, 2, 2)
    return torch.nn.Sequential(
        stem, block(), block(), pool, torch.nn.Flatten(), torch.nn.Linear(8, 10)
    )


def _count(fn: Callable[..., Any], *args: Any) -> int:
    """The FLOPs that torch counts, which leaves out its fused kernels of attention."""
    counter = FlopCounterMode(display=False)
    is_fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with counter, sdpa_kernel(SDPBackend.MATH), torch.no_grad():
            fn(*args)
    finally:
        torch.backends.mha.set_fastpath_enabled(is_fast)
    return counter.get_total_flops()


def test_a_resnet_has_the_flops_of_torch() -> None:
    x = torch.ones(2, 3, 16, 16)
    net = ResNet().init(na.random.key(0))
    assert na.flops(net, x.numpy()) == _count(_torch_resnet(), x) > 0


def test_a_transformer_has_the_flops_of_torch() -> None:
    x, theirs = torch.ones(2, 7, 16), TorchBlock(16, 4).eval()
    net = nn.Sequential(Block(16, 4), Block(16, 4)).init(na.random.key(0))
    assert na.flops(net, x.numpy()) == 2 * _count(theirs, x)
    assert na.flops(theirs, x) == _count(theirs, x)


def _ones(*shape: int) -> np.ndarray:
    return np.ones(shape, "float32")


X = torch.ones
_CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], int]] = {
    "matmul": (na.matmul, (_ones(5, 2, 3), _ones(3, 4)), _count(torch.matmul, X(5, 2, 3), X(3, 4))),
    "vectors": (na.matmul, (_ones(3), _ones(3)), 6),
    "tensordot": (
        lambda x, y: na.tensordot(x, y, axes=2),
        (_ones(2, 3, 4), _ones(3, 4, 5)),
        _count(lambda x, y: torch.tensordot(x, y, 2), X(2, 3, 4), X(3, 4, 5)),
    ),
    "vecdot": (lambda x, y: na.vecdot(x, y, axis=0), (_ones(3, 4), _ones(3, 4)), 2 * 12),
    "einsum": (
        lambda x, y: na.einsum("bij,bjk->bik", x, y),
        (_ones(2, 3, 4), _ones(2, 4, 5)),
        _count(lambda x, y: torch.einsum("bij,bjk->bik", x, y), X(2, 3, 4), X(2, 4, 5)),
    ),
    "einsum with dots": (
        lambda x, y: na.einsum("...ij, jk -> ...ik", x, y),
        (_ones(6, 2, 3, 4), _ones(4, 5)),
        2 * 6 * 2 * 3 * 4 * 5,
    ),
    "einsum of one array": (lambda x: na.einsum("ij->ji", x), (_ones(3, 4),), 0),
    "grouped convolution": (
        lambda x, w: na.conv2d(x, w, groups=2, stride=2),
        (_ones(2, 4, 9, 9), _ones(6, 2, 3, 3)),
        _count(
            lambda x, w: torch.nn.functional.conv2d(x, w, groups=2, stride=2),
            X(2, 4, 9, 9),
            X(6, 2, 3, 3),
        ),
    ),
    "transposed convolution": (
        lambda x, w: na.conv_transpose2d(x, w, stride=2),
        (_ones(2, 4, 5, 5), _ones(4, 6, 3, 3)),
        _count(
            lambda x, w: torch.nn.functional.conv_transpose2d(x, w, stride=2),
            X(2, 4, 5, 5),
            X(4, 6, 3, 3),
        ),
    ),
    "depthwise convolution": (
        na.depthwise_conv,
        (_ones(2, 4, 9), _ones(8, 1, 3)),
        _count(
            lambda x, w: torch.nn.functional.conv1d(x, w, groups=4), X(2, 4, 9), X(8, 1, 3)
        ),
    ),
    "separable convolution": (
        na.separable_conv,
        (_ones(2, 4, 9), _ones(8, 1, 3), _ones(5, 8)),
        2 * 2 * 7 * (8 * 3 + 5 * 8),
    ),
    "locally connected": (
        lambda x, w: na.locally_connected(x, w, kernel_size=3),
        (_ones(2, 4, 9), _ones(5, 12, 7)),
        2 * 2 * 7 * 5 * 12,
    ),
    "multi-head attention": (
        lambda x, *w: na.multi_head_attention(x, x, x, w, num_heads=2),
        (_ones(3, 5, 8), *[_ones(8, 8)] * 4),
        _count(
            lambda x: torch.nn.MultiheadAttention(8, 2, batch_first=True).eval()(
                x, x, x, need_weights=False
            ),
            X(3, 5, 8),
        ),
    ),
    "lstm": (
        lambda x, *w: na.lstm(x, w)[0],
        (_ones(5, 2, 3), _ones(16, 3), _ones(16, 4), _ones(16), _ones(16)),
        5 * 2 * 2 * (16 * 3 + 16 * 4),
    ),
    "scan": (
        lambda x: na.scan(lambda c, row: (c @ row, None), x[0], x)[0],
        (_ones(4, 3, 3),),
        4 * 2 * 27,
    ),
    "choice": (
        lambda x: na.cond(x[0, 0] > 0, lambda x: x @ x @ x, lambda x: x @ x, x),
        (_ones(3, 3),),
        2 * 2 * 27,
    ),
    "elementwise": (lambda x: na.exp(x) + na.sum(x), (_ones(3, 3),), 0),
}  # fmt: skip


@pytest.mark.parametrize("name", _CALLS)
def test_rules(name: str) -> None:
    fn, args, expected = _CALLS[name]
    assert na.flops(fn, *args) == expected


def test_a_loop_of_unknown_length_is_an_error() -> None:
    def loop(x: Any) -> Any:
        return na.while_loop(lambda x: na.sum(x) < 9, lambda x: x @ x, x)

    with pytest.raises(ShapeError, match="flops: loop: a size is open, or values decide"):
        na.flops(loop, _ones(2, 2))
    graph = na.trace_graph(lambda x: x @ x.T, _ones(2, 2), dynamic={"x": {0: "batch"}})
    with pytest.raises(ShapeError, match="trace it with fixed sizes"):
        na.flops(graph)


@pytest.mark.parametrize("backend", ["numpy", "jax", "torch"])
@pytest.mark.parametrize(
    ("layer", "twin", "shape"),
    [
        (nn.Linear(3, 4), torch.nn.Linear(3, 4), (8, 3)),
        (nn.Conv2d(3, 4, 3, 2, 1), torch.nn.Conv2d(3, 4, 3, 2, 1), (2, 3, 8, 8)),
        (nn.ConvTranspose1d(3, 4, 3, 2), torch.nn.ConvTranspose1d(3, 4, 3, 2), (2, 3, 8)),
    ],
    ids=["linear", "strided", "transposed"],
)
def test_gradients_count_as_in_torch(
    layer: nn.Module, twin: torch.nn.Module, shape: tuple[int, ...], backend: str
) -> None:
    layer = layer.init(na.random.key(0, backend=backend))
    x = na.to_backend(_ones(*shape), backend)
    both = na.grad(lambda v, x: na.sum(layer(x, v=v) ** 2), argnums=(0, 1))
    with FlopCounterMode(display=False) as counter:
        (twin(torch.ones(shape, requires_grad=True)) ** 2).sum().backward()
    assert na.flops(both, layer.v, x) == counter.get_total_flops()


def test_gradients_of_a_loop_count_each_step() -> None:
    def loss(w: Any) -> Any:
        step = lambda c, _: (na.tanh(c @ w), None)  # noqa: E731
        return na.sum(na.scan(step, na.ones((2, 3), like=w), None, length=5)[0])

    assert na.flops(loss, _ones(3, 3)) == 5 * 36
    assert na.flops(na.grad(loss), _ones(3, 3)) == 3 * 5 * 36


def test_functions_of_jax_count() -> None:
    x = jnp.ones((2, 3, 4))
    assert na.flops(lambda x: jnp.einsum("bij,bkj->bik", x, x), x) == 2 * 2 * 3 * 3 * 4
    assert na.flops(jax.grad(lambda w: jnp.sum(jnp.tanh(x @ w))), jnp.ones((4, 5))) == 2 * 240


def test_gradients_need_all_arrays_as_arguments() -> None:
    net, x = nn.Linear(2, 3).init(na.random.key(0)), _ones(4, 2)
    with pytest.raises(MixedBackendError) as caught:
        na.flops(na.grad(lambda v: na.sum(net(x, v=v))), net.v)
    assert caught.value.__notes__[-1].endswith("pass all arrays as arguments of the function")


def test_a_summary_divides_the_costs_among_the_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")  # else the table breaks its lines
    net, x = ResNet(), _ones(2, 3, 16, 16)
    table = net.summary(x)
    rows = dict(zip(table["path"], zip(table["output"], table["flops"], table["activations"])))
    assert rows["stem"] == ("(2, 8, 8, 8)", 2 * 2 * 8 * 64 * 75, 4 * 1024)
    assert rows["blocks/1/norm2"] == ("(2, 8, 8, 8)", 0, 4 * 1024)
    assert rows["head"] == ("(2, 10)", 2 * 2 * 80, 80)
    assert rows["blocks/0"][1:] == (0, 4 * 3 * 1024)  # two relus and a sum
    assert sum(table["flops"]) == na.flops(net.init(na.random.key(0)), x)
    totals = (sum(table[name]) for name in ("elements", "flops", "activations"))
    assert str(table).splitlines()[-1].split() == ["total", *(f"{n:,}" for n in totals)]


def test_a_summary_counts_each_step_of_a_loop() -> None:
    class Repeated(nn.Module):
        def __init__(self) -> None:
            self.layer = nn.Linear(4, 4)

        def forward(self, x: Any) -> Any:
            return na.scan(lambda c, _: (self.layer(c), None), x, length=3)[0]

    table = Repeated().summary(_ones(2, 4))
    row = table["path"].index("layer")
    assert (table["flops"][row], table["activations"][row]) == (3 * 64, 3 * 32)


def test_a_summary_without_inputs_has_no_costs() -> None:
    assert "flops" not in str(ResNet().summary())
