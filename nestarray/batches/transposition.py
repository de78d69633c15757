"""Lists of Containers and Containers of lists.

Both hold the same leaves: ``[{a: 1, b: 3}, {a: 2, b: 4}]`` and ``{a: [1, 2], b: [3, 4]}``.
For arrays of equal shapes, `na.stack` and `na.unstack` do the same with an axis instead of the
list.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from typing import Any

from nestarray.container import Container, method
from nestarray.container.access import Leaves, align_leaves
from nestarray.container.arguments import check_container
from nestarray.container.container import from_leaves
from nestarray.container.mapping import with_parts
from nestarray.container.spec import LEAF, Key, Path, Spec, explain_mismatch, join_path, make_spec
from nestarray.errors import ArgumentError, StructureError


@method
def zip(c: Container, /, *others: Any) -> Container:
    """A tuple of the leaves of several Containers at each leaf, as Python's ``zip``.

    Args:
        c: a Container, which determines the order of keys.
        *others: Containers of the same keys, prefix Containers, or values for all leaves.

    Returns:
        a Container of the structure of `c`, with a tuple node for each leaf.

    Raises:
        StructureError: a Container in `others` does not match.

    Example:
        >>> import nestarray as na
        >>> na.Container(a=1, b=2).zip(na.Container(b=20, a=10)).to_dict()
        {'a': (1, 10), 'b': (2, 20)}
    """
    columns = [c.leaves(), *(align_leaves(c.spec, other, "Container.zip") for other in others)]
    return _interleaved(c.spec, "tuple", columns)


@method
def transpose(c: Container, /) -> Any:
    """Convert a list of Containers to a Container of lists, or the reverse.

    For a list or tuple, ``na.Container([c1, c2])``, each leaf of the result is a list or tuple
    with one entry for each member. For any other Container, the innermost lists and tuples are
    moved to the top; they must have the same kind and length. Transposing a list twice
    returns it.

    Args:
        c: a Container.

    Returns:
        for a list: a Container of lists. For a Container of lists: a list of Containers.

    Raises:
        StructureError: the members do not have the same keys; a leaf is not in a list; two lists
            differ in kind or length.
        ArgumentError: a member is not a Container.

    Example:
        >>> import nestarray as na
        >>> c = na.Container([na.Container(a=1, b=3), na.Container(b=4, a=2)]).transpose()
        >>> c.to_dict()
        {'a': [1, 2], 'b': [3, 4]}
        >>> [member.to_dict() for member in c.transpose()]
        [{'a': 1, 'b': 3}, {'a': 2, 'b': 4}]
    """
    check_container("Container.transpose", "c", c)
    kind = c.spec.kind
    if kind not in ("list", "tuple"):
        return _split_lists(c)
    members = list(c.values())
    if not members:
        raise StructureError(
            f"Container.transpose: got an empty {kind}, which does not say what keys it has none of"
        )
    for i, member in enumerate(members):
        if not isinstance(member, Container):
            raise ArgumentError(
                f"Container.transpose: member {i}: got {type(member).__name__}, expected a "
                "Container; arrays in a list have nothing to swap places with"
            )
    return _interleaved(members[0].spec, kind, same_keys(members, "Container.transpose"))


def same_keys(members: list[Container], caller: str) -> list[Leaves]:
    """The leaves of each member in the order of the first member.

    Raises:
        StructureError: members differ in keys; prefix Containers are not accepted.

    Example:
        >>> import nestarray as na
        >>> same_keys([na.Container(a=1, b=2), na.Container(b=4, a=3)], "f")
        [(1, 2), (3, 4)]
    """
    first = members[0].spec
    columns = []
    for i, member in enumerate(members):
        order = member.spec.permutation_to(first)
        if order is None:
            raise explain_mismatch(first, member.spec, f"{caller}: members 0 and {i}")
        columns.append(tuple([member.leaves()[k] for k in order]))
    return columns


def _interleaved(spec: Spec, kind: str, columns: list[Leaves]) -> Container:
    """The tree with a node of the leaves from all columns at each leaf of `spec`."""
    node = make_spec(kind, tuple(range(len(columns))), (LEAF,) * len(columns))
    leaves = [leaf for row in builtins.zip(*columns, strict=True) for leaf in row]
    return from_leaves(_with_leaves(spec, node), tuple(leaves))


def _with_leaves(spec: Spec, node: Spec) -> Spec:
    if spec is LEAF:
        return node
    return make_spec(spec.kind, spec.keys, tuple([_with_leaves(s, node) for s in spec.children]))


def _split_lists(c: Container) -> Any:
    """The list of Containers from a Container of lists."""
    lists: dict[Path, Spec] = {}
    for path, place in builtins.zip(c.spec.paths, _innermost_lists(c.spec), strict=True):
        if place is None:
            raise StructureError(
                f"Container.transpose: {join_path(path)!r} is in no list or tuple, expected lists or "
                "tuples of one length above all leaves; leave it out with c.exclude(...)"
            )
        lists[place] = c.spec.locate(place)[2]
    if not lists:
        raise StructureError("Container.transpose: got a Container without leaves, expected lists")
    first, spec = next(iter(lists.items()))
    for path, other in lists.items():
        outer = next((path[:n] for n in range(len(path)) if path[:n] in lists), None)
        if outer is not None:
            raise StructureError(
                f"Container.transpose: the {other.kind} {join_path(path)!r} is inside of "
                f"{join_path(outer)!r}, which has leaves of its own; expected lists at one level"
            )
        if (other.kind, len(other.keys)) != (spec.kind, len(spec.keys)):
            raise StructureError(
                f"Container.transpose: {join_path(first)!r} is a {spec.kind} of {len(spec.keys)}, "
                f"{join_path(path)!r} a {other.kind} of {len(other.keys)}, expected one kind and "
                "length"
            )
    members = [_member(c, lists, i) for i in spec.keys]
    return tuple(members) if spec.kind == "tuple" else members


def _member(c: Container, lists: Iterable[Path], i: Key) -> Container:
    """The tree with the i-th entry of each list instead of the list."""
    entries = {}
    for path in lists:
        start, stop, entry = c.spec.locate((*path, i))
        entries[path] = entry, c.leaves()[start:stop]
    return from_leaves(*with_parts(c.spec, c.leaves(), entries))


def _innermost_lists(spec: Spec) -> list[Path | None]:
    """For each leaf, the path of the innermost list or tuple around it."""
    places: list[Path | None] = []

    def walk(spec: Spec, path: Path, nearest: Path | None) -> None:
        if spec is LEAF:
            places.append(nearest)
            return
        if spec.kind in ("list", "tuple"):
            nearest = path
        for key, child in builtins.zip(spec.keys, spec.children, strict=True):
            walk(child, (*path, key), nearest)

    walk(spec, (), None)
    return places
