"""Ops on Containers: line the leaves up, call the op on each, rebuild.

The rules, in the order in which they are tried, for the array arguments of one call:

1. Containers of one structure are combined leaf by leaf; keys may stand in any order,
   the first Container's order is kept.
2. A prefix Container gives its leaf to the whole subtree that stands there.
3. An array or a number goes to every leaf.
4. Anything else raises `StructureError`, which names the first path that differs.

A leaf of the first Container that is None, a string or bytes is left alone. An op that
returns several arrays returns as many Containers. An error in an op carries the path.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nestarray.container.access import line_up
from nestarray.container.container import Container, from_leaves
from nestarray.container.spec import Spec

if TYPE_CHECKING:
    from nestarray.dispatch import Op

_LEFT_ALONE = (type(None), str, bytes)


def apply(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call `op` leaf by leaf; the handler of Containers in `nestarray.dispatch`."""
    if not kwargs:
        if len(args) == 1:
            return _apply_unary(op, args[0])
        if len(args) == 2 and len(op.array_parameters) == 2 and not op.sequence_parameters:
            first, second = args
            if isinstance(first, Container) and isinstance(second, Container):
                return _apply_binary(op, first, second)
    bound = op.signature.bind(*args, **kwargs)
    arrays = {n: bound.arguments[n] for n in op.array_parameters if n in bound.arguments}
    first = next(c for value in arrays.values() for c in _containers(value))
    spec: Spec = first._spec
    columns = {n: _column(spec, value, op.name) for n, value in arrays.items()}

    def call(index: int) -> Any:
        for name, column in columns.items():
            bound.arguments[name] = column[index]
        return op.function(*bound.args, **bound.kwargs)

    return _rebuild(spec, _each(spec, first._leaves, call))


def _containers(value: Any) -> list[Container]:
    if isinstance(value, Container):
        return [value]
    if isinstance(value, (list, tuple)):
        return [v for v in value if isinstance(v, Container)]
    return []


def _column(spec: Spec, value: Any, name: str) -> Any:
    if isinstance(value, (list, tuple)):
        columns = [line_up(spec, v, name) for v in value]
        return [type(value)(row) for row in zip(*columns, strict=True)] if columns else [value] * spec.num_leaves
    return line_up(spec, value, name)


def _apply_unary(op: Op, c: Any) -> Any:
    if not isinstance(c, Container):  # a sequence that holds Containers
        first = _containers(c)[0]
        rows = _column(first._spec, c, op.name)
        return _rebuild(first._spec, _each(first._spec, first._leaves, lambda i: op.function(rows[i])))
    leaves = c._leaves
    function = _common_function(op, leaves)
    if function is not None:
        try:
            return _rebuild(c._spec, tuple(map(function, leaves)))
        except Exception:  # run again below, where the failing leaf is known
            pass
    return _rebuild(c._spec, _each(c._spec, leaves, lambda i: op.function(leaves[i])))


def _apply_binary(op: Op, a: Container, b: Container) -> Any:
    left = a._leaves
    right = b._leaves if b._spec is a._spec else line_up(a._spec, b, op.name)
    function = _common_function(op, left, right)
    if function is not None:
        try:
            return _rebuild(a._spec, tuple(map(function, left, right)))
        except Exception:  # run again below, where the failing leaf is known
            pass
    return _rebuild(a._spec, _each(a._spec, left, lambda i: op.function(left[i], right[i])))


def _common_function(op: Op, *columns: tuple[Any, ...]) -> Callable[..., Any] | None:
    """The one function that serves all leaves, if the leaves of each column are of one type."""
    key = []
    for column in columns:
        types = set(map(type, column))
        if len(types) != 1:
            return None
        key.append(types.pop())
    return op.table.get(key[0] if len(key) == 1 else tuple(key))


def _each(spec: Spec, leaves: tuple[Any, ...], call: Callable[[int], Any]) -> tuple[Any, ...]:
    results = []
    for index, leaf in enumerate(leaves):
        if isinstance(leaf, _LEFT_ALONE):
            results.append(leaf)
            continue
        try:
            results.append(call(index))
        except Exception as error:
            error.add_note(f"at the Container path {spec.path_names[index]!r}")
            raise
    return tuple(results)


def _rebuild(spec: Spec, results: tuple[Any, ...]) -> Any:
    """A Container of the results; of tuples of one length, a tuple of Containers."""
    first = results[0] if results else None
    if isinstance(first, (tuple, list)):
        lengths = {len(r) if isinstance(r, (tuple, list)) else -1 for r in results}
        if lengths == {len(first)}:
            columns = [from_leaves(spec, column) for column in zip(*results, strict=True)]
            if hasattr(first, "_fields"):
                return type(first)(*columns)
            return type(first)(columns)
    return from_leaves(spec, results)
