"""The units of matching: leaves and subtrees, with the sizes of their contents."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from nestarray.container import Container
from nestarray.container.spec import Path
from nestarray.dtypes import dtype_of
from nestarray.errors import DtypeError
from nestarray.interchange.naming.pairs import Split
from nestarray.interchange.naming.parameter_names import name_of
from nestarray.interchange.naming.projections import sections
from nestarray.typing import NUMBERS


@dataclass(eq=False)
class Unit:
    """A leaf or a subtree, which is matched as a whole."""

    path: Path  # relative to the last matched unit
    leaves: list[int]  # their numbers in the tree
    children: list[Unit]
    sizes: Counter[Hashable] = field(default_factory=Counter)

    @property
    def start(self) -> int:
        return self.leaves[0]

    @property
    def count(self) -> int:
        return len(self.leaves)

    @cached_property
    def signature(self) -> Hashable:
        """A key that is equal for units whose leaves have the same sizes."""
        return frozenset(self.sizes.items())

    def members(self, *, inside: bool) -> list[Unit]:
        """The children, with paths relative to this unit if `inside`, else as this unit."""
        front = () if inside else self.path
        return [Unit((*front, *u.path), u.leaves, u.children, u.sizes) for u in self.children]


class Side:
    """The leaves of one tree: paths, shapes, and sizes for comparison.

    With `split`, a fused projection counts as three leaves; `places` has the path of the real leaf
    and the section of each.
    """

    def __init__(self, c: Container, *, split: bool, whole: Collection[int] = ()) -> None:
        self.paths: list[Path] = []
        self.shapes: list[tuple[int, ...]] = []
        self.places: list[tuple[Path, Split | None]] = []
        self.leaves: list[Any] = []
        self.starts: list[int] = []  # the number of the first section of each real leaf
        taken = {path[: n + 1] for path in c._spec.paths for n in range(len(path)) if split}
        for i, (path, leaf) in enumerate(zip(c._spec.paths, c._leaves, strict=True)):
            shape = shape_of(leaf)
            parts = sections(path, shape) if split and i not in whole else []
            if any(own[: len(path)] in taken for own, _ in parts):
                parts = []
            self.starts.append(len(self.paths))
            for own, part in parts or [(path, None)]:
                self.paths.append(own)
                self.places.append((path, part))
                self.shapes.append(part.shape(shape) or shape if part else shape)
                self.leaves.append(leaf)
        self.starts.append(len(self.paths))
        self.kinds = [_kind(leaf) for leaf in self.leaves]
        self.sizes: list[Hashable] = [
            (kind, math.prod(shape)) for kind, shape in zip(self.kinds, self.shapes, strict=True)
        ]

    def unit(self, numbers: Iterable[int], front: int = 0) -> Unit:
        """The tree of units of some leaves, without the first `front` keys."""
        kept = {i: self.paths[i][front:] for i in numbers}
        tree: dict[Any, Any] = {}
        for i, path in _without_collections(kept).items():
            node = tree
            for key in path[:-1]:
                node = node.setdefault((key,), {})
            node[path[-1:]] = i
        return self._unit((), tree)

    def _unit(self, path: Path, tree: Any) -> Unit:
        if isinstance(tree, int):
            return Unit(path, [tree], [], Counter([self.sizes[tree]]))
        children = [self._unit(key, node) for key, node in tree.items()]
        if len(children) == 1:  # replaced by its only member
            only = children[0]
            return Unit((*path, *only.path), only.leaves, only.children, only.sizes)
        leaves = sorted(i for child in children for i in child.leaves)
        return Unit(path, leaves, children, sum((child.sizes for child in children), Counter()))


def shape_of(leaf: Any) -> tuple[int, ...]:
    """The shape of a leaf; () for values other than arrays."""
    try:
        return tuple(int(size) for size in leaf.shape)
    except (AttributeError, TypeError, ValueError):
        return ()


def _kind(leaf: Any) -> str:
    dtype = getattr(leaf, "dtype", None)
    if dtype is None and not isinstance(leaf, NUMBERS):
        return type(leaf).__name__
    try:
        return dtype_of(leaf).kind
    except DtypeError:
        return str(dtype)


def _without_collections(paths: dict[int, Path]) -> dict[int, Path]:
    """Join collections: Flax separates ``params`` and ``batch_stats`` of a module at the top."""
    tops = {path[0] for path in paths.values() if len(path) > 1}
    if "params" not in tops or len(tops) < 2 or any(len(path) < 2 for path in paths.values()):
        return paths
    shorter = {i: path[1:] for i, path in paths.items()}
    places = list(shorter.values())
    nodes = {place[:k] for place in places for k in range(len(place))}
    is_clear = len(set(places)) == len(places) and nodes.isdisjoint(places)
    return shorter if is_clear else paths


def depth(side: Side, start: int, stop: int) -> int:
    """The number of leading keys that the leaves of a subtree share, at most all but the last."""
    paths = [side.paths[i] for i in range(start, stop)]
    front = min(map(len, paths)) - 1
    while any(path[:front] != paths[0][:front] for path in paths):
        front -= 1
    return front


def families(units: list[Unit]) -> dict[tuple[str, ...], list[Unit]]:
    """Units grouped by the words of their names, sorted by their numbers."""
    found: dict[tuple[str, ...], list[Unit]] = {}
    for unit in units:
        found.setdefault(name_of(unit.path).words, []).append(unit)
    for family in found.values():
        family.sort(key=lambda u: (name_of(u.path).numbers, u.start))
    return found


def overlap(a: Unit, b: Unit) -> float:
    """The fraction of leaves with a counterpart of the same size in the other unit."""
    return (a.sizes & b.sizes).total() / (a.sizes | b.sizes).total()
