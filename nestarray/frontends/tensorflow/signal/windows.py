"""Windows.

Upstream: https://www.tensorflow.org/api_docs/python/tf/signal/hann_window
"""

from __future__ import annotations

import math
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.dtypes import DType
from nestarray.errors import DtypeError
from nestarray.frontends.tensorflow.conversion import integers
from nestarray.typing import Array, DTypeLike

__all__ = [
    "hamming_window", "hann_window", "kaiser_bessel_derived_window", "kaiser_window",
    "vorbis_window",
]  # fmt: skip


def _floating(name: str, dtype: DTypeLike) -> DType:
    wanted = dtypes.as_dtype(dtype)
    if wanted.kind != "float":
        raise DtypeError(f"{name}: dtype: got {wanted}, expected a floating type")
    return wanted


def hann_window(
    window_length: Any,
    periodic: bool = True,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Array:
    """0.5 − 0.5 cos(2πk / n); n is the length, or one less for a symmetric window."""
    return _raised_cosine("hann_window", window_length, periodic, dtype, 0.5)


def hamming_window(
    window_length: Any,
    periodic: bool = True,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Array:
    """0.54 − 0.46 cos(2πk / n); n is the length, or one less for a symmetric window."""
    return _raised_cosine("hamming_window", window_length, periodic, dtype, 0.54)


def _raised_cosine(name: str, length: Any, periodic: Any, dtype: DTypeLike, a: float) -> Array:
    """A window of odd length is symmetric in any case, as upstream's."""
    length, wanted = integers(length), _floating(name, dtype)
    if length == 1:
        return na.ones((1,), dtype=wanted)
    n = length - (1 if length % 2 or not periodic else 0)
    angle = na.divide(na.multiply(na.arange(length, dtype=wanted), 2 * math.pi), n)
    return na.subtract(a, na.multiply(na.cos(angle), 1 - a))


def vorbis_window(
    window_length: Any, dtype: DTypeLike = dtypes.float32, name: str | None = None
) -> Array:
    """sin(π/2 sin²(π (k + ½) / n))."""
    length = integers(window_length)
    places = na.add(na.arange(length, dtype=_floating("vorbis_window", dtype)), 0.5)
    return na.sin(
        na.multiply(na.square(na.sin(na.multiply(places, math.pi / length))), math.pi / 2)
    )


def kaiser_window(
    window_length: Any,
    beta: Any = 12.0,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Array:
    """I₀(β √(1 − (2k / (n − 1) − 1)²)) / I₀(β)."""
    length, wanted = integers(window_length), _floating("kaiser_window", dtype)
    return na.kaiser(length, beta=float(beta), dtype=wanted)


def kaiser_bessel_derived_window(
    window_length: Any,
    beta: Any = 12.0,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Array:
    """The root of the cumulative sum of a Kaiser window, and its mirror image."""
    sums = na.cumulative_sum(kaiser_window(integers(window_length) // 2 + 1, beta, dtype))
    half = na.sqrt(na.divide(na.getitem(sums, slice(-1)), na.getitem(sums, -1)))
    return na.concat([half, na.flip(half)])
