"""Python expressions, with parentheses only where Python needs them."""

from __future__ import annotations

import cmath
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from nestarray.dtypes import DType


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


def value_expression(value: Any, names: Names, dtype: Callable[[DType], str]) -> Expression:
    """The expression of an argument.

    Args:
        value: a nest of constants, and of what `names` knows.
        names: the text of other leaves.
        dtype: the text of a dtype.
    """

    def text(item: Any) -> str:
        return value_expression(item, names, dtype).text

    if isinstance(value, DType):
        return Expression(dtype(value))
    if value is None or isinstance(value, (bool, str)):
        return Expression(repr(value))
    if isinstance(value, (int, float, complex)):
        return number(value)
    if value is Ellipsis:
        return Expression("...")
    if isinstance(value, (list, tuple)):
        items = ", ".join(map(text, value))
        if isinstance(value, list):
            return Expression(f"[{items}]")
        return Expression(f"({items}{',' if len(value) == 1 else ''})")
    if isinstance(value, slice):
        is_forward = value.step is None or (isinstance(value.step, int) and value.step > 0)
        start = None if is_forward and value.start == 0 else value.start
        parts = ["" if part is None else text(part) for part in (start, value.stop)]
        step = "" if value.step in (None, 1) else f":{text(value.step)}"
        return Expression(":".join(parts) + step)
    if isinstance(value, Mapping):
        return Expression("{" + ", ".join(f"{k!r}: {text(x)}" for k, x in value.items()) + "}")
    return names(value)


def number(value: int | float | complex) -> Expression:
    """A number as Python writes it."""
    if isinstance(value, complex):
        parts = f"complex({number(value.real).text}, {number(value.imag).text})"
        return Expression(repr(value) if cmath.isfinite(value) else parts)
    if isinstance(value, float) and not math.isfinite(value):
        return Expression(f'float("{value}")')
    power = f"{value:.0e}".replace("e+0", "e").replace("e+", "e")
    is_short = isinstance(value, float) and abs(value) >= 1e6 and float(power) == value
    return Expression(power if is_short else repr(value), 2 if value < 0 else 0)


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
