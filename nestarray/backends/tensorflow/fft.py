"""TensorFlow: `nestarray.ops.fft`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from nestarray.numerics.fourier import check_real, checked, full_length, one_length


def fftn(
    x: Any,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
) -> Any:
    lengths, places = checked("fftn", x.shape, s, axes, norm)
    count = _product(lengths)
    scale = {"backward": 1.0, "ortho": count**-0.5, "forward": 1.0 / count}[norm]
    return _transformed(tf.signal.fft, x, lengths, places, scale)


def ifftn(
    x: Any,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
) -> Any:
    lengths, places = checked("ifftn", x.shape, s, axes, norm)
    count = _product(lengths)  # tf.signal.ifft divides by it
    scale = {"backward": 1.0, "ortho": count**0.5, "forward": float(count)}[norm]
    return _transformed(tf.signal.ifft, x, lengths, places, scale)


def rfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    length, place = one_length("rfft", x.shape, n, axis, norm)
    check_real("rfft", x, "fft")
    x = x if x.dtype in (tf.float32, tf.float64) else tf.cast(x, tf.float32)
    # crop or pad here: the gradients of tf.signal are wrong for other lengths
    half = _along_last(lambda rows: tf.signal.rfft(_of_length(rows, length)), x, place)
    return _scaled(half, {"backward": 1.0, "ortho": length**-0.5, "forward": 1.0 / length}[norm])


def irfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    length = full_length("irfft", x.shape, n, axis, norm)
    kept = length // 2 + 1

    def transform(rows: Any) -> Any:
        return tf.signal.irfft(_of_length(rows, kept), [length])

    full = _along_last(transform, _complex(x), axis % len(x.shape))
    return _scaled(full, {"backward": 1.0, "ortho": length**0.5, "forward": float(length)}[norm])


def _transformed(
    transform: Callable[[Any], Any],
    x: Any,
    lengths: Sequence[int],
    places: Sequence[int],
    scale: float,
) -> Any:
    """Transform axis by axis: tf.signal transforms the last one only."""
    x = _complex(x)
    for length, place in zip(lengths, places):
        x = _along_last(lambda rows, n=length: transform(_of_length(rows, n)), x, place)
    return _scaled(x, scale)


def _complex(x: Any) -> Any:
    dtype = tf.complex128 if x.dtype in (tf.float64, tf.complex128) else tf.complex64
    if x.dtype.is_complex:
        return tf.cast(x, dtype)
    real = tf.cast(x, dtype.real_dtype)
    return tf.complex(real, tf.zeros_like(real))  # the gradient of tf.cast logs a warning


def _scaled(x: Any, scale: float) -> Any:
    return x if scale == 1.0 else x * tf.constant(scale, dtype=x.dtype)


def _along_last(transform: Callable[[Any], Any], x: Any, place: int) -> Any:
    """Apply `transform`, of the last axis, to the axis `place`."""
    rank = len(x.shape)
    if place == rank - 1:
        return transform(x)
    order = [a for a in range(rank) if a != place]
    order.append(place)
    back = sorted(range(rank), key=order.__getitem__)
    return tf.transpose(transform(tf.transpose(x, order)), back)


def _of_length(x: Any, length: int) -> Any:
    missing = length - x.shape[-1]
    if missing <= 0:
        return x[..., :length]
    return tf.pad(x, [[0, 0]] * (len(x.shape) - 1) + [[0, missing]])


def _product(lengths: Sequence[int]) -> int:
    result = 1
    for length in lengths:
        result *= length
    return result
