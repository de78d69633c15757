"""One row for each layer and setting: the layer, its twin in torch, and their inputs.

A file of this package has the rows of one file of `nestarray.nn`. The properties that each row must
have are in `tests.nn.test_layers`.
"""

from __future__ import annotations

from tests.nn.rows import (
    attention,
    composition,
    convolution,
    decoders,
    embeddings,
    experts,
    graphs,
    linear,
    normalization,
    positions,
    transformer,
)
from tests.nn.rows.row import Row

ROWS: list[Row] = [
    row
    for chapter in (
        linear,
        convolution,
        normalization,
        embeddings,
        positions,
        attention,
        transformer,
        decoders,
        experts,
        graphs,
        composition,
    )
    for row in chapter.ROWS
]
