"""Values that the program knows: constants, and shape arithmetic with open sizes.

Operations whose operands are all known run once, at the trace. Their values are arrays of NumPy;
an array of objects holds numbers and `Size`s.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nestarray.importers.tensorflow import operations

#: The most elements of a result that becomes part of the program.
_MOST = 4096
#: Operations that remain calls, because a constant would be longer than they are.
CREATION = frozenset(["Fill", "ZerosLike", "OnesLike", "BroadcastTo", "Tile", "LinSpace", "Eye"])


def is_symbolic(value: Any) -> bool:
    """Whether a known value has a Size in it."""
    return isinstance(value, np.ndarray) and value.dtype == object


def computed(op: Any, run: Callable[..., Any], values: Sequence[np.ndarray]) -> list[Any] | None:
    """The results of an operation on known values; None if it stays a call."""
    if any(map(is_symbolic, values)):
        return _moved(op, run, values) if op.type in _MOVES else _computed(op, values)
    if any(x.size > _MOST for x in values):
        return None
    results = [np.asarray(y) for y in run(op, [*values])]
    is_long = any(y.size > (16 if op.type in CREATION else _MOST) for y in results)
    return None if is_long else results


def limit(op: Any) -> np.ndarray | None:
    """The value a of min(a, max(b, x)), if a ≤ b: the length of counts of a fixed length."""
    if op.type != "Minimum" or not op.outputs[0].dtype.is_integer:
        return None
    least, inner = (x.op for x in op.inputs)
    if inner.type != "Maximum" or {least.type, inner.inputs[0].op.type} != {"Const"}:
        return None
    a, b = operations.constant_of(least), operations.constant_of(inner.inputs[0].op)
    return a if a.shape == op.outputs[0].shape and (a <= b).all() else None


def _moved(op: Any, run: Callable[..., Any], values: Sequence[np.ndarray]) -> list[Any] | None:
    """The results of an operation that moves elements: it runs on their numbers."""
    elements: list[Any] = []
    arguments = operations.arguments_of(op, range(len(values))).values()
    operands = list(values)
    for arg, places in zip(op.op_def.input_arg, arguments, strict=True):
        for place in places if isinstance(places, list) else [places]:
            x = values[place]
            if arg.type_attr == op.op_def.output_arg[0].type_attr:
                first = len(elements)
                elements += x.reshape(-1).tolist()
                x = np.arange(first, len(elements)).reshape(x.shape)
            elif is_symbolic(x):  # an index or a shape
                return None
            operands[place] = x.astype(op.inputs[place].dtype.as_numpy_dtype)
    table = np.empty(len(elements), object)
    table[:] = elements
    return [_array(table[y]) for y in run(op, operands)]


def _computed(op: Any, values: Sequence[np.ndarray]) -> list[Any] | None:
    """The result of shape arithmetic; None for operations that decide by a size."""
    rule = _ARITHMETIC.get(op.type)
    if rule is None or (op.type == "Cast" and not op.get_attr("DstT").is_integer):
        return None
    return [_array(rule(op, *[np.asarray(x, object) for x in values]))]


def _array(value: Any) -> np.ndarray:
    if isinstance(value, np.ndarray):
        return value
    scalar = np.empty((), object)
    scalar[()] = value
    return scalar


def _binary(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda op, x, y: function(x, y)


def _product(op: Any, x: Any, axes: Any) -> Any:
    for axis in sorted(np.atleast_1d(axes), reverse=True):
        x = np.multiply.reduce(x, int(axis), keepdims=op.get_attr("keep_dims"))
    return x


#: Operations whose results consist of elements of their operands.
_MOVES = frozenset(
    ["Identity", "StopGradient", "Snapshot", "StridedSlice", "Slice", "Pack", "Unpack", "ConcatV2",
     "Split", "SplitV", "GatherV2", "Gather", "Reshape", "Squeeze", "ExpandDims", "Transpose",
     "ReverseV2", "Tile"]
)  # fmt: skip

#: Operation → its function of arrays of numbers and Sizes.
_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "Add": _binary(operator.add), "AddV2": _binary(operator.add), "Sub": _binary(operator.sub),
    "Mul": _binary(operator.mul), "FloorDiv": _binary(operator.floordiv),
    "FloorMod": _binary(operator.mod), "Prod": _product, "Cast": lambda op, x: x,
}  # fmt: skip
