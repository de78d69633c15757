"""Rows of `nestarray.nn.convolution`."""

from __future__ import annotations

import torch

from nestarray import nn
from tests.nn.rows.row import Row

T = torch.nn

ROWS = [
    Row("Conv1d", lambda: nn.Conv1d(2, 4, 3), lambda: T.Conv1d(2, 4, 3), ((2, 2, 7),)),
    Row(
        "Conv2d", lambda: nn.Conv2d(2, 4, 3, 2, 1), lambda: T.Conv2d(2, 4, 3, 2, 1), ((2, 2, 6, 5),)
    ),
    Row(
        "Conv2d grouped",
        lambda: nn.Conv2d(4, 4, (3, 1), groups=2, dilation=2, bias=False),
        lambda: T.Conv2d(4, 4, (3, 1), groups=2, dilation=2, bias=False),
        ((2, 4, 6, 5),),
    ),
    Row("Conv3d", lambda: nn.Conv3d(1, 2, 2), lambda: T.Conv3d(1, 2, 2), ((1, 1, 3, 4, 3),)),
    Row(
        "ConvTranspose2d",
        lambda: nn.ConvTranspose2d(4, 2, 3, stride=2, padding=1, output_padding=1, groups=2),
        lambda: T.ConvTranspose2d(4, 2, 3, stride=2, padding=1, output_padding=1, groups=2),
        ((1, 4, 3, 3),),
    ),
]
