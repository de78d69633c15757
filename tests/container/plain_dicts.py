"""The methods of Container on nested dicts, for the tests that compare the two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def find(tree: Any, path: tuple[str, ...]) -> Any:
    """The value at a path; None if there is none."""
    for key in path:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree


def has(tree: Any, path: tuple[str, ...]) -> bool:
    """Whether anything is at a path."""
    node = find(tree, path[:-1])
    return isinstance(node, dict) and path[-1] in node


def can_be_set(tree: Any, path: tuple[str, ...]) -> bool:
    """Whether all that is above a path is nodes, there or to be made."""
    above = [find(tree, path[:i]) for i in range(1, len(path))]
    return all(node is None or isinstance(node, dict) for node in above)


def put(tree: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    """Put a value at a path, with the nodes above it."""
    for key in path[:-1]:
        tree = tree.setdefault(key, {})
    tree[path[-1]] = value


def merge(into: dict[str, Any], other: dict[str, Any]) -> None:
    """Put all entries of another tree, node by node."""
    for key, value in other.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            merge(into[key], value)
        else:
            into[key] = value


def flat(tree: Any, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """The leaves by their paths."""
    if not isinstance(tree, dict):
        return {path: tree}
    return {p: x for k, v in tree.items() for p, x in flat(v, (*path, k)).items()}


def of_leaves(leaves: dict[tuple[str, ...], Any]) -> dict[str, Any]:
    """The tree with these leaves."""
    tree: dict[str, Any] = {}
    for path, leaf in leaves.items():
        put(tree, path, leaf)
    return tree


def places(tree: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The paths of everything in a tree, nodes and leaves."""
    if not isinstance(tree, dict):
        return []
    return [p for k, v in tree.items() for p in ((*path, k), *places(v, (*path, k)))]


def nodes(tree: dict[str, Any]) -> list[dict[str, Any]]:
    """All nodes."""
    return [tree, *(n for v in tree.values() if isinstance(v, dict) for n in nodes(v))]


def pruned(tree: Any) -> Any:
    """The tree without nodes that have no leaves."""
    if not isinstance(tree, dict):
        return tree
    return {k: pruned(v) for k, v in tree.items() if not isinstance(v, dict) or flat(v)}


def ordered(tree: Any) -> Any:
    """The tree with the keys of each node sorted."""
    return {k: ordered(tree[k]) for k in sorted(tree)} if isinstance(tree, dict) else tree


def mapped(fn: Callable[[Any], Any], tree: Any) -> Any:
    """The tree with `fn` of each leaf."""
    return {k: mapped(fn, v) for k, v in tree.items()} if isinstance(tree, dict) else fn(tree)
