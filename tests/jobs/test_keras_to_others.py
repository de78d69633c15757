"""A Keras model with preprocessing, masks and RNNs: to PyTorch and JAX, and back into a .keras file."""

from __future__ import annotations

from pathlib import Path

import keras
import numpy as np
import pytest
import torch

import nestarray as na
from tests.arrays import on


def build() -> keras.Model:
    """Token sequences, zero-padded, and features → two classes."""
    keras.utils.set_random_seed(0)
    tokens = keras.Input((None,), dtype="int32", name="tokens")
    features = keras.Input((3,), name="features")
    scaled = keras.layers.Normalization(mean=[1.0, 2.0, 3.0], variance=[1.0, 4.0, 9.0])(features)
    embedded = keras.layers.Embedding(20, 6, mask_zero=True)(tokens)
    hidden = keras.layers.Bidirectional(keras.layers.LSTM(5, return_sequences=True))(embedded)
    hidden = keras.layers.GRU(4)(hidden)
    joined = keras.layers.Concatenate()([hidden, keras.layers.Dense(4, activation="relu")(scaled)])
    return keras.Model([tokens, features], keras.layers.Dense(2)(joined))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_masks_travel(backend: str, tmp_path: Path) -> None:
    model = build()
    rng = np.random.default_rng(0)
    tokens = rng.integers(1, 20, (4, 6)).astype("int32")
    tokens[0, 2:] = 0
    tokens[2, 4:] = 0
    features = rng.normal(size=(4, 3)).astype("float32")
    expected = keras.ops.convert_to_numpy(model([tokens, features]))
    graph = na.trace_graph(model, [tokens, features]).to_backend(backend)
    graph.verify().raise_if_failed()
    inputs = [on(backend, tokens), on(backend, features)]
    np.testing.assert_allclose(na.to_backend(graph(inputs), "numpy"), expected, atol=1e-5)

    labels = on(backend, np.asarray([0, 1, 0, 1]))
    optimizer = na.nn.Adam(0.02)

    def loss(v: na.Container) -> object:
        return na.cross_entropy(graph(inputs, v=v), labels)

    v, state = graph.v, optimizer.init(graph.v)
    before = float(loss(v))
    for _ in range(4):
        v, state = optimizer.step(v, na.grad(loss)(v), state)
    assert float(loss(v)) < before

    trained = graph.with_variables(v)
    result = na.to_backend(trained(inputs), "numpy")
    if backend == "torch":
        module = trained.to_torch_module()
        with torch.no_grad():
            np.testing.assert_allclose(module(inputs), result, atol=1e-5)
    na.load_into_keras(v.to_backend("tensorflow"), model)
    model.save(tmp_path / "back.keras")
    again = keras.saving.load_model(tmp_path / "back.keras")
    np.testing.assert_allclose(again([tokens, features]), result, atol=1e-5)
