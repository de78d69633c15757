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
from collections.abc import Callable, Sequence
from typing import Any

from nestarray.dispatch import Op
from nestarray.graph.graph import Graph
from nestarray.graph.node import Aval, Node, iter_nodes, map_nodes, substituted
from nestarray.graph.passes.rewriting import Writer, arguments_of, has, is_op
from nestarray.graph.sizes import generic_size
from nestarray.sizes import IntOrSize, Size
from nestarray.traits import Trait

Order = tuple[int, ...]

#: Functions of images, with the channels first or last.
_OF_IMAGES = ("interpolate", "pixel_shuffle", "pixel_unshuffle")
_ADAPTIVE = {f"adaptive_{kind}_pool{n}d": r for n in (1, 2, 3) for kind, r in
             (("avg", "mean"), ("max", "max"))}  # fmt: skip


def cancel_transposes(graph: Graph) -> Graph:
    """Move transposes down the graph and leave out those that cancel.

    The graph is returned unchanged unless its transposes then move fewer elements.
    """
    new = _Transposer(graph).run()
    return new if _cost(new) < _cost(graph) else graph


def order_of(node: Node) -> Order | None:
    """The order of axes by which a call transposes its argument; None if it does not."""
    record: Op | None = getattr(node.target, "op", None)
    if record is None or node.aval is None:
        return None
    rank = len(node.aval.shape)
    if record.name == "permute_dims":
        return tuple([a % rank for a in arguments_of(node)["axes"]])
    order = list(range(rank))
    if record.name == "matrix_transpose":
        return (*order[:-2], rank - 1, rank - 2)
    if record.name == "swapaxes":
        a, b = (arguments_of(node)[name] % rank for name in ("axis1", "axis2"))
        order[a], order[b] = b, a
        return tuple(order)
    if record.name == "moveaxis":
        source, target = (arguments_of(node)[name] for name in ("source", "destination"))
        if isinstance(source, int):
            order.insert(target % rank, order.pop(source % rank))
            return tuple(order)
    return None


def permuted(writer: Writer, x: Node, order: Sequence[int], like: Node, name: str = "") -> Node:
    """The array with its axes in another order; itself in its own order."""
    assert x.aval is not None
    if [*order] == sorted(order):
        return x
    aval = Aval(tuple(x.aval.shape[i] for i in order), x.aval.dtype)
    return writer.call("permute_dims", x, tuple(order), like=like, aval=aval, name=name)


def reshaped(
    writer: Writer,
    x: Node,
    shape: Sequence[Any],
    like: Node,
    name: str = "",
    batch: Node | None = None,
) -> Node | None:
    """The array with another shape; None if an open size is of no axis.

    Args:
        writer: of the calls.
        x: the array.
        shape: its sizes; None for a product of open ones.
        like: the node whose place in the source the calls have.
        name: of the result.
        batch: an array that has the open sizes; by default `x`.
    """
    batch = batch or x
    assert x.aval is not None
    assert batch.aval is not None
    if x.aval.shape == tuple(shape) and not name:
        return x
    is_open = [i for i, n in enumerate(shape) if not isinstance(n, int)]
    sizes = [-1 if i in is_open else n for i, n in enumerate(shape)]
    if len(is_open) > 1 and [n for n in x.aval.shape if n != 1] == [n for n in shape if n != 1]:
        return _with_units(writer, x, shape, like, name)
    if len(is_open) > 1:
        if not {shape[i] for i in is_open} <= {*batch.aval.shape}:
            return None
        own = writer.call("shape", batch, like=like, aval=None)
        for i in is_open:
            sizes[i] = writer.item(own, batch.aval.shape.index(shape[i]), like=like, aval=None)
    aval = Aval(tuple(shape), x.aval.dtype)
    return writer.call("reshape", x, tuple(sizes), like=like, aval=aval, name=name)


