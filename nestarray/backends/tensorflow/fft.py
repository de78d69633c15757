"""TensorFlow: `nestarray.ops.fft`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from nestarray.backends.fourier import checked


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


def _transformed(
    transform: Callable[[Any], Any],
    x: Any,
    lengths: Sequence[int],
    places: Sequence[int],
    scale: float,
) -> Any:
    """One axis after the other: tf.signal transforms the last one only."""
    wide = tf.complex128 if x.dtype in (tf.float64, tf.complex128) else tf.complex64
    x = tf.cast(x, wide)
    for length, place in zip(lengths, places):
        order = [a for a in range(len(x.shape)) if a != place]
        order.append(place)
        rows = _of_length(tf.transpose(x, order), length)
        back = sorted(range(len(order)), key=order.__getitem__)
        x = tf.transpose(transform(rows), back)
    return x if scale == 1.0 else x * tf.constant(scale, dtype=wide)


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
