"""Graphs as files: JSON text for the program, arrays for the variables.

A file holds a Container of `v`, `s` and `constants` in any format of `Container.save`, and
in its metadata the nodes: names, arguments, and the names of the functions. Reading a
file runs no code of it: functions are looked up by name in `na` and the frontends, and text that
enters the program is checked to be a name.
"""

from __future__ import annotations

import contextlib
import json
import math
import operator
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from nestarray import dtypes, random, transforms
from nestarray.container import Container
from nestarray.dispatch import OPS
from nestarray.dtypes import DType
from nestarray.errors import ConversionError, NestarrayError, StorageError
from nestarray.frontends import registry
from nestarray.graph.assumptions import Assumption
from nestarray.graph.codegen import SYMBOLS, is_reserved
from nestarray.graph.graph import Graph, SourceNames
from nestarray.graph.node import (
    Aval,
    Body,
    Call,
    Function,
    Input,
    Node,
    Operand,
    is_variable,
)
from nestarray.graph.sizes import Sizes
from nestarray.sizes import parse, parse_conditions
from nestarray.storage import metadata
from nestarray.storage.structure import parse_json, reason

#: A value as JSON has it, which `_Decoder` checks.
Json: TypeAlias = Any
Record: TypeAlias = dict[str, Json]
#: The entry of the metadata that holds the program.
ENTRY = "nestarray.graph"
VERSION = 2

#: Functions of `na.transforms` with Bodies among their arguments.
_CONTROL_FLOW = (
    "associative_scan", "call_with_jvp", "call_with_vjp", "cond", "fori_loop", "map", "scan",
    "switch", "while_loop",
)  # fmt: skip
#: Python's functions of sizes.
_OPERATORS = {f"operator.{function.__name__}": function for function in SYMBOLS}
_SOURCES = ("x", "v", "s", "constants", "key", "body")
#: The attributes of a node that are text, by the kind of its record.
_TEXTS = {
    "input": ("name", "source", "path"),
    "call": ("name", "target_name", "module", "line", "origin"),
}


def save(graph: Graph, path: str | os.PathLike[str], *, format: str | None = None) -> None:
    """Write the program and the variables to one file, as JSON text and arrays.

    Args:
        path: the file; its suffix is of any format of `Container.save`, such as
            ``.safetensors``. An existing file is kept if writing fails.
        format: the format, where the suffix does not say it.

    Raises:
        ConversionError: a call is of no function that a file can name (an island).

    Example:
        >>> import tempfile, torch, nestarray as na
        >>> graph = na.trace_graph(torch.nn.Linear(2, 3), torch.ones(4, 2))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     graph.save(f"{folder}/linear.safetensors")
        ...     na.Graph.load(f"{folder}/linear.safetensors", backend="numpy")
        Graph(Linear, numpy, eval: 1 call, 2 parameters, 0 state arrays)
    """
    text = program_text(graph)
    arrays = Container(v=graph.v, s=graph.s, constants=graph.constants)
    with _errors_of("Graph.save"):
        arrays.save(path, format=format, metadata={ENTRY: text})


def program_text(graph: Graph) -> str:
    """Everything of a graph but its arrays, as JSON.

    Raises:
        ConversionError: a call is of no function that a file can name (an island).
    """
    return json.dumps(_Encoder().document(graph), separators=(",", ":"))


def load(
    path: str | os.PathLike[str], *, backend: str | None = None, format: str | None = None
) -> Graph:
    """Read a graph that `save` has written, which has an example; no code in the file is run.

    Functions are looked up by name in `na` and its frontends. The source
    is not in the file, so such a graph cannot be verified.

    Args:
        path: the file.
        backend: where the graph shall run; None: where it ran when it was saved.
        format: the format, where the suffix does not say it.

    Raises:
        StorageError: the file holds no graph, is damaged, or of a later version.
    """
    with _errors_of("Graph.load"):
        text = metadata(path, format=format).get(ENTRY)
    if text is None:
        raise StorageError(
            f"Graph.load: {str(path)!r} holds no graph; read its arrays with na.Container.load(path)"
        )
    where = f"Graph.load: {str(path)!r}"
    fields = _fields_of(text, where)
    backend = backend or str(fields["backend"])
    with _errors_of("Graph.load"):
        arrays = Container.load(path, backend=backend, format=format)
    return _graph(fields, arrays, backend, where)


