"""The values of a program that is translated."""

from __future__ import annotations

from typing import Any


class Value:
    """A value of the program.

    Attributes:
        of: its source: Given, Equation or Part; None in a body.
        node: its node; None for known values without one.
        known: an array of NumPy, with Dims for open sizes; None if a run decides.
    """

    __slots__ = ("known", "node", "of")

    def __init__(self, node: Any = None, of: Any = None, known: Any = None) -> None:
        self.node, self.of, self.known = node, of, known
