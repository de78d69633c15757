"""Shapes and dimensions as torch counts them. Every frontend function reads shapes here."""

from __future__ import annotations

import builtins
import math
from collections.abc import Iterable, Sequence
from typing import Any

from nestarray.errors import ArgumentError, ShapeError
from nestarray.typing import Array, is_unknown_size


def shape_of(x: Array) -> tuple[int, ...]:
    """The sizes of an array; a Python number has none."""
    return tuple(getattr(x, "shape", ()))


def ndim_of(x: Array) -> int:
    """The number of dimensions."""
    return len(shape_of(x))


def numel_of(x: Array) -> int:
    """The number of elements."""
    return math.prod(shape_of(x))


def is_empty(x: Array) -> bool:
    """Whether a known size is 0."""
    return has_zero(shape_of(x))


def has_zero(shape: Iterable[int]) -> bool:
    """Whether a known size is 0."""
    return any(type(n) is int and n == 0 for n in shape)


def same_shape(a: Sequence[int], b: Sequence[int]) -> bool:
    """Whether two shapes are known to be equal before the call."""
    return None not in a and [str(n) for n in a] == [str(n) for n in b]


def wrap(name: str, dim: int, ndim: int) -> int:
    """`dim` counted from the front. A 0-d array counts as 1-d, as in torch.

    Raises:
        ShapeError: `dim` is out of range.
    """
    extent = ndim or 1
    if not -extent <= dim < extent:
        raise ShapeError(
            f"{name}: dim: got {dim} for an array of {ndim} dimensions, "
            f"expected {-extent} to {extent - 1}"
        )
    return dim % extent


def wrap_all(name: str, dim: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """The dimensions `dim`, counted from the front; None and () select all."""
    if dim is None or (not isinstance(dim, int) and len(dim) == 0):
        return tuple(range(ndim))
    if isinstance(dim, int):
        return (wrap(name, dim, ndim),)
    return tuple(wrap(name, d, ndim) for d in dim)


def axes_of(name: str, x: Array, dim: int | Sequence[int] | None) -> tuple[int, ...] | None:
    """`dim` as the ``axis`` of an op: None for all dimensions and for 0-d arrays."""
    ndim = ndim_of(x)
    axes = wrap_all(name, dim, ndim)
    return None if ndim == 0 or len(axes) == ndim else axes


def sizes(given: tuple[Any, ...]) -> tuple[int, ...]:
    """The sizes of ``f(2, 3)``, ``f((2, 3))`` or ``f([2, 3])``."""
    if len(given) == 1 and isinstance(given[0], Iterable):
        given = tuple(given[0])
    return tuple(map(as_size, given))


def is_size(n: Any) -> bool:
    """Whether it is an int, or a symbol with which torch traces sizes."""
    return isinstance(n, int) or (hasattr(n, "__index__") and not hasattr(n, "dtype"))


def as_size(n: Any) -> int:
    """A size, of an array its number if that is known."""
    return n if is_size(n) or is_unknown_size(n) else int(n)


def per_dim(name: str, value: int | Sequence[int], count: int) -> tuple[int, ...]:
    """A setting for each of `count` spatial dimensions, from one number or one for each."""
    if isinstance(value, int):
        return (value,) * count
    values = tuple(int(v) for v in value)
    if len(values) == 1:
        return values * count
    if len(values) != count:
        raise ArgumentError(f"{name}: got {len(values)} numbers, expected 1 or {count}")
    return values


def broadcast_shape(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The shape that arrays of these shapes broadcast to."""
    result: list[int] = []
    for i in range(builtins.max((len(s) for s in shapes), default=0)):
        lengths = [s[-1 - i] for s in shapes if len(s) > i]
        found = {str(n): n for n in lengths if type(n) is not int or n != 1}
        if len(found) > 1:
            raise ShapeError(f"broadcast: got the shapes {', '.join(map(str, map(tuple, shapes)))}")
        result.append(found.popitem()[1] if found else 1)
    return tuple(reversed(result))
