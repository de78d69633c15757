"""Assumptions: values of arrays that decided the course of recorded Python code.

``if x > 0``, ``float(x)`` and ``while error > tolerance`` need the elements of an array. A graph keeps
the course of the example, and the values that decided it. A call that computes others raises an
error, because the code would have done something else.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from nestarray import backends, dtypes, ops
from nestarray.backends import control_flow as native
from nestarray.errors import AssumptionError
from nestarray.graph.node import Input, Node, iter_nodes
from nestarray.typing import Array

#: Numbers are equal up to this many roundings, because frameworks sum in different orders.
_ROUNDINGS = 1000


class Assumption(NamedTuple):
    """A value that recorded code read.

    Attributes:
        use: the function that read it, such as ``"bool"`` or ``"float"``; ``"shape"`` for sizes that
            depend on values.
        value: the result for the example: a number, or nested lists and tuples of numbers.
        line: ``"file.py:12"``.
        text: the source line.
        node: the array; None if calls do not check it.
    """

    use: str
    value: object
    line: str
    text: str
    node: Node | None

    def __str__(self) -> str:
        code = f"`{self.text}`: " if self.text else ""
        return f"{self.line}: {code}{self.use} is {self.value}"


def read(use: str, x: Array) -> Array:
    """The value that Python code reads of an array; None if a transformation traces it.

    Args:
        use: see `Assumption`.
        x: the array.
    """
    if use == "shape":
        return tuple(x.shape)
    x = ops.stop_gradient(x)
    while backends.backend_of_type(type(x)) is None:  # a derivative of a derivative
        x = ops.stop_gradient(x)
    backend = backends.backend_of(x)
    if backends.core(backend).is_traced(x):
        return None
    if math.prod(x.shape) > 1:
        return _USES[use](np.asarray(ops.to_backend(x, "numpy")))
    value = native.find(backend, "static_value")(ops.reshape(x, ()))  # also under torch.func.grad
    return None if value is None else _USES[use](np.reshape(value, x.shape))


#: What code does to the elements.
_USES: dict[str, Callable[[np.ndarray], object]] = {
    "bool": bool, "int": int, "float": float, "complex": complex, "index": operator.index,
    "item": np.ndarray.item, "tolist": np.ndarray.tolist,
}  # fmt: skip


def check(name: str, assumptions: Iterable[Assumption], values: list[Array]) -> None:
    """Compare the values of the assumptions of a graph with the example.

    Args:
        name: of the graph.
        assumptions: of the graph.
        values: of the nodes of the assumptions that have one.

    Raises:
        AssumptionError: a value differs.
    """
    checked = [each for each in assumptions if each.node is not None]
    for assumption, x in zip(checked, values, strict=True):
        value = read(assumption.use, x)
        if value is not None and not _is_equal(assumption, value):
            raise AssumptionError(_message(name, assumption, value))


def _is_equal(assumption: Assumption, value: object) -> bool:
    if assumption.use == "shape":
        return value == assumption.value
    want, got = np.asarray(assumption.value), np.asarray(value)
    if want.shape != got.shape or want.dtype.kind not in "fc":
        return np.array_equal(want, got)
    assert assumption.node is not None
    assert assumption.node.aval is not None
    rtol = _ROUNDINGS * dtypes.finfo(assumption.node.aval.dtype).eps
    return np.allclose(got, want, rtol=rtol, atol=0, equal_nan=True)


def _message(name: str, assumption: Assumption, value: object) -> str:
    code = f"`{assumption.text}` " if assumption.text else "the code "
    return (
        f"{name}: {assumption.line}: {code}read {assumption.value} ({assumption.use}) for the example "
        f"of the trace, and these arguments give {value}. The graph keeps the course of the "
        "example; write a choice with na.where or na.cond (np.where for elements), and a loop that "
        'values end with na.while_loop, or trace the function for these arguments. guards="ignore" '
        "of trace_graph leaves out the check"
    )


def of_inputs(assumptions: Iterable[Assumption], nodes: Iterable[Node]) -> tuple[Assumption, ...]:
    """The assumptions on values that arguments, variables or keys decide; others always hold.

    Args:
        assumptions: of a recording.
        nodes: its nodes, in order.
    """
    varying = varying_nodes(nodes)
    return tuple([each for each in assumptions if each.node in varying])


def varying_nodes(nodes: Iterable[Node]) -> set[Node]:
    """The nodes that arguments, variables or keys decide; others are constants.

    Args:
        nodes: of a recording, in order.
    """
    varying: set[Node] = set()
    for node in nodes:
        if isinstance(node, Input):
            is_varying = node.source != "constants"
        else:
            is_varying = not varying.isdisjoint(iter_nodes((node.args, node.kwargs)))
        if is_varying:
            varying.add(node)
    return varying
