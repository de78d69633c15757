"""The importer of NumPy code: unchanged functions of NumPy arrays, and methods of objects."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from nestarray import backends, tree
from nestarray.container import Container
from nestarray.graph.node import map_leaves
from nestarray.graph.record.recorder import Traced
from nestarray.importers import protocol
from nestarray.importers.coverage import operations_in
from nestarray.importers.numpy.arrays import RecordedArray
from nestarray.importers.numpy.attributes import Attributes
from nestarray.importers.numpy.recording import Recording
from nestarray.importers.numpy.selection import NumpyImporter
from nestarray.importers.numpy.workarounds import applied
from nestarray.importers.protocol import Imported, Request
from nestarray.importers.python import PythonSource, trace_python


def read(request: Request) -> Imported:
    """Run the code once, and record its calls; see `Importer.read`."""
    if request.train:
        raise protocol.training_of_function()
    kwargs = dict(request.kwargs)
    owner = kwargs.pop("v", None) if "v" in NumpyImporter().keywords(request.source) else None
    source = NumpySource(request.source, request.args, kwargs, owner, request.islands)
    graph = trace_python(source, request.guards, request.sizes)
    if source.assigned:
        source.divide()
        graph = trace_python(source, request.guards, request.sizes)
    return Imported("numpy", graph.name, operations_in(graph), graph)


class NumpySource(PythonSource):
    """NumPy code and the arguments of the example.

    Args:
        source: the function, or a method.
        args, kwargs: the example.
        owner: the object whose floating arrays are the variables, and whose assigned arrays are the
            state; None without them.
        islands: whether functions may stay in SciPy.
    """

    def __init__(
        self,
        source: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        owner: Any,
        islands: bool,
    ) -> None:
        super().__init__(source, args, kwargs)
        self._islands = islands
        self._attributes = Attributes(types.SimpleNamespace() if owner is None else owner)
        arrays = self._attributes.arrays()
        floating = {path: x for path, x in arrays.items() if x.dtype.kind in "fc"}
        self.v = Container.from_flat_dict(floating)
        #: the paths of the arrays that the code assigns or overwrites, found by a recording
        self.assigned: set[str] = set()

    def divide(self) -> None:
        """Make the arrays that the code assigns its state, and the others its variables."""
        arrays = self._attributes.arrays()
        kept = {path: x for path, x in self.v.flat_items() if path not in self.assigned}
        self.v = Container.from_flat_dict(kept)
        self.s = Container.from_flat_dict({k: x for k, x in arrays.items() if k in self.assigned})

    def call(
        self, inputs: list[Any], v: Container, s: Container, key: Any
    ) -> tuple[Any, dict[str, Any]]:
        """(result, new state by path) of the code for flat inputs, which the code may overwrite."""
        given = {**dict(v.flat_items()), **dict(s.flat_items())}
        values = [*inputs, *given.values()]
        if all(isinstance(x, np.ndarray) for x in values):
            with self._attributes.replaced({k: np.array(x) for k, x in given.items()}):
                result, _ = super().call([np.array(x) for x in inputs], v, s, key)
                return result, self._state(s)
        traced = next((x for x in values if isinstance(x, Traced)), None)
        recorder = None if traced is None else traced._recorder
        recording = Recording(RecordedArray, recorder, islands=self._islands)
        wrapped = iter(map(recording.wrapped, inputs))
        leaves = [next(wrapped) if backends.is_array(x) else x for x in self.leaves]
        args, kwargs = tree.unflatten(self.structure, leaves)
        fixed = {k: np.array(x) for k, x in self._attributes.arrays().items() if k not in given}
        arrays = {path: np.array(x) for path, x in fixed.items()} | {
            path: recording.wrapped(x) for path, x in given.items()
        }
        with applied(recording, self.source) as function, self._attributes.replaced(arrays):
            result = function(*args, **kwargs)
            state = self._state(s)
            new = {path: _current(x) for path, x in self._attributes.arrays().items()}
        self.assigned = {
            path
            for path, x in new.items()
            if (x is not given[path] if path in given else not _is_same(x, fixed[path]))
        }
        return map_leaves(_current, result), state

    def _state(self, s: Container) -> dict[str, Any]:
        found = self._attributes.arrays()
        return {path: _current(found.get(path, x)) for path, x in s.flat_items()}


def _is_same(x: Any, before: np.ndarray) -> bool:
    return isinstance(x, np.ndarray) and np.array_equal(x, before)


def _current(x: Any) -> Any:
    return x._current() if type(x) is RecordedArray else x
