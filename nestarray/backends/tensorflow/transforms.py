"""TensorFlow: `nestarray.transforms`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf


def value_and_grad(
    fn: Callable[..., Any], leaves: list[Any], has_aux: bool, name: str
) -> tuple[Any, Any, list[Any]]:
    """https://www.tensorflow.org/api_docs/python/tf/GradientTape

    The gradient is taken outside of its own tape and inside of those around it, so that
    outer tapes record it. An embedding's IndexedSlices become dense.
    """
    # A tensor of its own for each place: tied arrays get one gradient each, as in JAX.
    values = [tf.identity(leaf) for leaf in leaves]
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(values)
        value, aux = fn(*values)
    gradients = tape.gradient(value, values, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    return value, aux, [tf.convert_to_tensor(g) for g in gradients]


def vjp(fn: Callable[..., Any], arrays: list[Any], name: str) -> tuple[Any, Any, Any]:
    """https://www.tensorflow.org/api_docs/python/tf/GradientTape"""
    values = [tf.identity(x) for x in arrays]
    with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
        tape.watch(values)
        found, others = fn(*values)

    def pullback(cotangents: list[Any]) -> list[Any]:
        zero = tf.UnconnectedGradients.ZERO
        gradients = tape.gradient(
            list(found), values, output_gradients=list(cotangents), unconnected_gradients=zero
        )
        return [tf.convert_to_tensor(g) for g in gradients]

    return found, others, pullback


def jvp(
    fn: Callable[..., Any], arrays: list[Any], tangents: list[Any], name: str
) -> tuple[Any, Any, Any]:
    """https://www.tensorflow.org/api_docs/python/tf/autodiff/ForwardAccumulator"""
    values = [tf.identity(x) for x in arrays]
    with tf.autodiff.ForwardAccumulator(values, tangents) as accumulator:
        found, others = fn(*values)
    zero = tf.UnconnectedGradients.ZERO
    return found, others, [accumulator.jvp(y, unconnected_gradients=zero) for y in found]


def vmap(fn: Callable[..., tuple[Any, ...]], arrays: list[Any]) -> tuple[Any, ...]:
    """https://www.tensorflow.org/api_docs/python/tf/vectorized_map

    Its trace cannot hand out a tensor of outside, so each result is an operation of its own.
    """
    return tf.vectorized_map(lambda rows: tuple(map(tf.identity, fn(*rows))), tuple(arrays))


def runs_inline(arrays: list[Any]) -> bool:
    """Whether a jitted function is run as it is: functions of other functions are graphs too."""
    return not arrays


def trace_key(arrays: list[Any]) -> tuple[Any, ...]:
    """What a trace depends on besides the structure of the arguments."""
    return tuple([(_shape(x), x.dtype) for x in arrays])


def _shape(x: Any) -> tuple[int | None, ...] | None:
    return None if x.shape.rank is None else tuple(x.shape)


def compile_leaves(
    fn: Callable[..., tuple[Any, ...]], arrays: list[Any], options: dict[str, Any]
) -> Callable[..., tuple[Any, ...]]:
    """https://www.tensorflow.org/api_docs/python/tf/function

    AutoGraph is off unless asked for: it would rewrite the code of nestarray as well. The
    concrete function is taken at once: the key of the trace has chosen it already.
    """
    return tf.function(fn, **{"autograph": False} | options).get_concrete_function(*arrays)
