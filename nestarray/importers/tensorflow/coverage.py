"""The rule of each operation of a concrete function, and why it has none."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray.frontends import rules
from nestarray.frontends.tensorflow import vocabulary
from nestarray.importers.tensorflow import operations
from nestarray.importers.tensorflow.arguments import setting_of
from nestarray.importers.tensorflow.islands import may_be_island


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
