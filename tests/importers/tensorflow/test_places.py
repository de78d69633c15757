"""Every call of a graph of a Keras model has the path of a layer and a line of source."""

from __future__ import annotations

import re
from typing import Any

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nestarray as na
from nestarray.graph.node import all_calls
from tests.importers.tensorflow import test_models, test_networks

layers = keras.layers
ROWS = np.random.default_rng(1).standard_normal((2, 6, 4)).astype("float32")

MODELS: dict[str, Any] = {
    "convolutional": lambda: (test_models.convolutional(), (test_models.IMAGES,)),
    "bidirectional": lambda: (
        test_models.recurrent(layers.Bidirectional(layers.LSTM(3))),
        (test_models.WORDS,),
    ),
    "transformer": test_networks.text_transformer,
    "translator": test_networks.translator,
}
#: Layers of sequences, `(batch, length, channels)`.
LAYERS: dict[str, Any] = {
    "dense": lambda: layers.Dense(4, "gelu"),
    "convolution": lambda: layers.Conv1D(4, 3, padding="same"),
    "normalization": lambda: layers.BatchNormalization(),
    "dropout": lambda: layers.Dropout(0.5),
    "lstm": lambda: layers.LSTM(4, return_sequences=True),
    "backwards": lambda: layers.GRU(4, go_backwards=True, return_sequences=True),
    "time": lambda: layers.TimeDistributed(layers.Dense(4)),
    "nested": lambda: keras.Sequential([layers.Dense(4), layers.LayerNormalization()]),
    "function": lambda: layers.Lambda(lambda x: keras.ops.cumsum(x, axis=1)),
}


def check(model: Any, inputs: tuple[Any, ...], **options: Any) -> None:
    """Every call is of a layer of the model, and of a line."""
    graph = na.trace_graph(model, *inputs, **options)
    paths = {layer.path or layer.name for layer in model._flatten_layers()}
    for node in all_calls(graph.nodes):
        assert node.module in paths, node
        assert re.fullmatch(r"\w+\.py:\d+", node.line), node


@pytest.mark.parametrize("options", [{}, {"train": True}, {"dynamic": True}], ids=str)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.one_in(12)
def test_calls_of_models_have_a_place(name: str, options: dict[str, bool]) -> None:
    keras.utils.clear_session()
    check(*MODELS[name](), **options)


@pytest.mark.full
@settings(max_examples=40)
@given(st.lists(st.sampled_from([*LAYERS]), min_size=1, max_size=4), st.booleans(), st.booleans())
def test_calls_of_random_models_have_a_place(names: list[str], train: bool, dynamic: bool) -> None:
    keras.utils.clear_session()
    parts = [LAYERS[name]() for name in names]
    model = keras.Sequential([keras.Input((None, 4)), *parts], name="net")
    check(model, (ROWS,), train=train, dynamic=dynamic or None)
