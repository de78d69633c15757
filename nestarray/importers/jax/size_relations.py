"""Relations of open sizes that JAX cannot derive, and that a trace tells it.

JAX stops where a comparison of sizes is true for some only, and where two sizes are equal that it
computes in two ways, ``(n - 4) // 4 + 1`` and ``n // 4``. Its errors name both sides.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from nestarray.graph.sizes import evaluate, holds, names_in

#: The number of points at which two sizes are compared.
_POINTS = 48


def completed(
    trace: Callable[[Sequence[str]], Any], find: Callable[[str], Sequence[str]]
) -> tuple[Any, list[str]]:
    """The result of a trace, and the relations that it needed.

    Args:
        trace: takes constraints of a ``jax.export.SymbolicScope``.
        find: the constraints that an error lacks.
    """
    known: list[str] = []
    while True:
        try:
            return trace(known), known
        except Exception as error:
            cause = error
            while cause.__cause__ is not None:
                cause = cause.__cause__
            new = [text for text in find(str(cause)) if text not in known]
            if not new:
                raise
            known += new


def conditions(message: str, example: Mapping[str, int]) -> list[str]:
    """The inequality of an error, or the opposite one: it holds for the example."""
    compared = re.search(r"comparison '(.+)' (<|<=|>|>=) '(.+)' is inconclusive", message)
    if compared is None:
        return []
    left, sign, right = compared.groups()
    if not holds(in_python(f"({left}) {sign} ({right})"), example):
        sign = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}[sign]
    offset = {"<": " - 1", ">": " + 1"}.get(sign, "")  # JAX takes >= and <=
    return [f"{left} {sign[0]}= {right}{offset}"]


def equalities(message: str) -> list[str]:
    """The sizes of an error that are always equal: the longer one is the shorter one."""
    groups: dict[tuple[int, ...], list[str]] = {}
    sizes = dict.fromkeys(_sizes(message))
    names = sorted({name for text in sizes for name in names_in(in_python(text))})
    points = [
        {name: 8 + k * (2 * i + 1) % 101 for i, name in enumerate(names)} for k in range(_POINTS)
    ]
    for text in sizes:
        values = tuple([evaluate(in_python(text), point) for point in points])
        groups.setdefault(values, []).append(text)
    found = []
    for texts in groups.values():
        shortest, *others = sorted(texts, key=len)
        found += [_equality(text, shortest) for text in others]
    return found


def _sizes(message: str) -> Iterator[str]:
    """The open sizes in the shapes of an error."""
    for start in re.finditer(r"(?<!\w)\(", message):
        depth, end = 1, start.end()
        while depth and end < len(message):
            depth += {"(": 1, ")": -1}.get(message[end], 0)
            end += 1
        try:
            shape = ast.parse(message[start.start() : end], mode="eval").body
        except SyntaxError:
            continue
        sizes = shape.elts if isinstance(shape, ast.Tuple) else []
        yield from (ast.unparse(x) for x in sizes if not isinstance(x, ast.Constant))


def _equality(size: str, other: str) -> str:
    """``size == other`` with one term on the left, as JAX requires."""
    term = ast.parse(size, mode="eval").body
    while isinstance(term, ast.BinOp) and isinstance(term.op, (ast.Add, ast.Sub)):
        sign = "-" if isinstance(term.op, ast.Add) else "+"
        other = f"{other} {sign} {ast.unparse(term.right)}"
        term = term.left
    return f"{ast.unparse(term)} == {other}"


class _Operators(ast.NodeTransformer):
    """Operators of Python in place of JAX's functions."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        operators = {"floordiv": ast.FloorDiv, "mod": ast.Mod}
        if isinstance(node.func, ast.Name) and node.func.id in operators:
            return ast.BinOp(node.args[0], operators[node.func.id](), node.args[1])
        return node


def parsed(size: Any) -> ast.expr:
    """The syntax tree of a size of JAX."""
    return _Operators().visit(ast.parse(str(size).replace("^", "**"), mode="eval")).body


def in_python(text: str) -> str:
    """An expression of JAX in operators of Python."""
    return ast.unparse(parsed(text))
