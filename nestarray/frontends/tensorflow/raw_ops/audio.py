"""Spectra of sounds.

Upstream: https://www.tensorflow.org/api_docs/python/tf/raw_ops/AudioSpectrogram
"""

from __future__ import annotations

import math

import nestarray as na
from nestarray.dtypes import DType
from nestarray.frontends.tensorflow import signal
from nestarray.typing import Array

__all__ = ["AudioSpectrogram"]


def AudioSpectrogram(
    input: Array, window_size: int, stride: int, magnitude_squared: bool = False
) -> Array:
    """The magnitudes of frequencies, `(channels, time, frequencies)`, of sounds `(time, channels)`."""

    def hann(size: int, dtype: DType) -> Array:  # periodic, also for odd sizes
        angles = na.arange(size, dtype=dtype, like=input)
        return na.subtract(0.5, na.multiply(na.cos(na.multiply(angles, 2 * math.pi / size)), 0.5))

    sounds = na.matrix_transpose(input)
    found = na.abs(signal.stft(sounds, window_size, stride, window_fn=hann))
    return na.stop_gradient(na.square(found) if magnitude_squared else found)