def _with_units(writer: Writer, x: Node, shape: Sequence[Any], like: Node, name: str) -> Node:
    """The array with axes of one element in other places."""
    assert x.aval is not None
    before, dtype = x.aval.shape, x.aval.dtype
    old, new = ([i for i, n in enumerate(sizes) if n == 1] for sizes in (before, shape))
    if old:
        aval = Aval(tuple([n for n in before if n != 1]), dtype)
        x = writer.call(
            "squeeze", x, axis=tuple(old), like=like, aval=aval, name="" if new else name
        )
    if new:
        aval = Aval(tuple(shape), dtype)
        x = writer.call("expand_dims", x, axis=tuple(new), like=like, aval=aval, name=name)
    return x


def _cost(graph: Graph) -> tuple[int, int]:
    """How many elements the transposes move, and how many calls there are."""
    moved = sum(
        math.prod(_shape(node))
        for node in graph.calls
        if node.aval is not None and order_of(node) is not None
    )
    return moved, len(graph.calls)


def _shape(node: Node) -> tuple[int, ...]:
    """The sizes of a value, with a generic number for each open size."""
    assert node.aval is not None
    return tuple([generic_size(size) for size in node.aval.shape])


def _inverse(order: Order) -> Order:
    return tuple([order.index(i) for i in range(len(order))])


