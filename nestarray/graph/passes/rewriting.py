"""Read a graph call by call and write a new one: the common part of the passes.

A peephole pass is a list of `Rule`: each is a pair of functions, the pattern and the replacement.
The docstring of a replacement shows a graph before and after, which the tests run.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import operator
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TypeGuard

from nestarray import dtypes
from nestarray.container import Container
from nestarray.dispatch import OPS, Op
from nestarray.graph.codegen import valid_name
from nestarray.graph.derived import derived_source
from nestarray.graph.graph import Graph
from nestarray.graph.node import (
    Argument,
    Aval,
    Body,
    Call,
    Input,
    Node,
    Operand,
    is_input,
    is_variable,
    iter_nodes,
    map_leaves,
    names_of,
    reached,
    substituted,
)
from nestarray.traits import Trait
from nestarray.typing import Array

#: Maps (writer, call with its new arguments) to the new node of its value, or None to keep it.
Rewrite = Callable[["Writer", Call], "Argument"]


@dataclasses.dataclass(frozen=True)
class Rule:
    """Calls that a pattern finds become calls of a replacement.

    Attributes:
        pattern: maps (writer, call) to the arguments of `replacement`; None where the rule does not
            apply. It decides by ops, shapes and dtypes, and writes no calls.
        replacement: maps (writer, call, *arguments) to the new value, whose calls it writes; None
            keeps the call.
    """

    pattern: Callable[[Writer, Call], tuple[object, ...] | None]
    replacement: Callable[..., Argument]

    def __call__(self, writer: Writer, node: Call) -> Argument:
        """The new value of a call; None to keep it."""
        arguments = self.pattern(writer, node)
        return None if arguments is None else self.replacement(writer, node, *arguments)


def op_name(node: object) -> str:
    """The name of the op that a node calls; empty for other nodes, and for numbers."""
    record = _record(node)
    return "" if record is None else record.name


def _record(node: object) -> Op | None:
    return getattr(node.target, "op", None) if isinstance(node, Call) else None


def is_op(node: object, *names: str) -> TypeGuard[Call]:
    """Whether a call is of an op of one of these names."""
    return op_name(node) in names


def has(node: object, trait: Trait) -> TypeGuard[Call]:
    """Whether a call is of an op with a trait; a reshape in another order than C is no view."""
    record = _record(node)
    if not isinstance(node, Call) or record is None or trait not in record.traits:
        return False
    return trait not in Trait.RESHAPE or node.kwargs.get("order", "C") == "C"


def any_layout(name: str) -> str:
    """The op of which an op is the form with the channels first: ``"conv"`` of conv2d and of conv."""
    forms = [form for form in (name, name[: -len("2d")]) if name in OPS and form in OPS]
    return next((form for form in forms if "data_format" in OPS[form].signature.parameters), "")


def is_arithmetic(node: object) -> bool:
    """Whether a call computes elements from arrays and numbers alone, which broadcast."""
    return has(node, Trait.ELEMENTWISE) and node.target.op.is_of_arrays


def arguments_of(node: Call) -> dict[str, Operand]:
    """The arguments of a call by parameter, with defaults."""
    bound = _signature(node.target).bind(*node.args, **node.kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)


_signature = functools.lru_cache(1024)(inspect.signature)


class Writer:
    """The calls of a new graph, written in order.

    Attributes:
        graph: the graph that is read.
        calls: those written so far, of the innermost function.
        scopes: numbers of the functions that are being written, the graph first.
        stands_for: node of the old graph → node, or number, of the new one.
        values: source (``"v"``, ``"s"``, ``"constants"``) → path → array, of the new graph.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.calls: list[Call] = []
        self.scopes: tuple[int, ...] = (0,)
        self._next_scope = 1
        self.stands_for: dict[Node, Operand] = {}
        self.values: dict[str, dict[str, Array]] = {
            name: dict(getattr(graph, name).flat_items()) for name in ("v", "s", "constants")
        }
        self._taken = names_of(graph.nodes)

    @functools.cached_property
    def uses(self) -> Counter[tuple[str, str]]:
        """How often each value of the graph is read, by `place_of`."""
        return count_uses(self.graph)

    def is_read_once(self, node: Node) -> bool:
        """Whether a value has one reader."""
        return self.uses[place_of(node)] == 1

    def value_of(self, node: Input) -> Array:
        """The array of a variable or a constant."""
        return self.values[node.source][node.path]

    def variable(self, source: str, path: str, value: Array) -> Input:
        """A new variable or constant of the graph; `path` gets a number if it is taken."""
        unique, number = path, 1
        while unique in self.values[source] or _is_within(unique, self.values[source]):
            unique, number = f"{path}_{number}", number + 1
        self.values[source][unique] = value
        aval = Aval(tuple(map(int, value.shape)), dtypes.dtype_of(value))
        return Input(name=self.name(unique), source=source, path=unique, aval=aval)

    def name(self, wanted: str) -> str:
        """A name that no node has."""
        return valid_name(wanted, self._taken)

    def call(
        self,
        op: str,
        *args: Argument,
        like: Call,
        aval: Aval | None,
        name: str = "",
        **kwargs: Operand,
    ) -> Call:
        """Write a call of an op.

        Args:
            op: its name.
            *args, **kwargs: its arguments, of nodes of the new graph.
            like: the node whose place in the source the call has.
            aval: shape and dtype of the value; None for a tuple, and for a size.
            name: of the value; by default a new one.
        """
        node = Call(
            name=name or self.name(op),
            target=OPS[op].function,
            target_name=f"na.{op}",
            args=args,
            kwargs=kwargs,
            aval=aval,
            module=like.module,
            line=like.line,
            origin=like.origin,
        )
        self.calls.append(node)
        return node

    def item(
        self, node: Node, index: int, *, like: Call, aval: Aval | None, name: str = ""
    ) -> Call:
        """Write the access to one of several results of a call."""
        found = Call(
            name=name or self.name(f"{node.name}_{index}"),
            target=operator.getitem,
            target_name="getitem",
            args=(node, index),
            aval=aval,
            module=like.module,
            line=like.line,
        )
        self.calls.append(found)
        return found

    @contextlib.contextmanager
    def scope(self) -> Iterator[list[Call]]:
        """Collect the calls of a function apart from those around it."""
        calls, scopes = self.calls, self.scopes
        self.calls, self.scopes = [], (*scopes, self._next_scope)
        self._next_scope += 1
        yield self.calls
        self.calls, self.scopes = calls, scopes

    def finish(self, *, drop_unused: bool = False) -> Graph:
        """The new graph, without calls, constants and keys that nothing uses.

        Args:
            drop_unused: leave out variables too that were used and are not any more.
        """
        graph = self.graph
        results = substituted(graph.results, self.stands_for)
        output, updates, assumptions = results
        used: dict[Node, None] = dict.fromkeys(iter_nodes(results))
        for node in reversed(self.calls):
            if node in used:
                used.update(dict.fromkeys(iter_nodes((node.args, node.kwargs))))
        before = _used_variables(graph.calls)
        now = _used_variables([*self.calls], only=used) | {
            place_of(n) for n in used if isinstance(n, Input)
        }
        gone = before - now if drop_unused else set()
        inputs: dict[tuple[str, str], Input] = {}
        for node in (*graph.nodes, *reversed(used)):
            if not isinstance(node, Input) or place_of(node) in gone:
                continue
            if node in used or node.source in ("x", "v", "s"):
                inputs[place_of(node) if node.source != "x" else ("x", node.name)] = node
        kept = {
            name: {p: x for p, x in self.values[name].items() if self._is_kept(name, p, inputs)}
            for name in self.values
        }
        made = {name: _container(getattr(graph, name), kept[name]) for name in kept}
        is_folded = made["v"] is not graph.v or made["s"] is not graph.s
        return graph.replace(
            nodes=[*inputs.values(), *(node for node in self.calls if node in used)],
            output=output,
            state_updates=updates,
            assumptions=assumptions,
            reference=derived_source(graph, is_folded=is_folded),
            **made,
        )

    def _is_kept(self, name: str, path: str, inputs: dict[tuple[str, str], Input]) -> bool:
        if (name, path) in inputs:
            return True
        had = any(is_input(n, name) and n.path == path for n in self.graph.nodes)
        return path in getattr(self.graph, name) and not had  # one that no node names