Graph.load = staticmethod(load)


def graph_of(text: str, arrays: Container | Mapping[str, Container], backend: str) -> Graph:
    """The graph of a `program_text` and the Containers `v`, `s` and `constants`.

    Raises:
        StorageError: the text is damaged, of a later version, or reads an array that is missing.
    """
    return _graph(_fields_of(text, "graph_of"), arrays, backend, "graph_of")


def _fields_of(text: str, where: str) -> Record:
    """The fields of a `Graph`, but for its arrays."""
    try:
        document = parse_json(text)
        version = document["version"]
        fields = _Decoder().graph(document) if version in (1, VERSION) else None
    # whatever a damaged text makes of the code: wrong types, missing keys, deep nesting
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
        raise StorageError(f"{where}: the program in it is damaged ({reason(error)})") from error
    if fields is None:
        raise StorageError(
            f"{where}: its program has the version {version!r}, this nestarray "
            f"reads {VERSION}; upgrade nestarray"
        )
    return fields


def _graph(
    fields: Record, arrays: Container | Mapping[str, Container], backend: str, where: str
) -> Graph:
    variables = {
        name: arrays[name] if name in arrays else Container() for name in ("v", "s", "constants")
    }
    graph = Graph(**{**fields, **variables, "backend": backend})
    for node in graph.nodes:
        if is_variable(node) and node.path not in variables[node.source]:
            raise StorageError(
                f"{where}: the program reads {node.source}[{node.path!r}], which is not in the file"
            )
    return graph


@contextlib.contextmanager
def _errors_of(name: str) -> Iterator[None]:
    """Put the name of the called function into errors about files."""
    try:
        yield
    except NestarrayError as error:
        function, colon, rest = str(error).partition(":")
        if function in ("Container.save", "Container.load", "storage.metadata"):
            error.args = (f"{name}{colon}{rest}", *error.args[1:])
        raise


def find_function(name: str) -> Function:
    """The function that a program calls by this name.

    Raises:
        ValueError: neither `na` nor a frontend has a public function of this name.
    """
    first, _, path = name.partition(".")
    if name == "getitem":
        return operator.getitem
    if registry.is_registered(first):
        return registry.vocabulary(first).function(name)
    function = _function_of_na(path) if first == "na" else _OPERATORS.get(name)
    if function is None:
        raise ValueError(f"there is no function {name!r}")
    return function


def _function_of_na(name: str) -> Function | None:
    if name in OPS:
        return OPS[name].function
    if name in _CONTROL_FLOW:
        return getattr(transforms, name)
    space, _, last = name.partition(".")
    function = random.__dict__.get(last) if space == "random" and last[:1] != "_" else None
    return function if getattr(function, "__module__", "").startswith("nestarray.random") else None


def _is_named(call: Call) -> bool:
    """Whether the name of a call finds its function."""
    try:
        return find_function(call.target_name) is call.target
    except ValueError:
        return False


def _reduced(self: Call) -> tuple[object, ...]:
    """A call for `pickle`, which finds functions by the names of their modules only."""
    fields = dict(vars(self))
    if _is_named(self):
        del fields["target"]
    return _call, (fields,)


def _call(fields: Record) -> Call:
    if "target" not in fields:
        fields["target"] = find_function(fields["target_name"])
    return Call(**fields)


Call.__reduce__ = _reduced


