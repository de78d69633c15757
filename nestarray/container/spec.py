"""The structure of a Container, without its leaves.

A `Spec` is a node: a kind, its keys, and a child spec for each key; `LEAF` is the
spec of a bare leaf. The kinds of nodes are ``dict``, ``list``, ``tuple``, ``part of list`` and
``part of tuple``. The last two are lists from which `select` removed members: the others keep
their numbers, so `combine` can restore the list.

Specs are interned, so two Containers have the same structure exactly when their specs
specs are the same object, and matching structures costs one ``is``. Everything derived from a
structure (paths, key lookup, the permutation between two key orders) is computed once per spec
and cached on it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from numbers import Integral
from typing import Any, Generic, TypeVar, overload
from weakref import WeakValueDictionary

from nestarray.dynamo import compile_time_constant, is_compiling, traced_as
from nestarray.errors import PathError, StructureError
from nestarray.errors.text import counted
from nestarray.errors.unknown_names import nearest_name

Key = str | int
Path = tuple[Key, ...]

Value = TypeVar("Value")

_interned: WeakValueDictionary[Hashable, Spec] = WeakValueDictionary()
_interning = threading.Lock()


class _Number(int):
    """An integer that sorts before strings: ``tf.nest`` and dm-tree sort the keys of a node."""

    def __lt__(self, other: Any) -> bool:
        return isinstance(other, str) or int.__lt__(self, other)

    def __gt__(self, other: Any) -> bool:
        return not isinstance(other, str) and int.__gt__(self, other)


class kept(Generic[Value]):
    """A cached property without a lock.

    torch.compile cannot trace the lock of `functools.cached_property`. Two threads may both
    compute the value, which is constant.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self.compute, self.__doc__ = compile_time_constant(compute), compute.__doc__

    @overload
    def __get__(self, holder: None, cls: type) -> kept[Value]: ...
    @overload
    def __get__(self, holder: object, cls: type) -> Value: ...
    def __get__(self, holder: Any, cls: type) -> Any:
        if holder is None:
            return self
        value = self.compute(holder)
        if not is_compiling():
            holder.__dict__[self.compute.__name__] = value
        return value


