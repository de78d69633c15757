"""Models and layers of Keras, against themselves."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import Any

import jax.numpy as jnp
import keras
import numpy as np
import pytest
import tensorflow as tf

import nestarray as na
from tests.arrays import host

BACKENDS = ("numpy", "torch", "jax", "tensorflow")
IMAGES = np.random.default_rng(0).standard_normal((2, 8, 8, 3)).astype("float32")
ROWS = np.random.default_rng(1).standard_normal((2, 5, 4)).astype("float32")
WORDS = np.asarray([[1, 2, 0, 0, 0], [3, 4, 5, 6, 0]])

layers = keras.layers


def convolutional() -> Any:
    keras.utils.set_random_seed(0)
    return keras.Sequential(
        [
            keras.Input((8, 8, 3)),
            layers.Conv2D(4, 3, padding="same", name="conv"),
            layers.BatchNormalization(name="norm"),
            layers.ReLU(),
            layers.MaxPooling2D(),
            layers.Dropout(0.5, seed=1),
            layers.Flatten(),
            layers.Dense(2, name="head"),
        ],
        name="net",
    )


class Transformer(keras.Model):
    """A subclassed model with an attention layer."""

    def __init__(self) -> None:
        super().__init__(name="transformer")
        self.embed = layers.Embedding(10, 8, name="embed")
        self.norm = layers.LayerNormalization(name="norm")
        self.attention = layers.MultiHeadAttention(2, 4, name="attention")
        self.head = layers.Dense(10, activation="gelu", name="head")

    def call(self, words: Any) -> Any:
        x = self.embed(words)
        x = x + self.attention(self.norm(x), x, use_causal_mask=True)
        return {"logits": self.head(x), "mean": keras.ops.mean(x, axis=1)}


def built(model: Any, x: Any) -> Any:
    model(x)
    return model


def recurrent(cell: Any) -> Any:
    return keras.Sequential([keras.Input((5,)), layers.Embedding(10, 4, mask_zero=True), cell])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("train", [False, True])
def test_a_convolutional_network_agrees_on_all_backends(backend, train):
    graph = na.trace_graph(convolutional(), IMAGES, train=train).to_backend(backend)
    graph.verify().raise_if_failed()
    if backend in ("numpy", "torch"):
        graph.verify(nodes=True).raise_if_failed()
        graph.lower().verify().raise_if_failed()


@pytest.mark.parametrize("train", [False, True])
def test_normalizations_become_one_op(train):
    keras.utils.set_random_seed(0)
    model = keras.Sequential(
        [
            keras.Input((8, 8, 4)),
            layers.BatchNormalization(),
            layers.BatchNormalization(scale=False),
            layers.BatchNormalization(center=False),
            layers.LayerNormalization(),
            layers.GroupNormalization(2),
            layers.Activation("silu"),
        ]
    )
    x = np.random.default_rng(0).random((2, 8, 8, 4), "float32")
    graph = na.trace_graph(model, x, train=train).lower()
    name = "batch_norm_training" if train else "batch_norm"
    calls = [node.target_name.removeprefix("na.") for node in graph.calls]
    assert calls.count(name) == 3
    assert calls.count("layer_norm") == calls.count("group_norm") == calls.count("silu") == 1
    assert not {"mean", "sum", "square", "sigmoid", "call_with_vjp"} & {*calls}
    graph.to_backend("torch").verify().raise_if_failed()


def test_variables_have_the_paths_of_keras():
    model = convolutional()
    graph = na.trace_graph(model, IMAGES)
    assert graph.v.paths() == na.Container.from_keras(model, trainable=True).paths()
    others = na.Container.from_keras(model, trainable=False, random_state=True)
    assert set(graph.s.paths()) == set(others.paths())
    new = na.load_into_keras(graph.v.to_backend("torch") * 2.0, model)
    np.testing.assert_array_equal(
        np.asarray(new.layers[0].kernel), 2 * host(graph.v["net/conv/kernel"])
    )


def test_frozen_layers_are_state():
    model = convolutional()
    model.layers[0].trainable = False
    graph = na.trace_graph(model, IMAGES)
    assert "net/conv/kernel" in graph.s
    assert graph.v.paths()[0] == "net/norm/gamma"


def test_the_training_behaviour_is_that_of_keras():
    model = convolutional()
    graph = na.trace_graph(model, IMAGES, train=True).to_backend("numpy")
    for _ in range(2):  # of the second call, another seed
        want = model(IMAGES, training=True)
        got, state = graph(IMAGES)
        np.testing.assert_allclose(got, host(want), rtol=1e-4, atol=1e-5)
        graph = graph.replace(s=state)
    for path, x in na.Container.from_keras(model, trainable=False, random_state=True).flat_items():
        np.testing.assert_allclose(host(x), state[path], rtol=1e-4, err_msg=path)


@pytest.mark.release
def test_modules_train_on_jax():
    net = na.to_module(convolutional(), IMAGES).to_backend("jax")
    out, state = net(jnp.asarray(IMAGES), train=True)
    assert out.shape == (2, 2)
    before = net.s["net/norm/moving_mean"]
    assert not np.array_equal(state["net/norm/moving_mean"], before)


def test_layers_and_lines_are_places():
    graph = na.trace_graph(convolutional(), IMAGES)
    places = {node.origin: (node.module, node.line) for node in graph.calls}
    assert places["Conv2D"][0] == "net/conv"
    assert re.fullmatch(r"\w+\.py:\d+", places["Conv2D"][1])
    assert places["MatMul"][0] == "net/head"
    model = built(Transformer(), WORDS)
    node = next(n for n in na.trace_graph(model, WORDS).calls if n.module == "transformer")
    assert node.line.startswith("test_models.py:")


def test_a_model_of_several_outputs():
    graph = na.trace_graph(built(Transformer(), WORDS), WORDS)
    for backend in ("numpy", "torch"):
        graph.to_backend(backend).verify().raise_if_failed()
    out = graph.to_backend("numpy")(WORDS)
    assert out["logits"].shape == (2, 5, 10)
    assert out["mean"].shape == (2, 8)


@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_open_sizes(backend):
    model = convolutional()
    graph = na.trace_graph(model, IMAGES, dynamic={"inputs": {0: "batch"}}).to_backend(backend)
    graph.verify().raise_if_failed()
    other = np.concatenate([IMAGES, IMAGES[:1]])
    want = host(model(other))
    for each in (graph, graph.lower()):
        got = host(each(na.to_backend(other, backend)))
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    assert "float32[batch, 8, 8, 4]" in str(graph)


def test_dilated_convolutions_of_open_images():
    image = keras.Input((None, None, 3))
    model = keras.Model(image, layers.Conv2D(4, 3, padding="same", dilation_rate=2)(image))
    graph = na.trace_graph(model, IMAGES, dynamic=True).lower().to_backend("torch")
    other = np.concatenate([IMAGES, IMAGES[:1]])[:, :7, :5]
    found = host(graph(na.to_backend(other, "torch")))
    np.testing.assert_allclose(found, host(model(other)), rtol=1e-4, atol=1e-5)


def test_strides_over_open_images():
    """Sizes of several strides are known, and windows are larger than the sizes tried first."""
    image = x = keras.Input((None, None, 3))
    for stride, padding in ((5, "same"), (2, "same"), (2, "same"), (2, "valid")):
        x = layers.Conv2D(4, 3, strides=stride, padding=padding)(x)
    model = keras.Model(image, [x, layers.AveragePooling2D(16)(image)])
    images = np.random.default_rng(0).normal(size=(1, 90, 103, 3)).astype("float32")
    graph = na.trace_graph(model, images, dynamic=True)
    assert all(node.aval is not None for node in graph.calls)
    shapes = {str(node.aval) for node in graph.calls if node.aval}
    assert "float32[batch, size_1 // 16, size_2 // 16, 3]" in shapes
    other = np.concatenate([images, images])[:, :, 3:96]
    for each in (graph, graph.lower().to_backend("torch")):
        found = map(host, each(na.to_backend(other, each.backend)))
        for got, want in zip(found, model(other), strict=True):
            np.testing.assert_allclose(got, host(want), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("backend", ["numpy", "torch", "jax"])
@pytest.mark.one_in(12)
@pytest.mark.parametrize(
    "cell",
    [lambda: layers.Bidirectional(layers.LSTM(3)), lambda: layers.GRU(3, return_sequences=True)],
)
def test_open_sizes_of_recurrent_layers(cell, backend):
    parts = [layers.Embedding(10, 4, mask_zero=True), cell(), layers.Dense(2)]
    model = keras.Sequential([keras.Input((None,)), *parts])
    graph = na.trace_graph(model, WORDS, dynamic=True).to_backend(backend)
    graph.verify().raise_if_failed()
    assert {"na.scan"} <= {node.target_name for node in graph.calls}
    other = np.concatenate([WORDS, WORDS[:1]])[:, :4]
    found = host(graph(na.to_backend(other, backend)))
    np.testing.assert_allclose(found, host(model(other)), rtol=1e-4, atol=1e-6)


def test_all_open_sizes_of_a_model():
    words, more = keras.Input((None,), dtype="int64"), keras.Input((None, 4))
    x = layers.Embedding(10, 4)(words) + layers.Dense(4)(more)
    model = keras.Model([words, more], layers.GRU(3)(x))
    graph = na.trace_graph(model, [WORDS, ROWS], dynamic=True)
    assert [str(node.aval) for node in graph.inputs] == [
        "int64[batch, size_1]", "float32[batch, size_1, 4]"
    ]  # fmt: skip
    graph.to_backend("torch").verify().raise_if_failed()
    other = [np.concatenate([WORDS, WORDS], axis=1), np.concatenate([ROWS, ROWS], axis=1)]
    found = graph.to_backend("numpy")(other)
    np.testing.assert_allclose(found, host(model(other)), rtol=1e-4, atol=1e-5)
    subclassed = na.trace_graph(built(Transformer(), WORDS), WORDS, dynamic=True)
    assert [str(node.aval) for node in subclassed.inputs] == ["int64[batch, 5]"]


def test_open_sizes_in_training():
    dynamic = {"inputs": {0: "batch"}}
    graph = na.trace_graph(convolutional(), IMAGES, train=True, dynamic=dynamic)
    graph.to_backend("torch").verify().raise_if_failed()
    (*_, flatten) = (node for node in graph.calls if node.origin == "Reshape")
    # its shape is computed in a run, so its derivative is not compared alone
    assert graph.reference.call_gradients(graph, flatten, {}, None, na.sum) == {}


@pytest.mark.release("cell")
@pytest.mark.parametrize(
    "cell",
    [
        lambda: layers.LSTM(3, return_sequences=True),
        lambda: layers.GRU(3),
        lambda: layers.Bidirectional(layers.SimpleRNN(3)),
        lambda: layers.LSTM(3, go_backwards=True, return_state=True),
    ],
)
@pytest.mark.parametrize("backend", ["numpy", "torch", "jax"])
def test_recurrent_layers_with_masks_are_scans(cell, backend):
    graph = na.trace_graph(recurrent(cell()), WORDS)
    assert {"na.scan"} <= {node.target_name for node in graph.calls}
    assert not {"na.while_loop"} & {node.target_name for node in graph.calls}
    graph.to_backend(backend).verify().raise_if_failed()


def test_rows_of_a_scan_are_read_and_written_once():
    layer = built(layers.LSTM(3, return_sequences=True), ROWS)
    text = str(na.trace_graph(layer, ROWS))
    assert "(row_0,) = row" in text
    assert "setitem" not in text
    assert "GatherV2" not in text


@pytest.mark.one_in(8)
@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_models_on_other_backends_of_keras(backend):
    program = f"""
