"""The rules of ``tf.custom_gradient``.

A function with a rule ends in an operation IdentityN of its results and its arguments, whose
gradient function is the rule. It is traced here as a function of cotangents. The results have no
other derivative: the rule gives the gradients of the arguments.
"""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import tensorflow as tf


class Rule(NamedTuple):
    """The rule of one call.

    Attributes:
        graph: of the function from cotangents, and captured tensors, to gradients.
        captured: the tensors of the program that it names.
        outputs: for each argument of IdentityN the index of its gradient; None for those without.
    """

    graph: Any
    captured: list[Any]
    outputs: list[int | None]


def has_rule(op: Any) -> bool:
    """Whether an operation ends a function with a custom gradient, which is read."""
    is_end = op.type == "IdentityN" and "_gradient_op_type" in op.node_def.attr
    return is_end and _order(op.graph) < _MAX_ORDER


def has_own_derivative(op: Any) -> bool:
    """Whether a rule differs from the function's derivative.

    The rule of ``tf.nn.silu`` saves memory only: it computes the sigmoid again.
    """
    if not has_rule(op):
        return False
    frames = op.traceback
    is_silu = any(f.name == "swish" and f.filename.endswith("/nn_impl.py") for f in frames)
    return not is_silu


def _order(graph: Any) -> int:
    """The number of rules in which a graph is."""
    if graph in _ORDERS:
        return _ORDERS[graph]
    outer = getattr(graph, "outer_graph", None)
    return 0 if outer is None else _order(outer)


def rule_of(op: Any) -> Rule:
    """The rule of an operation, traced once."""
    known = _RULES.setdefault(op.graph, {})
    if op.name not in known:
        known[op.name] = _traced(op)
    return known[op.name]


def _traced(op: Any) -> Rule:
    from tensorflow.python.framework import ops  # type: ignore[attr-defined]

    places: list[int | None] = []

    function: Any = ops.get_gradient_function(op)

    def backward(*cotangents: Any) -> list[Any]:
        slopes = function(op, *cotangents)
        slopes = [None if g is None else tf.convert_to_tensor(g) for g in slopes]
        tensors = [g for g in slopes if g is not None]
        numbers = iter(range(len(tensors)))
        places[:] = [None if g is None else next(numbers) for g in slopes]
        return tensors

    specs = [tf.TensorSpec(x.shape, x.dtype) for x in op.outputs]
    with op.graph.as_default():
        concrete = tf.function(backward, autograph=False).get_concrete_function(*specs)
    _ORDERS[concrete.graph] = _order(op.graph) + 1
    captures = concrete.graph.captures
    return Rule(concrete.graph, [outer for outer, _ in captures], list(places))


#: The derivatives that rules determine; some rules call their own function without end.
_MAX_ORDER = 2
#: Graph of a rule → the number of rules in which it is.
_ORDERS: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
#: Graph → name of an operation → its rule.
_RULES: weakref.WeakKeyDictionary[Any, dict[str, Rule]] = weakref.WeakKeyDictionary()


def captured(op: Any) -> list[Any]:
    """The tensors, other than operands, that the gradient of an operation reads."""
    return rule_of(op).captured if has_rule(op) else []
