"""Three-way merge of two trees with a common base.

A place that one side changed is taken from that side; equal changes on both sides are taken once;
different changes are a conflict. The caller's rule resolves conflicts, or one error names all of
them. The same holds for the kind of a node and for the order of its keys, where ours has
priority.

As in git, a leaf that one side moved keeps its identity: a change by the other side is applied at
the new path. A leaf that both sides moved to different paths, or that one side moved and the other
deleted, is a conflict at each of its new paths.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from nestarray import dtypes, ops
from nestarray.backends import is_array
from nestarray.comparison.equality import (
    check_has_values,
    differing_aspects,
    identical,
)
from nestarray.comparison.moves import moved_leaves
from nestarray.container import Container, Leaf, method
from nestarray.container.arguments import check_container
from nestarray.container.container import from_leaves
from nestarray.container.leaf import describe
from nestarray.container.spec import LEAF, Key, Path, Spec, join_path, make_spec
from nestarray.errors import ArgumentError, MergeConflict, StructureError
from nestarray.storage import stored

#: Spec and leaves of a subtree; None if missing.
Part = tuple[Spec, tuple[Any, ...]] | None
Resolve = Callable[[str, Any, Any, Any], Any]

_SEQUENCES = ("list", "tuple")
_SHOWN = 10


class Missing:
    """The type of `MISSING`."""

    def __repr__(self) -> str:
        return "MISSING"

    def __reduce__(self) -> str:
        return "MISSING"


#: Marks a missing place, because None may be a leaf.
MISSING: Final = Missing()


@dataclass(frozen=True, eq=False)
class Conflict:
    """A place with different changes in ours and theirs.

    Attributes:
        path: the keys of the place.
        base: the leaf or the sub-container in the base, or `MISSING`.
        ours: the value in ours.
        theirs: the value in theirs.
        reason: a description of both changes.
    """

    path: Path
    base: Any
    ours: Any
    theirs: Any
    reason: str

    def __str__(self) -> str:
        return f"{join_path(self.path) or 'the root'!r}: {self.reason}"


@method
def merge(
    c: Container[Leaf],
    ours: Container,
    theirs: Container,
    /,
    *,
    resolve: str | Resolve | None = None,
) -> Container[Leaf]:
    """The three-way merge of two trees that were derived from `c`.

    An array counts as changed if a bit of it, the dtype, the shape or the framework differs. If
    one side moved or renamed a leaf (as `diff` reports it), the other side's change is applied at
    the new path; different moves, or a move and a deletion, are a conflict. A list whose members
    one side changed and the other side added to or removed from is one conflict if the numbers
    of its members no longer match.

    Args:
        c: the common base.
        ours: the tree derived on one side.
        theirs: the tree derived on the other side.
        resolve: the rule for conflicts. ``"ours"`` or ``"theirs"`` takes that side. ``"sum"``
            adds both changes, base + (ours − base) + (theirs − base), for arrays or numbers of
            the same shape, dtype and framework. A function of (path, base, ours, theirs)
            returns a leaf or tree, `MISSING` to delete the place, or ``NotImplemented`` to keep
            the conflict. None resolves nothing.

    Returns:
        a Container with the changes of both. Keys have the order of ours; new keys of theirs
        follow their neighbours.

    Raises:
        MergeConflict: conflicts remain; its attribute `conflicts` lists them.
        ArgumentError: `resolve` is invalid, or an argument is not a Container.

    Example:
        >>> import numpy as np, nestarray as na
        >>> base = na.Container(w=np.zeros(2), b=np.zeros(1))
        >>> base.merge(base.set("w", np.ones(2)), base.set("b", np.ones(1))).to_dict()
        {'w': array([1., 1.]), 'b': array([1.])}
        >>> base.merge(base.rename({"w": "weight"}), base.set("w", np.ones(2)))["weight"]
        array([1., 1.])
        >>> base.merge(base + 1.0, base + 10.0, resolve="sum")["w"]
        array([11., 11.])

    References:
        https://arxiv.org/abs/2212.04089 (sums of changes: task arithmetic)
    """
    for name, side in (("c", c), ("ours", ours), ("theirs", theirs)):
        check_container("merge", name, side)
        check_has_values("merge", side)
    moves = _Moves(c, ours, theirs)
    merging = Merging(identical, _resolver(resolve), moves.displaced)
    result = merging.run(
        (c._spec, c._leaves), (ours._spec, moves.ours), (theirs._spec, moves.theirs)
    )
    if merging.conflicts:
        raise MergeConflict(_message(merging.conflicts), tuple(merging.conflicts))
    return from_leaves(*result) if result is not None else Container()


def _message(conflicts: list[Conflict]) -> str:
    lines = [f"  {conflict}" for conflict in conflicts[:_SHOWN]]
    if len(conflicts) > _SHOWN:
        lines.append(f"  … and {len(conflicts) - _SHOWN} more, see the attribute `conflicts`")
    places = "place" if len(conflicts) == 1 else "places"
    return "\n".join(
        [
            f"merge: ours and theirs changed {len(conflicts)} {places} differently; say what to "
            'take with resolve="ours", "theirs", "sum" or a function of (path, base, ours, theirs)',
            *lines,
        ]
    )


def _resolver(resolve: Any) -> Resolve:
    rules: dict[Any, Resolve] = {
        None: lambda path, base, ours, theirs: NotImplemented,
        "ours": lambda path, base, ours, theirs: ours,
        "theirs": lambda path, base, ours, theirs: theirs,
        "sum": _both_changes,
    }
    if resolve is None or isinstance(resolve, str):
        if resolve in rules:
            return rules[resolve]
    elif callable(resolve):
        return resolve
    raise ArgumentError(
        f"merge: resolve: got {resolve!r}, expected 'ours', 'theirs', 'sum', a function of "
        "(path, base, ours, theirs), or None"
    )


def _both_changes(path: str, base: Any, ours: Any, theirs: Any) -> Any:
    sides = (base, ours, theirs)
    if any(differing_aspects(base, side) for side in sides[1:]):
        return NotImplemented
    base, ours, theirs = sides = stored.read(sides)  # of files
    if not is_array(base):
        is_number = isinstance(base, (int, float, complex)) and not isinstance(base, bool)
        return ours + (theirs - base) if is_number else NotImplemented
    dtype = dtypes.dtype_of(base)
    if dtype is dtypes.bool:
        return NotImplemented
    if dtype.is_floating and dtype.bits < 32:  # round once, not after each step
        base, ours, theirs = (ops.astype(x, dtypes.float32) for x in sides)
    return ops.astype(ops.add(ours, ops.subtract(theirs, base)), dtype)


class _Moves:
    """Moved leaves of both sides.

    Attributes:
        ours: the leaves of ours, where moved leaves have the changes of theirs; their old paths
            in theirs are reset to the base, so that nothing remains to be merged there.
        theirs: the leaves of theirs, likewise.
        apart: path → the base leaf that one side moved there, and the reason for the conflict:
            the other side deleted it or moved it elsewhere.
    """

    def __init__(self, base: Container, ours: Container, theirs: Container) -> None:
        self.base = base
        self.displaced: dict[Path, tuple[Any, str]] = {}
        own, other = _Side("ours", base, ours), _Side("theirs", base, theirs)
        self._follow(own, other)
        self._follow(other, own)
        self.ours, self.theirs = tuple(own.leaves.values()), tuple(other.leaves.values())

    def _follow(self, side: _Side, other: _Side) -> None:
        """Exchange the leaves that one side moved between the two trees."""
        for i, place in side.moved.items():
            old, leaf = self.base._spec.paths[i], self.base._leaves[i]
            reason = f"moved from {join_path(old)!r} to here in {side.name}"
            elsewhere = other.moved.get(i)
            if elsewhere is not None:
                if elsewhere != place:
                    way = f"to {join_path(elsewhere)!r} in {other.name}"
                    self.displaced[place] = leaf, f"{reason}, {way}"
            elif old in other.leaves:
                if not identical(leaf, other.leaves[old]):
                    side.leaves[place], other.leaves[old] = other.leaves[old], leaf
            elif old not in other.tree:
                self.displaced[place] = leaf, f"{reason}, deleted in {other.name}"


class _Side:
    """A side of a merge: its leaves by path, and base leaf number → new path for moved leaves."""

    def __init__(self, name: str, base: Container, tree: Container) -> None:
        self.name, self.tree = name, tree
        self.leaves: dict[Path, Any] = dict(zip(tree._spec.paths, tree._leaves, strict=True))
        self.moved = {i: tree._spec.paths[k] for k, i in moved_leaves(base, tree).items()}


class Merging:
    """The state of one merge: its rules and the remaining conflicts.

    Args:
        same: whether two leaves are the same.
        resolve: the rule for a conflict; ``NotImplemented`` keeps the conflict.
        apart: path → the leaf that one side moved there, and the reason for a conflict.
    """

    def __init__(
        self,
        same: Callable[[Any, Any], bool],
        resolve: Resolve,
        displaced: Mapping[Path, tuple[Any, str]] = MappingProxyType({}),
    ) -> None:
        self.same, self.resolve, self.displaced = same, resolve, displaced
        self.conflicts: list[Conflict] = []
        self._above_displaced = {path[:n] for path in displaced for n in range(len(path))}

    def run(self, base: Part, ours: Part, theirs: Part) -> Part:
        """The merge of three trees.

        Raises:
            StructureError: they are nested too deep.
        """
        try:
            return self.merged((), base, ours, theirs)
        except RecursionError:
            raise StructureError(
                "merge: the trees are nested deeper than Python's sys.getrecursionlimit() lets them "
                "be merged; raise it with sys.setrecursionlimit"
            ) from None

    def merged(self, path: Path, base: Part, ours: Part, theirs: Part) -> Part:
        """The merge of three subtrees at `path`; None if the result is empty."""
        if base is None and (ours is None or theirs is None):  # one side added it
            if path in self.displaced:
                leaf, reason = self.displaced[path]
                return self._conflict(path, (LEAF, (leaf,)), ours, theirs, reason)
            if path in self._above_displaced and not (_is_leaf(ours) or _is_leaf(theirs)):
                return self._merged_nodes(path, base, ours, theirs)
        if _is_node(ours) and _is_node(theirs) and not (_is_leaf(base)):
            return self._merged_nodes(path, base, ours, theirs)
        if self.same_parts(base, theirs) or self.same_parts(ours, theirs):
            return ours
        if self.same_parts(base, ours):
            return theirs
        if _is_node(base) and not _is_leaf(ours) and not _is_leaf(theirs):
            return self._merged_nodes(path, base, ours, theirs)  # one side deleted the node
        if base is not None and _is_leaf(base) and _is_node(ours) and _is_node(theirs):
            return self._merged_nodes(path, None, ours, theirs)
        return self._conflict(path, base, ours, theirs, _reason(base, ours, theirs))

    def same_parts(self, a: Part, b: Part) -> bool:
        """Whether two subtrees are the same: structure, order of keys and leaves."""
        if a is None or b is None:
            return a is b
        return a[0] is b[0] and all(map(self.same, a[1], b[1]))

    def _conflict(self, path: Path, base: Part, ours: Part, theirs: Part, reason: str) -> Part:
        values = _value(base), _value(ours), _value(theirs)
        found = self.resolve(join_path(path), *values)
        if found is NotImplemented:
            self.conflicts.append(Conflict(path, *values, reason))
            return ours
        return _part(found)

    def _merged_nodes(self, path: Path, base: Part, ours: Part, theirs: Part) -> Part:
        nodes = tuple(part[0] if part else None for part in (base, ours, theirs))
        known = len(self.conflicts)
        parts: dict[Key, Part] = {}
        for key in _order_of_keys(nodes):
            part = self.merged(
                (*path, key), _child(base, key), _child(ours, key), _child(theirs, key)
            )
            if part is not None:
                parts[key] = part
        if not parts and (ours is None or theirs is None):
            return None
        spec = _node(nodes, parts)
        if spec is None:
            del self.conflicts[known:]  # replaced by one conflict of the whole node
            reason = "the members of the two sides do not make one " + _kinds(nodes)
            return self._conflict(path, base, ours, theirs, reason)
        return spec, tuple(leaf for key in spec.keys for leaf in parts[key][1])  # type: ignore[index]


def _is_leaf(part: Part) -> bool:
    return part is not None and part[0] is LEAF


def _is_node(part: Part) -> bool:
    return part is not None and part[0] is not LEAF


def _child(part: Part, key: Key) -> Part:
    hit = part[0].index.get(key) if part else None
    if part is None or hit is None:
        return None
    start, stop, spec = hit
    return spec, part[1][start:stop]


def _value(part: Part) -> Any:
    if part is None:
        return MISSING
    return part[1][0] if part[0] is LEAF else from_leaves(*part)


def _part(value: Any) -> Part:
    if value is MISSING:
        return None
    if isinstance(value, (dict, list, tuple)):
        value = Container(value)
    return (value._spec, value._leaves) if isinstance(value, Container) else (LEAF, (value,))


def _node(nodes: tuple[Spec | None, ...], parts: dict[Key, Part]) -> Spec | None:
    """The merged node; None if the kinds of the sides, or the numbers of a list, do not match."""
    kinds = [None if node is None else node.kind for node in nodes]
    base, ours, theirs = kinds
    if None in (ours, theirs) or ours == theirs:
        kind = ours or theirs
    elif base == ours:
        kind = theirs
    elif base == theirs:
        kind = ours
    else:
        return None
    keys = list(parts)
    if kind in _SEQUENCES:
        if not all(isinstance(key, int) for key in keys):
            return None
        keys.sort()  # type: ignore[arg-type]
        if keys != list(range(len(keys))):
            return None
    assert kind is not None
    return make_spec(kind, tuple(keys), tuple(parts[key][0] for key in keys))  # type: ignore[index]


def _kinds(nodes: tuple[Spec | None, ...]) -> str:
    kinds = dict.fromkeys(node.kind for node in nodes[1:] if node is not None)
    return " or ".join(kinds)


def _order_of_keys(nodes: tuple[Spec | None, ...]) -> list[Key]:
    """All keys, in the order of the side that changed the order; by default of ours."""
    old, own, other = (() if node is None else node.keys for node in nodes)
    first, second = own, other
    if _is_in_order(own, old) and not _is_in_order(other, own):
        first, second = other, own
    order = list(first)
    for source in (second, old):
        have = set(order)
        followers: dict[Key | None, list[Key]] = {}
        previous: Key | None = None
        for key in source:  # a new key follows the same key as on its own side
            if key in have:
                previous = key
            else:
                followers.setdefault(previous, []).append(key)
        if followers:
            order = [k for key in (None, *order) for k in (key, *followers.get(key, ()))][1:]
    return order  # type: ignore[return-value]


def _is_in_order(keys: tuple[Key, ...], old: tuple[Key, ...]) -> bool:
    """Whether common keys have the same order, and new keys come only at the end."""
    place = {key: i for i, key in enumerate(old)}
    places = [place.get(key, len(old)) for key in keys]
    return places == sorted(places)


def _reason(base: Part, ours: Part, theirs: Part) -> str:
    if base is not None and ours is None:
        return f"deleted in ours, changed in theirs to {_shown(theirs)}"
    if base is not None and theirs is None:
        return f"deleted in theirs, changed in ours to {_shown(ours)}"
    did = "added" if base is None else "changed"
    if ours is not None and theirs is not None and _shown(ours) == _shown(theirs):
        return f"{did} in both, {_shown(ours)} of different values"
    return f"{did} in both, {_shown(ours)} in ours, {_shown(theirs)} in theirs"


def _shown(part: Part) -> str:
    if part is None:
        return "nothing"
    if part[0] is LEAF:
        return describe(part[1][0])
    leaves = "leaf" if part[0].num_leaves == 1 else "leaves"
    return f"a {part[0].kind} of {part[0].num_leaves} {leaves}"
