"""Inner, outer and left joins of Containers with different keys."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from nestarray.container.access import Leaves
from nestarray.container.spec import LEAF, Key, Path, Spec, join_path, make_spec, merged_node
from nestarray.errors import ArgumentError, StructureError

JOINS = ("inner", "outer", "left")

#: The placeholder for a missing leaf, replaced by `fill`.
MISSING: Any = object()


def joined(
    trees: Sequence[tuple[Spec, Leaves]], join: str, caller: str
) -> tuple[Spec, list[list[Any]]]:
    """The common structure of Containers, and the leaves of each, with `MISSING` in the gaps.

    Raises:
        ArgumentError: `join` is not in `JOINS`.
        StructureError: in an outer join, a path is a leaf of one Container and a node of another.
    """
    if join not in JOINS:
        raise ArgumentError(f"{caller}: join: got {join!r}, expected one of {', '.join(JOINS)}")
    spec = reduce(lambda a, b: _joined(a, b, join, caller, ()), [spec for spec, _ in trees])
    places = [dict(zip(own.paths, leaves, strict=True)) for own, leaves in trees]
    return spec, [[place.get(path, MISSING) for path in spec.paths] for place in places]


def _joined(a: Spec, b: Spec, join: str, caller: str, path: Path) -> Spec:
    if a is b or join == "left":
        return a
    if a is LEAF or b is LEAF:
        if join == "inner":
            return _NOTHING
        raise StructureError(
            f"{caller}: {join_path(path)!r} is a leaf of one Container and a node of another, which "
            "no outer join can hold; rename or delete one of them"
        )
    pairs: dict[Key, Spec] = {}
    for key in a.keys if join == "inner" else dict.fromkeys((*a.keys, *b.keys)):
        if key in a.index and key in b.index:
            child = _joined(a.index[key][2], b.index[key][2], join, caller, (*path, key))
            if join == "outer" or child.num_leaves or child is a.index[key][2]:
                pairs[key] = child
        elif join == "outer":
            pairs[key] = (a if key in a.index else b).index[key][2]
    return merged_node(a.kind if a.keys else b.kind, pairs)[0]


_NOTHING = make_spec("dict")
