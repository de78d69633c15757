"""Spectra of sounds.

Upstream: https://www.tensorflow.org/api_docs/python/tf/raw_ops/AudioSpectrogram
"""

from __future__ import annotations

import math

import numpy as np

import nestarray as na
from nestarray.dtypes import DType
from nestarray.frontends.tensorflow import signal
from nestarray.frontends.tensorflow.conversion import integers
from nestarray.typing import Array

__all__ = ["AudioSpectrogram", "Mfcc"]


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


#: The least sum of a band whose logarithm is taken.
_LEAST = 1e-12


def Mfcc(
    spectrogram: Array,
    sample_rate: int,
    upper_frequency_limit: float = 4000,
    lower_frequency_limit: float = 20,
    filterbank_channel_count: int = 40,
    dct_coefficient_count: int = 13,
) -> Array:
    """The cosine transform of the logarithms of sums of magnitudes in bands of the mel scale.

    Args:
        spectrogram: `(channels, time, frequencies)`, squares of magnitudes.
        sample_rate: in Hz.
        upper_frequency_limit, lower_frequency_limit: of the bands, in Hz.
        filterbank_channel_count: the number of bands.
        dct_coefficient_count: the number of coefficients of the result.
    """
    limits = (lower_frequency_limit, upper_frequency_limit)
    rate, count = integers(sample_rate), filterbank_channel_count
    bands = _bands(na.shape(spectrogram)[-1], rate, count, *limits)
    magnitudes = na.sqrt(na.stop_gradient(spectrogram))
    sums = na.matmul(magnitudes, na.asarray(bands.astype(np.float32), like=spectrogram))
    angles = np.outer(np.arange(count) + 0.5, np.arange(dct_coefficient_count)) * math.pi / count
    cosines = (math.sqrt(2 / count) * np.cos(angles)).astype(np.float32)
    return na.matmul(na.log(na.maximum(sums, _LEAST)), na.asarray(cosines, like=spectrogram))


def _mel(frequency: np.ndarray | float) -> np.ndarray:
    return 1127.0 * np.log1p(np.asarray(frequency) / 700.0)


def _bands(size: int, sample_rate: int, count: int, low: float, high: float) -> np.ndarray:
    """The weight of each frequency in each triangular band, `(size, count)`, without frequency 0."""
    width = 0.5 * sample_rate / (size - 1)
    centers = _mel(low) + (_mel(high) - _mel(low)) / (count + 1) * np.arange(count + 2)
    places = np.arange(size)
    mels = _mel(places * width)
    is_used = (places >= int(1.5 + low / width)) & (places <= int(high / width))
    # each frequency is between two centers, the first of which is the lower limit
    lower = np.clip(np.searchsorted(centers, mels, side="left") - 1, 0, count)
    falling = (centers[lower + 1] - mels) / (centers[lower + 1] - centers[lower])
    found = np.zeros((size, count + 2))
    np.add.at(found, (places, lower), np.where(is_used, falling, 0))
    np.add.at(found, (places, lower + 1), np.where(is_used, 1 - falling, 0))
    return found[:, 1:-1]
