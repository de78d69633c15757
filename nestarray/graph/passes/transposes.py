"""Move transposes down the graph until they cancel.

A transposed value is kept as a pair: the value before the transpose, and the order of axes.
Elementwise functions, reductions, concatenations and similar calls are computed on the former,
with renamed axes, and give a pair again. Calls that need the transposed value, and outputs, get
the transpose; two inverse transposes cancel.
"""

from __future__ import annotations

import dataclasses
import math
import operator
from collections.abc import Sequence

from nestarray.dispatch import OPS
from nestarray.graph.graph import Graph
from nestarray.graph.node import (
    Argument,
    Aval,
    Body,
    Call,
    Node,
    Operand,
    iter_nodes,
    map_leaves,
    substituted,
)
from nestarray.graph.passes.rewriting import Writer, arguments_of, has, is_op, op_name
from nestarray.graph.passes.view_calls import emit, reshaped
from nestarray.graph.passes.views import Order, View, order_of
from nestarray.sizes import Size, names_of, value_at
from nestarray.traits import Trait
from nestarray.typing import Axes, Axis

#: A number for each open size, to compare how many elements are moved.
_OPEN = 1 << 10


def cancel_transposes(graph: Graph) -> Graph:
    """Move transposes down the graph and leave out those that cancel.

    The graph is returned unchanged unless its transposes then move fewer elements.

    Example:
        >>> import numpy as np, nestarray as na
        >>> from nestarray.graph import passes
        >>> program = lambda x: na.swapaxes(na.exp(na.swapaxes(x, 0, 1)), 0, 1)
        >>> graph = passes.cancel_transposes(na.trace_graph(program, np.ones((2, 3))))
        >>> [call.target_name for call in graph.calls]
        ['na.exp']
    """
    new = _Transposer(graph).run()
    return new if _cost(new) < _cost(graph) else graph


def _cost(graph: Graph) -> tuple[int, int]:
    """How many elements the transposes move, and how many calls there are."""
    shapes = [n.aval.shape for n in graph.calls if n.aval is not None and order_of(n) is not None]
    numbers = [[value_at(n, dict.fromkeys(names_of(n), _OPEN)) for n in shape] for shape in shapes]
    return sum(map(math.prod, numbers)), len(graph.calls)


def _inverse(order: Order) -> Order:
    return tuple([order.index(i) for i in range(len(order))])


def _renamed(axis: Axes, order: Order) -> Operand:
    """An axis, or several, of a transposed value as axes of the value before."""
    return order[axis] if isinstance(axis, int) else tuple([order[i] for i in axis])


def _view(node: Node) -> View:
    assert node.aval is not None
    return View.whole(node.aval.shape)


