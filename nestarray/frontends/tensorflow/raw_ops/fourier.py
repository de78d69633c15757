"""Fourier transforms.

Upstream: https://www.tensorflow.org/api_docs/python/tf/raw_ops/FFT
"""

from __future__ import annotations

from nestarray import dtypes
from nestarray.dtypes import DType
from nestarray.frontends.tensorflow import signal
from nestarray.numerics.windows import Ints
from nestarray.typing import Array

__all__ = [
    "FFT", "FFT2D", "FFT3D", "FFTND", "IFFT", "IFFT2D", "IFFT3D", "IFFTND", "IRFFT", "IRFFT2D",
    "IRFFT3D", "IRFFTND", "RFFT", "RFFT2D", "RFFT3D", "RFFTND",
]  # fmt: skip

FFT, FFT2D, FFT3D = signal.fft, signal.fft2d, signal.fft3d
IFFT, IFFT2D, IFFT3D = signal.ifft, signal.ifft2d, signal.ifft3d


def FFTND(input: Array, fft_length: Ints, axes: Ints) -> Array:
    """The transform over axes."""
    return signal.fftnd(input, fft_length, axes)


def IFFTND(input: Array, fft_length: Ints, axes: Ints) -> Array:
    """The inverse of `FFTND`."""
    return signal.ifftnd(input, fft_length, axes)


def IRFFTND(input: Array, fft_length: Ints, axes: Ints, Treal: DType = dtypes.float32) -> Array:
    """The inverse of the transform of real numbers over axes."""
    return signal.irfftnd(input, fft_length, axes)


def RFFTND(input: Array, fft_length: Ints, axes: Ints, Tcomplex: DType = dtypes.complex64) -> Array:
    """The transform of real numbers over axes."""
    return signal.rfftnd(input, fft_length, axes)


def RFFT(input: Array, fft_length: Ints, Tcomplex: DType = dtypes.complex64) -> Array:
    """The transform of real numbers."""
    return signal.rfft(input, fft_length)


def RFFT2D(input: Array, fft_length: Ints, Tcomplex: DType = dtypes.complex64) -> Array:
    """The transform of real numbers over two axes."""
    return signal.rfft2d(input, fft_length)


def RFFT3D(input: Array, fft_length: Ints, Tcomplex: DType = dtypes.complex64) -> Array:
    """The transform of real numbers over three axes."""
    return signal.rfft3d(input, fft_length)


def IRFFT(input: Array, fft_length: Ints, Treal: DType = dtypes.float32) -> Array:
    """The inverse of `RFFT`."""
    return signal.irfft(input, fft_length)


def IRFFT2D(input: Array, fft_length: Ints, Treal: DType = dtypes.float32) -> Array:
    """The inverse of `RFFT2D`."""
    return signal.irfft2d(input, fft_length)


def IRFFT3D(input: Array, fft_length: Ints, Treal: DType = dtypes.float32) -> Array:
    """The inverse of `RFFT3D`."""
    return signal.irfft3d(input, fft_length)
