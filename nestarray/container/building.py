"""The base class of Container, and spec and leaves from Python trees.

`Parts` is the assignable base of Container: `nestarray.container.container` fills one, and then
changes its class to Container.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, Mapping
from typing import Any

from nestarray.container import arguments
from nestarray.container.spec import LEAF, Key, Spec, make_spec, plain_key
from nestarray.errors import StructureError


class Parts:
    """The attributes of a Container; assignable while it is built."""

    __slots__ = ("__weakref__", "_leaves", "_note", "_spec")
    _spec: Spec
    _leaves: tuple[Any, ...]
    _note: Any  # the LeafKinds of the leaves, or None until first use


def build(tree: Any, kind: str = "dict") -> tuple[Spec, tuple[Any, ...]]:
    """Spec and leaves of any tree that `Container` accepts; `kind` is for iterables of pairs."""
    leaves: list[Any] = []
    if isinstance(tree, (Iterator, ItemsView)):
        tree = arguments.pairs_of(iter(tree))
    try:
        spec = _build(tree, leaves, kind)
    except RecursionError:
        raise StructureError(
            f"Container: the {type(tree).__name__} contains itself, or is nested deeper than "
            "Python's sys.getrecursionlimit() lets it be read; expected a tree"
        ) from None
    return spec, tuple(leaves)


def _build(tree: Any, leaves: list[Any], kind: str = "dict") -> Spec:
    if isinstance(tree, Parts):
        leaves.extend(tree._leaves)
        return tree._spec
    if isinstance(tree, Mapping):
        keys = tuple(
            tree if tree.__class__ is dict else tree.keys()
        )  # iterating a TensorDict: rows
        for key in keys:
            if key.__class__ is not str:
                keys = tuple(map(_checked_key, keys))
                break
        children = []  # a comprehension uses a stack frame, which would halve the possible depth
        for key in keys:  # normalized keys also find equal keys of other types
            children.append(_build(tree[key], leaves))
        return make_spec(kind, keys, tuple(children))
    if isinstance(tree, (list, tuple)):
        kind, keys = "list" if isinstance(tree, list) else "tuple", tuple(range(len(tree)))
        if hasattr(tree, "_fields"):  # a named tuple
            kind, keys = "dict", tuple(tree._fields)  # type: ignore[union-attr]
        children = []
        for member in tree:
            children.append(_build(member, leaves))
        return make_spec(kind, keys, tuple(children))
    leaves.append(tree)
    return LEAF


def _checked_key(key: Any) -> Key:
    plain = plain_key(key)
    if plain is None:
        raise StructureError(f"Container: got the key {key!r}, expected a string or an integer")
    return plain


def spliced(spec: Spec, leaves: Iterable[Any]) -> tuple[Spec, tuple[Any, ...]]:
    """Spec and leaves of a tree with Containers as leaves."""
    rest, found = iter(leaves), []

    def grown(node: Spec) -> Spec:
        if node is LEAF:
            value = next(rest)
            own, held = (
                (value._spec, value._leaves) if isinstance(value, Parts) else (LEAF, (value,))
            )
            found.extend(held)
            return own
        return make_spec(node.kind, node.keys, tuple(map(grown, node.children)))

    return grown(spec), tuple(found)
