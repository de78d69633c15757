"""The interface of importers: a request, its result, and the importers by framework.

An importer reads the models of one framework. `trace_graph` and `check` ask each importer in
turn whether it accepts a source; this inspects the source, and imports no framework and runs no code
of the user. The files that read sources of a framework import it; their first source imports them.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from nestarray import backends, tree
from nestarray.errors import ArgumentError
from nestarray.graph.graph import Graph
from nestarray.importers.coverage import Operation
from nestarray.importers.size_spec import SizeSpec


@dataclass
class Request:
    """A call of `nestarray.trace_graph`.

    Attributes:
        source: the model or function.
        args, kwargs: the example.
        train: whether to trace the training behaviour.
        sizes: the sizes of the inputs to leave open.
        islands: whether unsupported operations may stay in the source's framework.
        guards: ``"raise"`` or ``"ignore"``: whether calls check values that recorded code has read.
        framework: the importer that reads the source; empty if its type, the arrays of the example
            and the names in its code decide.
    """

    source: Any
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    train: bool = False
    sizes: SizeSpec = field(default_factory=SizeSpec)
    islands: bool = False
    guards: str = "raise"
    framework: str = ""

    @cached_property
    def frameworks(self) -> set[str]:
        """The frameworks of the arrays of the example."""
        leaves = tree.leaves((self.args, self.kwargs))
        return {name for x in leaves if (name := backends.backend_of_value(x)) is not None}

    @property
    def name(self) -> str:
        """The name of the source, for messages."""
        return getattr(self.source, "__name__", type(self.source).__name__)


@dataclass
class Imported:
    """The result of an importer.

    Attributes:
        framework: whose program was read.
        name: name of the source.
        operations: each operation of the source, and its replacement.
        graph: the graph; None if an operation is unsupported.
        dtypes: (dtype, place) of each array of the source.
    """

    framework: str
    name: str
    operations: list[Operation]
    graph: Graph | None
    dtypes: list[tuple[Any, str]] = field(default_factory=list)


class Importer:
    """Reads the models of one framework, and functions of its arrays."""

    framework: str

    def accepts(self, request: Request) -> bool:
        """Whether the source is of this framework; inspects it, and runs none of its code.

        The code of a function is searched only if the request names no framework.
        """
        raise NotImplementedError

    def keywords(self, source: Any) -> frozenset[str]:
        """The keyword arguments of `trace_graph` that are not arguments of the source."""
        return frozenset()

    def read(self, request: Request) -> Imported:
        """Trace the source, by ``importers/<framework>/importer.py``.

        Raises:
            ConversionError: the source cannot be traced.
        """
        backends.core(self.framework)  # an error if it is not installed
        module = importlib.import_module(f"nestarray.importers.{self.framework}.importer")
        return module.read(request)


#: The importers in the order in which they are asked; the last ones accept any function.
_IMPORTERS: list[Importer] = []


def register(importer: Importer, *, last: bool = False) -> None:
    """Add an importer.

    Args:
        importer: the importer; it is asked before those that are registered already.
        last: ask it after the others.
    """
    _IMPORTERS.insert(len(_IMPORTERS) if last else 0, importer)


def importer_of(request: Request) -> Importer | None:
    """The importer that accepts a source; None if there is none.

    Raises:
        ArgumentError: the request names a framework, and the source is of another one.
    """
    asked = [each for each in _IMPORTERS if request.framework in ("", each.framework)]
    importer = next((each for each in asked if each.accepts(request)), None)
    if importer is None and request.framework:
        known = sorted({each.framework for each in _IMPORTERS})
        expected = f"the framework of {request.name} and of the arrays of its example"
        raise ArgumentError(
            f"trace_graph: framework: got {request.framework!r}, expected "
            f"{expected if asked else ', '.join(map(repr, known))}"
        )
    return importer


class NoTrainingMode(ArgumentError):
    """The training behaviour of a source that has one behaviour, such as a function."""


def training_of_function() -> NoTrainingMode:
    """The error for the training behaviour of a function."""
    return NoTrainingMode(
        "trace_graph: train=True is for modules; trace the function that trains: "
        "na.trace_graph(lambda x: fn(x, train=True), x)"
    )
