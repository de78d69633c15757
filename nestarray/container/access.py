"""Finding and changing parts of a Container: pure functions on (spec, leaves) pairs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from operator import index as _as_integer
from typing import TYPE_CHECKING, Any

from nestarray.container.spec import (
    LEAF,
    Key,
    Path,
    Spec,
    explain_mismatch,
    join_path,
    make_spec,
    merged_node,
    nearest_key,
    parse_path,
    part_of,
    take_key,
)
from nestarray.errors import ArgumentError, PathError, StructureError

if TYPE_CHECKING:
    from nestarray.container.container import Container

Leaves = tuple[Any, ...]


# -- reading ----------------------------------------------------------------------------------


def is_leaf_index(spec: Spec, key: Any) -> bool:
    """Whether ``c[key]`` indexes every leaf: slices, arrays, … and integers that are no keys.

    A tuple is a path if it has a string in it, or starts with an integer where keys are integers.
    """
    if isinstance(key, tuple):
        if any(isinstance(k, str) for k in key):
            return False
        return not (key and all(isinstance(k, int) for k in key)) or is_leaf_index(spec, key[0])
    if isinstance(key, str):
        return False
    if isinstance(key, int):
        return not any(isinstance(k, int) for k in spec.keys) and str(key) not in spec.index
    return True


def bare(value: Any) -> Any:
    """`value` with the array in place of each Container of one, in lists and tuples too."""
    if getattr(value, "_spec", None) is LEAF:
        return value._leaves[0]
    if type(value) in (list, tuple):
        return type(value)([bare(item) for item in value])
    if isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        return slice(*[p if p is None or type(p) is int else _number(p) for p in parts])
    return value


def _number(part: Any) -> Any:
    """Of a Container of one integer that integer, which is what a slice takes."""
    return _as_integer(part) if getattr(part, "_spec", None) is LEAF else part


def attribute_message(spec: Spec, name: str) -> str:
    """The message for ``c.name`` when there is neither a method nor a key of that name."""
    return f"Container has no key or method {name!r}{nearest_key(name, spec.keys)}"


def to_plain(spec: Spec, leaves: Iterator[Any]) -> Any:
    """Nested dicts, lists and tuples from a spec and an iterator of leaves."""
    if spec.kind == "leaf":
        return next(leaves)
    values = [to_plain(child, leaves) for child in spec.children]
    if spec.kind == "list":
        return values
    return tuple(values) if spec.kind == "tuple" else dict(zip(spec.keys, values, strict=True))


def nest_flat(flat: Mapping[str, Any], sep: str) -> tuple[Spec, Leaves]:
    """Spec and leaves of ``{"a/b": x}`` split at `sep`; keys of one node stay together."""
    tree: dict[str, Any] = {}
    for name, leaf in flat.items():
        *front, last = name.split(sep)
        node = tree
        for key in front:
            node = node.setdefault(key, {})
            if not isinstance(node, dict):
                raise StructureError(f"Container: {name!r} goes below {key!r}, which is a leaf")
        if last in node:
            raise StructureError(f"Container: {name!r} is a leaf and also a node")
        node[last] = (leaf,)  # boxed: a leaf may itself be a dict
    leaves: list[Any] = []

    def walk(node: Any) -> Spec:
        if isinstance(node, tuple):
            leaves.append(node[0])
            return LEAF
        return make_spec("dict", tuple(node), tuple([walk(n) for n in node.values()]))

    return walk(tree), tuple(leaves)


# -- changing ---------------------------------------------------------------------------------


def replaced(
    spec: Spec, leaves: Leaves, path: Key | Path, new_spec: Spec, new_leaves: Leaves
) -> tuple[Spec, Leaves]:
    """Put a subtree at `path`, making nodes on the way."""
    try:
        start, stop, _ = spec.locate(path)
    except PathError:
        return _inserted(spec, leaves, parse_path(path), new_spec, new_leaves)
    changed = _substitute(spec, _located_keys(spec, path), new_spec)
    return changed, (*leaves[:start], *new_leaves, *leaves[stop:])


def _located_keys(spec: Spec, path: Key | Path) -> Path:
    """The keys that `locate` walked: the same path, spelt as the spec spells it."""

    if not isinstance(path, tuple) and path in spec.index:
        return (path,)
    keys: list[Key] = []
    remaining = parse_path(path)
    while remaining:
        key, remaining = take_key(spec, remaining)
        assert key is not None
        keys.append(key)
        spec = spec.index[key][2]
    return tuple(keys)


def _substitute(spec: Spec, keys: Path, new: Spec) -> Spec:
    if not keys:
        return new
    children = tuple(
        _substitute(child, keys[1:], new) if key == keys[0] else child
        for key, child in zip(spec.keys, spec.children, strict=True)
    )
    return make_spec(spec.kind, spec.keys, children)


def _inserted(
    spec: Spec, leaves: Leaves, keys: Path, new: Spec, new_leaves: Leaves
) -> tuple[Spec, Leaves]:
    if spec.kind == "leaf":
        raise PathError(f"Container.set: cannot put {join_path(keys)!r} below a leaf")

    own, rest = take_key(spec, keys)
    if own is not None:
        start, stop, child = spec.index[own]
        inner, inner_leaves = _inserted(child, leaves[start:stop], rest, new, new_leaves)
        changed = _substitute(spec, (own,), inner)
        return changed, (*leaves[:start], *inner_leaves, *leaves[stop:])
    for key in reversed(keys[1:]):
        new = make_spec("dict", (key,), (new,))
    key = keys[0]
    if spec.kind in ("list", "tuple"):
        if str(key) != str(len(spec.keys)):
            raise PathError(
                f"Container.set: a {spec.kind} of {len(spec.keys)} takes the next key "
                f"{len(spec.keys)}, got {key!r}"
            )
        key = int(key)
    changed = make_spec(spec.kind, (*spec.keys, key), (*spec.children, new))
    return changed, (*leaves, *new_leaves)


def removed(spec: Spec, leaves: Leaves, path: Key | Path) -> tuple[Spec, Leaves]:
    """Take the subtree at `path` out; a list or tuple is numbered anew."""
    start, stop, _ = spec.locate(path)
    changed = _without(spec, _located_keys(spec, path))
    return changed, (*leaves[:start], *leaves[stop:])


def _without(spec: Spec, keys: Path) -> Spec:
    pairs = [
        (key, _without(child, keys[1:]) if key == keys[0] else child)
        for key, child in zip(spec.keys, spec.children, strict=True)
        if keys != (key,)
    ]
    return _node(spec.kind, pairs)


def _node(kind: str, pairs: list[tuple[Key, Spec]]) -> Spec:
    is_sequence = kind in ("list", "tuple")
    keys = tuple(range(len(pairs))) if is_sequence else tuple(k for k, _ in pairs)
    return make_spec(kind, keys, tuple(s for _, s in pairs))


def renamed(spec: Spec, names: Mapping[str, str]) -> Spec:
    """Change the last key of each path in `names`."""
    for path, new in names.items():
        spec.locate(path)
        spec = _with_new_key(spec, _located_keys(spec, path), new)
    return spec


def _with_new_key(spec: Spec, keys: Path, new: str) -> Spec:
    key, *rest = keys
    if rest:
        child = _with_new_key(spec.index[key][2], tuple(rest), new)
        return _substitute(spec, (key,), child)
    if new in spec.index:
        raise StructureError(f"Container.rename: there already is a key {new!r} beside {key!r}")
    renamed_keys = tuple(new if k == key else k for k in spec.keys)
    return make_spec("dict", renamed_keys, spec.children)  # a list with a name in it is none


def merged(
    a: Spec, a_leaves: Leaves, b: Spec, b_leaves: Leaves, *, disjoint: bool = False, path: Path = ()
) -> tuple[Spec, Leaves]:
    """The union of two trees; node order as in `a`, then `b`.

    Where both have something at a leaf `b` wins, or, if they must be `disjoint`, it is an error.
    """
    if a.kind == "leaf" or b.kind == "leaf":
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


# -- selecting --------------------------------------------------------------------------------


@cache
def _glob(pattern: str) -> re.Pattern[str]:
    parts = []
    for token in re.findall(r"\*\*/|\*\*|\*|\?|\[[^\]]*\]|[^*?\[]+|\[", pattern):
        parts.append(
            {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(token)
            or (token if token[0] == "[" and token[-1] == "]" else re.escape(token))
        )
    return re.compile("".join(parts) + "(?:/.*)?")  # a node's pattern takes all below it


def _predicate(pattern: Any) -> Callable[[str, Any], Any]:
    if isinstance(pattern, str):
        regex = _glob(pattern)
        return lambda path, leaf: regex.fullmatch(path) is not None
    if isinstance(pattern, re.Pattern):
        return lambda path, leaf: pattern.search(path) is not None
    if isinstance(pattern, type):
        return lambda path, leaf: isinstance(leaf, pattern)
    if callable(pattern):
        return pattern
    raise ArgumentError(
        f"Container: got {pattern!r} as a pattern, expected a glob such as '**/bias', a compiled "
        "regular expression, a type, or a function of (path, leaf)"
    )


def matches(spec: Spec, leaves: Leaves, patterns: tuple[Any, ...]) -> list[bool]:
    """For each leaf, whether any pattern takes it."""
    predicates = [_predicate(p) for p in patterns]
    return [
        any(p(path, leaf) for p in predicates)
        for path, leaf in zip(spec.path_names, leaves, strict=True)
    ]


def selected(
    spec: Spec, leaves: Leaves, patterns: tuple[Any, ...], *, keep: bool
) -> tuple[Spec, Leaves]:
    """The leaves that match (or, without `keep`, those that do not), and their structure."""
    hits = [hit == keep for hit in matches(spec, leaves, patterns)]
    flags = iter(hits)
    changed = _kept(spec, flags) or make_spec("dict")
    return changed, tuple(leaf for leaf, hit in zip(leaves, hits, strict=True) if hit)


def _kept(spec: Spec, flags: Iterator[bool]) -> Spec | None:
    if spec.kind == "leaf":
        return LEAF if next(flags) else None
    pairs = [(k, _kept(c, flags)) for k, c in zip(spec.keys, spec.children, strict=True)]
    left = [(k, c) for k, c in pairs if c is not None]
    if not left:
        return None
    kind = spec.kind if len(left) == len(pairs) else part_of(spec.kind)
    return make_spec(kind, tuple(k for k, _ in left), tuple(c for _, c in left))


# -- lining up --------------------------------------------------------------------------------


def line_up(spec: Spec, other: Any, what: str) -> Leaves:
    """The leaves of `other`, one for each leaf of `spec`.

    A Container of the same keys is matched by key; a prefix Container (its leaves
    stand where `spec` has nodes) gives its leaf to the whole subtree; anything that
    is not a Container goes to every leaf.
    """
    other_spec = getattr(other, "_spec", None)
    if not isinstance(other_spec, Spec):
        return (other,) * spec.num_leaves
    if other_spec is spec:
        return other._leaves
    order = other_spec.permutation_to(spec)
    if order is not None:
        return tuple([other._leaves[i] for i in order])
    spread = _spread(other_spec, other._leaves, spec)
    if spread is None:
        raise explain_mismatch(spec, other_spec, what)
    return tuple(spread)


def _spread(prefix: Spec, leaves: Leaves, spec: Spec) -> list[Any] | None:
    if prefix.kind == "leaf":
        return [leaves[0]] * spec.num_leaves
    if set(prefix.keys) != set(spec.keys) or spec.kind == "leaf":
        return None
    result: list[Any] = []
    for key, child in zip(spec.keys, spec.children, strict=True):
        start, stop, own = prefix.index[key]
        part = _spread(own, leaves[start:stop], child)
        if part is None:
            return None
        result.extend(part)
    return result


def map_leaves(spec: Spec, function: Callable[..., Any], columns: Sequence[Any]) -> Leaves:
    """``map`` over columns, of which at least one is a tuple; an error gets the leaf's path.

    Example:
        >>> import nestarray as na
        >>> spec = na.Container(a=1, b=2).spec
        >>> map_leaves(spec, max, [(1, 2), (5, 0)])
        (5, 2)
    """
    done = None
    rows = list(columns)
    for position, column in enumerate(rows):
        if column.__class__ is tuple:
            done = rows[position] = iter(column)
            break
    try:
        results = tuple(map(function, *rows))
    except Exception as error:
        if done is not None and spec.kind != "leaf":  # what the iterator has left says where we are
            index = spec.num_leaves - done.__length_hint__() - 1
            error.add_note(f"at the Container path {spec.path_names[index]!r}")
        raise
    if (
        len(results) != spec.num_leaves
    ):  # a StopIteration from `function` ends a map without a sound
        raise RuntimeError(
            f"a function raised StopIteration at the Container path {spec.path_names[len(results)]!r}"
        )
    return results


class At:
    """``c.at[path]``: functional updates of one place."""

    def __init__(self, container: Container, path: Key | Path | None = None) -> None:
        self._container, self._path = container, path

    def __getitem__(self, path: Key | Path) -> At:
        return At(self._container, path)

    def set(self, value: Any) -> Container:
        """Put `value` there."""
        return self._container.set(self._checked(), value)

    def apply(self, fn: Callable[[Any], Any]) -> Container:
        """Replace what is there by ``fn`` of it."""
        path = self._checked()
        return self._container.set(path, fn(self._container[path]))

    def add(self, value: Any) -> Container:
        """Add `value` to what is there."""
        return self.apply(lambda x: x + value)

    def multiply(self, value: Any) -> Container:
        """Multiply what is there by `value`."""
        return self.apply(lambda x: x * value)

    def _checked(self) -> Key | Path:
        if self._path is None:
            raise ArgumentError("Container.at: name a place first: c.at['a/b'].set(x)")
        return self._path
