"""Calls of TensorFlow as a user writes them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from nestarray.exporters.source.printing.expressions import BINARY, Expression
from nestarray.exporters.source.printing.language import Language
from nestarray.exporters.source.recording.records import Call, Value


class TensorflowLanguage(Language):
    """How TensorFlow's calls are written: its arrays have no methods, and its sizes are arrays."""

    assignment = "{old}.assign({new})"
    assigns = False
    integer = "tf.cast({}, tf.int32)"
    size = "tf.shape({})[{}]"
    special = "{sign}math.{name}"

    def normal(self, call: Call, constants: Mapping[Value, np.ndarray]) -> Any:
        """The call with its settings by name; a size, which is an array, is cast to other dtypes."""
        call = super().normal(call, constants)
        is_constant = isinstance(call, Call) and call.target == "tensorflow.constant"
        if not is_constant or getattr(call.args[0], "dtype", "") != "size":
            return call
        return dataclasses.replace(call, target="tensorflow.cast")

    def _operand(self, x: Any, found: Expression, call: Call) -> Expression:
        arrays = [x for x in call.args if isinstance(x, Value) and x.dtype != "size"]
        is_size = isinstance(x, Value) and x.dtype == "size"
        if not is_size or not arrays or call.target.rpartition(".")[2] not in _OF_NUMBERS:
            return found
        return Expression(f"tf.cast({found.text}, tf.{arrays[-1].dtype})")


#: Functions of arrays and numbers of one dtype; a size is of int32.
_OF_NUMBERS = (*BINARY, "maximum", "minimum", "where")
