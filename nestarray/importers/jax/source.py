"""A jaxpr as the source of a graph."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from nestarray.graph.builder import NOWHERE, Place
from nestarray.proof.source import EquationSource


@dataclasses.dataclass(eq=False)
class Given:
    """An argument, a variable, or a constant with its value."""

    value: Any = None


@dataclasses.dataclass(eq=False)
class Equation:
    """One equation of a jaxpr without nested calls.

    Attributes:
        primitive: what it binds.
        params: the primitive's parameters.
        inputs: Given, Equation and Part values, and constants.
        place: module and line.
    """

    primitive: Any
    params: Mapping[str, Any]
    inputs: list[Any]
    place: Place = NOWHERE

    def evaluate(self, operands: list[Any]) -> Any:
        """The value, or the list of values."""
        return self.primitive.bind(*operands, **self.primitive.get_bind_params(self.params))


@dataclasses.dataclass(eq=False)
class Part:
    """One of several results."""

    equation: Equation
    index: int


class JaxSource(EquationSource):
    """A jaxpr and the arguments with which it was traced."""

    def operands(self, equation: Any) -> Iterable[Any]:
        """The values that an equation reads."""
        if isinstance(equation, Part):
            return [equation.equation]
        inputs = equation.inputs if isinstance(equation, Equation) else ()
        return [x for x in inputs if isinstance(x, (Given, Equation, Part))]

    def evaluate(self, equation: Any, values: Mapping[Any, Any]) -> Any:
        """The value of an equation."""
        if isinstance(equation, Given):
            return equation.value
        if isinstance(equation, Part):
            return values[equation.equation][equation.index]
        known = (Given, Equation, Part)
        operands = [values[x] if isinstance(x, known) else x for x in equation.inputs]
        return equation.evaluate(operands)
