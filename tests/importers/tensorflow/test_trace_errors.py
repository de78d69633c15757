"""Messages for TensorFlow programs that no graph has: each names the operation, the layer and the line."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import nestarray as na
from nestarray import errors

X = np.random.default_rng(0).standard_normal((2, 3)).astype("float32")
layers = keras.layers


class Custom(layers.Layer):
    """A layer of a function."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        super().__init__(name="custom")
        self.function = function

    def call(self, x: Any) -> Any:
        return self.function(x)

    def compute_output_shape(self, shape: Any) -> Any:
        return shape


def network(function: Callable[[Any], Any]) -> Any:
    """A network with a layer of a function at ``net/custom``."""
    keras.utils.clear_session()
    return keras.Sequential(
        [keras.Input((3,)), layers.Dense(3, name="dense"), Custom(function)], name="net"
    )


def _table() -> Callable[[Any], Any]:
    rows = tf.lookup.KeyValueTensorInitializer([1, 2], [3.0, 4.0])
    table = tf.lookup.StaticHashTable(rows, default_value=0.0)
    return lambda x: x * table.lookup(tf.cast(x, tf.int32))


def _mutable_table() -> Callable[[Any], Any]:
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, 0.0)
    return lambda x: x * table.lookup(tf.cast(x, tf.int64))


def _queue() -> Callable[[Any], Any]:
    queue = tf.queue.FIFOQueue(10, [tf.float32], shapes=[[2, 3]])
    return lambda x: x + queue.dequeue()


def _iterator() -> Callable[[Any], Any]:
    rows = iter(tf.data.Dataset.from_tensor_slices(X).batch(2))
    return lambda x: x + next(rows)


def _dataset() -> Callable[[Any], Any]:
    rows = tf.data.Dataset.from_tensor_slices(X)
    return lambda x: x + rows.reduce(tf.zeros(3), lambda a, b: a + b)


def _generator() -> Callable[[Any], Any]:
    generator = tf.random.Generator.from_seed(1)
    return lambda x: x + generator.normal((2, 3))


def _python_text() -> Callable[[Any], Any]:
    def length(x: Any) -> Any:
        text = tf.py_function(lambda a: tf.strings.as_string(a), [x], tf.string)
        return tf.cast(tf.strings.length(text), tf.float32)

    return length


def _clusters() -> Callable[[Any], Any]:
    operation = tf.raw_ops.KmeansPlusPlusInitialization
    return lambda x: operation(points=x, num_to_sample=2, seed=3, num_retries_per_sample=1)


RESOURCE = "it uses a resource that is no variable, such as a table, a queue or an iterator"
RAGGED = "it computes with ragged tensors"
#: What a layer computes → the operation that is refused, and why.
REFUSED = {
    "table": (_table, "LookupTableFindV2", RESOURCE),
    "mutable_table": (_mutable_table, "LookupTableFindV2", RESOURCE),
    "queue": (_queue, "QueueDequeueV2", RESOURCE),
    "iterator": (_iterator, "IteratorGetNext", RESOURCE),
    "dataset": (_dataset, "ReduceDataset", "it uses a value that is no array, such as a dataset"),
    "generator": (_generator, "RngReadAndSkip", "it advances a tf.random.Generator"),
    "text": (
        lambda: lambda x: tf.cast(tf.strings.length(tf.strings.as_string(x)), tf.float32),
        "AsString", "it computes with strings",
    ),
    "python_text": (_python_text, "EagerPyFunc", "it computes with strings"),
    "ragged": (
        lambda: lambda x: tf.RaggedTensor.from_tensor(x, lengths=[1, 2]).to_tensor(shape=(2, 3)),
        "RaggedTensorToTensor", RAGGED,
    ),
    "ragged_map": (
        lambda: lambda x: tf.map_fn(lambda row: row, tf.RaggedTensor.from_tensor(x, [1, 2])).to_tensor(),
        "RaggedTensorToVariant", RAGGED,
    ),
    "unknown": (_clusters, "KmeansPlusPlusInitialization",
                "there is no function of that name; islands=True would run it in TensorFlow"),
}  # fmt: skip


@pytest.mark.one_in(8)
@pytest.mark.parametrize(
    ("source_of", "module"), [(network, "module 'net/custom', "), (tf.function, "")]
)
@pytest.mark.parametrize("name", REFUSED)
def test_operations_that_no_graph_has(name: str, source_of: Any, module: str) -> None:
    make, op, reason = REFUSED[name]
    with pytest.raises(errors.MissingOpError) as caught:
        na.trace_graph(source_of(make()), X)
    place = rf"  {op} \({module}test_trace_errors\.py:\d+\): {re.escape(reason)}"
    assert re.search(place, str(caught.value))
    has_remedy = name in ("ragged", "ragged_map", "unknown")  # arrays of numbers, for one operation
    assert ("islands=True would" in str(caught.value)) == has_remedy


