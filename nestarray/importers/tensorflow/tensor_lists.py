"""TensorLists, which TensorArrays are made of, as stacked arrays.

A list is an array of its elements along a new first axis. In a loop that reads or writes one element
in each step, the elements are the rows that `scan` takes and gives.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from nestarray import dtypes
from nestarray.errors import Refused
from nestarray.frontends import rules
from nestarray.frontends.tensorflow import vocabulary
from nestarray.graph.node import Aval, Node
from nestarray.importers.tensorflow import known_values
from nestarray.importers.tensorflow.shapes import aval_of
from nestarray.importers.translator import Value
from nestarray.sizes import Size

if TYPE_CHECKING:
    from nestarray.importers.tensorflow.translation import Translation


@dataclasses.dataclass(eq=False)
class TensorList:
    """A list of arrays of one shape.

    Attributes:
        stack: the node of the array; None if no element was written.
        length: the number of elements: a number or a `Size`.
        aval: of an element; None if it is unknown.
        of: its source.
        kind: ``"row"`` of a list of which the step of a loop reads one element, ``"column"`` of one
            into which it writes one; else empty.
        row: this element.
        constant: the known value of each element, as of a list of shapes; else None.
    """

    stack: Any
    length: Any
    aval: Aval | None
    of: Any = None
    kind: str = ""
    row: Any = None
    constant: Any = None


def stacked(to: Translation, one: TensorList, aval: Aval | None = None) -> Node:
    """The array of a list; zeros if no element was written.

    Raises:
        Refused: the shape of the elements is unknown.
    """
    if one.stack is not None:
        return one.stack
    aval = one.aval or aval
    if aval is None:
        raise Refused(
            "a TensorArray has elements of unknown shape", remedy="give it element_shape="
        )
    inner = map(to.sizes.node, aval.shape)
    shape = (to.sizes.node(one.length), *inner)
    full = with_length(to, aval, one.length)
    one.stack = to.op("zeros", shape, dtype=aval.dtype, aval=full)
    return one.stack


def with_length(to: Translation, aval: Aval | None, length: Any) -> Aval | None:
    """Shape and dtype of a stack of elements; None if a size is unknown."""
    shape = None if aval is None else to.sizes.shape(length, *aval.shape)
    return None if shape is None or aval is None else Aval(shape, aval.dtype)


def element(stack: Node) -> Aval | None:
    """Shape and dtype of the elements of a stack."""
    return None if stack.aval is None else Aval(stack.aval.shape[1:], stack.aval.dtype)


def total(to: Translation, op: Any, *inputs: Any) -> list[Any]:
    """Sums and zeros of lists, which gradients make."""
    first = inputs[0]
    filled = [x for x in inputs if x.stack is not None and op.type != "ZerosLike"]
    if op.type not in ("AddN", "Add", "AddV2", "ZerosLike"):
        raise _unknown()
    stack = filled[0].stack if filled else None
    for x in filled[1:]:
        stack = to.op("add", stack, x.stack, label="sum", aval=x.stack.aval)
    aval = next((x.aval for x in inputs if x.aval is not None), None)
    return [TensorList(stack, first.length, aval, of=to.equation(op, inputs))]


def _gathered(to: Translation, op: Any, *args: Any, aval: Aval | None = None) -> list[Any]:
    rule = vocabulary.find("GatherV2")
    assert rule is not None
    aval = aval_of(op.outputs[0]) or aval
    call = rules.Call(rule.function, rule.name, args, {})
    return [Value(to.call(call, "item", aval=aval, origin=op.type))]


def _reserve(to: Translation, op: Any, shape: Value, count: Value) -> list[Any]:
    return [TensorList(None, _size(count), _aval(op, shape))]


def _empty(to: Translation, op: Any, shape: Value, most: Value) -> list[Any]:
    return [TensorList(None, 0, _aval(op, shape))]


def _aval(op: Any, shape: Value) -> Aval | None:
    known = shape.known
    if known is None or known_values.is_symbolic(known) or not known.shape or -1 in known:
        return None
    return Aval(tuple(known.tolist()), dtypes.as_dtype(op.get_attr("element_dtype").name))


def _from_tensor(to: Translation, op: Any, tensor: Value, shape: Value) -> list[Any]:
    node = to.node(tensor)
    length = op.inputs[0].shape[0]
    if node.aval is not None:
        length = node.aval.shape[0]
    elif length is None:
        length = to.sizes.of_array(node, 0)
    return [TensorList(node, length, element(node))]


def _stack(to: Translation, op: Any, one: TensorList, shape: Value) -> list[Any]:
    return [Value(stacked(to, one, _aval(op, shape)))]


def _length(to: Translation, op: Any, one: TensorList) -> list[Any]:
    known = np.empty((), object if isinstance(one.length, Size) else "int32")
    known[()] = one.length
    return [Value(known=known)]


def _element_shape(to: Translation, op: Any, one: TensorList) -> list[Any]:
    aval = one.aval or (None if one.stack is None else element(one.stack))
    if aval is None:
        raise _unknown()
    return [Value(known=np.asarray(aval.shape, "int32"))]


def _get_item(to: Translation, op: Any, one: TensorList, index: Value, shape: Value) -> list[Any]:
    if one.kind == "row":
        return [one.row]
    place = int(index.known) if index.known is not None else to.node(index)
    stack = stacked(to, one, aval_of(op.outputs[0]))
    return _gathered(to, op, stack, place, 0, aval=element(stack))


def _set_item(to: Translation, op: Any, one: TensorList, index: Value, item: Value) -> list[Any]:
    node = to.node(item)
    if one.kind == "column":
        return [TensorList(None, one.length, node.aval, kind="column", row=item)]
    place = int(index.known) if index.known is not None else to.node(index)
    if place == one.length:  # the list grows
        return _push_back(to, op, one, item)
    stack = stacked(to, one, node.aval)
    new = to.op("setitem", stack, place, node, label="stack", aval=stack.aval, origin=op.type)
    return [TensorList(new, one.length, node.aval)]


def _push_back(to: Translation, op: Any, one: TensorList, item: Value) -> list[Any]:
    node = to.node(item)
    if one.kind == "column":
        return [TensorList(None, one.length, node.aval, kind="column", row=item)]
    if not isinstance(one.length, int):
        raise _unknown()
    row = to.op("expand_dims", node, 0, label="row")
    if one.length:
        row = to.op("concat", [stacked(to, one), row], label="stack")
    row.aval = with_length(to, node.aval, one.length + 1)
    return [TensorList(row, one.length + 1, node.aval)]


def _pop_back(to: Translation, op: Any, one: TensorList, shape: Value) -> list[Any]:
    if one.kind == "row":
        return [TensorList(None, 0, one.aval), one.row]
    if not isinstance(one.length, int) or one.length < 1:
        raise _unknown()
    stack = stacked(to, one)
    item = to.op("getitem", stack, -1, label="item", aval=element(stack))
    others = to.op("getitem", stack, slice(None, -1), label="stack")
    return [TensorList(others, one.length - 1, one.aval), Value(item)]


def _gather(to: Translation, op: Any, one: TensorList, indices: Value, shape: Value) -> list[Any]:
    stack = stacked(to, one, _aval(op, shape))
    return _gathered(to, op, stack, to.node(indices), 0)


def _scatter_into_existing_list(
    to: Translation, op: Any, one: TensorList, tensor: Value, indices: Value
) -> list[Any]:
    node = to.node(tensor)
    stack = stacked(to, one, element(node))
    places = to.node(indices)
    new = to.op("setitem", stack, places, node, label="stack", aval=stack.aval, origin=op.type)
    return [TensorList(new, one.length, element(node))]


def _scatter(
    to: Translation, op: Any, tensor: Value, indices: Value, shape: Value, count: Value
) -> list[Any]:
    empty = TensorList(None, _size(count), element(to.node(tensor)))
    return _scatter_into_existing_list(to, op, empty, tensor, indices)


def _concat(to: Translation, op: Any, one: TensorList, shape: Value, dims: Value) -> list[Any]:
    stack = stacked(to, one)
    if stack.aval is None:
        raise _unknown()
    _, first, *inner = stack.aval.shape
    joined = to.op("reshape", stack, (-1, *inner), label="joined", aval=aval_of(op.outputs[0]))
    lengths = np.full(one.length, first, "int64")
    return [Value(joined), Value(known=lengths)]


def _unknown() -> Refused:
    return Refused(
        "a TensorArray changes its size in a loop whose number of steps is unknown",
        remedy="give the loop maximum_iterations= and the TensorArray a size",
    )


def _size(count: Value) -> Any:
    """The number of elements; −1 becomes 0."""
    if count.known is None:
        raise Refused("the size of a TensorArray depends on values", remedy="give it a known size")
    number = count.known.item()
    return number if isinstance(number, Size) else max(int(number), 0)


#: Operation → its rule, which takes the operation and its operands.
_RULES: dict[str, Callable[..., list[Any]]] = {
    "TensorListReserve": _reserve,
    "EmptyTensorList": _empty,
    "TensorListFromTensor": _from_tensor,
    "TensorListStack": _stack,
    "TensorListLength": _length,
    "TensorListElementShape": _element_shape,
    "TensorListGetItem": _get_item,
    "TensorListSetItem": _set_item,
    "TensorListPushBack": _push_back,
    "TensorListPopBack": _pop_back,
    "TensorListGather": _gather,
    "TensorListScatterIntoExistingList": _scatter_into_existing_list,
    "TensorListScatterV2": _scatter,
    "TensorListConcatV2": _concat,
}


def translate(to: Translation, op: Any, *inputs: Any) -> list[Any]:
    """The results of an operation on lists."""
    equation = to.equation(op, inputs)
    results: list[Any] = []
    for i, value in enumerate(_RULES[op.type](to, op, *inputs)):
        if isinstance(value, TensorList):
            value.of = to.part(equation, i)
        elif equation is not None and value.known is None and value.of is None:
            value.of = to.part(equation, i)
            to.assign(value.of, value.node)
        results.append(value)
    return results


#: Operation → the rule of a translation.
RULES = dict.fromkeys(_RULES, translate)
