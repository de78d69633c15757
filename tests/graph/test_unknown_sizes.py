"""Sizes that a tracer does not know: None in a tf.function, expressions of jax.export.

Converted models are deployed so: as a SavedModel, a layer of Keras, a program of StableHLO.
"""

from __future__ import annotations

from typing import Any

import jax
import keras
import numpy as np
import pytest
import tensorflow as tf
import torch
from jax import export
from torch import nn

import nestarray as na
from nestarray import errors


class Words(nn.Module):
    """Positions and a mask are made of sizes."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(20, 8), nn.Embedding(16, 8)
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)

    def forward(self, x):
        length = x.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(length)
        places = self.places(torch.arange(length))
        return self.layers(self.words(x) + places, mask=mask, is_causal=True)


class Shares(nn.Module):
    """A constant is spread over a size; sizes are multiplied and divided."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mask", torch.arange(4)[:, None] != 2)
        self.out = nn.Linear(12, 5)

    def forward(self, x):
        batch, channels, height, width = x.shape
        rows = x.view(batch, channels, height * width).transpose(1, 2).reshape(-1, channels)
        kept = self.get_buffer("mask").expand(batch, -1, -1).reshape(batch, height * width, 1)
        return (self.out(rows.repeat(1, 4)).view(batch, height * width, 5) * kept).sum(1) / batch


class Last(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.LSTM(5, 6, batch_first=True)

    def forward(self, x):
        return self.layer(x)[0][:, -1]


def images() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 3)
    )  # fmt: skip


def rows(*shape: int) -> torch.Tensor:
    return torch.linspace(-2, 2, int(np.prod(shape))).sin().reshape(shape)


def words(*shape: int) -> torch.Tensor:
    return torch.arange(int(np.prod(shape))).reshape(shape) * 7 % 20


BATCH, BOTH = {0: "batch"}, {0: "batch", 1: "length"}
#: module, factory of its input, the sizes it is traced with, others, and the names.
NETWORKS: dict[str, tuple[Any, Any, tuple[int, ...], tuple[int, ...], dict[int, str]]] = {
    "images": (images, rows, (4, 1, 8, 8), (3, 1, 8, 8), BATCH),
    "words": (Words, words, (3, 6), (2, 9), BOTH),
    "shares": (Shares, rows, (3, 3, 2, 2), (5, 3, 2, 2), BATCH),
    "last": (Last, rows, (3, 4, 5), (6, 4, 5), BATCH),
}


def traced(name: str) -> tuple[nn.Module, na.Graph, list[torch.Tensor], dict[int, str]]:
    torch.manual_seed(0)
    make, numbers, shape, other, names = NETWORKS[name]
    net, examples = make().eval(), [numbers(*shape), numbers(*other)]
    argument = "x" if type(net) is not nn.Sequential else "input"
    return net, na.trace_graph(net, examples[0], dynamic={argument: names}), examples, names


def specs(x: torch.Tensor, names: dict[int, str]) -> list[tf.TensorSpec]:
    shape = [None if i in names else n for i, n in enumerate(x.shape)]
    return [tf.TensorSpec(shape, na.to_backend(x, "tensorflow").dtype)]


def check(run, net: nn.Module, examples: list[torch.Tensor], backend: str) -> None:
    for x in examples:
        found = run(na.to_backend(x, backend))
        np.testing.assert_allclose(found, net(x).detach(), rtol=1e-4, atol=2e-6)


@pytest.mark.parametrize("name", NETWORKS)
def test_tensorflow(name):
    net, graph, examples, names = traced(name)
    graph = graph.to_backend("tensorflow")
    run = tf.function(graph, input_signature=specs(examples[0], names), autograph=False)
    check(run, net, examples, "tensorflow")
    assert run.experimental_get_tracing_count() == 1