def place_of(node: Node) -> tuple[str, str]:
    """The identity of a node across graphs that passes derive from one another."""
    return (node.source, node.path) if isinstance(node, Input) else ("call", node.name)


def count_uses(graph: Graph) -> Counter[tuple[str, str]]:
    """How often each value is read, also in the functions of loops, by `place_of`."""
    read: list[Node] = []

    def note(leaf: Argument) -> None:
        if isinstance(leaf, Node):
            read.append(leaf)
        elif isinstance(leaf, Body):
            map_leaves(note, [leaf.output, [(node.args, node.kwargs) for node in leaf.nodes]])

    map_leaves(note, [graph.results, [(node.args, node.kwargs) for node in graph.calls]])
    return Counter(map(place_of, read))


def _used_variables(
    calls: Iterable[Call], only: Collection[Node] | None = None
) -> set[tuple[str, str]]:
    return {
        place_of(used)
        for node in calls
        if only is None or node in only
        for used in iter_nodes((node.args, node.kwargs))
        if is_variable(used)
    }


def _is_within(path: str, paths: Iterable[str]) -> bool:
    return any(p.startswith(f"{path}/") or path.startswith(f"{p}/") for p in paths)


def _container(before: Container, leaves: dict[str, Array]) -> Container:
    """`before` with these leaves; their nodes stay of the kind that they were."""
    after = before
    for path, leaf in before.flat_items():
        if path not in leaves:
            after = after.delete(path)
        elif leaves[path] is not leaf:
            after = after.set(path, leaves[path])
    for path, leaf in leaves.items():
        if path not in before:
            after = after.set(path, leaf)
    return after


