"""A size as an expression of Python, and back."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from nestarray.errors import ArgumentError
from nestarray.sizes.expressions import (
    REAL_FUNCTIONS,
    ROUNDINGS,
    IntOrSize,
    Monomial,
    Name,
    Positive,
    Quotient,
    Real,
    Rounded,
    Size,
    Variable,
    larger,
    named,
    real,
    rounded,
    smaller,
)


def text_of(x: Any) -> str:
    """The expression, such as ``"2 * batch + 1"``.

    Remainders are written as such.

    Example:
        >>> from nestarray.sizes import named
        >>> n = named("n")
        >>> str(n % 4), str(-(-n // 2) + n), str(n * n - 3)
        ('n % 4', 'n + (n + 1) // 2', 'n ** 2 - 3')
    """
    if isinstance(x, Size) and x.text:
        return x.text
    text = ast.unparse(ast.parse(_written(x).strip(), mode="eval"))
    if isinstance(x, Size):
        x.text = text
    return text


Size.__str__ = Real.__str__ = text_of  # type: ignore[assignment]


def _written(x: Any) -> str:
    """The expression with all parentheses."""
    if isinstance(x, Real):
        first, *others = map(_written, x.operands)
        if x.function.isidentifier() or "." in x.function:
            return f"{x.function}({', '.join([first, *others])})"
        return f"(({first}) {x.function} ({others[0]}))"
    if not isinstance(x, Size):
        return repr(x)
    terms, parts = x, list[tuple[int, str]]()
    for variable in x.variables:
        if isinstance(variable, Quotient):
            terms, remainders = _without_remainder(terms, variable)
            parts += remainders
    terms_left = terms.terms.items() if isinstance(terms, Size) else [((), terms)] if terms else []
    parts = [(n, _product_text(monomial)) for monomial, n in terms_left] + parts
    text = ""
    for n, factor in sorted(parts, key=lambda part: (part[0] < 0, not part[1])):
        amount = str(abs(n)) if not factor else factor if abs(n) == 1 else f"{abs(n)} * {factor}"
        text += (" - " if n < 0 else " + " if text else "") + amount
    return text


def _without_remainder(x: IntOrSize, variable: Quotient) -> tuple[IntOrSize, list[tuple[int, str]]]:
    """The other terms of a size with a remainder, and (factor, text) of the remainder."""
    a, b = variable
    quotient = Size({((variable, 1),): 1})
    factor = x.terms.get(((variable, 1),), 0) if isinstance(x, Size) else 0
    if factor >= 0 or not isinstance(b, int) or factor % b:
        return x, []
    left = x - -factor // b * (a - b * quotient)
    if _length(left) >= _length(x):
        return x, []
    return left, [(-factor // b, f"(({_written(a)}) % {b})")]


def _length(x: IntOrSize) -> int:
    return len(x.terms) if isinstance(x, Size) else int(x != 0)


def _product_text(monomial: Monomial) -> str:
    return " * ".join(
        _variable_text(v) if power == 1 else f"{_variable_text(v)} ** {power}"
        for v, power in monomial
    )


def _variable_text(variable: Variable) -> str:
    match variable:
        case Name(text):
            return text
        case Quotient(numerator, denominator):
            return f"(({_written(numerator)}) // ({_written(denominator)}))"
        case Positive(argument):
            return f"max({_written(argument)}, 0)"
        case Rounded(function, argument):
            return f"{function}({_written(argument)})"


# -- reading -------------------------------------------------------------------------------

_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
}  # fmt: skip
_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}


def parse(text: str) -> Any:
    """The size that an expression describes: a number, a `Size` or a `Real`.

    Raises:
        ArgumentError: there is something else in it.

    Example:
        >>> from nestarray.sizes import parse
        >>> parse("max(n, 2) + n % 2"), parse("7 // 2")
        (Size('max(n - 2, 0) + n % 2 + 2'), 3)
    """
    return _read(ast.parse(text, mode="eval").body)


def _read(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.Name(id=name):
            return named(name)
        case ast.UnaryOp(ast.USub(), operand):
            return -_read(operand)
        case ast.BinOp(left, op, right):
            a, b = _read(left), _read(right)
            if all(isinstance(x, (int, Size)) for x in (a, b)) and type(op) in _OPERATORS:
                return _OPERATORS[type(op)](a, b)
            if type(op) in _SIGNS:
                return real(_SIGNS[type(op)], a, b)
        case ast.Call(function, arguments, []):
            name, operands = ast.unparse(function), [_read(x) for x in arguments]
            if name in ("max", "min") and all(isinstance(x, (int, Size)) for x in operands):
                first, *others = operands
                for other in others:
                    first = (larger if name == "max" else smaller)(first, other)
                return first
            if name == "abs" and isinstance(operands[0], (int, Size)):
                return larger(operands[0], -operands[0])
            if name in ROUNDINGS or name == "math.trunc":
                return rounded("int" if name == "math.trunc" else name, *operands)
            if name in REAL_FUNCTIONS:
                return real(name, *operands)
    raise ArgumentError(f"sizes: {ast.unparse(node)!r} is no arithmetic of sizes")
