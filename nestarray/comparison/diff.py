"""The difference between two trees, as a value that can be printed, applied and inverted.

A `Diff` holds the structures of both trees, the origin of each new leaf, and the leaves that
changed, were added or were removed, on both sides. `patch` is a three-way merge of the old tree,
the new tree and the given tree, so it also applies to trees that differ elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from nestarray.backends import backend_of_type
from nestarray.comparison.change import Change
from nestarray.comparison.diff_report import as_sections, as_text
from nestarray.comparison.equality import (
    are_near,
    check_has_values,
    differing_aspects,
    has_elements,
    identical,
    same_values,
)
from nestarray.comparison.merge import MISSING, Merging
from nestarray.comparison.moves import moved_leaves
from nestarray.container import Container, Leaf, method
from nestarray.container.access import Leaves
from nestarray.container.arguments import check_container
from nestarray.container.container import from_leaves
from nestarray.container.leaf import describe
from nestarray.container.spec import LEAF, Key, Path, Spec, join_path, make_spec
from nestarray.display.sections import HasSections, Sections
from nestarray.errors import ArgumentError, StructureError
from nestarray.errors.text import listed


@dataclass(frozen=True, eq=False, repr=False)
class Diff(HasSections):
    """The differences between two trees; true if there are any. Created by `diff`.

    ``str(d)`` is a table that fits the terminal, ``a.patch(d)`` applies it,
    ``d.invert()`` reverses it. It can be pickled.

    Attributes:
        entries: the differences in the order of the new tree, with removed leaves at their old place.
        old_spec: the structure of the old tree.
        new_spec: the structure of the new tree.
        sources: for each new leaf, the number of the same old leaf, unchanged or moved; -1 if
            the leaf is in `new_leaves`.
        old_leaves: number → leaf of the old tree that the new tree does not contain.
        new_leaves: number → leaf of the new tree that the old tree does not contain.
    """

    entries: tuple[Change, ...]
    old_spec: Spec
    new_spec: Spec
    sources: tuple[int, ...]
    old_leaves: dict[int, Any]
    new_leaves: dict[int, Any]

    def __bool__(self) -> bool:
        return bool(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Change]:
        return iter(self.entries)

    @cached_property
    def changes(self) -> Container:
        """The arrays of the difference: ``changes["old"]`` and ``changes["new"]``, by path.

        ``old`` has the removed and changed leaves, ``new`` the added and changed leaves, each in
        the structure of its tree.
        """
        return Container(
            old=_partial(self.old_spec, self.old_leaves),
            new=_partial(self.new_spec, self.new_leaves),
        )

    def invert(self) -> Diff:
        """The difference from the new tree to the old one.

        Example:
            >>> import numpy as np, nestarray as na
            >>> old, new = na.Container(w=np.ones(2)), na.Container(w=np.zeros(2))
            >>> new.patch(old.diff(new).invert()).w
            array([1., 1.])
        """
        sources = [-1] * self.old_spec.num_leaves
        for new, old in enumerate(self.sources):
            if old >= 0:
                sources[old] = new
        return Diff(
            tuple([entry.inverse() for entry in self.entries]),
            self.new_spec,
            self.old_spec,
            tuple(sources),
            self.new_leaves,
            self.old_leaves,
        )

    def to_dict(self) -> dict[str, Any]:
        """The differences as strings and numbers for ``json.dumps``, without the arrays.

        Example:
            >>> import numpy as np, nestarray as na
            >>> na.Container(w=np.ones(2)).diff(na.Container(w=np.zeros(2))).to_dict()["counts"]
            {'changed': 1}
        """
        counts: dict[str, int] = {}
        for entry in self.entries:
            counts[entry.status] = counts.get(entry.status, 0) + 1
        return {
            "leaves": [self.old_spec.num_leaves, self.new_spec.num_leaves],
            "counts": counts,
            "entries": [entry.to_dict() for entry in self.entries],
        }

    def __str__(self) -> str:
        return as_text(self.entries, self.old_spec.num_leaves, self.new_spec.num_leaves)

    def __repr__(self) -> str:
        return f"Diff: {self}"

    def _sections(self) -> Sections:
        return as_sections(self.entries, self.old_spec.num_leaves, self.new_spec.num_leaves)


def _partial(spec: Spec, leaves: dict[int, Any]) -> Container:
    if spec is LEAF and leaves:
        return from_leaves(spec, (leaves[0],))
    numbers = from_leaves(spec, range(spec.num_leaves))
    if spec is LEAF:
        return Container()
    return numbers.select(lambda path, number: number in leaves).map(leaves.__getitem__)


@method
def diff(
    c: Container,
    other: Container,
    /,
    *,
    rtol: float = 0.0,
    atol: float = 0.0,
    check_dtype: bool = True,
    check_backend: bool = True,
    check_order: bool = True,
) -> Diff:
    """The difference from this tree to `other`: structure, shapes, dtypes and values, by path.

    By default leaves are the same if all bits are the same (any NaN equals any NaN, -0.0 differs
    from 0.0), and ``c.patch(c.diff(other))`` equals `other` exactly. Differences that a
    tolerance or a disabled check ignores are not in the patch either. An array that is removed
    at one path and added at another has moved. The op `na.diff` (differences of neighbours) is
    not a method.

    Args:
        c: the old tree.
        other: the new tree.
        rtol: elements are the same if |new − old| ≤ atol + rtol · |old|.
        atol: see `rtol`.
        check_dtype: False treats arrays of different dtypes as equal if their values are.
        check_backend: False treats arrays of different frameworks as equal if their values are.
        check_order: False ignores the order of keys, which files and frameworks change.

    Returns:
        a `Diff`, which is true if the trees differ.

    Raises:
        ArgumentError: `other` is not a Container, a tolerance is negative, or an array is
            traced and has no values.

    Example:
        >>> import numpy as np, nestarray as na
        >>> a = na.Container(w=np.zeros((2, 3)), b=np.zeros(2))
        >>> b = na.Container(w=np.zeros((2, 3)), c={"b": np.ones(2)}).set("w", np.eye(2, 3))
        >>> print(a.diff(b))
        1 changed, 1 added, 1 removed; 2 leaves → 2
        ~ w    f64[2, 3]  2 of 6 changed (33%), |Δ| ≤ 1 at [0, 0], mean 0.333
        + c/b  f64[2]
        - b    f64[2]
        >>> np.array_equal(a.patch(a.diff(b))["c/b"], np.ones(2))
        True
        >>> bool(a.diff(a))
        False
    """
    check_container("diff", "c", c)
    check_container("diff", "other", other)
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not (isinstance(value, (int, float)) and value >= 0):
            raise ArgumentError(f"diff: {name}: got {value!r}, expected a number of at least 0")
    for side in (c, other):
        check_has_values("diff", side)
    if not check_order:
        other = from_leaves(*_in_order_of(c._spec, other._spec, other._leaves))
    ignored = set()
    if not check_dtype:
        ignored.add("dtype")
    if not check_backend:
        ignored.add("backend")
    old_place = {path: i for i, path in enumerate(c._spec.paths)}
    sources, changed = [], {}
    for path, new in zip(other._spec.paths, other._leaves, strict=True):
        i = old_place.pop(path, -1)
        change = None if i < 0 else _changed_leaf(c._leaves[i], new, rtol, atol, ignored)
        if change is not None:
            changed[len(sources)] = (i, *change)
            i = -1
        sources.append(i)
    moved = moved_leaves(c, other)
    for new, old in moved.items():
        sources[new] = old
    kept = set(sources)
    return Diff(
        _entries(c, other, sources, changed, moved),
        c._spec,
        other._spec,
        tuple(sources),
        {i: leaf for i, leaf in enumerate(c._leaves) if i not in kept},
        {k: other._leaves[k] for k, source in enumerate(sources) if source < 0},
    )


def _in_order_of(like: Spec, spec: Spec, leaves: Leaves) -> tuple[Spec, Leaves]:
    """The tree with the keys of its dicts in the order of `like`, additional keys last."""
    if like is spec or LEAF in (like, spec):
        return spec, leaves
    parts: dict[Key, tuple[Spec, Leaves]] = {}
    for key, (start, stop, child) in spec.index.items():
        parts[key] = child, leaves[start:stop]
        if key in like.index:
            parts[key] = _in_order_of(like.index[key][2], *parts[key])
    keys = [*filter(parts.__contains__, like.keys), *parts] if spec.kind == "dict" else parts
    keys = tuple(dict.fromkeys(keys))
    changed = make_spec(spec.kind, keys, tuple([parts[key][0] for key in keys]))
    return changed, tuple([leaf for key in keys for leaf in parts[key][1]])


def _changed_leaf(
    old: Any, new: Any, rtol: float, atol: float, ignored: set[str]
) -> tuple[tuple[str, ...], dict[str, Any] | None] | None:
    """The changed aspects of a leaf, and the arguments for `Change.compared`; None if unchanged."""
    if old is new:
        return None
    found = differing_aspects(old, new)
    aspects = tuple([a for a in found if a not in ignored])
    if "type" in aspects or "shape" in aspects:
        return aspects, None
    is_number = has_elements(old) or isinstance(old, (int, float, complex))
    compared = {"x": old, "y": new, "rtol": rtol, "atol": atol} if is_number else None
    if compared is not None and (found or rtol or atol):
        is_same = are_near(**compared)
    else:
        is_same = same_values(old, new)
    if is_same:
        return (aspects, None) if aspects else None
    return (*aspects, "values"), compared


def _entries(
    c: Container,
    other: Container,
    sources: list[int],
    changed: dict[int, Any],
    moved: dict[int, int],
) -> tuple[Change, ...]:
    entries = list(_changed_nodes((), c._spec, other._spec))
    for k, (path, new) in enumerate(zip(other._spec.paths, other._leaves, strict=True)):
        if k in changed:
            i, aspects, compared = changed[k]
            names = _describe_both(c._leaves[i], new, aspects)
            entries.append(Change("changed", path, path, *names, aspects, compared))
        elif k in moved:
            entries.append(
                Change("moved", path, c._spec.paths[moved[k]], describe(new), describe(new))
            )
        elif sources[k] < 0:
            entries.append(Change("added", path, None, None, describe(new)))
    kept = {*sources, *(i for i, *_ in changed.values())}
    for i, (path, old) in enumerate(zip(c._spec.paths, c._leaves, strict=True)):
        if i not in kept:
            entries.append(Change("removed", path, path, describe(old), None))
    return tuple(entries)


def _describe_both(old: Any, new: Any, aspects: tuple[str, ...]) -> tuple[str, str]:
    if aspects == ("values",) and has_elements(old):
        return describe(old), describe(old)
    names = describe(old), describe(new)
    if "backend" in aspects:
        return tuple(f"{_framework(x)} {n}" for x, n in zip((old, new), names))  # type: ignore[return-value]
    return names


def _framework(x: Any) -> str:
    return backend_of_type(type(x)) or type(x).__name__


def _changed_nodes(path: Path, old: Spec | None, new: Spec | None) -> Iterator[Change]:
    """Nodes of a different kind or order, and added or removed nodes without leaves."""
    before, after = (None if spec is LEAF else spec for spec in (old, new))
    if before is after:
        return
    if before is not None and after is not None:
        if before.kind != after.kind:
            yield Change("kind", path, path, before.kind, after.kind)
        if [k for k in before.keys if k in after.index] != [
            k for k in after.keys if k in before.index
        ]:
            old_keys, new_keys = (", ".join(map(str, node.keys)) for node in (before, after))
            yield Change("order", path, path, old_keys, new_keys)
    elif before is not None and not before.keys:
        yield Change("removed", path, path, f"empty {before.kind}", None)
    elif after is not None and not after.keys:
        yield Change("added", path, None, None, f"empty {after.kind}")
    keys = dict.fromkeys(key for node in (before, after) if node is not None for key in node.keys)
    for key in keys:
        inner = [n.index[key][2] if n and key in n.index else None for n in (before, after)]
        yield from _changed_nodes((*path, key), *inner)


@method
def patch(c: Container[Leaf], diff: Diff, /) -> Container[Leaf]:
    """Apply `diff` to this tree; the result is the new tree if `diff` was made from this tree.

    Differences from the old tree at other places are kept, and a leaf that `diff` moves is moved
    with its present value.

    Args:
        c: the tree to change.
        diff: the changes, from `diff`.

    Returns:
        a Container with leaves of `c` and of `diff`; nothing is copied.

    Raises:
        StructureError: a place to change differs from the old tree of `diff`. The message names
            all such places.
        ArgumentError: `diff` is not a `Diff`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> a, b = na.Container(w=np.zeros(2)), na.Container(w=np.ones(2), n=1)
        >>> d = a.diff(b)
        >>> a.patch(d).to_dict()
        {'w': array([1., 1.]), 'n': 1}
        >>> b.patch(d.invert()).to_dict()
        {'w': array([0., 0.])}
    """
    check_container("patch", "c", c)
    if not isinstance(diff, Diff):
        raise ArgumentError(
            f"patch: diff: got {type(diff).__name__}, expected what a.diff(b) returns"
        )
    tokens = [_Token() for _ in range(diff.old_spec.num_leaves)]
    own = _recognized(c, diff, tokens)
    new = [
        tokens[source] if source >= 0 else _Token(diff.new_leaves[k])
        for k, source in enumerate(diff.sources)
    ]
    merging = Merging(lambda a, b: a is b, lambda *_: NotImplemented)
    result = merging.run(
        (diff.old_spec, tuple(tokens)), (c._spec, own), (diff.new_spec, tuple(new))
    )
    failed = [conflict.path for conflict in merging.conflicts]
    if result is None:
        spec, leaves = Container()._spec, ()
    else:
        spec, leaves = result
    place = {id(token): path for token, path in zip(tokens, diff.old_spec.paths, strict=True)}
    failed += [place[id(token)] for token in leaves if token.value is MISSING]
    if failed:
        raise StructureError(_conflict_error(failed))
    return from_leaves(spec, tuple([token.value for token in leaves]))


class _Token:
    """A placeholder for one leaf while structures are merged, compared by identity."""

    __slots__ = ("value",)

    def __init__(self, value: Any = MISSING) -> None:
        self.value = value


def _recognized(c: Container, diff: Diff, tokens: list[_Token]) -> tuple[_Token, ...]:
    """For each leaf of `c`, the token of the same old leaf, or a new token."""
    place = {path: i for i, path in enumerate(diff.old_spec.paths)}
    own = []
    for path, leaf in zip(c._spec.paths, c._leaves, strict=True):
        i = place.get(path)
        if i is None or (i in diff.old_leaves and not identical(diff.old_leaves[i], leaf)):
            own.append(_Token(leaf))
        else:
            tokens[i].value = leaf
            own.append(tokens[i])
    return tuple(own)


def _conflict_error(paths: list[Path]) -> str:
    names = [repr(join_path(path) or ".") for path in paths]
    return (
        f"patch: diff does not apply: not as it was in the tree that it was made from: "
        f"{listed(names, 5)}. Nothing was changed; make a new diff, or use "
        "base.merge(ours, theirs), which can resolve conflicts"
    )
