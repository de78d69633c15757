"""A concrete function as the source of a graph."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from nestarray.errors import UnsupportedError
from nestarray.graph.builder import NOWHERE, Place
from nestarray.graph.execution import Override, identity
from nestarray.graph.graph import Graph
from nestarray.graph.node import Call, Node
from nestarray.importers.tensorflow import execution
from nestarray.importers.tensorflow.operations import Cell
from nestarray.proof.source import EquationSource, Given, Loss, Part, Result
from nestarray.sizes import value_at


@dataclasses.dataclass(eq=False)
class Equation:
    """One operation, without those in it.

    Attributes:
        op: TensorFlow's operation.
        inputs: Given, Equation and Part values, arrays of NumPy for known values, and Cells with
            one of these for variables.
        place: layer and line.
        written: the indices of the variables among the inputs that it writes.
    """

    op: Any
    inputs: list[Any]
    place: Place = NOWHERE
    written: tuple[int, ...] = ()

    @property
    def is_single(self) -> bool:
        """Whether it has one result and writes nothing."""
        return len(self.op.outputs) == 1 and not self.written

    @property
    def operands(self) -> list[Any]:
        """The values that it reads."""
        inputs = [x.value if isinstance(x, Cell) else x for x in self.inputs]
        return [x for x in inputs if isinstance(x, (Given, Equation, Part, Sizes))]

    def evaluate(self, values: Mapping[Any, Any]) -> Any:
        """The result; of several, a list of them and of the values of variables that it writes."""
        operands = [_operand(x, values) for x in self.inputs]
        found = execution.run(self.op, operands)
        return found[0] if self.is_single else [*found, *(operands[i].value for i in self.written)]


@dataclasses.dataclass(eq=False)
class Sizes:
    """Shape arithmetic with open sizes, computed in a run.

    Attributes:
        known: an array of numbers and Sizes.
        dtype: of the operand.
        axes: name → the equation of an array, and the axis that has the size.
    """

    known: Any
    dtype: Any
    axes: Mapping[str, tuple[Any, int]]

    @property
    def operands(self) -> list[Any]:
        """The equations of the arrays."""
        return [equation for equation, _ in self.axes.values()]

    def evaluate(self, values: Mapping[Any, Any]) -> Any:
        """The sizes as a tensor."""
        sizes = {name: int(values[e].shape[axis]) for name, (e, axis) in self.axes.items()}
        numbers = [value_at(x, sizes) for x in self.known.reshape(-1)]
        return tf.reshape(tf.constant(numbers, self.dtype), self.known.shape)


def _operand(x: Any, values: Mapping[Any, Any]) -> Any:
    if isinstance(x, Cell):
        return Cell(_operand(x.value, values))
    if isinstance(x, (Given, Equation, Part, Sizes)):
        return values[x]
    return tf.constant(x)


class TensorFlowSource(EquationSource):
    """A concrete function and the arguments with which it was traced."""

    def result(
        self,
        graph: Graph,
        inputs: list[Any],
        key: Any,
        loss: Loss | None,
        override: Override = identity,
    ) -> Result:
        """Run the program, and differentiate it where TensorFlow does; see `Source.result`."""
        try:
            return super().result(graph, inputs, key, loss, override)
        except (LookupError, NotImplementedError) as error:
            if loss is None or "gradient" not in str(error).lower():
                raise
            raise UnsupportedError(
                f"TensorFlow has no derivative: {str(error).splitlines()[0]}"
            ) from error

    def call_gradients(
        self, graph: Graph, node: Call, values: Mapping[Node, Any], key: Any, loss: Loss
    ) -> dict[Node, Any]:
        """∂loss(value of a call)/∂x; see `Source.call_gradients`.

        Empty if an operand is a list, or a shape that a run computes.
        """
        equation = self.equation_of.get(node)
        if equation is None or isinstance(equation, Part):
            return {}
        if any(isinstance(x, Sizes) for x in equation.operands):
            return {}
        return super().call_gradients(graph, node, values, key, loss)
