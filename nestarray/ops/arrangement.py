"""Stacking, splitting and rotating arrays along rows, columns and depth."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

from nestarray import ops
from nestarray.dispatch import Trait, op
from nestarray.errors import ArgumentError, ShapeError
from nestarray.numerics.axes import many_axes, one_axis
from nestarray.typing import Array, Axis

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "chunk",
    "column_stack",
    "dsplit",
    "dstack",
    "hsplit",
    "hstack",
    "rot90",
    "trim_zeros",
    "vsplit",
    "vstack",
]
TRAITS = Trait.HALF_SAFE | Trait.LINEAR


@op(traits=Trait.HALF_SAFE | Trait.RESHAPE)
def atleast_1d(x: Array, /) -> Array:
    """`x` with at least one dimension; a scalar becomes `(1,)`.

    Args:
        x: array of any shape.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.atleast_1d(np.asarray(3.0))
        array([3.])
    """
    return x if len(x.shape) else ops.reshape(x, (1,))


@op(traits=Trait.HALF_SAFE | Trait.RESHAPE)
def atleast_2d(x: Array, /) -> Array:
    """`x` with at least two dimensions; a vector becomes a row, `(1, n)`.

    Args:
        x: array of any shape.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.atleast_2d(np.asarray([1.0, 2.0]))
        array([[1., 2.]])
    """
    x = ops.atleast_1d(x)
    return x if len(x.shape) > 1 else ops.expand_dims(x, 0)


@op(traits=Trait.HALF_SAFE | Trait.RESHAPE)
def atleast_3d(x: Array, /) -> Array:
    """`x` with at least three dimensions; a matrix becomes `(rows, columns, 1)`, a vector `(1, n, 1)`.

    Args:
        x: array of any shape.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.atleast_3d(np.asarray([1.0, 2.0])).shape
        (1, 2, 1)
    """
    x = ops.atleast_2d(x)
    return x if len(x.shape) > 2 else ops.expand_dims(x, 2)


@op
def hstack(arrays: Sequence[Array], /) -> Array:
    """The arrays side by side: joined along axis 1, vectors along axis 0.

    Args:
        arrays: a list or tuple of arrays, whose shapes agree except along that axis; the dtypes
            promote. Numbers count as vectors of one element.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.hstack([np.asarray([[1], [2]]), np.asarray([[3], [4]])])
        array([[1, 3],
               [2, 4]])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.hstack.html
    """
    arrays = [ops.atleast_1d(x) for x in arrays]
    return ops.concat(arrays, axis=0 if len(arrays[0].shape) == 1 else 1)


@op
def vstack(arrays: Sequence[Array], /) -> Array:
    """The arrays one below the other: joined along axis 0.

    Args:
        arrays: a list or tuple of arrays, whose shapes agree except along that axis; the dtypes
            promote. Vectors count as rows.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.vstack([np.asarray([1, 2]), np.asarray([3, 4])])
        array([[1, 2],
               [3, 4]])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.vstack.html
    """
    return ops.concat([ops.atleast_2d(x) for x in arrays], axis=0)


@op
def dstack(arrays: Sequence[Array], /) -> Array:
    """The arrays one behind the other: joined along axis 2.

    Args:
        arrays: a list or tuple of arrays, whose shapes agree except along that axis; the dtypes
            promote. Matrices count as `(rows, columns, 1)`, vectors as `(1, n, 1)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.dstack([np.asarray([1, 2]), np.asarray([3, 4])])
        array([[[1, 3],
                [2, 4]]])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.dstack.html
    """
    return ops.concat([ops.atleast_3d(x) for x in arrays], axis=2)


@op
def column_stack(arrays: Sequence[Array], /) -> Array:
    """Stack vectors as the columns of a matrix, and join matrices along axis 1.

    Args:
        arrays: a list or tuple of arrays, whose shapes agree except along that axis; the dtypes
            promote. Vectors count as columns.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.column_stack([np.asarray([1, 2]), np.asarray([3, 4])])
        array([[1, 3],
               [2, 4]])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.column_stack.html
    """
    columns = [x if len(x.shape) > 1 else ops.expand_dims(ops.atleast_1d(x), 1) for x in arrays]
    return ops.concat(columns, axis=1)


@op
def chunk(x: Array, /, chunks: int, *, axis: int = 0) -> tuple[Array, ...]:
    """Split into parts of length ⌈n / chunks⌉, the last of which may be shorter.

    There may be fewer parts than `chunks`: 5 elements in 4 chunks give 2, 2 and 1. `array_split`
    returns exactly the requested number.

    Args:
        x: array of at least one dimension.
        chunks: the largest number of parts.
        axis: the axis to split.

    Raises:
        ShapeError: `chunks` is less than 1.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.chunk(np.arange(5), 2)
        (array([0, 1, 2]), array([3, 4]))

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.chunk.html
    """
    if index(chunks) < 1:
        raise ShapeError(f"chunk: chunks: got {chunks}, expected at least 1")
    length = x.shape[one_axis(axis, len(x.shape), "chunk")]
    if length == 0:
        return (x,) * chunks
    return ops.split(x, -(-length // chunks), axis=axis)


def _split(
    x: Array, indices_or_sections: int | Sequence[int], axis: int, name: str
) -> tuple[Array, ...]:
    if len(x.shape) <= axis:
        raise ShapeError(
            f"{name}: x: got the shape {tuple(x.shape)}, expected at least {axis + 1} dimensions"
        )
    if not isinstance(indices_or_sections, (tuple, list)):
        parts = index(indices_or_sections)  # type: ignore[arg-type]
        if parts < 1 or x.shape[axis] % parts:
            raise ShapeError(
                f"{name}: indices_or_sections: got {parts} for an axis of length "
                f"{x.shape[axis]}, expected a divisor; array_split makes parts that differ"
            )
    return ops.array_split(x, indices_or_sections, axis=axis)


@op
def hsplit(x: Array, /, indices_or_sections: int | Sequence[int]) -> tuple[Array, ...]:
    """Split along axis 1, a vector along axis 0.

    Args:
        x: array of at least one dimension.
        indices_or_sections: the number of equal parts; or the indices before which to split.

    Raises:
        ShapeError: the length of the axis is not divisible, or `x` lacks the axis.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.hsplit(np.asarray([[1, 2], [3, 4]]), 2)
        (array([[1],
               [3]]), array([[2],
               [4]]))
    """
    return _split(x, indices_or_sections, 0 if len(x.shape) < 2 else 1, "hsplit")


@op
def vsplit(x: Array, /, indices_or_sections: int | Sequence[int]) -> tuple[Array, ...]:
    """Split along axis 0.

    Args:
        x: array of at least two dimensions.
        indices_or_sections: the number of equal parts; or the indices before which to split.

    Raises:
        ShapeError: the length of the axis is not divisible, or `x` lacks the axis.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.vsplit(np.asarray([[1, 2], [3, 4]]), 2)
        (array([[1, 2]]), array([[3, 4]]))
    """
    if len(x.shape) < 2:
        raise ShapeError(
            f"vsplit: x: got the shape {tuple(x.shape)}, expected at least 2 dimensions"
        )
    return _split(x, indices_or_sections, 0, "vsplit")


@op
def dsplit(x: Array, /, indices_or_sections: int | Sequence[int]) -> tuple[Array, ...]:
    """Split along axis 2.

    Args:
        x: array of at least three dimensions.
        indices_or_sections: the number of equal parts; or the indices before which to split.

    Raises:
        ShapeError: the length of the axis is not divisible, or `x` lacks the axis.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.dsplit(np.zeros((2, 2, 6)), [1, 3])[1].shape
        (2, 2, 2)
    """
    return _split(x, indices_or_sections, 2, "dsplit")


@op
def rot90(x: Array, /, *, k: int = 1, axes: Sequence[int] = (0, 1)) -> Array:
    """`x` rotated by `k` · 90°, from the first axis of `axes` towards the second.

    Args:
        x: array of at least two dimensions.
        k: the number of rotations by 90°; negative numbers rotate in the other direction.
        axes: the two axes of the plane of rotation.

    Returns:
        array of the dtype of `x`, the two axes exchanged if `k` is odd.

    Raises:
        ShapeError: `axes` are not two different axes of `x`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.rot90(np.asarray([[1, 2], [3, 4]]))
        array([[2, 4],
               [1, 3]])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.rot90.html
    """
    plane = many_axes(tuple(axes), len(x.shape), "rot90", "axes")
    if len(plane) != 2:
        raise ShapeError(f"rot90: axes: got {tuple(axes)}, expected two axes")
    turns = index(k) % 4
    if turns == 0:
        return x
    if turns == 2:
        return ops.flip(x, axis=plane)
    turned = ops.swapaxes(x, *plane)
    return ops.flip(turned, axis=plane[0] if turns == 1 else plane[1])


@op(traits=Trait.HALF_SAFE)
def trim_zeros(x: Array, /, *, trim: str = "fb", axis: Axis = None) -> Array:
    """`x` without leading and trailing zeros along its axes.

    The shape depends on values, which `jax.jit` cannot compile.

    Args:
        x: array of at least one dimension.
        trim: ``"f"`` removes leading zeros, ``"b"`` trailing zeros, ``"fb"`` both.
        axis: the axes to trim; None means all.

    Returns:
        a part of `x`; if all elements are 0, length 0 along the axes.

    Raises:
        ArgumentError: `trim` is unknown.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.trim_zeros(np.asarray([0, 0, 1, 0, 2, 0]))
        array([1, 0, 2])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.trim_zeros.html
    """
    if trim not in ("fb", "bf", "f", "b"):
        raise ArgumentError(f"trim_zeros: trim: got {trim!r}, expected 'f', 'b' or 'fb'")
    axes = many_axes(axis, len(x.shape), "trim_zeros")
    places = ops.nonzero(x)
    parts = [slice(None)] * len(x.shape)
    for i in axes:
        if places[i].shape[0] == 0:
            parts[i] = slice(0, 0)
            continue
        first = int(ops.min(places[i])) if "f" in trim else 0
        end = int(ops.max(places[i])) + 1 if "b" in trim else x.shape[i]
        parts[i] = slice(first, end)
    return ops.getitem(x, tuple(parts))