class Spec:
    """An interned tree structure. Build with `make_spec`; compare with ``is``."""

    kind: str
    keys: tuple[Key, ...]
    children: tuple[Spec, ...]
    num_leaves: int
    #: key → (first leaf, one past the last leaf, child spec)
    index: dict[Key, tuple[int, int, Spec]]
    #: name of a path → its keys, in a tree that has a key with a slash
    named: dict[str, Path]

    def __init__(self, kind: str, keys: tuple[Key, ...], children: tuple[Spec, ...]) -> None:
        self.kind, self.keys, self.children = kind, keys, children
        self.index, start = {}, 0
        for key, child in zip(keys, children, strict=True):
            self.index[key] = (start, start + child.num_leaves, child)
            start += child.num_leaves
        self.num_leaves = 1 if kind == "leaf" else start
        self.named = self._check_names()
        self._located: dict[Any, tuple[int, int, Spec]] = {}
        self._permutations: dict[int, tuple[Spec, tuple[int, ...] | None]] = {}

    def _check_names(self) -> dict[str, Path]:
        """Raise an error if two paths have one name; return the paths by name, if a key has a slash.

        Without slashes, only an integer and its text have one name.
        """
        has_slash = self.has_slashes or any(child.named for child in self.children)
        if not has_slash and len(set(map(type, self.keys))) < 2:
            return {}
        named: dict[str, Path] = {}
        for key, child in zip(self.keys, self.children, strict=True):
            inner = child.all_paths() if has_slash else ()
            for path in ((key,), *((key, *rest) for rest in inner)):
                other = named.setdefault(join_path(path), path)
                if other is not path:
                    raise StructureError(
                        f"Container: {join_path(path)!r} names two paths, {other!r} and {path!r}; "
                        "rename a key; c.set(name, x) changes what is there"
                    )
        return named if has_slash else {}

    def all_paths(self) -> Iterator[Path]:
        """The path of each node and leaf below this one, nodes before their members."""
        for key, child in zip(self.keys, self.children, strict=True):
            yield (key,)
            for rest in child.all_paths():
                yield (key, *rest)

    def __reduce__(self) -> tuple[Any, ...]:
        return from_rows, (self._rows(),)

    def _rows(self) -> list[tuple[str, tuple[Key, ...], tuple[int, ...]]]:
        """Each distinct node once, after its children, which are given as row numbers.

        pickle cannot save deeply nested objects, so rows replace the nesting.
        """
        numbers: dict[Spec, int] = {}
        rows: list[tuple[str, tuple[Key, ...], tuple[int, ...]]] = []
        waiting: list[tuple[Spec, bool]] = [(self, False)]
        while waiting:
            node, is_open = waiting.pop()
            if node in numbers:
                continue
            if is_open or not node.children:
                numbers[node] = len(rows)
                rows.append((node.kind, node.keys, tuple([numbers[c] for c in node.children])))
            else:
                waiting.append((node, True))
                waiting.extend([(child, False) for child in node.children])
        return rows

    def __repr__(self) -> str:
        if self.kind == "leaf":
            return "*"
        inner = ", ".join(f"{k}: {c!r}" for k, c in zip(self.keys, self.children, strict=True))
        return f"{self.kind}({inner})"

    @kept
    def sortable_keys(self) -> Path:
        """`keys` for iteration; among keys of both types, integers sort before strings."""
        is_mixed = len(set(map(type, self.keys))) > 1
        return tuple([_Number(k) if is_mixed and k.__class__ is int else k for k in self.keys])

    @kept
    def has_slashes(self) -> bool:
        """Whether a key contains a slash, and so equals several names of a path."""
        return any(isinstance(key, str) and "/" in key for key in self.keys)

    @kept
    def paths(self) -> tuple[Path, ...]:
        """The path of each leaf, in leaf order."""
        return tuple(self._iter_paths())

    def _iter_paths(self) -> Iterator[Path]:
        if self.kind == "leaf":
            yield ()
            return
        for key, child in zip(self.keys, self.children, strict=True):
            for rest in child._iter_paths():
                yield (key, *rest)

    @kept
    def path_names(self) -> tuple[str, ...]:
        """The path of each leaf as ``"a/b/c"``."""
        return tuple(join_path(p) for p in self.paths)

    @compile_time_constant
    def permutation_to(self, other: Spec) -> tuple[int, ...] | None:
        """Leaf indices of `self` in the leaf order of `other`; None if their keys differ."""
        found = self._permutations.get(id(other))
        if found is None:  # the entry holds `other`, so that its id is not reused
            found = self._permutations[id(other)] = (other, self._permutation_to(other))
        return found[1]

    def _permutation_to(self, other: Spec) -> tuple[int, ...] | None:
        if self is other:
            return tuple(range(self.num_leaves))
        if set(self.keys) != set(other.keys) or "leaf" in (self.kind, other.kind):
            return None
        order: list[int] = []
        for key, child in zip(other.keys, other.children, strict=True):
            start, _, own = self.index[key]
            inner = own.permutation_to(child)
            if inner is None:
                return None
            order.extend(start + i for i in inner)
        return tuple(order)

    def locate(self, path: Key | Path, caller: str = "Container") -> tuple[int, int, Spec]:
        """(first leaf, one past the last, spec) of a key, an ``"a/b"`` path or a tuple of keys.

        `caller` is the function name in error messages.

        Raises:
            PathError: the path does not exist; the message names the nearest key.
        """
        if is_compiling():
            return self._locate(path, caller)
        try:
            hit = self._located.get(path)
        except TypeError:  # slices and arrays are not hashable
            parse_path(path, caller)
            raise
        if hit is None:
            hit = self._located[path] = self._locate(path, caller)
        return hit

    def has(self, path: Key | Path) -> bool:
        """Whether a path exists, without the message of `locate`.

        Raises:
            PathError: `path` is not a path.
        """
        try:
            if not is_compiling() and path in self._located:
                return True
        except TypeError:  # slices and arrays are not hashable
            return False
        return not self._along(path, "Container")[1]

    def _locate(self, path: Key | Path, caller: str) -> tuple[int, int, Spec]:
        start, spec = 0, self
        for key in self.keys_along(path, caller):
            first, _, spec = spec.index[key]
            start += first
        return start, start + spec.num_leaves, spec

    def keys_along(self, path: Key | Path, caller: str = "Container") -> Path:
        """The keys along an existing path, with the types that the nodes have.

        The name of a path is found before it is split; empty keys are found before they are ignored.
        """
        keys, rest = self._along(path, caller)
        if rest:
            raise PathError(f"{caller}: {_missing_key_message(self, keys, rest[0], path)}")
        return keys

    def _along(self, path: Key | Path, caller: str) -> tuple[Path, Path]:
        """The keys along a path as far as they exist, and the rest of the path."""
        if not isinstance(path, tuple) and path in self.index:
            return (path,), ()
        if isinstance(path, str):
            if path in self.named:
                return self.named[path], ()
            keys, rest = _walk(self, tuple(path.split("/")))
            if not rest:
                return keys, ()
        return _walk(self, parse_path(path, caller))


