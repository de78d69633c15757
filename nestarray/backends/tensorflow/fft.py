"""TensorFlow: `nestarray.ops.fft`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from nestarray.backends import portable, xp
from nestarray.backends.tensorflow import complex_parts
from nestarray.numerics.fourier import check_real, checked, full_length, one_length


def fftn(
    x: Any,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
) -> Any:
    lengths, places = checked("fftn", xp.shape(x), s, axes, norm)
    return _scaled(_transformed("fft", x, lengths, places), lengths, norm)


def ifftn(
    x: Any,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
) -> Any:
    lengths, places = checked("ifftn", xp.shape(x), s, axes, norm)
    mean = _transformed("ifft", x, lengths, places)
    return _scaled(mean, lengths, norm, is_inverse=True)


def rfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    length, place = one_length("rfft", xp.shape(x), n, axis, norm)
    check_real("rfft", x, "fft")
    x = x if x.dtype in (tf.float32, tf.float64) else tf.cast(x, tf.float32)
    native = complex_parts.rfft if portable.are_wanted() else tf.signal.rfft
    # crop or pad here: the gradients of tf.signal are wrong for other lengths
    half = _along_last(lambda rows: native(_of_length(rows, length)), x, place)
    return _scaled(half, [length], norm)


def irfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    length = full_length("irfft", xp.shape(x), n, axis, norm)
    kept = length // 2 + 1
    native = complex_parts.irfft if portable.are_wanted() else tf.signal.irfft

    def transform(rows: Any) -> Any:
        return native(_of_length(rows, kept), [length])

    full = _along_last(transform, _complex(x), axis % len(x.shape))
    return _scaled(full, [length], norm, is_inverse=True)


def _transformed(name: str, x: Any, lengths: Sequence[Any], places: Sequence[int]) -> Any:
    """Transform axis by axis: tf.signal transforms the last one only."""
    native = getattr(complex_parts if portable.are_wanted() else tf.signal, name)
    x = _complex(x)
    for length, place in zip(lengths, places):
        x = _along_last(lambda rows, n=length: native(_of_length(rows, n)), x, place)
    return x


def _complex(x: Any) -> Any:
    dtype = tf.complex128 if x.dtype in (tf.float64, tf.complex128) else tf.complex64
    if x.dtype.is_complex:
        return xp.astype(x, dtype)
    real = tf.cast(x, dtype.real_dtype)
    return xp.complex(real, tf.zeros_like(real))  # the gradient of tf.cast logs a warning


def _scaled(x: Any, lengths: Sequence[Any], norm: str, is_inverse: bool = False) -> Any:
    """The sum of a transform, or the mean of an inverse one, which tf.signal computes, scaled."""
    power = {"backward": 0.0, "ortho": -0.5, "forward": -1.0}[norm]
    if power == 0:
        return x
    count = math.prod(lengths)
    count = tf.cast(count, x.dtype.real_dtype) if isinstance(count, tf.Tensor) else float(count)
    return xp.multiply(x, count ** (-power if is_inverse else power))


def _along_last(transform: Callable[[Any], Any], x: Any, place: int) -> Any:
    """Apply `transform`, of the last axis, to the axis `place`."""
    rank = len(x.shape)
    if place == rank - 1:
        return transform(x)
    order = [a for a in range(rank) if a != place]
    order.append(place)
    back = sorted(range(rank), key=order.__getitem__)
    return xp.permute_dims(transform(xp.permute_dims(x, order)), back)


def _of_length(x: Any, length: Any) -> Any:
    """The last axis, cut or filled with zeros; an open length is its own."""
    if not isinstance(length, int):
        return x
    missing = length - xp.shape(x)[-1]
    if isinstance(missing, int) and missing <= 0:
        return xp.getitem(x, (..., slice(length)))
    if not isinstance(missing, int):
        x, missing = xp.getitem(x, (..., slice(length))), tf.maximum(missing, 0)
    return xp.pad(x, [(0, 0)] * (len(x.shape) - 1) + [(0, missing)])
