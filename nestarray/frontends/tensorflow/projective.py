"""Images under projective maps of the plane.

Upstream: https://www.tensorflow.org/api_docs/python/tf/raw_ops/ImageProjectiveTransformV3
"""

from __future__ import annotations

from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.typing import Array


def project(
    images: Array,
    transforms: Array,
    size: tuple[int, int],
    fill_value: Any,
    interpolation: str,
    fill_mode: str,
) -> Array:
    """The images at ((a x + b y + c) / k, (d x + e y + f) / k), with k = g x + h y + 1.

    As upstream, the gradient of the images is the cotangent under the inverse map, and the transforms
    have none.

    Args:
        images: `(batch, height, width, channels)`.
        transforms: a to h, float32, `(batch, 8)` or `(1, 8)`.
        size: the height and width of the result.
        fill_value: the value outside of an image.
        interpolation: ``"NEAREST"`` or ``"BILINEAR"``.
        fill_mode: ``"CONSTANT"``, ``"NEAREST"``, ``"REFLECT"`` or ``"WRAP"``.

    Returns:
        `(batch, *size, channels)`, in the dtype of `images`.

    Raises:
        ArgumentError: `interpolation` or `fill_mode` is unknown.
    """
    if interpolation not in ("NEAREST", "BILINEAR"):
        raise ArgumentError(
            f"project: interpolation: got {interpolation!r}, expected 'NEAREST' or 'BILINEAR'"
        )

    def value(args: tuple[Array, ...]) -> tuple[Array]:
        images, transforms = args
        return (_projected(images, transforms, size, fill_value, interpolation, fill_mode),)

    def forward(args: tuple[Array, ...]) -> tuple[tuple[Array], tuple[Array]]:
        return value(args), (args[1],)

    def backward(residuals: tuple[Array], cotangents: tuple[Array]) -> tuple[Array, ...]:
        (cotangent,), (transforms,) = cotangents, residuals
        inverse = _inverse(transforms)
        found = _projected(cotangent, inverse, shape, 0, interpolation, fill_mode)
        return found, na.zeros_like(transforms)

    shape = na.shape(images)[1:3]
    if not dtypes.dtype_of(images).is_inexact:
        return value((images, transforms))[0]
    return na.call_with_vjp(value, forward, backward, (images, transforms))[0]


def _inverse(transforms: Array) -> Array:
    """The inverse maps."""
    last = na.ones_like(transforms[:, :1])
    matrices = na.reshape(na.concat([transforms, last], axis=1), (-1, 3, 3))
    found = na.reshape(na.inv(matrices), (-1, 9))
    return (found / found[:, 8:])[:, :8]


def _projected(
    images: Array,
    transforms: Array,
    size: tuple[int, int],
    fill_value: Any,
    interpolation: str,
    fill_mode: str,
) -> Array:
    """The images under the maps, differentiated by the rules of its ops."""
    height, width = na.shape(images)[1:3]
    a, b, c, d, e, f, g, h = na.unstack(transforms[:, None, None, :], axis=-1)
    rows = na.arange(size[0], dtype=dtypes.float32, like=transforms)[:, None]
    columns = na.arange(size[1], dtype=dtypes.float32, like=transforms)
    scale = g * columns + h * rows + 1
    x = _within((a * columns + b * rows + c) / scale, width, fill_mode)
    y = _within((d * columns + e * rows + f) / scale, height, fill_mode)
    wide = na.astype(images, dtypes.promote_types(dtypes.dtype_of(images), dtypes.float32))
    if interpolation == "NEAREST":
        found = _read(wide, _rounded(y), _rounded(x), fill_value)
    else:
        top, left = na.floor(y), na.floor(x)
        down, right = y - top, x - left
        corners = [
            ((1 - down) * (1 - right), top, left),
            ((1 - down) * right, top, left + 1),
            (down * (1 - right), top + 1, left),
            (down * right, top + 1, left + 1),
        ]
        parts = [
            na.multiply(_read(wide, i, j, fill_value), na.astype(w, na.dtype_of(wide))[..., None])
            for w, i, j in corners
        ]
        found = parts[0] + parts[1] + parts[2] + parts[3]
    return na.astype(found, dtypes.dtype_of(images))


def _rounded(x: Array) -> Array:
    """The nearest integer, halves away from zero."""
    return na.copysign(na.floor(na.abs(x) + 0.5), x)


def _read(images: Array, y: Array, x: Array, fill_value: Any) -> Array:
    """The elements at integer positions, `(batch, height, width)` or `(1, height, width)`."""
    batch, height, width, channels = na.shape(images)
    inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
    rows = na.astype(na.clip(na.where(inside, y, 0), 0, height - 1), dtypes.int32)
    columns = na.astype(na.clip(na.where(inside, x, 0), 0, width - 1), dtypes.int32)
    positions = rows * width + columns
    out = na.shape(positions)[1:]
    positions = na.broadcast_to(positions, (batch, *out))
    positions = na.reshape(positions, (batch, out[0] * out[1], 1))
    pixels = na.reshape(images, (batch, height * width, channels))
    found = na.reshape(na.take_along_axis(pixels, positions, axis=1), (batch, *out, channels))
    return na.where(inside[..., None], found, fill_value)


def _within(x: Array, size: int, fill_mode: str) -> Array:
    """Coordinates moved into an image, as `fill_mode` continues it."""
    if fill_mode == "CONSTANT":
        return x
    last = size - 1
    if fill_mode == "NEAREST":
        return na.clip(x, 0, last)
    if size == 1 and fill_mode in ("REFLECT", "WRAP"):
        return na.clip(x, 0, 0)
    if fill_mode == "REFLECT":
        period = 2 * size
        low = na.where(x < -period, x + period * na.trunc(-x / period), x)
        low = na.where(low < -size, low + period, -low - 1)
        high = x - period * na.trunc(x / period)
        high = na.where(high >= size, period - high - 1, high)
        return na.clip(na.where(x < 0, low, na.where(x > last, high, x)), 0, last)
    if fill_mode == "WRAP":
        low = x + size * (na.trunc(-x / last) + 1)
        high = x - size * na.trunc(x / last)
        return na.clip(na.where(x < 0, low, na.where(x > last, high, x)), 0, last)
    raise ArgumentError(
        f"project: fill_mode: got {fill_mode!r}, expected 'CONSTANT', 'NEAREST', 'REFLECT' or 'WRAP'"
    )
