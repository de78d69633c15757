"""torch's expressions of symbols, in sympy, as sizes."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from nestarray.errors import ArgumentError
from nestarray.sizes import (
    Condition,
    IntOrSize,
    any_of,
    computed,
    equal_answers,
    larger,
    opposites,
    real,
    rounded,
    smaller,
)

_Conditions = tuple[Condition, ...]


def _power(x: Any, exponent: Any) -> Any:
    return real("math.sqrt", x) if exponent == 0.5 else computed("**", x, exponent)


#: Function of sympy or torch → the same on sizes. Those of more operands are taken in order.
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "Add": partial(computed, "+"), "Mul": partial(computed, "*"), "Max": larger, "Min": smaller,
    "FloorDiv": partial(computed, "//"), "CleanDiv": partial(computed, "//"),
    "Mod": partial(computed, "%"), "PythonMod": partial(computed, "%"),
    "Pow": _power, "FloatPow": _power, "PowByNatural": _power,
    "floor": partial(rounded, "math.floor"), "FloorToInt": partial(rounded, "math.floor"),
    "ceiling": partial(rounded, "math.ceil"), "CeilToInt": partial(rounded, "math.ceil"),
    "TruncToInt": partial(rounded, "int"), "RoundToInt": partial(rounded, "round"),
    "IntTrueDiv": partial(real, "/"), "FloatTrueDiv": partial(real, "/"),
    "ToFloat": partial(real, "float"), "OpaqueUnaryFn_sqrt": partial(real, "math.sqrt"),
    "Abs": lambda x: larger(x, -x), "Identity": lambda x: x, "And": operator.add,
}  # fmt: skip
_OF_MANY = ("Add", "Mul", "Max", "Min", "And", "Or")
_SIGNS = {
    "Equality": "==", "Unequality": "!=", "StrictLessThan": "<", "LessThan": "<=",
    "StrictGreaterThan": ">", "GreaterThan": ">=",
}  # fmt: skip


def _computed(expression: Any, sizes: Mapping[Any, IntOrSize], example: Mapping[str, int]) -> Any:
    """The value of an expression of sizes; of a condition the comparisons that it requires."""
    name = type(expression).__name__
    if expression.is_Symbol:
        return sizes[expression]
    if expression.is_Number:
        return int(expression) if expression.is_Integer else float(expression)
    if name in ("BooleanTrue", "BooleanFalse"):
        return () if expression else (Condition(0, "!=", 0),)
    args = [_computed(each, sizes, example) for each in expression.args]
    if name in _SIGNS:
        left, right = args
        return _compared(_SIGNS[name], left, right, example)
    if name == "Not":
        return opposites(args[0], example)
    if name == "Or":
        return functools.reduce(lambda a, b: any_of((a, b), example), args)
    function = _FUNCTIONS[name]
    return functools.reduce(function, args) if name in _OF_MANY else function(*args)


def _compared(sign: str, a: Any, b: Any, example: Mapping[str, int]) -> _Conditions:
    if not isinstance(a, tuple):
        return (Condition(a, sign, b),)
    return equal_answers(a, b if sign == "==" else opposites(b, example), example)


def converted(
    expression: Any, size_of: Callable[[Any], IntOrSize], example: Mapping[str, int] | None = None
) -> Any:
    """A number, a Size or a Real; of a condition the comparisons that it requires.

    Args:
        expression: of sympy.
        size_of: the size of a symbol.
        example: sizes for which a condition holds.

    Raises:
        ArgumentError: it has a function that sizes lack.

    Example:
        >>> import sympy
        >>> from nestarray.importers.torch.symbols import converted
        >>> from nestarray.sizes import named
        >>> n = sympy.Symbol("n", integer=True)
        >>> converted(2 * n + 1, lambda symbol: named(symbol.name))
        Size('2 * n + 1')
    """
    sizes = {symbol: size_of(symbol) for symbol in expression.free_symbols}
    try:
        return _computed(expression, sizes, example or {})
    except (KeyError, TypeError):  # an operation that sizes do not have
        raise ArgumentError(f"sizes: {expression} is no arithmetic of sizes") from None
