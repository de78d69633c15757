"""Modified structures: pure functions from (spec, leaves) to a new spec and its leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import compress
from typing import Any

from nestarray.container.access import Leaves
from nestarray.container.arguments import refuse
from nestarray.container.spec import (
    Key,
    Path,
    Spec,
    join_path,
    make_spec,
    merged_node,
    parse_path,
    part_of,
    path_text,
    take_key,
)
from nestarray.errors import PathError, StructureError


def replaced(
    spec: Spec,
    leaves: Leaves,
    path: Key | Path,
    new_spec: Spec,
    new_leaves: Leaves,
    caller: str = "Container.set",
) -> tuple[Spec, Leaves]:
    """Insert a subtree at `path` and create missing nodes; `caller` begins error messages."""
    try:
        start, stop, old = spec.locate(path)
    except PathError:
        keys = parse_path(path, caller)
        return _inserted(spec, leaves, keys, new_spec, new_leaves, keys, caller)
    whole = (*leaves[:start], *new_leaves, *leaves[stop:])
    if old is new_spec:
        return spec, whole
    return _substitute(spec, spec.keys_along(path), new_spec), whole


def _substitute(spec: Spec, keys: Path, new: Spec) -> Spec:
    if not keys:
        return new
    children = tuple(
        _substitute(child, keys[1:], new) if key == keys[0] else child
        for key, child in zip(spec.keys, spec.children, strict=True)
    )
    return make_spec(spec.kind, spec.keys, children)


def _inserted(
    spec: Spec, leaves: Leaves, keys: Path, new: Spec, new_leaves: Leaves, path: Path, caller: str
) -> tuple[Spec, Leaves]:
    """Insert a subtree at the remaining keys of `path`."""
    if spec.kind == "leaf":
        above = path[: len(path) - len(keys)]
        leaf = f"{join_path(above)!r} is a leaf" if above else "this is a bare array"
        raise PathError(
            f"{caller}: cannot put anything at {join_path(path)!r}: {leaf}, it has no keys; "
            "set a tree in its place, or delete it first"
        )

    own, rest = take_key(spec, keys)
    if own is not None:
        start, stop, child = spec.index[own]
        inner, inner_leaves = _inserted(
            child, leaves[start:stop], rest, new, new_leaves, path, caller
        )
        changed = _substitute(spec, (own,), inner)
        return changed, (*leaves[:start], *inner_leaves, *leaves[stop:])
    for key in reversed(keys[1:]):
        new = make_spec("dict", (key,), (new,))
    key = keys[0]
    if spec.kind in ("list", "tuple"):
        if str(key) != str(len(spec.keys)):
            raise PathError(
                f"{caller}: {join_path(path)!r}: a {spec.kind} of {len(spec.keys)} takes the "
                f"next key {len(spec.keys)}, got {key!r}"
            )
        key = int(key)
    changed = make_spec(spec.kind, (*spec.keys, key), (*spec.children, new))
    return changed, (*leaves, *new_leaves)


def removed(spec: Spec, leaves: Leaves, paths: Iterable[Key | Path]) -> tuple[Spec, Leaves]:
    """Remove the subtrees at all given paths; the members of lists and tuples are renumbered."""
    gone: set[Path] = set()
    kept = [True] * spec.num_leaves
    for path in paths:
        start, stop, _ = spec.locate(path, "Container.delete")
        kept[start:stop] = [False] * (stop - start)
        gone.add(spec.keys_along(path))
    changed = _without(spec, gone, _nodes_above(gone), ())
    return changed, tuple(compress(leaves, kept))


def _nodes_above(paths: Iterable[Path]) -> set[Path]:
    """The paths of the ancestors of some places; all other nodes remain unchanged."""
    return {path[:length] for path in paths for length in range(len(path))}


def _without(spec: Spec, gone: set[Path], nodes: set[Path], above: Path) -> Spec:
    if above not in nodes:
        return spec
    pairs = [
        (key, _without(child, gone, nodes, (*above, key)))
        for key, child in zip(spec.keys, spec.children, strict=True)
        if (*above, key) not in gone
    ]
    return _node(spec.kind, pairs)


def _node(kind: str, pairs: list[tuple[Key, Spec]]) -> Spec:
    is_sequence = kind in ("list", "tuple")
    keys = tuple(range(len(pairs))) if is_sequence else tuple(k for k, _ in pairs)
    return make_spec(kind, keys, tuple(s for _, s in pairs))


def renamed(
    spec: Spec,
    leaves: Leaves,
    names: Mapping[Key | Path, Key | Path] | Callable[[Key], Key],
) -> tuple[Spec, Leaves]:
    """Give all paths in `names` their new keys or paths at once, so that names can be swapped."""
    if not isinstance(names, Mapping):
        names = {path: (*path[:-1], names(path[-1])) for path in _paths_of_keys(spec)}
    new_keys: dict[Path, Key] = {}
    moves: dict[Path, Key | Path] = {}
    for path, new in names.items():
        spec.locate(path, "Container.rename")
        keys = new if isinstance(new, tuple) else (new,)
        if not keys or any(isinstance(k, bool) or not isinstance(k, (str, int)) for k in keys):
            place = f"names[{path_text(path)}]"
            wanted = new[-1] if isinstance(new, tuple) and new else new
            refuse("Container.rename", place, wanted, "the new key, a string or an integer")
        old = spec.keys_along(path)
        key = _key_beside(old, new)
        if key is None:
            moves[old] = new
        else:
            new_keys[old] = key
    spec = _with_keys(spec, new_keys, _nodes_above(new_keys), ())
    moved = {
        tuple(new_keys.get(old[:n], old[n - 1]) for n in range(1, len(old) + 1)): new
        for old, new in moves.items()
    }
    return _moved(spec, leaves, moved) if moved else (spec, leaves)


def _key_beside(old: Path, new: Key | Path) -> Key | None:
    """The new last key of `old`, or None if `new` is a path in another node.

    A key with slashes, as Haiku has, stays one key.
    """
    if isinstance(new, tuple):
        return new[-1] if new[:-1] == old[:-1] else None
    if isinstance(new, int) or "/" not in new:
        return new
    above = join_path((*old[:-1], ""))
    key = new.removeprefix(above)
    is_key = key and ("/" not in key or "/" in str(old[-1]))
    return key if is_key and new.startswith(above) else None


def _with_keys(spec: Spec, new_keys: dict[Path, Key], nodes: set[Path], above: Path) -> Spec:
    if above not in nodes:
        return spec
    paths = [(*above, key) for key in spec.keys]
    keys = tuple(new_keys.get(path, path[-1]) for path in paths)
    if len(set(keys)) < len(keys):
        taken = next(p for p in paths if p in new_keys and keys.count(new_keys[p]) > 1)
        raise StructureError(
            f"Container.rename: there already is a key {new_keys[taken]!r} beside {taken[-1]!r}"
        )
    kind = spec.kind if keys == spec.keys else "dict"  # a list with a string key is a dict
    children = [
        _with_keys(child, new_keys, nodes, path)
        for child, path in zip(spec.children, paths, strict=True)
    ]
    return make_spec(kind, keys, tuple(children))


def _moved(spec: Spec, leaves: Leaves, moves: dict[Path, Key | Path]) -> tuple[Spec, Leaves]:
    """Remove all parts, then insert each at its new path."""
    parts = []
    for old, new in moves.items():
        outer = next((old[:n] for n in range(1, len(old)) if old[:n] in moves), None)
        if outer is not None:
            raise StructureError(
                f"Container.rename: {join_path(old)!r} lies inside {join_path(outer)!r}, which "
                "moves too; rename them in two calls"
            )
        start, stop, part = spec.locate(old)
        parts.append((new, part, leaves[start:stop]))
    spec, leaves = removed(spec, leaves, moves)
    for new, part, moved in parts:
        if _exists(spec, new):
            raise StructureError(f"Container.rename: there already is a {path_text(new)}")
        spec, leaves = replaced(spec, leaves, new, part, moved, "Container.rename")
    return spec, leaves


def _exists(spec: Spec, path: Key | Path) -> bool:
    try:
        spec.locate(path)
    except PathError:
        return False
    return True


def _paths_of_keys(spec: Spec, above: Path = ()) -> Iterator[Path]:
    """The paths of all leaves and nodes in dicts; members of lists have numbers, not names."""
    for key, (_, _, child) in spec.index.items():
        path = (*above, key)
        if spec.kind == "dict":
            yield path
        yield from _paths_of_keys(child, path)


def merged(
    a: Spec, a_leaves: Leaves, b: Spec, b_leaves: Leaves, *, disjoint: bool = False, path: Path = ()
) -> tuple[Spec, Leaves]:
    """The union of two trees; node order as in `a`, then `b`.

    At a common leaf `b` wins, or raises an error if they must be `disjoint`.
    """
    if a.kind == "leaf" or b.kind == "leaf":
        if disjoint and not a.num_leaves:  # `partition` leaves an empty node for a bare array
            return b, b_leaves
        if disjoint and not b.num_leaves:
            return a, a_leaves
        if disjoint:
            both = "in both Containers"
            mixed = "a leaf of one Container and a node of the other"
            raise StructureError(
                f"Container.combine: {join_path(path)!r} is {both if a is b else mixed}"
            )
        return b, b_leaves
    parts: dict[Key, tuple[Spec, Leaves]] = {}
    for key in dict.fromkeys((*a.keys, *b.keys)):
        in_a, in_b = a.index.get(key), b.index.get(key)
        part_a = (in_a[2], a_leaves[in_a[0] : in_a[1]]) if in_a else None
        part_b = (in_b[2], b_leaves[in_b[0] : in_b[1]]) if in_b else None
        if part_a and part_b:
            parts[key] = merged(*part_a, *part_b, disjoint=disjoint, path=(*path, key))
        else:
            parts[key] = part_a or part_b  # type: ignore[assignment]
    kind = a.kind if a.keys else b.kind
    spec, keys = merged_node(kind, {key: spec for key, (spec, _) in parts.items()})
    return spec, tuple(leaf for key in keys for leaf in parts[key][1])


def placed(
    spec: Spec, leaves: Leaves, keys: Path, part: tuple[Spec, Leaves], position: int
) -> tuple[Spec, Leaves]:
    """Insert a member into the parent of the path `keys`, at `position` among its keys."""
    above, last = keys[:-1], keys[-1]
    start, _, node = spec.locate(above) if above else (0, spec.num_leaves, spec)
    pairs: list[tuple[Key, Spec]] = list(zip(node.keys, node.children, strict=True))
    pairs.insert(position, (last, part[0]))
    at = start + sum(child.num_leaves for child in node.children[:position])
    changed = _node(node.kind, pairs)
    if above:
        changed = _substitute(spec, spec.keys_along(above), changed)
    return changed, (*leaves[:at], *part[1], *leaves[at:])


def nested(parts: Iterable[tuple[Path, Spec, Leaves]], caller: str) -> tuple[Spec, Leaves]:
    """The tree of parts at paths; members of one node are grouped, in order of appearance.

    Raises:
        StructureError: two parts have the same path, or one lies inside another.
    """
    tree: dict[Key, Any] = {}
    for path, spec, leaves in parts:
        node = tree
        for key in path[:-1]:
            node = node.setdefault(key, {})
            if isinstance(node, tuple):
                raise StructureError(f"{caller}: {join_path(path)!r} goes below another part")
        if path[-1] in node:
            raise StructureError(
                f"{caller}: two parts have the path {join_path(path)!r}; give one of them another name"
            )
        node[path[-1]] = (spec, leaves)
    collected: list[Any] = []

    def walk(node: Any) -> Spec:
        if isinstance(node, tuple):
            collected.extend(node[1])
            return node[0]
        return make_spec("dict", tuple(node), tuple(map(walk, node.values())))

    return walk(tree), tuple(collected)


def ordered(spec: Spec, leaves: Leaves, key: Callable[[Key], Any]) -> tuple[Spec, Leaves]:
    """The keys of each dict node sorted by `key`; lists and tuples keep their order."""
    if not spec.keys:
        return spec, leaves
    parts: dict[Key, tuple[Spec, Leaves]] = {}
    for k, (i, j, child) in spec.index.items():
        parts[k] = ordered(child, leaves[i:j], key)
    keys = sorted(parts, key=key) if spec.kind == "dict" else list(parts)
    changed = make_spec(spec.kind, tuple(keys), tuple(parts[k][0] for k in keys))
    return changed, tuple(leaf for k in keys for leaf in parts[k][1])


def without_empty_nodes(spec: Spec) -> Spec:
    """`spec` without nodes that contain no leaf; members of lists keep their numbers."""
    if spec.kind == "leaf":
        return spec
    keys = tuple(key for key, (_, _, child) in spec.index.items() if child.num_leaves)
    kind = spec.kind if len(keys) == len(spec.keys) else part_of(spec.kind)
    return make_spec(kind, keys, tuple(map(without_empty_nodes, [spec.index[k][2] for k in keys])))


def joined_keys(
    spec: Spec, leaves: Leaves, sep: str, depth: int | None
) -> Iterator[tuple[Path, Spec, Leaves]]:
    """Parts for `nested`: the keys of the top `depth` levels (None: all levels) joined to one."""
    for key, (start, stop, child) in spec.index.items():
        part = leaves[start:stop]
        if not child.keys or depth == 1:
            yield (key,), child, part
            continue
        below = joined_keys(child, part, sep, None if depth is None else depth - 1)
        for path, inner, inner_leaves in below:
            yield (f"{key}{sep}{path[0]}",), inner, inner_leaves


def split_keys(spec: Spec, leaves: Leaves, sep: str, depth: int) -> Iterator[Any]:
    """Parts for `nested`: string keys of the top level split at `sep`, at most `depth` - 1 times."""
    for key, (start, stop, child) in spec.index.items():
        path = tuple(key.split(sep, depth - 1)) if isinstance(key, str) else (key,)
        yield path, child, leaves[start:stop]


def with_lists(spec: Spec) -> Spec:
    """`spec` with lists instead of dicts whose keys are ``"0"``, ``"1"``, … in this order."""
    children = tuple(with_lists(child) for child in spec.children)
    numbers = tuple(str(i) for i in range(len(children)))
    if spec.kind == "dict" and children and spec.keys == numbers:
        return make_spec("list", tuple(range(len(children))), children)
    return make_spec(spec.kind, spec.keys, children)
