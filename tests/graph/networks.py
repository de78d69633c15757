"""Small torch modules that the graph tests trace."""

from __future__ import annotations

import torch
from torch import nn


class ConvNet(nn.Module):
    """Convolution, batch norm, pooling, dropout, linear."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.drop = nn.Dropout(0.5)
        self.fc = nn.Linear(4 * 4 * 4, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.norm(self.conv(x)))
        x = torch.max_pool2d(x, 2)
        return self.fc(self.drop(x).flatten(1))


class Nested(nn.Module):
    """Keyword and nested inputs, a buffer, a lifted constant, a dictionary output."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 2)
        self.register_buffer("offset", torch.arange(2.0))

    def forward(self, x, extra=None, *, scale=1.0):
        y = self.fc(x) * torch.tensor([2.0]) + self.offset
        if extra is not None:
            y = y + extra["a"] + extra["b"][0]
        return {"y": y * scale, "pair": (y, x), "size": 3}


class Tied(nn.Module):
    """One matrix under two names."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(5, 3)
        self.head = nn.Linear(3, 5, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids):
        return self.head(self.embed(ids))


class DataDependent(nn.Module):
    """Control flow that torch.export refuses."""

    def forward(self, x):
        if x.sum() > 0:
            return x
        return -x


@torch.library.custom_op("nestarray_tests::cubed", mutates_args=())
def cubed(x: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
    """scale · x³, as somebody outside of torch registers it."""
    return scale * x**3


@cubed.register_fake
def _(x, scale=1.0):
    return torch.empty_like(x)


cubed.register_autograd(
    lambda ctx, g: (3 * ctx.scale * ctx.saved_tensors[0] ** 2 * g, None),
    setup_context=lambda ctx, inputs, output: _save(ctx, inputs),
)


def _save(ctx, inputs):
    ctx.save_for_backward(inputs[0])
    ctx.scale = inputs[1]


class WithoutFrontend(nn.Module):
    """An operation that no frontend function covers."""

    def forward(self, x):
        return cubed(x, 2.0) + 1