class _Encoder:
    """A graph as values of JSON; nodes are known by number."""

    def __init__(self) -> None:
        self._numbers: dict[Node, int] = {}

    def document(self, graph: Graph) -> Record:
        """Everything but the arrays."""
        return {
            "version": VERSION,
            "name": graph.name,
            "backend": graph.backend,
            "train": graph.train,
            "nodes": [self.node(node) for node in graph.nodes],
            "signature": self.value(graph.signature),
            "output": self.value(graph.output),
            "state_updates": self.value(graph.state_updates),
            "ranges": self.value(graph.sizes.ranges),
            "conditions": [*map(str, graph.sizes.conditions)],
            "example": self.value(graph.sizes.example),
            "lines": self.value({str(each): each.line for each in graph.sizes.conditions}),
            "source_names": {
                "framework": graph.source_names.framework,
                "names": self.value(graph.source_names.names),
                "extra": self.value(graph.source_names.extra),
                "modules": self.value(graph.source_names.modules),
            },
            "dropped": list(graph.dropped),
            "assumptions": [self.value(tuple(each)) for each in graph.assumptions],
        }

    def node(self, node: Node) -> Record:
        """One node, numbered."""
        kind = "call" if isinstance(node, Call) else "input"
        texts = {name: getattr(node, name) for name in _TEXTS[kind] if getattr(node, name)}
        record: Record = {"kind": kind, **texts}
        if isinstance(node, Call):
            if not _is_named(node):
                raise ConversionError(
                    f"Graph.save: {node.name!r} calls {node.target_name!r}, which a file cannot name: "
                    "it is neither a function of na nor of a frontend; trace without islands"
                )
            record |= {"args": self.value(node.args), "kwargs": self.value(node.kwargs)}
            record |= {"is_random": True} if node.is_random else {}
        if node.aval is not None:
            record["aval"] = [
                [n if isinstance(n, int) else str(n) for n in node.aval.shape],
                node.aval.dtype.name,
            ]
        self._numbers[node] = len(self._numbers)
        return record

    def value(self, value: object) -> Json:
        """A nest of arguments."""
        if isinstance(value, Node):
            return {"node": self._numbers[value]}
        if isinstance(value, Body):
            return {"body": self.body(value)}
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, complex):
            return {"complex": [self.value(value.real), self.value(value.imag)]}
        if isinstance(value, DType):
            return {"dtype": value.name}
        if value is Ellipsis:
            return {"ellipsis": True}
        if isinstance(value, slice):
            return {"slice": [self.value(x) for x in (value.start, value.stop, value.step)]}
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, tuple):
            return {"tuple": [self.value(item) for item in value]}
        if isinstance(value, Mapping):
            return {"mapping": [[key, self.value(item)] for key, item in value.items()]}
        raise ConversionError(f"Graph.save: a file cannot hold {value!r} of {type(value).__name__}")

    def body(self, body: Body) -> Record:
        """The function inside of a call; its parameters are nodes that it makes known."""
        parameters = [
            {"tuple": [self.node(node) for node in part]}
            if isinstance(part, tuple)
            else self.node(part)
            for part in body.parameters
        ]
        return {
            "name": body.name,
            "names": list(body.names),
            "parameters": parameters,
            "nodes": [self.node(node) for node in body.nodes],
            "output": self.value(body.output),
        }


