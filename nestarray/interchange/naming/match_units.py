"""The units of matching: leaves and subtrees, with the sizes of their contents."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from nestarray.container import Container
from nestarray.container.spec import Path
from nestarray.dtypes import dtype_of
from nestarray.errors import DtypeError
from nestarray.interchange.naming.axes import Layout
from nestarray.interchange.naming.pairs import Step
from nestarray.interchange.naming.parameter_names import name_of
from nestarray.interchange.naming.recurrent import Section
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

    A leaf that `parts` contains counts as several, one for each section. `places` has the path of the
    real leaf, and the steps from it.
    """

    def __init__(
        self,
        c: Container,
        parts: Mapping[Path, list[Section]],
        layouts: Mapping[str, Layout],
    ) -> None:
        self.paths: list[Path] = []
        self.shapes: list[tuple[int, ...]] = []
        self.places: list[tuple[Path, tuple[Step, ...]]] = []
        self.leaves: list[Any] = []
        self.layouts: list[Layout | None] = []
        self.roles: list[str] = []
        self.starts: list[int] = []  # the number of the first section of each real leaf
        for path, name, leaf in zip(c._spec.paths, c._spec.path_names, c._leaves, strict=True):
            # collections of Flax are not in the paths of its layers
            layout = layouts.get(name) or layouts.get(name.partition("/")[2])
            self.starts.append(len(self.paths))
            for section in parts.get(path) or [Section(path)]:
                shape = shape_of(leaf)
                for step in section.steps:
                    shape = step.shape(shape) or shape
                self.paths.append(section.path)
                self.places.append((path, section.steps))
                self.shapes.append(shape)
                self.leaves.append(leaf)
                self.layouts.append(section.layout or layout)
                self.roles.append(section.role)
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
