"""Networks of ``keras.applications`` written for PyTorch, as torchvision writes them.

`tests/benchmarks/test_torch_twins.py` compares numbers of parameters.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import torch
from torch import nn


def _conv(
    inputs: int, outputs: int, size: int, stride: int = 1, groups: int = 1, bias: bool = False
) -> nn.Sequential:
    """A convolution that keeps the image size, and its batch normalization."""
    conv = nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=bias)
    return nn.Sequential(conv, nn.BatchNorm2d(outputs, eps=1e-3))


class _Bottleneck(nn.Module):
    """A residual block; as in Keras, its first convolution has the stride, and all have a bias."""

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        outputs = 4 * width
        self.conv1 = _conv(inputs, width, 1, stride, bias=True)
        self.conv2 = _conv(width, width, 3, bias=True)
        self.conv3 = _conv(width, outputs, 1, bias=True)
        is_same = inputs == outputs
        self.short = nn.Identity() if is_same else _conv(inputs, outputs, 1, stride, bias=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The sum of the convolutions and the input."""
        y = torch.relu(self.conv2(torch.relu(self.conv1(x))))
        return torch.relu(self.conv3(y) + self.short(x))


def resnet50(classes: int = 1000) -> nn.Module:
    """ResNet-50."""
    blocks: list[nn.Module] = []
    inputs = 64
    for i, count in enumerate((3, 4, 6, 3)):
        for j in range(count):
            blocks.append(_Bottleneck(inputs, 64 * 2**i, 2 if i and not j else 1))
            inputs = 256 * 2**i
    stem = [_conv(3, 64, 7, 2, bias=True), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, classes)]
    return nn.Sequential(*stem, *blocks, *head)


class _Gate(nn.Module):
    """Squeeze and excitation."""

    def __init__(self, channels: int, squeezed: int) -> None:
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.down, self.up = nn.Conv2d(channels, squeezed, 1), nn.Conv2d(squeezed, channels, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The channels, each times its gate."""
        return x * torch.sigmoid(self.up(nn.functional.silu(self.down(self.pool(x)))))


class _Inverted(nn.Module):
    """An inverted residual block."""

    def __init__(self, inputs: int, outputs: int, expand: int, size: int, stride: int) -> None:
        super().__init__()
        wide = inputs * expand
        layers = [_conv(inputs, wide, 1), nn.SiLU()] if expand > 1 else []
        layers += [_conv(wide, wide, size, stride, wide), nn.SiLU(), _Gate(wide, inputs // 4)]
        self.layers = nn.Sequential(*layers, _conv(wide, outputs, 1))
        self.is_residual = stride == 1 and inputs == outputs

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The convolutions, and the input if it has their shape."""
        y = self.layers(x)
        return x + y if self.is_residual else y


#: Expansion, kernel size, stride of the first block, channels, number of blocks.
_STAGES = (
    (1, 3, 1, 16, 1), (6, 3, 2, 24, 2), (6, 5, 2, 40, 2), (6, 3, 2, 80, 3), (6, 5, 1, 112, 3),
    (6, 5, 2, 192, 4), (6, 3, 1, 320, 1),
)  # fmt: skip


def efficientnet_b0(classes: int = 1000) -> nn.Module:
    """EfficientNet-B0, without dropout."""
    blocks: list[nn.Module] = []
    inputs = 32
    for expand, size, stride, channels, count in _STAGES:
        strides = itertools.chain([stride], itertools.repeat(1, count - 1))
        for own in strides:
            blocks.append(_Inverted(inputs, channels, expand, size, own))
            inputs = channels
    head = [_conv(inputs, 1280, 1), nn.SiLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    stem = [_conv(3, 32, 3, 2), nn.SiLU()]
    return nn.Sequential(*stem, *blocks, *head, nn.Linear(1280, classes))


#: Name in ``keras.applications`` → the network.
TWINS: dict[str, Callable[[], nn.Module]] = {
    "ResNet50": resnet50,
    "EfficientNetB0": efficientnet_b0,
}
