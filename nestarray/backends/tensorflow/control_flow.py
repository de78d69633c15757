"""TensorFlow: `nestarray.backends.control_flow`; graph operations, or Python if eager."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray.backends import control_flow, portable
from nestarray.backends.tensorflow import lite
from nestarray.backends.tensorflow.derivatives import lose


def static_value(x: Any) -> Any:
    """The value of an eager scalar or of a constant of the graph; else None."""
    value = tf.get_static_value(x)
    return None if value is None else value.item()


def cond(pred: Any, true_branch: Any, false_branch: Any) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/cond"""
    lose("cond")
    return _results(tf.cond(pred, _named(true_branch), _named(false_branch)))


def _named(branch: Any) -> Any:
    # TensorFlow returns no tuple for zero or one results
    return lambda: {str(i): tf.identity(x) for i, x in enumerate(branch())} | {"-": tf.constant(0)}


def _results(found: dict[str, Any]) -> tuple[Any, ...]:
    return tuple([found[str(i)] for i in range(len(found) - 1)])


def while_loop(test: Any, body: Any, carry: Any, max_steps: int | None) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/while_loop"""
    if tf.executing_eagerly():
        return control_flow.while_loop(test, body, carry, max_steps)
    return _loop(test, body, carry, max_steps)


def _loop(test: Any, body: Any, carry: tuple[Any, ...], most: int | None) -> tuple[Any, ...]:
    """A loop over a tuple of any length; XLA can differentiate it only if it is bounded."""

    def step(turn: Any, carry: tuple[Any, ...]) -> Any:
        new = body(carry)
        for x, y in zip(tf.nest.flatten(carry), tf.nest.flatten(new), strict=True):
            if tf.is_tensor(y):  # which may have forgotten sizes
                y.set_shape(x.shape)
        return turn, new

    found = tf.while_loop(
        lambda _, carry: test(carry),
        step,
        (tf.constant(0), carry),
        maximum_iterations=most,
    )
    return tuple(found[1])


def fori_loop(
    lower: int,
    upper: int,
    body: Any,
    carry: Any,
    like: Any,
    *,
    unroll: int | bool | None = None,
) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/while_loop"""
    if tf.executing_eagerly() or unroll is True:
        return control_flow.fori_loop(lower, upper, body, carry, like)
    return _loop(
        lambda state: state[0] < upper,
        lambda state: (state[0] + 1, *body(state[0], state[1:])),
        (tf.constant(lower, tf.int64), *carry),
        max(upper - lower, 0),
    )[1:]


def scan(
    step: Any,
    carry: Any,
    xs: Any,
    length: int | None = None,
    *,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/while_loop"""
    static = xs[0].shape[0] if xs and length is None else length
    if tf.executing_eagerly() or static == 0 or unroll is True:
        return control_flow.scan(step, carry, xs, length, reverse=reverse)
    count = tf.shape(xs[0])[0] if static is None else static
    results = _results_of(step, carry, xs)
    if portable.are_wanted() and not all(y.shape.is_fully_defined() for y in results):
        return lite.scan(step, carry, xs, count, reverse)
    columns = [tf.TensorArray(y.dtype, size=count, element_shape=y.shape) for y in results]

    def body(state: tuple[Any, ...]) -> tuple[Any, ...]:
        done, carry, columns = state
        place = count - 1 - done if reverse else done
        carry, ys = step(carry, tuple([tf.gather(x, place) for x in xs]))
        written = [column.write(place, y) for column, y in zip(columns, ys, strict=True)]
        return done + 1, tuple(carry), tuple(written)

    start = (tf.constant(0), tuple(carry), tuple(columns))
    _, carry, found = _loop(lambda state: state[0] < count, body, start, static)
    return tuple(carry), tuple([column.stack() for column in found])


def _results_of(step: Any, carry: Any, xs: Any) -> Any:
    """The specifications of the results of a step, traced into a separate graph."""

    def specification(x: Any, first: int) -> Any:
        return tf.TensorSpec(x.shape[first:], x.dtype)

    given = tuple([specification(x, 0) for x in carry]), tuple([specification(x, 1) for x in xs])
    traced = tf.function(step, autograph=False).get_concrete_function(*given)
    return traced.structured_outputs[1]
