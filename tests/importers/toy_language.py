"""A toy language of five operations on NumPy arrays.

``y = add x w`` computes, ``set n = add n 1`` writes a new value of the state ``n``, and
``y = repeat 3 x`` runs the indented lines after it three times, from ``x``, on ``y``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(eq=False)
class Equation:
    """One line of a program; the name of an update has a prime, ``n'``."""

    name: str
    operation: str
    args: list[Any]
    line: str
    body: list[Equation] = field(default_factory=list)

    @property
    def used(self) -> Iterator[str]:
        """The names from outside."""
        yield from (a for a in self.args if isinstance(a, str))
        for inner in self.body:
            yield from (a for a in inner.used if a != self.name)


@dataclass
class Program:
    """A program of one argument ``x``; it returns its last value."""

    name: str
    text: str
    parameters: dict[str, Any] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)

    @property
    def equations(self) -> list[Equation]:
        """The parsed lines."""
        found: list[Equation] = []
        for number, line in enumerate(self.text.splitlines(), 1):
            left, _, right = line.partition(" = ")
            operation, *words = right.split()
            name = left.split()[-1] + ("'" if left.startswith("set ") else "")
            args = [a if a[0].isalpha() else float(a) for a in words]
            place = found[-1].body if line.startswith(" ") else found
            place.append(Equation(name, operation, args, f"{self.name}.toy:{number}"))
        return found

    @property
    def result(self) -> str:
        """The name of the value that the program returns."""
        return [e.name for e in self.equations if not e.name.endswith("'")][-1]


def run(equation: Equation, values: Mapping[str, Any]) -> Any:
    """Compute one line, given the values of names."""
    args = [values[a] if isinstance(a, str) else a for a in equation.args]
    if equation.operation == "repeat":
        times, carried = args
        for _ in range(int(times)):
            for inner in equation.body:
                carried = run(inner, {**values, equation.name: carried})
        return carried
    return NATIVE[equation.operation](*args)


NATIVE = {
    "add": np.add,
    "matmul": np.matmul,
    "tanh": np.tanh,
    "drop": lambda x, rate: np.where(np.random.uniform(size=x.shape) < rate, 0 * x, x),
    "fft": np.fft.fft,  # not in the frontend
}
