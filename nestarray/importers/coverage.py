"""The operations of a source, and the report of those that have no replacement."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Iterable, Sequence

from nestarray.errors import MissingOpError
from nestarray.graph.builder import Place
from nestarray.graph.graph import Graph
from nestarray.graph.node import Call


@dataclasses.dataclass(frozen=True)
class Operation:
    """One operation of a source, and its replacement in the graph.

    Attributes:
        name: as the source's framework calls it, ``"aten.linear.default"``.
        status: ``"function"``, ``"decomposed"``, ``"island"``, ``"missing"``, or ``"dropped"`` (no
            effect on the results).
        becomes: the function; for a decomposed operation, the functions of its parts.
        places: (module path, source line) of each call.
        reason: why it is missing.
    """

    name: str
    status: str
    becomes: str
    places: tuple[Place, ...]
    reason: str = ""

    @property
    def count(self) -> int:
        """How often it is called."""
        return len(self.places)

    def where(self, most: int = 3) -> str:
        """The first places as words."""
        places = dict.fromkeys(
            ", ".join(part for part in (path and f"module {path!r}", line) if part)
            for path, line in self.places
        )
        shown = [place for place in places if place]
        more = [f"{len(shown) - most} more"] if len(shown) > most else []
        return "; ".join([*shown[:most], *more])


def missing_ops(name: str, operations: Sequence[Operation], framework: str) -> MissingOpError:
    """The error that lists all missing operations of a source."""
    missing = [op for op in operations if op.status == "missing"]
    listed = "\n".join(
        f"  {op.name}{f' ({op.where()})' if op.where() else ''}: {op.reason}" for op in missing
    )
    return MissingOpError(
        f"trace_graph: {name} uses {len(missing)} operation(s) that "
        f"nestarray.frontends.{framework} does not have:\n{listed}\n"
        f"Replace them in the model, add the function to the frontend, or leave them to {framework} "
        "with na.trace_graph(..., islands=True) where that is said above"
    )


def operations_of(calls: Iterable[tuple[tuple[str, str, str, str], Place]]) -> list[Operation]:
    """The operations of a source.

    Args:
        calls: ((name, status, function, why it is missing), place) of each call.
    """
    groups: dict[tuple[str, str, str, str], list[Place]] = {}
    for operation, place in calls:
        groups.setdefault(operation, []).append(place)
    return [
        Operation(name, status, becomes, tuple(places), reason)
        for (name, status, becomes, reason), places in groups.items()
    ]


def operations_in(graph: Graph) -> list[Operation]:
    """The calls of a graph as operations that have a function."""

    def operation(node: Call) -> tuple[str, str, str, str]:
        name = node.target_name
        return node.origin, "island" if name == "na.graph.island" else "function", name, ""

    calls = [node for node in graph.calls if node.target is not operator.getitem]
    return operations_of((operation(node), Place(node.module, node.line)) for node in calls)