@pytest.mark.parametrize(
    "create",
    [lambda x: x * tf.Variable(2.0), lambda x: layers.Dense(3)(x)],
    ids=["variable", "layer"],
)
def test_variables_that_are_created_in_the_call(create: Any) -> None:
    line = create.__code__.co_firstlineno

    def careless(x: Any) -> Any:
        if tf.reduce_sum(x) > 0:
            x = x + 1.0
        return x * tf.Variable(2.0)

    of_layer = rf"\(tf\.Variable, net/custom, test_trace_errors\.py:{line}\); create them before"
    with pytest.raises(errors.ConversionError, match=of_layer):
        na.trace_graph(network(create), X)
    last = careless.__code__.co_firstlineno + 3  # AutoGraph runs another file
    of_function = (
        rf"careless creates variables in the call \(tf\.Variable, test_trace_errors\.py:{last}\)"
    )
    with pytest.raises(errors.ConversionError, match=of_function):
        na.trace_graph(tf.function(careless), X)


def test_models_that_are_not_built() -> None:
    class Inner(keras.Model):
        def call(self, x: Any) -> Any:
            return x

    line = Inner.call.__code__.co_firstlineno
    model = Inner(name="inner")
    for trace in (na.trace_graph, na.to_module):
        place = rf"got a Inner that is not built \(inner, test_trace_errors\.py:{line}\)"
        with pytest.raises(errors.ArgumentError, match=place):
            trace(model, X)
    with pytest.raises(errors.ArgumentError, match=r"got a Dense .* \(head, dense\.py:\d+\)"):
        na.trace_graph(layers.Dense(2, name="head"), X)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tf.constant([["a"]]), "got a tensor of strings, expected numbers"),
        (lambda: tf.ragged.constant([[1.0], []]), "got a ragged tensor, expected a dense one"),
        (lambda: tf.sparse.from_dense([[1.0]]), "got a sparse tensor, expected a dense one"),
    ],
)
def test_inputs_that_no_graph_has(make: Any, message: str) -> None:
    with pytest.raises(
        errors.ArgumentError, match=rf"Sequential \(net, .*:\d+\): inputs: {message}"
    ):
        na.trace_graph(network(tf.sin), make())

    def function(x: Any, more: Any) -> Any:
        return x

    line = function.__code__.co_firstlineno
    place = rf"\(test_trace_errors\.py:{line}\): more\['words'\]\[1\]: {message}"
    with pytest.raises(errors.ArgumentError, match=place):
        na.trace_graph(tf.function(function), X, {"words": [X, make()]})


def test_ragged_results() -> None:
    def rows(x: Any) -> Any:
        return tf.RaggedTensor.from_tensor(x, lengths=[1, 2])

    place = rf"test_trace_errors\.py:{rows.__code__.co_firstlineno + 1}\), expected dense tensors"
    with pytest.raises(errors.ConversionError, match=rf"RaggedTensor \(\w+, net/custom, {place}"):
        na.trace_graph(network(rows), X)
    with pytest.raises(
        errors.ConversionError, match=rf"rows returns a RaggedTensor \(\w+, {place}"
    ):
        na.trace_graph(tf.function(rows), X)


def test_functions_of_python_have_a_place() -> None:
    def on_host(x: Any) -> Any:
        return tf.py_function(lambda a: a * 2.0, [x], tf.float32)

    line = f"test_trace_errors.py:{on_host.__code__.co_firstlineno + 1}"
    graph = na.trace_graph(network(on_host), X)
    (node,) = [node for node in graph.calls if node.target_name == "na.graph.island"]
    assert (node.origin, node.module, node.line) == ("EagerPyFunc", "net/custom", line)
    place = re.escape(f"(net/custom, {line}) is unknown, and a compiled program needs it")
    with pytest.raises(errors.UnsupportedError, match=rf"EagerPyFunc_\d+ {place}"):
        graph.to_backend("jax").compile()(na.to_backend(X, "jax"))


def test_sizes_that_do_not_fit() -> None:
    product = lambda x: tf.matmul(x, x, transpose_b=True) @ tf.ones((2, 3))  # noqa: E731
    place = rf"MatMul \(net/custom, test_trace_errors\.py:{product.__code__.co_firstlineno}\)"
    with pytest.raises(errors.ConversionError, match=place):
        na.trace_graph(network(product), X, dynamic=True)


def test_missing_operations_are_listed() -> None:
    source = tf.function(REFUSED["text"][0]())
    report = na.check(source, tf.constant(X), target="jax")
    assert [op.name for op in report.missing] == ["AsString", "StringLength"]
