"""Samplers where a tracer does not know the sizes: the same key gives the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest
import tensorflow as tf
from jax import export

import nestarray as na
from nestarray import errors

Sampler = Callable[[Any, Any], Any]

EXACT: dict[str, Sampler] = {
    "bits": lambda key, shape: na.random.bits(key, shape, "uint8"),
    "uniform": lambda key, shape: na.random.uniform(key, shape, minval=-1.0),
    "normal": na.random.normal,
    "bernoulli": lambda key, shape: na.random.bernoulli(key, 0.3, shape),
    "dropout_mask": lambda key, shape: na.random.dropout_mask(key, 0.3, shape),
    "randint": lambda key, shape: na.random.randint(key, shape, 0, 10),
    "randint of arrays": lambda key, shape: na.random.randint(
        key, shape, na.zeros((3,), dtype="int32", like=key), 10
    ),
    "categorical": lambda key, shape: na.random.categorical(
        key, na.zeros((4,), like=key), shape=shape
    ),
    "poisson": lambda key, shape: na.random.poisson(key, 2.0, shape),
}
#: Distributions whose loops and programs round otherwise.
ROUNDED: dict[str, Sampler] = {
    "gamma": lambda key, shape: na.random.gamma(key, 2.0, shape),
    "truncated normal": lambda key, shape: na.random.truncated_normal(key, -1.0, 1.0, shape),
    "student t": lambda key, shape: na.random.student_t(key, 3.0, shape),
    "dirichlet": lambda key, shape: na.random.dirichlet(key, na.ones((3,), like=key), shape),
    "binomial": lambda key, shape: na.random.binomial(key, 5, 0.4, shape),
    "ball": lambda key, shape: na.random.ball(key, 3, 2.0, shape),
}
SAMPLERS = [
    pytest.param(name, marks=[] if name == "bernoulli" else pytest.mark.full)
    for name in (*EXACT, *ROUNDED)
]


def check(name: str, run: Callable[[int], Any], expected: Callable[[int], Any]) -> None:
    tolerance = 0.0 if name in EXACT else 1e-5
    for batch in (4, 7, 1):
        np.testing.assert_allclose(run(batch), expected(batch), rtol=tolerance)


@pytest.mark.parametrize("name", SAMPLERS)
def test_tensorflow(name):
    draw, key = (EXACT | ROUNDED)[name], na.random.key(3, backend="tensorflow")
    signature = [tf.TensorSpec([None, 3])]
    run = tf.function(lambda x: draw(key, na.shape(x)), input_signature=signature, autograph=False)
    check(name, lambda n: run(tf.zeros((n, 3))), lambda n: draw(key, (n, 3)))
    assert run.experimental_get_tracing_count() == 1


@pytest.mark.parametrize("name", SAMPLERS)
def test_jax(name):
    draw, key = (EXACT | ROUNDED)[name], na.random.key(3, backend="jax")
    shape = export.symbolic_shape("n, 3")
    run = export.export(jax.jit(lambda x: draw(key, na.shape(x))))(
        jax.ShapeDtypeStruct(shape, np.float32)
    )
    check(name, lambda n: run.call(np.zeros((n, 3), np.float32)), lambda n: draw(key, (n, 3)))


def test_parameters_of_unknown_sizes_say_the_shape():
    key = na.random.key(0, backend="tensorflow")
    signature = [tf.TensorSpec([None, 3])]
    run = tf.function(
        lambda p: na.random.bernoulli(key, p), input_signature=signature, autograph=False
    )
    p = tf.fill((4, 3), 0.5)
    np.testing.assert_array_equal(run(p), na.random.bernoulli(key, p))


def test_dropout_of_a_layer():
    layer, key = na.nn.Dropout(0.5), na.random.key(0, backend="tensorflow")
    layer = layer.init(key)
    signature = [tf.TensorSpec([None, 3])]
    run = tf.function(
        lambda x: layer(x, train=True, key=key)[0], input_signature=signature, autograph=False
    )
    x = tf.ones((4, 3))
    np.testing.assert_array_equal(run(x), layer(x, train=True, key=key)[0])


def test_none_is_no_size():
    shape: Any = (None, 3)
    message = (
        r"random.normal: shape: got \(None, 3\) in code .*; take them from na.shape\(x\), which"
    )
    with pytest.raises(errors.UnsupportedError, match=message):
        na.random.normal(na.random.key(0), shape)
