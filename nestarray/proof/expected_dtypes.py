"""The dtypes of a graph's values: those of its source, but for changes that were asked for.

JAX without x64 holds 64-bit integers in 32 bits. A graph with other floating dtypes
(``to_backend(float64="float32")``, ``cast``) declares the dtypes of its calls, and how those of
its results differ from the source's.
"""

from __future__ import annotations

from typing import Any

from nestarray import backends, dtypes
from nestarray.container import Container
from nestarray.dtypes import DType
from nestarray.graph.derived import DerivedSource
from nestarray.graph.graph import Graph
from nestarray.graph.node import Node


class ExpectedDtypes:
    """The dtypes that the values of a graph have, given the source's values.

    Args:
        graph: the graph.
    """

    def __init__(self, graph: Graph) -> None:
        reference = graph.reference
        self._changes = reference.dtypes if isinstance(reference, DerivedSource) else {}
        self._backend, self._state = graph.backend, graph.s

    def of_output(self, want: Any) -> DType | None:
        """The dtype of an output, given the source's; None for other values."""
        dtype = number_dtype(want)
        return None if dtype is None else self._here(self._changes.get(dtype, dtype))

    def of_state(self, path: str, want: Any, before: Container) -> DType | None:
        """The dtype of new state; it is the dtype of the old state if that holds for the source.

        Args:
            path: of the array.
            want: the source's new state.
            before: the source's old state.
        """
        dtype = number_dtype(want)
        is_same = path in before and path in self._state and number_dtype(before[path]) is dtype
        return number_dtype(self._state[path]) if is_same else self.of_output(want)

    def of_call(self, node: Node, want: Any) -> DType | None:
        """The dtype of a call's value, given the source's."""
        if self._changes:
            return None if node.aval is None else self._here(node.aval.dtype)
        return self.of_output(want)

    def _here(self, dtype: DType) -> DType:
        """A dtype as the backend of the graph holds it."""
        if dtype.is_inexact:
            return dtype
        return dtypes.as_dtype(backends.core(self._backend).native_dtype(dtype))


def number_dtype(x: Any) -> DType | None:
    """The dtype of an array of numbers; None for anything else."""
    return dtypes.dtype_of(x) if backends.is_array(x) and not dtypes.is_key(x) else None
