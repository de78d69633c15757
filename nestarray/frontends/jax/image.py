"""Resized images.

Upstream: https://docs.jax.dev/en/latest/jax.image.html. Element i of n covers the interval from i to
i + 1.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.jax import promotion
from nestarray.typing import Array

__all__ = ["ResizeMethod", "resize", "scale_and_translate"]

_NAMES = {
    "NEAREST": ("nearest",),
    "LINEAR": ("linear", "bilinear", "trilinear", "triangle"),
    "LANCZOS3": ("lanczos3",),
    "LANCZOS5": ("lanczos5",),
    "CUBIC": ("cubic", "bicubic", "tricubic"),
    "CUBIC_PYTORCH": ("cubic-pytorch", "bicubic-pytorch"),
    "AREA": ("area",),
}


class ResizeMethod(enum.Enum):
    """The kernel by which elements are weighted."""

    NEAREST = 0
    LINEAR = 1
    LANCZOS3 = 2
    LANCZOS5 = 3
    CUBIC = 4
    CUBIC_PYTORCH = 5
    AREA = 6

    @staticmethod
    def from_string(s: str) -> ResizeMethod:
        """The method of a name such as ``"bilinear"``."""
        for name, found in _NAMES.items():
            if s in found:
                return ResizeMethod[name]
        expected = ", ".join([name for names in _NAMES.values() for name in names])
        raise ArgumentError(f"method: got {s!r}, expected one of {expected}")


def resize(
    image: Array,
    shape: Sequence[int],
    method: str | ResizeMethod,
    antialias: bool = True,
    precision: Any = None,
) -> Array:
    """`image` in another shape.

    Args:
        image: any shape.
        shape: the new length of each axis.
        method: a `ResizeMethod` or its name.
        antialias: whether the kernel is widened where an axis shrinks.
        precision: not used.
    """
    name, sizes = _method("resize", image, shape, method), na.shape(image)
    axes = [i for i, n in enumerate(sizes) if n != shape[i]]
    if name == "NEAREST":
        for axis in axes:
            image = na.take(image, _nearest(sizes[axis], shape[axis], image), axis=axis)
        return image
    scale = [shape[i] / sizes[i] if shape[i] else 1.0 for i in axes]
    return scale_and_translate(image, shape, axes, scale, [0.0] * len(axes), method, antialias)


def _method(function: str, image: Array, shape: Sequence[int], method: str | ResizeMethod) -> str:
    """The name of the member of `ResizeMethod`, or of JAX's."""
    if len(shape) != len(na.shape(image)):
        raise ArgumentError(
            f"{function}: shape: got {tuple(shape)}, expected a length for each axis of an image of "
            f"shape {tuple(na.shape(image))}"
        )
    found: Any = ResizeMethod.from_string(method) if isinstance(method, str) else method
    return found.name


def _nearest(old: int, new: int, like: Array) -> Array:
    places = na.add(na.arange(new, dtype=dtypes.float32, like=like), 0.5)
    return na.astype(na.floor(na.divide(na.multiply(places, old), new)), dtypes.int32)


def scale_and_translate(
    image: Array,
    shape: Sequence[int],
    spatial_dims: Sequence[int],
    scale: Array,
    translation: Array,
    method: str | ResizeMethod,
    antialias: bool = True,
    precision: Any = None,
) -> Array:
    """The image at positions scaled by `scale` and moved by `translation`; 0 outside of it.

    Args:
        image: any shape.
        shape: the length of each axis of the result.
        spatial_dims: the axes to resize.
        scale, translation: `(axes,)`, arrays or numbers.
        method: a `ResizeMethod` other than NEAREST, or its name.
        antialias: whether the kernel is widened where `scale` is below 1.
        precision: not used.
    """
    name = _method("scale_and_translate", image, shape, method)
    if name == "NEAREST":
        raise ArgumentError(
            "scale_and_translate: method: got 'nearest', expected a method with a kernel; `resize` "
            "has it"
        )
    image = promotion.inexact(image)
    dtype = dtypes.dtype_of(image)
    for i, axis in enumerate(spatial_dims):
        factor, shift = _number(scale, i, image), _number(translation, i, image)
        weights = _weights(na.shape(image)[axis], shape[axis], factor, shift, name, antialias)
        found = na.tensordot(image, na.astype(weights, dtype), axes=((axis,), (0,)))
        image = na.moveaxis(found, -1, axis)
    return image


