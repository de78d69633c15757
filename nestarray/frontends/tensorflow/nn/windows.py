"""Settings of windows that slide over spatial axes: TensorFlow's layouts, strides and padding.

Source: https://www.tensorflow.org/api_docs/python/tf/nn#notes_on_padding
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import nestarray as na
from nestarray.errors import ArgumentError
from nestarray.frontends.tensorflow.conversion import integers
from nestarray.typing import Array

Pairs = list[tuple[int, int]]


class Layout(NamedTuple):
    """The axes of an array of batches.

    Attributes:
        count: the number of spatial axes.
        is_last: whether the channels are the last axis.
    """

    count: int
    is_last: bool

    @property
    def name(self) -> str:
        """The name that `na` has for the layout."""
        return "channels_last" if self.is_last else "channels_first"

    @property
    def channels(self) -> int:
        """The axis of the channels."""
        return self.count + 1 if self.is_last else 1

    @property
    def spatial(self) -> range:
        """The spatial axes."""
        return range(1, self.count + 1) if self.is_last else range(2, self.count + 2)


def layout_of(name: str, data_format: str | None, count: int) -> Layout:
    """The layout that a data format names; None is channels last.

    Raises:
        ArgumentError: the format is unknown.
    """
    spatial = {1: ("W",), 2: ("HW",), 3: ("DHW",)}.get(count, ())
    if data_format is None or data_format in [f"N{axes}C" for axes in spatial]:
        return Layout(count, True)
    if data_format in [f"NC{axes}" for axes in spatial]:
        return Layout(count, False)
    expected = " or ".join(f"'N{axes}C' or 'NC{axes}'" for axes in spatial)
    raise ArgumentError(f"{name}: data_format: got {data_format!r}, expected {expected}")


def per_axis(name: str, setting: str, value: Any, layout: Layout) -> tuple[int, ...]:
    """A setting of each spatial axis, from one number, one for each, or one for all axes.

    Raises:
        ArgumentError: the number of values is wrong, or one of the batch or the channels is not 1.
    """
    value = integers(value)
    if value is None:
        return (1,) * layout.count
    if isinstance(value, int):
        return (value,) * layout.count
    value = tuple(value)
    if len(value) == 1:
        return value * layout.count
    if len(value) == layout.count:
        return value
    others = {value[0], value[layout.channels]} if len(value) == layout.count + 2 else {0}
    if others != {1}:
        raise ArgumentError(
            f"{name}: {setting}: got {value}, expected {layout.count} numbers, or "
            f"{layout.count + 2} with 1 for the batch and the channels"
        )
    return tuple([value[i] for i in layout.spatial])


def padding_of(
    name: str,
    padding: Any,
    layout: Layout,
    sizes: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> Pairs:
    """The elements to add before and after each spatial axis.

    Args:
        name: the function, for the error.
        padding: ``"SAME"``, ``"VALID"``, or a pair for each axis.
        layout: the axes.
        sizes, kernel, strides, dilations: of the spatial axes.

    Raises:
        ArgumentError: the padding is unknown.
    """
    if not isinstance(padding, str):
        pairs = [(low, high) for low, high in integers(padding)]
        return [pairs[i] for i in layout.spatial] if len(pairs) == layout.count + 2 else pairs
    if padding.upper() == "VALID":
        return [(0, 0)] * layout.count
    if padding.upper() != "SAME":
        raise ArgumentError(f"{name}: padding: got {padding!r}, expected 'SAME' or 'VALID'")
    totals = [
        max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
        for n, k, s, d in zip(sizes, kernel, strides, dilations, strict=True)
    ]
    return [(total // 2, total - total // 2) for total in totals]


def places(
    x: Array,
    fill: float,
    window: Sequence[int],
    strides: Sequence[int],
    pads: Sequence[tuple[int, int]],
    dilations: Sequence[int],
) -> Iterator[tuple[tuple[int, ...], Array]]:
    """For each place in a window, the place and the elements at it of all windows.

    Args:
        x: `(batch, *spatial, channels)`.
        fill: the element of the padding.
        window, strides, pads, dilations: of the spatial axes.
    """
    padded = na.pad(x, [(0, 0), *pads, (0, 0)], constant_values=fill)
    sizes = na.shape(padded)[1:-1]
    counts = [
        (n - (k - 1) * d - 1) // s + 1
        for n, k, s, d in zip(sizes, window, strides, dilations, strict=True)
    ]
    for place in itertools.product(*map(range, window)):
        starts = [i * d for i, d in zip(place, dilations, strict=True)]
        index = [
            slice(i, i + (n - 1) * s + 1, s)
            for i, n, s in zip(starts, counts, strides, strict=True)
        ]
        yield place, na.getitem(padded, (slice(None), *index))


def without_batches(x: Array, layout: Layout) -> tuple[Array, tuple[int, ...]]:
    """`x` with its first axes as one axis of the batch, and the sizes of these axes."""
    shape = na.shape(x)
    outer = shape[: len(shape) - layout.count - 1]
    if len(outer) == 1:
        return x, tuple(outer)
    return na.reshape(x, (-1, *shape[len(outer) :])), tuple(outer)


def with_batches(x: Array, outer: tuple[int, ...]) -> Array:
    """`x` with the axes of the batch as they were."""
    return x if len(outer) == 1 else na.reshape(x, (*outer, *na.shape(x)[1:]))
