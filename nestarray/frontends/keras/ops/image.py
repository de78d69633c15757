"""Images, `(height, width, channels)` or in a batch, with the channels last or first.

Upstream: https://keras.io/api/ops/image/
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, DtypeError, ShapeError
from nestarray.frontends.jax import image as jax_image
from nestarray.frontends.keras import config
from nestarray.frontends.keras.ops import core
from nestarray.frontends.keras.ops.nn.convolution import conv, depthwise_conv, each_axis
from nestarray.frontends.keras.promotion import as_array, as_arrays, cast, result_type
from nestarray.frontends.tensorflow.projective import project
from nestarray.frontends.tensorflow.random.stateless import stateless_normal
from nestarray.frontends.unknown_names import public_namespace as _public_namespace
from nestarray.typing import Array

__all__ = [
    "affine_transform", "crop_images", "elastic_transform", "extract_patches", "extract_patches_3d", "gaussian_blur",
    "hsv_to_rgb", "map_coordinates", "pad_images", "perspective_transform", "resize",
    "rgb_to_grayscale", "rgb_to_hsv", "scale_and_translate", "sobel_edges", "ssim",
]  # fmt: skip

_public_namespace(__name__)


def _as_images(op: str, images: Any) -> Array:
    """An image or a batch of images."""
    images = as_array(images)
    if len(na.shape(images)) not in (3, 4):
        raise ShapeError(
            f"{op}: images: got the shape {na.shape(images)}, expected an image or a batch of images"
        )
    return images


def _in_batch(function: Callable[[Array], Array], images: Array, layout: str) -> Array:
    """`function` of `(batch, height, width, channels)`, of images in another form."""
    is_single = len(na.shape(images)) == 3
    batch = na.expand_dims(images, 0) if is_single else images
    if layout == "channels_first":
        batch = na.moveaxis(batch, 1, 3)
    found = function(batch)
    if layout == "channels_first":
        found = na.moveaxis(found, 3, 1)
    return na.squeeze(found, 0) if is_single else found


# -- colours -------------------------------------------------------------------------------------


def rgb_to_grayscale(images: Array, data_format: str | None = None) -> Array:
    """0.2989 red + 0.587 green + 0.114 blue, as one channel; grey images stay."""
    layout = config.layout("rgb_to_grayscale", data_format)
    images = _as_images("rgb_to_grayscale", images)
    axis = -1 if layout == "channels_last" else -3
    channels = na.shape(images)[axis]
    if channels == 1:
        return images
    if channels != 3:
        raise ShapeError(f"rgb_to_grayscale: images: got {channels} channels, expected 1 or 3")
    wide = cast(images, result_type(images, float))
    weights = na.asarray([0.2989, 0.587, 0.114], dtype=dtypes.dtype_of(wide), like=images)
    found = na.expand_dims(na.tensordot(wide, weights, axes=((axis,), (0,))), axis)
    return cast(found, dtypes.dtype_of(images))


def rgb_to_hsv(images: Array, data_format: str | None = None) -> Array:
    """Hue, saturation and value of floating images."""
    return _recoloured("rgb_to_hsv", na.rgb_to_hsv, images, data_format)


def hsv_to_rgb(images: Array, data_format: str | None = None) -> Array:
    """Red, green and blue of floating images."""
    return _recoloured("hsv_to_rgb", na.hsv_to_rgb, images, data_format)


def _recoloured(
    op: str, function: Callable[..., Array], images: Any, data_format: str | None
) -> Array:
    layout = config.layout(op, data_format)
    images = _as_images(op, images)
    if not dtypes.dtype_of(images).is_floating:
        raise DtypeError(f"{op}: images: got {dtypes.dtype_of(images)}, expected floating numbers")
    return function(images, axis=-1 if layout == "channels_last" else -3)


# -- sizes ---------------------------------------------------------------------------------------

_INTERPOLATIONS = {
    "bilinear": "linear",
    "nearest": "nearest-exact",
    "bicubic": "tf-bicubic",
    "area": "tf-area",
    "lanczos3": "lanczos3",
    "lanczos5": "lanczos5",
}


def resize(
    images: Array,
    size: Sequence[int],
    interpolation: str = "bilinear",
    antialias: bool = False,
    crop_to_aspect_ratio: bool = False,
    pad_to_aspect_ratio: bool = False,
    fill_mode: str = "constant",
    fill_value: float = 0.0,
    data_format: str | None = None,
) -> Array:
    """The images in another size, in their dtype.

    Args:
        images: `(height, width, channels)` or a batch, or with the channels first.
        size: the new height and width.
        interpolation: ``"bilinear"``, ``"nearest"``, ``"bicubic"``, ``"area"``, ``"lanczos3"`` or
            ``"lanczos5"``.
        antialias: widen the kernel where the size shrinks.
        crop_to_aspect_ratio: crop the images first, to the aspect ratio of `size`.
        pad_to_aspect_ratio: pad the images first, to the aspect ratio of `size`.
        fill_mode: ``"constant"``, of the padding.
        fill_value: its value.
        data_format: the layout of the images.

    Raises:
        ArgumentError: a setting is unknown, or the images are to be cropped and padded.
    """
    layout = config.layout("resize", data_format)
    images = _as_images("resize", images)
    if interpolation not in _INTERPOLATIONS:
        raise ArgumentError(
            f"resize: interpolation: got {interpolation!r}, expected one of "
            f"{', '.join(_INTERPOLATIONS)}"
        )
    if fill_mode != "constant":
        raise ArgumentError(f"resize: fill_mode: got {fill_mode!r}, expected 'constant'")
    if crop_to_aspect_ratio and pad_to_aspect_ratio:
        raise ArgumentError("resize: crop_to_aspect_ratio and pad_to_aspect_ratio are both True")
    if len(size) != 2 or min(size) <= 0:
        raise ArgumentError(f"resize: size: got {size!r}, expected two positive integers")

    def resized(batch: Array) -> Array:
        if crop_to_aspect_ratio:
            batch = _cropped(batch, size)
        if pad_to_aspect_ratio:
            batch = _padded(batch, size, fill_value)
        wide = batch
        if interpolation != "nearest":
            wide = na.astype(batch, dtypes.float32)
        return na.interpolate(
            wide,
            size=tuple(size),
            mode=_INTERPOLATIONS[interpolation],
            antialias=antialias and interpolation not in ("nearest", "area"),
            data_format="channels_last",
        )

    found = _in_batch(resized, images, layout)
    dtype = dtypes.dtype_of(images)
    if dtype.is_integer:
        found = na.round(found) if dtypes.dtype_of(found).is_inexact else found
    return core.saturate_cast(found, dtype)


def _cropped(images: Array, size: Sequence[int]) -> Array:
    """The middle of images, in the aspect ratio of `size`."""
    height, width = na.shape(images)[1:3]
    rows = max(min(height, int(width * size[0] / size[1])), 1)
    columns = max(min(width, int(height * size[1] / size[0])), 1)
    top, left = int((height - rows) / 2), int((width - columns) / 2)
    return images[:, top : top + rows, left : left + columns]


def _padded(images: Array, size: Sequence[int], fill_value: float) -> Array:
    """Images with borders of one width on both sides, near the aspect ratio of `size`."""
    height, width = na.shape(images)[1:3]
    rows = max(height, int(width * size[0] / size[1]))
    columns = max(width, int(height * size[1] / size[0]))
    top, left = int((rows - height) / 2), int((columns - width) / 2)
    widths = [(0, 0), (top, top), (left, left), (0, 0)]
    return na.pad(images, widths, constant_values=fill_value)


def scale_and_translate(
    images: Array,
    output_shape: Sequence[int],
    scale: Array,
    translation: Array,
    spatial_dims: Sequence[int],
    method: str,
    antialias: bool = True,
) -> Array:
    """The images at positions scaled by `scale` and moved by `translation`; 0 outside of them.

    Args:
        images: any shape; integers are rounded and stay within their range.
        output_shape: the length of each axis of the result.
        scale, translation: one number for each of `spatial_dims`.
        spatial_dims: the axes to resize.
        method: ``"linear"``, ``"cubic"``, ``"lanczos3"`` or ``"lanczos5"``; also ``"bilinear"``,
            ``"trilinear"``, ``"bicubic"`` and ``"tricubic"``.
        antialias: whether the kernel is widened where `scale` is below 1.
    """
    images, scale, translation = as_arrays(images, scale, translation)
    axes = [axis % len(na.shape(images)) for axis in spatial_dims]
    found = jax_image.scale_and_translate(
        images, output_shape, axes, scale, translation, method, antialias
    )
    if not dtypes.dtype_of(images).is_integer:
        return found
    wide = na.astype(images, dtypes.dtype_of(found))
    limited = na.clip(na.round(found), na.min(wide), na.max(wide))
    return cast(limited, dtypes.dtype_of(images))


def _sides(
    op: str, names: Sequence[str], values: Sequence[int | None], length: int, sign: int
) -> tuple[int, int, int]:
    """The sizes before and after an axis of a length, and its new length; one of them is None.

    Args:
        op: the name of the function, for errors.
        names: the names of the three settings.
        values: the settings.
        length: the present length.
        sign: 1 to crop, −1 to pad.

    Raises:
        ArgumentError: not exactly two settings are given, or one is negative.
    """
    if sum(v is None for v in values) != 1:
        raise ArgumentError(f"{op}: {', '.join(names)}: got {list(values)}, expected two of three")
    before, after, target = values
    if target is None:
        target = length - sign * ((before or 0) + (after or 0))
    both = sign * (length - target)
    before = both - (after or 0) if before is None else before
    after = both - before if after is None else after
    for name, value in zip(names, (before, after, target), strict=True):
        if value < 0:
            raise ArgumentError(f"{op}: {name}: got {value}, expected at least 0")
    return before, after, target


def pad_images(
    images: Array,
    top_padding: int | None = None,
    left_padding: int | None = None,
    bottom_padding: int | None = None,
    right_padding: int | None = None,
    target_height: int | None = None,
    target_width: int | None = None,
    data_format: str | None = None,
) -> Array:
    """Zeros around images; of each direction, two of three settings are given.

    Raises:
        ArgumentError: other settings are given, or a padding is negative.
    """
    layout = config.layout("pad_images", data_format)
    images = _as_images("pad_images", images)
    first = len(na.shape(images)) - (3 if layout == "channels_last" else 2)
    height, width = na.shape(images)[first : first + 2]
    rows = ("top_padding", "bottom_padding", "target_height")
    columns = ("left_padding", "right_padding", "target_width")
    given = (top_padding, bottom_padding, target_height)
    top, bottom, _ = _sides("pad_images", rows, given, height, -1)
    given = (left_padding, right_padding, target_width)
    left, right, _ = _sides("pad_images", columns, given, width, -1)
    widths = [(0, 0)] * len(na.shape(images))
    widths[first : first + 2] = [(top, bottom), (left, right)]
    return na.pad(images, widths)


def crop_images(
    images: Array,
    top_cropping: int | None = None,
    left_cropping: int | None = None,
    bottom_cropping: int | None = None,
    right_cropping: int | None = None,
    target_height: int | None = None,
    target_width: int | None = None,
    data_format: str | None = None,
) -> Array:
    """Images without their borders; of each direction, two of three settings are given.

    Raises:
        ArgumentError: other settings are given, or a size is negative.
    """
    layout = config.layout("crop_images", data_format)
    images = _as_images("crop_images", images)
    first = len(na.shape(images)) - (3 if layout == "channels_last" else 2)
    height, width = na.shape(images)[first : first + 2]
    names = ("top_cropping", "bottom_cropping", "target_height")
    given = (top_cropping, bottom_cropping, target_height)
    top, _, rows = _sides("crop_images", names, given, height, 1)
    names = ("left_cropping", "right_cropping", "target_width")
    given = (left_cropping, right_cropping, target_width)
    left, _, columns = _sides("crop_images", names, given, width, 1)
    index = [slice(None)] * len(na.shape(images))
    index[first] = slice(top, top + rows)
    index[first + 1] = slice(left, left + columns)
    return na.getitem(images, tuple(index))


# -- patches -------------------------------------------------------------------------------------


def extract_patches(
    images: Array,
    size: int | Sequence[int],
    strides: Any = None,
    dilation_rate: int = 1,
    padding: str = "valid",
    data_format: str | None = None,
) -> Array:
    """The patches under a sliding window, as channels: of images, or with three sizes of volumes."""
    sizes = each_axis(size, 2)
    return _patches("extract_patches", images, sizes, strides, dilation_rate, padding, data_format)


def extract_patches_3d(
    volumes: Array,
    size: int | Sequence[int],
    strides: Any = None,
    dilation_rate: int = 1,
    padding: str = "valid",
    data_format: str | None = None,
) -> Array:
    """The patches of volumes under a sliding window, as channels."""
    sizes = each_axis(size, 3)
    return _patches(
        "extract_patches_3d", volumes, sizes, strides, dilation_rate, padding, data_format
    )


def _patches(
    op: str,
    images: Any,
    size: tuple[int, ...],
    strides: Any,
    dilation_rate: Any,
    padding: str,
    data_format: str | None,
) -> Array:
    """A convolution whose kernels each have one 1."""
    layout, rank = config.layout(op, data_format), len(size)
    images = as_array(images)
    if rank not in (2, 3) or len(na.shape(images)) not in (rank + 1, rank + 2):
        raise ShapeError(
            f"{op}: got the size {size} and the shape {na.shape(images)}, expected one size for each "
            "spatial axis"
        )
    channels = na.shape(images)[-1 if layout == "channels_last" else -rank - 1]
    count = channels
    for length in size:
        count *= length
    kernel = na.reshape(
        na.eye(count, dtype=dtypes.dtype_of(images), like=images), (*size, channels, count)
    )
    is_single = len(na.shape(images)) == rank + 1
    batch = na.expand_dims(images, 0) if is_single else images
    found = conv(batch, kernel, strides or size, padding, layout, dilation_rate)
    return na.squeeze(found, 0) if is_single else found


# -- filters -------------------------------------------------------------------------------------


def gaussian_blur(
    images: Array,
    kernel_size: Sequence[int] = (3, 3),
    sigma: Sequence[float] = (1.0, 1.0),
    data_format: str | None = None,
) -> Array:
    """The images, convolved with normal weights; zeros surround them."""
    layout = config.layout("gaussian_blur", data_format)
    images = _as_images("gaussian_blur", images)
    dtype = dtypes.dtype_of(images)
    columns, rows = (
        _normal_weights(int(n), s, dtype, images) for n, s in zip(kernel_size, sigma, strict=True)
    )
    channels = na.shape(images)[-1 if layout == "channels_last" else -3]
    kernel = na.multiply(rows[:, None, None, None], columns[:, None, None])
    kernel = na.reshape(kernel, (int(kernel_size[0]), int(kernel_size[1]), 1, 1))
    kernel = na.tile(kernel, (1, 1, channels, 1))
    return _in_batch(
        lambda x: depthwise_conv(x, kernel, 1, "same", "channels_last"), images, layout
    )


def _normal_weights(size: int, sigma: Any, dtype: Any, like: Array) -> Array:
    """The density of a normal distribution at the elements of a window, with sum 1."""
    places = na.subtract(na.arange(size, dtype=dtype, like=like), (size - 1) / 2)
    found = na.exp(na.multiply(na.square(na.divide(places, sigma)), -0.5))
    return na.divide(found, na.sum(found))


def sobel_edges(images: Array, data_format: str | None = None) -> Array:
    """The vertical and the horizontal derivatives of images, along a new last axis."""
    layout = config.layout("sobel_edges", data_format)
    images = as_array(images)
    if layout == "channels_first":
        images = na.moveaxis(images, 1, 3)
    padded = na.pad(images, [(0, 0), (1, 1), (1, 1), (0, 0)], mode="reflect")
    height, width = na.shape(images)[1:3]

    def smooth(x: Array, axis: int, length: int) -> Array:
        before, here, after = (_part(x, axis, i, length) for i in range(3))
        return na.add(na.add(before, after), na.multiply(here, 2))

    def slope(x: Array, axis: int, length: int) -> Array:
        return na.subtract(_part(x, axis, 2, length), _part(x, axis, 0, length))

    edges = [
        smooth(slope(padded, 1, height), 2, width),
        slope(smooth(padded, 1, height), 2, width),
    ]
    found = na.stack(edges, axis=-1)
    return na.moveaxis(found, 3, 1) if layout == "channels_first" else found


def _part(x: Array, axis: int, start: int, length: int) -> Array:
    return na.getitem(x, (slice(None),) * axis + (slice(start, start + length),))


def ssim(
    image1: Array,
    image2: Array,
    max_val: float = 1.0,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
    data_format: str | None = None,
) -> Array:
    """The structural similarity of images, 1 for equal ones; `na.ssim` has the formula."""
    layout = config.layout("ssim", data_format)
    first, second = (_as_images("ssim", x) for x in as_arrays(image1, image2))
    dtype = dtypes.dtype_of(first)
    wide = [cast(x, result_type(dtype, float)) for x in (first, second)]
    if layout == "channels_last":
        wide = [na.moveaxis(x, -1, -3) for x in wide]
    found = na.ssim(
        *wide, max_value=max_val, kernel_size=filter_size, sigma=filter_sigma, k1=k1, k2=k2
    )
    return cast(found, dtype)


# -- transforms ----------------------------------------------------------------------------------


def _mode(op: str, interpolation: str) -> str:
    if interpolation not in ("nearest", "bilinear"):
        raise ArgumentError(
            f"{op}: interpolation: got {interpolation!r}, expected 'nearest' or 'bilinear'"
        )
    return interpolation.upper()


def affine_transform(
    images: Array,
    transform: Array,
    interpolation: str = "bilinear",
    fill_mode: str = "constant",
    fill_value: float = 0,
    data_format: str | None = None,
) -> Array:
    """The images at ((a x + b y + c) / k, (d x + e y + f) / k), with k = g x + h y + 1.

    Args:
        images: `(height, width, channels)` or a batch, or with the channels first.
        transform: a to h, `(8,)` or `(batch, 8)`.
        interpolation: ``"nearest"`` or ``"bilinear"``.
        fill_mode: ``"constant"``, ``"nearest"``, ``"wrap"`` or ``"reflect"``.
        fill_value: the value outside of an image, in mode ``"constant"``.
        data_format: the layout of the images.

    Raises:
        ArgumentError: `interpolation` or `fill_mode` is unknown.
    """
    op = "affine_transform"
    layout, mode = config.layout(op, data_format), _mode(op, interpolation)
    images = _as_images(op, images)
    transform = as_array(transform, dtypes.float32, images)
    if len(na.shape(transform)) == 1:
        transform = na.expand_dims(transform, 0)

    def transformed(batch: Array) -> Array:
        size = na.shape(batch)[1:3]
        return project(batch, transform, size, fill_value, mode, fill_mode.upper())

    return _in_batch(transformed, images, layout)


def perspective_transform(
    images: Array,
    start_points: Array,
    end_points: Array,
    interpolation: str = "bilinear",
    fill_value: float = 0,
    data_format: str | None = None,
) -> Array:
    """The images under the projective map that moves four points to four others.

    Args:
        images: `(height, width, channels)` or a batch, or with the channels first.
        start_points, end_points: the corners (x, y), `(4, 2)` or `(batch, 4, 2)`.
        interpolation: ``"nearest"`` or ``"bilinear"``.
        fill_value: the value outside of an image.
        data_format: the layout of the images.

    Raises:
        ShapeError: the points do not have these shapes.
    """
    start, end = (as_array(p, dtypes.float32, images) for p in (start_points, end_points))
    if na.shape(start) != na.shape(end) or na.shape(start)[-2:] != (4, 2):
        raise ShapeError(
            f"perspective_transform: start_points and end_points: got the shapes {na.shape(start)} and "
            f"{na.shape(end)}, expected (4, 2) or (batch, 4, 2)"
        )
    if len(na.shape(start)) == 2:
        start, end = na.expand_dims(start, 0), na.expand_dims(end, 0)
    return affine_transform(
        images,
        _homography(start, end),
        interpolation,
        "constant",
        fill_value,
        data_format,
    )


def _homography(start: Array, end: Array) -> Array:
    """The projective map from `end` to `start`, `(batch, 8)`."""
    x, y = end[..., 0], end[..., 1]
    zero, one = na.zeros_like(x), na.ones_like(x)
    u, v = start[..., 0], start[..., 1]
    rows_u = na.stack([x, y, one, zero, zero, zero, -u * x, -u * y], axis=-1)
    rows_v = na.stack([zero, zero, zero, x, y, one, -v * x, -v * y], axis=-1)
    matrix = na.reshape(na.stack([rows_u, rows_v], axis=2), (-1, 8, 8))
    return na.squeeze(na.solve(matrix, na.reshape(start, (-1, 8, 1))), -1)


def elastic_transform(
    images: Array,
    alpha: float = 20.0,
    sigma: float = 5.0,
    interpolation: str = "bilinear",
    fill_mode: str = "reflect",
    fill_value: float = 0.0,
    seed: Any = None,
    data_format: str | None = None,
) -> Array:
    """The images at positions moved by smooth random numbers.

    Args:
        images: floating, `(height, width, channels)` or a batch, or with the channels first.
        alpha: the factor of the random numbers.
        sigma: the standard deviation of the random numbers, and of the weights that smooth them.
        interpolation: ``"nearest"`` or ``"bilinear"``.
        fill_mode: as for `map_coordinates`.
        fill_value: the value outside, in mode ``"constant"``.
        seed: an integer; the numbers are upstream's.
        data_format: the layout of the images.

    Raises:
        ArgumentError: `seed` is None: there is no hidden state from which to draw.
    """
    op = "elastic_transform"
    layout = config.layout(op, data_format)
    images = _as_images(op, images)
    order = ("NEAREST", "BILINEAR").index(_mode(op, interpolation))
    if not isinstance(seed, int):
        raise ArgumentError(f"{op}: seed: got {seed!r}, expected an integer")
    size = 6 * int(sigma) | 1

    def transformed(batch: Array) -> Array:
        count, height, width, channels = na.shape(batch)
        dtype = dtypes.dtype_of(batch)
        noise = stateless_normal((count, height, width), [seed, 0], dtype=dtype)
        noise = na.multiply(na.to_backend(noise, na.backend_of(batch)), sigma)
        moves = gaussian_blur(noise[..., None], (size, size), (sigma, sigma), "channels_last")
        moves = na.multiply(moves[..., 0], alpha)
        rows, columns = (na.arange(n, dtype=dtype, like=batch) for n in (height, width))
        y, x = na.add(rows[:, None], moves), na.add(columns, moves)
        results = [
            na.stack(
                [
                    map_coordinates(
                        batch[i, ..., j], na.stack([y[i], x[i]]), order, fill_mode, fill_value
                    )
                    for j in range(channels)
                ],
                axis=-1,
            )
            for i in range(count)
        ]
        return na.stack(results)

    return _in_batch(transformed, images, layout)


def map_coordinates(
    inputs: Array, coordinates: Array, order: int, fill_mode: str = "constant", fill_value: Any = 0
) -> Array:
    """The elements at fractional coordinates, in units of elements.

    Args:
        inputs: any shape.
        coordinates: `(rank of inputs, *out)`.
        order: 1 interpolates linearly, 0 takes the nearest element.
        fill_mode: ``"constant"``, ``"nearest"``, ``"wrap"``, ``"mirror"`` or ``"reflect"``.
        fill_value: the value outside, in mode ``"constant"``.

    Raises:
        ArgumentError: `order` or `fill_mode` is unknown.
        ShapeError: `coordinates` does not have a row for each axis of `inputs`.
    """
    inputs = as_array(inputs)
    coordinates = as_array(coordinates, like=inputs)
    if na.shape(coordinates)[0] != len(na.shape(inputs)) or len(na.shape(coordinates)) < 2:
        raise ShapeError(
            f"map_coordinates: coordinates: got the shape {na.shape(coordinates)}, expected "
            f"({len(na.shape(inputs))}, …), one row for each axis of inputs"
        )
    if order not in (0, 1):
        raise ArgumentError(f"map_coordinates: order: got {order!r}, expected 0 or 1")
    dtype = dtypes.dtype_of(inputs)
    nodes = []
    for axis, row in enumerate(na.unstack(coordinates, axis=0)):
        size = na.shape(inputs)[axis]
        near = row if dtypes.dtype_of(row).is_integer else na.round(row)
        lower = near if order == 0 else na.floor(row)
        share = na.subtract(row, lower)
        places = (
            [(lower, na.ones_like(row))]
            if order == 0
            else [(lower, na.subtract(1, share)), (na.add(lower, 1), share)]
        )
        nodes.append([(*_folded(i, size, fill_mode), weight) for i, weight in places])
    total: Any = None
    for corner in itertools.product(*nodes):
        indices, are_inside, weights = zip(*corner, strict=True)
        found = na.getitem(inputs, tuple(indices))
        found = cast(found, dtypes.dtype_of(weights[0]))
        for is_inside in are_inside:
            if is_inside is not None:
                found = na.where(is_inside, found, as_array(fill_value, dtype, inputs))
        for weight in weights:
            found = na.multiply(found, weight)
        total = found if total is None else na.add(total, found)
    return cast(na.round(total) if dtype.is_integer else total, dtype)


def _folded(places: Array, size: int, fill_mode: str) -> tuple[Array, Array | None]:
    """Integer positions within an axis, and where they were inside if others have the fill value."""
    places = na.astype(places, dtypes.int32)
    if fill_mode == "constant":
        inside = na.logical_and(na.greater_equal(places, 0), na.less(places, size))
        return na.clip(places, 0, size - 1), inside
    if fill_mode == "nearest":
        return na.clip(places, 0, size - 1), None
    if fill_mode == "wrap":
        return na.remainder(places, size), None
    if fill_mode not in ("mirror", "reflect"):
        raise ArgumentError(
            f"map_coordinates: fill_mode: got {fill_mode!r}, expected 'constant', 'nearest', 'wrap', "
            "'mirror' or 'reflect'"
        )
    rest = na.remainder(na.abs(places), 2 * size)
    is_under = na.less(rest, size)
    found = na.where(is_under, rest, 2 * size - rest)
    if fill_mode == "reflect":
        found = na.where(is_under, found, found - 1)
    return na.clip(found, 0, size - 1), None
