"""Rows of `nestarray.nn.positions`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray import nn
from tests.nn.rows.row import Row


def places(rng: Any) -> tuple[Any, ...]:
    """Positions of queries and of keys."""
    return np.arange(4, 7), np.arange(9)


def rows_of_places(rng: Any) -> tuple[Any, ...]:
    """Heads, and positions of each row of the batch."""
    return rng.normal(size=(2, 3, 4, 6)).astype("float32"), rng.integers(0, 9, (2, 4))


ROWS = [
    Row("RotaryEmbedding", lambda: nn.RotaryEmbedding(4), None, ((2, 3, 5, 6),)),
    Row(
        "RotaryEmbedding interleaved",
        lambda: nn.RotaryEmbedding(6, 100.0, interleaved=True, factor=1.2),
        None,
        inputs=rows_of_places,
    ),
    Row("SinePositionEncoding", lambda: nn.SinePositionEncoding(5), None, ((2, 4, 5),)),
    Row("PositionEmbedding", lambda: nn.PositionEmbedding(8, 5), None, ((2, 4, 5),)),
    Row("AlibiBias", lambda: nn.AlibiBias(3), None, inputs=places),
    Row("RelativePositionBias", lambda: nn.RelativePositionBias(2, 8, 5), None, inputs=places),
]
