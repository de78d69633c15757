"""torch's expressions of symbols, in sympy, as sizes."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
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


def _compared(sign: str, a: Any, b: Any) -> _Conditions:
    return (Condition(a, sign, b),)


def _rounded(function: str, x: Any, dtype: Any) -> IntOrSize:
    return rounded(function, x)


class _Arithmetic:
    """The operations that torch's interpreter of expressions calls, on sizes and conditions.

    Args:
        example: sizes for which conditions hold; see `nestarray.sizes.any_of`.
    """

    def __init__(self, example: Mapping[str, int]) -> None:
        self._example = example

    def or_(self, a: _Conditions, b: _Conditions) -> _Conditions:
        return any_of((a, b), self._example)

    def not_(self, a: _Conditions) -> _Conditions:
        return opposites(a, self._example)

    def eq(self, a: Any, b: Any) -> _Conditions:
        if isinstance(a, tuple):
            return equal_answers(a, b, self._example)
        return (Condition(a, "==", b),)

    def ne(self, a: Any, b: Any) -> _Conditions:
        return self.eq(a, self.not_(b)) if isinstance(a, tuple) else (Condition(a, "!=", b),)

    add, mul, pow, pow_by_natural, floordiv, mod, python_mod = (
        staticmethod(partial(computed, sign)) for sign in ("+", "*", "**", "**", "//", "%", "%")
    )
    lt, le, gt, ge = (staticmethod(partial(_compared, sign)) for sign in ("<", "<=", ">", ">="))
    floor_to_int, ceil_to_int, trunc_to_int, round_to_int = (
        staticmethod(partial(_rounded, function))
        for function in ("math.floor", "math.ceil", "int", "round")
    )
    truediv = int_truediv = staticmethod(partial(real, "/"))
    sqrt = staticmethod(partial(real, "math.sqrt"))
    minimum, maximum, and_ = staticmethod(smaller), staticmethod(larger), staticmethod(operator.add)

    def sym_sum(self, operands: Sequence[Any]) -> Any:
        return functools.reduce(self.add, operands)

    def abs(self, x: IntOrSize) -> IntOrSize:
        return larger(x, -x)

    def identity(self, x: Any) -> Any:
        return x

    def to_dtype(self, x: Any, dtype: Any) -> Any:
        return real("float", x)

    def constant(self, value: Any, dtype: Any) -> Any:
        if value.is_Boolean:
            return () if value else (Condition(0, "!=", 0),)
        return int(value) if value.is_Integer else float(value)


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
    from torch.utils._sympy.interp import sympy_interp

    sizes = {symbol: size_of(symbol) for symbol in expression.free_symbols}
    try:
        return sympy_interp(_Arithmetic(example or {}), sizes, expression)
    except (AttributeError, KeyError, TypeError):  # an operation that sizes do not have
        raise ArgumentError(f"sizes: {expression} is no arithmetic of sizes") from None
