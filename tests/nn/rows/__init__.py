"""One row for each layer and setting: the layer, its twin in torch, and their inputs.

A file of this package has the rows of one file of `nestarray.nn`. The properties that each row must
have are in `tests.nn.test_layers`.
"""

from __future__ import annotations

from tests.nn.rows import (
    activations,
    adaptive_pooling,
    attention,
    batch_norm,
    composition,
    convolution,
    decoders,
    distances,
    embeddings,
    experts,
    graphs,
    linear,
    normalization,
    padding,
    parametrization,
    patches,
    pooling,
    positions,
    rectifiers,
    recurrent,
    regularization,
    resampling,
    separable_convolution,
    shapes,
    softmax,
    state_space,
    transformer,
    transposed_convolution,
    unpooling,
)
from tests.nn.rows.row import Row

ROWS: list[Row] = [
    row
    for chapter in (
        activations,
        adaptive_pooling,
        attention,
        batch_norm,
        composition,
        convolution,
        decoders,
        distances,
        embeddings,
        experts,
        graphs,
        linear,
        normalization,
        padding,
        parametrization,
        patches,
        pooling,
        positions,
        rectifiers,
        recurrent,
        regularization,
        resampling,
        separable_convolution,
        shapes,
        softmax,
        state_space,
        transformer,
        transposed_convolution,
        unpooling,
    )
    for row in chapter.ROWS
]