import keras, numpy as np, nestarray as na
from keras import layers
x = keras.ops.convert_to_tensor(np.random.default_rng(0).random((2, 8, 8, 3), "float32"))
model = keras.Sequential([
    keras.Input((8, 8, 3)), layers.Conv2D(4, 3, name="conv"), layers.BatchNormalization(),
    layers.Dropout(0.5, seed=1), layers.Flatten(), layers.Dense(2, name="head"),
], name="net")
for train in (False, True):
    graph = na.trace_graph(model, x, train=train)
    assert graph.v.paths() == na.Container.from_keras(model, trainable=True).paths()
    assert graph.returns_state == train
    assert {{"conv", "head"}} <= {{node.module.rpartition("/")[2] for node in graph.calls}}
    for target in ("numpy", "{"torch" if backend == "jax" else "jax"}"):
        graph.to_backend(target).verify().raise_if_failed()
more = np.random.default_rng(1).random((3, 8, 8, 3), "float32")
want = keras.ops.convert_to_numpy(model(keras.ops.convert_to_tensor(more)))
for dynamic in ({{"inputs": {{0: "batch"}}}}, True):
    graph = na.trace_graph(model, x, dynamic=dynamic).to_backend("numpy")
    np.testing.assert_allclose(graph(more), want, rtol=1e-4, atol=1e-5)

