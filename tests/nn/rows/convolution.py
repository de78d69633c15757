"""Rows of `nestarray.nn.convolution`."""

from __future__ import annotations

from typing import Any

import torch

from nestarray import nn
from tests.nn.rows.row import Row, both


class Causal(torch.nn.Conv1d):
    """A convolution of x with zeros before it."""

    def forward(self, x: Any) -> Any:
        width = self.dilation[0] * (self.kernel_size[0] - 1)
        return super().forward(torch.nn.functional.pad(x, (width, 0)))


ROWS = [
    both("Conv1d", lambda nn: nn.Conv1d(2, 4, 3), (2, 2, 7)),
    both("Conv1d unbatched", lambda nn: nn.Conv1d(2, 4, 3, 1, 1, padding_mode="reflect"), (2, 7)),
    both(
        "Conv1d reflect", lambda nn: nn.Conv1d(2, 4, 4, 1, "same", 2, 2, True, "reflect"), (2, 2, 7)
    ),
    Row(
        "Conv1d causal",
        lambda: nn.Conv1d(2, 3, 3, 2, "causal", 2),
        lambda: Causal(2, 3, 3, 2, dilation=2),
        ((2, 2, 7),),
    ),
    both("Conv2d", lambda nn: nn.Conv2d(2, 4, 3, 2, 1), (2, 2, 6, 5)),
    both("Conv2d grouped", lambda nn: nn.Conv2d(4, 4, (3, 1), 1, 0, 2, 2, False), (2, 4, 6, 5)),
    both(
        "Conv2d same", lambda nn: nn.Conv2d(2, 3, (2, 3), padding="same", dilation=2), (2, 2, 4, 3)
    ),
    both(
        "Conv2d replicate",
        lambda nn: nn.Conv2d(2, 3, 3, (2, 1), (1, 2), padding_mode="replicate"),
        (2, 2, 4, 3),
    ),
    both("Conv2d unbatched", lambda nn: nn.Conv2d(2, 4, 3, 2, 1), (2, 6, 5)),
    both("Conv3d unbatched", lambda nn: nn.Conv3d(1, 2, 2), (1, 3, 4, 3)),
    both("Conv3d", lambda nn: nn.Conv3d(1, 2, 2, padding="valid"), (1, 1, 3, 4, 3)),
    both(
        "Conv3d circular",
        lambda nn: nn.Conv3d(1, 2, 3, 1, 1, padding_mode="circular"),
        (2, 1, 3, 2, 2),
    ),
]
