"""Reductions over all leaves of a tree, as used in training loops.

Each function accepts a Container or any nest on any backend, and is also a method of Container.
Leaves that are neither arrays nor numbers (labels, functions) are ignored; placeholders for arrays
(arrays in a file, Flax variables) raise an error. All are compositions of ops, so they have
gradients and can be compiled. ``c.size`` and ``c.nbytes`` count elements and bytes,
`Container.count` leaves.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from numbers import Real
from typing import Any

from nestarray import backends, ops, tree
from nestarray.backends import is_array_or_number
from nestarray.container import Container, method
from nestarray.container.access import align_leaves
from nestarray.dtypes import dtype_of, float32, is_key, promote_types
from nestarray.errors import ArgumentError, ShapeError, StructureError
from nestarray.typing import NUMBERS


@method
def tree_sum(c: Any, /) -> Any:
    """The sum of all elements of all leaves, Σᵢ Σ xᵢ; 0.0 for a tree without numbers.

    Args:
        c: a Container or a nest.

    Returns:
        a scalar array of the leaves' backend, in the promoted dtype of the leaves.

    Example:
        >>> import numpy as np, nestarray as na
        >>> float(na.tree_sum(na.Container(a=np.ones((2, 3)), b=np.ones(4))))
        10.0
    """
    return _total(map(_sum, _numbers("tree_sum", c)))


@method
def tree_mean(c: Any, /) -> Any:
    """The mean of all elements of all leaves, Σᵢ Σ xᵢ / Σᵢ nᵢ, weighted by element.

    16-bit leaves are summed in float32, to avoid overflow.

    Args:
        c: a Container or a nest.

    Returns:
        a scalar array of the leaves' backend, in the promoted dtype of the leaves; float32 for
        integers.

    Raises:
        ArgumentError: `c` contains no number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> float(na.tree_mean(na.Container(a=np.asarray([1.0, 2.0, 3.0]), b=np.asarray([10.0]))))
        4.0
    """
    leaves = _elements("tree_mean", c)
    if not leaves:
        raise ArgumentError("tree_mean: got a tree without numbers, which has no mean")
    count: Any = sum(math.prod(_shape(x)) for x in leaves)
    total = _total(_sum(_widened(x)) for x in leaves)
    if backends.is_array(count):  # an unknown size
        count = ops.astype(count, dtype_of(total))
    mean = ops.divide(total, count)
    exact = reduce(promote_types, [dtype_of(x) for x in leaves if hasattr(x, "dtype")] or [float32])
    return ops.astype(mean, exact, copy=False) if exact.is_inexact else mean


@method
def tree_dot(a: Any, b: Any, /) -> Any:
    """The inner product of two trees as vectors, Σᵢ ⟨xᵢ, yᵢ⟩, conjugating complex leaves of `a`.

    Args:
        a: a Container or a nest.
        b: a tree of the same structure; Containers are matched by key.

    Returns:
        a scalar array; 0.0 for trees without numbers.

    Raises:
        StructureError: the structures differ.
        ShapeError: two leaves differ in shape; leaves are not broadcast.

    Example:
        >>> import numpy as np, nestarray as na
        >>> c = na.Container(a=np.asarray([1.0, 2.0]), b=np.asarray([3.0]))
        >>> float(na.tree_dot(c, c))
        14.0
    """
    (left, structure), (right, other) = tree.flatten(a), tree.flatten(b)
    if isinstance(a, Container) and isinstance(b, Container) and structure != other:
        left, right = a.leaves(), align_leaves(a._spec, b, "tree_dot")
    if len(left) != len(right):
        raise StructureError(
            f"tree_dot: the trees have {len(left)} and {len(right)} leaves, expected one structure"
        )
    for i, (x, y) in enumerate(zip(left, right, strict=True)):
        if is_array_or_number(x) and is_array_or_number(y) and _differ_in_shape(x, y):
            paths = a.paths() if isinstance(a, Container) and len(left) == len(a.leaves()) else ()
            place = repr(paths[i]) if paths else f"leaf {i}"
            raise ShapeError(
                f"tree_dot: {place}: got the shapes {_known_shape(x)} and {_known_shape(y)}, "
                "expected one shape"
            )
    pairs = [(x, y) for x, y in zip(left, right, strict=True) if _is_number(x)]
    return _total(_sum(ops.multiply(_conjugate(x), y)) for x, y in pairs)


@method
def tree_norm(c: Any, /, *, ord: float = 2) -> Any:
    """The norm of the tree as one vector: (Σ |x|^ord)^(1/ord), or max |x| for ``ord=inf``.

    16-bit leaves and integers are converted to float32, to avoid overflow of squares. For a
    tree of zeros, the gradient of the norm of order 2 is NaN, as in the frameworks.

    Args:
        c: a Container or a nest; complex leaves contribute their absolute values.
        ord: a positive number or ``float("inf")``.

    Returns:
        a real scalar array; 0.0 for a tree without numbers.

    Raises:
        ArgumentError: `ord` is not a positive number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> c = na.Container(a=np.asarray([3.0]), b=np.asarray([4.0]))
        >>> float(na.tree_norm(c)), float(na.tree_norm(c, ord=1))
        (5.0, 7.0)
    """
    if isinstance(ord, bool) or not isinstance(ord, Real) or not ord > 0:
        raise ArgumentError(f"tree_norm: ord: got {ord!r}, expected a positive number or infinity")
    leaves = [_floating(x) for x in _elements("tree_norm", c)]
    if not leaves:
        return 0.0
    if ord == 1:
        return _total(_sum(_abs(x)) for x in leaves)
    if ord == 2:
        return ops.sqrt(_total(_sum(_square(x)) for x in leaves))
    if ord == math.inf:
        return reduce(ops.maximum, [_leaf(ops.max, _abs(x)) for x in leaves])
    return ops.pow(_total(_sum(_power(_abs(x), ord)) for x in leaves), 1 / ord)


@method
def tree_max(c: Any, /) -> Any:
    """The largest element of all leaves; NaN if any element is NaN.

    Raises:
        ArgumentError: `c` contains no number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> float(na.tree_max(na.Container(a=np.asarray([1.0, 5.0]), b=np.zeros(2))))
        5.0
    """
    return _extreme("tree_max", ops.max, ops.maximum, c)


@method
def tree_min(c: Any, /) -> Any:
    """The smallest element of all leaves; NaN if any element is NaN.

    Raises:
        ArgumentError: `c` contains no number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> float(na.tree_min(na.Container(a=np.asarray([1.0, 5.0]), b=np.zeros(2))))
        0.0
    """
    return _extreme("tree_min", ops.min, ops.minimum, c)


@method
def tree_all(c: Any, /) -> Any:
    """Whether all elements of all leaves are true; true for a tree without leaves.

    Example:
        >>> import numpy as np, nestarray as na
        >>> c = na.Container(a=np.ones(2), b=np.zeros(3))
        >>> bool(na.tree_all(c == c)), bool(na.tree_all(c))
        (True, False)
    """
    leaves = _numbers("tree_all", c)
    return reduce(ops.logical_and, [_leaf(ops.all, x) for x in leaves], True)


@method
def tree_any(c: Any, /) -> Any:
    """Whether any element of any leaf is true; false for a tree without leaves.

    Example:
        >>> import numpy as np, nestarray as na
        >>> bool(na.tree_any(na.Container(a=np.ones(2), b=np.zeros(3))))
        True
    """
    leaves = _numbers("tree_any", c)
    return reduce(ops.logical_or, [_leaf(ops.any, x) for x in leaves], False)


def _numbers(name: str, c: Any) -> list[Any]:
    """The numbers and arrays of a tree."""
    leaves = tree.flatten(c)[0]
    numbers = [leaf for leaf in leaves if _is_number(leaf)]
    if len(numbers) < len(leaves):
        _refuse_placeholders(name, c)
    return numbers


def _is_number(leaf: Any) -> bool:
    return is_array_or_number(leaf) and not is_key(leaf)


def _refuse_placeholders(name: str, c: Any) -> None:
    """Refuse placeholders for arrays (in a file, a Flax variable), which are not labels to ignore."""
    for path, leaf in Container(c).flat_items():
        if not is_array_or_number(leaf) and hasattr(leaf, "dtype") and hasattr(leaf, "shape"):
            raise ArgumentError(
                f"{name}: {path!r} is a {type(leaf).__name__}, expected an array of numpy, jax, torch "
                "or tensorflow, or a number; read or convert it with c.map(fn), or leave it out with "
                "c.exclude(type)"
            )


def _elements(name: str, c: Any) -> list[Any]:
    """The numbers and arrays without empty arrays, which have no largest element."""
    return [leaf for leaf in _numbers(name, c) if 0 not in tuple(getattr(leaf, "shape", ()))]


def _shape(x: Any) -> tuple[Any, ...]:
    return () if _is_scalar(x) else ops.shape(x)


def _known_shape(x: Any) -> tuple[Any, ...] | None:
    """The static shape: None, or with sizes of None, if unknown."""
    try:
        return tuple(getattr(x, "shape", ()))
    except ValueError:  # an unknown rank in TensorFlow
        return None


def _differ_in_shape(x: Any, y: Any) -> bool:
    first, second = _known_shape(x), _known_shape(y)
    if first is None or second is None:
        return False
    return len(first) != len(second) or any(
        m is not None and n is not None and m != n for m, n in zip(first, second, strict=True)
    )


def _is_scalar(x: Any) -> bool:
    """Whether `x` is a Python number, which has no backend and stays a number."""
    return type(x) in NUMBERS


def _is_complex(x: Any) -> bool:
    return dtype_of(x).kind == "complex"


def _conjugate(x: Any) -> Any:
    return ops.conj(x) if _is_complex(x) else x


def _widened(x: Any) -> Any:
    """`x`, converted to float32 if it is floating with 16 bits."""
    if _is_scalar(x):
        return x
    dtype = dtype_of(x)
    return ops.astype(x, float32) if dtype.is_floating and dtype.bits < 32 else x


def _floating(x: Any) -> Any:
    x = _widened(x)
    return x if _is_scalar(x) or dtype_of(x).is_inexact else ops.astype(x, float32)


def _abs(x: Any) -> Any:
    return abs(x) if _is_scalar(x) else ops.abs(x)


def _square(x: Any) -> Any:
    if _is_scalar(x):
        return abs(x) ** 2
    x = ops.abs(x) if _is_complex(x) else x
    return ops.multiply(x, x)


def _power(x: Any, exponent: float) -> Any:
    return x**exponent if _is_scalar(x) else ops.pow(x, exponent)


def _leaf(function: Callable[..., Any], x: Any) -> Any:
    """`function` of an array; a number unchanged, as its own sum and maximum."""
    return x if _is_scalar(x) else function(x)


def _sum(x: Any) -> Any:
    return _leaf(ops.sum, x)


def _total(sums: Any) -> Any:
    parts = list(sums)
    return reduce(ops.add, parts) if parts else 0.0


def _extreme(name: str, of_leaf: Callable[..., Any], of_two: Callable[..., Any], c: Any) -> Any:
    leaves = _elements(name, c)
    if not leaves:
        raise ArgumentError(f"{name}: got a tree without numbers, which has no extreme element")
    return reduce(of_two, [_leaf(of_leaf, x) for x in leaves])
