"""Alignment of Containers with different keys, so that ops can combine them."""

from __future__ import annotations

from typing import Any

from nestarray import ops
from nestarray.container import Container, Leaf, method
from nestarray.container.container import from_leaves
from nestarray.container.joins import MISSING, joined
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
    trees = [(tree.spec, tree.leaves()) for tree in (c, *map(_tree, others))]
    spec, columns = joined(trees, join, "Container.align")
    rows = list(zip(*columns, strict=True))
    for i, row in enumerate(rows):
        if not any(leaf is MISSING for leaf in row):
            continue
        if fill is None:
            raise ArgumentError(
                f"Container.align: {spec.path_names[i]!r} is not in all Containers; give fill, a "
                "number for what is missing, or join='inner'"
            )
        like = next(leaf for leaf in row if leaf is not MISSING)
        rows[i] = tuple(_filled(like, fill) if leaf is MISSING else leaf for leaf in row)
    return tuple(from_leaves(spec, [row[k] for row in rows]) for k in range(len(trees)))


def _tree(other: Any) -> Container:
    if isinstance(other, Container):
        return other
    raise ArgumentError(f"Container.align: got {type(other).__name__}, expected a Container")


def _filled(like: Any, fill: Any) -> Any:
    return ops.full_like(like, fill) if hasattr(like, "shape") else fill