def _number(values: Any, i: int, like: Array) -> Array:
    """One number as an array: float32, or float64 as the image."""
    value = na.getitem(values, i) if hasattr(values, "dtype") else values[i]
    if hasattr(value, "dtype"):
        return promotion.inexact(value)
    is_double = dtypes.dtype_of(like) in (dtypes.float64, dtypes.complex128)
    return na.full((), value, dtype=dtypes.float64 if is_double else dtypes.float32, like=like)


def _weights(
    old: int, new: int, scale: Array, translation: Array, name: str, antialias: bool
) -> Array:
    """The weight of each element of an axis in each element of the result, `(old, new)`."""
    dtype = dtypes.dtype_of(scale)
    inverse = na.reciprocal(scale)
    if name == "CUBIC_PYTORCH" and antialias:
        name = "CUBIC"
    border = 2 if name == "CUBIC_PYTORCH" else 0  # the edges are repeated
    places = na.expand_dims(na.arange(-border, old + border, dtype=dtype, like=scale), 1)
    steps = na.arange(new, dtype=dtype, like=scale)
    starts = na.multiply(na.subtract(steps, translation), inverse)
    centres = na.subtract(na.add(starts, na.multiply(inverse, 0.5)), 0.5)
    if name == "AREA":
        ends = na.minimum(na.add(starts, inverse), na.add(places, 1))
        found = na.maximum(na.subtract(ends, na.maximum(starts, places)), 0)
    else:
        distance = na.abs(na.subtract(centres, places))
        widening = na.maximum(inverse, 1) if antialias else 1
        found = _KERNELS[name](na.divide(distance, widening))
    if border:
        first, last = (
            na.getitem(found, slice(border + 1)),
            na.getitem(found, slice(-border - 1, None)),
        )
        rows = [na.sum(x, axis=0, keepdims=True) for x in (first, last)]
        inner = na.getitem(found, slice(border + 1, -border - 1))
        if old == 1:
            found = na.sum(found, axis=0, keepdims=True)
        else:
            found = na.concat([rows[0], inner, rows[1]])
    total = na.sum(found, axis=0, keepdims=True)
    is_large = na.greater(na.abs(total), 1000 * 2.0**-23)
    safe = na.where(is_large, total, na.ones_like(total))
    found = na.where(is_large, na.divide(found, safe), na.zeros_like(found))
    if border:
        return found
    inside = na.logical_and(na.greater_equal(centres, -0.5), na.less_equal(centres, old - 0.5))
    return na.where(inside, found, na.zeros_like(found))


def _linear(x: Array) -> Array:
    return na.maximum(na.subtract(1, x), 0)


def _cubic(a: float) -> Callable[[Array], Array]:
    """The kernel of Keys, https://doi.org/10.1109/TASSP.1981.1163711."""

    def kernel(x: Array) -> Array:
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        found = na.where(na.greater_equal(x, 1), far, near)
        return na.where(na.greater_equal(x, 2), na.zeros_like(x), found)

    return kernel


def _lanczos(radius: float) -> Callable[[Array], Array]:
    def kernel(x: Array) -> Array:
        is_away = na.greater(x, 1e-3)
        safe = na.where(is_away, x, na.ones_like(x))
        product = na.sin(math.pi * safe) * na.sin(math.pi / radius * safe) * radius
        found = na.where(is_away, product / (math.pi**2 * safe * safe), na.ones_like(x))
        return na.where(na.greater(x, radius), na.zeros_like(x), found)

    return kernel


_KERNELS = {
    "LINEAR": _linear,
    "CUBIC": _cubic(-0.5),
    "CUBIC_PYTORCH": _cubic(-0.75),
    "LANCZOS3": _lanczos(3.0),
    "LANCZOS5": _lanczos(5.0),
}
