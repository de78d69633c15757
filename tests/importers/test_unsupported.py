"""Models of libraries without an importer: recognised, and refused with a remedy."""

from __future__ import annotations

import functools

import flax.linen
import jax.numpy as jnp
import keras
import numpy as np
import pytest
import tensorflow as tf
import torch

import nestarray as na
from nestarray import errors

X = np.ones((4, 2), "float32")


class TensorFlowModule(tf.Module):
    """A module of TensorFlow itself."""

    def __call__(self, x):
        return tf.nn.relu(x)


@pytest.mark.parametrize(
    ("make", "library", "remedy"),
    [
        (lambda: keras.layers.Dense(3), "Keras", "from_keras(model), c.match(net.v)"),
        (lambda: keras.Sequential([keras.layers.Dense(3)]), "Keras", "from_keras(model)"),
        (lambda: tf.function(lambda x: x), "TensorFlow", "write the function with na"),
        (TensorFlowModule, "TensorFlow", "write the function with na"),
    ],
)
def test_models_of_other_libraries_are_refused_with_a_remedy(make, library, remedy):
    source = make()
    for convert in (na.trace_graph, na.to_module):
        with pytest.raises(errors.ConversionError) as caught:
            convert(source, jnp.asarray(X))
        assert f"import from {library} is not available yet" in str(caught.value)
        assert remedy in str(caught.value)
    report = na.check(source, target="torch")
    assert not report.ok
    assert [(p.what, p.reason) for p in report.problems] == [("source", str(caught.value))]
    with pytest.raises(errors.ConversionError, match=f"import from {library} is not available"):
        report.raise_if_failed()


@pytest.mark.parametrize(
    ("function", "x", "library"),
    [
        (lambda x: tf.sin(x), X, "tensorflow"),
        (lambda x: flax.linen.relu(jnp.asarray(x)), X, "jax"),
    ],
)
def test_calls_of_other_libraries_name_the_line_of_the_user(function, x, library):
    message = rf"test_unsupported\.py:\d+: a function of {library} was called on a traced array"
    with pytest.raises(errors.ConversionError, match=message):
        na.trace_graph(function, x)
    assert not na.check(function, x, target="torch").ok


def test_partials_of_functions_over_na_are_read():
    graph = na.trace_graph(functools.partial(na.add, np.float32(1)), X)
    assert np.array_equal(graph(X), X + 1)
    assert na.check(torch.nn.ReLU(), torch.ones(2), target="jax").ok
