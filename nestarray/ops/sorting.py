"""Order along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

from nestarray import ops
from nestarray.backends.truth import through_numbers
from nestarray.dispatch import op, primitive
from nestarray.errors import ArgumentError, ShapeError
from nestarray.numerics.axes import one_axis
from nestarray.typing import Array

__all__ = ["argpartition", "argsort", "lexsort", "partition", "sort"]


@primitive
def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The elements of `x` in order along an axis; NaN counts as the greatest.

    Args:
        x: real or bool, of at least one dimension.
        axis: the axis to sort along.
        descending: from the greatest to the least.
        stable: equal elements keep their order, which matters to gradients only. The
            backends that know one algorithm use it either way.

    Returns:
        array of the shape and the dtype of `x`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.sort(np.asarray([3, 1, 2]), descending=True)
        array([3, 2, 1])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.sort.html
    """


@primitive
def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The positions that put `x` in order along an axis; NaN counts as the greatest.

    Args:
        x: real or bool, of at least one dimension.
        axis: the axis to sort along.
        descending: from the greatest to the least.
        stable: equal elements keep their order, also when `descending`.

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
        keys: real or bool, of one shape with at least one dimension; the last counts most. NaN
            counts as the greatest.
        axis: the axis to sort along.

    Returns:
        integers of the shape of one of them; equal elements keep their order.

    Raises:
        ArgumentError: `keys` is empty.
        ShapeError: the arrays are not of one shape.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.lexsort([np.asarray([3, 1, 2]), np.asarray([0, 1, 0])])
        array([2, 0, 1])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.lexsort.html
    """
    if not keys:
        raise ArgumentError("lexsort: keys: got no array, expected one at least")
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
    """The elements of `x` with the k-th least in its place, none greater before, none less behind.

    How the others are ordered depends on the framework. The method of that name of a
    Container splits its leaves, and is another function.

    Args:
        x: real, of at least one dimension; NaN counts as the greatest.
        kth: the place, counted from 0; a negative one counts from the end.
        axis: the axis to order along.

    Returns:
        array like `x`.

    Raises:
        ShapeError: the axis has no such place.

    Example:
        >>> import numpy as np, nestarray as na
        >>> int(na.partition(np.asarray([4, 2, 5, 1]), 1)[1])
        2

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.partition.html
    """
    _check_place(x, kth, axis, "partition")
    return ops.sort(x, axis=axis)  # the one order that all frameworks have


@op
@through_numbers
def argpartition(x: Array, kth: int, /, *, axis: int = -1) -> Array:
    """The positions that `partition` takes the elements from.

    Args:
        x: real, of at least one dimension; NaN counts as the greatest.
        kth: the place, counted from 0; a negative one counts from the end.
        axis: the axis to order along.

    Returns:
        integers of the shape of `x`.

    Raises:
        ShapeError: the axis has no such place.

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
