"""A size as an expression of Python, and back."""

from __future__ import annotations

import ast
import contextlib
import functools
from collections.abc import Mapping
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
    computed,
    larger,
    named,
    real,
    rounded,
    smaller,
)
from nestarray.sizes.relations import Condition, any_of, equal_answers, opposites

_OPERATORS: dict[str, type[ast.operator]] = {
    "+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div, "**": ast.Pow, "//": ast.FloorDiv,
    "%": ast.Mod,
}  # fmt: skip


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
    text = ast.unparse(tree_of(x))
    if isinstance(x, Size):
        x.text = text
    return text


Size.__str__ = Real.__str__ = text_of  # type: ignore[assignment]


def tree_of(x: Any) -> ast.expr:
    """The syntax tree of the expression."""
    if isinstance(x, Real):
        operands = [*map(tree_of, x.operands)]
        return _applied(x.function, *operands)
    if not isinstance(x, Size):
        return _applied("-", ast.Constant(-x)) if x < 0 else ast.Constant(x)
    for variable in x.variables:
        if isinstance(variable, Positive):
            extreme = _extreme(x, variable)
            if extreme is not None:
                return extreme
    terms, parts = x, list[tuple[int, list[ast.expr]]]()
    for variable in x.variables:
        if isinstance(variable, Quotient):
            terms, remainders = _without_remainder(terms, variable)
            parts += remainders
    terms_left = terms.terms.items() if isinstance(terms, Size) else [((), terms)] if terms else []
    parts = [(n, _factors(monomial)) for monomial, n in terms_left] + parts
    tree: ast.expr | None = None
    for n, factors in sorted(parts, key=lambda part: (part[0] < 0, not part[1])):
        number = [] if factors and abs(n) == 1 else [ast.Constant(abs(n))]
        first, *others = [*number, *factors]
        if tree is None and n < 0:
            first = _applied("-", first)
        amount = functools.reduce(functools.partial(_applied, "*"), others, first)
        tree = amount if tree is None else _applied("-" if n < 0 else "+", tree, amount)
    assert tree is not None
    return tree


def _extreme(x: Size, variable: Positive) -> ast.expr | None:
    """``max(a, b)`` of ``b + max(a - b, 0)``, and ``min(a, b)``, where that is shorter."""
    monomial = ((variable, 1),)
    factor = x.terms.get(monomial, 0)
    if abs(factor) != 1:
        return None
    other: IntOrSize = x - factor * Size({monomial: 1})
    sides = other, other + factor * variable.argument
    if sum(map(_length, sides)) >= _length(other) + _length(variable.argument):
        return None
    function = ("min", "max")[factor > 0]
    return _applied(function, *map(tree_of, sorted(sides, key=lambda side: isinstance(side, int))))


def _without_remainder(
    x: IntOrSize, variable: Quotient
) -> tuple[IntOrSize, list[tuple[int, list[ast.expr]]]]:
    """The other terms of a size with a remainder, and (factor, trees) of the remainder."""
    a, b = variable
    quotient = Size({((variable, 1),): 1})
    factor = x.terms.get(((variable, 1),), 0) if isinstance(x, Size) else 0
    if factor >= 0 or not isinstance(b, int) or factor % b:
        return x, []
    left = x - -factor // b * (a - b * quotient)
    if _length(left) >= _length(x):
        return x, []
    return left, [(-factor // b, [_applied("%", tree_of(a), tree_of(b))])]


def _length(x: IntOrSize) -> int:
    return len(x.terms) if isinstance(x, Size) else int(x != 0)


def _factors(monomial: Monomial) -> list[ast.expr]:
    return [
        _variable(v) if power == 1 else _applied("**", _variable(v), ast.Constant(power))
        for v, power in monomial
    ]


def _variable(variable: Variable) -> ast.expr:
    match variable:
        case Name(text):
            return ast.Name(text)
        case Quotient(numerator, denominator):
            return _applied("//", tree_of(numerator), tree_of(denominator))
        case Positive(argument):
            return _applied("max", tree_of(argument), ast.Constant(0))
        case Rounded(function, argument):
            return _applied(function, tree_of(argument))


def _applied(function: str, *operands: ast.expr) -> ast.expr:
    """An operator or a function of expressions."""
    if function not in _OPERATORS:
        return ast.Call(ast.parse(function, mode="eval").body, [*operands], [])
    if len(operands) == 1:
        return ast.UnaryOp(ast.USub(), operands[0])
    return ast.BinOp(operands[0], _OPERATORS[function](), operands[1])


# -- reading -------------------------------------------------------------------------------

_COMPARISONS: dict[type, str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
_SIGNS = {operator: sign for sign, operator in _OPERATORS.items()}


def parse(text: str) -> Any:
    """The size that an expression describes: a number, a `Size` or a `Real`.

    Raises:
        ArgumentError: there is something else in it.

    Example:
        >>> from nestarray.sizes import parse
        >>> parse("max(n, 2) + n % 2"), parse("7 // 2")
        (Size('max(n - 2, 0) + n % 2 + 2'), 3)
    """
    return of_tree(ast.parse(text, mode="eval").body)


def parse_conditions(text: str, example: Mapping[str, int]) -> tuple[Condition, ...]:
    """The comparisons that a condition of a file requires.

    Args:
        text: comparisons, with ``and``, ``or`` and ``not``.
        example: sizes for which it holds. Of ``a or b`` the first that holds for them is required.

    Raises:
        ArgumentError: it does not compare sizes.

    Example:
        >>> from nestarray.sizes import parse_conditions
        >>> [*map(str, parse_conditions("2 <= n < 9 and not n % 2 == 1", {"n": 4}))]
        ['2 <= n', 'n < 9', 'n % 2 != 1']
    """
    return _conditions(ast.parse(text, mode="eval").body, example)


def _conditions(node: ast.expr, example: Mapping[str, int]) -> tuple[Condition, ...]:
    match node:
        case ast.BoolOp(ast.And(), parts):
            return tuple([each for part in parts for each in _conditions(part, example)])
        case ast.BoolOp(ast.Or(), parts):
            return any_of([_conditions(part, example) for part in parts], example)
        case ast.Compare(ast.Compare() as left, [ast.Eq() | ast.NotEq() as sign], [right]):
            a, b = _conditions(left, example), _conditions(right, example)
            return equal_answers(
                a, b if isinstance(sign, ast.Eq) else opposites(b, example), example
            )
        case ast.Compare(left, signs, rights) if all(type(sign) in _COMPARISONS for sign in signs):
            sides = [*map(of_tree, [left, *rights])]
            texts = [_COMPARISONS[type(sign)] for sign in signs]
            return tuple(map(Condition, sides, texts, sides[1:]))
        case ast.UnaryOp(ast.Not(), operand):
            return opposites(_conditions(operand, example), example)
    raise ArgumentError(f"sizes: {ast.unparse(node)!r} is no condition on sizes")


def of_tree(node: ast.expr) -> Any:
    """The size that a syntax tree describes; see `parse`."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.Name(id=name):
            return named(name)
        case ast.UnaryOp(ast.USub(), operand):
            return -of_tree(operand)
        case ast.BinOp(left, op, right) if type(op) in _SIGNS:
            with contextlib.suppress(TypeError):  # a real number has no //
                return computed(_SIGNS[type(op)], of_tree(left), of_tree(right))
        case ast.Call(function, arguments, []):
            name, operands = ast.unparse(function), [of_tree(x) for x in arguments]
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
