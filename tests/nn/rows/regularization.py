"""Rows of `nestarray.nn.regularization`."""

from __future__ import annotations

import torch

from nestarray import nn
from tests.nn.rows.row import Row

T = torch.nn

ROWS = [
    Row("Dropout", lambda: nn.Dropout(0.3), lambda: T.Dropout(0.3), ((4, 3),), draws=True),
    Row("Dropout1d", lambda: nn.Dropout1d(), lambda: T.Dropout1d(), ((4, 3, 2),), draws=True),
    Row("Dropout2d", lambda: nn.Dropout2d(), lambda: T.Dropout2d(), ((4, 3, 2, 2),), draws=True),
    Row("Dropout3d", lambda: nn.Dropout3d(), lambda: T.Dropout3d(), ((4, 3, 2, 1, 2),), draws=True),
    Row(
        "AlphaDropout",
        lambda: nn.AlphaDropout(0.2),
        lambda: T.AlphaDropout(0.2),
        ((4, 3),),
        draws=True,
    ),
    Row(
        "FeatureAlphaDropout",
        lambda: nn.FeatureAlphaDropout(0.2),
        lambda: T.FeatureAlphaDropout(0.2),
        ((4, 3, 2),),
        draws=True,
    ),
    Row("DropPath", lambda: nn.DropPath(0.5), None, ((4, 3, 2),), draws=True),
    Row("GaussianNoise", lambda: nn.GaussianNoise(0.2), None, ((4, 3),), draws=True),
    Row("GaussianDropout", lambda: nn.GaussianDropout(0.2), None, ((4, 3),), draws=True),
]
