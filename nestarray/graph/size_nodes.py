"""Calls that compute open sizes in a graph that is being built."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping

from nestarray.graph.builder import GraphBuilder
from nestarray.graph.node import Function, Node
from nestarray.sizes import IntOrSize, Size, of_tree, tree_of
from nestarray.typing import Nest

_OPERATORS: dict[type, Function] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Pow: operator.pow,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip


def written(
    builder: GraphBuilder,
    size: IntOrSize,
    names: Callable[[str], Node],
    functions: Mapping[str, tuple[str, Function]],
    note: Callable[[Size, Node], object] = lambda size, node: None,
) -> Nest:
    """A size as an int or as the node that computes it.

    Args:
        builder: of the graph.
        size: the size.
        names: the node of a name.
        functions: ``"max"`` and ``"min"`` → (printed name, function) in the graph.
        note: takes each part that becomes a call, and the node.
    """

    def call(
        part: ast.expr, name: str, function: Function, printed: str, *operands: ast.expr
    ) -> Nest:
        node = builder.call(name, function, printed, tuple(map(value, operands)))
        note(of_tree(part), node)
        return node

    def value(part: ast.expr) -> Nest:
        match part:
            case ast.Constant(value=number):
                return number
            case ast.Name(id=name):
                return names(name)
            case ast.UnaryOp(ast.USub(), ast.Constant(value=int() as number)):
                return -number
            case ast.UnaryOp(ast.USub(), operand):
                return call(part, "mul", operator.mul, "operator.mul", ast.Constant(-1), operand)
            case ast.BinOp(left, op, right):
                function = _OPERATORS[type(op)]
                name = function.__name__
                return call(part, name, function, f"operator.{name}", left, right)
            case ast.Call(ast.Name(id=name), operands) if name in functions:
                printed, function = functions[name]
                return call(part, printed.rpartition(".")[2], function, printed, *operands)
        raise AssertionError(ast.unparse(part))

    return value(tree_of(size))
