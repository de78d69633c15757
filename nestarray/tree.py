"""Nests: Containers inside whatever else Python programs hold arrays in.

A nest is a Container, or dicts, lists, (named) tuples, attrs classes … of nests, or
a leaf. dm-tree walks everything that is not a Container, and is imported when that
happens; a Container is flat already and gives its leaves at once, a fused one its buffers.
Leaves are matched by key, never by position.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from nestarray.container import Container
from nestarray.container.container import rebuild
from nestarray.container.fused import Layout
from nestarray.container.spec import Spec


class _Box:
    """A Container's place among the leaves that dm-tree sees."""

    __slots__ = ("count", "structure")

    def __init__(self, arrays: tuple[Any, ...], structure: Any) -> None:
        self.count, self.structure = len(arrays), structure


class Structure(NamedTuple):
    """What `flatten` leaves behind for `unflatten`: of a Container, or a nest with boxes; see `flatten`."""

    outer: Any

    @property
    def key(self) -> Any:
        """A hashable value, equal for equal structures (for caches)."""
        if self.outer is None or isinstance(self.outer, (Spec, Layout)):
            return self.outer
        import tree as dm_tree

        boxes = [b.structure if isinstance(b, _Box) else None for b in dm_tree.flatten(self.outer)]
        shape = dm_tree.map_structure(lambda _: None, self.outer)
        return repr(shape), tuple(boxes)

    def is_like(self, other: Structure) -> bool:
        """Whether two structures are equal, as their keys say too, in a tenth of the time."""
        mine, theirs = self.outer, other.outer
        if mine is theirs:
            return True
        if any(x is None or isinstance(x, (Spec, Layout)) for x in (mine, theirs)):
            return False
        import tree as dm_tree

        try:
            dm_tree.assert_same_structure(mine, theirs)
        except (TypeError, ValueError):
            return False
        pairs = zip(dm_tree.flatten(mine), dm_tree.flatten(theirs), strict=True)
        return all(
            a.structure is b.structure
            if isinstance(a, _Box) and isinstance(b, _Box)
            else not isinstance(a, _Box) and not isinstance(b, _Box)
            for a, b in pairs
        )


def flatten(nest: Any, *, unfused: bool = False) -> tuple[tuple[Any, ...], Structure]:
    """Leaves and structure of a nest; of a fused Container its buffers, unless `unfused`.

    Example:
        >>> import nestarray as na
        >>> leaves, structure = na.tree.flatten({"c": na.Container(x=1), "l": [2, 3]})
        >>> leaves
        (1, 2, 3)
        >>> na.tree.unflatten(structure, [10, 20, 30])["l"]
        [20, 30]
    """
    if isinstance(nest, Container):
        arrays, structure = _flat(nest, unfused)
        return arrays, Structure(structure)
    if not isinstance(nest, (Mapping, Sequence)) or isinstance(nest, str | bytes):
        return (nest,), Structure(None)
    import tree as dm_tree

    leaves: list[Any] = []
    containers: list[Container] = []

    def box(node: Any) -> Any:
        if isinstance(node, Container):
            containers.append(node)
            return _Box(*_flat(node, unfused))
        return None

    outer = dm_tree.traverse(box, nest)
    rest = iter(containers)
    for item in dm_tree.flatten(outer):
        if isinstance(item, _Box):
            leaves.extend(_flat(next(rest), unfused)[0])
        else:
            leaves.append(item)
    return tuple(leaves), Structure(outer)


def _flat(c: Container, unfused: bool) -> tuple[tuple[Any, ...], Any]:
    return (c._leaves, c._spec) if unfused else c._flat()


def unflatten(structure: Structure, leaves: Sequence[Any]) -> Any:
    """The nest of a structure and as many leaves; the inverse of `flatten`."""
    outer = structure.outer
    if outer is None:
        return leaves[0]
    if isinstance(outer, (Spec, Layout)):
        return rebuild(outer, tuple(leaves))
    import tree as dm_tree

    position = 0

    def fill(item: Any) -> Any:
        nonlocal position
        if isinstance(item, _Box):
            start, position = position, position + item.count
            return rebuild(item.structure, tuple(leaves[start:position]))
        position += 1
        return leaves[position - 1]

    return dm_tree.unflatten_as(outer, [fill(item) for item in dm_tree.flatten(outer)])


def map(fn: Callable[[Any], Any], nest: Any) -> Any:  # as jax.tree.map
    """Apply `fn` to every leaf of a nest."""
    leaves, structure = flatten(nest)
    return unflatten(structure, [fn(leaf) for leaf in leaves])
