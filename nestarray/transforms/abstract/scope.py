"""The relations of the open sizes of one program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from nestarray.errors import ConversionError, ShapeError
from nestarray.sizes import Condition, IntOrSize, Relations, larger, smaller


class UndecidedSize(ConversionError):
    """Code needs the value of an open size."""


class Scope:
    """The relations of the sizes of one program, and what it asks beyond them.

    Args:
        ranges: name → minimum and maximum; see `Relations`.
        conditions: comparisons that hold.
        example: the sizes of an example, which answers the comparisons that are undecided.
        line: returns the line of the source that asks; None if a comparison that is undecided
            becomes no condition.

    Attributes:
        conditions: the comparisons that the example answered, with the lines that ask.
    """

    def __init__(
        self,
        ranges: Mapping[str, tuple[int, int | None]],
        conditions: Iterable[Condition] = (),
        example: Mapping[str, int] | None = None,
        line: Callable[[], str] | None = None,
    ) -> None:
        self.relations = Relations(ranges)
        for condition in conditions:
            self.relations.assume(condition)
        self.example, self._line = example or {}, line
        self.conditions: list[Condition] = []

    @property
    def makes_conditions(self) -> bool:
        """Whether a comparison that the example answers becomes a condition."""
        return self._line is not None

    def close(self) -> None:
        """End the program: what is asked from now on becomes no condition."""
        self._line = None

    def maker(self, function: Callable[..., Any] | str, operands: tuple[Any, ...]) -> Any:
        """How a program that is recorded computes a size; None if none is recorded."""
        return None

    def decide(self, left: Any, sign: str, right: Any) -> bool:
        """The answer to a comparison, for all sizes or for the example.

        Raises:
            UndecidedSize: it depends on sizes that the example does not have.
        """
        known = self.relations.decide(left, sign, right)
        if known is not None:
            return known
        condition = Condition(left, sign, right)
        if not condition.names <= self.example.keys():
            raise UndecidedSize(f"the code decides by a size: {condition}")
        answer = condition.holds(self.example)
        self._assume(condition if answer else condition.opposite)
        return answer

    def require(self, op: str, left: IntOrSize, sign: str, right: IntOrSize) -> None:
        """A comparison that an op needs; a call of the program fails where it does not hold.

        Raises:
            ShapeError: it does not hold for the example, or for no sizes.
        """
        known = self.relations.decide(left, sign, right)
        condition = Condition(left, sign, right)
        if known is None and condition.names <= self.example.keys():
            known = condition.holds(self.example)
            if known:
                self._assume(condition)
        if known is False:
            raise ShapeError(f"{op}: expected sizes with {condition}")

    def _assume(self, condition: Condition) -> None:
        if self._line is not None:
            condition = condition.on_remainder or condition
            self.relations.assume(condition)
            if condition not in self.conditions:
                self.conditions.append(replace(condition, line=self._line()))

    def larger(self, a: IntOrSize, b: IntOrSize) -> IntOrSize:
        """``max(a, b)``, one of both where it is known which."""
        return self._chosen(a, b, larger)

    def smaller(self, a: IntOrSize, b: IntOrSize) -> IntOrSize:
        """``min(a, b)``, one of both where it is known which."""
        return self._chosen(a, b, smaller)

    def _chosen(
        self, a: IntOrSize, b: IntOrSize, function: Callable[[IntOrSize, IntOrSize], IntOrSize]
    ) -> IntOrSize:
        for sign in (">=", ">"):
            is_larger = self.relations.decide(a, sign, b)
            if is_larger is not None:
                return a if is_larger == (function is larger) else b
        return function(a, b)

    def same(self, op: str, a: IntOrSize, b: IntOrSize) -> IntOrSize:
        """One of two sizes that an op needs to be equal; the number, if one is a number."""
        self.require(op, a, "==", b)
        return b if isinstance(b, int) else a
