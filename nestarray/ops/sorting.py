"""Sorting and partial sorting along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

from nestarray import ops
from nestarray.backends.truth import through_numbers
from nestarray.dispatch import Trait, op, primitive
from nestarray.errors import ArgumentError, ShapeError
from nestarray.numerics.axes import one_axis
from nestarray.typing import Array

__all__ = ["argpartition", "argsort", "lexsort", "partition", "sort"]


@primitive
def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """Sort the elements of `x` along an axis; NaN is largest.

    Args:
        x: real or bool, of at least one dimension.
        axis: the axis to sort along.
        descending: sort from the largest to the smallest.
        stable: keep the order of equal elements, which affects gradients only. Backends with one
            algorithm ignore it.

    Returns:
        array of the shape and the dtype of `x`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.sort(np.asarray([3, 1, 2]), descending=True)
        array([3, 2, 1])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.sort.html
    """


@primitive(traits=Trait.POSITIONS)
def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The indices that sort `x` along an axis; NaN is largest.

    Args:
        x: real or bool, of at least one dimension.
        axis: the axis to sort along.
        descending: from the largest to the smallest.
        stable: keep the order of equal elements, also if `descending`.

    Returns:
        integers of the shape of `x`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.argsort(np.asarray([3, 1, 2, 1]))
        array([1, 3, 2, 0])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.argsort.html
    """


@op
def lexsort(keys: Sequence[Array], /, *, axis: int = -1) -> Array:
    """Indirect sort by several keys: the last key is the primary one, earlier keys break ties.

    Args:
        keys: real or bool, of equal shapes with at least one dimension; the last is the primary
            key. NaN is largest.
        axis: the axis to sort along.

    Returns:
        integers of the shape of a key; equal elements keep their order.

    Raises:
        ArgumentError: `keys` is empty.
        ShapeError: the shapes differ.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.lexsort([np.asarray([3, 1, 2]), np.asarray([0, 1, 0])])
        array([2, 0, 1])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.lexsort.html
    """
    if not keys:
        raise ArgumentError("lexsort: keys: got no array, expected at least one")
    shapes = {tuple(key.shape) for key in keys}
    if len(shapes) > 1:
        raise ShapeError(f"lexsort: keys: got the shapes {sorted(shapes)}, expected one shape")
    order = ops.argsort(keys[0], axis=axis)
    for key in keys[1:]:
        nearer = ops.argsort(ops.take_along_axis(key, order, axis=axis), axis=axis)
        order = ops.take_along_axis(order, nearer, axis=axis)
    return order


@op
@through_numbers
def partition(x: Array, kth: int, /, *, axis: int = -1) -> Array:
    """Partially sort `x`: the k-th smallest element is at k, smaller ones before, larger ones after.

    All elements are sorted, which every framework can differentiate. `Container.partition` is another
    function: it splits the leaves of a tree.

    Args:
        x: real, of at least one dimension; NaN is largest.
        kth: the index k; a negative index counts from the end.
        axis: the axis to sort along.

    Returns:
        array like `x`.

    Raises:
        ShapeError: `kth` is out of range.

    Example:
        >>> import numpy as np, nestarray as na
        >>> int(na.partition(np.asarray([4, 2, 5, 1]), 1)[1])
        2

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.partition.html
    """
    _check_place(x, kth, axis, "partition")
    return ops.sort(x, axis=axis)


@op(traits=Trait.POSITIONS)
@through_numbers
def argpartition(x: Array, kth: int, /, *, axis: int = -1) -> Array:
    """The indices that partially sort `x`, as `partition`.

    The order of the elements before and after k depends on the backend.

    Args:
        x: real, of at least one dimension; NaN is largest.
        kth: the index k; a negative index counts from the end.
        axis: the axis to sort along.

    Returns:
        integers of the shape of `x`.

    Raises:
        ShapeError: `kth` is out of range.

    Example:
        >>> import numpy as np, nestarray as na
        >>> int(na.argpartition(np.asarray([4, 2, 5, 1]), 1)[1])
        1

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.argpartition.html
    """
    _check_place(x, kth, axis, "argpartition")
    return ops.argsort(x, axis=axis)


def _check_place(x: Array, kth: int, axis: int, name: str) -> None:
    length = x.shape[one_axis(axis, len(x.shape), name)]
    if not -length <= index(kth) < length:
        raise ShapeError(
            f"{name}: kth: got {kth} for an axis of length {length}, "
            f"expected {-length} <= kth < {length}"
        )
