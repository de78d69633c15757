"""The settings of Fourier transforms, read once for all backends."""

from __future__ import annotations

from collections.abc import Sequence

from nestarray.errors import ArgumentError, ShapeError

NORMS = ("backward", "ortho", "forward")


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
        ShapeError: `s` and `axes` have different lengths.
    """
    if norm not in NORMS:
        raise ArgumentError(f"{op}: norm: got {norm!r}, expected one of {', '.join(NORMS)}")
    count = len(shape)
    if axes is None:
        axes = range(0 if s is None else count - len(s), count)
    places = tuple(a % count for a in axes)
    lengths = tuple(shape[a] for a in places) if s is None else tuple(s)
    if len(lengths) != len(places):
        raise ShapeError(
            f"{op}: s: got {len(lengths)} lengths for {len(places)} axes, expected one for each"
        )
    return lengths, places
