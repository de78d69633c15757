"""A jaxpr as the source of a graph."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from nestarray.container import Container
from nestarray.errors import UnsupportedError
from nestarray.graph.builder import NOWHERE, Place
from nestarray.graph.execution import Override, identity
from nestarray.graph.graph import Graph
from nestarray.importers.jax.sizes import bound
from nestarray.proof.source import EquationSource, Given, Loss, Part, Result
from nestarray.sizes import Size
from nestarray.transforms import jit


@dataclasses.dataclass(eq=False)
class Equation:
    """One equation of a jaxpr without nested calls.

    Attributes:
        eqn: JAX's equation.
        inputs: Given, Equation and Part values, and constants.
        place: module and line.
        sizes: name of an open size → an argument and its axis with this size.
    """

    eqn: Any
    inputs: list[Any]
    place: Place = NOWHERE
    sizes: Mapping[str, tuple[Given, int]] = dataclasses.field(default_factory=dict)

    @property
    def is_single(self) -> bool:
        """Whether it has one value, not a list."""
        return not self.eqn.primitive.multiple_results

    @property
    def operands(self) -> list[Any]:
        """The values that it reads."""
        return [*filter(_is_value, self.inputs), *_sized(self)]

    def evaluate(self, values: Mapping[Any, Any]) -> Any:
        """The value, or the list of values, given the values of operands."""
        operands = [values[x] if _is_value(x) else x for x in self.inputs]
        sizes = {name: values[given].shape[axis] for name, (given, axis) in self.sizes.items()}
        return bound(self.eqn, operands, sizes)


@dataclasses.dataclass(eq=False)
class OpenSize:
    """An open size.

    Attributes:
        size: the expression.
        sizes: of `Equation`.
    """

    size: Size
    sizes: Mapping[str, tuple[Given, int]]

    @property
    def operands(self) -> list[Any]:
        """The arguments that have the sizes."""
        return _sized(self)

    def evaluate(self, values: Mapping[Any, Any]) -> int:
        """The size, given the values of the arguments."""
        sizes = {name: values[given].shape[axis] for name, (given, axis) in self.sizes.items()}
        return self.size.at(sizes)


def _is_value(x: Any) -> bool:
    """Whether an operand is a value of the program; others are constants."""
    return isinstance(x, (Given, Equation, Part))


def _sized(equation: Equation | OpenSize) -> list[Any]:
    return [given for given, _ in equation.sizes.values()]


class JaxSource(EquationSource):
    """A jaxpr and the arguments with which it was traced."""

    def result(
        self,
        graph: Graph,
        inputs: list[Any],
        key: Any,
        loss: Loss | None,
        override: Override = identity,
    ) -> Result:
        """Run the program, and differentiate it where JAX does; see `Source.result`.

        JAX compiles each operation that runs alone; one program of all of them takes less time.
        An override is a function of values, which the compiler does not have.
        """

        def run(inputs: list[Any], v: Container, s: Container, key: Any) -> Result:
            return super(JaxSource, self).result(
                graph.replace(v=v, s=s), inputs, key, loss, override
            )

        compiled = jit(run) if override is identity else run
        try:
            return compiled(inputs, graph.v, graph.s, key)
        except (NotImplementedError, TypeError, ValueError) as error:
            if loss is None:
                raise
            raise UnsupportedError(
                f"JAX has no derivative: {(str(error) or type(error).__name__).splitlines()[0]}"
            ) from error
