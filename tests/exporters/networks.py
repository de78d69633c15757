"""Networks of each kind that stand-alone source is tested with."""

from __future__ import annotations

import copy
import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import nestarray as na
from tests import models


class MLP(nn.Module):
    """Two hidden layers."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 3)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Log-probabilities."""
        return F.log_softmax(self.layers(x), dim=-1)


class Block(nn.Module):
    """A residual block, as in ResNet-18."""

    def __init__(self, width: int, channels: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(width, channels, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.downsample = (
            nn.Sequential(
                nn.Conv2d(width, channels, 1, stride, bias=False), nn.BatchNorm2d(channels)
            )
            if stride > 1
            else nn.Identity()
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The sum of two convolutions and the input."""
        out = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(out)) + self.downsample(x))


class ResNet18(nn.Module):
    """ResNet-18 with a few channels."""

    def __init__(self, width: int = 4) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        widths = [width, width, 2 * width, 4 * width, 8 * width]
        self.layers = nn.ModuleList(
            nn.Sequential(Block(n, m, 1 if n == m else 2), Block(m, m, 1))
            for n, m in itertools.pairwise(widths)
        )
        self.fc = nn.Linear(8 * width, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits of images."""
        x = self.maxpool(F.relu(self.bn1(self.conv1(x))))
        for layer in self.layers:
            x = layer(x)
        return self.fc(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1))


class Scaled(nn.Module):
    """A linear layer with a bias, a scale and a limit, or without them."""

    def __init__(self, features: int, limit: float | None) -> None:
        super().__init__()
        self.limit = limit
        self.linear = nn.Linear(features, features, bias=limit is not None)
        self.scale = None if limit is None else nn.Parameter(torch.rand(features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Numbers between −1 and 1."""
        x = self.linear(x)
        x = x if self.scale is None else x * self.scale
        return torch.tanh(x if self.limit is None else x.clamp(max=self.limit))


class Pair(nn.Module):
    """Two layers of one kind."""

    def __init__(self, features: int, limits: tuple[float | None, float | None]) -> None:
        super().__init__()
        self.first, self.second = (Scaled(features, limit) for limit in limits)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """One layer after the other."""
        return self.second(self.first(x))


class Unit(nn.Module):
    """A linear layer with or without an activation, a part for another width, and a sum."""

    def __init__(self, width: int, features: int, *, is_active: bool = True) -> None:
        super().__init__()
        self.linear = nn.Linear(width, features)
        self.activation = nn.Tanh() if is_active else nn.Identity()
        self.project = nn.Linear(width, features, bias=False) if width != features else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The sum of the layer and the input."""
        identity = x if self.project is None else self.project(x)
        return self.activation(self.linear(x)) + identity


class Stage(nn.Module):
    """Units, after a list of layers that may be empty."""

    def __init__(self, width: int, features: int, number: int) -> None:
        super().__init__()
        layers = [nn.LayerNorm(width), nn.Linear(width, width)] if width != features else []
        self.before = nn.ModuleList(layers)
        units = [Unit(features, features) for _ in range(number - 1)]
        self.units = nn.ModuleList([Unit(width, features), *units])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The last unit."""
        for layer in [*self.before, *self.units]:
            x = layer(x)
        return x


class Attention(nn.Module):
    """Attention of rows to themselves or to a source, with or without a gate and a mask.

    It returns the query too.
    """

    def __init__(self, features: int) -> None:
        super().__init__()
        self.query = nn.Linear(features, features)

    def forward(
        self,
        x: torch.Tensor,
        source: torch.Tensor | None = None,
        gate: torch.Tensor | None = None,
        mask: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """(rows, features) → (rows, features)."""
        source = x if source is None else source
        gate = None if gate is None else torch.relu(gate)
        query = self.query(x)
        gated = query if gate is None else query * gate
        x = F.scaled_dot_product_attention(gated[None], source[None], source[None], mask)[0]
        return x, query


class Window(nn.Module):
    """Attention of rows that may be shifted, and attend to a source then."""

    def __init__(self, features: int, shift: int) -> None:
        super().__init__()
        self.shift = shift
        self.attention = Attention(features)
        self.register_buffer("mask", torch.tensor([[-0.7, 0.2], [0.4, -0.9]]) if shift else None)

    def forward(self, x: torch.Tensor, source: torch.Tensor, gate: torch.Tensor) -> torch.Tensor:
        """The sum of the attention and the input."""
        if not self.shift:
            return x + self.attention(x)[0]
        h, query = self.attention(x.roll(self.shift, 0), source, gate, self.mask)
        return x + h + query


class Turns(nn.Module):
    """Layers of two kinds that take turns."""

    def __init__(self, features: int, number: int) -> None:
        super().__init__()
        kinds = [nn.LayerNorm(features), nn.Linear(features, features)]
        self.layers = nn.ModuleList(copy.deepcopy(kinds[i % 2]) for i in range(number))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The last layer."""
        for layer in self.layers:
            x = layer(x)
        return x


class Offset(nn.Module):
    """A linear layer and an offset, which the first layer computes for all others."""

    def __init__(self, features: int, *, is_first: bool) -> None:
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.offset = nn.Parameter(torch.rand(features)) if is_first else None

    def forward(
        self, x: torch.Tensor, offset: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The sum, and the offset."""
        if offset is None:
            assert self.offset is not None
            offset = torch.tanh(self.offset)
        return self.linear(x) + offset, offset


class Stages(nn.Module):
    """Stages that differ in their number of units and in the parts of these."""

    def __init__(self) -> None:
        super().__init__()
        self.pairs = nn.ModuleList([Pair(4, (0.5, 0.5)), Pair(4, (None, 0.3))])
        self.stages = nn.ModuleList([Stage(4, 4, 2), Stage(4, 6, 2), Stage(6, 8, 4)])
        self.windows = nn.ModuleList([Window(8, 0), Window(8, 1)])
        self.turns = nn.ModuleList([Turns(8, 2), Turns(8, 4)])
        self.offsets = nn.ModuleList([Offset(8, is_first=True), Offset(8, is_first=False)])
        self.out = Unit(8, 3, is_active=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Three numbers."""
        for layer in [*self.pairs, *self.stages]:
            x = layer(x)
        source, gate = torch.tanh(x), torch.sigmoid(x)
        for window in self.windows:
            x = window(x, source, gate)
        for turns in self.turns:
            x = turns(x)
        offset = None
        for layer in self.offsets:
            x, offset = layer(x, offset)
        return self.out(x)


class DoubleConv(nn.Sequential):
    """Two convolutions with group normalization."""

    def __init__(self, width: int, channels: int) -> None:
        super().__init__(
            nn.Conv2d(width, channels, 3, padding=1),
            nn.GroupNorm(2, channels),
            nn.SiLU(),
            nn.Conv2d(channels, channels, 3, padding=1),
            nn.GroupNorm(2, channels),
            nn.SiLU(),
        )


class UNet(nn.Module):
    """A U-Net of two levels, with a transposed convolution and an interpolation."""

    def __init__(self) -> None:
        super().__init__()
        self.down1, self.down2, self.mid = DoubleConv(1, 4), DoubleConv(4, 8), DoubleConv(8, 8)
        self.up2 = nn.ConvTranspose2d(8, 8, 2, 2)
        self.conv2, self.conv1 = DoubleConv(16, 4), DoubleConv(8, 4)
        self.out = nn.Conv2d(4, 2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits of each pixel."""
        first = self.down1(x)
        second = self.down2(F.max_pool2d(first, 2))
        x = self.mid(F.avg_pool2d(second, 2))
        x = self.conv2(torch.cat([self.up2(x), second], 1))
        x = F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
        return self.out(self.conv1(torch.cat([x, first], 1)))


def _images(*shape: int) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(0).normal(size=shape).astype("float32"))


def _own(build: Callable[[], nn.Module], *shape: int) -> tuple[nn.Module, dict[str, Any]]:
    torch.manual_seed(0)
    net = build().eval()
    for x in net.buffers():
        if x.is_floating_point():
            x.uniform_(0.5, 1.5)
    return net, {"x": _images(*shape)}


#: Name → (module in evaluation mode, inputs by name).
NETWORKS: dict[str, Callable[[], tuple[nn.Module, dict[str, Any]]]] = {
    "mlp": functools.partial(_own, MLP, 4, 5),
    "stages": functools.partial(_own, Stages, 2, 4),
    "resnet18": functools.partial(_own, ResNet18, 2, 3, 64, 64),
    "unet": functools.partial(_own, UNet, 1, 1, 16, 16),
    "vit": functools.partial(models.build, "vit"),
    "bert": functools.partial(models.build, "bert"),
    "gpt2": functools.partial(models.build, "gpt2"),
}


class Recurrent(nn.Module):
    """A recurrent network between an embedding and a linear layer."""

    def __init__(self, kind: type[nn.RNNBase], **settings: Any) -> None:
        super().__init__()
        self.embedding = nn.Embedding(11, 6)
        self.rnn = kind(6, 4, batch_first=True, **settings)
        self.fc = nn.Linear(8 if self.rnn.bidirectional else 4, 11)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits of the next token."""
        return self.fc(self.rnn(self.embedding(x))[0])


class Branch(nn.Module):
    """One of two layers, as the input decides."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Twice, so that both branches are taken."""
        for side in (x, -x):
            x = x + torch.cond(side.sum() > 0, lambda y: self.first(y).relu(), self.second, (x,))
        return x


class Seq2Seq(na.nn.Module):
    """An encoder that reads a sequence, and a decoder whose outputs are its next inputs."""

    def __init__(self) -> None:
        self.encode, self.decode = na.nn.Linear(7, 4), na.nn.Linear(7, 4)
        self.out = na.nn.Linear(4, 3)

    def forward(self, x: Any) -> Any:
        """(length, batch, 3) → (4, batch, 3)."""

        def read(h: Any, row: Any) -> Any:
            return na.tanh(self.encode(na.concat((row, h), axis=-1))), None

        def write(carry: Any, _: None) -> Any:
            h, y = carry
            h = na.tanh(self.decode(na.concat((y, h), axis=-1)))
            return (h, self.out(h)), self.out(h)

        h, _ = na.scan(read, na.zeros((x.shape[1], 4), dtype=na.float32, like=x), x)
        (h, y), ys = na.scan(write, (h, x[-1]), length=4)
        grown = na.while_loop(
            lambda y: na.sum(y * y) < 50.0, lambda y: 1.5 * y + 0.1, y, max_steps=9
        )
        return ys + na.fori_loop(1, 3, lambda i, y: y + na.astype(i, na.float32) * h[:, :3], grown)


def _seq2seq() -> tuple[na.nn.Module, dict[str, Any]]:
    return Seq2Seq().init(na.random.key(0, backend="torch")), {"x": _images(5, 2, 3)}


def _tokens(build: Callable[[], nn.Module]) -> tuple[nn.Module, dict[str, Any]]:
    torch.manual_seed(0)
    return build().eval(), {"x": torch.arange(10).reshape(2, 5)}


#: Networks with loops and branches: name → (module, inputs by name).
LOOPS: dict[str, Callable[[], tuple[Any, dict[str, Any]]]] = {
    "lstm": functools.partial(_tokens, functools.partial(Recurrent, nn.LSTM, num_layers=2)),
    "gru": functools.partial(_tokens, functools.partial(Recurrent, nn.GRU, bidirectional=True)),
    "branch": functools.partial(_own, Branch, 2, 4),
    "seq2seq": _seq2seq,
}


def torch_kernel(kernel: np.ndarray) -> np.ndarray:
    """A kernel of Flax in the layout of PyTorch."""
    rank = kernel.ndim
    return kernel.transpose(rank - 1, rank - 2, *range(rank - 2))


def torch_layout(x: np.ndarray, name: str, source: Any) -> np.ndarray:
    """A variable of a source in the layout of PyTorch."""
    if name.endswith(".kernel"):
        return torch_kernel(x)
    if source.language.name != "mlx":
        return x
    layers = {
        value: module.layer.target
        for module in source.root.walk()
        if module.layer
        for value in module.variables.values()
    }
    value = source.variables[name]
    layer = layers.get(value, "")
    if value in source.outputs and layer == "mlx.nn.Linear" and value.path.endswith("weight"):
        return x.T  # of a module that has the inputs first
    if not layer.startswith("mlx.nn.Conv") or x.ndim < 3:
        return x
    is_transposed = "Transpose" in layer
    first = (-1, 0) if is_transposed else (0, -1)  # MLX has (out, *window, in)
    return x.transpose(*first, *range(1, x.ndim - 1))


@functools.cache
def graph_of(name: str, backend: str) -> tuple[na.graph.Graph, dict[str, Any]]:
    """The lowered graph of a network on a backend, and its inputs."""
    net, inputs = NETWORKS[name]()
    graph = na.trace_graph(net, **inputs).lower().to_backend(backend)
    return graph, {k: na.to_backend(x, backend) for k, x in inputs.items()}
