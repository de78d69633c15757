"""Frames of signals and their spectra.

Upstream: https://www.tensorflow.org/api_docs/python/tf/signal/stft
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.tensorflow.conversion import (
    floating,
    integers,
    normal_axis,
    of_kind,
    tensor,
)
from nestarray.frontends.tensorflow.signal.fourier import dct
from nestarray.frontends.tensorflow.signal.windows import hann_window, vorbis_window
from nestarray.typing import Array, DTypeLike

__all__ = [
    "frame", "inverse_mdct", "inverse_stft", "inverse_stft_window_fn",
    "linear_to_mel_weight_matrix", "mdct", "mfccs_from_log_mel_spectrograms", "overlap_and_add",
    "stft",
]  # fmt: skip

Window = Callable[..., Array]


def frame(
    signal: Any,
    frame_length: Any,
    frame_step: Any,
    pad_end: bool = False,
    pad_value: Any = 0,
    axis: int = -1,
    name: str | None = None,
) -> Array:
    """Overlapping parts of an axis, along two axes `(frames, frame_length)` in its place.

    Args:
        signal: an array.
        frame_length, frame_step: the length of frames and the distance of their starts.
        pad_end: pad the end such that each multiple of the distance starts a frame.
        pad_value: the padding.
        axis: the axis.
    """
    signal = tensor(signal)
    length, step, rank = integers(frame_length), integers(frame_step), len(na.shape(signal))
    axis = normal_axis(integers(axis), rank)
    size = na.shape(signal)[axis]
    if pad_end:
        count = -(-size // step)
        missing = max(0, length + step * (count - 1) - size)
        widths = [(0, missing if i == axis else 0) for i in range(rank)]
        signal = na.pad(signal, widths, constant_values=pad_value)
    else:
        count = max(0, 1 + (size - length) // step)
    starts = na.expand_dims(na.multiply(na.arange(count, like=signal), step), 1)
    places = na.add(starts, na.arange(length, like=signal))
    return na.take(signal, places, axis=axis)


def overlap_and_add(signal: Any, frame_step: Any, name: str | None = None) -> Array:
    """The sum of frames `(*batch, frames, frame_length)` at distances of `frame_step`."""
    signal, step = tensor(signal), integers(frame_step)
    *batch, count, length = na.shape(signal)
    total = length + step * (count - 1)
    segments = -(-length // step)
    rank = len(batch)
    # Segment i of frame j starts at (i + j) · step: shift the segments by i frames, and sum them.
    widths = [(0, 0)] * rank + [(0, segments), (0, segments * step - length)]
    x = na.reshape(na.pad(signal, widths), (*batch, count + segments, segments, step))
    x = na.reshape(na.swapaxes(x, -3, -2), (*batch, (count + segments) * segments, step))
    x = na.getitem(x, (..., slice((count + segments - 1) * segments), slice(None)))
    x = na.sum(na.reshape(x, (*batch, segments, count + segments - 1, step)), axis=-3)
    x = na.reshape(x, (*batch, (count + segments - 1) * step))
    return na.getitem(x, (..., slice(total)))


def stft(
    signals: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Window | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Array:
    """The spectra of windowed frames, `(*batch, frames, fft_length // 2 + 1)`."""
    signals, length = floating("stft", signals), integers(frame_length)
    frames = frame(signals, length, frame_step, pad_end)
    return na.rfft(_windowed(frames, window_fn, length), n=_transform_length(fft_length, length))


def _windowed(frames: Array, window_fn: Window | None, length: int) -> Array:
    if window_fn is None:
        return frames
    window = window_fn(length, dtype=dtypes.dtype_of(frames))
    return na.multiply(frames, na.asarray(window, like=frames))


def _transform_length(given: Any, frame_length: int) -> int:
    """The given length, or the next power of two."""
    return 2 ** math.ceil(math.log2(frame_length)) if given is None else integers(given)


def inverse_stft_window_fn(
    frame_step: Any, forward_window_fn: Window = hann_window, name: str | None = None
) -> Window:
    """The window with which `inverse_stft` inverts an `stft` with `forward_window_fn`."""
    step = integers(frame_step)

    def window(frame_length: Any, dtype: DTypeLike) -> Array:
        length = integers(frame_length)
        forward = tensor(forward_window_fn(length, dtype=dtype))
        overlaps = -(-length // step)
        squares = na.pad(na.square(forward), [(0, overlaps * step - length)])
        sums = na.sum(na.reshape(squares, (overlaps, step)), axis=0)
        return na.divide(forward, na.getitem(na.tile(sums, (overlaps,)), slice(length)))

    return window


def inverse_stft(
    stfts: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Window | None = hann_window,
    name: str | None = None,
) -> Array:
    """The sum of the windowed inverse transforms of spectra `(*batch, frames, bins)`."""
    spectra, length = of_kind("inverse_stft", stfts, "complex"), integers(frame_length)
    frames = na.irfft(spectra, n=_transform_length(fft_length, length))
    kept = na.getitem(frames, (..., slice(length)))
    missing = length - na.shape(kept)[-1]
    if missing:
        kept = na.pad(kept, [(0, 0)] * (len(na.shape(kept)) - 1) + [(0, missing)])
    return overlap_and_add(_windowed(kept, window_fn, length), frame_step)


def mdct(
    signals: Any,
    frame_length: Any,
    window_fn: Window | None = vorbis_window,
    pad_end: bool = False,
    norm: str | None = None,
    name: str | None = None,
) -> Array:
    """The modified cosine transforms of frames of half overlap, `(*batch, frames, length / 2)`."""
    signals, length = floating("mdct", signals), integers(frame_length)
    if length % 4:
        raise ArgumentError(f"mdct: frame_length: got {length}, expected a multiple of 4")
    frames = frame(signals, length, length // 2, pad_end)
    frames = _scaled(frames, window_fn, length)
    a, b, c, d = na.chunk(frames, 4, axis=-1)
    first = na.subtract(na.negative(na.flip(c, axis=-1)), d)
    second = na.subtract(a, na.flip(b, axis=-1))
    return dct(na.concat([first, second], axis=-1), type=4, norm=norm)


def _scaled(frames: Array, window_fn: Window | None, length: int) -> Array:
    """Windowed frames; without a window, times 1/√2."""
    if window_fn is None:
        return na.multiply(frames, 0.5**0.5)
    return _windowed(frames, window_fn, length)


def inverse_mdct(
    mdcts: Any,
    window_fn: Window | None = vorbis_window,
    norm: str | None = None,
    name: str | None = None,
) -> Array:
    """The inverse of `mdct`, for a window that satisfies the Princen-Bradley condition."""
    x = floating("inverse_mdct", mdcts)
    half = na.shape(x)[-1]
    found = dct(x, type=4, norm=norm)
    if norm is None:
        found = na.multiply(found, 0.5 / half)
    first, second = na.chunk(found, 2, axis=-1)
    parts = [second, -na.flip(second, axis=-1), -na.flip(first, axis=-1), -first]
    frames = _scaled(na.concat(parts, axis=-1), window_fn, 2 * half)
    return overlap_and_add(frames, half)


def linear_to_mel_weight_matrix(
    num_mel_bins: int = 20,
    num_spectrogram_bins: int = 129,
    sample_rate: Any = 8000,
    lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Array:
    """The weights of frequencies in bands of equal width on the mel scale, triangles.

    Returns:
        `(num_spectrogram_bins, num_mel_bins)`; the frequency 0 has no weight.
    """
    rate = float(sample_rate)
    if not 0 <= lower_edge_hertz < upper_edge_hertz <= rate / 2:
        raise ArgumentError(
            f"linear_to_mel_weight_matrix: lower_edge_hertz, upper_edge_hertz: got "
            f"{lower_edge_hertz} and {upper_edge_hertz}, expected 0 ≤ lower < upper ≤ {rate / 2}"
        )
    wanted = dtypes.as_dtype(dtype)
    frequencies = na.linspace(0.0, rate / 2, num_spectrogram_bins, dtype=wanted)
    bins = na.expand_dims(_mel(na.getitem(frequencies, slice(1, None))), 1)
    low, high = [_mel(na.full((), x, dtype=wanted)) for x in (lower_edge_hertz, upper_edge_hertz)]
    steps = na.linspace(0.0, 1.0, num_mel_bins + 2, dtype=wanted)
    edges = na.add(low, na.multiply(na.subtract(high, low), steps))
    lower, center, upper = [na.getitem(edges, slice(i, num_mel_bins + i)) for i in range(3)]
    rising = na.divide(na.subtract(bins, lower), na.subtract(center, lower))
    falling = na.divide(na.subtract(upper, bins), na.subtract(upper, center))
    return na.pad(na.maximum(na.minimum(rising, falling), 0.0), [(1, 0), (0, 0)])


def _mel(hertz: Array) -> Array:
    return na.multiply(na.log(na.add(na.divide(hertz, 700.0), 1.0)), 1127.0)


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: Any, name: str | None = None) -> Array:
    """The cepstral coefficients of spectra `(*batch, bins)`: cosine transforms of type 2."""
    x = floating("mfccs_from_log_mel_spectrograms", log_mel_spectrograms)
    return na.multiply(dct(x), (2.0 * na.shape(x)[-1]) ** -0.5)
