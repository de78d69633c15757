"""Products of arrays, and convolutions.

Upstream: https://docs.jax.dev/en/latest/_autosummary/jax.lax.dot_general.html and
https://docs.jax.dev/en/latest/_autosummary/jax.lax.conv_general_dilated.html
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import nestarray as na
from nestarray import dtypes
from nestarray.errors import UnsupportedError
from nestarray.frontends.jax.lax import windows
from nestarray.frontends.jax.lax.settings import (
    ConvGeneralDilatedDimensionNumbers,
    DotDimensionNumbers,
    PrecisionLike,
)
from nestarray.frontends.jax.lax.shaping import pad
from nestarray.typing import Array

__all__ = [
    "ConvDimensionNumbers", "batch_matmul", "conv", "conv_dimension_numbers",
    "conv_general_dilated", "conv_general_dilated_local", "conv_general_dilated_patches",
    "conv_general_permutations", "conv_general_shape_tuple", "conv_shape_tuple", "conv_transpose",
    "conv_transpose_shape_tuple", "conv_with_general_padding", "dot", "dot_general",
    "padtype_to_pads",
]  # fmt: skip

Dimensions = Sequence[int]


def dot_general(
    lhs: Array,
    rhs: Array,
    dimension_numbers: DotDimensionNumbers,
    precision: PrecisionLike = None,
    preferred_element_type: Any = None,
) -> Array:
    """Σ lhs · rhs over contracted axes; the result has batch axes, axes of lhs, axes of rhs."""
    (over_l, over_r), (batch_l, batch_r) = dimension_numbers
    if preferred_element_type is None:
        own, other = dtypes.dtype_of(lhs), dtypes.dtype_of(rhs)
        preferred_element_type = own if _width(own) >= _width(other) else other
    lhs, rhs = _cast(lhs, preferred_element_type), _cast(rhs, preferred_element_type)
    rank_l, rank_r = len(na.shape(lhs)), len(na.shape(rhs))
    is_matmul = not batch_l and rank_r == 2 and tuple(over_l) == (rank_l - 1,)
    if is_matmul and tuple(over_r) == (0,) and rank_l >= 1:
        return na.matmul(lhs, rhs)
    letters = iter("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    of_l = [next(letters) for _ in range(rank_l)]
    of_r = [""] * rank_r
    for i, j in (*zip(over_l, over_r, strict=True), *zip(batch_l, batch_r, strict=True)):
        of_r[j] = of_l[i]
    of_r = [letter or next(letters) for letter in of_r]
    kept_l = [x for i, x in enumerate(of_l) if i not in (*over_l, *batch_l)]
    kept_r = [x for i, x in enumerate(of_r) if i not in (*over_r, *batch_r)]
    result = "".join([*[of_l[i] for i in batch_l], *kept_l, *kept_r])
    return na.einsum(f"{''.join(of_l)},{''.join(of_r)}->{result}", lhs, rhs)


def _cast(x: Array, dtype: Any) -> Array:
    return x if dtypes.dtype_of(x) is dtypes.as_dtype(dtype) else na.astype(x, dtype)


def _width(dtype: dtypes.DType) -> tuple[int, int]:
    """The sort key of dtypes: the product has the largest dtype of its factors."""
    return {"float": 1, "complex": 2}.get(dtype.kind, 0), dtype.bits


def conv_general_dilated(
    lhs: Array,
    rhs: Array,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: tuple[Any, Any, Any] | None = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: PrecisionLike = None,
    preferred_element_type: Any = None,
) -> Array:
    """A convolution of any layout.

    Args:
        lhs, rhs: the images and the kernels.
        window_strides, lhs_dilation, rhs_dilation: one number for each spatial axis.
        padding: (before, after) of each spatial axis, "SAME", "SAME_LOWER" or "VALID".
        dimension_numbers: for images (batch, channels, spatial axes), for kernels (outputs,
            inputs, spatial axes), and for the result; by default in this order. Or letters of the
            axes, ``("NHWC", "HWIO", "NHWC")``.
        feature_group_count: groups of channels.
        batch_group_count: groups of images.
        precision: not used.
        preferred_element_type: dtype of the result.
    """
    if preferred_element_type is not None:
        lhs, rhs = _cast(lhs, preferred_element_type), _cast(rhs, preferred_element_type)
    count = len(window_strides)
    order = tuple(range(count + 2))
    lhs_spec, rhs_spec, out_spec = conv_dimension_numbers(order, order, dimension_numbers)
    is_spread = lhs_dilation is not None and any(n != 1 for n in lhs_dilation)
    if isinstance(padding, str) and (padding != "SAME" or is_spread):
        sizes = [na.shape(lhs)[i] for i in lhs_spec[2:]]
        sizes = [(n - 1) * d + 1 for n, d in zip(sizes, lhs_dilation or (1,) * count, strict=True)]
        window = [na.shape(rhs)[i] for i in rhs_spec[2:]]
        window = [
            (n - 1) * d + 1 for n, d in zip(window, rhs_dilation or (1,) * count, strict=True)
        ]
        padding = padtype_to_pads(sizes, window, window_strides, padding)
    shape = _result_shape(
        [na.shape(lhs)[i] for i in lhs_spec], [na.shape(rhs)[i] for i in rhs_spec],
        window_strides, padding, lhs_dilation, rhs_dilation,
    )  # fmt: skip
    if any(type(n) is int and n == 0 for n in shape[2:]):  # no window fits
        sizes = dict(zip(out_spec, [shape[0] // batch_group_count, *shape[1:]], strict=True))
        empty = tuple([sizes[i] for i in order])
        return na.zeros(empty, dtype=dtypes.dtype_of(lhs), like=lhs)
    last_l = (lhs_spec[0], *lhs_spec[2:], lhs_spec[1])
    last_r = (*rhs_spec[2:], rhs_spec[1], rhs_spec[0])
    is_last = last_l == order and last_r == order
    if not is_last:
        lhs, rhs = na.permute_dims(lhs, tuple(lhs_spec)), na.permute_dims(rhs, tuple(rhs_spec))
    spatial = range(1, count + 1) if is_last else range(2, count + 2)
    if lhs_dilation is not None and is_spread:
        config = [(0, 0, 0)] * (count + 2)
        for axis, n in zip(spatial, lhs_dilation, strict=True):
            config[axis] = (0, 0, n - 1)
        lhs = pad(lhs, 0, config)
    if not isinstance(padding, str) and any(n < 0 for pair in padding for n in pair):
        config = [(0, 0, 0)] * (count + 2)
        for axis, (low, high) in zip(spatial, padding, strict=True):
            config[axis] = (low, high, 0)
        lhs, padding = pad(lhs, 0, config), [(0, 0)] * count
    if batch_group_count != 1:
        lhs, rhs = _with_channel_groups(lhs, rhs, batch_group_count, is_last)
    settings: dict[str, Any] = {
        "stride": tuple(window_strides),
        "padding": "same" if isinstance(padding, str) else [tuple(pair) for pair in padding],
        "dilation": tuple(rhs_dilation or (1,) * count),
        "groups": feature_group_count * batch_group_count,
    }
    if is_last:
        settings |= {"data_format": "channels_last", "weight_format": "channels_last"}
        found, made = na.conv(lhs, rhs, **settings), (0, count + 1, *range(1, count + 1))
    else:
        found, made = na.conv(lhs, rhs, **settings), order
    # axis made[i] of the result is axis out_spec[i] upstream
    places = dict(zip(out_spec, made, strict=True))
    permutation = tuple([places[i] for i in range(count + 2)])
    return found if permutation == order else na.permute_dims(found, permutation)


def _result_shape(
    lhs: Sequence[int],
    rhs: Sequence[int],
    strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None,
    rhs_dilation: Sequence[int] | None,
) -> tuple[int, ...]:
    """(batch, outputs, spatial sizes) of a convolution of shapes in this order; open sizes remain."""
    if isinstance(padding, str):  # "SAME"
        return (lhs[0], rhs[0], *[-(-n // s) for n, s in zip(lhs[2:], strides, strict=True)])
    ones = (1,) * len(strides)
    found = [lhs[0], rhs[0]]
    for n, k, stride, pads, d, e in zip(
        lhs[2:], rhs[2:], strides, padding, lhs_dilation or ones, rhs_dilation or ones, strict=True
    ):
        if isinstance(n, int):
            size = ((n - 1) * d + 1 if n else 0) + sum(pads)
            n = max((size - (k - 1) * e - 1) // stride + 1, 0)
        found.append(n)
    return tuple(found)


class ConvDimensionNumbers(NamedTuple):
    """The axes of images, kernels and results of a convolution; see `conv_general_dilated`."""

    lhs_spec: Dimensions
    rhs_spec: Dimensions
    out_spec: Dimensions


def conv_dimension_numbers(
    lhs_shape: Sequence[int], rhs_shape: Sequence[int], dimension_numbers: Any
) -> ConvDimensionNumbers:
    """The axes of a convolution as numbers, of letters or None."""
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    order = tuple(range(len(lhs_shape)))
    if dimension_numbers is None:
        return ConvDimensionNumbers(order, order, order)
    if not isinstance(dimension_numbers[0], str):
        return ConvDimensionNumbers(*map(tuple, dimension_numbers))
    lhs, rhs, out = dimension_numbers
    spatial = [letter for letter in rhs if letter not in "IO"]

    def places(axes: str, first: str, second: str) -> tuple[int, ...]:
        return tuple([axes.index(letter) for letter in (first, second, *spatial)])

    return ConvDimensionNumbers(places(lhs, "N", "C"), places(rhs, "O", "I"), places(out, "N", "C"))


def padtype_to_pads(
    in_shape: Sequence[int],
    window_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: str,
) -> list[tuple[int, int]]:
    """(before, after) of each axis for "SAME", "SAME_LOWER" or "VALID"."""
    return windows.pads_of(padding, in_shape, window_shape, window_strides)


def conv(
    lhs: Array,
    rhs: Array,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    precision: PrecisionLike = None,
    preferred_element_type: Any = None,
) -> Array:
    """A convolution of images (batch, channels, …) and kernels (outputs, inputs, …)."""
    settings = {"preferred_element_type": preferred_element_type}
    return conv_general_dilated(lhs, rhs, window_strides, padding, **settings)


def conv_with_general_padding(
    lhs: Array,
    rhs: Array,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None,
    rhs_dilation: Sequence[int] | None,
    precision: PrecisionLike = None,
    preferred_element_type: Any = None,
) -> Array:
    """`conv` with dilations."""
    settings = {"preferred_element_type": preferred_element_type}
    return conv_general_dilated(
        lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation, **settings
    )


def conv_transpose(
    lhs: Array,
    rhs: Array,
    strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    transpose_kernel: bool = False,
    precision: PrecisionLike = None,
    preferred_element_type: Any = None,
    use_consistent_padding: bool = False,
) -> Array:
    """A convolution with fractional strides, by default channels last.

    Args:
        lhs, rhs: the images and the kernels.
        strides: the steps between the images' elements.
        padding: of `conv_general_dilated`, for the dilated images.
        rhs_dilation: the steps between the kernels' elements.
        dimension_numbers: of `conv_general_dilated`.
        transpose_kernel: whether the kernels are flipped and their inputs and outputs exchanged,
            as in the gradient of a convolution.
        precision: not used.
        preferred_element_type: dtype of the result.
        use_consistent_padding: whether numbers in `padding` are of the convolution that this one
            transposes.
    """
    count = len(na.shape(lhs)) - 2
    dilation = tuple(rhs_dilation or (1,) * count)
    if dimension_numbers is None:
        spatial = tuple(range(1, count + 1))
        outer, kernel = (0, count + 1, *spatial), (count + 1, count, *range(count))
        dimension_numbers = outer, kernel, outer
    numbers = conv_dimension_numbers(na.shape(lhs), na.shape(rhs), dimension_numbers)
    sizes = [na.shape(rhs)[i] for i in numbers.rhs_spec[2:]]
    extents = [(n - 1) * d + 1 for n, d in zip(sizes, dilation, strict=True)]
    if isinstance(padding, str) and padding in ("SAME", "VALID"):
        pairs = zip(extents, strides, strict=True)
        padding = [_transposed_pads(k, s, padding) for k, s in pairs]
    elif use_consistent_padding:
        rows = zip(extents, padding, strict=True)
        padding = [(k - 1 - low, k - 1 - high) for k, (low, high) in rows]
    if transpose_kernel:
        rhs = na.flip(rhs, axis=tuple(numbers.rhs_spec[2:]))
        outputs, inputs, *rest = numbers.rhs_spec
        numbers = numbers._replace(rhs_spec=(inputs, outputs, *rest))
    return conv_general_dilated(
        lhs, rhs, (1,) * count, padding, strides, dilation, numbers,
        preferred_element_type=preferred_element_type,
    )  # fmt: skip


def _transposed_pads(size: int, stride: int, padding: str) -> tuple[int, int]:
    if padding == "VALID":
        return size - 1, size - 1 + max(stride - size, 0)
    total = size + stride - 2
    before = size - 1 if stride > size - 1 else -(-total // 2)
    return before, total - before


def dot(
    lhs: Array,
    rhs: Array,
    *,
    dimension_numbers: DotDimensionNumbers | None = None,
    precision: PrecisionLike = None,
    preferred_element_type: Any = None,
) -> Array:
    """`dot_general`, by default over the last axis of `lhs` and the first of `rhs`."""
    if dimension_numbers is None:
        dimension_numbers = ((len(na.shape(lhs)) - 1,), (0,)), ((), ())
    return dot_general(lhs, rhs, dimension_numbers, None, preferred_element_type)


def batch_matmul(lhs: Array, rhs: Array, precision: PrecisionLike = None) -> Array:
    """The products of matrices, with equal batch axes."""
    rank = len(na.shape(lhs))
    batch = tuple(range(rank - 2))
    return dot_general(lhs, rhs, (((rank - 1,), (rank - 2,)), (batch, batch)))


def _with_channel_groups(lhs: Array, rhs: Array, groups: int, is_last: bool) -> tuple[Array, Array]:
    """Groups of images as groups of channels."""
    if is_last:
        raise UnsupportedError(
            "conv_general_dilated: batch_group_count: channels have to be the second axis"
        )
    batch, channels, *sizes = na.shape(lhs)
    parts = na.reshape(lhs, (groups, batch // groups, channels, *sizes))
    parts = na.permute_dims(parts, (1, 0, 2, *range(3, 3 + len(sizes))))
    return na.reshape(parts, (batch // groups, groups * channels, *sizes)), rhs


def conv_general_dilated_patches(
    lhs: Array,
    filter_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers | None = None,
    precision: PrecisionLike = None,
    preferred_element_type: Any = None,
) -> Array:
    """The elements in each place of a window, as channels: of one channel after the other."""
    filter_shape = tuple(filter_shape)
    rank = len(filter_shape) + 2
    order = tuple(range(rank))
    numbers = conv_dimension_numbers(order, order, dimension_numbers)
    channels, size = na.shape(lhs)[numbers.lhs_spec[1]], math.prod(filter_shape)
    kernel = na.reshape(
        na.eye(size, dtype=dtypes.dtype_of(lhs), like=lhs), (size, 1, *filter_shape)
    )
    kernel = na.tile(kernel, (channels, *[1] * (rank - 1)))
    places = dict(zip(numbers.rhs_spec, order, strict=True))
    return conv_general_dilated(
        lhs, na.permute_dims(kernel, tuple([places[i] for i in order])), window_strides, padding,
        lhs_dilation, rhs_dilation, numbers, channels, preferred_element_type=preferred_element_type,
    )  # fmt: skip


def conv_general_dilated_local(
    lhs: Array,
    rhs: Array,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    filter_shape: Sequence[int],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers | None = None,
    precision: PrecisionLike = None,
) -> Array:
    """A convolution with another kernel at each place of the result.

    Args:
        lhs: the images.
        rhs: the kernels; their spatial axes equal the result's, and their inputs are the
            channels of `conv_general_dilated_patches`.
        window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers: of
            `conv_general_dilated`.
        filter_shape: the spatial sizes of the kernels.
        precision: not used.
    """
    patches = conv_general_dilated_patches(
        lhs, filter_shape, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers
    )
    order = tuple(range(len(na.shape(lhs))))
    _, of_rhs, of_out = conv_dimension_numbers(order, order, dimension_numbers)
    contracted = (of_out[1],), (of_rhs[1],)
    batch = tuple(of_out[2:]), tuple(of_rhs[2:])
    found = dot_general(patches, rhs, (contracted, batch))
    made = [*of_out[2:], of_out[0], of_out[1]]  # spatial axes, images, outputs
    return na.permute_dims(found, tuple([made.index(i) for i in order]))


def conv_general_permutations(
    dimension_numbers: tuple[str, str, str],
) -> tuple[tuple[int, ...], ...]:
    """The axes (batch, channels, …), (outputs, inputs, …), (batch, channels, …) of letters."""
    order = tuple(range(len(dimension_numbers[0])))
    numbers = conv_dimension_numbers(order, order, dimension_numbers)
    return tuple([tuple(axes) for axes in numbers])


def conv_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    strides: Sequence[int],
    pads: str | Sequence[tuple[int, int]],
    batch_group_count: int = 1,
) -> tuple[int, ...]:
    """The shape of a convolution of shapes (batch, channels, …) and (outputs, inputs, …)."""
    if isinstance(pads, str):
        pads = padtype_to_pads(lhs_shape[2:], rhs_shape[2:], strides, pads)
    batch, *rest = _result_shape(lhs_shape, rhs_shape, strides, pads, None, None)
    return (batch // batch_group_count, *rest)


def conv_general_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    dimension_numbers: tuple[str, str, str],
) -> tuple[int, ...]:
    """The shape of a convolution of any layout."""
    lhs, rhs, out = conv_general_permutations(dimension_numbers)
    shape = conv_shape_tuple(
        [lhs_shape[i] for i in lhs], [rhs_shape[i] for i in rhs], window_strides, padding
    )
    return _in_order(shape, out)


def conv_transpose_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    dimension_numbers: tuple[str, str, str],
) -> tuple[int, ...]:
    """The shape of a transposed convolution of any layout."""
    lhs, rhs, out = conv_general_permutations(dimension_numbers)
    images, kernels = [lhs_shape[i] for i in lhs], [rhs_shape[i] for i in rhs]
    if isinstance(padding, str):
        pairs = zip(kernels[2:], window_strides, strict=True)
        padding = [_transposed_pads(k, s, padding) for k, s in pairs]
    sizes = [
        (n - 1) * s - k + 2 + sum(pads)
        for n, k, s, pads in zip(images[2:], kernels[2:], window_strides, padding, strict=True)
    ]
    return _in_order((images[0], kernels[0], *sizes), out)


def _in_order(shape: Sequence[int], axes: Sequence[int]) -> tuple[int, ...]:
    """The size i of `shape` at the place ``axes[i]``."""
    places = dict(zip(axes, shape, strict=True))
    return tuple([places[i] for i in range(len(shape))])