@pytest.mark.parametrize("name", NETWORKS)
def test_jax(name):
    net, graph, examples, names = traced(name)
    graph, x = graph.to_backend("jax"), na.to_backend(examples[0], "jax")
    text = ", ".join(names.get(i, str(n)) for i, n in enumerate(x.shape))
    shape = export.symbolic_shape(text)
    exported = export.export(jax.jit(lambda v, x: graph(x, v=v)))(
        graph.v, jax.ShapeDtypeStruct(shape, x.dtype)
    )
    again = export.deserialize(exported.serialize())
    check(lambda x: again.call(graph.v, x), net, examples, "jax")


def test_what_is_not_known_of_a_size_of_jax():
    batch = torch.export.Dim("batch", min=2, max=8)
    graph = na.trace_graph(nn.Linear(3, 2), rows(4, 3), dynamic={"input": {0: batch}})
    graph, dtype = graph.to_backend("jax"), np.float32

    def exported(*constraints: str) -> Any:
        shape = export.symbolic_shape("n, 3", constraints=constraints)
        return export.export(jax.jit(graph))(jax.ShapeDtypeStruct(shape, dtype))

    message = (
        r"Linear: batch \(dimension 0 of 'input'\) is n, of which is not known that it is <= 8, as the "
        r"graph was traced for; say it where the size is made: "
        r"jax.export.symbolic_shape\(..., constraints=\['n <= 8'\]\)"
    )
    with pytest.raises(errors.ShapeError, match=message):
        exported()
    with pytest.raises(errors.ShapeError, match="that it is >= 2, as the graph"):
        exported("n <= 5")
    assert exported("n <= 5", "n >= 2").call(np.ones((3, 3), dtype)).shape == (3, 2)


