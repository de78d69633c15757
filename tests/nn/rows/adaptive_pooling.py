"""Rows of `nestarray.nn.adaptive_pooling`."""

from __future__ import annotations

import torch

from nestarray import nn
from tests.nn.rows.pooling import places
from tests.nn.rows.row import Row, both

T = torch.nn

ROWS = [
    both("AdaptiveAvgPool1d", lambda nn: nn.AdaptiveAvgPool1d(3), (2, 3, 7)),
    both("AdaptiveAvgPool2d", lambda nn: nn.AdaptiveAvgPool2d((None, 2)), (2, 3, 4, 5)),
    both("AdaptiveAvgPool2d unbatched", lambda nn: nn.AdaptiveAvgPool2d((None, 2)), (3, 4, 5)),
    places("AdaptiveMaxPool1d unbatched", lambda nn: nn.AdaptiveMaxPool1d(2, True), (3, 5)),
    both("AdaptiveAvgPool3d", lambda nn: nn.AdaptiveAvgPool3d(2), (2, 1, 2, 4, 3)),
    both("AdaptiveMaxPool1d", lambda nn: nn.AdaptiveMaxPool1d(3), (2, 3, 7)),
    both("AdaptiveMaxPool2d", lambda nn: nn.AdaptiveMaxPool2d((3, None)), (2, 3, 4, 5)),
    places("AdaptiveMaxPool2d indices", lambda nn: nn.AdaptiveMaxPool2d(2, True), (2, 3, 4, 5)),
    both("AdaptiveMaxPool3d", lambda nn: nn.AdaptiveMaxPool3d((1, 2, 2)), (2, 1, 2, 4, 3)),
    Row(
        "GlobalAvgPool",
        nn.GlobalAvgPool,
        lambda: T.Sequential(T.AdaptiveAvgPool2d(1), T.Flatten()),
        ((2, 3, 4, 5),),
    ),
    Row(
        "GlobalMaxPool",
        lambda: nn.GlobalMaxPool(keepdims=True),
        lambda: T.AdaptiveMaxPool1d(1),
        ((2, 3, 7),),
    ),
]
