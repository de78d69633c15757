"""Graphs of TensorFlow 1: SavedModels and GraphDefs with Switch, Merge and TensorArrayV3."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import nestarray as na
from nestarray import errors
from tests.arrays import host

v1 = tf.compat.v1
X = np.random.default_rng(0).standard_normal((2, 5, 4)).astype("float32")


@contextlib.contextmanager
def first_version() -> Any:
    """A graph whose loops and choices are those of TensorFlow 1."""
    v1.disable_control_flow_v2()
    try:
        with tf.Graph().as_default() as graph:
            v1.set_random_seed(0)
            yield graph
    finally:
        v1.enable_control_flow_v2()


def load(path: Path, function: Callable[..., Any], *, resources: bool = True) -> Any:
    """Save a function of `x` as TensorFlow 1 does, and load it."""
    with first_version() as graph, v1.Session(graph=graph) as session:
        with v1.variable_scope("net", use_resource=resources):
            x = v1.placeholder(tf.float32, (None, 5, 4), name="x")
            found = tf.nest.flatten(function(x))
        outputs = {f"y{i}": tf.identity(y) for i, y in enumerate(found)}
        session.run(v1.global_variables_initializer())
        builder = v1.saved_model.Builder(str(path))
        signature = v1.saved_model.predict_signature_def({"x": x}, outputs)
        builder.add_meta_graph_and_variables(session, ["serve"], {"serving_default": signature})
        builder.save()
    return tf.saved_model.load(str(path))


class Cell:
    """A recurrent cell."""

    state_size = output_size = 3

    def zero_state(self, batch: Any, dtype: Any) -> Any:
        return tf.zeros([batch, 3], dtype)

    def __call__(self, x: Any, h: Any, scope: Any = None) -> Any:
        h = tf.tanh(tf.concat([x, h], 1) @ v1.get_variable("cell/w", (7, 3)))
        return h, h


def recurrent(x: Any) -> Any:
    lengths = tf.constant([5, 3])
    outputs, state = v1.nn.dynamic_rnn(Cell(), x, sequence_length=lengths, dtype=tf.float32)
    return tf.tensordot(outputs, v1.get_variable("w", (3, 2)), 1), state


def loop(x: Any) -> Any:
    w = v1.get_variable("w", (4, 4))
    step = lambda i, y: (i + 1, tf.tanh(tf.tensordot(y, w, 1)))  # noqa: E731
    return v1.while_loop(lambda i, y: i < 3, step, (tf.constant(0), x))[1]


def bounded(x: Any) -> Any:
    go_on = lambda y: tf.reduce_sum(y) < 100.0  # noqa: E731
    return v1.while_loop(go_on, lambda y: y * 2.0 + 1.0, (x,), maximum_iterations=50)


def choice(x: Any) -> Any:
    w = v1.get_variable("w", (4, 4))
    a, b = v1.cond(
        tf.reduce_sum(x) > 0,
        lambda: (tf.tensordot(x, w, 1), tf.constant(1.0)),
        lambda: (x + 1.0, tf.reduce_sum(x)),
    )
    return a * b


def choices_by_one_predicate(x: Any) -> Any:
    is_positive = tf.reduce_sum(x) > 0
    y = v1.cond(is_positive, lambda: x * 2.0, lambda: x * 3.0)
    return v1.cond(is_positive, lambda: y + 1.0, lambda: y - 1.0)


def cases(x: Any) -> Any:
    total = tf.reduce_sum(x)
    pairs = [(total > 3.0, lambda: x), (total > 0.0, lambda: x * 2)]
    return v1.case(pairs, default=lambda: tf.zeros_like(x))


def nested(x: Any) -> Any:
    w = v1.get_variable("w", (4, 4))

    def step(i: Any, y: Any) -> Any:
        inner = lambda: v1.cond(tf.reduce_sum(y) > 0, lambda: y * 2.0, lambda: -y)  # noqa: E731
        z = v1.cond(tf.equal(i % 2, 0), lambda: tf.tensordot(y, w, 1), inner)
        body = lambda j, u: (j + 1, tf.sin(u) + z)  # noqa: E731
        return i + 1, v1.while_loop(lambda j, u: j < i, body, (0, z))[1]

    return v1.while_loop(lambda i, y: i < 4, step, (0, x))[1]


def loop_in_a_branch(x: Any) -> Any:
    body = lambda i, y: (i + 1, y * x)  # noqa: E731
    power = lambda: v1.while_loop(lambda i, y: i < 3, body, (0, x))[1]  # noqa: E731
    other = lambda: v1.cond(tf.reduce_max(x) > 1, lambda: x, lambda: x * 3.0)  # noqa: E731
    return v1.cond(tf.reduce_sum(x) > 0, power, other)


def scan_and_map(x: Any) -> Any:
    by_time = tf.transpose(x, [1, 0, 2])
    return v1.scan(lambda a, row: a * 0.5 + row, by_time), v1.map_fn(tf.cumsum, x)


def arrays(x: Any) -> Any:
    rows = tf.TensorArray(tf.float32, size=0, dynamic_size=True, infer_shape=False)
    step = lambda i, rows: (i + 1, rows.write(i, x[:, i] * 2.0))  # noqa: E731
    _, rows = v1.while_loop(lambda i, rows: i < 4, step, (0, rows))
    return rows.concat(), tf.cast(rows.size(), tf.float32)


def counted(x: Any) -> Any:
    start = v1.zeros_initializer()
    n = v1.get_variable("n", (), initializer=start, trainable=False)
    with tf.control_dependencies([n.assign_add(1.0)]):
        positive = tf.reduce_sum(x) > 0
        y = v1.cond(positive, lambda: n.assign_add(10.0) * x, lambda: x * n)
    with tf.control_dependencies([y]):
        return y + n.read_value()


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (choice, {"na.cond"}),
        pytest.param(recurrent, {"na.scan"}, marks=pytest.mark.full),
        pytest.param(nested, {"na.scan"}, marks=pytest.mark.full),
        pytest.param(loop, {"na.scan"}, marks=pytest.mark.full),
        pytest.param(bounded, {"na.scan"}, marks=pytest.mark.full),
        pytest.param(choices_by_one_predicate, {"na.cond"}, marks=pytest.mark.full),
        pytest.param(cases, {"na.cond"}, marks=pytest.mark.full),
        pytest.param(loop_in_a_branch, {"na.cond"}, marks=pytest.mark.full),
        pytest.param(scan_and_map, {"na.scan"}, marks=pytest.mark.full),
        pytest.param(arrays, {"na.scan"}, marks=pytest.mark.full),
        pytest.param(counted, {"na.cond"}, marks=pytest.mark.full),
    ],
)
def test_saved_models(tmp_path, function, calls):
    for x in (X, -X):
        loaded = load(tmp_path / str(x is X), function)
        graph = na.trace_graph(loaded, tf.constant(x), signature="serving_default")
        assert calls <= {node.target_name for node in graph.calls}
        want = loaded.signatures["serving_default"](tf.constant(x))
        found = graph.to_backend("numpy")(x)
        found = found[0] if len(graph.s) else found
        for name, y in want.items():
            np.testing.assert_allclose(found[name], host(y), rtol=1e-5, atol=1e-5)
        for backend in ("numpy", "torch", "jax"):
            graph.to_backend(backend).verify().raise_if_failed()


def test_reference_variables_become_parameters(tmp_path):
    loaded = load(tmp_path / "model", recurrent, resources=False)
    graph = na.trace_graph(loaded, tf.constant(X), signature="serving_default")
    assert graph.v.paths() == ("net/rnn/cell/w", "net/w")
    want = loaded.signatures["serving_default"](tf.constant(X))["y0"]
    np.testing.assert_allclose(graph.to_backend("numpy")(X)["y0"], host(want), atol=1e-6)


@pytest.mark.parametrize("function", [bounded, loop_in_a_branch])
def test_graph_definitions(function):
    with first_version() as graph:
        x = v1.placeholder(tf.float32, (2, 5, 4), name="x")
        tf.identity(function(x), name="y")
    definition = graph.as_graph_def()

    def imported(x: Any) -> Any:
        names = {"x:0": x}
        return tf.graph_util.import_graph_def(definition, names, return_elements=["y:0"], name="")

    for source in (imported, v1.wrap_function(imported, [tf.TensorSpec((2, 5, 4))])):
        traced = na.trace_graph(source, tf.constant(X))
        traced.to_backend("torch").verify().raise_if_failed()


def test_a_value_of_one_branch_is_refused():
    with first_version() as graph:
        x = v1.placeholder(tf.float32, (2, 3), name="x")
        v1.cond(tf.reduce_sum(x) > 0, lambda: tf.multiply(x, 2.0, name="y"), lambda: x)
    definition = graph.as_graph_def()

    def imported(x: Any) -> Any:
        names = {"x:0": x}
        return tf.graph_util.import_graph_def(
            definition, names, return_elements=["cond/y:0"], name=""
        )

    with pytest.raises(errors.ConversionError, match="reads a value of one branch of a choice"):
        na.trace_graph(imported, tf.constant(X[:, 0, :3]))
