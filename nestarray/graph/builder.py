"""`GraphBuilder`: the nodes of one graph, in the order in which they are made.

Importers, the recorder and `lower` build graphs with it. It gives unique names, holds the
arrays of variables and constants, collects the calls of loop and branch bodies apart from
those around them, and leaves out calls, constants and keys that nothing returned uses.
"""

from __future__ import annotations

import contextlib
import operator
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from nestarray import dtypes
from nestarray.container import Container
from nestarray.graph.assumptions import Assumption
from nestarray.graph.binding import argument_names, name_inputs
from nestarray.graph.codegen import valid_name
from nestarray.graph.graph import Graph, SourceNames
from nestarray.graph.node import (
    Argument,
    Aval,
    Body,
    Call,
    Function,
    Input,
    Node,
    is_input,
    live_nodes,
    reached,
)
from nestarray.graph.sizes import Sizes
from nestarray.typing import Array, Nest

if TYPE_CHECKING:
    from nestarray.proof.source import Source


class Place(NamedTuple):
    """The source of a call: the path of the module, and the line ``"file.py:12"``."""

    module: str = ""
    line: str = ""

    def __str__(self) -> str:
        return ", ".join(part for part in self if part)


NOWHERE = Place()


def line_name(filename: str, line: int | str) -> str:
    """``"file.py:12"``, or ``"In[3]:12"`` for a line of a notebook's cell."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    cell = shell.compile.format_code_name(filename) if shell is not None else None
    return f"{cell[1] if cell is not None else PurePath(filename).name}:{line}"


class GraphBuilder:
    """Builds one graph.

    Args:
        name: name of the graph.
        backend: the framework of its variables.
        train: whether it is the training behaviour.

    Attributes:
        taken: the names that nodes have.
        values: ``"v"``, ``"s"`` or ``"constants"`` → path → array.
        ended: the nodes of bodies that are finished.
        place: the place of calls that are added without one.
    """

    def __init__(self, name: str, backend: str = "", *, train: bool = False) -> None:
        self.name, self.backend, self.train = name, backend, train
        self.taken: set[str] = set()
        self.values: dict[str, dict[str, Array]] = {"v": {}, "s": {}, "constants": {}}
        self.ended: set[Node] = set()
        self.place = NOWHERE
        self._variables: dict[tuple[str, str], Input] = {}
        self._scopes: list[list[Node]] = [[]]
        self._signature: tuple[tuple[Argument, ...], dict[str, Argument]] = ((), {})

    @property
    def nodes(self) -> list[Node]:
        """The nodes of the innermost body that is being built."""
        return self._scopes[-1]

    @property
    def depth(self) -> int:
        """The number of open bodies, with the graph itself."""
        return len(self._scopes)

    # -- inputs ----------------------------------------------------------------------------

    def argument(self, name: str, aval: Aval | None) -> Input:
        """Add an argument; `sign` gives its final name."""
        node = Input(name=name, source="x", path=name, aval=aval)
        self._scopes[0].append(node)
        return node

    def variable(
        self, kind: str, path: str, value: Array, *, name: str = "", aval: Aval | None = None
    ) -> Input:
        """Add a variable or a constant; tied variables are calls with one path.

        Args:
            kind: ``"v"``, ``"s"`` or ``"constants"``.
            path: its path in that Container.
            value: its array.
            name: of the node; by default made of `path`.
            aval: shape and dtype; by default taken from `value`.
        """
        known = self._variables.get((kind, path))
        if known is None:
            self.values[kind][path] = value
            known = self._variables[kind, path] = Input(
                name=valid_name(name or path, self.taken),
                source=kind,
                path=path,
                aval=aval_of(value) if aval is None else aval,
            )
            self._scopes[0].append(known)
        return known

    def key(self) -> Input:
        """Add the random key of a call of the graph."""
        node = Input(name="key", source="key", path="key")
        self._scopes[0].append(node)
        return node

    def sign(
        self, function: Function, args: Sequence[Argument], kwargs: Mapping[str, Argument]
    ) -> None:
        """Set the signature of the graph, and name its arguments.

        Args:
            function: the source, whose parameters give the names.
            args, kwargs: nests of arguments and constants, as the source is called.
        """
        names = argument_names(function, len(args))
        name_inputs([*zip(names, args, strict=True), *kwargs.items()], self.taken)
        self._signature = tuple(args), dict(kwargs)

    # -- calls -----------------------------------------------------------------------------

    def call(
        self,
        name: str,
        target: Function,
        target_name: str,
        args: Sequence[Argument] = (),
        kwargs: Mapping[str, Argument] | None = None,
        *,
        aval: Aval | None = None,
        place: Place | None = None,
        origin: str = "",
        is_random: bool = False,
    ) -> Call:
        """Add a call.

        Args:
            name: of the value; made unique.
            target: an importable function.
            target_name: its printed name.
            args, kwargs: nests of Nodes, Bodies and constants.
            aval: shape and dtype; None where the value is not one array.
            place: the module and the line of the source; by default the builder's current place.
            origin: name of the source's operation.
            is_random: whether the call takes a random key.
        """
        place = self.place if place is None else place
        node = Call(
            name=valid_name(name, self.taken),
            target=target,
            target_name=target_name,
            args=tuple(args),
            kwargs=dict(kwargs or {}),
            aval=aval,
            is_random=is_random,
            module=place.module,
            line=place.line,
            origin=origin,
        )
        self.nodes.append(node)
        return node

    def item(self, of: Node, index: Argument, name: str = "", *, aval: Aval | None = None) -> Call:
        """Add a call that takes one of several results."""
        name, place, origin = name or f"{of.name}_{index}", NOWHERE, ""
        if isinstance(of, Call):
            place, origin = Place(of.module, of.line), of.origin
        return self.call(
            name, operator.getitem, "getitem", (of, index), aval=aval, place=place, origin=origin
        )

    @contextlib.contextmanager
    def body(
        self, name: str, parameters: Mapping[str, Aval | Sequence[Aval | None] | None]
    ) -> Iterator[Body]:
        """Collect the calls of a function that a loop or a choice takes.

        The context sets ``output`` of the Body; calls that it does not use are left out.

        Args:
            name: printed name of the function.
            parameters: name → shape and dtype, or a list of them for a tuple of arrays.
        """
        self._scopes.append([])
        try:
            names, nodes = [], []
            for label, avals in parameters.items():
                if isinstance(avals, Sequence):
                    row = [self._parameter(f"{label}_{i}", aval) for i, aval in enumerate(avals)]
                    names.append(valid_name(label, self.taken))
                    nodes.append(tuple(row))
                else:
                    nodes.append(self._parameter(label, avals))
                    names.append(nodes[-1].name)
            body = Body("", tuple(names), tuple(nodes), [], None)
            yield body
        finally:
            made = self._scopes.pop()
            self.ended.update(made)
        used = reached(made, body.output)
        body.nodes = [node for node in made if isinstance(node, Call) and node in used]
        body.name = valid_name(name, self.taken)

    def _parameter(self, name: str, aval: Aval | None) -> Input:
        node = Input(name=valid_name(name, self.taken), source="body", aval=aval)
        self.nodes.append(node)
        return node

    # -- the graph -------------------------------------------------------------------------

    def program(
        self, output: Argument, updates: Mapping[str, Node], assumptions: Sequence[Assumption] = ()
    ) -> dict[str, object]:
        """The fields of a Graph that calls decide: its nodes, results and constants."""
        nodes = live_nodes(self._scopes[0], (output, updates, assumptions))
        known = self.values["constants"]
        used = {n.path: known[n.path] for n in nodes if is_input(n, "constants")}
        return {
            "nodes": nodes,
            "output": output,
            "state_updates": dict(updates),
            "assumptions": tuple(assumptions),
            "constants": Container.from_flat_dict(used),
        }

    def finish(
        self,
        output: Argument,
        updates: Mapping[str, Node] | None = None,
        source: Source | None = None,
        sizes: Sizes | None = None,
        assumptions: Sequence[Assumption] = (),
        **fields: object,
    ) -> Graph:
        """The graph.

        Args:
            output: nest of Nodes and constants.
            updates: path in the state → Node of its new value.
            source: the `Source` that `Graph.verify` compares with.
            sizes: the names of open sizes.
            assumptions: the values that the source's code read.
            **fields: further fields of `Graph`, such as `source_names`.
        """
        given = {
            "v": Container.from_flat_dict(self.values["v"]),
            "s": Container.from_flat_dict(self.values["s"]),
            "source_names": SourceNames(),
            **self.program(output, updates or {}, assumptions),
            **fields,
        }
        return Graph(
            name=self.name,
            backend=self.backend,
            train=self.train,
            signature=self._signature,
            reference=source,
            sizes=sizes or Sizes(),
            **given,
        )


def aval_of(value: Array) -> Aval:
    """Shape and dtype of an array."""
    return Aval(tuple([int(n) for n in value.shape]), dtypes.dtype_of(value))


def plain(nest: Nest) -> Nest:
    """A nest of builtins: Containers and named tuples become mappings."""
    if isinstance(nest, Container):
        return nest.to_dict()
    if isinstance(nest, Mapping):
        return {key: plain(item) for key, item in nest.items()}
    if hasattr(nest, "_fields"):
        return {name: plain(getattr(nest, name)) for name in nest._fields}
    if isinstance(nest, (list, tuple)):
        return type(nest)([plain(item) for item in nest])
    return nest
