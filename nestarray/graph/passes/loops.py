"""Roll repeated calls of a program into loops.

A loop of Python is recorded step by step. Consecutive groups of calls that compute the same, each from
the values of the one before, become the body of `fori_loop`, or of `scan` if steps differ in constants,
in indices or in numbers, or if values of all steps are used. The last step may lack calls of which no
result is used. Another group that fits in part stays unrolled.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Hashable, Iterator, Sequence

import numpy as np

from nestarray import dtypes, ops, transforms
from nestarray.graph.graph import Graph
from nestarray.graph.node import (
    Argument,
    Aval,
    Body,
    Call,
    Input,
    Node,
    Operand,
    bodies,
    is_input,
    iter_nodes,
    map_leaves,
    substituted,
)
from nestarray.graph.passes.dead_code import remove_dead_code
from nestarray.graph.passes.rewriting import Writer, is_arithmetic, is_op
from nestarray.graph.passes.stores import forward_stores, join_rows
from nestarray.typing import Nest

#: The fewest steps of a loop.
FEWEST = 3
#: The longest body that is searched for.
LONGEST = 1000


class _Varying:
    """Marks an index or a number that may differ between the steps of a loop."""

    def __repr__(self) -> str:
        return "varying"


_VARYING = _Varying()


def roll_loops(graph: Graph) -> Graph:
    """The graph with repeated groups of calls as `scan` and `fori_loop`.

    The body of a loop is compiled once, however many steps there are. Values may differ by rounding
    from the unrolled program, as compilers fuse other calls.
    """
    graph = forward_stores(graph)
    writer = Writer(graph)
    calls, replaced = _Program(writer, graph.calls, graph.results).rolled()
    writer.calls[:], writer.stands_for = calls, replaced
    return remove_dead_code(join_rows(writer.finish()))


class _Program:
    """The calls of a graph or of a body, in order.

    Args:
        writer: gives names, and holds constants.
        calls: the calls.
        results: nest of the nodes that are used outside.
    """

    def __init__(self, writer: Writer, calls: Sequence[Call], results: object) -> None:
        self.writer, self.calls, self.results = writer, list(calls), results
        self.replaced: dict[Node, Operand] = {}

    def rolled(self) -> tuple[list[Call], dict[Node, Operand]]:
        """The calls with loops, and old node → new node."""
        while (loop := self._find()) is not None:
            new, replaced = loop.written()
            later = []
            for node in loop.program.calls[loop.end :]:
                args, kwargs = substituted((node.args, node.kwargs), replaced)
                if (args, kwargs) != (node.args, node.kwargs):
                    replaced[node] = dataclasses.replace(node, args=args, kwargs=kwargs)
                later.append(replaced.get(node, node))
            self.calls = [*self.calls[: loop.start], *new, *later]
            self.results = substituted(self.results, replaced)
            self.replaced = {
                **{old: replaced.get(now, now) for old, now in self.replaced.items()},
                **replaced,
            }
        return self.calls, self.replaced

    def _find(self) -> _Loop | None:
        """The longest repetition that is a loop."""
        known: dict[Hashable, int] = {}
        codes = [known.setdefault(_form(node), len(known)) for node in self.calls]
        for start, period, count in _repetitions(np.asarray(codes)):
            longer = self._with_last_step(start, period, count, codes)
            if longer is not None and longer.fits() and longer.ends_in_carries():
                return longer
            loop = _Loop(self, start, period, count)
            if loop.fits():
                return loop
        return None

    def _with_last_step(
        self, start: int, period: int, count: int, codes: list[int]
    ) -> _Loop | None:
        """The loop with one more step, of the calls that follow and copies of those that it lacks."""
        end = end_of_last = start + period * count
        before, last = self.calls[end - 2 * period : end - period], self.calls[end - period : end]
        step: list[Call] = []
        for node, code in zip(last, codes[end - period : end], strict=True):
            if codes[end_of_last : end_of_last + 1] == [code]:
                step.append(self.calls[end_of_last])
                end_of_last += 1
            else:
                current = dict(zip([*before, *last], [*last, *step], strict=False))
                args, kwargs = substituted((node.args, node.kwargs), current)
                step.append(dataclasses.replace(node, args=args, kwargs=kwargs))
        if end_of_last == end:
            return None
        calls = [*self.calls[:end], *step, *self.calls[end_of_last:]]
        return _Loop(_Program(self.writer, calls, self.results), start, period, count + 1)


def _repetitions(codes: np.ndarray) -> Iterator[tuple[int, int, int]]:
    """(start, period, steps) of the repetitions in a sequence, the longest first."""
    candidates = []
    for period in range(1, min(len(codes) // FEWEST, LONGEST) + 1):
        same = np.concatenate([[False], codes[:-period] == codes[period:], [False]])
        edges = np.flatnonzero(np.diff(same.astype(int)))
        for first, end in zip(edges[::2], edges[1::2]):
            for start in range(first, min(first + 2 * period, end)):
                count = (end - start) // period + 1
                if count >= FEWEST:
                    candidates.append((-count * period, period, int(start), int(count)))
    for _, period, start, count in sorted(candidates):
        yield start, period, count


def _form(node: Call) -> Hashable:
    """What two calls of different steps of a loop have in common."""
    if node.is_random or any(bodies(node.args)):
        return node
    leaves = tuple([_form_of(leaf) for leaf in _leaves(node)])
    return node.target_name, _structure((node.args, node.kwargs)), leaves, node.aval


def _form_of(leaf: object) -> Hashable:
    return ("array", leaf.aval) if isinstance(leaf, Node) else (type(leaf), repr(leaf))


def _leaves(node: Call) -> list[object]:
    """The nodes and constants among the arguments; numbers that may vary as `_VARYING`."""
    leaves: list[Operand] = []
    map_leaves(leaves.append, _with_varying(node))
    return leaves


def _structure(nest: object) -> str:
    return repr(map_leaves(lambda leaf: 0, nest))


def _with_varying(node: Call) -> object:
    """The arguments, with marks for numbers that an array may replace."""
    args, kwargs = node.args, node.kwargs
    if is_op(node, "getitem", "setitem") and len(args) > 1 and _has_one_group(args[1]):
        mark = map_leaves(lambda x: _VARYING if _is_index(x) else x, args[1])
        args = (args[0], mark, *args[2:])
    elif is_arithmetic(node) and any(
        isinstance(x, Node) and x.aval and node.aval and x.aval.dtype is node.aval.dtype
        for x in args
    ):
        args = tuple([_VARYING if type(x) in (int, float) else x for x in args])
    return args, kwargs


def _is_index(x: object) -> bool:
    return type(x) is int and x >= 0


def _has_one_group(index: object) -> bool:
    """Whether integers of an index stand side by side; as arrays, others would move the axes."""
    items = index if isinstance(index, tuple) else (index,)
    if any(isinstance(x, (Node, list)) for x in items):
        return False
    places = [i for i, x in enumerate(items) if type(x) is int]
    return bool(places) and places[-1] - places[0] == len(places) - 1


class _Loop:
    """Equal groups of calls, read as the steps of a loop.

    Args:
        program: the calls.
        start: of the first group.
        period: the number of calls of a group.
        count: the number of groups.
    """

    def __init__(self, program: _Program, start: int, period: int, count: int) -> None:
        self.program, self.start, self.period, self.count = program, start, period, count
        self.end = start + period * count
        self._calls = program.calls[start : self.end]
        self._places: dict[Node, tuple[int, int]] = {
            node: divmod(i, period) for i, node in enumerate(self._calls)
        }
        #: (call of the body, its value before the loop) → parameter
        self._carries: dict[tuple[int, Node], Input] = {}
        #: values of the steps → parameter
        self._rows: list[tuple[list[Operand], Input]] = []
        self._body: list[Call] = []

    def fits(self) -> bool:
        """Whether the groups are steps of one loop; reads them."""
        for i in range(self.period):
            nodes = self._calls[i :: self.period]
            plain = [self._plain_leaves(node) for node in nodes]
            columns = [self._merged(list(column), nodes[0]) for column in zip(*plain, strict=True)]
            if any(x is None for x in columns):
                return False
            args, kwargs = _filled(nodes[0], [x for (x,) in columns])  # type: ignore[misc]
            self._body.append(dataclasses.replace(nodes[0], args=args, kwargs=kwargs))
        is_short = self.period < FEWEST or all(is_op(node, "getitem") for node in self._body)
        return bool(self._carries) or not is_short

    def ends_in_carries(self) -> bool:
        """Whether the results of the last step are carried, or results of other steps too."""
        places = [self._places[node] for node in self._used()]
        inner = {i for i, _ in self._carries} | {i for step, i in places if step < self.count - 1}
        return all(i in inner for _, i in places)

    def _used(self) -> set[Node]:
        """The calls whose values are used outside of the loop."""
        later = [(node.args, node.kwargs) for node in self.program.calls[self.end :]]
        return {x for x in iter_nodes([later, self.program.results]) if x in self._places}

    @staticmethod
    def _plain_leaves(node: Call) -> list[Operand]:
        leaves: list[Operand] = []
        map_leaves(leaves.append, (node.args, node.kwargs))
        return leaves

    def _merged(self, column: list[Operand], call: Call) -> tuple[Argument] | None:
        """The argument of the body for the arguments of the steps, in a tuple; None if they do not fit."""
        first = column[0]
        if not isinstance(first, Node):
            if all(type(x) is type(first) and repr(x) == repr(first) for x in column):
                return (first,)
            dtype = dtypes.int64 if is_op(call, "getitem", "setitem") else call.aval.dtype  # type: ignore[union-attr]
            return (self._row(column, Aval((), dtype)),)
        places = [self._places.get(node) for node in column]
        if places[0] is None and places[-1] is None:
            if any(place is not None for place in places):
                return None
            if all(node is first for node in column) or self._are_equal(column):
                return (first,)
            return None if first.aval is None else (self._row(column, first.aval),)
        inner = places[-1]
        assert inner is not None
        step = self.count - 1 - inner[0]
        sequence = [(i - step, inner[1]) for i in range(self.count)]
        if step == 0:
            return (self._body[inner[1]],) if places == sequence else None
        if step != 1 or places[0] is not None or places[1:] != sequence[1:]:
            return None
        carried = self._calls[inner[1]]
        if first.aval is None or carried.aval != first.aval:
            return None
        key = inner[1], first
        if key not in self._carries:
            self._carries[key] = self._parameter("carry", len(self._carries), first.aval)
        return (self._carries[key],)

    def _are_equal(self, nodes: list[Node]) -> bool:
        """Whether nodes are constants of one value."""
        constants = [node for node in nodes if is_input(node, "constants")]
        if len(constants) < len(nodes):
            return False
        writer = self.program.writer
        arrays = [np.asarray(ops.to_backend(writer.value_of(n), "numpy")) for n in constants]
        return all(
            np.array_equal(arrays[0], x, equal_nan=arrays[0].dtype.kind in "fc") for x in arrays
        )

    def _row(self, column: list[Operand], aval: Aval) -> Input:
        for values, parameter in self._rows:
            if parameter.aval == aval and all(map(_is_same, values, column)):
                return parameter
        parameter = self._parameter("row", len(self._rows), aval)
        self._rows.append((column, parameter))
        return parameter

    def _parameter(self, name: str, number: int, aval: Aval) -> Input:
        name = self.program.writer.name(f"{name}_{number}")
        return Input(name=name, source="body", aval=aval)

    # -- writing -----------------------------------------------------------------------------

    def written(self) -> tuple[list[Call], dict[Node, Operand]]:
        """The calls that replace the groups, and old node → new node."""
        like, used = self._calls[0], self._used()
        finals: dict[int, int] = {}
        for position, (i, _) in enumerate(self._carries):
            finals.setdefault(i, position)
        places = [self._places[node] for node in used]
        needed = sorted({i for step, i in places if step < self.count - 1 or i not in finals})
        self._new: list[Call] = []
        xs = tuple([self._stacked(column, p, like) for column, p in self._rows])
        carry = tuple([initial for _, initial in self._carries])
        carried = tuple([self._body[i] for i, _ in self._carries])
        parameters = tuple(self._carries.values())
        if xs or needed:
            output: Argument = (carried, tuple([self._body[i] for i in needed]))
            rows = tuple([parameter for _, parameter in self._rows])
            body = self._function(("carry", "row"), (parameters, rows), output)
            kwargs: dict[str, Argument] = {} if xs else {"length": self.count}
            loop = self._call("scan", (body, carry, xs), kwargs, like)
            carries, stacked = self._item(loop, 0, None), self._item(loop, 1, None)
        else:
            i = self._parameter("i", 0, Aval((), dtypes.int64))
            body = self._function(("i", "carry"), (i, parameters), carried)
            carries = self._call("fori_loop", (0, self.count, body, carry), {}, like)
            stacked = carries
        replaced: dict[Node, Operand] = {}
        for n, i in enumerate(needed):
            aval = self._body[i].aval
            assert aval is not None
            column = self._item(stacked, n, Aval((self.count, *aval.shape), aval.dtype))
            for step, node in enumerate(self._calls[i :: self.period]):
                if node in used:
                    replaced[node] = self._op("getitem", (column, step), node.aval)
        for i, n in finals.items():
            node = self._calls[i - self.period]
            if node in used and node not in replaced:
                replaced[node] = self._item(carries, n, node.aval)
        return self._new, replaced

    def _function(
        self,
        names: tuple[str, ...],
        parameters: tuple[Input | tuple[Input, ...], ...],
        output: Argument,
    ) -> Body:
        calls, inner = _Program(self.program.writer, self._body, output).rolled()
        writer = self.program.writer
        captured = tuple(
            [
                x.name if isinstance(x, Node) else writer.name(n)
                for n, x in zip(names, parameters, strict=True)
            ]
        )
        return Body(writer.name("step"), captured, parameters, calls, substituted(output, inner))

    def _stacked(self, column: list[Operand], parameter: Node, like: Call) -> Node:
        """The values of all steps as one array."""
        aval = parameter.aval
        assert aval is not None
        result = Aval((self.count, *aval.shape), aval.dtype)
        writer = self.program.writer
        if not isinstance(column[0], Node):
            values = np.asarray(column, aval.dtype.name)
        elif all(is_input(node, "constants") for node in column):
            arrays = [ops.to_backend(writer.value_of(node), "numpy") for node in column]
            values = np.stack([np.asarray(x) for x in arrays])
        else:
            return self._op("stack", (column,), result)
        array = ops.to_backend(values, writer.graph.backend)
        return writer.variable("constants", parameter.name, array)

    def _op(self, name: str, args: tuple[Argument, ...], aval: Aval | None) -> Node:
        function = getattr(ops, name)
        return self._added(name, function, f"na.{name}", args, {}, aval)

    def _call(
        self, name: str, args: tuple[Argument, ...], kwargs: dict[str, Argument], like: Call
    ) -> Node:
        return self._added(name, getattr(transforms, name), f"na.{name}", args, kwargs, None)

    def _item(self, of: Node, index: int, aval: Aval | None) -> Node:
        return self._added(of.name, operator.getitem, "getitem", (of, index), {}, aval)

    def _added(
        self,
        name: str,
        target: Callable[..., Nest],
        target_name: str,
        args: tuple[Argument, ...],
        kwargs: dict[str, Argument],
        aval: Aval | None,
    ) -> Node:
        like = self._calls[0]
        node = Call(
            name=self.program.writer.name(name),
            target=target,
            target_name=target_name,
            args=args,
            kwargs=kwargs,
            aval=aval,
            module=like.module,
            line=like.line,
        )
        self._new.append(node)
        return node


def _filled(node: Call, leaves: list[Argument]) -> tuple[tuple[Argument, ...], dict[str, Argument]]:
    """The arguments of a call with other leaves."""
    values = iter(leaves)
    return map_leaves(lambda _: next(values), (node.args, node.kwargs))


def _is_same(x: object, y: object) -> bool:
    return x is y if isinstance(x, Node) else type(x) is type(y) and repr(x) == repr(y)
