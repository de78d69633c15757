"""Layers and lines of operations.

TensorFlow makes names of scopes unique, so they are not paths. The layers are watched while they
are traced: each call of a layer makes the operations of a range in the graph of its code.
"""

from __future__ import annotations

import contextlib
import functools
import re
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import tensorflow as tf

from nestarray.graph.builder import NOWHERE, Place, line_name
from nestarray.importers.patching import patched
from nestarray.importers.tensorflow.selection import kind_of

_PACKAGE = str(Path(__file__).parents[2])
#: Directories of a framework between the source and its operations.
_INNER = ("/tensorflow/python/", "/keras/src/backend/", "/keras/src/ops/", "/keras/src/utils/")
_TRACE = str(Path(__file__).with_name("models.py"))


class Layers:
    """The layers that made the operations of a trace."""

    def __init__(self) -> None:
        #: id of a graph → (first operation, one after the last, path); inner layers come first
        self._ranges: dict[int, list[tuple[int, int, str]]] = {}
        self._graphs: list[Any] = []  # kept alive, so that ids stay unique
        self._indices: dict[int, dict[str, int]] = {}
        #: the innermost layer of the last error, while the error leaves the layers around it
        self._failed = ""

    @contextlib.contextmanager
    def watched(self, source: Any) -> Iterator[None]:
        """Note the operations that each layer of a source makes."""
        parts = list(_parts(source))
        paths = {id(part): path for path, part in parts}
        classes = {cls for _, part in parts for cls in type(part).__mro__}
        calls = [(cls, vars(cls).get("__call__")) for cls in classes if cls is not object]
        with patched(
            *[(cls, "__call__", self._noted(call, paths)) for cls, call in calls if callable(call)]
        ):
            yield

    def _noted(self, call: Callable[..., Any], paths: dict[int, str]) -> Callable[..., Any]:
        @functools.wraps(call)
        def run(layer: Any, *args: Any, **kwargs: Any) -> Any:
            path = paths.get(id(layer), "")
            graph = tf.compat.v1.get_default_graph()
            if not path or tf.executing_eagerly():
                return call(layer, *args, **kwargs)
            first, self._failed, is_done = graph.version, "", False
            try:
                result = call(layer, *args, **kwargs)
                is_done = True
                return result
            finally:
                if not is_done:
                    self._failed = self._failed or path
                self._graphs.append(graph)
                self._ranges.setdefault(id(graph), []).append((first, graph.version, path))

        return run

    def place_of(self, op: Any, outer: Place = NOWHERE) -> Place:
        """The layer and the line of an operation."""
        module = outer.module
        ranges = self._ranges.get(id(op.graph))
        if ranges:
            index = self._index_of(op)
            module = next((p for first, end, p in ranges if first <= index < end), module)
        return Place(module, _line_of(op) or outer.line)

    def place_of_error(self, error: Exception) -> Place:
        """The layer and the line of the source at which an error of the trace was raised."""
        # AutoGraph runs generated files, and lists the lines of the source in its message
        listed = re.findall(r'File "(.+)", line (\d+), in', str(error))
        frames = traceback.extract_tb(error.__traceback__)
        lines = [*[(f.filename, f.lineno or 0) for f in frames], *listed]
        own = [(f, n) for f, n in lines if not _is_inner(f) and "/keras/src/" not in f]
        return Place(self._failed, line_name(*own[-1]) if own else "")

    def _index_of(self, op: Any) -> int:
        key = id(op.graph)
        if key not in self._indices or op.name not in self._indices[key]:
            self._indices[key] = {o.name: i for i, o in enumerate(op.graph.get_operations())}
        return self._indices[key][op.name]


def _parts(source: Any) -> Iterator[tuple[str, Any]]:
    """(path, layer) of a model or module, the outermost first."""
    kind = kind_of(source)
    if kind == "keras":
        for layer in source._flatten_layers():
            yield layer.path or layer.name, layer
    elif kind == "module":
        for path, part in source._flatten(
            predicate=lambda x: isinstance(x, tf.Module), with_path=True
        ):
            yield "/".join(map(str, path)), part


def _line_of(op: Any) -> str:
    """The innermost line of the source; of a layer of Keras, its line there."""
    for frame in reversed(op.traceback or ()):  # None in a function that was loaded
        if frame.filename == _TRACE:
            return ""
        if not _is_inner(frame.filename):
            return line_name(frame.filename, frame.lineno)
    return ""


def _is_inner(filename: str) -> bool:
    """Whether a file is between the source and its operations."""
    is_framework = any(part in filename for part in _INNER)
    return (
        is_framework or filename.startswith((_PACKAGE, "<")) or "__autograph_generated" in filename
    )