def take_key(spec: Spec, remaining: Path) -> tuple[Key | None, Path]:
    """The key of `spec` that starts `remaining`: exact, as a number, or with slashes.

    If several keys fit, such as "a" and "a/b", the one with the longest match wins.
    """
    best: tuple[Key | None, Path] = None, remaining
    least = -1
    found = _keys_named(spec, remaining)
    for key, rest in found:
        left = len(_walk(spec.index[key][2], rest)[1]) if len(found) > 1 else 0
        if least < 0 or left < least:
            best, least = (key, rest), left
    return best


def _keys_named(spec: Spec, remaining: Path) -> list[tuple[Key, Path]]:
    """All keys of `spec` that may start `remaining`, each with the rest of the path."""
    found: list[tuple[Key, Path]] = []
    for key in _spellings(spec, remaining[0]):
        found.append((key, remaining[1:]))
    for end in range(len(remaining), 1, -1) if spec.has_slashes else ():
        joined = "/".join([str(k) for k in remaining[:end]])
        if joined in spec.index:
            found.append((joined, remaining[end:]))
    return found


def _spellings(spec: Spec, name: Key) -> list[Key]:
    """The keys of `spec` that one name of a path may denote: itself, as a number or as text."""
    found: list[Key] = [name] if name in spec.index else []
    if isinstance(name, int):
        number, other = name, str(name)
    elif name.removeprefix("-").isdecimal():
        number = other = int(name)
    else:
        return found
    if other in spec.index:
        found.append(other)
    elif not found and number < 0 and spec.kind in ("list", "tuple"):
        from_end = len(spec.keys) + number
        if from_end >= 0:
            found.append(from_end)
    return found


def _walk(spec: Spec, remaining: Path) -> tuple[Path, Path]:
    """The keys along a path as far as they exist, and the rest of the path."""
    keys: list[Key] = []
    while remaining:
        key, remaining = take_key(spec, remaining)
        if key is None:
            break
        keys.append(key)
        spec = spec.index[key][2]
    return tuple(keys), remaining


@compile_time_constant
def _missing_key_message(spec: Spec, done: Path, key: Key, path: Any) -> str:
    where = f"under {join_path(done)!r}" if done else "at the top"
    for existing in done:
        spec = spec.index[existing][2]
    if spec.kind == "leaf":
        leaf = f"{join_path(done)!r} is a leaf" if done else "this is a bare array"
        return f"no {path_text(path)}: {leaf}, it has no keys"
    is_glob = isinstance(key, str) and "*" in key
    hint = "; c.select and c.exclude take patterns" if is_glob else _slashed(key, spec)
    return f"no {path_text(path)}: no key {key!r} {where}{hint}"


def _slashed(key: Key, spec: Spec) -> str:
    """A hint: the existing path that `key` spells with dots, or the nearest key."""
    path = str(key).replace(".", "/")
    if path != str(key):
        try:
            spec.locate(path)
            return f"; did you mean {path!r}?"
        except PathError:
            pass
    return nearest_key(key, spec.keys)


def path_text(path: Any) -> str:
    """A path as printed in messages."""
    return repr(join_path(path) if isinstance(path, tuple) else path)


@compile_time_constant
def nearest_key(key: Key, keys: tuple[Key, ...]) -> str:
    """A hint for an error message: the nearest key, or the available keys."""
    near = nearest_name(str(key), [k for k in keys if isinstance(k, str)])
    if near is not None:
        return f"; did you mean {near!r}?"
    if not keys:
        return "; there are no keys"
    shown = ", ".join(map(repr, keys[:8])) + (", …" if len(keys) > 8 else "")
    return f"; the keys are {shown}"


@compile_time_constant
def _spec_of(kind: str, keys: tuple[Key, ...], *children: Spec) -> Spec:
    return make_spec(kind, keys, children)


def _traceable_spec(kind: str, keys: tuple[Key, ...] = (), children: tuple[Spec, ...] = ()) -> Spec:
    # torch.compile accepts objects as arguments of constant functions, but not inside tuples
    return _spec_of(kind, keys, *children)


