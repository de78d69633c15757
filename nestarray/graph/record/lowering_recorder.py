"""Recording the calls of another graph, whose functions become ops."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from nestarray import dtypes
from nestarray.backends import is_array
from nestarray.errors import ConversionError, UnsupportedError
from nestarray.graph.builder import Place
from nestarray.graph.node import Call, Function, Node, iter_nodes, map_nodes, substituted
from nestarray.graph.record.abstract_recorder import AbstractRecorder, AbstractTraced, is_size
from nestarray.graph.record.recorder import Traced, Write
from nestarray.sizes import larger, smaller
from nestarray.transforms import abstract
from nestarray.transforms.abstract import Scope
from nestarray.typing import Array, Nest

#: Returns the random key of one call.
Draw = Callable[[], Array]

#: Functions of sizes that code decides by, and that are exact.
_OF_SIZES: dict[str, Function] = {
    "sym_max": larger, "sym_min": smaller, "max_dim": larger, "min_dim": smaller,
}  # fmt: skip


class Kept(NamedTuple):
    """A call of another graph that is recorded unchanged.

    Attributes:
        write: adds the call to the new graph.
        function: the function that it calls.
        used: the other graph's nodes that it reads → traced values.
    """

    write: Write
    function: Function
    used: dict[Node, Nest]


class LoweringRecorder(AbstractRecorder):
    """One recording of the calls of another graph.

    Attributes:
        unrecordable: exceptions of code that stays one call: it may take a derivative, or read
            values. On sizes that have no numbers it fails in many ways.
    """

    def __init__(self, name: str, scope: Scope, backend: str, runs_on: str) -> None:
        super().__init__(name, scope, backend, runs_on=runs_on)
        self.unrecordable: tuple[type[Exception], ...] = (UnsupportedError, ConversionError)
        if scope.relations.ranges:
            self.unrecordable = (Exception,)

    def lowered(
        self, old: Call, run: Callable[[], Nest], value_of: Callable[[Node], Nest], draw: Draw
    ) -> Nest:
        """The value of a call as ops, or of the call itself where its code cannot be recorded.

        Args:
            old: the call of the graph that is lowered.
            run: computes it on stand-ins.
            value_of: the stand-ins of its arguments.
            draw: returns its random key.
        """
        before = len(self.nodes)
        try:
            value = run()
        except self.unrecordable:
            self._take_back(before)
            value = self._kept(old, value_of, draw)
        self._adopt(value, old, self.nodes[before:])
        return value

    def kept(self, old: Call, value_of: Callable[[Node], Nest], draw: Draw) -> Kept:
        """Keep a call of another graph; see `lowered`."""
        used = {node: value_of(node) for node in iter_nodes((old.args, old.kwargs))}
        stands_for = {node: self.node_of(value, old.name) for node, value in used.items()}
        args, kwargs = substituted((old.args, old.kwargs), stands_for)
        if old.is_random:
            kwargs = {**kwargs, "key": self.node_of(draw(), old.name)}
        write = partial(
            self.builder.call,
            target=old.target,
            target_name=old.target_name,
            args=args,
            kwargs=kwargs,
            place=Place(old.module, old.line),
            origin=old.origin,
        )
        return Kept(write, old.target, used)

    def beside_sizes(self, old: Call, value_of: Callable[[Node], Nest]) -> Callable[[Node], Nest]:
        """`value_of` for a call with sizes: also constant arrays are traced.

        An open size has no number that could be combined with an array now.
        """
        values = {node: value_of(node) for node in iter_nodes((old.args, old.kwargs))}
        if any(map(is_size, values.values())):
            values |= {node: self._held(x) for node, x in values.items() if is_array(x)}
        return values.__getitem__

    def _held(self, array: Array) -> AbstractTraced:
        value = self.abstract(tuple(map(int, array.shape)), dtypes.dtype_of(array))
        return AbstractTraced(value, self.node_of(array, "lower"), self)

    def _adopt(self, value: Nest, old: Node, new: list[Node]) -> None:
        """Give the node of `value` the name of the call, if it is one of the `new` nodes."""
        if is_size(value):
            self.size_node(value).name = old.name
        if not isinstance(value, Traced) or value._node not in new:
            return
        value._node.name = old.name
        if isinstance(value, AbstractTraced) and old.aval is not None:
            value._value, value._node.aval = self.given(old)._value, old.aval

    def _take_back(self, count: int) -> None:
        """Remove the nodes after the first `count`."""
        gone = set(self.nodes[count:])
        del self.nodes[count:]
        self._shapes = {x: node for x, node in self._shapes.items() if node not in gone}
        self._sizes = {size: node for size, node in self._sizes.items() if node not in gone}

    def _kept(self, old: Call, value_of: Callable[[Node], Nest], draw: Draw) -> Nest:
        """Keep a call; its result has the shape that the importer knows."""
        write, function, used = self.kept(old, value_of, draw)
        name = getattr(function, "__name__", "")
        if name in _OF_SIZES and all(map(_is_number, used.values())):
            args = map_nodes(used.__getitem__, list(old.args))
            exact = _OF_SIZES[name](*map(abstract.expression, args))
            return self.as_seen(exact, partial(write, old.name))
        node = write(old.name, aval=old.aval)
        return self.given(node) if old.aval is not None else Traced(None, node, self)


def _is_number(x: object) -> bool:
    return is_size(x) or type(x) in (int, float)
