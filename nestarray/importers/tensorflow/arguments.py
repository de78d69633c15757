"""The arguments of operations of concrete functions, as functions of the frontend take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from nestarray import dtypes
from nestarray.frontends import rules
from nestarray.frontends.tensorflow import vocabulary
from nestarray.importers.tensorflow import known_values, operations, sizes
from nestarray.importers.tensorflow.islands import may_be_island
from nestarray.importers.tensorflow.operations import Cell

if TYPE_CHECKING:
    from nestarray.importers.tensorflow.translation import Translation

#: Operations whose functions take an array and numbers.
_TAKE_NUMBERS = frozenset(
    ["Add", "AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "Pow", "SquaredDifference",
     "Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual", "FloorDiv", "FloorMod",
     "Div", "DivNoNan", "MulNoNan", "Atan2", "TruncateMod", "LeakyRelu"]
)  # fmt: skip


def arguments_of(
    to: Translation, op: Any, rule: rules.Rule, inputs: Sequence[Any]
) -> dict[str, Any]:
    """The arguments of a call by the names of the operation's."""
    parameters = rules.signature_of(rule.function).parameters
    number = op.type in _TAKE_NUMBERS and any(_node_of(x) is not None for x in inputs)
    named: dict[str, Any] = {}
    for name, value in operations.arguments_of(op, inputs).items():
        is_array = name in parameters and _takes_array(parameters[name])
        if isinstance(value, list):
            named[name] = [_argument(to, x, is_array, number) for x in value]
        else:
            named[name] = _argument(to, value, is_array, number)
    names = operations.parameter_names(op)
    for attribute in op.op_def.attr:
        # functions of numbers have a parameter for the dtype that TensorFlow infers
        name = names.get(attribute.name) or str(attribute.name)
        if name in parameters:
            value = setting_of(op.get_attr(attribute.name))
            if not is_equal(value, parameters[name].default):
                named[name] = value
    return named


def _argument(to: Translation, value: Any, is_array: bool, number: bool) -> Any:
    """A node, a number, or the elements of a known value."""
    if isinstance(value, Cell):
        value = value.value
    if value.known is None or (value.node is not None and is_array):
        return to.node(value)
    if not is_array:
        return _elements(to.sizes, value.known)
    if number and not known_values.is_symbolic(value.known):
        scalar = _number(value.known)
        if scalar is not None:
            return scalar
    return to.node(value)


def _takes_array(parameter: Any) -> bool:
    """Whether a parameter is an operand; others are settings that TensorFlow passes as tensors."""
    is_operand = "Array" in str(parameter.annotation) or parameter.annotation == "Any"
    return is_operand and parameter.name != "alg"


def _node_of(value: Any) -> Any:
    return value.value.node if isinstance(value, Cell) else value.node


def _number(array: np.ndarray) -> Any:
    """The Python number of a 0-d array; None for others, bools and complex numbers."""
    number = array.item() if array.shape == () else None
    return number if type(number) in (int, float) else None


def _elements(open_sizes: sizes.OpenSizes, known: np.ndarray) -> Any:
    """A known value as a number, or as a nest of lists of numbers and nodes."""
    if not known_values.is_symbolic(known):
        return known.tolist()
    if known.shape:
        return [_elements(open_sizes, np.asarray(x, object)) for x in known]
    return open_sizes.node(known.item())


def setting_of(value: Any) -> Any:
    """An attribute as graphs hold it."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, tf.DType):
        return dtypes.as_dtype(value.name)
    if isinstance(value, list):
        return [setting_of(x) for x in value]
    if hasattr(value, "unknown_rank"):  # a TensorShapeProto
        shape = tf.TensorShape(value)
        return None if shape.rank is None else list(shape)
    return value


def is_equal(a: Any, b: Any) -> bool:
    """Whether two settings are the same, with their types."""
    if isinstance(a, list) and isinstance(b, (list, tuple)):
        return list(a) == list(b)
    return type(a) is type(b) and a == b


# -- rules --------------------------------------------------------------------------------------


def rule_of(op: Any) -> rules.Rule | None:
    """The rule of an operation whose attributes it takes."""
    return None if _refused_attributes(op) else vocabulary.find(op.type)


def why_missing(op: Any) -> str:
    """Why an operation has no function, and the remedy."""
    names = {x.dtype.name for x in (*op.inputs, *op.outputs)}
    known = [reason for name, reason in _NO_ARRAYS.items() if name in names or name in op.type]
    remedy = "; islands=True would run it in TensorFlow on the host"
    reason = known[0] if known else "there is no function of that name"
    reason = _refused_attributes(op) or reason
    return reason + remedy * may_be_island(op, islands=True)


#: Dtype, or a part of an operation's name → why a graph does not have the operation.
_NO_ARRAYS = {
    "RngReadAndSkip": "it advances a tf.random.Generator; draw with tf.random.stateless_normal and a seed",
    "Ragged": "it computes with ragged tensors, which a graph does not have; pass a dense tensor and a mask",
    "string": "it computes with strings, which a graph does not have",
    "resource": "it uses a resource that is no variable, such as a table, a queue or an iterator; pass "
    "its values as an argument",
    "variant": "it uses a value that is no array, such as a dataset; pass its arrays as arguments",
}


def _refused_attributes(op: Any) -> str:
    """The attributes that the function of an operation does not take, and the remedy.

    An attribute of a later release at its default is accepted; empty if all are.
    """
    rule = vocabulary.find(op.type)
    if rule is None or rule.is_ignored:
        return ""
    names, parameters = operations.parameter_names(op), rules.signature_of(rule.function).parameters
    inferred = operations.inferred(op)
    for attribute in op.op_def.attr:
        name = str(attribute.name)
        is_known = names.get(name, name) in parameters or name in vocabulary.NO_EFFECT
        if is_known or name in inferred or not attribute.HasField("default_value"):
            continue
        if op.node_def.attr[name] != attribute.default_value and attribute.type != "type":
            return (
                f"attribute {name}={setting_of(op.get_attr(name))!r} (TensorFlow {tf.__version__}) "
                f"is unknown; use the default {_default(attribute)!r}, or update nestarray"
            )
    return ""


def _default(attribute: Any) -> Any:
    """The default of an attribute of an operation."""
    value = attribute.default_value
    default = getattr(value, value.WhichOneof("value"))
    return default.decode() if isinstance(default, bytes) else default
