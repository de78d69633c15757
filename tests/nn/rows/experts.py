"""Rows of `nestarray.nn.experts`."""

from __future__ import annotations

from typing import Any

from nestarray import nn
from tests.nn.rows.row import Row


def mixture(*settings: Any) -> nn.Module:
    return nn.MixtureOfExperts(3, nn.GatedMLP(3, 4), *settings)


ROWS = [
    Row("MixtureOfExperts", lambda: mixture(4, 2), None, ((2, 5, 3),)),
    Row("MixtureOfExperts capacity", lambda: mixture(4, 2, 0.7), None, ((2, 5, 3),)),
    Row("MixtureOfExperts switch", lambda: mixture(3, 1, 1.0), None, ((7, 3),)),
]
