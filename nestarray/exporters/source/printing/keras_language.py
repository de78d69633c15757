"""Calls of Keras 3 as a user writes them; `keras_rows` has the calls of JAX that they replace."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from nestarray.dtypes import DType
from nestarray.exporters.source.functions import jax_functions, keras_functions
from nestarray.exporters.source.printing.expressions import Expression, Names
from nestarray.exporters.source.printing.language import Language
from nestarray.exporters.source.recording.records import Call, Value
from nestarray.graph.builder import Place

JAX = Language("jax", {"jax.numpy": "jnp", "jax.lax": "lax", "jax": "jax"}, jax_functions)


class KerasLanguage(Language):
    """How calls of Keras are written: arrays have no methods, and dtypes are strings."""

    assignment = "{old}.assign({new})"
    assigns = False
    integer = "int({})"
    size = "ops.shape({})[{}]"
    special = 'float("{sign}{name}")'

    def normal(self, call: Call, constants: Mapping[Value, np.ndarray]) -> Any:
        """The call of JAX with its settings by name, or the Value that it equals."""
        return JAX.normal(call, constants)

    def expression(self, call: Call, names: Names) -> Expression:
        """The text of a call."""
        if call.target == "keras.ops.convert_to_tensor" and isinstance(call.args[0], Value):
            operand = names(call.args[0])
            if not operand.text.startswith("self."):  # an array already
                return operand
        return super().expression(call, names)

    def dtype(self, dtype: DType) -> str:
        """The text of a dtype."""
        return f'"{dtype.name}"'


LANGUAGE = KerasLanguage(
    "keras",
    {"keras.ops": "ops", "keras.layers": "layers", "keras": "keras"},
    keras_functions,
)


def call_of(name: str, *args: Any, like: Call, **kwargs: Any) -> Call:
    """A call of `keras.ops`, or of a function of the source, in the place of another one."""
    target = name if "." in name else f"keras.ops.{name}"
    return dataclasses.replace(like, target=target, args=args, kwargs=kwargs)


def new_call(name: str, *args: Any, place: Place, shape: Any, dtype: str, **kwargs: Any) -> Call:
    """A call of `keras.ops` with a result of its own."""
    return Call(f"keras.ops.{name}", args, kwargs, Value(tuple(shape), dtype), place)
