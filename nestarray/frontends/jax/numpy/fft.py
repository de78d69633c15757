"""Fourier transforms.

Upstream: https://docs.jax.dev/en/latest/jax.numpy.fft.html
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import nestarray as na
from nestarray.frontends.jax.promotion import as_dtype
from nestarray.typing import Array, DTypeLike

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift",
    "ihfft", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip


def _along_one(function: Callable[..., Array], summary: str) -> Callable[..., Array]:
    def transform(a: Array, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
        return function(a, n=n, axis=axis, norm=norm or "backward")

    transform.__doc__ = summary
    transform.__name__ = function.__name__
    return transform


def _along_several(
    function: Callable[..., Array], summary: str, default: Any = None
) -> Callable[..., Array]:
    def transform(
        a: Array,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = default,
        norm: str | None = None,
    ) -> Array:
        return function(a, s=s, axes=axes, norm=norm or "backward")

    transform.__doc__ = summary
    transform.__name__ = function.__name__ if default is None else function.__name__[:-1] + "2"
    return transform


fft = _along_one(na.fft, "The transform along an axis.")
ifft = _along_one(na.ifft, "The inverse of `fft`.")
rfft = _along_one(na.rfft, "The transform of real numbers.")
irfft = _along_one(na.irfft, "The inverse of `rfft`.")
hfft = _along_one(na.hfft, "The real transform of numbers with Hermitian symmetry.")
ihfft = _along_one(na.ihfft, "The inverse of `hfft`.")
fftn = _along_several(na.fftn, "The transform along axes, by default all.")
ifftn = _along_several(na.ifftn, "The inverse of `fftn`.")
rfftn = _along_several(na.rfftn, "The transform of real numbers along axes.")
irfftn = _along_several(na.irfftn, "The inverse of `rfftn`.")
fft2 = _along_several(na.fftn, "The transform along two axes.", (-2, -1))
ifft2 = _along_several(na.ifftn, "The inverse of `fft2`.", (-2, -1))
rfft2 = _along_several(na.rfftn, "The transform of real numbers along two axes.", (-2, -1))
irfft2 = _along_several(na.irfftn, "The inverse of `rfft2`.", (-2, -1))


def fftfreq(n: int, d: Any = 1.0, *, dtype: DTypeLike | None = None) -> Array:
    """The frequencies of `fft`."""
    return na.fftfreq(n, d=d, dtype=as_dtype(float if dtype is None else dtype))


def rfftfreq(n: int, d: Any = 1.0, *, dtype: DTypeLike | None = None) -> Array:
    """The frequencies of `rfft`."""
    return na.rfftfreq(n, d=d, dtype=as_dtype(float if dtype is None else dtype))


def fftshift(x: Array, axes: Any = None) -> Array:
    """The frequency 0 in the middle."""
    return na.fftshift(x, axes=axes)


def ifftshift(x: Array, axes: Any = None) -> Array:
    """The inverse of `fftshift`."""
    return na.ifftshift(x, axes=axes)
