"""Values that the program knows: constants, and shape arithmetic with open sizes.

Operations whose operands are all known run once, at the trace. Their values are arrays of NumPy;
an array of objects holds numbers and `Dim`s.
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
    """Whether a known value has a Dim in it."""
    return isinstance(value, np.ndarray) and value.dtype == object


def computed(op: Any, run: Callable[..., Any], values: Sequence[np.ndarray]) -> list[Any] | None:
    """The results of an operation on known values; None if it stays a call.

    Args:
        op: the operation.
        run: runs it on values.
        values: its operands.
    """
    if any(map(is_symbolic, values)):
        found = _symbolic(op, values)
        return None if found is None else [found]
    if any(x.size > _MOST for x in values):
        return None
    results = [np.asarray(y) for y in run(op, [*values])]
    is_long = any(y.size > (16 if op.type in CREATION else _MOST) for y in results)
    return None if is_long else results


def limit(op: Any) -> np.ndarray | None:
    """The value a of min(a, max(b, x)), if a ≤ b: the length of counts of a fixed length.

    Args:
        op: an operation on integers.
    """
    if op.type != "Minimum" or not op.outputs[0].dtype.is_integer:
        return None
    least, inner = (x.op for x in op.inputs)
    if inner.type != "Maximum" or {least.type, inner.inputs[0].op.type} != {"Const"}:
        return None
    a, b = operations.constant_of(least), operations.constant_of(inner.inputs[0].op)
    return a if a.shape == op.outputs[0].shape and (a <= b).all() else None


def _symbolic(op: Any, values: Sequence[np.ndarray]) -> np.ndarray | None:
    """The result of shape arithmetic; None for operations that decide by a size."""
    rule = _RULES.get(op.type)
    if rule is None:
        return None
    try:
        found = rule(op, *[np.asarray(x, object) for x in values])
    except (TypeError, ValueError):
        return None
    return found if found is None or isinstance(found, np.ndarray) else _object(found)


def _object(value: Any) -> np.ndarray:
    made = np.empty((), object)
    made[()] = value
    return made


def _binary(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda op, x, y: function(x, y)


def _strided_slice(op: Any, x: Any, begin: Any, end: Any, strides: Any) -> Any:
    if op.get_attr("new_axis_mask") or op.get_attr("ellipsis_mask") or begin.size != 1:
        return None
    first = None if op.get_attr("begin_mask") else int(begin[0])
    last = None if op.get_attr("end_mask") else int(end[0])
    if op.get_attr("shrink_axis_mask"):
        return x[first]
    return x[first : last : int(strides[0])]


def _pack(op: Any, *values: Any) -> Any:
    return np.stack(values, op.get_attr("axis"))


def _concat(op: Any, *values: Any) -> Any:
    return np.concatenate(values[:-1], int(values[-1]))


def _product(op: Any, x: Any, axes: Any) -> Any:
    found = x
    for axis in sorted(np.atleast_1d(axes), reverse=True):
        found = np.multiply.reduce(found, int(axis), keepdims=op.get_attr("keep_dims"))
    return found


def _gather(op: Any, x: Any, indices: Any, axis: Any = 0) -> Any:
    return np.take(x, np.asarray(indices, int), int(axis))


def _same(op: Any, x: Any) -> Any:
    return x


def _is_integer_cast(op: Any, x: Any) -> Any:
    return x if op.get_attr("DstT").is_integer else None


def _slice(op: Any, x: Any, begin: Any, size: Any) -> Any:
    first, count = int(begin[0]), int(size[0])
    return x[first:] if count < 0 else x[first : first + count]


def _reshape(op: Any, x: Any, shape: Any) -> Any:
    return x.reshape([int(n) for n in shape])


_RULES: dict[str, Callable[..., Any]] = {
    "Identity": _same, "StopGradient": _same, "Snapshot": _same, "Cast": _is_integer_cast,
    "Add": _binary(operator.add), "AddV2": _binary(operator.add), "Sub": _binary(operator.sub),
    "Mul": _binary(operator.mul), "FloorDiv": _binary(operator.floordiv),
    "FloorMod": _binary(operator.mod), "StridedSlice": _strided_slice, "Pack": _pack,
    "ConcatV2": _concat, "Prod": _product, "GatherV2": _gather, "Gather": _gather, "Slice": _slice,
    "Reshape": _reshape, "Squeeze": lambda op, x: x.reshape([n for n in x.shape if n != 1]),
    "ExpandDims": lambda op, x, axis: np.expand_dims(x, int(axis)),
}  # fmt: skip
