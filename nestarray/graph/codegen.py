"""A Graph as Python: the text that people read is the program that runs."""

from __future__ import annotations

import dataclasses
import keyword
import linecache
import math
import operator
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import TYPE_CHECKING

from nestarray.container import Container
from nestarray.dtypes import DType
from nestarray.frontends import registry
from nestarray.graph.node import (
    Argument,
    Body,
    Call,
    Function,
    Input,
    Node,
    Operand,
    bodies,
    is_variable,
    iter_nodes,
    names_of,
    substituted,
)
from nestarray.typing import Nest

if TYPE_CHECKING:
    from nestarray.graph.graph import Graph

_RESERVED = frozenset(
    [*keyword.kwlist, "na", "v", "s", "constants", "key", "out", "float", "complex", "slice"]
)
_numbers = count()


def is_reserved(name: str) -> bool:
    """Whether a name has a meaning in every program."""
    return name in _RESERVED or registry.is_registered(name)


def valid_name(name: str, taken: set[str]) -> str:
    """`name` as a Python identifier that is in neither `taken` nor reserved; adds it to `taken`."""
    normal = unicodedata.normalize("NFKC", name)  # as Python reads identifiers
    base = "".join(c if f"_{c}".isidentifier() else "_" for c in normal) or "x"
    base = base if base.isidentifier() else f"_{base}"
    unique, number = base, 1
    while unique in taken or is_reserved(unique):
        unique, number = f"{base}_{number}", number + 1
    taken.add(unique)
    return unique


def to_source(graph: Graph, *, comments: bool = True, free: bool = False) -> str:
    """The module text of a graph.

    A program that creates arrays names its backend; others run on the backend of their arguments.

    Args:
        graph: the graph.
        comments: give shape, dtype and source module of each line.
        free: the text for calls of the graph, which choose the backend: each value is dropped
            after its last use.
    """
    parameters = [*(n.name for n in graph.inputs), "*", "v", "s", "constants", "key=None"]
    frontends = frontends_of(graph)
    lines = [
        "import nestarray as na",
        *(f"import {registry.vocabulary(name).namespace} as {name}" for name in frontends),
        "",
        "",
        *(
            []
            if free or not _creates_arrays(graph.calls)
            else [f"@na.use_backend({graph.backend!r})"]
        ),
        f"def graph({', '.join(parameters)}):{_avals(graph.inputs) if comments and not free else ''}",
    ]
    last_use = last_uses(graph) if free else {}
    for node in graph.calls:
        lines += _statement(graph, node, "    ", comments)
        dead = last_use.get(node, ())
        if dead:
            # no `del`, which torch.compile lacks for variables that the functions of calls read
            lines.append(f"    {' = '.join(unused.name for unused in dead)} = None")
    for path, node in graph.state_updates.items():
        lines.append(f"    s = s.set({path!r}, {_value(node)})")
    output = _value(graph.output)
    lines.append(f"    return {output}, s" if graph.returns_state else f"    return {output}")
    return "\n".join(lines) + "\n"


def frontends_of(graph: Graph) -> list[str]:
    """The names of the frontends whose functions a graph calls; none if it is lowered."""
    return sorted(filter(registry.is_registered, _namespaces(graph.calls)))


def _namespaces(nodes: Iterable[Call]) -> set[str]:
    """The first part of the name of every function that is called."""
    names: set[str] = set()
    for node in nodes:
        names.add(node.target_name.partition(".")[0])
        for body in bodies(node.args):
            names |= _namespaces(body.nodes)
    return names


def _creates_arrays(nodes: Iterable[Call]) -> bool:
    """Whether a call has no array among its arguments, as ``zeros`` and ``arange``."""

    def creates(node: Call) -> bool:
        if node.target is operator.getitem or node.target in SYMBOLS:
            return False
        used = iter_nodes((node.args, node.kwargs))
        return all(argument.aval is None for argument in used)

    return any(
        creates(node) or any(_creates_arrays(body.nodes) for body in bodies(node.args))
        for node in nodes
    )


def _statement(graph: Graph, node: Call, indent: str, comments: bool) -> list[str]:
    """The functions that a call takes, and the call."""
    lines: list[str] = []
    for body in bodies(node.args):
        deeper = f"{indent}    "
        lines += [] if lines else [""]
        comment = _avals(body.parameters) if comments else ""
        lines.append(f"{indent}def {body.name}({', '.join(body.names)}):{comment}")
        for name, want in zip(body.names, body.parameters, strict=True):
            if isinstance(want, tuple) and want:
                comment = _avals(want) if comments else ""
                lines.append(f"{deeper}{_value(want)} = {name}{comment}")
        for inner in body.nodes:
            lines += _statement(graph, inner, deeper, comments)
        lines += [f"{deeper}return {_value(body.output)}", ""]
    line = f"{indent}{node.name} = {call_text(graph, node)}"
    return [*lines, line + _comment(graph, node) if comments else line]


def compile_graph(graph: Graph) -> Function:
    """The function that `to_source` describes.

    Its text differs in two ways: values are released after their last use, and the leaves of
    `v`, `s` and `constants` are read first, because a path lookup takes longer than the
    dispatch of an op.
    """
    running, first_lines, namespace = _with_local_variables(graph)
    source = to_source(running, free=True)
    head, signature, body = source.partition("key=None):\n")
    source = "".join([head, signature, *first_lines, body])
    filename = f"<graph {graph.name} {next(_numbers)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    exec(compile(source, filename, "exec"), namespace)  # our own text, from our own nodes
    return namespace["graph"]