class _Transposer:
    """One walk through a graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph, self.writer = graph, Writer(graph)
        #: node of the old graph → (node of the new one, order of its axes)
        self.pairs: dict[Node, tuple[Node, Order]] = {}
        #: (node of the new graph, view) → node
        self.views: dict[tuple[Node, View], Node] = {}
        #: calls of several results, of which the first is transposed
        self.firsts: dict[Node, Order] = {}
        #: calls that give the shape of a value that is transposed
        self.shapes: dict[Node, Order] = {}

    def run(self) -> Graph:
        """The new graph."""
        for node in self.graph.calls:
            order = order_of(node)
            if order is not None and isinstance(node.args[0], Node) and node.args[0].aval:
                base, before = self.pair(node.args[0])
                self.keep(node, base, _renamed(order, before))
            elif not self.moved_through(node):
                self.write(node, *map_leaves(self.plain, (node.args, node.kwargs)))
        for node in iter_nodes(self.graph.results):
            self.plain(node)
        return self.writer.finish()

    # -- values ----------------------------------------------------------------------------

    def pair(self, node: Node) -> tuple[Node, Order]:
        """The node of the new graph of which `node` is a transpose, and the order."""
        if node in self.pairs:
            return self.pairs[node]
        assert node.aval is not None
        return self.writer.stands_for.get(node, node), tuple(range(len(node.aval.shape)))

    def keep(self, node: Node, base: Node, order: Order) -> None:
        """Say that `node` is a transpose of `base`."""
        if order == tuple(range(len(order))):
            self.writer.stands_for[node] = base
        else:
            self.pairs[node] = base, order

    def plain(self, x: Argument) -> Operand:
        """A node in the new graph, transposed if it must be; other values themselves."""
        if isinstance(x, Body):
            for node in x.free:
                self.plain(node)
            return substituted(x, self.writer.stands_for)
        if not isinstance(x, Node):
            return x
        if isinstance(x, Call) and x in self.pairs and x not in self.writer.stands_for:
            base, order = self.pairs[x]
            self.writer.stands_for[x] = self.viewed(base, _view(base).permuted(order), x, x.name)
        return self.writer.stands_for.get(x, x)

    def viewed(self, base: Node, view: View | None, like: Call, name: str = "") -> Node:
        """A view of a node of the new graph, one for all who ask."""
        assert view is not None
        if (base, view) not in self.views:
            new = emit(self.writer, base, view, like, name)
            assert new is not None
            self.views[base, view] = new
        return self.views[base, view]

    def in_order(self, x: Argument, order: Order, like: Call) -> Operand:
        """An operand as it broadcasts with a value whose transpose in `order` it went with."""
        if not isinstance(x, Node) or x.aval is None:
            return self.plain(x)
        shape, lead = x.aval.shape, len(order) - len(x.aval.shape)
        if lead and {*shape} <= {1}:
            return self.plain(x)
        base, axes = self.pair(x)
        wide = _view(base).permuted(axes).reshaped((*[1] * lead, *shape))
        return self.viewed(base, wide and wide.permuted(_inverse(order)), like)

    def write(
        self,
        node: Call,
        args: tuple[Argument, ...],
        kwargs: dict[str, Argument],
        order: Order | None = None,
        op: str = "",
    ) -> None:
        """Write the call with other arguments; its result has its axes in this order.

        Args:
            node: the call.
            args, kwargs: of the new graph.
            order: of the axes of `node`, of which the result is a transpose.
            op: another op.
        """
        fields: dict[str, object] = {"args": args, "kwargs": kwargs}
        if op:
            fields |= {"target": OPS[op].function, "target_name": f"na.{op}"}
        if order is not None and order != tuple(sorted(order)):
            assert node.aval is not None
            shape = tuple([node.aval.shape[i] for i in _inverse(order)])
            name = self.writer.name(op or op_name(node) or node.name)
            fields |= {"name": name, "aval": Aval(shape, node.aval.dtype)}
        is_same = all(getattr(node, name) == value for name, value in fields.items())
        new = node if is_same else dataclasses.replace(node, **fields)
        self.writer.calls.append(new)
        if new is not node:
            self.keep(node, new, order or ())

    # -- calls through which transposes move ------------------------------------------------

    def moved_through(self, node: Call) -> bool:
        """Write the call on the values of which its arguments are transposes, if it can be."""
        if node.target is operator.getitem:
            return self.result(node, *node.args)
        op = op_name(node)
        order = next((self.pairs[x][1] for x in iter_nodes(node.args) if x in self.pairs), None)
        if not op or order is None:
            return False
        x, arguments = node.args[0], arguments_of(node)
        if op == "shape":
            self.shapes[node] = order
            self.write(node, (self.pairs[x][0],), {})
            return True
        if op == "batch_norm_training":
            self.firsts[node] = order
            return self.along(node, order, None, axis=order[arguments["axis"]])
        if node.aval is None:
            return False
        if has(node, Trait.RESHAPE):
            return self.reshape(node, *self.pairs[x])
        if has(node, Trait.REDUCTION):
            return self.reduce(node, order, arguments["axis"], arguments["keepdims"])
        if op.startswith("adaptive_"):
            return self.pool(node, order, arguments["output_size"])
        if len(node.aval.shape) != len(order):
            return False
        if op == "pad":
            return self.pad(node, order, arguments["pad_width"])
        if op == "concat":
            axis = arguments["axis"]
            return axis is not None and self.each(node, order, axis=order[axis])
        if op == "batch_norm" or (op in ("group_norm", "instance_norm") and order[0] == 0):
            return self.along(node, order, order, axis=order[arguments["axis"]])
        if len(OPS[op].array_parameters) == 1 and "data_format" in arguments:
            return self.images(node, order, arguments["data_format"])
        if has(node, Trait.ROWWISE) and x in self.pairs:
            return self.rows(node, order, arguments.get("axis", -1))
        return has(node, Trait.ELEMENTWISE) and self.each(node, order)

    def result(self, node: Call, source: Node, index: int) -> bool:
        """A size, or the first of several results."""
        if source in self.shapes:
            self.write(node, (self.plain(source), self.shapes[source][index]), {})
            return True
        if source in self.firsts and index == 0:
            self.write(node, (self.plain(source), 0), {}, self.firsts[source])
            return True
        return False

    def each(self, node: Call, order: Order, **settings: Argument) -> bool:
        """A call whose arguments have the axes of its result, or are broadcast."""
        args, kwargs = map_leaves(lambda x: self.in_order(x, order, node), (node.args, node.kwargs))
        self.write(node, args, kwargs | settings, order)
        return True

    def along(self, node: Call, order: Order, result: Order | None, **settings: Argument) -> bool:
        """A call of which the first argument alone has the axes of its result."""
        args, kwargs = map_leaves(self.plain, (node.args[1:], node.kwargs))
        self.write(
            node, (self.in_order(node.args[0], order, node), *args), kwargs | settings, result
        )
        return True

    def rows(self, node: Call, order: Order, axis: Axis) -> bool:
        """A function along the renamed axis; the last one if it has weights, as kernels want it."""
        last = len(order) - 1
        if len(OPS[op_name(node)].array_parameters) > 1:
            is_last = order[-1] == last and axis in (-1, last, (-1,), (last,))
            return is_last and self.along(node, order, order)
        return axis is not None and self.along(node, order, order, axis=_renamed(axis, order))

    def images(self, node: Call, order: Order, data_format: str) -> bool:
        """A function that takes the channels first as well as last."""
        rank, is_first = len(order), data_format == "channels_first"
        moved = (0, rank - 1, *range(1, rank - 1)) if is_first else (0, *range(2, rank), 1)
        other = "channels_last" if is_first else "channels_first"
        return order == moved and self.along(node, order, order, data_format=other)

    def pad(self, node: Call, order: Order, widths: int | Sequence[Sequence[Argument]]) -> bool:
        """A border, whose widths change places."""
        pairs = () if isinstance(widths, int) else widths
        if len(pairs) != len(order) or not all(isinstance(w, (list, tuple)) for w in pairs):
            return False
        settings = {k: x for k, x in node.kwargs.items() if k != "pad_width"}
        moved = map_leaves(self.plain, tuple([tuple(pairs[i]) for i in _inverse(order)]))
        x = self.in_order(node.args[0], order, node)
        self.write(node, (x, moved), map_leaves(self.plain, settings), order)
        return True

    def pool(self, node: Call, order: Order, size: Axes) -> bool:
        """Adaptive pooling to one element is a reduction."""
        if any(n != 1 for n in (size if isinstance(size, (list, tuple)) else (size,))):
            return False
        op = "mean" if "_avg_" in op_name(node) else "max"
        return self.reduce(node, order, tuple(range(2, len(order))), True, op)

    def reduce(self, node: Call, order: Order, axis: Axis, keepdims: bool, op: str = "") -> bool:
        """A reduction over the renamed axes; the other axes keep their order."""
        if len([*iter_nodes((node.args, node.kwargs))]) != 1:
            return False
        axis = tuple(range(len(order))) if axis is None else axis
        axes = _renamed((axis,) if isinstance(axis, int) else axis, order)
        left = [i for i in order if keepdims or i not in axes]
        settings = {} if op else {**node.kwargs}
        settings |= {"axis": tuple(sorted(axes))} | ({"keepdims": True} if keepdims else {})
        result = tuple([sorted(left).index(i) for i in left])
        self.write(node, (self.pairs[node.args[0]][0],), settings, result, op)
        return True

    def reshape(self, node: Call, base: Node, order: Order) -> bool:
        """Axes that become one or several, where they are neighbours before the transpose too."""
        assert node.aval is not None
        view = _view(base).permuted(order).reshaped(node.aval.shape)
        result = view and view.transpose_of_reshape()
        if result is None:
            return False
        before = _inverse(result)
        shape = tuple([node.aval.shape[i] for i in before])
        if is_op(node, "reshape") and sum(isinstance(n, Size) for n in shape) > 1:
            sizes = arguments_of(node)["shape"]  # which the program computes
            self.write(node, (base, tuple([self.plain(sizes[i]) for i in before])), {}, result)
            return True
        name = node.name if before == result == tuple(sorted(result)) else ""
        new = reshaped(self.writer, base, shape, node, name)
        if new is not None:
            self.keep(node, new, result)
        return new is not None
