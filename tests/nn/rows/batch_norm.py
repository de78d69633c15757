"""Rows of `nestarray.nn.batch_norm`."""

from __future__ import annotations

import torch

from nestarray import nn
from tests.nn.rows.row import Row

T = torch.nn

ROWS = [
    Row("BatchNorm", lambda: nn.BatchNorm(3), lambda: T.BatchNorm2d(3), ((4, 3, 2, 2),)),
    Row(
        "BatchNorm average",
        lambda: nn.BatchNorm(3, 1e-3, None, False),
        lambda: T.BatchNorm1d(3, 1e-3, None, False),
        ((6, 3),),
    ),
    Row("BatchNorm1d", lambda: nn.BatchNorm1d(3), lambda: T.BatchNorm1d(3), ((4, 3, 2),)),
    Row(
        "BatchNorm2d untracked",
        lambda: nn.BatchNorm2d(3, track_running_stats=False),
        lambda: T.BatchNorm2d(3, track_running_stats=False),
        ((4, 3, 2, 2),),
    ),
    Row("BatchNorm3d", lambda: nn.BatchNorm3d(3), lambda: T.BatchNorm3d(3), ((4, 3, 2, 1, 2),)),
    Row("InstanceNorm1d", lambda: nn.InstanceNorm1d(3), lambda: T.InstanceNorm1d(3), ((2, 3, 5),)),
    Row(
        "InstanceNorm1d unbatched",
        lambda: nn.InstanceNorm1d(3, affine=True),
        lambda: T.InstanceNorm1d(3, affine=True),
        ((3, 5),),
    ),
    Row(
        "InstanceNorm2d tracked",
        lambda: nn.InstanceNorm2d(3, 1e-3, 0.3, True, True),
        lambda: T.InstanceNorm2d(3, 1e-3, 0.3, True, True),
        ((2, 3, 2, 3),),
    ),
    Row(
        "InstanceNorm3d",
        lambda: nn.InstanceNorm3d(3, momentum=None, track_running_stats=True),
        lambda: T.InstanceNorm3d(3, momentum=None, track_running_stats=True),
        ((2, 3, 2, 1, 2),),
    ),
]