def _with_local_variables(graph: Graph) -> tuple[Graph, list[str], dict[str, Function]]:
    """The graph with a name for each variable, the lines that assign them, and what these call."""
    taken = names_of(graph.nodes)
    places: dict[tuple[str, str], Input] = {}
    local: dict[Node, Node] = {}
    used = iter_nodes(([(node.args, node.kwargs) for node in graph.calls], graph.results))
    for node in used:
        if not is_variable(node):
            continue
        place = node.source, node.path
        if place not in places:
            name = valid_name(f"{node.source}_{len(places)}", taken)
            places[place] = Input(name=name, source="local")
        local[node] = places[place]
    lines: list[str] = []
    namespace: dict[str, Function] = {}
    for source in ("v", "s", "constants"):
        paths = {path: node.name for (of, path), node in places.items() if of == source}
        if paths:
            reader = valid_name(f"read_{source}", taken)
            namespace[reader] = _reader(getattr(graph, source), tuple(paths))
            lines.append(f"    [{', '.join(paths.values())}] = {reader}({source})\n")
    if not local:
        return graph, lines, namespace
    stands_for: dict[Node, Operand] = dict(local)
    nodes = []
    for node in graph.nodes:
        if isinstance(node, Call):
            args, kwargs = substituted((node.args, node.kwargs), stands_for)
            stands_for[node] = dataclasses.replace(node, args=args, kwargs=kwargs)
        nodes.append(stands_for.get(node, node))
    output, updates = substituted((graph.output, graph.state_updates), stands_for)
    running = graph.replace(nodes=nodes, output=output, state_updates=updates)
    return running, lines, namespace


def _reader(own: Container, paths: tuple[str, ...]) -> Callable[[Nest], Nest]:
    """A function that gives the leaves at these paths of a Container like `own`."""
    order = {path: i for i, path in enumerate(own.paths())}
    indices = [order[path] for path in paths if path in order]
    has_all = len(indices) == len(paths)
    spec, is_all = own.spec, indices == list(range(len(order)))

    def read(given: Nest) -> Nest:
        if type(given) is not Container or given.spec is not spec or not has_all:
            return [given[path] for path in paths]
        leaves = given.leaves()
        return leaves if is_all else [leaves[i] for i in indices]

    return read


def _avals(nodes: Iterable[object]) -> str:
    """A comment with the shapes and dtypes of names that a line binds; dots for other values."""
    texts = [str(getattr(node, "aval", None) or "...") for node in nodes]
    return "" if {*texts} <= {"..."} else f"  # {', '.join(texts)}"


def _comment(graph: Graph, node: Call) -> str:
    parts = [str(node.aval)] if node.aval is not None else []
    if node.module:
        parts.append(node.module)
    parts += [f"assumed {x.use}: {x.value}" for x in graph.assumptions if x.node is node]
    return f"  # {' · '.join(parts)}" if parts else ""


def call_text(graph: Graph, node: Call) -> str:
    """The call of a node, as the program prints it."""
    if node.target is operator.getitem:
        return f"{_value(node.args[0])}[{_value(node.args[1])}]"
    if node.target in SYMBOLS:
        sign, operands = SYMBOLS[node.target], [_operand(arg) for arg in node.args]
        return (
            f"{operands[0]} {sign} {operands[1]}" if len(operands) == 2 else f"{sign}{operands[0]}"
        )
    namespace = node.target_name.partition(".")[0]
    parts = [_value(arg, namespace) for arg in node.args]
    parts += [f"{name}={_value(value, namespace)}" for name, value in node.kwargs.items()]
    if node.is_random:
        parts.append(f"key=na.random.fold_in(key, {graph.random_numbers[node]})")
    return f"{node.target_name}({', '.join(parts)})"


#: Python's functions of sizes, as Python writes them.
SYMBOLS: dict[Function, str] = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/",
    operator.floordiv: "//", operator.mod: "%", operator.pow: "**", operator.neg: "-",
    operator.eq: "==", operator.ne: "!=", operator.lt: "<", operator.le: "<=",
    operator.gt: ">", operator.ge: ">=", operator.and_: "&", operator.or_: "|",
    operator.not_: "not ", operator.lshift: "<<", operator.rshift: ">>",
}  # fmt: skip


def _operand(value: Argument) -> str:
    text = _value(value)
    return f"({text})" if text.startswith("-") else text


def _value(value: Argument, namespace: str = "na") -> str:
    """`value` as a Python expression, with dtypes as attributes of `namespace`."""
    if isinstance(value, Node):
        return f"{value.source}[{value.path!r}]" if is_variable(value) else value.name
    if isinstance(value, Body):
        return value.name
    if isinstance(value, DType):
        return f"{namespace}.{value.name}"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, complex):
        return f"complex({_value(value.real)}, {_value(value.imag)})"
    if isinstance(value, (list, tuple)):
        items = [_value(item, namespace) for item in value]
        if isinstance(value, list):
            return f"[{', '.join(items)}]"
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    if isinstance(value, slice):
        parts = (_value(part) for part in (value.start, value.stop, value.step))
        return f"slice({', '.join(parts)})"
    if isinstance(value, Mapping):
        inner = ", ".join(f"{key!r}: {_value(item, namespace)}" for key, item in value.items())
        return f"na.Container({{{inner}}})"
    if value is Ellipsis:
        return "..."
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    raise TypeError(f"a graph cannot hold the constant {value!r} of type {type(value).__name__}")


def last_uses(graph: Graph) -> dict[Call, list[Call]]:
    """For each call, the calls whose values nothing after it reads."""
    results = {*iter_nodes((graph.output, graph.state_updates))}
    last: dict[Node, Call] = {}
    for node in graph.calls:
        last[node] = node
        for used in iter_nodes((node.args, node.kwargs)):
            last[used] = node
    dead: dict[Call, list[Call]] = {}
    for used, reader in last.items():
        if isinstance(used, Call) and used not in results:
            dead.setdefault(reader, []).append(used)
    return dead
