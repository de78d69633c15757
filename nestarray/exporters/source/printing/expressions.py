"""Python expressions, with parentheses only where Python needs them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Expression(NamedTuple):
    """Text and the rank of its operator: a higher rank binds less."""

    text: str
    rank: int = 0

    def within(self, rank: int) -> str:
        """The text as an operand."""
        return self.text if self.rank <= rank else f"({self.text})"


#: Operator → (sign, rank).
BINARY = {
    "pow": ("**", 1), "mul": ("*", 3), "truediv": ("/", 3), "floordiv": ("//", 3), "mod": ("%", 3),
    "matmul": ("@", 3), "add": ("+", 4), "sub": ("-", 4), "and_": ("&", 6), "xor": ("^", 7),
    "lshift": ("<<", 5), "rshift": (">>", 5), "or_": ("|", 8), "lt": ("<", 9), "le": ("<=", 9), "gt": (">", 9), "ge": (">=", 9),
    "eq": ("==", 9), "ne": ("!=", 9),
}  # fmt: skip
UNARY = {"neg": "-", "invert": "~", "pos": "+"}

#: The text of a Value or a Setting.
Names = Callable[[Any], Expression]


def operator_expression(name: str, operands: list[Expression]) -> Expression:
    """The expression of a function of Python's ``operator``."""
    if name in UNARY:
        return Expression(f"{UNARY[name]}{operands[0].within(2)}", 2)
    sign, rank = BINARY[name]
    left, right = operands
    if name == "pow":
        return Expression(f"{left.within(0)}**{right.within(2)}", 1)
    is_comparison = rank == 9
    return Expression(f"{left.within(rank - is_comparison)} {sign} {right.within(rank - 1)}", rank)


def operation_expression(
    name: str, args: Sequence[Any], operand: Callable[[Any], Expression]
) -> Expression:
    """The expression of a function of Python's ``operator``; ``setitem`` is an assignment.

    Args:
        name: of the function.
        args: of the call.
        operand: the expression of an argument.
    """
    if name in UNARY or name in BINARY:
        return operator_expression(name, [operand(x) for x in args])
    if name not in ("getitem", "setitem"):
        return Expression(f"{name}({', '.join(operand(x).text for x in args)})")
    index = _of_last_axes(args[1], len(args[0].shape))
    element = index_expression(operand(args[0]), index, lambda x: operand(x).text)
    if name == "getitem":
        return element
    return Expression(f"{element.text} = {operand(args[2]).text}")


def _of_last_axes(index: Any, rank: int) -> Any:
    """An index without whole axes at its end, or with an Ellipsis for several at its start."""
    is_plain = isinstance(index, tuple) and Ellipsis not in index
    while is_plain and len(index) > 1 and index[-1] == slice(None):
        index = index[:-1]
    is_whole = isinstance(index, tuple) and len(index) == rank
    if not is_whole or any(item is None for item in index):
        return index
    whole = [*itertools.takewhile(lambda item: item == slice(None), index)]
    return (..., *index[len(whole) :]) if len(whole) > 1 else index


def index_expression(of: Expression, index: Any, text: Callable[[Any], str]) -> Expression:
    """``of[index]``."""
    items = index if isinstance(index, tuple) and index else (index,)
    return Expression(f"{of.within(0)}[{', '.join(map(text, items))}]")