@traced_as(_traceable_spec)
def make_spec(kind: str, keys: tuple[Key, ...] = (), children: tuple[Spec, ...] = ()) -> Spec:
    """The one `Spec` of this kind with these keys and children."""
    identity = (kind, keys, tuple(map(type, keys)), tuple(map(id, children)))
    spec = _interned.get(identity)
    if spec is None:
        with _interning:  # threads that build the same tree get the same spec
            spec = _interned.get(identity)
            if spec is None:
                spec = _interned[identity] = Spec(kind, keys, children)
    return spec


LEAF = make_spec("leaf")


def from_rows(rows: list[tuple[str, tuple[Key, ...], tuple[int, ...]]]) -> Spec:
    """Rebuild a spec from the rows of a pickle."""
    specs: list[Spec] = []
    for kind, keys, children in rows:
        specs.append(make_spec(kind, keys, tuple([specs[i] for i in children])))
    return specs[-1]


_PART = "part of "


def part_of(kind: str) -> str:
    """The kind of a node of `kind` after members were removed and the others kept their numbers."""
    return _PART + kind if kind in ("list", "tuple") else kind


def merged_node(kind: str, pairs: dict[Key, Spec]) -> tuple[Spec, list[Key]]:
    """Merge the children of several nodes into one node; returns it and its keys in order.

    Parts of a list that together have all numbers become the list.
    """
    whole = kind.removeprefix(_PART)
    keys = list(pairs)
    if whole in ("list", "tuple"):
        numbers = [k for k in keys if isinstance(k, int)]
        if len(numbers) < len(keys):
            kind = "dict"
        else:
            keys.sort()  # type: ignore[arg-type]
            kind = whole if keys == list(range(len(keys))) else part_of(whole)
    return make_spec(kind, tuple(keys), tuple(pairs[k] for k in keys)), keys


def plain_key(key: Any) -> Key | None:
    """`key` as a Python string or integer (from NumPy integers or enumerations); None otherwise."""
    if key.__class__ is str or key.__class__ is int:
        return key
    if isinstance(key, str):
        return str.__str__(key)
    return int(key) if isinstance(key, Integral) and not isinstance(key, bool) else None


def parse_path(path: Key | Path, caller: str = "Container") -> Path:
    """Split ``"a/b/c"`` into keys; a tuple or an integer is returned unchanged.

    `caller` is the function name in error messages.

    Raises:
            PathError: `path` is empty, or neither a string, an integer nor a tuple of these.
    """
    if isinstance(path, str):
        keys = tuple(k for k in path.split("/") if k)
        if keys:
            return keys
        raise PathError(f"{caller}: got an empty path, expected a key such as 'a' or 'a/b'")
    keys = tuple([plain_key(key) for key in (path if isinstance(path, tuple) else (path,))])
    if keys and None not in keys:
        return keys  # type: ignore[return-value]
    raise PathError(
        f"{caller}: got {path!r} as a path, expected a string, an integer or a tuple of these"
    )


def join_path(path: Path) -> str:
    """``("a", 0, "b")`` as ``"a/0/b"``."""
    return "/".join(map(str, path))


def explain_mismatch(left: Spec, right: Spec, caller: str) -> StructureError:
    """The error for two structures that do not match: first path, both sides, nearest key.

    A leaf of the right structure matches any node of the left one.
    """
    fronts = {path[:n] for path in left.paths for n in range(1, len(path) + 1)}
    ends = set(right.paths)
    alone = [p for p in left.paths if not any(p[:n] in ends for n in range(1, len(p) + 1))]
    foreign = [p for p in right.paths if p not in fronts]
    for paths, here, there, sides in (
        (alone, left, right, ("left", "right")),
        (foreign, right, left, ("right", "left")),
    ):
        if paths:
            name = join_path(paths[0])
            near = nearest_name(name, there.path_names)
            hint = f"; the nearest there is {near!r}" if near is not None else ""
            if near == name:  # 0 and "0"
                hint = (
                    "; one has a list there, the other a dict with numbers as keys: "
                    "from_flat_dict(…, lists=True) makes lists"
                )
            more = f" (and {len(paths) - 1} more)" if len(paths) > 1 else ""
            return StructureError(
                f"{caller}: Containers do not match: {name!r} is in the {sides[0]} one "
                f"({counted(here.num_leaves, 'leaf', 'leaves')}), not in the {sides[1]} one "
                f"({counted(there.num_leaves, 'leaf', 'leaves')})"
                f"{hint}{more}. a.align(b, join='inner') takes the common part, "
                "join='outer' with fill=… adds what is missing"
            )
    return StructureError(f"{caller}: Containers do not match: {left!r} and {right!r}")
