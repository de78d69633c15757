"""One run of NumPy code on recording arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nestarray import backends
from nestarray.errors import ConversionError
from nestarray.frontends.numpy.arrays import recorded_write
from nestarray.graph.node import map_leaves
from nestarray.graph.record.abstract_recorder import AbstractRecorder, is_size
from nestarray.graph.record.places import user_line
from nestarray.graph.record.recorder import Recorder, Traced
from nestarray.importers.numpy import scipy_functions


class Recording:
    """The arrays of one run.

    Args:
        array_type: the class of the arrays.
        recorder: writes the graph; None if the code is only run.
        islands: whether functions of SciPy without a frontend's function are islands.
    """

    def __init__(
        self, array_type: Callable[..., Any], recorder: Recorder | None, *, islands: bool
    ) -> None:
        self._array_type, self._recorder, self._islands = array_type, recorder, islands
        self._owners: dict[int, Any] = {}

    @property
    def has_open_sizes(self) -> bool:
        """Whether sizes of arrays may be open."""
        return isinstance(self._recorder, AbstractRecorder)

    def is_own(self, x: Any) -> bool:
        """Whether `x` is an array of the recorded code."""
        return type(x) is self._array_type

    def holds_own(self, nest: Any) -> bool:
        """Whether there is an array of the recorded code, or an open size, in a nest."""
        found: list[Any] = []
        map_leaves(found.append, nest)
        return any(self.is_own(x) or is_size(x) for x in found)

    def line(self) -> str:
        """The line of the user's code that is running."""
        return user_line()

    def wrapped(self, result: Any) -> Any:
        """A result with recording arrays."""
        return map_leaves(self._wrapped, result)

    def _wrapped(self, x: Any) -> Any:
        if type(x) is np.ndarray or isinstance(x, np.generic):
            x = np.asarray(x)
            if self._recorder is not None:
                x = Traced(x, self._recorder.node_of(x, "constant"), self._recorder)
        elif backends.backend_of_value(x) is None:
            return x
        return self._array_type(x, self)

    def compute(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """The result of a function of the values of arrays, into which it may write."""
        was, self._owners = self._owners, {}
        token = recorded_write.set(self._write)
        try:
            args, kwargs = map_leaves(self._unwrapped, [args, kwargs])
            return function(*args, **kwargs)
        finally:
            recorded_write.reset(token)
            self._owners = was

    def _unwrapped(self, x: Any) -> Any:
        if not self.is_own(x):
            return x
        value = x._current()
        self._owners[id(value)] = x
        return value

    def _write(self, out: Any, value: Any) -> bool:
        owner = self._owners.get(id(out))
        if owner is not None:
            owner._set(value)
        elif isinstance(out, np.ndarray) and not isinstance(value, np.ndarray):
            raise ConversionError(
                f"trace_graph: {self.line()}: the code writes into an array that exists outside of it, "
                f"of shape {out.shape}; pass the array as an argument, or as an attribute of v=model"
            )
        return owner is not None

    def call(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """The result of a function as recording arrays; an array that is written is returned."""
        out = kwargs.get("out")
        out = out[0] if isinstance(out, tuple) and len(out) == 1 else out
        result = self.compute(function, args, kwargs)
        return self.wrapped(result) if out is None else out

    def scipy(self, name: str) -> Callable[..., Any]:
        """The function that computes one of SciPy.

        Raises:
            ConversionError: there is none.
        """
        function = scipy_functions.computed(name, self._islands)
        if function is None:
            raise ConversionError(
                f"trace_graph: {self.line()}: {name} has no function of a frontend; islands=True runs "
                "it in SciPy on the host, without derivatives"
            )
        return function
