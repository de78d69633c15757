"""A graph as nested groups of boxes: modules, loops and branches around their calls.

A group is one call of a module. A module that runs twice, such as a shared activation, makes two
groups; a single group would depend on itself. Parameters, state and constants have no boxes: the
box that reads them lists them. Everything is numbers and text, so it can be written as JSON.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from nestarray.container.leaf import itemsize, size
from nestarray.errors import ArgumentError
from nestarray.graph.codegen import call_text
from nestarray.graph.graph import Graph
from nestarray.graph.node import (
    Argument,
    Aval,
    Body,
    Call,
    Input,
    Node,
    bodies,
    is_input,
    iter_nodes,
    map_leaves,
)

if TYPE_CHECKING:
    from nestarray.proof.report import Report

_VARIABLES = ("v", "s", "constants")
#: More arguments than this are a group.
_MANY_ARGUMENTS = 8


@dataclasses.dataclass
class Variable:
    """A parameter, state array or constant that a box reads."""

    source: str
    path: str
    type: str
    size: int
    bytes: int


@dataclasses.dataclass
class Box:
    """One call, argument or result.

    Attributes:
        name: the variable that holds the value in the printed program.
        op: the function as printed; ``"input"``, ``"output"`` for others.
        group: number of the group around it.
        label: the module that consists of this call only.
        type: dtype and shape of the value.
        call: the printed call.
        module, line, origin: as in `Node`.
        inputs: numbers of the boxes that it reads.
        variables: the parameters, state arrays and constants that it reads.
        writes: the state array whose new value it is.
        is_random: whether it draws random numbers.
        error: the comparison with the source, from a report.
    """

    name: str
    op: str
    group: int
    label: str = ""
    type: str = ""
    call: str = ""
    module: str = ""
    line: str = ""
    origin: str = ""
    inputs: list[int] = dataclasses.field(default_factory=list)
    variables: list[Variable] = dataclasses.field(default_factory=list)
    writes: str = ""
    is_random: bool = False
    error: dict[str, object] | None = None


@dataclasses.dataclass
class Group:
    """A module, the body of a loop or branch, or the call that has such bodies.

    Attributes:
        name: as shown: the last parts of the path, or the name of the body.
        path: of the module.
        parent: number of the group around it; -1 for the model.
        kind: ``"module"``, ``"body"``, ``"call"`` or ``"arguments"``.
        box: for a call, the number of its box, which is not drawn itself.
    """

    name: str
    path: str
    parent: int
    kind: str
    box: int = -1


@dataclasses.dataclass
class Diagram:
    """The boxes and groups of a graph, in the order of execution.

    Attributes:
        name: class name of the source.
        heading: backend and mode.
        groups, boxes: a group comes after the group around it, a box after those that it reads.
        notes: about the report.
        differs: whether the report found differences.
        first_difference: number of the box that the report names; -1 without one.
    """

    name: str
    heading: str
    groups: list[Group]
    boxes: list[Box]
    notes: list[str] = dataclasses.field(default_factory=list)
    differs: bool = False
    first_difference: int = -1

    def to_dict(self) -> dict[str, object]:
        """Everything as builtins, without empty values, for JSON."""
        return {
            "name": self.name,
            "heading": self.heading,
            "notes": self.notes,
            "differs": self.differs,
            "firstDifference": self.first_difference,
            "groups": [dataclasses.asdict(group) for group in self.groups],
            "boxes": [
                {name: value for name, value in dataclasses.asdict(box).items() if value != ""}
                for box in self.boxes
            ],
        }


def diagram(graph: Graph, report: Report | None = None) -> Diagram:
    """The boxes and groups of `graph`, with the errors that `report` has.

    Args:
        graph: the graph.
        report: the result of `Graph.verify` of this graph.

    Raises:
        ArgumentError: the report is of another graph.
    """
    drawing = _Drawing(graph)
    heading = f"{graph.backend}, {'train' if graph.train else 'eval'}"
    whole = Diagram(graph.name, heading, drawing.groups, drawing.boxes)
    if report is not None:
        numbers = {node.name: drawing.numbers[node] for node in graph.calls}
        _add_errors(whole, numbers, report)
    return whole


class _Drawing:
    """The groups and boxes of a graph, filled call by call."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.groups = [Group(graph.name, "", -1, "module")]
        self.boxes: list[Box] = []
        self.numbers: dict[Node, int] = {}
        self.latest: dict[tuple[int, str], int] = {}  # (group, name) → its last inner group
        self.around = [1]  # for each group, the bits of itself and the groups around it
        self.reached: list[int] = []  # for each box, the bits of the groups that it depends on
        self.updates = {node: path for path, node in graph.state_updates.items()}
        inputs = [node for node in graph.nodes if isinstance(node, Input)]
        self._arguments([node for node in inputs if node.source not in _VARIABLES], 0)
        self._calls(graph.calls, 0, ())
        self._result("output", 0, (graph.output,))
        self._simplify()

    def _calls(self, nodes: Iterable[Call], outer: int, outer_path: tuple[str, ...]) -> None:
        """Add calls to the group `outer`, which is in the module `outer_path`."""
        for node in nodes:
            path = _keys(node.module)
            inner = path[len(outer_path) :] if path[: len(outer_path)] == outer_path else path
            used = self._used((node.args, node.kwargs))
            group = self._group(outer, inner, "/" if "/" in node.module else ".", used)
            direct = self._used(map_leaves(_without_bodies, (node.args, node.kwargs)))
            box = Box(
                name=node.name,
                op=node.target_name,
                group=group,
                type=_type(node.aval),
                call=call_text(self.graph, node),
                module=node.module,
                line=node.line,
                origin=node.origin,
                inputs=direct,
                variables=self._variables((node.args, node.kwargs)),
                writes=self.updates.get(node, ""),
                is_random=node.is_random,
            )
            self._add(node, box, used)
            self._bodies(node, group, path)

    def _bodies(self, node: Call, group: int, path: tuple[str, ...]) -> None:
        functions = [*bodies(node.args), *bodies(list(node.kwargs.values()))]
        if not functions:
            return
        name = node.target_name.rpartition(".")[2]
        around = self._new_group(group, name, node.module, "call")
        self.groups[around].box = self.numbers[node]
        for body in functions:
            inner = self._new_group(around, body.name, node.module, "body")
            self._arguments([*iter_nodes(body.parameters)], inner)
            self._calls(body.nodes, inner, path)
            self._result("return", inner, (body.output,))

    def _arguments(self, nodes: Sequence[Node], group: int) -> None:
        """Add arguments; many of them, such as parameters of a JAX function, are one group."""
        if len(nodes) > _MANY_ARGUMENTS:
            group = self._new_group(group, "arguments", "", "arguments")
        for node in nodes:
            self._add(node, Box(node.name, "input", group, type=_type(node.aval)))

    def _result(self, op: str, group: int, output: object) -> None:
        used = self._used(output)
        types = dict.fromkeys(self.boxes[number].type for number in used)
        box = Box(
            name=op,
            op=op,
            group=group,
            type=", ".join(filter(None, types)),
            inputs=used,
            variables=self._variables(output),
        )
        self._append(box, used)

    def _used(self, value: object) -> list[int]:
        """The numbers of the boxes in a nest of arguments."""
        return list({self.numbers[n]: 0 for n in iter_nodes(value) if n in self.numbers})

    def _variables(self, value: object) -> list[Variable]:
        variables = []
        for node in dict.fromkeys(n for n in iter_nodes(value) if is_input(n, *_VARIABLES)):
            leaf = getattr(self.graph, node.source)[node.path]
            count = size(leaf)
            variables.append(
                Variable(node.source, node.path, _type(node.aval), count, count * itemsize(leaf))
            )
        return variables

    def _add(self, node: Node, box: Box, used: Sequence[int] = ()) -> None:
        self.numbers[node] = len(self.boxes)
        self._append(box, used)

    def _append(self, box: Box, used: Sequence[int]) -> None:
        reached = 0
        for number in used:
            reached |= self.reached[number] | self.around[self.boxes[number].group]
        self.boxes.append(box)
        self.reached.append(reached)

    def _group(
        self, outer: int, names: tuple[str, ...], separator: str, used: Sequence[int]
    ) -> int:
        """The group for a call inside of modules `names`, a new one where a module runs again."""
        for name in names:
            group = self.latest.get((outer, name))
            if group is None or self._runs_again(group, used):
                parent = self.groups[outer].path
                path = f"{parent}{separator}{name}" if parent else name
                group = self._new_group(outer, name, path, "module")
                self.latest[outer, name] = group
            outer = group
        return outer

    def _runs_again(self, group: int, used: Sequence[int]) -> bool:
        """Whether an argument from outside of the group depends on the group."""
        bit = 1 << group
        return any(
            self.reached[number] & bit and not self.around[self.boxes[number].group] & bit
            for number in used
        )

    def _new_group(self, parent: int, name: str, path: str, kind: str) -> int:
        number = len(self.groups)
        self.groups.append(Group(name, path, parent, kind))
        self.around.append(self.around[parent] | 1 << number)
        return number

    def _simplify(self) -> None:
        """Leave out modules around a single call, and join those around a single module.

        The call is labelled with the module's name, and the inner module is ``layer.0``.
        """
        boxes: list[list[Box]] = [[] for _ in self.groups]
        inner: list[list[int]] = [[] for _ in self.groups]
        for box in self.boxes:
            boxes[box.group].append(box)
        for number, group in enumerate(self.groups[1:], 1):
            inner[group.parent].append(number)
        removed = set()
        for number in reversed(range(1, len(self.groups))):
            group = self.groups[number]
            if group.kind != "module" or len(boxes[number]) + len(inner[number]) != 1:
                continue
            parent = group.parent
            if boxes[number]:
                (box,) = boxes[number]
                box.label = f"{group.name}.{box.label}" if box.label else group.name
                box.group = parent
                boxes[parent].append(box)
            elif self.groups[inner[number][0]].kind == "module":
                (only,) = inner[number]
                self.groups[only].name = f"{group.name}.{self.groups[only].name}"
                self.groups[only].parent = parent
                inner[parent].append(only)
            else:
                continue
            inner[parent].remove(number)
            removed.add(number)
        numbers = [number for number in range(len(self.groups)) if number not in removed]
        new = {old: position for position, old in enumerate(numbers)} | {-1: -1}
        self.groups = [self.groups[number] for number in numbers]
        for item in self.groups:
            item.parent = new[item.parent]
        for box in self.boxes:
            box.group = new[box.group]


