"""Functions of Python in TensorFlow programs, and operations without a counterpart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import nestarray as na
from nestarray import errors
from tests.arrays import host

X = np.random.default_rng(0).standard_normal((2, 3)).astype("float32")


@tf.function
def with_python(x: Any) -> Any:
    y = tf.py_function(lambda a: tf.sin(a) * 2.0, [tf.tanh(x)], tf.float32)
    y.set_shape(x.shape)
    return y + tf.stop_gradient(tf.numpy_function(lambda a: a[::-1].copy(), [x], tf.float32))


@pytest.mark.parametrize("backend", ["numpy", "torch", "jax"])
def test_functions_of_python_are_islands(backend):
    graph = na.trace_graph(with_python, X)
    assert [n.origin for n in graph.calls if n.target_name == "na.graph.island"] == [
        "EagerPyFunc", "PyFunc"
    ]  # fmt: skip
    moved = graph.to_backend(backend)
    moved.verify().raise_if_failed()
    other = X + 1
    found = moved(na.to_backend(other, backend))
    np.testing.assert_allclose(host(found), host(with_python(other)), rtol=1e-5)


def test_islands_in_compiled_code():
    @tf.function
    def known(x):
        y = tf.py_function(lambda a: a * a, [x], tf.float32)
        y.set_shape([2, 3])
        return tf.reduce_sum(y)

    x = na.to_backend(X, "jax")
    moved = na.trace_graph(known, X).to_backend("jax")
    found = na.jit(na.grad(lambda x: moved(x)))(x)
    np.testing.assert_allclose(host(found), 2 * X, rtol=1e-6)
    with pytest.raises(errors.UnsupportedError, match=r"y\.set_shape"):
        na.trace_graph(with_python, X).to_backend("jax").compile()(x)


def test_other_operations_are_islands_on_request():
    @tf.function
    def centres(x):
        found = tf.raw_ops.KmeansPlusPlusInitialization(
            points=tf.stop_gradient(x), num_to_sample=2, seed=3, num_retries_per_sample=1
        )
        return x - tf.stop_gradient(found)

    with pytest.raises(errors.MissingOpError, match="islands=True would run it in TensorFlow"):
        na.trace_graph(centres, X)
    report = na.check(centres, X, target="torch", islands=True)
    assert "island" in {op.status for op in report.operations}
    na.trace_graph(centres, X, islands=True).to_backend("torch").verify().raise_if_failed()


def test_attributes_that_are_unknown() -> None:
    x, indices = tf.ones((3, 2)), tf.constant([[0], [2]])

    def rows(policy: str) -> Any:
        return lambda x, i: tf.gather_nd(x, i, bad_indices_policy=policy)

    assert na.trace_graph(rows(""), x, indices).to_backend("numpy").verify().ok
    message = (
        r"GatherNd .*attribute bad_indices_policy='IGNORE' \(TensorFlow [\d.]+\) is unknown; "
        "use the default '', or update nestarray; islands=True"
    )
    with pytest.raises(errors.MissingOpError, match=message):
        na.trace_graph(rows("IGNORE"), x, indices)
    graph = na.trace_graph(rows("IGNORE"), x, indices, islands=True)
    assert graph.to_backend("numpy").verify().ok
