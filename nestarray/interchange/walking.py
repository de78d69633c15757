"""Conversion between Containers and trees of any node classes.

The caller passes a function that opens a node: it returns the children, their keys, and a function
that rebuilds the node from new children. Trees with shared parts are traversed as trees; leaves
keep their identity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from nestarray.container import Container
from nestarray.container.container import from_leaves
from nestarray.container.spec import LEAF, Key, Path, Spec, join_path, make_spec
from nestarray.errors import StructureError
from nestarray.interchange.fitting import align_by_path, convert_arrays


class Opened(NamedTuple):
    """The keys and children of a node, and the function that rebuilds it."""

    kind: str
    keys: Sequence[Any]
    children: Sequence[Any]
    rebuild: Callable[[list[Any]], Any]


#: The opened node, or None for a leaf.
Opener = Callable[[Any], Opened | None]


def container_of(tree: Any, opener: Opener, function: str) -> Container:
    """The Container of all leaves of `tree`.

    Raises:
        StructureError: a key is neither a string nor an integer, a node has two children of
            the same key, or a node contains itself.
    """
    leaves: list[Any] = []
    open_nodes: set[int] = set()

    def walk(node: Any, path: Path) -> Spec:
        if isinstance(node, Container):
            # a leaf of it may be a node, such as a list, or what optax.masked leaves
            inner = [
                walk(leaf, (*path, *keys)) for keys, leaf in zip(node.spec.paths, node.leaves())
            ]
            return _grafted(node.spec, iter(inner))
        opened = opener(node)
        if opened is None:
            leaves.append(node)
            return LEAF
        if id(node) in open_nodes:
            raise StructureError(
                f"{function}: the {type(node).__name__} at {join_path(path)!r} contains itself, "
                "expected a tree"
            )
        open_nodes.add(id(node))
        keys = tuple([_checked(key, path, function) for key in opened.keys])
        if len(set(keys)) < len(keys):
            twice = next(key for key in keys if keys.count(key) > 1)
            raise StructureError(
                f"{function}: the {type(node).__name__} at {join_path(path)!r} has two children of "
                f"the key {twice!r}"
            )
        children = zip(keys, opened.children, strict=True)
        specs = tuple([walk(child, (*path, key)) for key, child in children])
        open_nodes.remove(id(node))
        return make_spec(opened.kind, keys, specs)

    spec = walk(tree, ())
    return from_leaves(spec, tuple(leaves))


def _grafted(spec: Spec, inner: Iterator[Spec]) -> Spec:
    """`spec` with another spec at each leaf."""
    if spec is LEAF:
        return next(inner)
    return make_spec(spec.kind, spec.keys, tuple([_grafted(c, inner) for c in spec.children]))


def _checked(key: Any, path: Path, function: str) -> Key:
    if isinstance(key, (str, int)) and not isinstance(key, bool):
        return key
    where = f"at {join_path(path)!r}" if path else "at the top"
    raise StructureError(
        f"{function}: got the key {key!r} {where}, expected a string or an integer"
    )


def tree_of(
    c: Container, like: Any, opener: Opener, function: str, backend: str | None = None
) -> Any:
    """`like` with the leaves of `c` in place of the original leaves, matched by path.

    With a `backend`, arrays are converted to it; see `convert_arrays`.

    Raises:
        StructureError: a path is missing in one of the two.
    """
    places = container_of(like, opener, function)
    target = "`like`" if type(like) in (dict, list, tuple) else f"the {type(like).__name__}"
    leaves = align_by_path(places.spec, c, function, target)
    if backend is not None:
        leaves = convert_arrays(leaves, backend, places.leaves())
    return rebuilt(like, iter(leaves), opener)


def rebuilt(like: Any, leaves: Iterator[Any], opener: Opener) -> Any:
    """`like` with its leaves replaced by `leaves`, in the order of `container_of`."""
    if isinstance(like, Container):
        parts = [rebuilt(leaf, leaves, opener) for leaf in like.leaves()]
        return from_leaves(like.spec, tuple(parts))
    opened = opener(like)
    if opened is None:
        return next(leaves)
    return opened.rebuild([rebuilt(child, leaves, opener) for child in opened.children])