def test_a_saved_model_whose_variables_are_trained(tmp_path):
    net, graph, examples, names = traced("images")
    graph = graph.to_backend("tensorflow")

    class Model(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.v = graph.v.map(tf.Variable).to_dict()
            self.call = tf.function(
                lambda x: graph(x, v=na.Container(self.v)),
                input_signature=specs(examples[0], names),
                autograph=False,
            )

    tf.saved_model.save(Model(), tmp_path / "model")
    again = tf.saved_model.load(tmp_path / "model")
    check(again.call, net, examples, "tensorflow")


def test_a_training_graph_differentiates():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 1))
    graph = na.trace_graph(net, rows(4, 3), train=True, dynamic={"input": BATCH})
    graph = graph.to_backend("tensorflow")

    def step(x):
        def loss(v):
            y, s = graph(x, v=v)
            return na.mean(y**2), s

        return na.execute_with_gradients(loss, graph.v, has_aux=True)

    signature = [tf.TensorSpec([None, 3], tf.float32)]
    unknown = tf.function(step, input_signature=signature, autograph=False)
    for batch in (4, 7):
        x = na.to_backend(rows(batch, 3), "tensorflow")
        for found, expected in zip(*map(tf.nest.flatten, (unknown(x), step(x))), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


class Noisy(nn.Module):
    """Dropout of elements, of channels and in attention, and draws of sizes that are computed."""

    def __init__(self) -> None:
        super().__init__()
        self.mixed = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.rows, self.elements = nn.Dropout1d(0.4), nn.AlphaDropout(0.3)

    def forward(self, x):
        x = self.elements(self.rows(self.mixed(x)))
        noise = torch.randn(x.shape[0], x.shape[1] + 1, 8)[:, 1:] + torch.rand_like(x)
        return x + noise + nn.functional.gumbel_softmax(x) + torch.bernoulli(torch.sigmoid(x))


def noisy(backend: str) -> tuple[na.Graph, Any, list[Any]]:
    """The training graph of `Noisy`, a key and inputs of two sizes."""
    torch.manual_seed(0)
    examples = [rows(3, 4, 8), rows(5, 6, 8)]
    graph = na.trace_graph(Noisy(), examples[0], train=True, dynamic={"x": BOTH})
    inputs = [na.to_backend(x, backend) for x in examples]
    return graph.to_backend(backend), na.random.key(0, backend=backend), inputs


def check_draws(run, graph: na.Graph, key: Any, inputs: list[Any]) -> None:
    """The random numbers equal the ones of known sizes."""
    for x in inputs:
        np.testing.assert_allclose(run(x, key), graph(x, key=key)[0], rtol=1e-4, atol=1e-5)


@pytest.mark.full
def test_draws_of_tensorflow():
    graph, key, inputs = noisy("tensorflow")
    signature = [tf.TensorSpec([None, None, 8], tf.float32), tf.TensorSpec([2], tf.uint32)]
    run = tf.function(
        lambda x, key: graph(x, key=key)[0], input_signature=signature, autograph=False
    )
    check_draws(run, graph, key, inputs)
    assert run.experimental_get_tracing_count() == 1


@pytest.mark.full
def test_draws_of_jax():
    graph, key, inputs = noisy("jax")
    shapes = [
        jax.ShapeDtypeStruct(
            export.symbolic_shape("n, length, 8", constraints=["n >= 2", "length >= 2"]), np.float32
        ),
        jax.ShapeDtypeStruct((2,), np.uint32),
    ]
    exported = export.export(jax.jit(lambda x, key: graph(x, key=key)[0]))(*shapes)
    check_draws(exported.call, graph, key, inputs)


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:The `native_serialization`:DeprecationWarning")  # Keras's
def test_draws_of_a_saved_model_and_a_layer_of_keras(tmp_path):
    graph = na.trace_graph(nn.Dropout(), rows(4, 3), train=True, dynamic={"input": BATCH})
    backend = keras.backend.backend()
    graph = graph.to_backend(backend)
    key = na.random.key(1, backend=backend)

    class Layer(keras.layers.Layer):
        def call(self, x):
            return graph(x, key=key)[0]

    inputs = keras.Input((3,))
    model = keras.Model(inputs, Layer()(inputs))
    x = na.to_backend(rows(5, 3), backend)
    np.testing.assert_array_equal(model(x), graph(x, key=key)[0])
    model.export(tmp_path / "model", verbose=False)
    again = tf.saved_model.load(tmp_path / "model")
    np.testing.assert_array_equal(again.serve(x), graph(x, key=key)[0])


def test_a_layer_of_keras():
    net, graph, examples, _ = traced("images")
    backend = keras.backend.backend()
    graph = graph.to_backend(backend)

    class Layer(keras.layers.Layer):
        def call(self, x):
            return graph(x)

    inputs = keras.Input((1, 8, 8))
    model = keras.Model(inputs, keras.layers.Softmax()(Layer()(inputs)))
    check(model, nn.Sequential(net, nn.Softmax(-1)), examples, backend)


def test_channels_that_a_graph_of_tensorflow_does_not_know() -> None:
    formats = {"data_format": "channels_last", "weight_format": "channels_last"}

    @tf.function(input_signature=[tf.TensorSpec((None, 6, None))], autograph=False)
    def compiled(x: Any) -> Any:
        return na.conv(x, tf.ones((3, 3, 2)), **formats)

    np.testing.assert_array_equal(compiled(tf.ones((2, 6, 3))), np.full((2, 4, 2), 9))


def test_running_reductions_of_a_length_that_tensorflow_does_not_know() -> None:
    def running(x: Any) -> Any:
        highest, total = na.cummax(x, axis=1), na.cumulative_logsumexp(x[1:], axis=1)
        return highest, na.cummin(x, axis=0), total

    def gradient(x: Any) -> Any:
        weights = na.arange(1.0, 6.0, like=x)
        return na.grad(lambda x: na.sum(na.cummax(x, axis=1) * weights))(x)

    x = np.asarray([[1.0, 2.0, 2.0, np.nan, 3.0], [0.0, -1.0, 0.0, 5.0, 2.0]], np.float32)
    shape = tf.TensorSpec((None, None), tf.float32)
    for function in (running, gradient):
        native = tf.function(function, autograph=False).get_concrete_function(shape)
        got, want = tf.nest.flatten(native(tf.constant(x))), na.tree.leaves(function(x))
        for a, b in zip(got, want, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)
