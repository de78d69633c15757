"""Operations of TensorFlow as islands; see `nestarray.graph.island`.

``tf.py_function`` and ``tf.numpy_function`` always are: their functions run on the host in
TensorFlow, too. Other operations without a function are islands where the caller asks for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nestarray import backends, dtypes
from nestarray.errors import MissingOpError, UnsupportedError
from nestarray.graph.builder import NOWHERE, Place
from nestarray.importers import islands
from nestarray.importers.tensorflow import execution, operations

Arrays = tuple[Any, ...]

#: The operations of functions of Python.
PYTHON = ("EagerPyFunc", "PyFunc", "PyFuncStateless")

#: Name → an operation and its place, for the life of the process.
_OPERATIONS: dict[str, tuple[Any, Place]] = {}


def may_be_island(op: Any, *, islands: bool) -> bool:
    """Whether an operation becomes an island.

    Args:
        op: an operation without a function.
        islands: whether the caller asks for islands.
    """
    if any(not _is_numeric(x) for x in (*op.inputs, *op.outputs)):
        return False
    return op.type in PYTHON or (islands and not op.op_def.is_stateful)


def name_of(op: Any, place: Place) -> str:
    """The name by which `nestarray.graph.island` finds an operation."""
    name = next((name for name, (known, _) in _OPERATIONS.items() if known is op), None)
    if name is None:
        name = f"{op.type}_{len(_OPERATIONS)}"
        _OPERATIONS[name] = op, place
    return name


def _is_numeric(tensor: Any) -> bool:
    kind = tensor.dtype
    return kind.is_floating or kind.is_complex or kind.is_integer or kind.is_bool


class TensorFlowOperation:
    """A function of a flat list of tensors; see `islands.HostOperation`."""

    def __init__(self, function: Callable[..., Arrays], name: str) -> None:
        self._function, self.name = function, name

    def value(self, *arrays: Any) -> Arrays:
        """The results."""
        return tuple(self._function(*arrays))

    def results(self, arrays: Sequence[islands.Description]) -> list[islands.Description]:
        """Shape and dtype of each result, by TensorFlow's shape inference.

        Raises:
            UnsupportedError: TensorFlow does not know a shape.
        """
        import tensorflow as tf

        core = backends.core("tensorflow")
        specs = [tf.TensorSpec(shape, core.native_dtype(dtype)) for shape, dtype in arrays]
        graph = tf.function(self.value, autograph=False).get_concrete_function(*specs)
        found = [(x.shape, dtypes.as_dtype(x.dtype.name)) for x in graph.outputs]
        op, place = _OPERATIONS.get(self.name, (None, NOWHERE))
        declared = op.outputs if op is not None else []
        if len(declared) == len(found):
            found = [
                (shape.merge_with(x.shape), dtype)
                for (shape, dtype), x in zip(found, declared, strict=True)
            ]
        if not all(shape.is_fully_defined() for shape, _ in found):
            raise UnsupportedError(
                f"island: the shape of a result of {self.name} ({place}) is unknown, and a compiled program needs "
                "it; call y.set_shape(...) on the result of the function, or call the graph itself"
            )
        return [(tuple(shape), dtype) for shape, dtype in found]

    def pullback(self, count: int) -> TensorFlowOperation:
        """The pullback, by a tape."""
        return _Pullback(lambda *values: self._gradients(count, *values), self.name, count)

    def _gradients(self, count: int, *values: Any) -> Arrays:
        import tensorflow as tf

        given, cotangents = values[:count], values[count:]
        moving = [x for x in given if dtypes.dtype_of(x).is_inexact]
        with tf.GradientTape() as tape:
            tape.watch(moving)
            results = [y for y in self._function(*given) if dtypes.dtype_of(y).is_inexact]
        try:
            found = tape.gradient(results, moving, list(cotangents))
        except LookupError as error:
            raise UnsupportedError(
                f"island: {self.name} has no derivative in TensorFlow; use tf.py_function for "
                "tf.numpy_function, or tf.custom_gradient"
            ) from error
        zeros = [tf.zeros_like(x) for x in moving]
        return tuple([z if g is None else tf.convert_to_tensor(g) for g, z in zip(found, zeros)])


class _Pullback(TensorFlowOperation):
    """The gradients of the inexact ones of the first `count` arrays."""

    def __init__(self, function: Callable[..., Arrays], name: str, count: int) -> None:
        super().__init__(function, name)
        self._count = count

    def results(self, arrays: Sequence[islands.Description]) -> list[islands.Description]:
        """Shape and dtype of the arrays that are differentiated."""
        return [(shape, dtype) for shape, dtype in arrays[: self._count] if dtype.is_inexact]


class TensorFlowHost:
    """The operations that were traced."""

    @staticmethod
    def find(name: str) -> Callable[..., Any]:
        """The function of an operation.

        Raises:
            MissingOpError: this process traced none of this name.
        """
        if name not in _OPERATIONS:
            raise MissingOpError(
                f"island: this process traced no operation {name!r} of TensorFlow; trace the source again"
            )
        op, _ = _OPERATIONS[name]

        def run(*arrays: Any) -> Any:
            found = execution.run(op, arrays)
            return found if operations.has_many_results(op) else found[0]

        return run

    operation = TensorFlowOperation


islands.register("tensorflow", TensorFlowHost())
