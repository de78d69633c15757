"""Shapes and dtypes of the values of TensorFlow programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nestarray import dtypes
from nestarray.errors import ConversionError, DtypeError
from nestarray.graph.node import Aval
from nestarray.importers.tensorflow import execution, sizes
from nestarray.importers.tensorflow.operations import Cell
from nestarray.importers.tensorflow.values import Value

if TYPE_CHECKING:
    from nestarray.importers.tensorflow.importer import Translation

#: Operations whose results are shapes.
OPERATIONS = ("Shape", "ShapeN", "Size", "Rank", "VariableShape")


class Shapes:
    """The shapes of the values of one program.

    Args:
        of: the translation of the program.
    """

    def __init__(self, of: Translation) -> None:
        self.of = of

    def shape(self, op: Any, value: Value) -> Value:
        """The shape of an operand as a known value."""
        rank_only = op.type == "Rank"
        value = value.value if isinstance(value, Cell) else value
        if value.known is not None:
            shape: tuple[Any, ...] = value.known.shape
        elif value.node.aval is not None:
            shape = tuple(
                [self.of.sizes.dim(n) if isinstance(n, str) else n for n in value.node.aval.shape]
            )
        else:
            tensor = op.inputs[0]
            shape = tuple(
                [
                    sizes.size_of(value.node, axis) if n is None else n
                    for axis, n in enumerate(tensor.shape)
                ]
            )
        if rank_only:
            return Value(known=np.asarray(len(shape), "int32"))
        is_open = any(isinstance(n, sizes.Dim) for n in shape)
        dtype: Any = object if is_open else op.get_attr("out_type").as_numpy_dtype
        made = np.empty(len(shape), dtype)
        made[:] = shape
        if op.type == "Size":
            total = np.empty((), dtype)
            total[()] = np.multiply.reduce(made) if len(shape) else 1
            return Value(known=total)
        return Value(known=made)

    def avals(self, op: Any, inputs: list[Any]) -> list[Aval | None]:
        """Shape and dtype of each result.

        TensorFlow infers shapes that are open in its own program from the shapes of the operands:
        at a few points if the graph has open sizes, which gives expressions.
        """
        known = [tuple(x.shape) if _is_full(x.shape) else None for x in op.outputs]
        if None in known:
            count = sizes.FIRST_POINTS if self.of.sizes.is_open else 1
            results = [*zip(*[self._inferred(op, inputs, i) for i in range(count)], strict=True)]
            near = self._sizes_of(inputs)
            fitted = [self._fitted(shapes, near) for shapes in results]
            is_open = self.of.sizes.is_open and any(
                shape is None and all(map(_is_full, shapes))
                for shape, shapes in zip(fitted, results, strict=True)
            )
            if is_open:  # quotients need all points
                rows = [self._inferred(op, inputs, i) for i in range(sizes.POINTS)]
                fitted = [self._fitted(shapes, near) for shapes in zip(*rows, strict=True)]
            known = [a if a is not None else b for a, b in zip(known, fitted, strict=True)]
        return [
            Aval(shape, dtype_of(x)) if shape is not None and _has_dtype(x) else None
            for shape, x in zip(known, op.outputs, strict=True)
        ]

    def _inferred(self, op: Any, inputs: list[Any], point: int) -> list[Any]:
        """The shapes of the results at a point."""
        import tensorflow as tf

        with tf.Graph().as_default():
            operands = [self._at_point(x, at, point) for x, at in zip(inputs, op.inputs)]
            try:
                return [y.shape for y in execution.run(op, operands)]
            except ValueError as error:
                if not self.of.sizes.is_open:
                    raise
                raise ConversionError(
                    f"trace_graph: dynamic: {op.type} ({self.of.builder.place}) does not fit the "
                    f"open sizes ({str(error).splitlines()[0]}); give equal sizes one name, and "
                    "sizes that the program fixes none"
                ) from error

    def _sizes_of(self, inputs: Sequence[Any]) -> list[sizes.Dim]:
        """The open sizes in the shapes of operands."""
        nodes = [self.of.node(x.value) if isinstance(x, Cell) else x.node for x in inputs]
        avals = [node.aval for node in nodes if node is not None and node.aval is not None]
        texts = dict.fromkeys(n for aval in avals for n in aval.shape if isinstance(n, str))
        return [self.of.sizes.dim(text) for text in texts]

    def _at_point(self, value: Any, tensor: Any, point: int) -> Any:
        """An operand without a value, with its shape at a point."""
        import tensorflow as tf

        placeholder = tf.compat.v1.placeholder
        if isinstance(value, Cell):
            aval = self.of.node(value.value).aval
            return Cell(placeholder(tf.as_dtype(aval.dtype.name), self._shape_at(aval, point)))
        known = getattr(value, "known", None)
        if known is not None and all(x.text for x in known.flat if isinstance(x, sizes.Dim)):
            return tf.constant(sizes.at_point(known, point), tensor.dtype)
        aval = None if value.node is None or _is_full(tensor.shape) else value.node.aval
        return placeholder(
            tensor.dtype, tensor.shape if aval is None else self._shape_at(aval, point)
        )

    def _shape_at(self, aval: Aval, point: int) -> list[int]:
        return [self.of.sizes.dim(n).values[point] if isinstance(n, str) else n for n in aval.shape]

    def _fitted(
        self, shapes: Sequence[Any], near: Sequence[sizes.Dim]
    ) -> tuple[int | str, ...] | None:
        """The shape that has these sizes at the points; None if it is unknown."""
        if any(shape.rank is None for shape in shapes):
            return None
        found: list[int | str] = []
        for numbers in zip(*shapes, strict=True):
            size = self.of.sizes.fitted(numbers, near)
            if size is None:
                return None
            found.append(size.text if isinstance(size, sizes.Dim) else size)
        return tuple(found)


def aval_of(tensor: Any) -> Aval | None:
    """Shape and dtype of a tensor, if its shape is known."""
    if not _is_full(tensor.shape) or not _has_dtype(tensor):
        return None
    return Aval(tuple(tensor.shape), dtype_of(tensor))


def dtype_of(tensor: Any) -> dtypes.DType:
    """The dtype of a tensor.

    Raises:
        DtypeError: it is of no numbers, such as strings.
    """
    return dtypes.as_dtype(tensor.dtype.name)


def _is_full(shape: Any) -> bool:
    return shape.rank is not None and None not in tuple(shape)


def _has_dtype(tensor: Any) -> bool:
    try:
        dtype_of(tensor)
    except DtypeError:
        return False
    return True
