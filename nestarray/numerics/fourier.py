"""The settings of Fourier transforms, read once for all backends."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

from nestarray.dtypes import dtype_of
from nestarray.errors import ArgumentError, DtypeError, ShapeError
from nestarray.numerics.axes import many_axes, one_axis
from nestarray.typing import check_kind

NORMS = ("backward", "ortho", "forward")

#: What the inverse of a norm scales by: hermitian input is transformed backwards.
SWAPPED = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def checked(
    op: str,
    shape: Sequence[int],
    s: Sequence[int] | None,
    axes: Sequence[int] | None,
    norm: str,
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The length and the place of each axis to transform.

    Raises:
        ArgumentError: `norm` is unknown.
        ShapeError: `s` and `axes` have different lengths, there is no such axis, or nothing
            of an axis is left.
    """
    check_norm(op, norm)
    check_kind(op, "s", "Sequence[int] | None", s)
    count = len(shape)
    if axes is None:
        axes = range(0 if s is None else count - len(s), count)
    places = many_axes(tuple(axes), count, op, "axes")
    lengths = tuple(shape[a] for a in places) if s is None else tuple(_whole(op, "s", n) for n in s)
    if len(lengths) != len(places):
        raise ShapeError(
            f"{op}: s: got {len(lengths)} lengths for {len(places)} axes, expected one for each"
        )
    # −1 keeps a length, as the standard says
    lengths = tuple(shape[a] if n == -1 else n for n, a in zip(lengths, places))
    for n in lengths:
        _check_length(op, "s", n)
    return lengths, places


def one_length(
    op: str, shape: Sequence[int], n: int | None, axis: int, norm: str
) -> tuple[int, int]:
    """The length and the place of the one axis to transform.

    Raises:
        ArgumentError: `norm` is unknown.
        ShapeError: there is no such axis, or nothing of it is left.
    """
    check_norm(op, norm)
    place = one_axis(axis, len(shape), op)
    length = shape[place] if n is None else _whole(op, "n", n)
    _check_length(op, "n", length)
    return length, place


def full_length(op: str, shape: Sequence[int], n: int | None, axis: int, norm: str) -> int:
    """The length of the real result of a half spectrum: `n`, or the even one."""
    check_norm(op, norm)
    half = shape[one_axis(axis, len(shape), op)]
    length = 2 * (half - 1) if n is None else _whole(op, "n", n)
    _check_length(op, "n", length)
    return length


def full_lengths(
    op: str,
    shape: Sequence[int],
    s: Sequence[int] | None,
    axes: Sequence[int] | None,
    norm: str,
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """As `checked` where the last axis holds a half spectrum: its length is the result's."""
    lengths, places = checked(op, shape, s, axes, norm)
    check_some_axis(op, places)
    if s is None or s[-1] == -1:
        last = full_length(op, shape, None, places[-1], norm)
        lengths = (*lengths[:-1], last)
    return lengths, places


def check_some_axis(op: str, places: Sequence[int]) -> None:
    """Raise ShapeError where no axis is left to be the real one."""
    if not places:
        raise ShapeError(f"{op}: axes: got none, expected one axis at least, the last real")


def check_norm(op: str, norm: Any) -> None:
    """Raise ArgumentError where `norm` is none of `NORMS`."""
    if norm not in NORMS:
        raise ArgumentError(f"{op}: norm: got {norm!r}, expected one of {', '.join(NORMS)}")


def check_real(op: str, x: Any, other: str) -> None:
    """Raise DtypeError where `x` is complex; `other` does the same for complex numbers."""
    dtype = dtype_of(x)
    if dtype.kind == "complex":
        raise DtypeError(
            f"{op}: x: got {dtype.name}, expected real numbers; {other} takes complex ones"
        )


def _whole(op: str, argument: str, n: Any) -> int:
    """A length that was given, as an int."""
    if n.__class__ is not int:
        check_kind(op, argument, "int", n)
    return index(n)


def _check_length(op: str, argument: str, n: int) -> None:
    if n < 1:
        raise ShapeError(f"{op}: {argument}: got the length {n}, expected at least 1")
