"""Sliding windows over spatial axes: strides, paddings, dilations and output sizes.

Convolution and pooling normalize their settings here, on every backend.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from nestarray.errors import ArgumentError, ShapeError
from nestarray.typing import check_kind, check_not_zero, is_unknown_size

#: An integer for all spatial axes, or one for each.
Ints = int | Sequence[int]
#: `Ints`, one pair (before, after) for each axis, ``"same"`` or ``"valid"``.
Padding = str | int | Sequence[int] | Sequence[tuple[int, int]]

_LAYOUTS = ("channels_first", "channels_last")


class Windows(NamedTuple):
    """The settings of sliding windows, one entry for each spatial axis."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    dilation: tuple[int, ...]
    #: the part of the trailing padding that ``ceil_mode`` adds
    overhang: tuple[int, ...] = (0, 0, 0)

    @property
    def extent(self) -> tuple[int, ...]:
        """The extent of a window, including the gaps of its dilation."""
        return tuple(d * (k - 1) + 1 for k, d in zip(self.kernel, self.dilation))

    @property
    def is_padded(self) -> bool:
        """Whether there is padding; also where its numbers are open, which no program may compare."""
        numbers = [n for pair in self.padding for n in pair]
        return not all(isinstance(n, int) and n == 0 for n in numbers)

    def output(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """The number of windows along each axis of an input with these spatial sizes."""
        return tuple(
            (n + low + high - e) // s + 1
            for n, (low, high), e, s in zip(sizes, self.padding, self.extent, self.stride)
        )

    def offsets(self, output: Sequence[int]) -> Iterator[tuple[slice, ...]]:
        """For each element of the window: the slice of the padded input under it."""
        for position in itertools.product(*map(range, self.kernel)):
            yield tuple(
                slice(p * d, p * d + (n - 1) * s + 1, s)
                for p, d, n, s in zip(position, self.dilation, output, self.stride)
            )


def per_axis(op: str, name: str, value: Ints, count: int, *, least: int = 1) -> tuple[int, ...]:
    """`value` for each of `count` spatial axes."""
    if value.__class__ is not int:
        check_kind(op, name, "Ints", value)
    values: tuple[int, ...] = (value,) if hasattr(value, "__index__") else tuple(value)  # type: ignore[arg-type]
    if len(values) == 1:
        values *= count
    if len(values) != count:
        raise ArgumentError(f"{op}: {name}: got {value!r}, expected {_integers(count)}")
    if any(v < least for v in values):
        raise ArgumentError(
            f"{op}: {name}: got {value!r}, expected integers that are at least {least}"
        )
    return values


def _integers(count: int) -> str:
    return "an integer" if count == 1 else f"an integer or {count} integers"


def settings(
    op: str,
    sizes: Sequence[int],
    kernel: Ints,
    *,
    stride: Ints,
    padding: Padding,
    dilation: Ints = 1,
    ceil_mode: bool = False,
) -> Windows:
    """The normalized settings for an input with spatial `sizes`.

    ``"same"`` pads so that the output has ⌈size / stride⌉ elements, the odd element
    after the input. With `ceil_mode` the trailing padding grows until the last window that starts
    inside the input or its leading padding fits; a window larger than the input is clipped to it.

    Raises:
        ArgumentError: a setting has the wrong length or a value that is too small.
        ShapeError: the window is larger than the padded input.
    """
    count = len(sizes)
    kernel = per_axis(op, "kernel_size", kernel, count)
    stride = per_axis(op, "stride", stride, count)
    dilation = per_axis(op, "dilation", dilation, count)
    extent = tuple(d * (k - 1) + 1 for k, d in zip(kernel, dilation))
    pairs = _pairs(op, padding, sizes, extent, stride)
    if ceil_mode is True:
        kernel, stride = _clipped(sizes, pairs, kernel, stride, dilation)
        extent = tuple(d * (k - 1) + 1 for k, d in zip(kernel, dilation))
    for n, (low, high), e in zip(sizes, pairs, extent):
        if n is not None and not is_unknown_size(n) and n + low + high < e:
            raise ShapeError(
                f"{op}: the window spans {extent} elements and the padded input has "
                f"{tuple(n + sum(p) for n, p in zip(sizes, pairs))}; expected an input at "
                "least as large as the window: pad more, or make the kernel smaller"
            )
    if ceil_mode is not False and ceil_mode is not True:
        check_kind(op, "ceil_mode", "bool", ceil_mode)
    if not ceil_mode:
        return Windows(kernel, stride, pairs, dilation)
    overhang = tuple(
        _overhang(n, low, high, e, s) for n, (low, high), e, s in zip(sizes, pairs, extent, stride)
    )
    pairs = tuple((low, high + extra) for (low, high), extra in zip(pairs, overhang))
    return Windows(kernel, stride, pairs, dilation, overhang)


def is_known(padding: Sequence[tuple[int, int]]) -> bool:
    """Whether all numbers are known; those of ``"same"`` may follow from unknown sizes."""
    return not any(is_unknown_size(n) for pair in padding for n in pair)


def _paddings(count: int) -> str:
    if count == 1:
        return "an integer or a pair (before, after)"
    return f"an integer, or {count} integers or pairs (before, after)"


def _pairs(
    op: str,
    padding: Padding,
    sizes: Sequence[int],
    extent: tuple[int, ...],
    stride: tuple[int, ...],
) -> tuple[tuple[int, int], ...]:
    count = len(sizes)
    if isinstance(padding, int) and not isinstance(padding, bool):
        pairs: tuple[tuple[int, int], ...] = ((padding, padding),) * count
    elif padding == "valid":
        pairs = ((0, 0),) * count
    elif padding == "same":
        return tuple(_same(n, e, s) for n, e, s in zip(sizes, extent, stride))
    else:
        is_sequence = isinstance(padding, (tuple, list))
        entries: tuple[Any, ...] = tuple(padding) if is_sequence else ()  # type: ignore[arg-type]
        if len(entries) == 1:
            entries *= count
        if len(entries) != count or bool in map(type, entries):
            raise ArgumentError(
                f"{op}: padding: got {padding!r}, expected 'same', 'valid', {_paddings(count)}"
            )
        pairs = tuple((e, e) if hasattr(e, "__index__") else tuple(e) for e in entries)
    if any(low < 0 or high < 0 for low, high in pairs):
        raise ArgumentError(f"{op}: padding: got {padding!r}, expected no negative number")
    return pairs


def _same(size: int, extent: int, stride: int) -> tuple[int, int]:
    # The size may be None where it cancels, and symbolic where it need not be compared.
    if 1 in (stride, extent):
        total = extent - 1
    else:
        total = -size % stride + extent - stride
        total = total if extent >= stride else max(total, 0)
    return total // 2, total - total // 2


def _clipped(
    sizes: Sequence[int],
    pairs: Sequence[tuple[int, int]],
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    dilation: tuple[int, ...],
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Kernel and stride of ``ceil_mode``: a single window exceeds the input as little as possible."""
    rows = []
    for n, (low, high), k, s, d in zip(sizes, pairs, kernel, stride, dilation):
        missing = 0 if n is None else d * (k - 1) + 1 - (n + low + high)
        if 0 < missing < s:  # the single window in ⌈−missing / s⌉ + 1
            padded = n + low + high
            k, s = (padded - 1) // d + 1, max(s, padded)
        rows.append((k, s))
    return tuple([k for k, _ in rows]), tuple([s for _, s in rows])


def _overhang(size: int, low: int, high: int, extent: int, stride: int) -> int:
    span = size + low + high - extent
    windows = -(-span // stride) + 1
    if (windows - 1) * stride >= size + low:
        windows -= 1
    return max((windows - 1) * stride - span, 0)


def convolution(
    op: str,
    count: int,
    x_shape: Sequence[int],
    weight_shape: Sequence[int],
    bias: Any = None,
    *,
    stride: Ints,
    padding: Padding,
    dilation: Ints,
    groups: int,
) -> Windows:
    """The windows of a convolution, with checks of the shapes.

    Raises:
        ArgumentError: a setting is invalid.
        ShapeError: the shapes of `x`, `weight` and `bias` do not match.
    """
    check_rank(op, "x", "(batch, in, *spatial)", x_shape, count)
    check_rank(op, "weight", "(out, in / groups, *kernel)", weight_shape, count)
    _check_groups_and_bias(op, groups, bias, weight_shape[0])
    if isinstance(x_shape[1], int) and x_shape[1] != weight_shape[1] * groups:
        raise ShapeError(
            f"{op}: x has {x_shape[1]} channels (axis 1 of {tuple(x_shape)}), expected "
            f"{weight_shape[1] * groups}: axis 1 of weight {tuple(weight_shape)} times "
            f"groups={groups}"
        )
    if weight_shape[0] % groups:
        raise ShapeError(
            f"{op}: weight has {weight_shape[0]} output channels, expected a multiple of "
            f"groups={groups}"
        )
    return settings(
        op, x_shape[2:], tuple(weight_shape[2:]), stride=stride, padding=padding, dilation=dilation
    )


class Transposed(NamedTuple):
    """The settings of a transposed convolution, one entry for each spatial axis."""

    windows: Windows
    output_padding: tuple[int, ...]

    @property
    def crop(self) -> tuple[tuple[int, int], ...]:
        """The elements to crop from the full output; negative numbers add zeros."""
        return tuple(
            (low, high - extra)
            for (low, high), extra in zip(self.windows.padding, self.output_padding)
        )

    @property
    def input_padding(self) -> tuple[tuple[int, int], ...]:
        """The padding of the equivalent plain convolution; may be negative."""
        return tuple(
            (e - 1 - low, e - 1 - high) for e, (low, high) in zip(self.windows.extent, self.crop)
        )


def transposed_convolution(
    op: str,
    count: int,
    x_shape: Sequence[int],
    weight_shape: Sequence[int],
    bias: Any = None,
    *,
    stride: Ints,
    padding: Padding,
    output_padding: Ints,
    dilation: Ints,
    groups: int,
) -> Transposed:
    """The settings of a transposed convolution, with checks of the shapes.

    Raises:
        ArgumentError: a setting is invalid.
        ShapeError: the shapes of `x`, `weight` and `bias` do not match, or the output is empty.
    """
    check_rank(op, "x", "(batch, in, *spatial)", x_shape, count)
    check_rank(op, "weight", "(in, out / groups, *kernel)", weight_shape, count)
    _check_groups_and_bias(op, groups, bias, weight_shape[1], is_share=True)
    if 0 in x_shape[2:]:
        raise ShapeError(
            f"{op}: x: got shape {tuple(x_shape)}, expected spatial axes of 1 and more"
        )
    if x_shape[1] is not None and x_shape[1] != weight_shape[0]:
        raise ShapeError(
            f"{op}: x has {x_shape[1]} channels (axis 1 of {tuple(x_shape)}), expected "
            f"{weight_shape[0]}: axis 0 of weight {tuple(weight_shape)}"
        )
    if weight_shape[0] % groups:
        raise ShapeError(
            f"{op}: weight has {weight_shape[0]} input channels, expected a multiple of "
            f"groups={groups}"
        )
    if padding == "same":
        raise ArgumentError(
            f"{op}: padding: got 'same', expected 'valid', {_paddings(count)}; the size of the "
            "output is given by output_padding"
        )
    kernel = per_axis(op, "kernel_size", tuple(weight_shape[2:]), count)
    steps = per_axis(op, "stride", stride, count)
    gaps = per_axis(op, "dilation", dilation, count)
    extent = tuple(d * (k - 1) + 1 for k, d in zip(kernel, gaps))
    pairs = _pairs(op, padding, x_shape[2:], extent, steps)
    extra = per_axis(op, "output_padding", output_padding, count, least=0)
    found = Transposed(Windows(kernel, steps, pairs, gaps), extra)
    for n, s, e, (low, high) in zip(x_shape[2:], steps, extent, found.crop):
        if n is not None and (n - 1) * s + e <= low + high:
            raise ShapeError(
                f"{op}: padding: got {padding!r} for x of shape {tuple(x_shape)}, of whose result "
                "nothing is left"
            )
    return found


def _check_groups_and_bias(
    op: str, groups: Any, bias: Any, rows: int, *, is_share: bool = False
) -> None:
    check_kind(op, "groups", "int", groups)
    if groups < 1:
        raise ArgumentError(f"{op}: groups: got {groups}, expected at least 1")
    channels = rows * groups if is_share else rows
    if bias is not None and tuple(bias.shape) != (channels,):
        raise ShapeError(
            f"{op}: bias: got shape {tuple(bias.shape)}, expected ({channels},), one for each channel "
            "of the result"
        )


def check_rank(op: str, name: str, layout: str, shape: Sequence[int], count: int) -> None:
    """Raise ShapeError unless `shape` has `count` spatial axes after two others."""
    if len(shape) != count + 2:
        raise ShapeError(
            f"{op}: {name} has {len(shape)} axes, shape {tuple(shape)}, expected {count + 2}: "
            f"{layout} with {count} spatial"
        )


def pooling(
    op: str,
    count: int,
    x_shape: Sequence[int],
    kernel: Ints,
    *,
    stride: Ints | None,
    padding: Padding,
    dilation: Ints = 1,
    ceil_mode: bool,
    divisor: int | None = None,
) -> Windows:
    """The windows of a pooling, with checks of the rank and of the divisor.

    Raises:
        ArgumentError: `divisor` is 0.
        ShapeError: `x` has another rank, or the window is larger than the padded input.
    """
    check_rank(op, "x", "(batch, channels, *spatial)", x_shape, count)
    check_not_zero(op, "divisor_override", divisor)
    return settings(
        op,
        x_shape[2:],
        kernel,
        stride=kernel if stride is None else stride,
        padding=padding,
        dilation=dilation,
        ceil_mode=ceil_mode,
    )


def channels_last_pooling(op: str, x_shape: Sequence[int], kernel: Ints, **options: Any) -> Windows:
    """The windows of a pooling of an array whose channels are the last axis; see `pooling`."""
    shape = (x_shape[0], x_shape[-1], *x_shape[1:-1])
    return pooling(op, len(shape) - 2, shape, kernel, **options)


def is_dense(dilation: Ints, count: int) -> bool:
    """Whether windows of `count` axes have no gaps."""
    return dilation == 1 if isinstance(dilation, int) else tuple(dilation) == (1,) * count


def is_less_than_kernel(padding: Padding, kernel_size: Ints) -> bool:
    """Whether every window overlaps the input."""
    if isinstance(padding, str):
        return True
    pads = [padding] if isinstance(padding, int) else padding
    sizes = [kernel_size] if isinstance(kernel_size, int) else kernel_size
    return max(p if isinstance(p, int) else max(p) for p in pads) < min(sizes)


def counts(at: Windows, sizes: Sequence[int], *, count_include_pad: bool) -> list[list[int]] | None:
    """For each axis, the number of elements in the mean of each window; one if all are whole.

    Elements added by ``ceil_mode`` do not count. None: the numbers depend on open sizes.
    """
    found = []
    rows = zip(sizes, at.padding, at.overhang, at.kernel, at.stride, at.extent)
    for n, (low, high), extra, k, s, extent in rows:
        is_fixed = [isinstance(number, int) for number in (low, high, extra, n)]
        if (
            is_fixed[2]
            and not extra
            and (count_include_pad or (all(is_fixed[:2]) and not low + high))
        ):
            found.append([k])
            continue
        if not all(is_fixed):
            return None
        windows = (n + low + high - extent) // s + 1
        first, end = (0, low + n + high - extra) if count_include_pad else (low, low + n)
        # A window of padding only has the sum 0, for every divisor.
        found.append([max(min(i * s + k, end) - max(i * s, first), 1) for i in range(windows)])
    return found


def channels_are_last(name: str, parameter: str, layout: str) -> bool:
    """Whether the channels are the last axis.

    Raises:
        ArgumentError: the layout is unknown.
    """
    if layout not in _LAYOUTS:
        raise ArgumentError(
            f"{name}: {parameter}: got {layout!r}, expected one of {', '.join(_LAYOUTS)}"
        )
    return layout == "channels_last"


def spatial_axes(name: str, x: Any, data_format: str) -> int:
    """The number of spatial axes of a batch of arrays with channels.

    Raises:
        ArgumentError: the layout is unknown.
        ShapeError: the number is not 1, 2 or 3.
    """
    channels_are_last(name, "data_format", data_format)
    count = len(x.shape) - 2
    if not 1 <= count <= 3:
        raise ShapeError(
            f"{name}: x has shape {tuple(x.shape)}, expected a batch, channels and one to three "
            "spatial axes"
        )
    return count
