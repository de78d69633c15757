"""Raveling: all arrays of a tree as one vector, for optimizers and solvers of vectors."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import Any

from nestarray import backends, ops, tree
from nestarray.container import Container, method
from nestarray.container.selection import matches
from nestarray.dtypes import dtype_of, float32, is_key, promote_types
from nestarray.errors import ArgumentError, DtypeError, MixedBackendError, ShapeError


@method
def tree_ravel(c: Any, /, *patterns: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Concatenate all arrays of a tree into one vector; also returns the inverse function.

    The vector contains the arrays in leaf order, each in C order, promoted to a common dtype.
    Integers with float32 become float32, which is exact up to 2²⁴. Leaves that are not arrays
    are excluded. Both functions have gradients and can be compiled.

    Args:
        c: a Container or a nest; arrays of one backend.
        *patterns: ravel only the leaves of a Container that `Container.select` returns.

    Returns:
        (vector, unravel). The vector is `(n,)`, where n is ``c.size`` without `patterns`;
        without arrays it is an empty vector of the default backend. ``unravel(vector)`` returns
        the tree with the elements of a vector `(n,)`: same structure, shapes and dtypes, and
        unchanged excluded leaves. For vectors `(*batch, n)` its arrays have the batch axes in
        front. On NumPy and PyTorch they may be views of the vector.

    Raises:
        ArgumentError: `patterns` are given and `c` is not a Container.
        MixedBackendError: arrays of two backends.
        ShapeError: (by `unravel`) the size of the last axis is not n.
        DtypeError: (by `unravel`) a complex vector for a real array.

    Example:
        >>> import numpy as np, nestarray as na
        >>> c = na.Container(a={"w": np.asarray([[1.0, 2.0]])}, b=np.asarray(3), name="net")
        >>> vector, unravel = na.tree_ravel(c)
        >>> vector
        array([1., 2., 3.])
        >>> unravel(vector * 2).to_dict()
        {'a': {'w': array([[2., 4.]])}, 'b': array(6), 'name': 'net'}
        >>> c.tree_ravel("a/*")[0].shape
        (2,)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.flatten_util.ravel_pytree.html
    """
    leaves, structure = tree.flatten(c)
    chosen = _chosen(c, leaves, patterns)
    names = dict.fromkeys(backends.backend_of(leaves[i]) for i in chosen)
    if len(names) > 1:
        raise MixedBackendError(backends.mixed_message("tree_ravel", list(names)))
    shapes = [tuple(leaves[i].shape) for i in chosen]
    dtypes = [dtype_of(leaves[i]) for i in chosen]
    sizes = [math.prod(shape) for shape in shapes]
    common = reduce(promote_types, dtypes) if dtypes else float32

    def unravel(vector: Any) -> Any:
        lengths = ops.shape(vector)
        if not lengths or (isinstance(lengths[-1], int) and lengths[-1] != sum(sizes)):
            raise ShapeError(
                f"tree_ravel: unravel: vector: got the shape {tuple(vector.shape)}, expected "
                f"({sum(sizes)},), or axes of a batch before that"
            )
        if dtype_of(vector).kind == "complex" and common.kind != "complex":
            raise DtypeError(
                f"tree_ravel: unravel: vector: got {dtype_of(vector)}, expected real numbers, "
                f"since the tree has no complex array; take na.real(vector)"
            )
        new = list(leaves)
        parts = ops.split(vector, sizes, axis=-1) if chosen else ()
        for i, part, shape, dtype in zip(chosen, parts, shapes, dtypes, strict=True):
            if dtype_of(part).kind == "complex" and dtype.kind != "complex":
                part = ops.real(part)
            new[i] = ops.astype(ops.reshape(part, (*lengths[:-1], *shape)), dtype, copy=False)
        return tree.unflatten(structure, new)

    if not chosen:
        return ops.zeros((0,), dtype=common), unravel
    flat = [ops.reshape(leaves[i], (-1,)) for i in chosen]
    return ops.concat([ops.astype(x, common, copy=False) for x in flat]), unravel


def _chosen(c: Any, leaves: tuple[Any, ...], patterns: tuple[Any, ...]) -> list[int]:
    """The numbers of the leaves in the vector."""
    hits = [True] * len(leaves)
    if patterns:
        if not isinstance(c, Container):
            raise ArgumentError(
                f"tree_ravel: patterns: got {patterns!r} for a {type(c).__name__}, expected a "
                "Container, whose leaves have paths; use na.Container(tree)"
            )
        hits = matches(c.spec, leaves, patterns)
    return [
        i
        for i, (leaf, hit) in enumerate(zip(leaves, hits, strict=True))
        if hit and backends.is_array(leaf) and not is_key(leaf)
    ]