def rewrite(
    graph: Graph, *rules: Rewrite, drop_unused: bool = False, in_bodies: bool = False
) -> Graph:
    """The graph with each call replaced by the value that the first rule gives, if one does.

    Args:
        graph: the graph; it is not changed.
        *rules: pairs, or functions of (writer, call).
        drop_unused: leave out variables that were used and are not any more.
        in_bodies: also replace the calls in the functions of loops, choices and custom derivatives.
    """
    writer = Writer(graph)
    _rewrite(writer, graph.calls, rules, in_bodies)
    return writer.finish(drop_unused=drop_unused)


def _rewrite(
    writer: Writer, calls: Iterable[Call], rules: Sequence[Rewrite], in_bodies: bool
) -> None:
    def of_leaf(leaf: Argument) -> Argument:
        if isinstance(leaf, Body) and in_bodies:
            return _rewritten(writer, leaf, rules)
        return substituted(leaf, writer.stands_for)

    for old in calls:
        args, kwargs = map_leaves(of_leaf, (old.args, old.kwargs))
        same = args == old.args and kwargs == old.kwargs
        node = old if same else dataclasses.replace(old, args=args, kwargs=kwargs)
        value = next((x for x in (rule(writer, node) for rule in rules) if x is not None), None)
        if value is None:
            writer.calls.append(node)
            value = node
        if value is not old:
            writer.stands_for[old] = value


def _rewritten(writer: Writer, body: Body, rules: Sequence[Rewrite]) -> Body:
    """A body with each call replaced, without those that it does not use; itself if it is equal."""
    with writer.scope() as calls:
        _rewrite(writer, body.nodes, rules, in_bodies=True)
    output = substituted(body.output, writer.stands_for)
    used = reached(calls, output)
    nodes = [node for node in calls if node in used]
    is_equal = nodes == body.nodes and output == body.output
    return body if is_equal else dataclasses.replace(body, nodes=nodes, output=output)
