"""Programs as ``tf.Module``."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray.exporters.program import Program, Variables, identifier
from nestarray.exporters.signatures import CallSignature, setting


class TensorFlowModule(tf.Module):
    """A converted model: a ``tf.Variable`` for each parameter and state.

    ``training=True`` selects the training mode: it assigns the state and draws from
    TensorFlow's generator (``tf.random.set_seed``).
    """

    __signature__ = CallSignature("_program", tf.Tensor, setting("training"))

    def __init__(self, program: Program, variables: Variables) -> None:
        super().__init__()
        self._program = program
        self._values = {
            path: tf.Variable(
                variables.values[path],
                trainable=path in program.v,
                name="/".join(map(identifier, path.split("/"))),
            )
            for path in program.values
        }

    @tf.function(autograph=False)
    def __call__(self, *args: Any, training: bool = False, **kwargs: Any) -> Any:
        """The output of the source, called as the source is."""
        values = {path: variable.value() for path, variable in self._values.items()}
        key = None
        if self._program.needs_key(training):
            words = tf.random.uniform((2,), -(2**31), 2**31 - 1, dtype=tf.int32)
            key = tf.bitcast(words, tf.uint32)
        output, new = self._program.run(training, args, kwargs, values, key)
        for path, value in new.items():
            self._values[path].assign(value)
        return output


build = TensorFlowModule
