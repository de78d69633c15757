"""Fourier and cosine transforms of the last axes.

Upstream: https://www.tensorflow.org/api_docs/python/tf/signal
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import nestarray as na
from nestarray.errors import ArgumentError
from nestarray.frontends.tensorflow.conversion import axes_of, floating, integers, of_kind, tensor
from nestarray.typing import Array

__all__ = [
    "dct", "fft", "fft2d", "fft3d", "fftnd", "fftshift", "idct", "ifft", "ifft2d", "ifft3d",
    "ifftnd", "ifftshift", "irfft", "irfft2d", "irfft3d", "irfftnd", "rfft", "rfft2d", "rfft3d",
    "rfftnd",
]  # fmt: skip


def fft(input: Any, name: str | None = None) -> Array:
    """The transform of complex numbers along the last axis."""
    return na.fft(of_kind("fft", input, "complex"))


def ifft(input: Any, name: str | None = None) -> Array:
    """The inverse of `fft`."""
    return na.ifft(of_kind("ifft", input, "complex"))


def fft2d(input: Any, name: str | None = None) -> Array:
    """The transform of complex numbers along the last two axes."""
    return na.fftn(of_kind("fft2d", input, "complex"), axes=(-2, -1))


def ifft2d(input: Any, name: str | None = None) -> Array:
    """The inverse of `fft2d`."""
    return na.ifftn(of_kind("ifft2d", input, "complex"), axes=(-2, -1))


def fft3d(input: Any, name: str | None = None) -> Array:
    """The transform of complex numbers along the last three axes."""
    return na.fftn(of_kind("fft3d", input, "complex"), axes=(-3, -2, -1))


def ifft3d(input: Any, name: str | None = None) -> Array:
    """The inverse of `fft3d`."""
    return na.ifftn(of_kind("ifft3d", input, "complex"), axes=(-3, -2, -1))


def rfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Array:
    """The non-negative frequencies of real numbers along the last axis."""
    return _real_transform(na.rfftn, floating("rfft", input_tensor), fft_length, 1)


def rfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Array:
    """The transform of real numbers along the last two axes."""
    return _real_transform(na.rfftn, floating("rfft2d", input_tensor), fft_length, 2)


def rfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Array:
    """The transform of real numbers along the last three axes."""
    return _real_transform(na.rfftn, floating("rfft3d", input_tensor), fft_length, 3)


def irfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Array:
    """The inverse of `rfft`."""
    return _real_transform(na.irfftn, of_kind("irfft", input_tensor, "complex"), fft_length, 1)


def irfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Array:
    """The inverse of `rfft2d`."""
    return _real_transform(na.irfftn, of_kind("irfft2d", input_tensor, "complex"), fft_length, 2)


def irfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Array:
    """The inverse of `rfft3d`."""
    return _real_transform(na.irfftn, of_kind("irfft3d", input_tensor, "complex"), fft_length, 3)


def _real_transform(function: Callable[..., Array], x: Array, length: Any, rank: int) -> Array:
    sizes = None if length is None else tuple(integers(length))
    return function(x, s=sizes, axes=tuple(range(-rank, 0)))


def fftnd(
    input_tensor: Any,
    fft_length: Any = None,
    axes: Any = None,
    norm: str | None = None,
    name: str | None = None,
) -> Array:
    """The transform of complex numbers along axes, all by default."""
    x = of_kind("fftnd", input_tensor, "complex")
    return na.fftn(x, **_settings(x, fft_length, axes, norm))


def ifftnd(
    input_tensor: Any,
    fft_length: Any = None,
    axes: Any = None,
    norm: str | None = None,
    name: str | None = None,
) -> Array:
    """The inverse of `fftnd`."""
    x = of_kind("ifftnd", input_tensor, "complex")
    return na.ifftn(x, **_settings(x, fft_length, axes, norm))


def rfftnd(
    input_tensor: Any,
    fft_length: Any = None,
    axes: Any = None,
    norm: str | None = None,
    name: str | None = None,
) -> Array:
    """The transform of real numbers along axes, all by default."""
    x = floating("rfftnd", input_tensor)
    return na.rfftn(x, **_settings(x, fft_length, axes, norm))


def irfftnd(
    input_tensor: Any,
    fft_length: Any = None,
    axes: Any = None,
    norm: str | None = None,
    name: str | None = None,
) -> Array:
    """The inverse of `rfftnd`."""
    x = of_kind("irfftnd", input_tensor, "complex")
    return na.irfftn(x, **_settings(x, fft_length, axes, norm))


def _settings(x: Array, length: Any, axes: Any, norm: str | None) -> dict[str, Any]:
    sizes = None if length is None else tuple(integers(length))
    places = axes_of(axes, len(na.shape(x)))
    return {"s": sizes, "axes": places, "norm": "backward" if norm is None else norm}


def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Array:
    """Shift the zero frequency to the middle."""
    x = tensor(x)
    return na.fftshift(x, axes=axes_of(axes, len(na.shape(x))))


def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Array:
    """Shift the zero frequency from the middle to the front."""
    x = tensor(x)
    return na.ifftshift(x, axes=axes_of(axes, len(na.shape(x))))


def dct(
    input: Any,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Array:
    """The cosine transform of type 1 to 4 along the last axis, unnormalized or ``"ortho"``."""
    x = floating("dct", input)
    _check_cosine("dct", type, axis, norm)
    return na.dct(x, kind=type, n=n, axis=-1, norm="backward" if norm is None else norm)


def idct(
    input: Any,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Array:
    """The cosine transform that inverts `dct` of this type, up to a factor unless ``"ortho"``."""
    _check_cosine("idct", type, axis, norm)
    return dct(input, {1: 1, 2: 3, 3: 2, 4: 4}[type], n, axis, norm)


def _check_cosine(name: str, kind: int, axis: int, norm: str | None) -> None:
    if axis != -1:
        raise ArgumentError(f"{name}: axis: got {axis}, expected -1")
    if kind not in (1, 2, 3, 4):
        raise ArgumentError(f"{name}: type: got {kind}, expected 1, 2, 3 or 4")
    allowed: Sequence[str | None] = (None,) if kind == 1 else (None, "ortho")
    if norm not in allowed:
        raise ArgumentError(f"{name}: norm: got {norm!r} for type {kind}, expected {allowed}")
