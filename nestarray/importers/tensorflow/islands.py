"""Operations of TensorFlow as islands; see `nestarray.graph.island`.

``tf.py_function`` and ``tf.numpy_function`` always are: their functions run on the host in
TensorFlow, too. Other operations without a function are islands where the caller asks for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from nestarray import backends, dtypes
from nestarray.errors import UnsupportedError
from nestarray.graph.builder import Place
from nestarray.importers import islands
from nestarray.importers.tensorflow import execution, operations

Arrays = tuple[Any, ...]

#: The operations of functions of Python.
PYTHON = ("EagerPyFunc", "PyFunc", "PyFuncStateless")

#: Operations and their places, for the life of the process.
_TRACED = islands.TracedOperations("TensorFlow", "operation")


def may_be_island(op: Any, *, islands: bool) -> bool:
    """Whether an operation becomes an island."""
    if any(not _is_numeric(x) for x in (*op.inputs, *op.outputs)):
        return False
    return op.type in PYTHON or (islands and not op.op_def.is_stateful)


def name_of(op: Any, place: Place) -> str:
    """The name by which `nestarray.graph.island` finds an operation."""
    return _TRACED.name_of(op, op.type, (op, place))


def _is_numeric(tensor: Any) -> bool:
    kind = tensor.dtype
    return kind.is_floating or kind.is_complex or kind.is_integer or kind.is_bool


class TensorFlowOperation(islands.HostOperation):
    """A function of a flat list of tensors."""

    framework = "TensorFlow"
    remedy = "use tf.py_function for tf.numpy_function, or tf.custom_gradient"

    def results(self, arrays: Sequence[islands.Description]) -> list[islands.Description]:
        """Shape and dtype of each result, by TensorFlow's shape inference.

        Raises:
            UnsupportedError: TensorFlow does not know a shape.
        """
        core = backends.core("tensorflow")
        specs = [tf.TensorSpec(shape, core.native_dtype(dtype)) for shape, dtype in arrays]
        graph = tf.function(self.value, autograph=False).get_concrete_function(*specs)
        results = [(x.shape, dtypes.as_dtype(x.dtype.name)) for x in graph.outputs]
        op, place = _TRACED.find(self.name)
        if len(op.outputs) == len(results):
            results = [
                (shape.merge_with(x.shape), dtype)
                for (shape, dtype), x in zip(results, op.outputs, strict=True)
            ]
        if not all(shape.is_fully_defined() for shape, _ in results):
            raise UnsupportedError(
                f"island: the shape of a result of {self.name} ({place}) is unknown, and a compiled program needs "
                "it; call y.set_shape(...) on the result of the function, or call the graph itself"
            )
        return [(tuple(shape), dtype) for shape, dtype in results]


def _find(name: str) -> Callable[..., Any]:
    """The function of an operation.

    Raises:
        MissingOpError: this process traced none of this name.
    """
    op, _ = _TRACED.find(name)

    def run(*arrays: Any) -> Any:
        results = execution.run(op, arrays)
        return results if operations.has_many_results(op) else results[0]

    return run


HOST = islands.Host(_find, TensorFlowOperation)
