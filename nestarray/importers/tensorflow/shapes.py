"""Shapes and dtypes of the values of TensorFlow programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nestarray import dtypes
from nestarray.errors import DtypeError, NestarrayError, Refused, ShapeError
from nestarray.frontends import rules
from nestarray.graph.node import Aval, Node, is_input, map_nodes
from nestarray.importers.tensorflow.operations import Cell
from nestarray.importers.translator import Value
from nestarray.sizes import IntOrSize, Size
from nestarray.transforms import abstract

if TYPE_CHECKING:
    from nestarray.importers.tensorflow.translation import Translation

#: Operations whose results are shapes.
OPERATIONS = ("Shape", "ShapeN", "Size", "Rank", "VariableShape")


#: How a function fails if values decide the sizes of its results, or if it asks for numbers.
_UNKNOWN = (NestarrayError, TypeError, ValueError, NotImplementedError)


def shape_of(to: Translation, op: Any, value: Value) -> Value:
    """The shape of an operand as a known value."""
    rank_only = op.type == "Rank"
    value = value.value if isinstance(value, Cell) else value
    if value.known is not None:
        shape: tuple[Any, ...] = value.known.shape
    elif value.node.aval is not None:
        shape = value.node.aval.shape
    else:
        tensor = op.inputs[0]
        shape = tuple(
            [
                to.sizes.of_array(value.node, axis) if n is None else n
                for axis, n in enumerate(tensor.shape)
            ]
        )
    if rank_only:
        return Value(known=np.asarray(len(shape), "int32"))
    is_open = any(isinstance(n, Size) for n in shape)
    dtype: Any = object if is_open else op.get_attr("out_type").as_numpy_dtype
    array = np.empty(len(shape), dtype)
    array[:] = shape
    if op.type == "Size":
        total = np.empty((), dtype)
        total[()] = np.multiply.reduce(array) if len(shape) else 1
        return Value(known=total)
    return Value(known=array)


def avals_of(to: Translation, op: Any, call: rules.Call) -> list[Aval | None]:
    """Shape and dtype of each result; None where they are unknown."""
    known = [tuple(x.shape) if _is_full(x.shape) else None for x in op.outputs]
    if None in known:
        computed = _computed(to, op, call)
        if len(computed) == len(known):
            known = [a if a is not None else b for a, b in zip(known, computed, strict=True)]
    return [
        Aval(shape, dtype_of(x)) if shape is not None and _has_dtype(x) else None
        for shape, x in zip(known, op.outputs, strict=True)
    ]


def _computed(to: Translation, op: Any, call: rules.Call) -> list[Any]:
    """The shapes of the results by abstract evaluation; empty if they are unknown."""
    try:
        args, kwargs = map_nodes(lambda node: _stand_in(to, node), [list(call.args), call.kwargs])
        result = abstract.evaluate(call.function, args, kwargs)
        to.sizes.check(op.type)
    except _UNKNOWN as error:
        if isinstance(error, ShapeError) and to.sizes.is_open:
            raise Refused(
                f"dynamic: it does not fit the open sizes ({error})",
                remedy="give equal sizes one name, and sizes that the program fixes none",
            ) from error
        return []
    results = result if isinstance(result, (list, tuple)) else [result]
    return [_shape_of(x) for x in results]


def _stand_in(to: Translation, node: Node) -> Any:
    """The abstract value of a node."""
    sizes = to.sizes
    if node in sizes.expressions:
        return abstract.as_code_sees(sizes.expressions[node], sizes.scope)
    if is_input(node, "constants"):
        return to.builder.values["constants"][node.path]
    if node.aval is None:
        raise abstract.UndecidedSize(f"the shape of {node.name} is unknown")
    return abstract.Abstract(node.aval.shape, node.aval.dtype, sizes.scope, "tensorflow")


def _shape_of(x: Any) -> tuple[IntOrSize, ...] | None:
    """The shape of an abstract result as in an `Aval`."""
    if isinstance(x, abstract.Abstract):
        return x.sizes
    return tuple(map(int, x.shape)) if hasattr(x, "shape") else None


def aval_of(tensor: Any) -> Aval | None:
    """Shape and dtype of a tensor, if its shape is known."""
    if not _is_full(tensor.shape) or not _has_dtype(tensor):
        return None
    return Aval(tuple(tensor.shape), dtype_of(tensor))


def dtype_of(tensor: Any) -> dtypes.DType:
    """The dtype of a tensor.

    Raises:
        DtypeError: it is of no numbers, such as strings.
    """
    return dtypes.as_dtype(tensor.dtype.name)


def _is_full(shape: Any) -> bool:
    return shape.rank is not None and None not in tuple(shape)


def _has_dtype(tensor: Any) -> bool:
    try:
        dtype_of(tensor)
    except DtypeError:
        return False
    return True
