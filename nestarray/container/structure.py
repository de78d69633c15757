"""Changes of structure: move, insert, sort, cut, and join or split keys.

Leaves are neither changed nor read. `set`, `update`, `delete`, `rename`, `select` and
`combine` are methods of the class itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from nestarray.container import changes
from nestarray.container.arguments import (
    check_depth,
    check_function,
    check_mapping,
    check_separator,
    refuse,
)
from nestarray.container.attaching import method
from nestarray.container.building import build
from nestarray.container.container import Container, Leaf, from_leaves
from nestarray.container.selection import selected
from nestarray.container.spec import (
    LEAF,
    Key,
    Path,
    Spec,
    join_path,
    nearest_key,
    parse_path,
    path_text,
)
from nestarray.errors import ArgumentError, PathError, StructureError


@method
def replace(
    c: Container[Leaf], other: Mapping[Any, Any] | None = None, /, **entries: Any
) -> Container[Leaf]:
    """New values at existing paths; `Container.set` and `Container.update` also create paths.

    Args:
        c: a Container.
        other: path → array or tree.
        **entries: the same by keyword, for top-level keys.

    Raises:
        PathError: a path does not exist; the message names the nearest key.

    Example:
        >>> import nestarray as na
        >>> na.Container(a={"b": 1, "c": 2}).replace({"a/b": 5}).to_dict()
        {'a': {'b': 5, 'c': 2}}
    """
    check_mapping("Container.replace", "other", {} if other is None else other, "paths to values")
    for path, value in {**(other or {}), **entries}.items():
        c.spec.locate(path, "Container.replace")
        c = c.set(path, value)
    return c


@method
def insert(
    c: Container[Leaf],
    path: Key | Path,
    value: Any,
    /,
    *,
    before: Key | None = None,
    after: Key | None = None,
) -> Container[Leaf]:
    """Insert an entry at a given position among the keys of its node.

    Args:
        c: a Container.
        path: the path of the new entry. In a list or tuple its last key is the position, and
            the following members are renumbered. In a dict node it is a new key.
        value: an array or a tree.
        before: insert before this key of the same node; by default at the end.
        after: insert after this key.

    Raises:
        PathError: the node, or the key of `before` or `after`, does not exist.
        StructureError: the key already exists, or the position is out of range.
        ArgumentError: `before` and `after` are both given, or one of them for a list.

    Example:
        >>> import nestarray as na
        >>> c = na.Container(a=1, c=3, l=[10, 30])
        >>> c.insert("b", 2, after="a").insert("l/1", 20).to_dict()
        {'a': 1, 'b': 2, 'c': 3, 'l': [10, 20, 30]}
    """
    above, last = _above(parse_path(path, "Container.insert"))
    node = c.spec.locate(above, "Container.insert")[2] if above else c.spec
    return from_leaves(
        *changes.placed(
            c.spec,
            c.leaves(),
            (*above, last),
            build(value),
            _position(node, join_path((*above, last)), last, before, after),
        )
    )


def _above(keys: Path) -> tuple[Path, Key]:
    return keys[:-1], keys[-1]


def _position(node: Spec, path: str, key: Key, before: Key | None, after: Key | None) -> int:
    beside = before if before is not None else after
    if before is not None and after is not None:
        raise ArgumentError(f"Container.insert: {path!r}: give before or after, not both")
    if node.kind == "leaf":
        raise StructureError(f"Container.insert: {path!r} would lie below a leaf")
    if node.kind in ("list", "tuple"):
        if beside is not None:
            raise ArgumentError(
                f"Container.insert: {path!r} is in a {node.kind}, where the number is the place; "
                "leave before and after out"
            )
        if not str(key).isdigit() or int(key) > len(node.keys):
            raise StructureError(
                f"Container.insert: {path!r}: got the position {key!r} in a {node.kind} of "
                f"{len(node.keys)}, expected 0 to {len(node.keys)}"
            )
        return int(key)
    if key in node.index:
        raise StructureError(
            f"Container.insert: there is a {path!r} already; use c.set or c.replace to change it"
        )
    if beside is None:
        return len(node.keys)
    if beside not in node.index:
        raise PathError(
            f"Container.insert: {path!r}: no key {beside!r} to stand beside"
            f"{nearest_key(beside, node.keys)}"
        )
    return node.keys.index(beside) + (before is None)


@method
def move(c: Container[Leaf], old: Key | Path, new: Key | Path, /) -> Container[Leaf]:
    """Move the entry at `old` to the free path `new`; see `Container.rename` for a new key only.

    Raises:
        PathError: `old` does not exist.
        StructureError: `new` already exists, or lies inside `old`.

    Example:
        >>> import nestarray as na
        >>> na.Container(a={"b": 1}, c=2).move("a/b", "d/e").to_dict()
        {'a': {}, 'c': 2, 'd': {'e': 1}}
    """
    start, stop, spec = c.spec.locate(old, "Container.move")
    part, rest = from_leaves(spec, c.leaves()[start:stop]), c.delete(old)
    if new in rest:
        raise StructureError(
            f"Container.move: there is a {path_text(new)} already; delete it first, or move it"
        )
    before, after = parse_path(old), parse_path(new, "Container.move")
    if after[: len(before)] == before:
        raise StructureError(f"Container.move: {path_text(new)} lies inside {path_text(old)}")
    where = rest.spec, rest.leaves(), new
    return from_leaves(*changes.replaced(*where, spec, part.leaves(), "Container.move"))


@method
def restructure(
    c: Container[Leaf],
    paths: Mapping[Any, Any] | Callable[[str], str | None],
    /,
    *,
    rest: bool = False,
) -> Container[Leaf]:
    """A tree of a new structure with the same leaves, by a mapping from old to new paths.

    Args:
        c: a Container.
        paths: old path → new path, where an old path names a leaf or a whole sub-container; or a
            function from a leaf's path to its new path, or to None to drop the leaf.
        rest: keep unmapped entries in place, before the moved ones.

    Returns:
        a Container in the order of the mapping; created nodes are dicts.

    Raises:
        PathError: an old path does not exist.
        StructureError: two parts would have the same path, or one would lie inside another.

    Example:
        >>> import nestarray as na
        >>> c = na.Container(fc1={"weight": 1, "bias": 2}, out=3)
        >>> c.restructure({"out": "head/w", "fc1": "mlp/linear"}).to_dict()
        {'head': {'w': 3}, 'mlp': {'linear': {'weight': 1, 'bias': 2}}}
        >>> c.restructure(lambda path: path.replace("weight", "kernel")).paths()
        ('fc1/kernel', 'fc1/bias', 'out')
    """
    if callable(paths):
        if c.spec is LEAF:
            raise StructureError(
                "Container.restructure: a bare array has no path to give a function"
            )
        named = ((old, paths(old)) for old in c.paths())
        keys = dict(zip(c.paths(), c.spec.paths, strict=True))
        paths = {keys[old]: new for old, new in named if new is not None}
        if rest:
            raise ArgumentError("Container.restructure: rest goes with a mapping, not a function")
    check_mapping("Container.restructure", "paths", paths, "old paths to new ones, or a function")
    parts = []
    for old, new in paths.items():
        start, stop, spec = c.spec.locate(old, "Container.restructure")
        parts.append((parse_path(new, "Container.restructure"), spec, c.leaves()[start:stop]))
    moved = from_leaves(*changes.nested(parts, "Container.restructure"))
    return c.delete(*paths).prune().combine(moved) if rest else moved


@method
def sort_keys(c: Container[Leaf], /, *, key: Callable[[Key], Any] | None = None) -> Container[Leaf]:
    """Sort the keys of every dict node; lists and tuples keep their order.

    Args:
        c: a Container.
        key: the sort key, a function of a key; by default integers come before strings.

    Example:
        >>> import nestarray as na
        >>> na.Container(b=1, a={"y": 2, "x": 3}).sort_keys().to_dict()
        {'a': {'x': 3, 'y': 2}, 'b': 1}
    """
    order = (lambda k: (isinstance(k, str), k)) if key is None else key
    check_function("Container.sort_keys", "key", order, "key(k)")
    return from_leaves(*changes.ordered(c.spec, c.leaves(), order))


@method
def prune(c: Container[Leaf], /) -> Container[Leaf]:
    """Remove nodes that contain no leaf; the remaining members of lists keep their numbers.

    Example:
        >>> import nestarray as na
        >>> na.Container(a={"b": {}}, c=1).prune().to_dict()
        {'c': 1}
    """
    return from_leaves(changes.without_empty_nodes(c.spec), c.leaves())


@method
def flatten_keys(
    c: Container[Leaf], /, sep: str = "/", *, depth: int | None = None
) -> Container[Leaf]:
    """Join several levels of keys into one, ``{"a": {"b": x}}`` → ``{"a/b": x}``.

    Args:
        c: a Container.
        sep: the separator between keys.
        depth: the number of levels to join; None joins all. Deeper nodes are kept.

    Raises:
        StructureError: two paths become the same key.
        ArgumentError: `depth` is less than 1.

    Example:
        >>> import nestarray as na
        >>> c = na.Container(a={"b": {"c": 1}, "d": 2})
        >>> c.flatten_keys(".").to_dict(), c.flatten_keys(depth=2).to_dict()
        ({'a.b.c': 1, 'a.d': 2}, {'a/b': {'c': 1}, 'a/d': 2})
    """
    check_separator("Container.flatten_keys", sep)
    if depth is not None:
        check_depth("Container.flatten_keys", "depth", depth, 1)
    if c.spec is LEAF:
        return c
    parts = changes.joined_keys(c.spec, c.leaves(), sep, depth)
    return from_leaves(*changes.nested(parts, "Container.flatten_keys"))


@method
def unflatten_keys(
    c: Container[Leaf], /, sep: str = "/", *, depth: int | None = None, lists: bool = False
) -> Container[Leaf]:
    """Split keys of the top level into nodes, ``{"a/b": x}`` → ``{"a": {"b": x}}``.

    Args:
        c: a Container.
        sep: the separator between keys.
        depth: the maximal number of levels; None for no limit.
        lists: nodes with the keys ``"0"``, ``"1"``, … in this order become lists.

    Raises:
        StructureError: a key names both a leaf and a node.
        ArgumentError: `sep` is empty, or `depth` less than 1.

    Example:
        >>> import nestarray as na
        >>> na.Container({"a.0": 1, "a.1": 2}).unflatten_keys(".", lists=True).to_dict()
        {'a': [1, 2]}
    """
    check_separator("Container.unflatten_keys", sep)
    if depth is not None:
        check_depth("Container.unflatten_keys", "depth", depth, 1)
    if c.spec is LEAF:
        return c
    parts = changes.split_keys(c.spec, c.leaves(), sep, depth or 0)
    spec, leaves = changes.nested(parts, "Container.unflatten_keys")
    return from_leaves(changes.with_lists(spec) if lists else spec, leaves)


@method
def cut(
    c: Container[Leaf], /, *, depth: int | None = None, height: int | None = None
) -> Container[Leaf]:
    """The upper part of a tree, up to a `depth` from the root or down to a `height` of nodes.

    Args:
        c: a Container.
        depth: the maximal number of keys in a leaf's path.
        height: the minimal height of a node to keep. A node with only leaves has height 1, any
            other node one more than its highest child. Leaves are kept with their node.

    Raises:
        ArgumentError: neither or both are given, or one is negative.

    Example:
        >>> import nestarray as na
        >>> c = na.Container(a=1, b={"c": 2, "d": {"e": 3}})
        >>> c.cut(depth=2).to_dict(), c.cut(height=2).to_dict()
        ({'a': 1, 'b': {'c': 2}}, {'a': 1, 'b': {'c': 2}})
    """
    if (depth is None) == (height is None):
        raise ArgumentError("Container.cut: give depth, or height")
    if depth is not None:
        check_depth("Container.cut", "depth", depth, 0)
        hits = [len(path) <= depth for path in c.spec.paths]
    else:
        check_depth("Container.cut", "height", height, 0)
        hits = _high_enough(c.spec, height or 0)
    return selected(c, hits)


def _high_enough(spec: Spec, height: int) -> list[bool]:
    if spec.kind == "leaf":
        return [True]
    if _height(spec) < height:
        return [False] * spec.num_leaves
    return [flag for child in spec.children for flag in _high_enough(child, height)]


def _height(spec: Spec) -> int:
    if spec.kind == "leaf":
        return 0
    return 1 + max(map(_height, spec.children), default=0)


@method
def nodes(c: Container[Leaf], /) -> Iterator[tuple[str, Container[Leaf]]]:
    """(path, sub-container) of every node, the tree itself first (its path is ``""``).

    `Container.flat_items` iterates the leaves.

    Example:
        >>> import nestarray as na
        >>> [path for path, node in na.Container(a={"b": {"c": 1}}, d=2).nodes()]
        ['', 'a', 'a/b']
    """
    for path, start, spec in _walk(c.spec, (), 0):
        yield join_path(path), from_leaves(spec, c.leaves()[start : start + spec.num_leaves])


def _walk(spec: Spec, path: Path, start: int) -> Iterator[tuple[Path, int, Spec]]:
    if spec.kind == "leaf":
        return
    yield path, start, spec
    for key, (first, _, child) in spec.index.items():
        yield from _walk(child, (*path, key), start + first)


@method
def find(c: Container, what: Any, /, *, partial: bool = False) -> tuple[str, ...]:
    """The paths of all sub-containers with the structure of `what`, or of a leaf, by identity.

    Args:
        c: a Container.
        what: a Container or a mapping, whose leaves are ignored; or an array to find among the
            leaves.
        partial: also accept nodes with additional keys, on each level.

    Example:
        >>> import nestarray as na
        >>> c = na.Container(a={"w": 1, "b": 2}, c={"d": {"b": 3, "w": 4}, "e": 5})
        >>> c.find({"w": None, "b": None}), c.find({"e": None}, partial=True)
        (('a', 'c/d'), ('c',))
    """
    if isinstance(what, str):
        refuse(
            "Container.find", "what", what,
            "a tree or an array; c.select(pattern).paths() finds leaves by their paths",
        )  # fmt: skip
    if not isinstance(what, (Mapping, list, tuple)):
        return tuple(path for path, leaf in c.flat_items() if leaf is what)
    wanted = Container(what).spec
    fits = _contains if partial else _same_keys
    return tuple(join_path(p) for p, _, spec in _walk(c.spec, (), 0) if fits(spec, wanted))


def _same_keys(spec: Spec, wanted: Spec) -> bool:
    return spec is wanted or spec.permutation_to(wanted) is not None


def _contains(spec: Spec, wanted: Spec) -> bool:
    if wanted.kind == "leaf" or spec.kind == "leaf":
        return wanted.kind == spec.kind
    return all(
        k in spec.index and _contains(spec.index[k][2], w) for k, (_, _, w) in wanted.index.items()
    )
