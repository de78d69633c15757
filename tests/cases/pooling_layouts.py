"""Cases of `nestarray.ops.pooling_layouts`; the oracle is torch.nn.functional."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch.nn.functional as F

from tests.cases import Case
from tests.cases.convolution_layouts import channels_last
from tests.cases.pooling import draw

LAST = {"data_format": "channels_last"}


def pool(op: str, id: str, function: Callable[..., Any], shape: Any, **settings: Any) -> Case:
    return Case(op, draw(*shape), settings, channels_last(function), id=id)


CASES = [
    pool("max_pool", "", F.max_pool2d, (2, 3, 6, 5), kernel_size=2),
    pool("max_pool", "line", F.max_pool1d, (2, 9, 3), kernel_size=3, stride=2, padding=1, **LAST),
    pool("max_pool", "last", F.max_pool2d, (2, 6, 5, 3), kernel_size=3, stride=2, padding=1,
         ceil_mode=True, **LAST),
    pool("max_pool", "dilation", F.max_pool2d, (2, 6, 5, 3), kernel_size=2, dilation=2, **LAST),
    pool("max_pool", "volume", F.max_pool3d, (1, 4, 5, 4, 2), kernel_size=2, **LAST),
    pool("avg_pool", "", F.avg_pool2d, (2, 3, 6, 5), kernel_size=2),
    pool("avg_pool", "line", F.avg_pool1d, (2, 9, 3), kernel_size=3, stride=2, padding=1, **LAST),
    pool("avg_pool", "last", F.avg_pool2d, (2, 6, 5, 3), kernel_size=3, stride=2, padding=1,
         count_include_pad=False, **LAST),
    pool("avg_pool", "divisor", F.avg_pool2d, (2, 6, 5, 3), kernel_size=2, divisor_override=3,
         **LAST),
    pool("avg_pool", "volume", F.avg_pool3d, (1, 4, 5, 4, 2), kernel_size=2, **LAST),
]  # fmt: skip
