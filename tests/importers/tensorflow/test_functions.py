"""Functions and modules of TensorFlow, and SavedModels."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import nestarray as na
from nestarray import errors
from tests.arrays import host

X = np.random.default_rng(0).standard_normal((2, 3)).astype("float32")
W = np.random.default_rng(1).standard_normal((3, 3)).astype("float32")


class Module(tf.Module):
    """Variables in attributes and lists, state, a loop and a choice."""

    def __init__(self) -> None:
        super().__init__()
        self.w = tf.Variable(W)
        self.scales = [tf.Variable([1.0, 2.0, 3.0])]
        self.calls = tf.Variable(0.0, trainable=False)

    @tf.function
    def __call__(self, x: Any) -> Any:
        self.calls.assign_add(1.0)
        for _ in tf.range(4):
            x = tf.tanh(x @ self.w) + self.scales[0] * self.calls / 2.0
        if tf.reduce_sum(x) > 0:
            x = x * 2.0
        return {"out": x, "first": (x[0], tf.shape(x)[0])}


def all_agree(graph: Any, backends: tuple[str, ...] = ("numpy", "torch", "jax")) -> None:
    for backend in backends:
        graph.to_backend(backend).verify().raise_if_failed()


def names(graph: Any) -> set[str]:
    return {node.target_name for node in graph.calls}


def test_a_function_is_printed_as_operations_of_tensorflow():
    w = tf.Variable(W, name="w")

    @tf.function
    def dense(x):
        return tf.nn.relu(x @ w + 0.5)

    graph = na.trace_graph(dense, tf.constant(X))
    assert (
        str(graph)
        .strip()
        .endswith(
            """\
    mat_mul = tf.raw_ops.MatMul(x, v['w'])  # float32[2, 3]
    add = tf.raw_ops.AddV2(mat_mul, 0.5)  # float32[2, 3]
    relu = tf.raw_ops.Relu(add)  # float32[2, 3]
    return relu"""
        )
    )
    all_agree(graph, ("numpy", "torch", "jax", "tensorflow"))
    assert graph.calls[0].line.startswith("test_functions.py:")


def test_a_module():
    module = Module()
    graph = na.trace_graph(module, tf.constant(X))
    assert graph.v.paths() == ("scales/0", "w")
    assert graph.s.paths() == ("calls",)
    assert {"na.scan", "na.cond"} <= names(graph)
    all_agree(graph)
    out, state = graph.to_backend("numpy")(X)
    want = module(X)
    np.testing.assert_allclose(out["out"], host(want["out"]), atol=1e-5)
    np.testing.assert_allclose(out["first"][0], host(want["first"][0]), atol=1e-5)
    assert float(state["calls"]) == float(module.calls)


def test_python_functions_and_concrete_functions():
    def plain(x, y):
        return tf.sin(x) * y

    concrete = tf.function(plain).get_concrete_function(
        tf.TensorSpec((2, 3)), tf.TensorSpec((2, 3))
    )
    for source in (plain, concrete):
        graph = na.trace_graph(source, tf.constant(X), tf.constant(X))
        np.testing.assert_allclose(graph.to_backend("numpy")(X, X), np.sin(X) * X, rtol=1e-5)


def test_methods_of_a_model_take_arrays_of_numpy():
    keras.utils.clear_session()
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, name="head")], name="m")
    model.compile("sgd", "mse")
    model.fit(X, X[:, :1], verbose=0)
    graph = na.trace_graph(model.train_step, (X, X[:, :1])).to_backend("numpy")
    assert {"m/head/kernel", "sgd/iteration"} <= {*graph.s.paths()}
    _, state = graph((X, X[:, :1]))
    model.train_step((tf.constant(X), tf.constant(X[:, :1])))
    np.testing.assert_allclose(state["m/head/kernel"], model.weights[0].numpy(), rtol=1e-5)


def test_modules_of_a_closure_are_its_variables():
    layer, bias = Module(), tf.Variable(1.0)
    graph = na.trace_graph(lambda x: x @ layer.w + bias, tf.constant(X))
    assert set(graph.v.paths()) == {"layer/w", "layer/scales/0", "bias"}


def test_models_with_equal_paths_are_different_variables():
    keras.utils.clear_session()
    policy = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(2)], name="net")
    target = keras.models.clone_model(policy)

    @tf.function
    def update(x):
        loss = tf.reduce_sum(policy(x) - target(x))
        for w, v in zip(target.variables, policy.variables, strict=True):
            w.assign(0.9 * w + 0.1 * v)
        return loss

    graph = na.trace_graph(update, tf.constant(X))
    paths = ("net/dense/kernel", "net/dense/bias")
    assert set(graph.v.paths()) == {*paths}
    assert set(graph.s.paths()) == {f"target/{path}" for path in paths}
    all_agree(graph)


def test_saved_models(tmp_path):
    module = Module()

    @tf.function(input_signature=[tf.TensorSpec((None, 3), name="x")])
    def serve(x):
        return {"y": module(x)["out"]}

    tf.saved_model.save(module, str(tmp_path), signatures={"serving_default": serve})
    loaded = tf.saved_model.load(str(tmp_path))
    graph = na.trace_graph(loaded, tf.constant(X), signature="serving_default")
    all_agree(graph, ("numpy", "torch"))
    with pytest.raises(errors.ArgumentError, match="expected one of 'serving_default'"):
        na.trace_graph(loaded, tf.constant(X), signature="predict")
    open_batch = na.trace_graph(
        loaded, tf.constant(X), signature="serving_default", dynamic={"x": {0: "batch"}}
    )
    more = np.concatenate([X, X])
    out, _ = open_batch.to_backend("jax")(na.to_backend(more, "jax"))
    assert out["y"].shape == (4, 3)


def test_all_open_sizes_of_a_signature():
    @tf.function(input_signature=[tf.TensorSpec((None, 3)), tf.TensorSpec((3, None))])
    def function(x, y):
        return tf.matmul(x, y) + tf.cast(tf.shape(y)[1], tf.float32)

    y = np.ones((3, 5), "float32")
    for source in (function, function.get_concrete_function()):
        graph = na.trace_graph(source, X, y, dynamic=True)
        shapes = [str(node.aval) for node in graph.inputs]
        assert shapes == ["float32[batch, 3]", "float32[3, size_1]"]
    with pytest.raises(errors.ConversionError, match=r"MatMul \(test_functions.py.*one name"):
        na.trace_graph(tf.function(lambda a: a @ W), X, dynamic={"a": {0: "batch", 1: "inner"}})
    with pytest.raises(errors.ConversionError, match="declares no open sizes for this"):
        na.trace_graph(lambda x: tf.sin(x), tf.constant(X), dynamic=True)
    graph = na.trace_graph(
        tf.function(lambda x: x), np.ones((1, 2, 3, 4, 5)), dynamic={"x": dict(enumerate("abcde"))}
    )
    assert str(graph.inputs[0].aval) == "float64[a, b, c, d, e]"


@pytest.mark.parametrize("backend", ["numpy", "torch", "jax"])
@pytest.mark.one_in(12)
def test_open_sizes_of_loops_and_choices(backend):
    @tf.function
    def function(x):
        y = tf.zeros([tf.shape(x)[0]])
        for _ in tf.range(3):
            y = y + tf.reduce_sum(x, 1)
        if tf.reduce_sum(y) > 0:
            y = y * 2.0
        return y + 1.0, tf.scan(lambda a, row: a + row, x), tf.map_fn(tf.cumsum, x)

    graph = na.trace_graph(function, X, dynamic={"x": {0: "rows", 1: "columns"}})
    moved = graph.to_backend(backend)
    moved.verify().raise_if_failed()
    other = np.ones((5, 4), "float32")
    for got, want in zip(moved(na.to_backend(other, backend)), function(other), strict=True):
        np.testing.assert_allclose(host(got), host(want), rtol=1e-5)


@pytest.mark.parametrize("backend", ["numpy", "torch", "jax"])
def test_loops_of_data_end_early(backend):
    def bounded(x):
        return tf.while_loop(
            lambda x: tf.reduce_sum(x) < 100.0, lambda x: (x * 2.0,), (x,), maximum_iterations=20
        )[0]

    x = tf.constant(np.abs(X))
    graph = na.trace_graph(tf.function(bounded), x)
    assert "na.scan" in names(graph)
    graph.to_backend(backend).verify().raise_if_failed()


def test_a_loop_without_a_bound_has_no_gradient_in_jax():
    def unbounded(x):
        return tf.while_loop(lambda x: tf.reduce_sum(x) < 100.0, lambda x: (x * 2.0,), (x,))[0]

    graph = na.trace_graph(tf.function(unbounded), tf.constant(np.abs(X)))
    assert "na.while_loop" in names(graph)
    all_agree(graph, ("numpy", "torch"))
    x = na.to_backend(np.abs(X), "jax")
    moved = graph.to_backend("jax")
    np.testing.assert_allclose(host(moved(x)), host(unbounded(tf.constant(np.abs(X)))), rtol=1e-5)
    with pytest.raises(errors.NestarrayError, match="while_loop"):
        na.jit(na.grad(lambda x: na.sum(moved(x))))(x)


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_a_decoding_loop_with_a_cache(backend):
    """Each step writes keys into a cache and words into an array of an open number of rows."""

    @tf.function
    def decode(x):
        rows = tf.shape(x)[0]
        cache = tf.zeros([rows, 4, 3])

        def step(i, words, cache):
            new = tf.tanh(x[:, tf.newaxis] + tf.cast(i, tf.float32))
            cache = keras.ops.slice_update(cache, [0, i, 0], new)
            word = tf.argmax(tf.reduce_sum(cache * W[0], axis=1), axis=1, output_type=tf.int32)
            at = tf.stack([tf.range(rows), tf.fill([rows], i)], axis=1)
            return i + 1, tf.tensor_scatter_nd_update(words, at, word), cache

        def is_unfinished(i, words, cache):
            return tf.reduce_any(words[:, 0] != 1)

        start = tf.constant(0), tf.fill([rows, 4], -1), cache
        return tf.while_loop(is_unfinished, step, start, maximum_iterations=4)[1:]

    graph = na.trace_graph(decode, X, dynamic={"x": {0: "rows"}}).to_backend(backend)
    graph.verify(gradients=False).raise_if_failed()
    other = np.random.default_rng(2).standard_normal((5, 3)).astype("float32")
    found = graph.lower().compile()(na.to_backend(other, backend))
    for got, want in zip(found, decode(other), strict=True):
        np.testing.assert_allclose(host(got), host(want), rtol=1e-5)


def test_loops_whose_steps_change_shapes():
    rows = tf.TensorShape([None, 3])

    @tf.function
    def counted(x):
        def step(i, y):
            return i + 1, tf.concat([y, tf.tanh(y[-1:] @ W) + tf.cast(i, tf.float32)], 0)

        return tf.while_loop(
            lambda i, y: i < 3, step, (0, x), shape_invariants=(tf.TensorShape([]), rows)
        )[1]

    @tf.function
    def unbounded(x):
        go_on = lambda x: tf.reduce_sum(x) < 100.0  # noqa: E731
        double = lambda x: (tf.concat([x, x * 2.0], 0),)  # noqa: E731
        return tf.while_loop(go_on, double, (x,), shape_invariants=(rows,))

    @tf.function
    def same(x):  # the declared shape is wider than needed
        shapes = tf.TensorShape([]), tf.TensorShape([None, None])
        step = lambda i, y: (i + 1, tf.tanh(y @ W))  # noqa: E731
        return tf.while_loop(lambda i, y: i < 3, step, (0, x), shape_invariants=shapes)[1]

    all_agree(na.trace_graph(counted, tf.constant(X)))
    graph = na.trace_graph(same, tf.constant(X))
    assert "na.scan" in names(graph)
    assert "float32[2, 3]" in str(graph)
    all_agree(graph)
    with pytest.raises(
        errors.ConversionError, match=r"changes the shape .2, 3. to .4, 3., and the"
    ):
        na.trace_graph(unbounded, tf.constant(X))


@pytest.mark.full
@pytest.mark.parametrize("backend", ["numpy", "torch", "jax"])
def test_padded_suppression_of_boxes(backend):
    rng = np.random.default_rng(0)
    corners = rng.uniform(0, 1, (2, 12, 2))
    boxes = np.concatenate([corners, corners + rng.uniform(0.1, 0.5, (2, 12, 2))], -1)
    scores = tf.constant(rng.uniform(0, 1, (2, 12)).astype("float32"))

    @tf.function
    def suppressed(boxes, scores):
        return tf.image.non_max_suppression_padded(
            boxes, scores, 5, 0.5, 0.3, pad_to_max_output_size=True, sorted_input=False
        )

    graph = na.trace_graph(suppressed, tf.constant(boxes.astype("float32")), scores)
    graph.to_backend(backend).verify().raise_if_failed()


def test_tensor_arrays_and_maps():
    def arrays(x):
        found = tf.TensorArray(tf.float32, size=3, element_shape=(2,))
        for i in tf.range(3):
            found = found.write(i, x[:, i] * tf.cast(i, tf.float32))
        mapped = tf.map_fn(lambda row: tf.cumsum(row), x)
        total = tf.scan(lambda a, row: a + tf.exp(row), x)
        return found.stack(), mapped, total

    all_agree(na.trace_graph(tf.function(arrays), tf.constant(X)))


def test_tensor_arrays_that_grow():
    def arrays(x):
        rows = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        rows = rows.write(0, x[0]).write(1, x[1] * 2.0)
        states, state = tf.TensorArray(tf.float32, size=0, dynamic_size=True), x
        for i in tf.range(4):
            state = tf.tanh(state + 1.0)
            if tf.reduce_sum(state) > 100.0:
                state = state * 0.0
            states = states.write(i, state)
        return rows.stack(), states.stack()

    all_agree(na.trace_graph(tf.function(arrays), tf.constant(X)))


def test_sizes_that_depend_on_values():
    graph = na.trace_graph(tf.function(lambda x: tf.boolean_mask(x, x[:, 0] > 0)), tf.constant(X))
    all_agree(graph)

    def of_chosen(x):
        found = tf.reshape(tf.boolean_mask(x, x > 0), [-1, 1])
        return found * tf.cast(tf.shape(found)[0], tf.float32), tf.argmax(found), tf.split(found, 1)

    graph = na.trace_graph(tf.function(of_chosen), tf.constant(X))
    all_agree(graph.lower())


def test_choices():
    def choose(x, i):
        return tf.switch_case(i, [lambda: x, lambda: x * 2.0, lambda: tf.sin(x)])

    graph = na.trace_graph(tf.function(choose), tf.constant(X), tf.constant(1))
    assert "na.switch" in names(graph)
    all_agree(graph)
    there = graph.to_backend("numpy")
    for i in (-1, 0, 2, 5):
        want = choose(tf.constant(X), tf.constant(i))
        np.testing.assert_allclose(there(X, np.int32(i)), host(want), rtol=1e-5)


def test_assignments_in_branches_and_loops():
    count = tf.Variable(0, trainable=False, name="count")

    @tf.function
    def counted(x):
        if x[0, 0] > 0:
            count.assign_add(10)
        else:
            count.assign(3)
        for _ in tf.range(3):
            count.assign_add(1)
        return x * tf.cast(count, tf.float32)

    graph = na.trace_graph(counted, tf.constant(X))
    all_agree(graph)
    out, state = graph.to_backend("numpy")(X)
    np.testing.assert_allclose(out, host(counted(X)), rtol=1e-6)
    assert int(state["count"]) == int(count)


def test_custom_gradients():
    @tf.custom_gradient
    def clipped(x):
        return x * 2.0, lambda upstream: tf.clip_by_value(upstream, -0.1, 0.1) * x

    def function(x):
        return clipped(tf.sin(x)) + x

    x = tf.constant(X)
    graph = na.trace_graph(tf.function(function), x)
    assert "na.call_with_vjp" in names(graph)
    all_agree(graph)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(function(x))
    want = host(tape.gradient(y, x))
    for backend in ("numpy", "torch", "jax"):
        moved = graph.to_backend(backend)
        found = na.grad(lambda x, moved=moved: na.sum(moved(x)))(na.to_backend(X, backend))
        np.testing.assert_allclose(host(found), want, rtol=1e-5)


def test_functions_that_only_xla_compiles():
    @tf.function(jit_compile=True)
    def pooled(x):  # TensorFlow has no kernel for its gradient on CPUs
        return tf.nn.max_pool3d(x, 2, 1, "VALID", "NCDHW")

    x = tf.constant(np.random.default_rng(0).random((1, 2, 3, 3, 3), "float32"))
    graph = na.trace_graph(lambda x: 2 * pooled(x), x)
    graph.to_backend("numpy").verify(nodes=True).raise_if_failed()


def test_a_training_step():
    w = tf.Variable(W, name="w")

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.softplus(tf.nn.relu(x @ w)))
        w.assign_sub(0.1 * tape.gradient(loss, w))
        return loss

    graph = na.trace_graph(step, tf.constant(X))
    assert graph.s.paths() == ("w",)  # which the call writes
    all_agree(graph)
    _, state = graph.to_backend("numpy")(X)
    step(tf.constant(X))
    np.testing.assert_allclose(state["w"], host(w.read_value()), rtol=1e-5)


def test_a_tape_through_a_loop():
    layer = keras.layers.SimpleRNN(3)
    rows = tf.constant(np.stack([X, X[::-1]]))
    layer(rows)

    @tf.function
    def gradients(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(layer(x) ** 2)
        return tape.gradient(loss, [x, *layer.trainable_variables])

    graph = na.trace_graph(gradients, rows)
    assert "na.while_loop" not in names(graph)
    all_agree(graph, ("numpy", "torch"))


def test_sparse_tensors_in_a_function():
    @tf.function
    def call(x, w):
        a = tf.SparseTensor([[0, 0], [0, 2], [1, 1], [2, 0]], x, (3, 3))
        b = tf.sparse.transpose(tf.sparse.softmax(a))
        both = tf.sparse.concat(1, [a, tf.sparse.from_dense(tf.stop_gradient(w))])
        total = tf.sparse.add(a, b)
        return (
            tf.sparse.sparse_dense_matmul(total, w, adjoint_a=True),
            tf.sparse.reduce_sum(tf.sparse.slice(total, [0, 1], [3, 2]), 1),
            tf.sparse.to_dense(both, 0.5),
            tf.sets.size(tf.sparse.from_dense(tf.cast(w > 0, tf.int32))),
        )

    x, w = tf.random.stateless_normal((4,), (1, 2)), tf.random.stateless_normal((3, 2), (3, 4))
    graph = na.trace_graph(call, x, w)
    assert {"tf.raw_ops.SparseTensorDenseMatMul", "tf.raw_ops.SetSize"} <= names(graph)
    all_agree(graph, ("numpy", "torch"))


def test_counts_of_a_fixed_length_compile_in_jax() -> None:
    def counts(x: tf.Tensor) -> tf.Tensor:
        return tf.math.bincount(x, minlength=4, maxlength=4, axis=-1)

    x = np.asarray([[0, 1, 1], [3, 3, 7]], np.int32)
    graph = na.trace_graph(counts, tf.constant(x), dynamic={"x": {0: "rows"}})
    on_jax = graph.to_backend("jax")
    x = np.concatenate([x, x])
    want = counts(tf.constant(x)).numpy()
    np.testing.assert_array_equal(na.jit(on_jax)(na.to_backend(x, "jax")), want)
