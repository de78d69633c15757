"""Reductions over all leaves of a tree at once: what training loops ask of parameters.

Each takes a Container, or any nest, on any backend, and is a method of Container too.
Leaves that are no arrays and no numbers are left out. All are compositions of ops, so
they have gradients and can be compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from nestarray import backends, ops, tree
from nestarray.container import Container, method
from nestarray.container.access import line_up
from nestarray.dtypes import dtype_of
from nestarray.errors import ArgumentError, StructureError


@method
def tree_sum(c: Any, /) -> Any:
    """The sum of all elements of all leaves, Σᵢ Σ xᵢ; 0.0 of a tree without numbers.

    Args:
        c: a Container or a nest.

    Returns:
        a scalar array of the leaves' backend; its dtype is the leaves' promoted.

    Example:
        >>> import numpy as np, nestarray as na
        >>> float(na.tree_sum(na.Container(a=np.ones((2, 3)), b=np.ones(4))))
        10.0
    """
    return _total(map(_sum, _numbers(c)))


@method
def tree_dot(a: Any, b: Any, /) -> Any:
    """The inner product of two trees as vectors, Σᵢ ⟨xᵢ, yᵢ⟩; complex leaves of `a` conjugated.

    Args:
        a: a Container or a nest.
        b: of the same structure; Containers are matched by key.

    Returns:
        a scalar array; 0.0 of trees without numbers.

    Raises:
        StructureError: the structures differ.

    Example:
        >>> import numpy as np, nestarray as na
        >>> c = na.Container(a=np.asarray([1.0, 2.0]), b=np.asarray([3.0]))
        >>> float(na.tree_dot(c, c))
        14.0
    """
    left = tree.flatten(a)[0]
    if isinstance(a, Container) and isinstance(b, Container):
        right = line_up(a._spec, b, "tree_dot")
    else:
        right = tree.flatten(b)[0]
    if len(left) != len(right):
        raise StructureError(
            f"tree_dot: the trees have {len(left)} and {len(right)} leaves, expected one structure"
        )
    pairs = [(x, y) for x, y in zip(left, right, strict=True) if _is_number(x)]
    return _total(_sum(ops.multiply(_conjugate(x), y)) for x, y in pairs)


@method
def tree_norm(c: Any, /, *, ord: float = 2) -> Any:
    """The norm of the tree as one vector: (Σ |x|^ord)^(1/ord), or max |x| for ``ord=inf``.

    Args:
        c: a Container or a nest with floating or complex leaves.
        ord: 1, 2 or ``float("inf")``.

    Returns:
        a real scalar array; 0.0 of a tree without numbers.

    Raises:
        ArgumentError: `ord` is another number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> c = na.Container(a=np.asarray([3.0]), b=np.asarray([4.0]))
        >>> float(na.tree_norm(c)), float(na.tree_norm(c, ord=1))
        (5.0, 7.0)
    """
    leaves = _numbers(c)
    if ord == 1:
        return _total(_sum(ops.abs(x)) for x in leaves)
    if ord == float("inf"):
        return reduce(ops.maximum, (_leaf(ops.max, ops.abs(x)) for x in leaves)) if leaves else 0.0
    if ord != 2:
        raise ArgumentError(f"tree_norm: ord: got {ord!r}, expected 1, 2 or float('inf')")
    total = _total(_sum(_square(x)) for x in leaves)
    return ops.sqrt(total) if leaves else total


@method
def tree_max(c: Any, /) -> Any:
    """The largest element of all leaves.

    Raises:
        ArgumentError: there is no number in `c`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> float(na.tree_max(na.Container(a=np.asarray([1.0, 5.0]), b=np.zeros(2))))
        5.0
    """
    return _extreme("tree_max", ops.max, ops.maximum, c)


@method
def tree_min(c: Any, /) -> Any:
    """The smallest element of all leaves.

    Raises:
        ArgumentError: there is no number in `c`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> float(na.tree_min(na.Container(a=np.asarray([1.0, 5.0]), b=np.zeros(2))))
        0.0
    """
    return _extreme("tree_min", ops.min, ops.minimum, c)


@method
def tree_all(c: Any, /) -> Any:
    """Whether all elements of all leaves are true; true of a tree without leaves.

    Example:
        >>> import numpy as np, nestarray as na
        >>> c = na.Container(a=np.ones(2), b=np.zeros(3))
        >>> bool(na.tree_all(c == c)), bool(na.tree_all(c))
        (True, False)
    """
    leaves = _numbers(c)
    return reduce(ops.logical_and, [_leaf(ops.all, x) for x in leaves], True)


@method
def tree_any(c: Any, /) -> Any:
    """Whether any element of any leaf is true; false of a tree without leaves.

    Example:
        >>> import numpy as np, nestarray as na
        >>> bool(na.tree_any(na.Container(a=np.ones(2), b=np.zeros(3))))
        True
    """
    leaves = _numbers(c)
    return reduce(ops.logical_or, [_leaf(ops.any, x) for x in leaves], False)


def _numbers(c: Any) -> list[Any]:
    return [leaf for leaf in tree.flatten(c)[0] if _is_number(leaf)]


def _is_number(leaf: Any) -> bool:
    return isinstance(leaf, (bool, int, float, complex)) or (
        backends.backend_of_type(type(leaf)) is not None
    )


def _is_complex(x: Any) -> bool:
    return dtype_of(x).kind == "complex"


def _conjugate(x: Any) -> Any:
    return ops.conj(x) if _is_complex(x) else x


def _square(x: Any) -> Any:
    x = ops.abs(x) if _is_complex(x) else x
    return ops.multiply(x, x)


def _leaf(function: Callable[..., Any], x: Any) -> Any:
    """`function` of an array; a number is its own sum and its own maximum."""
    return x if isinstance(x, (bool, int, float, complex)) else function(x)


def _sum(x: Any) -> Any:
    return _leaf(ops.sum, x)


def _total(sums: Any) -> Any:
    parts = list(sums)
    return reduce(ops.add, parts) if parts else 0.0


def _extreme(name: str, of_leaf: Callable[..., Any], of_two: Callable[..., Any], c: Any) -> Any:
    leaves = _numbers(c)
    if not leaves:
        raise ArgumentError(f"{name}: got a tree without numbers, which has no extreme element")
    return reduce(of_two, [_leaf(of_leaf, x) for x in leaves])
