"""TensorFlow: `nestarray.backends.loops`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray.backends.loops import unrolled


def scan(step: Any, states: tuple[Any, ...], inputs: tuple[Any, ...], *, reverse: bool) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/while_loop"""
    if tf.executing_eagerly():
        return unrolled(step, states, inputs, reverse=reverse)
    static = inputs[0].shape[0]
    count = tf.shape(inputs[0])[0] if static is None else static
    found = tf.TensorArray(states[0].dtype, size=count, element_shape=states[0].shape)

    def body(done: Any, states: tuple[Any, ...], found: Any) -> Any:
        place = count - 1 - done if reverse else done
        states = step(states, tuple(tf.gather(x, place) for x in inputs))
        return done + 1, states, found.write(place, states[0])

    # XLA can differentiate the loop only if it knows how long it may run
    _, states, found = tf.while_loop(
        lambda done, *_: done < count, body, (0, states, found), maximum_iterations=static
    )
    return states, found.stack()
