"""TensorLists, which TensorArrays are made of, as stacked arrays.

A list is an array of its elements along a new first axis. In a loop that reads or writes one element
in each step, the elements are the rows that `scan` takes and gives.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from nestarray import dtypes, ops
from nestarray.errors import ConversionError
from nestarray.frontends.tensorflow import vocabulary
from nestarray.graph.node import Aval, Node
from nestarray.importers.tensorflow import known_values
from nestarray.importers.tensorflow.shapes import aval_of
from nestarray.importers.tensorflow.sizes import Dim, size_of
from nestarray.importers.tensorflow.source import Equation
from nestarray.importers.tensorflow.values import Value

if TYPE_CHECKING:
    from nestarray.importers.tensorflow.importer import Translation


@dataclasses.dataclass(eq=False)
class TensorList:
    """A list of arrays of one shape.

    Attributes:
        stack: the node of the array; None if no element was written.
        length: the number of elements: a number or a `Dim`.
        aval: of an element; None if it is unknown.
        of: its source.
        kind: ``"row"`` of a list of which the step of a loop reads one element, ``"column"`` of one
            into which it writes one; else empty.
        row: this element.
        constant: the known value of each element, as of a list of shapes; else None.
    """

    stack: Node | None
    length: Any
    aval: Aval | None
    of: Any = None
    kind: str = ""
    row: Any = None
    constant: Any = None


def stacked(builder: Any, sizes: Any, one: TensorList, aval: Aval | None, where: str) -> Node:
    """The array of a list; zeros if no element was written.

    Raises:
        ConversionError: the shape of the elements is unknown.
    """
    if one.stack is not None:
        return one.stack
    aval = one.aval or aval
    if aval is None:
        raise ConversionError(
            f"trace_graph: {where}: a TensorArray has elements of unknown shape; give it "
            "element_shape="
        )
    inner = [sizes.node(sizes.of(n)) for n in aval.shape]
    shape = (sizes.node(one.length), *inner)
    full = _with_length(aval, one.length)
    made: Node = builder.call(
        "zeros", ops.zeros, "na.zeros", (shape,), {"dtype": aval.dtype}, aval=full
    )
    one.stack = made
    return made


def _with_length(aval: Aval, length: Any) -> Aval | None:
    size = length.expression if isinstance(length, Dim) else length
    return None if size is None else Aval((size, *aval.shape), aval.dtype)


def element(stack: Node) -> Aval | None:
    """Shape and dtype of the elements of a stack."""
    return None if stack.aval is None else Aval(stack.aval.shape[1:], stack.aval.dtype)


#: Operations on lists that the importer translates.
OPERATIONS = frozenset(
    ["TensorListReserve", "EmptyTensorList", "TensorListFromTensor", "TensorListStack",
     "TensorListGetItem", "TensorListSetItem", "TensorListLength", "TensorListPushBack",
     "TensorListPopBack", "TensorListGather", "TensorListScatterV2",
     "TensorListScatterIntoExistingList", "TensorListConcatV2", "TensorListElementShape"]
)  # fmt: skip


class TensorLists:
    """Translates the operations on lists of one program.

    Args:
        of: the translation of the program.
    """

    def __init__(self, of: Translation) -> None:
        self.of, self.builder = of, of.builder

    def call(self, op: Any, inputs: list[Any]) -> list[Any]:
        """The results of an operation."""
        equation = None
        if not self.of.depth:
            equation = Equation(
                op, [self.of.given(x, at) for x, at in zip(inputs, op.inputs)], self.builder.place
            )
            self.of.add(equation, None)
        found = getattr(self, f"_{op.type}")(op, *inputs)
        results: list[Any] = []
        for i, value in enumerate(found):
            if equation is not None and isinstance(value, TensorList):
                value.of = self.of.part(equation, i)
            elif equation is not None and value.known is None and value.of is None:
                part = self.of.part(equation, i)
                self.of.name(part, value.node)
                value = Value(value.node, part)
            results.append(value)
        return results

    def sum(self, op: Any, inputs: list[Any]) -> list[Any]:
        """Sums and zeros of lists, which gradients make."""
        first = inputs[0]
        filled = [x for x in inputs if x.stack is not None and op.type != "ZerosLike"]
        if op.type not in ("AddN", "Add", "AddV2", "ZerosLike"):
            raise self._unknown(op)
        stack = filled[0].stack if filled else None
        for x in filled[1:]:
            args = (stack, x.stack)
            stack = self.builder.call("sum", ops.add, "na.add", args, aval=x.stack.aval)
        aval = next((x.aval for x in inputs if x.aval is not None), None)
        made = TensorList(stack, first.length, aval)
        if not self.of.depth:
            given = [self.of.given(x, at) for x, at in zip(inputs, op.inputs, strict=True)]
            equation = Equation(op, given, self.builder.place)
            self.of.add(equation, None)
            made.of = equation
        return [made]

    def _call(self, name: str, tensor: Any, op: Any, *args: Any, aval: Aval | None = None) -> Value:
        rule = vocabulary.find(name)
        assert rule is not None
        aval = aval_of(tensor) or aval
        return Value(
            self.builder.call(
                "item", rule.function, rule.name, args, aval=aval, origin=op.type,
            )
        )  # fmt: skip

    def _stack(self, one: TensorList, op: Any, aval: Aval | None = None) -> Node:
        return stacked(self.builder, self.of.sizes, one, aval, f"{op.type} ({self.builder.place})")

    def _TensorListReserve(self, op: Any, shape: Value, count: Value) -> list[Any]:
        return [TensorList(None, self._size(op, count), self._aval(op, shape))]

    def _EmptyTensorList(self, op: Any, shape: Value, most: Value) -> list[Any]:
        return [TensorList(None, 0, self._aval(op, shape))]

    def _aval(self, op: Any, shape: Value) -> Aval | None:
        known = shape.known
        if known is None or known_values.is_symbolic(known) or not known.shape or -1 in known:
            return None
        return Aval(tuple(known.tolist()), dtypes.as_dtype(op.get_attr("element_dtype").name))

    def _TensorListFromTensor(self, op: Any, tensor: Value, shape: Value) -> list[Any]:
        node = self.of.node(tensor)
        length = op.inputs[0].shape[0]
        if node.aval is not None:
            length = node.aval.shape[0]
            length = self.of.sizes.of(length)
        elif length is None:
            length = size_of(node, 0)
        return [TensorList(node, length, element(node))]

    def _TensorListStack(self, op: Any, one: TensorList, shape: Value) -> list[Any]:
        return [Value(self._stack(one, op, self._aval(op, shape)))]

    def _TensorListLength(self, op: Any, one: TensorList) -> list[Any]:
        known = np.empty((), object if isinstance(one.length, Dim) else "int32")
        known[()] = one.length
        return [Value(known=known)]

    def _TensorListElementShape(self, op: Any, one: TensorList) -> list[Any]:
        aval = one.aval or (None if one.stack is None else element(one.stack))
        if aval is None:
            raise self._unknown(op)
        return [Value(known=np.asarray(aval.shape, "int32"))]

    def _TensorListGetItem(self, op: Any, one: TensorList, index: Value, shape: Value) -> list[Any]:
        if one.kind == "row":
            return [one.row]
        place = int(index.known) if index.known is not None else self.of.node(index)
        stack = self._stack(one, op, aval_of(op.outputs[0]))
        aval = element(stack)
        return [self._call("GatherV2", op.outputs[0], op, stack, place, 0, aval=aval)]

    def _TensorListSetItem(self, op: Any, one: TensorList, index: Value, item: Value) -> list[Any]:
        node = self.of.node(item)
        if one.kind == "column":
            return [TensorList(None, one.length, node.aval, kind="column", row=item)]
        place = int(index.known) if index.known is not None else self.of.node(index)
        if place == one.length:  # the list grows
            return self._TensorListPushBack(op, one, item)
        stack = self._stack(one, op, node.aval)
        made = self.builder.call(
            "stack", ops.setitem, "na.setitem", (stack, place, node), aval=stack.aval,
            origin=op.type,
        )  # fmt: skip
        return [TensorList(made, one.length, node.aval)]

    def _TensorListPushBack(self, op: Any, one: TensorList, item: Value) -> list[Any]:
        node = self.of.node(item)
        if one.kind == "column":
            return [TensorList(None, one.length, node.aval, kind="column", row=item)]
        if not isinstance(one.length, int):
            raise self._unknown(op)
        row = self.builder.call("row", ops.expand_dims, "na.expand_dims", (node, 0))
        if one.length:
            args = ([self._stack(one, op), row],)
            row = self.builder.call("stack", ops.concat, "na.concat", args)
        row.aval = None if node.aval is None else _with_length(node.aval, one.length + 1)
        return [TensorList(row, one.length + 1, node.aval)]

    def _TensorListPopBack(self, op: Any, one: TensorList, shape: Value) -> list[Any]:
        if one.kind == "row":
            return [TensorList(None, 0, one.aval), one.row]
        if not isinstance(one.length, int) or one.length < 1:
            raise self._unknown(op)
        stack = self._stack(one, op)
        item = self.builder.call(
            "item", ops.getitem, "na.getitem", (stack, -1), aval=element(stack)
        )
        rest = self.builder.call("stack", ops.getitem, "na.getitem", (stack, slice(None, -1)))
        return [TensorList(rest, one.length - 1, one.aval), Value(item)]

    def _TensorListGather(
        self, op: Any, one: TensorList, indices: Value, shape: Value
    ) -> list[Any]:
        stack = self._stack(one, op, self._aval(op, shape))
        return [self._call("GatherV2", op.outputs[0], op, stack, self.of.node(indices), 0)]

    def _TensorListScatterIntoExistingList(
        self, op: Any, one: TensorList, tensor: Value, indices: Value
    ) -> list[Any]:
        node = self.of.node(tensor)
        stack = self._stack(one, op, element(node))
        made = self.builder.call(
            "stack", ops.setitem, "na.setitem", (stack, self.of.node(indices), node),
            aval=stack.aval, origin=op.type,
        )  # fmt: skip
        return [TensorList(made, one.length, element(node))]

    def _TensorListScatterV2(
        self, op: Any, tensor: Value, indices: Value, shape: Value, count: Value
    ) -> list[Any]:
        empty = TensorList(None, self._size(op, count), element(self.of.node(tensor)))
        return self._TensorListScatterIntoExistingList(op, empty, tensor, indices)

    def _TensorListConcatV2(self, op: Any, one: TensorList, shape: Value, dims: Value) -> list[Any]:
        stack = self._stack(one, op)
        if stack.aval is None:
            raise self._unknown(op)
        _, first, *rest = stack.aval.shape
        joined = self.builder.call(
            "joined",
            ops.reshape,
            "na.reshape",
            (stack, (-1, *rest)),
            aval=aval_of(op.outputs[0]),
        )
        lengths = np.full(one.length, first, "int64")
        return [Value(joined), Value(known=lengths)]

    def _unknown(self, op: Any) -> ConversionError:
        return ConversionError(
            f"trace_graph: {op.type} ({self.builder.place}): a TensorArray changes its size in a loop "
            "whose number of steps is unknown; give the loop maximum_iterations= and the TensorArray a "
            "size"
        )

    def _size(self, op: Any, count: Value) -> Any:
        """The number of elements; −1 becomes 0."""
        if count.known is None:
            raise ConversionError(
                f"trace_graph: {op.type} ({self.builder.place}): the size of a TensorArray depends on "
                "values; give it a known size"
            )
        number = count.known.item()
        return number if isinstance(number, Dim) else max(int(number), 0)
