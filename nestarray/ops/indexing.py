"""Reading and replacing parts of an array by position; everything returns a new array.

Negative positions count from the end. For a position out of bounds, NumPy, PyTorch and TensorFlow
on a CPU raise. JAX raises for numbers, lists and NumPy arrays; for positions in JAX arrays, which
it would have to wait for, it clips, fills with NaN or drops the update.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nestarray import backends, dtypes, ops
from nestarray.backends.checks.positions import (
    check_condition,
    check_part,
    check_positions,
    check_updates,
)
from nestarray.backends.truth import updated_through_numbers
from nestarray.config import current_backend
from nestarray.container import Container
from nestarray.dispatch import Trait, op, primitive
from nestarray.errors import ArgumentError, ShapeError
from nestarray.numerics.axes import one_axis
from nestarray.numerics.fills import check_fill
from nestarray.numerics.index import check_mode, check_rows
from nestarray.typing import Array, Shape

__all__ = [
    "at",
    "embedding",
    "gather",
    "gather_nd",
    "getitem",
    "index_add",
    "masked_fill",
    "masked_select",
    "put_along_axis",
    "ravel_multi_index",
    "scatter",
    "scatter_nd",
    "setitem",
    "take",
    "take_along_axis",
    "tril_indices",
    "triu_indices",
    "unravel_index",
]
TRAITS = Trait.HALF_SAFE


@primitive(traits=Trait.HALF_SAFE | Trait.LINEAR | Trait.NONNEGATIVE)
def getitem(x: Array, index: Any, /) -> Array:
    """The part of `x` selected by `index`, with NumPy's rules on every backend.

    An element of an index array that is out of range raises an `IndexingError`. Calls of JAX cannot
    raise for values: there the result is NaN, for integers the smallest or for unsigned integers
    the largest number, for bools True. TensorFlow on a GPU returns 0.

    Args:
        x: array of any shape.
        index: an entry, or a tuple of one for each axis: an integer, a slice (its step may
            be negative), None for a new axis, Ellipsis, a list, an integer array or a
            boolean array, of the framework of `x` or of NumPy. Arrays broadcast against
            each other; their axes replace the indexed axes if these are adjacent, else
            they come first.

    Returns:
        array of the dtype of `x`. With a boolean array the shape depends on values, which
        `jax.jit` cannot compile.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.arange(6).reshape(2, 3)
        >>> na.getitem(x, (slice(None), [2, 0]))
        array([[2, 0],
               [5, 3]])
        >>> na.getitem(x, (..., slice(None, None, -1)))
        array([[2, 1, 0],
               [5, 4, 3]])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/indexing.html
    """


@primitive
@updated_through_numbers
def setitem(x: Array, index: Any, value: Array, /, *, mode: str = "replace") -> Array:
    """`x` with the part selected by `index` replaced by `value`, or combined with it.

    Args:
        x: array of any shape; it is not modified.
        index: as for `getitem`.
        value: array or number that broadcasts to the part (additional leading axes of length 1
            are dropped); cast to the dtype of `x`, which must be able to represent a number.
        mode: ``"replace"``, ``"add"``, ``"mul"``, ``"min"`` or ``"max"``. A repeated position is
            updated each time; with ``"replace"`` it is unspecified which value remains, and each
            value has the derivative of its position, as in PyTorch and TensorFlow.

    Returns:
        a new array like `x`.

    Raises:
        ArgumentError: `mode` is unknown.
        IndexingError: an index is out of range; JAX ignores such elements of an index array.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.setitem(np.zeros(4), slice(1, 3), 5.0)
        array([0., 5., 5., 0.])
        >>> na.setitem(np.zeros(3), [0, 0, 2], 1.0, mode="add")
        array([2., 0., 1.])
    """


@primitive(traits=Trait.HALF_SAFE | Trait.LINEAR)
def take(x: Array, indices: Array, /, *, axis: int | None = None) -> Array:
    """The slices of `x` at the given positions of an axis.

    Args:
        x: array of any shape.
        indices: integers, of any shape.
        axis: the axis; None takes elements of the flattened array.

    Returns:
        array in which the axes of `indices` stand in place of `axis`.

    Raises:
        IndexingError: an index is out of range; for JAX see `getitem`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.take(np.asarray([[1, 2, 3], [4, 5, 6]]), np.asarray([2, 0]), axis=1)
        array([[3, 1],
               [6, 4]])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.take.html
    """


@op(traits=Trait.HALF_SAFE | Trait.LINEAR)
def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """The element of `x` at each of `indices` along `axis`, xᵢ,ₖ₍ᵢ,ⱼ₎.

    Args:
        x: array of at least one dimension.
        indices: integers; its shape and the shape of `x` broadcast, except along `axis`.
        axis: the axis that the indices count along.

    Returns:
        array of the broadcast shape, as long along `axis` as `indices`.

    Raises:
        ShapeError: the numbers of dimensions differ.
        IndexingError: an index is out of range; for JAX see `getitem`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.asarray([[3, 1, 2]])
        >>> na.take_along_axis(x, np.argsort(x))
        array([[1, 2, 3]])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.take_along_axis.html
    """
    x, indices, axis = _aligned(x, indices, axis, "take_along_axis")
    return ops.getitem(x, _grid(indices, axis))


@op(traits=Trait.HALF_SAFE | Trait.LINEAR)
def gather(x: Array, indices: Array, /, *, axis: int) -> Array:
    """`take_along_axis` without broadcasting, xₖ₍ᵢ,ⱼ₎,ⱼ: `x` may be longer than `indices`.

    Args:
        x: array of at least one dimension.
        indices: integers, of equal rank; only along `axis` it may be longer than `x`.
        axis: the axis that the indices count along.

    Returns:
        array of the shape of `indices`.

    Raises:
        ShapeError: `indices` differs in rank from `x`, or is longer along another axis.
        IndexingError: an index is out of range; for JAX see `getitem`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.gather(np.asarray([[1, 2], [3, 4]]), np.asarray([[0, 0, 1]]), axis=1)
        array([[1, 1, 2]])
    """
    axis = one_axis(axis, len(x.shape), "gather")
    check_part("gather", {"x": x, "indices": indices, "axis": axis})
    return ops.getitem(x, _grid(indices, axis))


@op
def put_along_axis(
    x: Array, indices: Array, values: Array, /, *, axis: int, mode: str = "replace"
) -> Array:
    """`x` with the elements that `take_along_axis` reads replaced by `values`, or combined.

    Args:
        x: array of at least one dimension; it is not modified.
        indices: integers; its shape broadcasts to the shape of `x`, except along `axis`.
        values: array or number that broadcasts to the shape of the indices.
        axis: the axis that the indices count along.
        mode: as for `setitem`.

    Returns:
        a new array like `x`.

    Raises:
        ShapeError: the numbers of dimensions differ.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.put_along_axis(np.zeros((2, 3)), np.asarray([[0], [2]]), 1.0, axis=1)
        array([[1., 0., 0.],
               [0., 0., 1.]])
    """
    x, indices, axis = _aligned(x, indices, axis, "put_along_axis")
    if hasattr(values, "shape"):
        values = ops.broadcast_to(values, indices.shape)
    mode = check_mode(mode, "put_along_axis")
    return ops.scatter(x, indices, values, axis=axis, mode=mode)


@op
def scatter(
    x: Array, indices: Array, updates: Array, /, *, axis: int, mode: str = "replace"
) -> Array:
    """`x` with ``x[…, indices[i, j, …], …]`` replaced by ``updates[i, j, …]``, or combined.

    Args:
        x: array of at least one dimension; it is not modified.
        indices: integers, of equal rank; only along `axis` it may be longer than `x`.
        updates: array, not shorter than `indices` along any axis, or a number.
        axis: the axis that the indices count along.
        mode: as for `setitem`.

    Returns:
        a new array like `x`.

    Raises:
        ArgumentError: `mode` is unknown; `setitem` lists the modes.
        ShapeError: `indices` differs in rank from `x`, or is longer along another axis; `updates`
            is shorter than `indices`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.scatter(np.ones(3), np.asarray([0, 0, 2]), np.asarray([1.0, 2.0, 3.0]), axis=0, mode="add")
        array([4., 1., 4.])
    """
    axis = one_axis(axis, len(x.shape), "scatter")
    check_part("scatter", {"x": x, "indices": indices, "axis": axis})
    if hasattr(updates, "shape") and tuple(updates.shape) != tuple(indices.shape):
        _check_covered("scatter", updates, indices)
        updates = ops.getitem(updates, tuple(slice(length) for length in indices.shape))
    return ops.setitem(x, _grid(indices, axis), updates, mode=check_mode(mode, "scatter"))


def _check_covered(name: str, updates: Array, indices: Array) -> None:
    """Check that there is an update for each index."""
    own, needed = tuple(updates.shape), tuple(indices.shape)
    fits = len(own) == len(needed) and not any(
        n is not None and m is not None and n < m for n, m in zip(own, needed)
    )
    if not fits:
        raise ShapeError(
            f"{name}: updates: got shape {own} for indices of shape {needed}, expected as many axes, "
            "none shorter"
        )


def _aligned(x: Array, indices: Array, axis: int, name: str) -> tuple[Array, Array, int]:
    """`x` and `indices` broadcast against each other, except along `axis`."""
    if len(x.shape) != len(indices.shape):
        raise ShapeError(
            f"{name}: indices: got {len(indices.shape)} dimensions, expected those of x, "
            f"{len(x.shape)}"
        )
    axis = one_axis(axis, len(x.shape), name)
    of_x, of_indices = list(x.shape), list(indices.shape)
    length, count = of_x[axis], of_indices[axis]
    of_x[axis] = of_indices[axis] = 1
    common = list(ops.broadcast_shapes(of_x, of_indices))
    if name != "take_along_axis" and common != of_x:
        raise ShapeError(
            f"{name}: indices of shape {tuple(indices.shape)} do not broadcast to the shape "
            f"{tuple(x.shape)} of x but for axis {axis}"
        )
    wide = (*common[:axis], length, *common[axis + 1 :])
    many = (*common[:axis], count, *common[axis + 1 :])
    x = x if tuple(x.shape) == wide else ops.broadcast_to(x, wide)
    return x, indices if tuple(indices.shape) == many else ops.broadcast_to(indices, many), axis


def _grid(indices: Array, axis: int) -> tuple[Any, ...]:
    """An index with `indices` along `axis` and all positions along other axes."""
    lengths = ops.shape(indices)

    def positions(i: int) -> Any:
        column = (-1,) + (1,) * (len(lengths) - 1 - i)
        return ops.reshape(ops.arange(lengths[i], like=indices), column)

    return tuple([indices if i == axis else positions(i) for i in range(len(lengths))])


@op(traits=Trait.HALF_SAFE | Trait.LINEAR)
def gather_nd(x: Array, indices: Array, /, *, batch_dims: int = 0) -> Array:
    """The slices of `x` at positions given by several coordinates.

    Args:
        x: array with at least `batch_dims` + k axes.
        indices: `(*batch, k)`, integers: each row is a position on the first k axes.
        batch_dims: the number of leading axes that `x` and `indices` share; positions refer to the
            axes after them, separately for each element of the batch.

    Returns:
        `(*batch, *rest)`, where `rest` are the other axes of `x`.

    Raises:
        ArgumentError: `batch_dims` is negative, or more than the axes of `x` or of the batch.
        ShapeError: the axes that `x` and `indices` share differ.
        IndexingError: an index is out of range; for JAX see `getitem`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.gather_nd(np.asarray([[1, 2], [3, 4]]), np.asarray([[0, 1], [1, 1]]))
        array([2, 4])
        >>> na.gather_nd(np.asarray([[1, 2], [3, 4]]), np.asarray([[1], [0]]), batch_dims=1)
        array([2, 3])

    References:
        https://www.tensorflow.org/api_docs/python/tf/gather_nd
    """
    places = ops.unstack(indices, axis=-1)
    if batch_dims:
        _check_shared(x, indices, batch_dims)
        # cumulative sums of ones, because lengths may be known only at run time
        one = ops.ones_like(ops.sum(indices, axis=-1), dtype=dtypes.int64)
        counts = (ops.cumulative_sum(one, axis=axis) for axis in range(batch_dims))
        places = (*(ops.subtract(count, 1) for count in counts), *places)
    return ops.getitem(x, tuple(places))


def _check_shared(x: Array, indices: Array, batch_dims: int) -> None:
    of_x, of_indices = tuple(x.shape), tuple(indices.shape)
    most = min(len(of_x) - (of_indices[-1] or 0), len(of_indices) - 1)
    if not 0 <= batch_dims <= most:
        raise ArgumentError(
            f"gather_nd: batch_dims: got {batch_dims} for x of shape {of_x} and indices of shape "
            f"{of_indices}, expected 0 <= batch_dims <= {most}"
        )
    if any(a != b for a, b in zip(of_x[:batch_dims], of_indices) if None not in (a, b)):
        raise ShapeError(
            f"gather_nd: x has shape {of_x} and indices {of_indices}, expected the same first "
            f"{batch_dims} axes, as batch_dims={batch_dims}"
        )


@op
def scatter_nd(x: Array, indices: Array, updates: Array, /, *, mode: str = "replace") -> Array:
    """`x` with the slices that `gather_nd` reads replaced by `updates`, or combined.

    Args:
        x: array with at least k axes; it is not modified.
        indices: `(*batch, k)`, integers: each row is a position on the first k axes.
        updates: `(*batch, *rest)`, or an array that broadcasts to it.
        mode: as for `setitem`.

    Returns:
        a new array like `x`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.scatter_nd(np.zeros(3), np.asarray([[0], [2]]), np.asarray([1.0, 2.0]))
        array([1., 0., 2.])
    """
    mode = check_mode(mode, "scatter_nd")
    if 0 in indices.shape:  # JAX accepts updates of any shape here
        check_positions("scatter_nd", {"x": x, "indices": indices, "updates": updates})
    return ops.setitem(x, ops.unstack(indices, axis=-1), updates, mode=mode)


@op
def index_add(x: Array, indices: Array, updates: Array, /, *, axis: int = 0) -> Array:
    """`x` with slices of `updates` added at the given positions of an axis.

    Args:
        x: array of at least one dimension; it is not modified.
        indices: `(n,)`, integers; positions may repeat.
        updates: array of the shape of `x`, with length n along `axis`.
        axis: the axis of the positions.

    Returns:
        a new array like `x`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.index_add(np.zeros(3), np.asarray([0, 2, 0]), np.asarray([1.0, 2.0, 3.0]))
        array([4., 0., 2.])
    """
    if 0 in indices.shape:  # JAX accepts updates of any shape here
        check_updates("index_add", {"x": x, "indices": indices, "updates": updates, "axis": axis})
    before = (slice(None),) * one_axis(axis, len(x.shape), "index_add")
    return ops.setitem(x, (*before, indices), updates, mode="add")


@op(traits=Trait.ELEMENTWISE | Trait.HALF_SAFE)
def masked_fill(x: Array, mask: Array, value: Array, /) -> Array:
    """`x` where `mask` is False, `value` where it is True.

    Args:
        x: array of any shape.
        mask: bool, broadcasts with `x`.
        value: a number or an array that broadcasts; cast to the dtype of `x`.

    Returns:
        array of the broadcast shape, of the dtype of `x`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.masked_fill(np.ones(3), np.asarray([True, False, True]), -1.0)
        array([-1.,  1., -1.])
    """
    if hasattr(value, "dtype"):
        value = ops.astype(value, x.dtype)
    else:
        check_fill("masked_fill", "value", value, x.dtype)
        value = ops.full((), value, dtype=x.dtype, like=x)
    return ops.where(mask, value, x)


@op(traits=Trait.HALF_SAFE | Trait.LINEAR)
def masked_select(x: Array, mask: Array, /) -> Array:
    """The elements of `x` where `mask` is True, in C order.

    Args:
        x: array of any shape.
        mask: bool; it and `x` broadcast against each other.

    Returns:
        `(n,)`. The length depends on values, which `jax.jit` cannot compile.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.masked_select(np.asarray([[1, 2], [3, 4]]), np.asarray([True, False]))
        array([1, 3])
    """
    check_condition("masked_select", {"mask": mask})
    return ops.getitem(*ops.broadcast_arrays(x, mask))


@op
def tril_indices(
    n: int, /, *, k: int = 0, m: int | None = None, like: Array | None = None
) -> tuple[Array, Array]:
    """The rows and the columns of the lower triangle of a matrix.

    Args:
        n: the number of rows.
        k: the last diagonal of the triangle: 0 for the main one, positive above.
        m: the number of columns; None means `n`.
        like: an array whose framework to follow; None takes the default backend.

    Returns:
        two vectors of integers of equal length, in row-major order.

    Example:
        >>> import nestarray as na
        >>> na.tril_indices(2)
        (array([0, 1, 1]), array([0, 0, 1]))
    """
    return _constants(np.tril_indices(n, k, m), like)


@op
def triu_indices(
    n: int, /, *, k: int = 0, m: int | None = None, like: Array | None = None
) -> tuple[Array, Array]:
    """The rows and the columns of the upper triangle of a matrix.

    Args:
        n: the number of rows.
        k: the first diagonal of the triangle: 0 for the main one, positive above.
        m: the number of columns; None means `n`.
        like: an array whose framework to follow; None takes the default backend.

    Returns:
        two vectors of integers of equal length, in row-major order.

    Example:
        >>> import nestarray as na
        >>> na.triu_indices(2)
        (array([0, 0, 1]), array([0, 1, 1]))
    """
    return _constants(np.triu_indices(n, k, m), like)


def _constants(arrays: tuple[np.ndarray, ...], like: Array | None) -> tuple[Array, ...]:
    backend = current_backend() if like is None else backends.backend_of(like)
    core = backends.core(backend)
    device = None if like is None else core.device_to_share(like)
    return tuple(core.from_numpy(a, device) for a in arrays)


@op(traits=Trait.HALF_SAFE | Trait.LINEAR)
def embedding(indices: Array, weight: Array, /) -> Array:
    """The rows of a table, weight[indices].

    Args:
        indices: integers of any shape, not negative.
        weight: `(rows, features)`.

    Returns:
        `(*indices, features)`.

    Raises:
        ShapeError: `weight` is not a matrix.
        IndexingError: an index is out of range; for JAX see `getitem`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.embedding(np.asarray([1, 0, 1]), np.asarray([[1.0, 2.0], [3.0, 4.0]]))
        array([[3., 4.],
               [1., 2.],
               [3., 4.]])
    """
    check_rows(weight)
    return ops.take(weight, indices, axis=0)


@op(traits=Trait.ELEMENTWISE | Trait.HALF_SAFE)
def unravel_index(indices: Array, /, shape: Shape) -> tuple[Array, ...]:
    """The coordinates of positions in the flattened array.

    Args:
        indices: integers of any shape; negative ones count from the end.
        shape: the shape of the array, in C order.

    Returns:
        for each axis an array of the shape of `indices`, int64.

    Raises:
        ShapeError: `shape` has no elements, but `indices` has.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.unravel_index(np.asarray([1, 5]), (2, 3))
        (array([0, 1]), array([1, 2]))

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.unravel_index.html
    """
    lengths = tuple(shape)
    if any(type(n) is int and n < 1 for n in lengths) and 0 not in indices.shape:
        raise ShapeError(
            f"unravel_index: shape: got {lengths}, which has no elements, for indices of shape "
            f"{tuple(indices.shape)}"
        )
    rest = ops.astype(indices, "int64", copy=False)
    coordinates = []
    for length in reversed(lengths):
        coordinates.append(ops.remainder(rest, length))
        rest = ops.floor_divide(rest, length)
    return tuple(reversed(coordinates))


@op
def ravel_multi_index(multi_index: Sequence[Array], /, dims: Shape) -> Array:
    """The positions in the flattened array of elements given by coordinates.

    Args:
        multi_index: for each axis an integer array; they broadcast.
        dims: the shape of the array, in C order.

    Returns:
        int64 array of the broadcast shape. Coordinates out of bounds are not detected.

    Raises:
        ShapeError: the number of arrays differs from the number of axes.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.ravel_multi_index((np.asarray([0, 1]), np.asarray([1, 2])), (2, 3))
        array([1, 5])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.ravel_multi_index.html
    """
    lengths = tuple(dims)
    if len(multi_index) != len(lengths) or not lengths:
        raise ShapeError(
            f"ravel_multi_index: multi_index: got {len(multi_index)} arrays for the shape "
            f"{lengths}, expected one for each axis"
        )
    position = ops.astype(multi_index[0], "int64", copy=False)
    for places, length in zip(multi_index[1:], lengths[1:]):
        position = ops.add(ops.multiply(position, length), ops.astype(places, "int64"))
    return position


#: The default, because None is a valid index: it adds an axis.
_NO_INDEX = object()


class at:
    """Functional indexed updates: ``na.at(x)[index].set(value)`` returns a new array.

    Returns new arrays on all frameworks; `x` is not modified. `setitem` documents the supported
    indices. For a Container, the same part of each leaf is changed; ``c.at[path]`` changes the
    tree itself.

    Args:
        x: array of any shape, or a Container.

    Raises:
        ArgumentError: no index was given, or two.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.zeros(3)
        >>> na.at(x)[[0, 0, 2]].add(1.0), x
        (array([2., 0., 1.]), array([0., 0., 0.]))
    """

    __slots__ = ("_index", "_x")

    def __init__(self, x: Array, index: Any = _NO_INDEX, /) -> None:
        self._x, self._index = x, index

    def __getitem__(self, index: Any) -> at:
        if self._index is not _NO_INDEX:
            raise ArgumentError(
                f"at: got [{index!r}] after [{self._index!r}], expected one index; write [i, j], and "
                "of a Container the path first: c.at[path][index]"
            )
        return at(self._x, index)

    def get(self) -> Array:
        """The selected elements."""
        return ops.getitem(self._x, self._checked_index())

    def apply(self, fn: Callable[[Array], Array]) -> Array:
        """Replace the selected elements by ``fn`` of them; repeated positions are updated once."""
        if isinstance(self._x, Container):
            return self.set(self.get().map(fn))
        return self.set(fn(self.get()))

    def set(self, value: Array | float) -> Array:
        """Replace the selected elements by `value`."""
        return self._changed(value, "replace")

    def add(self, value: Array | float) -> Array:
        """Add `value`; repeated positions are updated each time."""
        return self._changed(value, "add")

    def subtract(self, value: Array | float) -> Array:
        """Subtract `value`; repeated positions are updated each time."""
        is_number = isinstance(value, (int, float, complex))
        return self.add(-value if is_number else ops.negative(value))

    def multiply(self, value: Array | float) -> Array:
        """Multiply by `value`; repeated positions are updated each time."""
        return self._changed(value, "mul")

    def divide(self, value: Array | float) -> Array:
        """Divide by `value`; repeated positions are updated once."""
        return self.set(ops.divide(self.get(), value))

    def power(self, value: Array | float) -> Array:
        """Raise to the power `value`; repeated positions are updated once."""
        return self.set(ops.pow(self.get(), value))

    def min(self, value: Array | float) -> Array:
        """Replace the selected elements by their minimum with `value`."""
        return self._changed(value, "min")

    def max(self, value: Array | float) -> Array:
        """Replace the selected elements by their maximum with `value`."""
        return self._changed(value, "max")

    def _changed(self, value: Array | float, mode: str) -> Array:
        return ops.setitem(self._x, self._checked_index(), value, mode=mode)

    def _checked_index(self) -> Any:
        if self._index is _NO_INDEX:
            raise ArgumentError("at: name a part first: na.at(x)[index].set(value)")
        return self._index
