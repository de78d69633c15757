"""Merge calls that compute the same."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping

from nestarray.graph.graph import Graph
from nestarray.graph.node import Call, Node, bodies, is_variable
from nestarray.graph.passes.rewriting import Writer, has, op_name, rewrite
from nestarray.traits import Trait


def merge_common_subexpressions(graph: Graph, of: Collection[str] | None = None) -> Graph:
    """One call where several call the same function with the same arguments.

    Draws of random numbers are kept apart, and so are loops and choices. A call in the body of a
    loop or a choice becomes the equal one before it.

    Args:
        graph: the graph; it is not changed.
        of: the ops; None: all functions.

    Before::

        def graph(x, y):  # float32[3], float32[3]
            a = na.add(x, y)
            b = na.add(y, x)
            c = na.multiply(a, b)
            return c

    After::

        def graph(x, y):  # float32[3], float32[3]
            a = na.add(x, y)
            c = na.multiply(a, a)
            return c
    """
    first: dict[tuple[int, Hashable], Call] = {}

    def rule(writer: Writer, node: Call) -> Node | None:
        if (of is not None and op_name(node) not in of) or node.is_random or any(bodies(node.args)):
            return None
        is_commutative = has(node, Trait.COMMUTATIVE) and len(node.args) == 2
        args = frozenset(map(_key, node.args)) if is_commutative else _key(node.args)
        key = (node.target_name, args, _key(node.kwargs))
        for scope in writer.scopes:
            if (scope, key) in first:
                return first[scope, key]
        first[writer.scopes[-1], key] = node
        return None

    return rewrite(graph, rule, in_bodies=True)


def is_equal(x: object, y: object) -> bool:
    """Whether two nests of nodes and constants have the same values: also by equal calls."""
    if isinstance(x, (list, tuple)) and isinstance(y, (list, tuple)) and type(x) is type(y):
        return len(x) == len(y) and all(map(is_equal, x, y))
    if isinstance(x, Mapping) and isinstance(y, Mapping):
        return is_equal([*x.items()], [*y.items()])
    if _key(x) == _key(y):
        return True
    if not (isinstance(x, Call) and isinstance(y, Call)) or x.is_random or any(bodies(x.args)):
        return False
    return x.target_name == y.target_name and is_equal((x.args, x.kwargs), (y.args, y.kwargs))


def _key(value: object) -> Hashable:
    """Equal for equal arguments; 1, 1.0 and True differ, and so do 0.0 and -0.0."""
    if isinstance(value, Node):
        return (value.source, value.path) if is_variable(value) else id(value)
    if isinstance(value, (list, tuple)):
        return (type(value), *map(_key, value))
    if isinstance(value, Mapping):
        return ("mapping", *((name, _key(item)) for name, item in value.items()))
    if isinstance(value, slice):
        return ("slice", _key(value.start), _key(value.stop), _key(value.step))
    return (type(value), repr(value))