class Attention(keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = layers.Embedding(10, 8)
        self.attention = layers.MultiHeadAttention(2, 4, dropout=0.1)
    def call(self, words, training=None):
        x = self.embed(words)
        return x + self.attention(x, x, use_causal_mask=True, training=training)
words = keras.ops.convert_to_tensor(np.asarray([[1, 2, 3], [4, 0, 0]]))
model = Attention()
model(words)
na.trace_graph(model, words, train=True).to_backend("numpy").verify().raise_if_failed()
try:
    na.trace_graph(layers.Dense(2), x)
except na.errors.ArgumentError as error:
    assert "not built" in str(error)
else:
    raise AssertionError
"""
    environment = {**os.environ, "KERAS_BACKEND": backend, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr


def _verify_application(name: str, size: int, backends: tuple[str, ...], **settings: Any) -> None:
    keras.utils.set_random_seed(0)
    shape = (size, size, 3)
    model = getattr(keras.applications, name)(
        weights=None, input_shape=shape, classes=10, **settings
    )
    x = np.random.default_rng(0).random((2, *shape)).astype("float32")
    graph = na.trace_graph(model, tf.constant(x))
    for backend in backends:
        graph.to_backend(backend).verify().raise_if_failed()
    assert graph.to_backend("torch").lower().report().transposes == 0


@pytest.mark.full
def test_a_mobile_network():
    _verify_application("MobileNetV2", 32, ("torch", "numpy"), alpha=0.35)


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("ResNet50", 32), ("ResNet50V2", 32), ("MobileNet", 32), ("MobileNetV2", 32),
        ("EfficientNetB0", 32), ("VGG16", 32), ("InceptionV3", 75), ("Xception", 71),
        ("ConvNeXtTiny", 32), ("EfficientNetV2B0", 32),
    ],
)  # fmt: skip
def test_applications(name, size):
    _verify_application(name, size, ("torch", "jax", "numpy"))
