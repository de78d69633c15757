"""Alignment of Containers with different keys, so that ops can combine them."""

from __future__ import annotations

from typing import Any

from nestarray import ops
from nestarray.container import Container, Leaf, method
from nestarray.container.container import from_leaves
from nestarray.container.joins import MISSING, joined
from nestarray.container.numbered_names import same_order
from nestarray.errors import ArgumentError


@method
def align(
    c: Container[Leaf], /, *others: Container[Leaf], join: str = "inner", fill: Any = None
) -> tuple[Container[Leaf], ...]:
    """The Containers with the same keys in the same order, as ops require.

    Args:
        c: a Container.
        *others: further Containers.
        join: ``"inner"`` keeps the paths that all have, ``"outer"`` the paths of any,
            ``"left"`` the paths of `c`. The order is the order of `c`, then of the others.
        fill: the value of missing leaves; their shape and dtype are copied from the first
            Container that has the leaf. Required if a leaf is missing.

    Trees of equal shapes without a common path, whose names differ only in numbers, are aligned by
    order, with the paths of `c`: ``sequential/dense`` and ``sequential_1/dense_2`` of two equal Keras
    models. An outer join keeps both. `Container.match` finds the counterparts of other names.

    Returns:
        the aligned Containers, in the order of the arguments.

    Raises:
        ArgumentError: `join` is unknown, or a leaf is missing without `fill`.
        StructureError: in an outer join, a path is a leaf of one Container and a node of another.

    Example:
        >>> import numpy as np, nestarray as na
        >>> a, b = na.Container(x=np.ones(2), y=np.ones(1)), na.Container(x=np.full(2, 5.0))
        >>> left, right = a.align(b, join="outer", fill=0.0)
        >>> (left + right).to_dict()
        {'x': array([6., 6.]), 'y': array([1.])}
    """
    given = [_tree(other) for other in others]
    if join != "outer":
        given = [_renamed(c, other) for other in given]
    trees = [(tree.spec, tree.leaves()) for tree in (c, *given)]
    spec, columns = joined(trees, join, "Container.align")
    rows = list(zip(*columns, strict=True))
    for i, row in enumerate(rows):
        if not any(leaf is MISSING for leaf in row):
            continue
        if fill is None:
            raise ArgumentError(
                f"Container.align: {spec.path_names[i]!r} is not in all Containers; give fill, a "
                "number for what is missing, or join='inner'; a.match(b) maps trees with other names"
            )
        like = next(leaf for leaf in row if leaf is not MISSING)
        rows[i] = tuple(_filled(like, fill) if leaf is MISSING else leaf for leaf in row)
    return tuple(from_leaves(spec, [row[k] for row in rows]) for k in range(len(trees)))


def _tree(other: Any) -> Container:
    if isinstance(other, Container):
        return other
    raise ArgumentError(f"Container.align: got {type(other).__name__}, expected a Container")


def _renamed(c: Container, other: Container) -> Container:
    """`other` with the paths of `c`, if their names differ only in numbers, else `other`."""
    if c.spec is other.spec or c.spec.num_leaves != other.spec.num_leaves:
        return other
    if not set(c.spec.paths).isdisjoint(other.spec.paths):
        return other
    counterparts = same_order(c.spec.paths, other.spec.paths)
    if counterparts is None:
        return other
    leaves = dict(zip(other.spec.paths, other.leaves(), strict=True))
    aligned = [leaves[path] for path in counterparts.values()]
    shapes = [[getattr(leaf, "shape", None) for leaf in side] for side in (c.leaves(), aligned)]
    return from_leaves(c.spec, aligned) if shapes[0] == shapes[1] else other


def _filled(like: Any, fill: Any) -> Any:
    return ops.full_like(like, fill) if hasattr(like, "shape") else fill
