"""Calls of a framework in functions over `na`, and partials of these."""

from __future__ import annotations

import functools

import flax.linen
import jax.numpy as jnp
import numpy as np
import pytest
import tensorflow as tf
import torch

import nestarray as na
from nestarray import errors

X = np.ones((4, 2), "float32")


@pytest.mark.parametrize(
    ("function", "x", "library"),
    [
        (lambda x: tf.sin(x), X, "tensorflow"),
        (lambda x: flax.linen.relu(jnp.asarray(x)), X, "jax"),
    ],
)
def test_calls_of_other_libraries_name_the_line_of_the_user(function, x, library):
    message = rf"test_other_libraries\.py:\d+: a function of {library} was called on a traced array"
    with pytest.raises(errors.ConversionError, match=message):
        na.trace_graph(function, x)
    assert not na.check(function, x, target="torch").ok


def test_partials_of_functions_over_na_are_read():
    graph = na.trace_graph(functools.partial(na.add, np.float32(1)), X)
    assert np.array_equal(graph(X), X + 1)
    assert na.check(torch.nn.ReLU(), torch.ones(2), target="jax").ok