def _keys(module: str) -> tuple[str, ...]:
    """The keys of a module path: ``h.0.attn`` of PyTorch, ``M/Dense_0`` of Linen.

    Scopes in JAX may have any name, such as ``...ij,...jk``.
    """
    if "/" in module:
        return tuple(filter(None, module.split("/")))
    return tuple(module.split(".")) if all(module.split(".")) else (module,) if module else ()


def _without_bodies(leaf: Argument) -> Argument:
    return None if isinstance(leaf, Body) else leaf


def _type(aval: Aval | None) -> str:
    return "" if aval is None else str(aval)


def _add_errors(whole: Diagram, numbers: dict[str, int], report: Report) -> None:
    """Give the boxes the comparisons of a report, by the names of calls."""
    first = report.first_divergence
    for row in report.nodes:
        name = row.name.partition(":")[0]  # a difference of shapes follows
        if name not in numbers:
            raise ArgumentError(
                f"Graph.show: report: got the report of another graph of {report.name}, with the "
                f"call {name!r}; expected graph.verify() of the graph that is shown"
            )
        whole.boxes[numbers[name]].error = {**row.to_dict(), "text": str(row)}
        if row is first:
            whole.first_difference = numbers[name]
    whole.differs = not report.ok
    whole.notes.append(f"{'agrees with' if report.ok else 'differs from'} the source")
    if not report.nodes:
        whole.notes.append("calls were not compared; graph.verify(nodes=True) compares each")
