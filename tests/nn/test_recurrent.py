"""Recurrent layers against Keras, and their errors."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest

import nestarray as na
from nestarray import nn
from nestarray.errors import ArgumentError, ShapeError, StructureError
from nestarray.testing import assert_close

X = np.random.default_rng(0).normal(size=(2, 4, 3)).astype(np.float32)

KERAS = {
    "LSTM": (keras.layers.LSTM, nn.LSTM(3, 5, batch_first=True)),
    "GRU": (keras.layers.GRU, nn.GRU(3, 5, batch_first=True)),
    "SimpleRNN": (keras.layers.SimpleRNN, nn.RNN(3, 5, batch_first=True)),
}


def built(layer: Any) -> Any:
    """A layer of Keras that returns sequences and has biases that are not constant."""
    layer.build((None, None, 3))
    rng = np.random.default_rng(1)
    layer.set_weights([rng.normal(size=w.shape).astype(np.float32) for w in layer.get_weights()])
    return layer


@pytest.mark.parametrize("name", KERAS)
def test_weights_of_keras(name: str) -> None:
    kind, ours = KERAS[name]
    layer = built(kind(5, return_sequences=True, name="layer"))
    weights = na.Container.from_keras(layer)
    v = nn.recurrent_weights.from_keras(weights)
    x = na.to_backend(X, "tensorflow")
    assert_close(ours.with_variables(v)(x)[0], layer(x), rtol=1e-5)
    assert_close(nn.recurrent_weights.to_keras(v, weights), weights)
    back = nn.recurrent_weights.from_keras(nn.recurrent_weights.to_keras(v, weights))
    assert_close(back, v)


def test_weights_of_a_bidirectional_stack_of_keras() -> None:
    layers = [
        keras.layers.Bidirectional(keras.layers.GRU(5, return_sequences=True), name=name)
        for name in ("first", "second")
    ]
    model = built(keras.Sequential(layers))
    v = nn.recurrent_weights.from_keras(na.Container.from_keras(model))
    ours = nn.GRU(3, 5, 2, batch_first=True, bidirectional=True).with_variables(v)
    x = na.to_backend(X, "tensorflow")
    assert_close(ours(x)[0], model(x), rtol=1e-5)


def test_weights_of_keras_that_do_not_fit() -> None:
    old = built(keras.layers.GRU(5, reset_after=False))
    with pytest.raises(ArgumentError, match=r"bias: got the shape \(15,\), of a GRU with reset_af"):
        nn.recurrent_weights.from_keras(na.Container.from_keras(old))
    with pytest.raises(StructureError, match=r"from_keras: '' has 'weight', expected a kernel"):
        nn.recurrent_weights.from_keras(na.Container(weight=X))
    weights = na.Container.from_keras(built(keras.layers.GRU(5)))
    two = nn.GRU(3, 5, 2).init(na.random.key(0))
    with pytest.raises(StructureError, match=r"to_keras: v: has 'weight_ih_l1', .* `like` lacks"):
        nn.recurrent_weights.to_keras(two.v, weights)
    bare = nn.GRU(3, 5, bias=False).init(na.random.key(0))
    with pytest.raises(StructureError, match="to_keras: v: lacks 'bias_ih_l0', 'bias_hh_l0'"):
        nn.recurrent_weights.to_keras(bare.v, weights)


def test_settings_and_states_are_checked() -> None:
    with pytest.raises(ArgumentError, match="LSTM: proj_size: got 3, expected at least 0 and less"):
        nn.LSTM(2, 3, proj_size=3)
    with pytest.raises(ArgumentError, match="GRU: hidden_size: got 0, expected at least 1"):
        nn.GRU(2, 0)
    with pytest.raises(ArgumentError, match="RNNCell: nonlinearity: got 'gelu', expected 'tanh' o"):
        nn.RNNCell(2, 3, nonlinearity="gelu")
    net = nn.GRU(3, 5, batch_first=True).init(na.random.key(0))
    with pytest.raises(
        ShapeError, match=r"GRU: state: got the shape \(2, 2, 5\), expected 1 along"
    ):
        net(X, np.zeros((2, 2, 5), np.float32))


def test_dropout_is_between_layers_and_differs_between_them() -> None:
    net = nn.RNN(3, 50, 3, "relu", dropout=0.5, batch_first=True).init(na.random.key(0))
    ones = net.v.map(lambda w: np.ones_like(w) * (w.ndim == 2))
    v = ones.set("weight_ih_l1", np.eye(50)).set("weight_ih_l2", np.eye(50))
    v = v.map(lambda w: w.astype("float32")).update(
        {f"weight_hh_l{i}": np.zeros((50, 50), np.float32) for i in range(3)}
    )
    x = np.ones((1, 1, 3), np.float32)
    (out, _), _ = net(x, v=v, train=True, key=na.random.key(1))
    assert set(out.ravel().tolist()) == {0.0, 12.0}  # 3 · 2 · 2
    assert 5 <= (out != 0).sum() <= 20
    assert (net(x, v=v)[0] == 3.0).all()
