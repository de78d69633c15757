"""Calls of TensorFlow as a user writes them."""

from __future__ import annotations

from typing import Any

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

    def _operand(self, x: Any, found: Expression, call: Call) -> Expression:
        arrays = [x for x in call.args if isinstance(x, Value) and x.dtype != "size"]
        is_size = isinstance(x, Value) and x.dtype == "size"
        if not is_size or not arrays or call.target.rpartition(".")[2] not in _OF_NUMBERS:
            return found
        return Expression(f"tf.cast({found.text}, tf.{arrays[-1].dtype})")


#: Functions of arrays and numbers of one dtype; a size is of int32.
_OF_NUMBERS = (*BINARY, "maximum", "minimum", "where")