class _Decoder:
    """The way back; raises ValueError and the like for what `_Encoder` never writes."""

    def __init__(self) -> None:
        self._nodes: list[Node] = []

    def graph(self, document: Record) -> Record:
        """The fields of a `Graph`, but for its arrays."""
        nodes = [self.node(each) for each in document["nodes"]]
        args, kwargs = self.value(document["signature"])
        updates = self.value(document["state_updates"])
        names = document.get("source_names") or {  # of version 1
            "framework": "torch",
            "names": document["torch_names"],
            "extra": document.get("torch_extra", {"mapping": []}),
        }
        if not all(isinstance(node, Node) for node in updates.values()):
            raise ValueError("new state is no node")
        return {
            "name": _text(document["name"]),
            "backend": _text(document["backend"]),
            "train": document["train"] is True,
            "nodes": nodes,
            "signature": (args, kwargs),
            "output": self.value(document["output"]),
            "state_updates": updates,
            "sizes": self.sizes(document),
            "source_names": SourceNames(
                _text(names["framework"]),
                self.value(names["names"]),
                self.value(names["extra"]),
                self.value(names.get("modules", {"mapping": []})),
            ),
            "dropped": tuple(map(_text, document.get("dropped", []))),
            "assumptions": tuple(map(self.assumption, document.get("assumptions", []))),
        }

    def sizes(self, document: Record) -> Sizes:
        """The names of sizes, with their ranges and conditions."""
        empty: Record = {"mapping": []}
        example = self.value(document.get("example", empty))
        lines = self.value(document.get("lines", empty))
        conditions = [
            replace(condition, line=_text(lines.get(text, "")))
            for text in map(_text, document["conditions"])
            for condition in parse_conditions(text, example)
        ]
        return Sizes(self.value(document["ranges"]), tuple(conditions), example)

    def assumption(self, record: Json) -> Assumption:
        """A value that the source's code read."""
        use, value, line, text, node = self.value(record)
        if node is not None and not isinstance(node, Node):
            raise ValueError("an assumption of no node")
        return Assumption(_text(use), value, _text(line), _text(text), node)

    def node(self, record: Record) -> Node:
        """One node, known by its number from now on."""
        return self.call(record) if record["kind"] == "call" else self.input(record)

    def input(self, record: Record) -> Input:
        """An argument, a variable or a parameter."""
        texts = self.texts("input", record)
        if texts["source"] not in _SOURCES:
            raise ValueError(f"a node of source {texts['source']!r}")
        if texts["source"] in ("x", "body"):
            _identifier(texts["name"])
        node = Input(**texts, aval=_aval(record))
        self._nodes.append(node)
        return node

    def call(self, record: Record) -> Call:
        """A call."""
        texts = self.texts("call", record)
        _identifier(texts["name"])
        args, kwargs = self.value(record["args"]), self.value(record["kwargs"])
        for name in kwargs:
            _identifier(name, may_be_reserved=True)
        node = Call(
            **texts,
            target=find_function(texts["target_name"]),
            args=args,
            kwargs=kwargs,
            aval=_aval(record),
            is_random=record.get("is_random") is True,
        )
        self._nodes.append(node)
        return node

    def texts(self, kind: str, record: Record) -> dict[str, str]:
        """The attributes that are text."""
        if record["kind"] != kind:
            raise ValueError(f"{record['kind']!r} is no {kind}")
        return {name: _text(record.get(name, "")) for name in _TEXTS[kind]}

    def value(self, value: Json) -> Operand:
        """A nest of arguments."""
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if not isinstance(value, dict):
            return value
        ((kind, inner),) = value.items()
        read: dict[str, Callable[[], Operand]] = {
            "node": lambda: self._nodes[inner],
            "body": lambda: self.body(inner),
            "float": lambda: float(inner),
            "complex": lambda: complex(*[self.value(x) for x in inner]),
            "dtype": lambda: named_dtype(inner),
            "ellipsis": lambda: ...,
            "slice": lambda: slice(*[self.value(x) for x in inner]),
            "tuple": lambda: tuple([self.value(x) for x in inner]),
            "mapping": lambda: {_key(key): self.value(item) for key, item in inner},
        }
        return read[kind]()

    def body(self, record: Record) -> Body:
        """The function inside of a call."""
        parameters = tuple(
            [
                tuple([self.input(each) for each in part["tuple"]])
                if "tuple" in part
                else self.input(part)
                for part in record["parameters"]
            ]
        )
        return Body(
            name=_identifier(record["name"]),
            names=tuple([_identifier(name) for name in record["names"]]),
            parameters=parameters,
            nodes=[self.call(each) for each in record["nodes"]],
            output=self.value(record["output"]),
        )


def _text(value: Json) -> str:
    """One line: it may become a comment of the program."""
    if not isinstance(value, str) or not (value.isprintable() or not value):
        raise ValueError(f"{value!r} is no line of text")
    return value


def _identifier(value: Json, *, may_be_reserved: bool = False) -> str:
    """A name that may stand in the program."""
    if not isinstance(value, str) or not value.isidentifier():
        raise ValueError(f"{value!r} is no name")
    if is_reserved(value) and not may_be_reserved:
        raise ValueError(f"the name {value!r} is taken")
    return value


def _key(value: Json) -> str | int:
    if not isinstance(value, (str, int)):
        raise ValueError(f"{value!r} is no key")
    return value


def _aval(record: Record) -> Aval | None:
    if "aval" not in record:
        return None
    sizes, dtype = record["aval"]
    shape = [n if isinstance(n, int) else parse(_text(n)) for n in sizes]
    return Aval(tuple(shape), named_dtype(dtype))


def named_dtype(name: Json) -> DType:
    """The dtype of this name.

    Raises:
        ValueError: there is none.
    """
    dtype = getattr(dtypes, _text(name), None)
    if not isinstance(dtype, DType):
        raise ValueError(f"there is no dtype {name!r}")
    return dtype
