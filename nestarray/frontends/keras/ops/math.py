"""Segments, transforms and special functions.

Upstream: https://keras.io/api/ops/core/ and https://keras.io/api/ops/fft/. Complex numbers of
transforms are pairs (real, imaginary).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, DtypeError, ShapeError
from nestarray.frontends.keras.promotion import as_array, as_arrays, as_index, cast, promote
from nestarray.typing import Array, Axis

__all__ = [
    "cdist", "erf", "erfc", "erfinv", "extract_sequences", "fft", "fft2", "ifft2", "in_top_k",
    "irfft", "istft", "logdet", "logsumexp", "rfft", "rsqrt", "segment_max", "segment_min",
    "segment_prod", "segment_sum", "stft", "top_k", "view_as_complex", "view_as_real",
]  # fmt: skip

# -- special functions ---------------------------------------------------------------------------


def erf(x: Array) -> Array:
    """The error function."""
    return na.erf(as_array(x))


def erfc(x: Array) -> Array:
    """1 − erf(x)."""
    return na.erfc(as_array(x))


def erfinv(x: Array) -> Array:
    """The inverse of `erf`."""
    return na.erfinv(as_array(x))


def rsqrt(x: Array) -> Array:
    """1 / √x."""
    return na.rsqrt(as_array(x))


def logsumexp(x: Array, axis: Axis = None, keepdims: bool = False) -> Array:
    """ln Σ eˣ."""
    return na.logsumexp(as_array(x), axis=axis, keepdims=keepdims)


def logdet(x: Array) -> Array:
    """The logarithm of the determinant of positive definite matrices."""
    diagonal = na.diagonal(na.cholesky(as_array(x)))
    return na.multiply(na.sum(na.log(na.real(diagonal)), axis=-1), 2)


def cdist(x: Array, y: Array) -> Array:
    """The Euclidean distances of all pairs of rows.

    Raises:
        ShapeError: an argument has fewer than two axes, or the rows differ in length.
    """
    x, y = promote(x, y)
    shapes = na.shape(x), na.shape(y)
    if min(map(len, shapes)) < 2 or shapes[0][-1] != shapes[1][-1]:
        raise ShapeError(
            f"cdist: got the shapes {shapes[0]} and {shapes[1]}, expected matrices with rows of one "
            "length"
        )
    return na.cdist(x, y)


# -- segments and orders -------------------------------------------------------------------------


def segment_sum(
    data: Array, segment_ids: Array, num_segments: int | None = None, sorted: bool = False
) -> Array:
    """The sum of the rows of each segment."""
    return _segments(na.segment_sum, data, segment_ids, num_segments, sorted)


def segment_max(
    data: Array, segment_ids: Array, num_segments: int | None = None, sorted: bool = False
) -> Array:
    """The largest elements of the rows of each segment; the least number, or 0 if sorted, if empty."""
    return _segments(na.segment_max, data, segment_ids, num_segments, sorted)


def segment_min(
    data: Array, segment_ids: Array, num_segments: int | None = None, sorted: bool = False
) -> Array:
    """The least elements of the rows of each segment; the largest number, or 0 if sorted, if empty."""
    return _segments(na.segment_min, data, segment_ids, num_segments, sorted)


def segment_prod(
    data: Array, segment_ids: Array, num_segments: int | None = None, sorted: bool = False
) -> Array:
    """The product of the rows of each segment."""
    return _segments(na.segment_prod, data, segment_ids, num_segments, sorted)


def _segments(
    function: Callable[..., Array],
    data: Any,
    segment_ids: Any,
    num_segments: int | None,
    is_sorted: bool,
) -> Array:
    name = function.__name__
    data, segment_ids = as_arrays(data, segment_ids)
    if len(na.shape(segment_ids)) != 1 or na.shape(segment_ids)[0] != na.shape(data)[0]:
        raise ShapeError(
            f"{name}: segment_ids: got the shape {na.shape(segment_ids)}, expected a vector with one "
            f"element for each row of data, {na.shape(data)}"
        )
    if is_sorted and num_segments is not None:
        raise ArgumentError(
            f"{name}: num_segments: got {num_segments}, expected None, because sorted is True"
        )
    if num_segments is None:
        num_segments = int(na.max(segment_ids)) + 1 if na.shape(segment_ids)[0] else 0
    # upstream drops negative ids
    segment_ids = na.where(na.less(segment_ids, 0), num_segments, segment_ids)
    found = function(data, segment_ids, num_segments=num_segments + 1)[:num_segments]
    if function not in (na.segment_max, na.segment_min):
        return found
    dtype = dtypes.dtype_of(found)
    if not is_sorted and not dtype.is_floating:
        return found
    # na has infinities for empty segments, upstream the limits of the dtype, or 0 if sorted
    sign = -1 if function is na.segment_max else 1
    empty = 0 if is_sorted else sign * float(dtypes.finfo(dtype).max)
    ones = na.ones_like(segment_ids)
    counts = na.segment_sum(ones, segment_ids, num_segments=num_segments + 1)[:num_segments]
    is_empty = na.equal(counts, 0)
    is_empty = na.reshape(is_empty, (-1, *[1] * (len(na.shape(found)) - 1)))
    return na.where(is_empty, empty, found)


def top_k(x: Array, k: int, sorted: bool = True) -> tuple[Array, Array]:
    """The k largest elements along the last axis, in descending order, and their positions."""
    values, indices = na.top_k(as_array(x), k)
    return values, as_index(indices)


def in_top_k(targets: Array, predictions: Array, k: int) -> Array:
    """Whether the prediction of the target class is among the k largest."""
    targets, predictions = as_arrays(targets, predictions)
    return na.in_top_k(targets, predictions, k=k)


# -- transforms ----------------------------------------------------------------------------------


def _complex(op: str, x: Any) -> Array:
    """The complex numbers of a pair."""
    if not isinstance(x, (tuple, list)) or len(x) != 2:
        raise ArgumentError(f"{op}: x: got {type(x).__name__}, expected a pair (real, imaginary)")
    real, imaginary = as_arrays(*x)
    if na.shape(real) != na.shape(imaginary):
        raise ShapeError(
            f"{op}: x: got the shapes {na.shape(real)} and {na.shape(imaginary)}, expected one shape"
        )
    for part in (real, imaginary):
        if not dtypes.dtype_of(part).is_floating:
            raise DtypeError(f"{op}: x: got {dtypes.dtype_of(part)}, expected floating numbers")
    return na.complex(real, imaginary)


def _pair(x: Array) -> tuple[Array, Array]:
    return na.real(x), na.imag(x)


def fft(x: Any) -> tuple[Array, Array]:
    """The discrete Fourier transform along the last axis, of a pair (real, imaginary)."""
    return _pair(na.fft(_complex("fft", x)))


def fft2(x: Any) -> tuple[Array, Array]:
    """The discrete Fourier transform along the last two axes, of a pair (real, imaginary)."""
    return _pair(na.fftn(_complex("fft2", x), axes=(-2, -1)))


def ifft2(x: Any) -> tuple[Array, Array]:
    """The inverse of `fft2`."""
    return _pair(na.ifftn(_complex("ifft2", x), axes=(-2, -1)))


def rfft(x: Array, fft_length: int | None = None) -> tuple[Array, Array]:
    """The Fourier transform of real numbers along the last axis: the non-negative frequencies."""
    return _pair(na.rfft(as_array(x), n=fft_length))


def irfft(x: Any, fft_length: int | None = None) -> Array:
    """The inverse of `rfft`."""
    return na.irfft(_complex("irfft", x), n=fft_length)


def extract_sequences(x: Array, sequence_length: int, sequence_stride: int) -> Array:
    """The parts of the last axis under a sliding window, `(*batch, parts, sequence_length)`."""
    return na.sliding_window_view(as_array(x), sequence_length, axis=-1, step=sequence_stride)


def _window(
    op: str, window: Any, sequence_length: int, fft_length: int, like: Array
) -> Array | None:
    """The weights of a frame, with zeros on both sides."""
    if window is None:
        return None
    dtype = dtypes.dtype_of(like)
    if isinstance(window, str):
        named = {"hann": na.hanning, "hamming": na.hamming}
        if window not in named:
            raise ArgumentError(f"{op}: window: got {window!r}, expected 'hann' or 'hamming'")
        is_even = sequence_length % 2 == 0  # upstream's windows of odd length are symmetric
        weights = named[window](sequence_length, periodic=is_even, dtype=dtype, like=like)
    else:
        weights = as_array(window, dtype, like)
    if na.shape(weights) != (sequence_length,):
        raise ShapeError(
            f"{op}: window: got the shape {na.shape(weights)}, expected ({sequence_length},)"
        )
    before = (fft_length - sequence_length) // 2
    return na.pad(weights, [(before, fft_length - sequence_length - before)])


def stft(
    x: Array,
    sequence_length: int,
    sequence_stride: int,
    fft_length: int,
    window: Any = "hann",
    center: bool = True,
) -> tuple[Array, Array]:
    """The short-time Fourier transform, `(*batch, frames, fft_length // 2 + 1)`.

    Raises:
        DtypeError: `x` is not floating.
        ArgumentError: `fft_length` is less than `sequence_length`, or the window is unknown.
    """
    x = as_array(x)
    if dtypes.dtype_of(x) not in (dtypes.float32, dtypes.float64):
        raise DtypeError(f"stft: x: got {dtypes.dtype_of(x)}, expected float32 or float64")
    if fft_length < sequence_length:
        raise ArgumentError(
            f"stft: fft_length: got {fft_length}, expected at least sequence_length, "
            f"{sequence_length}"
        )
    weights = _window("stft", window, sequence_length, fft_length, x)
    if center:
        half = fft_length // 2
        x = na.pad(x, [(0, 0)] * (len(na.shape(x)) - 1) + [(half, half)], mode="reflect")
    frames = extract_sequences(x, fft_length, sequence_stride)
    return _pair(na.rfft(frames if weights is None else na.multiply(frames, weights)))


def istft(
    x: Any,
    sequence_length: int,
    sequence_stride: int,
    fft_length: int,
    length: int | None = None,
    window: Any = "hann",
    center: bool = True,
) -> Array:
    """The inverse of `stft`."""
    frames = na.irfft(_complex("istft", x), n=fft_length)
    weights = _window("istft", window, sequence_length, fft_length, frames)
    if weights is not None:
        frames = na.multiply(frames, _dual(weights, sequence_stride))
    *batch, count, _ = na.shape(frames)
    size = fft_length + sequence_stride * (count - 1)
    columns = na.matrix_transpose(na.reshape(frames, (-1, count, fft_length)))
    found = na.fold(
        columns, output_size=(size,), kernel_size=(fft_length,), stride=(sequence_stride,)
    )
    found = na.reshape(found, (*batch, size))
    start = fft_length // 2 if center else 0
    end = size - start if length is None else start + length
    return found[..., start:end]


def _dual(weights: Array, stride: int) -> Array:
    """The window of the inverse: the weights over the sum of their squares in all frames."""
    size = na.shape(weights)[0]
    overlaps = -(-size // stride)
    squares = na.pad(na.square(weights), [(0, overlaps * stride - size)])
    sums = na.sum(na.reshape(squares, (overlaps, stride)), axis=0)
    return na.divide(weights, na.tile(sums, (overlaps,))[:size])


# -- complex numbers -----------------------------------------------------------------------------


def view_as_complex(x: Array) -> Array:
    """The complex64 numbers of pairs along the last axis.

    Raises:
        ShapeError: the last axis does not have the length 2.
    """
    x = as_array(x)
    if not na.shape(x) or na.shape(x)[-1] != 2:
        raise ShapeError(
            f"view_as_complex: x: got the shape {na.shape(x)}, expected a last axis of length 2"
        )
    x = cast(x, dtypes.float32)
    return na.complex(x[..., 0], x[..., 1])


def view_as_real(x: Array) -> Array:
    """Real and imaginary parts along a new last axis."""
    x = as_array(x)
    return na.stack([na.real(x), na.imag(x)], axis=-1)
