"""Normalization of the settings of Fourier transforms."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

from nestarray.dtypes import dtype_of
from nestarray.errors import ArgumentError, DtypeError, ShapeError
from nestarray.numerics.axes import many_axes, one_axis
from nestarray.typing import check_kind, is_symbolic_size

NORMS = ("backward", "ortho", "forward")

#: The norm of the opposite direction: transforms of Hermitian input run backwards.
SWAPPED = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def checked(
    op: str,
    shape: Sequence[int],
    s: Sequence[int] | None,
    axes: Sequence[int] | None,
    norm: str,
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The lengths and positions of the axes to transform.

    Raises:
        ArgumentError: `norm` is unknown.
        ShapeError: `s` and `axes` have different lengths, an axis does not exist, or a length is
            less than 1.
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
    # −1 keeps a length, as in the standard
    if s is not None:
        lengths = tuple(shape[a] if n == -1 else n for n, a in zip(lengths, places))
    for n in lengths:
        _check_length(op, "s", n)
    return lengths, places


def one_length(
    op: str, shape: Sequence[int], n: int | None, axis: int, norm: str
) -> tuple[int, int]:
    """The length and position of the axis to transform.

    Raises:
        ArgumentError: `norm` is unknown.
        ShapeError: the axis does not exist, or the length is less than 1.
    """
    check_norm(op, norm)
    place = one_axis(axis, len(shape), op)
    length = shape[place] if n is None else _whole(op, "n", n)
    _check_length(op, "n", length)
    return length, place


def full_length(op: str, shape: Sequence[int], n: int | None, axis: int, norm: str) -> int:
    """The length of the real result of a half spectrum: `n`, or the even length."""
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
    """Like `checked` for a half spectrum on the last axis, whose length is the result's."""
    lengths, places = checked(op, shape, s, axes, norm)
    check_some_axis(op, places)
    if s is None or s[-1] == -1:
        last = full_length(op, shape, None, places[-1], norm)
        lengths = (*lengths[:-1], last)
    return lengths, places


def check_some_axis(op: str, places: Sequence[int]) -> None:
    """Raise ShapeError without an axis for the real transform."""
    if not places:
        raise ShapeError(f"{op}: axes: got none, expected one axis at least, the last real")


def check_norm(op: str, norm: Any) -> None:
    """Raise ArgumentError if `norm` is not in `NORMS`."""
    if norm not in NORMS:
        raise ArgumentError(f"{op}: norm: got {norm!r}, expected one of {', '.join(NORMS)}")


def check_real(op: str, x: Any, other: str) -> None:
    """Raise DtypeError if `x` is complex; `other` names the complex transform."""
    dtype = dtype_of(x)
    if dtype.kind == "complex":
        raise DtypeError(
            f"{op}: x: got {dtype.name}, expected real numbers; {other} takes complex ones"
        )


def _whole(op: str, argument: str, n: Any) -> int:
    """A length as an int."""
    if n.__class__ is not int:
        check_kind(op, argument, "int", n)
    return n if is_symbolic_size(n) else index(n)


def _check_length(op: str, argument: str, n: int) -> None:
    if isinstance(n, int) and n < 1:
        raise ShapeError(f"{op}: {argument}: got the length {n}, expected at least 1")
