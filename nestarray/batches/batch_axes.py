"""Batch axes: the leading axes that all arrays of a tree share.

`batch_shape` computes them from the shapes; they are not declared. Arrays of equal shape share all
axes by accident, so the functions accept `ndim`, the number of batch axes. Indices apply to batch
axes too: ``c[3]`` and ``c[:, 2:5]`` index every array, ``c.at[3].set(x)`` updates each. Ops with an
axis (`na.stack`, `unstack`, `split`, `flip`, …) work leaf by leaf without this file. Leaves that
are not arrays are kept; but indices and ops treat a Python number as a 0-d array.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from numbers import Integral
from operator import index
from typing import Any

from nestarray import ops
from nestarray.backends import is_array
from nestarray.container import Container, Leaf, method
from nestarray.container.access import map_leaves
from nestarray.container.container import from_leaves
from nestarray.errors import ArgumentError, ShapeError


@method
@property
def batch_shape(c: Container, /) -> tuple[Any, ...]:
    """The longest common prefix of the shapes of all arrays; () without arrays.

    Unknown sizes (None, inside a ``tf.function``) are equal only to each other.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.Container(image=np.ones((32, 5, 28, 28)), label=np.ones((32, 5)), n=1).batch_shape
        (32, 5)
    """
    shapes = [tuple(leaf.shape) for leaf in c.leaves() if is_array(leaf)]
    common = []
    for lengths in zip(*shapes):
        if lengths.count(lengths[0]) < len(lengths):
            break
        common.append(lengths[0])
    return tuple(common)


@method
def reshape_batch(
    c: Container[Leaf], shape: int | Sequence[int], /, *, ndim: int | None = None
) -> Container[Leaf]:
    """Reshape the batch axes of every array; the order of elements is kept.

    Args:
        c: a Container.
        shape: the new axes; one size may be −1 and is inferred.
        ndim: the number of batch axes to replace; by default the length of `batch_shape`.

    Returns:
        a Container whose arrays are `(*shape, *rest)`.

    Raises:
            ShapeError: the numbers of elements differ, or the arrays do not share `ndim` axes.
        ArgumentError: `shape` contains a value that is not an integer.

    Example:
        >>> import numpy as np, nestarray as na
        >>> c = na.Container(a=np.ones((6, 3)), b=np.ones((6, 2, 2)))
        >>> rows = c.reshape_batch((2, -1))
        >>> rows.a.shape, rows.b.shape
        ((2, 3, 3), (2, 3, 2, 2))
    """
    old = _batch(c, ndim, "reshape_batch")
    new = _checked_shape(shape, "reshape_batch")
    if None not in old:  # otherwise TensorFlow checks at run time
        known, count = math.prod(n for n in new if n != -1), math.prod(old)
        if new.count(-1) == 1 and known and count % known == 0:
            new = tuple([count // known if n == -1 else n for n in new])
        if -1 in new or math.prod(new) != count:
            raise ShapeError(
                f"Container.reshape_batch: shape: got {_checked_shape(shape, 'reshape_batch')} for the "
                f"batch {old}, expected {count} elements" + _hint(old, ndim)
            )
    return _map_arrays(c, lambda x: ops.reshape(x, (*new, *ops.shape(x)[len(old) :])))


@method
def permute_batch(c: Container[Leaf], axes: Sequence[int], /) -> Container[Leaf]:
    """Permute the batch axes of every array; the other axes are kept.

    Args:
        c: a Container.
        axes: a permutation of 0 … n − 1, for the first n axes.

    Raises:
        ShapeError: the arrays do not share n leading axes.
        ArgumentError: `axes` is not a permutation of these numbers.

    Example:
        >>> import numpy as np, nestarray as na
        >>> c = na.Container(a=np.ones((2, 5, 3)), b=np.ones((2, 5)))
        >>> c.permute_batch((1, 0)).batch_shape
        (5, 2)
    """
    order = _checked_shape(axes, "permute_batch", "axes")
    if sorted(order) != list(range(len(order))):
        raise ArgumentError(
            f"Container.permute_batch: axes: got {order}, expected the numbers 0 to "
            f"{len(order) - 1} in some order"
        )
    _batch(c, len(order), "permute_batch")
    behind = len(order)
    return _map_arrays(
        c, lambda x: ops.permute_dims(x, (*order, *range(behind, len(ops.shape(x)))))
    )


@method
def expand_batch(
    c: Container[Leaf], shape: int | Sequence[int], /, *, ndim: int | None = None
) -> Container[Leaf]:
    """Broadcast the batch axes of every array to `shape`.

    Args:
        c: a Container.
        shape: the new batch shape; the present batch axes are aligned with its end, as in
            broadcasting.
        ndim: the number of present batch axes; by default the length of `batch_shape`. With
            0, all axes of `shape` are new.

    Returns:
        a Container whose arrays are `(*shape, *rest)`; some frameworks return read-only views.

    Raises:
        ShapeError: the batch shape does not broadcast to `shape`, or the arrays do not share
            `ndim` axes.
        ArgumentError: `shape` contains a value that is not an integer.

    Example:
        >>> import numpy as np, nestarray as na
        >>> c = na.Container(w=np.ones((3, 2)), b=np.ones(2))
        >>> members = c.expand_batch(5)
        >>> members.w.shape, members.b.shape
        ((5, 3, 2), (5, 2))
    """
    old = _batch(c, ndim, "expand_batch")
    new = _checked_shape(shape, "expand_batch")
    added = len(new) - len(old)
    if added < 0 or any(o not in (1, n, None) for o, n in zip(old, new[added:], strict=True)):
        raise ShapeError(
            f"Container.expand_batch: shape: got {new} for the batch {old}, expected one to which "
            "that broadcasts" + _hint(old, ndim)
        )

    def expanded(x: Any) -> Any:
        lengths = ops.shape(x)
        x = ops.reshape(x, (*(1,) * added, *lengths)) if added else x
        return ops.broadcast_to(x, (*new, *lengths[len(old) :]))

    return _map_arrays(c, expanded)


def _map_arrays(c: Container, fn: Callable[[Any], Any]) -> Container:
    return from_leaves(
        c.spec, map_leaves(c.spec, lambda x: fn(x) if is_array(x) else x, [c.leaves()])
    )


def _batch(c: Container, ndim: int | None, name: str) -> tuple[Any, ...]:
    """The first `ndim` sizes of `batch_shape`, or all."""
    common = c.batch_shape
    if ndim is None:
        return common
    if isinstance(ndim, bool) or not isinstance(ndim, Integral) or ndim < 0:
        raise ArgumentError(
            f"Container.{name}: ndim: got {ndim!r}, expected an integer that is not negative"
        )
    if ndim > len(common) and any(map(is_array, c.leaves())):
        raise ShapeError(
            f"Container.{name}: expected {ndim} axes in front that all arrays have in common, got "
            f"the batch {common}"
        )
    return common[:ndim]


def _checked_shape(shape: Any, name: str, argument: str = "shape") -> tuple[int, ...]:
    try:
        return tuple([index(n) for n in shape]) if _is_iterable(shape) else (index(shape),)
    except TypeError:
        raise ArgumentError(
            f"Container.{name}: {argument}: got {shape!r}, expected an integer or several"
        ) from None


def _is_iterable(shape: Any) -> bool:
    return hasattr(shape, "__iter__") and not isinstance(shape, str)


def _hint(old: tuple[Any, ...], ndim: int | None) -> str:
    """A hint for a batch that may have more axes than intended."""
    return f"; give ndim if the batch has not {len(old)} axes" if ndim is None and old else ""
