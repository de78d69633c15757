"""Keras trains, saves, loads and freezes its native modules."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import haiku as hk
import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest
import tensorflow as tf
import torch

import nestarray as na
from nestarray.exporters import KerasModel

FIT = """
import sys
import numpy as np, nestarray, keras  # nothing of nestarray.exporters

path, x, y = sys.argv[1], *[np.load(p) for p in sys.argv[2:4]]
net = keras.models.load_model(path)
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
net.compile(keras.optimizers.Adam(0.02), loss, jit_compile=True)
net.predict(x, verbose=0)
history = net.fit(x, y, epochs=20, batch_size=4, verbose=0, callbacks=[keras.callbacks.CSVLogger(path + ".csv")])
assert history.history["loss"][-1] < history.history["loss"][0]
net.save(path)
np.save(sys.argv[4], net.predict(x, verbose=0))
"""


@pytest.mark.full
@pytest.mark.parametrize(
    "backend",
    [
        pytest.param("jax", marks=pytest.mark.full),
        pytest.param("torch", marks=pytest.mark.full),
        "tensorflow",
    ],
)
def test_keras_fits_and_loads_in_a_new_process(
    model: Any, images: np.ndarray, tmp_path: Path, backend: str
) -> None:
    native = model.to_keras_model()
    native.save(tmp_path / "net.keras")
    np.save(tmp_path / "x.npy", images)
    np.save(tmp_path / "y.npy", np.arange(4))
    paths = [str(tmp_path / name) for name in ("net.keras", "x.npy", "y.npy", "out.npy")]
    environment = {**os.environ, "KERAS_BACKEND": backend}
    subprocess.run([sys.executable, "-c", FIT, *paths], check=True, env=environment)
    fitted = keras.models.load_model(paths[0])
    assert isinstance(fitted, KerasModel)
    want = np.load(paths[3])
    np.testing.assert_allclose(fitted.predict(images, verbose=0), want, rtol=1e-4, atol=1e-5)
    assert not np.allclose(native.predict(images, verbose=0), want)


def test_keras_summary_and_arguments(model: Any) -> None:
    lines: list[str] = []
    native = model.to_keras_model()
    native.summary(print_fn=lines.append)
    assert "conv (Part)" in "".join(lines)

    def add(a: Any, b: Any) -> Any:
        return a + 2 * b

    ones = np.ones((2, 3), "float32")
    native = na.trace_graph(add, ones, ones).to_keras_model()
    inputs = tf.ones((2, 3)), tf.zeros((2, 3))
    for output in (native(list(inputs)), native({"a": inputs[0], "b": inputs[1]}), native(*inputs)):
        np.testing.assert_array_equal(output, np.ones((2, 3)))


def test_keras_keeps_frozen_parts_and_models(
    model: Any, images: np.ndarray, tmp_path: Path
) -> None:
    native = model.to_keras_model()
    native.get_layer("norm").trainable = False
    native.compile("sgd", "mse")
    before = {path: np.asarray(weight) for path, weight in native.weights_of.items()}
    native.train_on_batch(images, np.zeros_like(native(images)))
    changed = {p for p, w in native.weights_of.items() if not np.array_equal(before[p], w)}
    assert {"conv/weight", "fc/weight"} <= changed
    assert not any(path.startswith("norm/") for path in changed)
    native.save(tmp_path / "net.keras")
    loaded = keras.models.load_model(tmp_path / "net.keras")
    assert len(loaded.trainable_weights) == len(native.trainable_weights) == 4
    assert not loaded.get_layer("norm").trainable

    native.trainable = False
    inputs = keras.Input(batch_shape=images.shape)
    head = keras.Model(inputs, keras.layers.Dense(2)(native(inputs)))
    np.testing.assert_array_equal(head(images, training=True), head(images))
    head.save(tmp_path / "head.keras")
    assert len(keras.models.load_model(tmp_path / "head.keras").trainable_weights) == 2


def test_frozen_batch_normalization_trains_as_in_keras(tmp_path: Path) -> None:
    inputs = keras.Input((4,))
    norm = keras.layers.BatchNormalization(name="norm")
    net = keras.Model(inputs, keras.layers.Dense(2)(norm(keras.layers.Dense(3)(inputs))))
    norm.moving_mean.assign([1, 2, 3])
    x = np.random.default_rng(0).normal(size=(8, 4)).astype("float32")
    native = na.to_module(net, x, dynamic=True).to_keras_model()
    native.get_layer("norm").trainable = False
    native.save(tmp_path / "net.keras")
    losses = []
    for each in (net, native, keras.models.load_model(tmp_path / "net.keras")):
        each.get_layer("norm").trainable = False
        each.compile("sgd", "mse")
        fitted = each.fit(x, x[:, :2], epochs=2, verbose=0)
        each.get_layer("norm").trainable = True  # the batch normalizes again
        losses.append([*fitted.history["loss"], np.mean(each(x, training=True) ** 2)])
    np.testing.assert_allclose(losses[1:], [losses[0]] * 2, rtol=1e-5)


def test_clones_take_the_weights_of_their_model(tmp_path: Path) -> None:
    scale = tf.constant([[1.0, 2.0, 3.0]])
    net = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    native = na.trace_graph(lambda x: net(x * scale), tf.ones((4, 3))).to_keras_model()
    clone = keras.models.clone_model(native)
    assert not np.any(clone(tf.ones((4, 3))))
    clone.set_weights(native.get_weights())
    np.testing.assert_array_equal(clone(tf.ones((4, 3))), native(tf.ones((4, 3))))
    clone.save(tmp_path / "clone.keras")
    loaded = keras.models.load_model(tmp_path / "clone.keras")
    np.testing.assert_array_equal(loaded(tf.ones((4, 3))), native(tf.ones((4, 3))))


def test_keras_trains_weights_with_the_names_of_haiku() -> None:
    def network(x: jax.Array) -> jax.Array:
        return hk.nets.MLP([4, 2])(x) + hk.get_parameter("scale", (2,), init=jnp.ones)

    net, x = hk.transform(network), np.ones((4, 3), "float32")
    params = net.init(jax.random.key(0), x)
    native = na.to_module(net, x, params=params).to_keras_model()
    native.compile("adam", "mse")
    native.train_on_batch(x, np.zeros((4, 2)))
    assert not np.allclose(native.weights_of["~/scale"], params["~"]["scale"])


def test_keras_computes_in_the_dtypes_of_the_graph(model: Any, images: np.ndarray) -> None:
    native = model.to_keras_model()
    x64 = np.ones((2, 3))
    double = na.trace_graph(torch.nn.Linear(3, 2).double(), torch.ones(2, 3).double())
    keras.mixed_precision.set_global_policy("mixed_bfloat16")
    try:
        np.testing.assert_array_equal(model.to_keras_model()(images), native(images))
        assert double.to_keras_model()(x64).dtype == "float64"
    finally:
        keras.mixed_precision.set_global_policy("float32")
