"""Networks of images on TensorFlow: one transpose for each input and each output that is an image."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import nestarray as na
from nestarray.graph import passes
from tests import models


class UNet(nn.Module):
    """A U-Net: down and up again with skip connections, and a choice of parts."""

    def __init__(self, norm: Any, up: Any) -> None:
        super().__init__()

        def block(channels: int, out: int) -> nn.Module:
            parts = [nn.Conv2d(channels, out, 3, padding=1), norm(out), nn.SiLU()]
            return nn.Sequential(*parts)

        self.down1, self.down2, self.middle = block(3, 8), block(8, 16), block(16, 32)
        self.up2, self.join2 = up(32, 16), block(32, 16)
        self.up1, self.join1 = up(16, 8), block(16, 8)
        self.out = nn.Conv2d(8, 2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a = self.down1(x)
        b = self.down2(nn.functional.max_pool2d(a, 2))
        c = self.middle(nn.functional.adaptive_avg_pool2d(b, (4, 6)))
        y = self.join2(torch.cat([self.up2(c), b], 1))
        y = self.join1(torch.cat([nn.functional.pad(self.up1(y), (0, 0, 0, 0)), a], 1))
        return self.out(y).softmax(1) * y.mean((2, 3), keepdim=True)[:, :2]


NORMS: dict[str, Any] = {
    "batch": nn.BatchNorm2d,
    "group": lambda channels: nn.GroupNorm(4, channels),
    "instance": lambda channels: nn.InstanceNorm2d(channels, affine=True),
}
UPS: dict[str, Any] = {
    "transposed": lambda channels, out: nn.ConvTranspose2d(channels, out, 2, stride=2),
    "bilinear": lambda channels, out: nn.Sequential(
        nn.Conv2d(channels, out, 1), nn.Upsample(scale_factor=2, mode="bilinear")
    ),
    "nearest": lambda channels, out: nn.Sequential(
        nn.Upsample(scale_factor=2), nn.Conv2d(channels, out, 1)
    ),
    "shuffle": lambda channels, out: nn.Sequential(
        nn.Conv2d(channels, 4 * out, 1), nn.PixelShuffle(2)
    ),
}


@pytest.mark.parametrize(
    ("norm", "up", "train"),
    [
        ("group", "transposed", False),
        ("batch", "bilinear", True),
        pytest.param("instance", "shuffle", False, marks=pytest.mark.full),
        pytest.param("batch", "nearest", False, marks=pytest.mark.full),
        pytest.param("group", "shuffle", True, marks=pytest.mark.full),
        pytest.param("instance", "transposed", True, marks=pytest.mark.full),
    ],
)
def test_a_network_of_images_is_transposed_at_its_ends(norm: str, up: str, train: bool) -> None:
    torch.manual_seed(0)
    net = UNet(NORMS[norm], UPS[up]).double()
    images = torch.randn(1, 3, 16, 24, dtype=torch.float64)
    traced = na.trace_graph(net, images, train=train)
    graph = traced.to_backend("tensorflow").optimize()
    report = graph.report()
    assert (report.transposes, report.hidden_transposes) == (2, 0), str(graph)
    kernels = sum(isinstance(m, (nn.Conv2d, nn.ConvTranspose2d)) for m in net.modules())
    assert report.parameter_transposes == (kernels if train else 0)
    found = graph.verify()
    assert found.ok, str(found)
    # the passes are of no backend: the same program runs on the others
    moved = traced.optimize((passes.channels_last, *passes.TRAINING))
    assert moved.report().transposes == 2
    assert moved.verify().ok


def test_the_report_tells_transposes_of_parameters() -> None:
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 2, 1))
    graph = na.trace_graph(net, torch.randn(1, 3, 8, 8), train=True).to_backend("tensorflow")
    assert str(graph.report()).splitlines()[1] == "  transposes: 0, and 6 inside of calls"
    text = str(graph.optimize().report()).splitlines()[1]
    assert text == "  transposes: 2, and 2 of parameters"


#: Outputs that are images, and the input.
COUNTS = {"resnet": 2, "convnext": 2, "mobilenet_v2": 2, "swiftformer": 2, "poolformer": 2,
          "regnet": 2, "hgnet_v2": 2, "textnet": 3}  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("name", COUNTS)
def test_models_of_transformers_are_transposed_at_their_ends(name: str) -> None:
    net, inputs = models.build(name)
    graph = na.trace_graph(net, **inputs).to_backend("tensorflow").optimize()
    report = graph.report()
    assert (report.transposes, report.hidden_transposes) == (COUNTS[name], 0)
    assert graph.verify(gradients=False, nodes=False).ok


def test_what_is_left_of_a_hierarchical_transformer_is_its_heads() -> None:
    class Stage(nn.Module):
        """A sequence that becomes an image for a convolution, and a sequence again."""

        def __init__(self) -> None:
            super().__init__()
            self.embed, self.norm = nn.Conv2d(3, 8, 4, stride=4), nn.LayerNorm(8)
            self.mix = nn.Conv2d(8, 8, 3, padding=1, groups=8)
            self.wide = nn.Linear(8, 16)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = self.embed(x)
            batch, channels, height, width = x.shape
            rows = self.norm(x.flatten(2).transpose(1, 2))
            image = rows.transpose(1, 2).reshape(batch, channels, height, width)
            rows = self.mix(image).flatten(2).transpose(1, 2)
            return self.wide(rows)

    graph = na.trace_graph(Stage(), torch.randn(2, 3, 16, 24)).to_backend("tensorflow").optimize()
    assert graph.report().transposes == 1  # of the input alone: the output is a sequence
    assert graph.verify().ok


def _factors(n: int, rng: random.Random) -> tuple[int, ...]:
    """Sizes whose product is n, some of them 1."""
    found: list[int] = []
    while n > 1:
        found.append(rng.choice([k for k in range(2, n + 1) if n % k == 0]))
        n //= found[-1]
    found += [1] * rng.randint(0, 2)
    rng.shuffle(found)
    return tuple(found)


def test_transposes_move_through_reshapes_of_any_kind() -> None:
    fewer = 0
    for seed in range(60):
        rng = random.Random(seed)
        start = shape = _factors(rng.choice([16, 24, 30, 36]), rng)
        steps: list[tuple[str, tuple[int, ...]]] = []
        for _ in range(rng.randint(2, 6)):
            if rng.random() < 0.5:
                order = rng.sample(range(len(shape)), len(shape))
                shape = tuple([shape[i] for i in order])
                steps.append(("permute_dims", tuple(order)))
                continue
            i = rng.randrange(len(shape))
            if rng.random() < 0.5:
                shape = (*shape[:i], math.prod(shape[i : i + 2]), *shape[i + 2 :])
            else:
                shape = (*shape[:i], *_factors(shape[i], rng), *shape[i + 1 :]) or (1,)
            steps.append(("reshape", shape))

        def chain(x: Any, steps: Any = steps) -> Any:
            for name, setting in steps:
                x = na.exp(getattr(na, name)(x, setting) * 0.01)
            return x

        x = np.random.default_rng(seed).normal(size=start).astype("float32")
        graph = na.trace_graph(chain, x)
        short = passes.cancel_transposes(graph)
        np.testing.assert_array_equal(short(x), chain(x))
        fewer += short.report().transposes < graph.report().transposes
    assert fewer > 30