class _Transposer:
    """One walk through a graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph, self.writer = graph, Writer(graph)
        #: node of the old graph → (node of the new one, order of its axes)
        self.kept: dict[Node, tuple[Node, Order]] = {}
        #: transposes that are written: (node, order) → node, and node → (node, order)
        self.written: dict[tuple[Node, Order], Node] = {}
        self.origin: dict[Node, tuple[Node, Order]] = {}
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
                self.keep(node, base, tuple([before[i] for i in order]))
            elif not self.moved_through(node):
                self.write(node)
        for node in iter_nodes(self.graph.results):
            self.plain(node)
        return self.writer.finish()

    # -- values ----------------------------------------------------------------------------

    def pair(self, node: Node) -> tuple[Node, Order]:
        """The node of the new graph of which `node` is a transpose, and the order."""
        if node in self.kept:
            return self.kept[node]
        new = self.writer.stands_for.get(node, node)
        assert node.aval is not None
        return new, tuple(range(len(node.aval.shape)))

    def keep(self, node: Node, base: Node, order: Order) -> None:
        """Say that `node` is a transpose of `base`."""
        if order == tuple(range(len(order))):
            self.writer.stands_for[node] = base
        else:
            self.kept[node] = base, order

    def plain(self, node: Node) -> Node:
        """`node` in the new graph, transposed if it must be."""
        if node in self.kept and node not in self.writer.stands_for:
            base, order = self.kept[node]
            self.writer.stands_for[node] = self.transposed(base, order, node, node.name)
        return self.writer.stands_for.get(node, node)

    def transposed(self, base: Node, order: Order, like: Node, name: str = "") -> Node:
        """`base` with its axes in this order; one call for all who ask."""
        if base in self.origin:
            base, before = self.origin[base]
            order = tuple([before[i] for i in order])
        if order == tuple(range(len(order))):
            return base
        found = self.written.get((base, order))
        if found is None:
            assert base.aval is not None
            shape = tuple([base.aval.shape[i] for i in order])
            moved = [i for i in order if base.aval.shape[i] != 1]
            numbers = _numbers(shape) if moved == sorted(moved) else None
            op, setting = ("permute_dims", order) if numbers is None else ("reshape", numbers)
            aval = Aval(shape, base.aval.dtype)
            found = self.writer.call(op, base, setting, like=like, aval=aval, name=name)
            self.written[base, order] = found
            self.origin[found] = base, order
        return found

    def write(self, node: Node) -> None:
        """Keep the call."""
        for used in iter_nodes((node.args, node.kwargs)):
            self.plain(used)
        self.emit(node, *substituted((node.args, node.kwargs), self.writer.stands_for))

    def emit(self, node: Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        same = args == node.args and kwargs == node.kwargs
        new = node if same else dataclasses.replace(node, args=args, kwargs=kwargs)
        self.writer.calls.append(new)
        if new is not node:
            self.writer.stands_for[node] = new

    # -- calls through which transposes move ------------------------------------------------

    def moved_through(self, node: Node) -> bool:
        """Write the call on the values of which its arguments are transposes, if it can be."""
        record: Op | None = getattr(node.target, "op", None)
        pairs = [self.kept[used] for used in iter_nodes(node.args) if used in self.kept]
        if node.target is operator.getitem and node.args[0] in self.firsts and node.args[1] == 0:
            return self.first_result(node)
        if node.target is operator.getitem and node.args[0] in self.shapes:
            order = self.shapes[node.args[0]]
            self.emit(node, (self.writer.stands_for[node.args[0]], order[node.args[1]]), {})
            return True
        if record is None or not pairs:
            return False
        order = pairs[0][1]
        if record.name == "shape":
            self.emit(node, (pairs[0][0],), {})
            self.shapes[node] = order
            return True
        if record.name == "batch_norm_training":
            return self.normalize(node, order)
        if node.aval is None:
            return False
        if has(node, Trait.RESHAPE):
            return self.reshape(node, *pairs[0])
        if record.name in _ADAPTIVE:
            return self.pool_all(node, _ADAPTIVE[record.name], *pairs[0])
        if has(node, Trait.REDUCTION):
            return self.reduce(node, *pairs[0])
        if record.name in ("concat", "stack", "pad"):
            return record.name != "stack" and getattr(self, record.name)(node, order)
        if record.name in _OF_IMAGES:
            return self.images(node, order)
        is_per_example = is_op(node, "group_norm", "instance_norm") and order[0] == 0
        if is_op(node, "batch_norm") or is_per_example:
            axis = order[arguments_of(node)["axis"]]
            return self.same_shape(node, order, first_only=True, axis=axis)
        if has(node, Trait.ROWWISE) and node.args[0] in self.kept:
            return len(node.aval.shape) == len(order) and self.rows(node, record, order)
        if has(node, Trait.ELEMENTWISE):
            return len(node.aval.shape) == len(order) and self.same_shape(node, order)
        return False

    def rows(self, node: Node, record: Op, order: Order) -> bool:
        """A function along the renamed axis; the last one if it has weights, as kernels want it."""
        axis, last = arguments_of(node).get("axis", -1), len(order) - 1
        if len(record.array_parameters) > 1:
            is_last = order[-1] == last and axis in (-1, last, (-1,), (last,))
            return is_last and self.same_shape(node, order, first_only=True)
        if axis is None:
            return False
        moved = tuple(order[i] for i in axis) if isinstance(axis, tuple) else order[axis]
        return self.same_shape(node, order, first_only=True, axis=moved)

    def same_shape(
        self, node: Node, order: Order, *, first_only: bool = False, **settings: Any
    ) -> bool:
        """An elementwise call; its arguments are broadcast."""
        assert node.aval is not None
        move: Callable[[Node], Node] = lambda used: self.in_order(used, order, node)  # noqa: E731
        if first_only:
            rest = [self.plain(x) if isinstance(x, Node) else x for x in node.args[1:]]
            args: Any = (move(node.args[0]), *rest)
            kwargs = {
                k: self.plain(x) if isinstance(x, Node) else x for k, x in node.kwargs.items()
            }
        else:
            args = map_nodes(move, node.args)
            kwargs = map_nodes(move, node.kwargs)
        self.call(node, order, args, {**kwargs, **settings})
        return True

    def call(self, node: Node, order: Order, args: Any, kwargs: dict[str, Any]) -> None:
        """The call on the other values; `node` is its result with the axes in this order."""
        assert node.aval is not None
        shape = tuple([node.aval.shape[i] for i in _inverse(order)])
        name = node.target_name.removeprefix("na.")
        aval = Aval(shape, node.aval.dtype)
        self.keep(node, self.writer.call(name, *args, like=node, aval=aval, **kwargs), order)

    def normalize(self, node: Node, order: Order) -> bool:
        """Batch normalization: its moments do not depend on the order of axes."""
        x, *rest = node.args
        args = (self.in_order(x, order, node), *map_nodes(self.plain, rest))
        kwargs = map_nodes(self.plain, node.kwargs)
        self.emit(node, args, {**kwargs, "axis": order[arguments_of(node)["axis"] % len(order)]})
        self.firsts[node] = order
        return True

    def first_result(self, node: Node) -> bool:
        """The first of several results, transposed."""
        assert node.aval is not None
        order = self.firsts[node.args[0]]
        shape = tuple([node.aval.shape[i] for i in _inverse(order)])
        new = dataclasses.replace(
            node,
            name=self.writer.name(node.name),
            args=(self.writer.stands_for[node.args[0]], 0),
            aval=Aval(shape, node.aval.dtype),
        )
        self.writer.calls.append(new)
        self.keep(node, new, order)
        return True

    def in_order(self, used: Node, order: Order, like: Node) -> Node:
        """An operand as it broadcasts with a value whose transpose in `order` it went with."""
        if used.aval is None:
            return self.plain(used)  # a size, which is a number
        base, own = self.pair(used)
        shape = _shape(used)
        if math.prod(shape) == 1 and len(shape) < len(order):
            return self.plain(used)
        if len(shape) == len(order):
            return self.transposed(base, tuple([own[i] for i in _inverse(order)]), like)
        lead = len(order) - len(shape)
        full = (1,) * lead + used.aval.shape
        if sum(n != 1 for n in full) > 1:  # several axes, which change places
            aval = Aval(full, used.aval.dtype)
            axes = tuple(range(lead))
            wide = self.writer.call("expand_dims", self.plain(used), axes, like=like, aval=aval)
            return self.transposed(wide, _inverse(order), like)
        place = tuple([full[i] for i in _inverse(order)])
        aval = Aval(place, used.aval.dtype)
        return self.writer.call("reshape", self.plain(used), _numbers(place), like=like, aval=aval)

    def reduce(self, node: Node, base: Node, order: Order) -> bool:
        """A reduction over the renamed axes; the other axes keep their order."""
        axis, keepdims = arguments_of(node)["axis"], arguments_of(node)["keepdims"]
        if len(list(iter_nodes((node.args, node.kwargs)))) != 1:
            return False
        axes = range(len(order)) if axis is None else (axis,) if isinstance(axis, int) else axis
        self.reduced(node, base, order, [a % len(order) for a in axes], keepdims)
        return True

    def reduced(
        self,
        node: Node,
        base: Node,
        order: Order,
        axes: Sequence[int],
        keepdims: bool,
        op: str = "",
    ) -> None:
        assert node.aval is not None
        left = list(order)
        settings = {k: x for k, x in node.kwargs.items() if k not in ("axis", "keepdims")}
        if op:
            settings = {}
        gone = sorted(order[a] for a in axes)
        if not keepdims:
            left = [order[i] for i in range(len(order)) if i not in axes]
        settings |= {"axis": tuple(gone)} | ({"keepdims": True} if keepdims else {})
        rank = sorted(left)
        result = tuple([rank.index(a) for a in left])
        shape = tuple([node.aval.shape[i] for i in _inverse(result)])
        name = op or node.target_name.removeprefix("na.")
        aval = Aval(shape, node.aval.dtype)
        is_same = result == tuple(range(len(result)))
        new = self.writer.call(
            name, base, like=node, aval=aval, name=node.name if is_same else "", **settings
        )
        self.keep(node, new, result)

    def pool_all(self, node: Node, op: str, base: Node, order: Order) -> bool:
        """Adaptive pooling to one element is a reduction."""
        size = arguments_of(node)["output_size"]
        if any(n != 1 for n in (size if isinstance(size, (list, tuple)) else (size,))):
            return False
        self.reduced(node, base, order, range(2, len(order)), True, op)
        return True

    def images(self, node: Node, order: Order) -> bool:
        """A function that takes the channels first as well as last."""
        rank = len(order)
        last = (0, rank - 1, *range(1, rank - 1))
        formats = {last: "channels_last", _inverse(last): "channels_first"}
        now = arguments_of(node)["data_format"]
        if order not in formats or formats[order] == now:
            return False
        settings = map_nodes(self.plain, node.kwargs) | {"data_format": formats[order]}
        self.call(node, order, (self.in_order(node.args[0], order, node),), settings)
        return True

    def concat(self, node: Node, order: Order) -> bool:
        """A concatenation along the renamed axis."""
        axis = arguments_of(node)["axis"]
        if axis is None:
            return False
        parts = [self.in_order(used, order, node) for used in iter_nodes(node.args[0])]
        self.call(node, order, (parts,), {"axis": order[axis % len(order)]})
        return True

    def pad(self, node: Node, order: Order) -> bool:
        """A border, whose widths change places."""
        widths = arguments_of(node)["pad_width"]
        if isinstance(widths, int) or not all(isinstance(w, (list, tuple)) for w in widths):
            return False
        if len(widths) != len(order):
            return False
        x, settings = node.args[0], {k: x for k, x in node.kwargs.items() if k != "pad_width"}
        moved = tuple([tuple(map_nodes(self.plain, widths[i])) for i in _inverse(order)])
        settings = map_nodes(self.plain, settings)
        self.call(node, order, (self.in_order(x, order, node), moved), settings)
        return True

    def reshape(self, node: Node, base: Node, order: Order) -> bool:
        """Axes that become one or several, where they are neighbours before the transpose too."""
        assert node.aval is not None
        used = next(iter_nodes(node.args))
        assert used.aval is not None
        shape = _shape(used)
        groups = _aligned(shape, _shape(node))
        if groups is None:
            return False
        places = []
        for before, after in groups:
            axes = [order[a] for a in before if shape[a] != 1]
            between = [a for a in order if axes and axes[0] < a < axes[-1] and a not in axes]
            if axes != sorted(axes) or any(shape[order.index(a)] != 1 for a in between):
                return False
            places += [(axes[0] if axes else -1, i) for i in after]
        ranks = sorted(places)
        result = tuple([ranks.index(p) for p in places])
        sizes = tuple([node.aval.shape[i] for _, i in ranks])
        numbers = _numbers(sizes)
        if numbers is None:  # of several open sizes, which the call computes
            given = arguments_of(node)["shape"] if node.target_name == "na.reshape" else ()
            if len(given) != len(sizes):
                return False
            numbers = tuple(map_nodes(self.plain, [given[i] for _, i in ranks]))
        aval = Aval(sizes, node.aval.dtype)
        is_same = result == tuple(range(len(result)))
        new = self.writer.call(
            "reshape", base, numbers, like=node, aval=aval, name=node.name if is_same else ""
        )
        self.keep(node, new, result)
        return True


def _numbers(sizes: Sequence[IntOrSize]) -> tuple[int, ...] | None:
    """Sizes as an argument of reshape, -1 for one that is open; None if several are."""
    if sum(isinstance(n, Size) for n in sizes) > 1:
        return None
    return tuple([-1 if isinstance(n, Size) else n for n in sizes])


def _aligned(
    before: Sequence[int], after: Sequence[int]
) -> list[tuple[list[int], list[int]]] | None:
    """The axes before and after a reshape in groups of as many elements, as small as can be."""
    groups: list[tuple[list[int], list[int]]] = []
    old, new = list(enumerate(before)), list(enumerate(after))
    while old or new:
        had, has = old[:1], new[:1]
        old, new = old[1:], new[1:]
        while (counts := [math.prod(n for _, n in axes) for axes in (had, has)])[0] != counts[1]:
            short, rest = (had, old) if counts[0] < counts[1] else (has, new)
            if not rest:
                return None
            short.append(rest.pop(0))
        groups.append(([i for i, _ in had], [i for i, _ in has]))
    return groups
