"""Rows of `nestarray.nn.separable_convolution`."""

from __future__ import annotations

from typing import Any

import torch

from nestarray import nn
from tests.nn.rows.row import Row

T = torch.nn


class Separable(torch.nn.Sequential):
    """A depthwise and a pointwise convolution."""

    def __init__(self, depthwise: Any, pointwise: Any) -> None:
        super().__init__()
        self.depthwise, self.pointwise = depthwise, pointwise


ROWS = [
    Row(
        "DepthwiseConv1d",
        lambda: nn.DepthwiseConv1d(3, 2, depth_multiplier=2),
        lambda: T.Conv1d(3, 6, 2, groups=3),
        ((2, 3, 5),),
    ),
    Row(
        "DepthwiseConv2d",
        lambda: nn.DepthwiseConv2d(3, 3, 2, 1, 1, 1, False, "circular"),
        lambda: T.Conv2d(3, 3, 3, 2, 1, 1, 3, False, "circular"),
        ((2, 3, 4, 5),),
    ),
    Row(
        "SeparableConv1d",
        lambda: nn.SeparableConv1d(2, 3, 3, 1, "same"),
        lambda: Separable(T.Conv1d(2, 2, 3, 1, "same", groups=2, bias=False), T.Conv1d(2, 3, 1)),
        ((2, 2, 5),),
    ),
    Row(
        "SeparableConv2d",
        lambda: nn.SeparableConv2d(2, 3, 2, 2, depth_multiplier=2, bias=False),
        lambda: Separable(
            T.Conv2d(2, 4, 2, 2, groups=2, bias=False), T.Conv2d(4, 3, 1, bias=False)
        ),
        ((2, 2, 4, 5),),
    ),
]
