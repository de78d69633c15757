"""Random numbers of a seed: upstream's bits, on every backend.

Integers and uniform numbers are upstream's bit by bit. Numbers that are computed with logarithms and
other such functions agree up to rounding, and the samplers by rejection take the same decisions but
for ties that rounding decides. ``alg="auto_select"`` is Philox, as on a CPU; ``"threefry"`` is XLA's.

Upstream: https://www.tensorflow.org/api_docs/python/tf/random
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import backends, dtypes
from nestarray.dtypes import DType
from nestarray.errors import ArgumentError, DtypeError
from nestarray.frontends.tensorflow.conversion import integers, tensor
from nestarray.frontends.tensorflow.random import streams
from nestarray.typing import Array, DTypeLike

__all__ = [
    "fold_in", "split", "stateless_categorical", "stateless_normal",
    "stateless_parameterized_truncated_normal", "stateless_truncated_normal", "stateless_uniform",
]  # fmt: skip

Shape = Sequence[int] | Array


def sizes_of(shape: Any) -> tuple[int, ...]:
    """A shape as a tuple."""
    found = integers(shape)
    return found if isinstance(found, tuple) else (found,)


def split(seed: Any, num: int = 2, alg: Any = "auto_select") -> Array:
    """Seeds made of a seed, `(num, 2)`."""
    dtype = dtypes.dtype_of(tensor(seed))
    return stateless_uniform((integers(num), 2), seed, None, None, dtype, alg=alg)


def fold_in(seed: Any, data: Any, alg: Any = "auto_select") -> Array:
    """A seed made of a seed and a number."""
    first = stateless_uniform((), seed, None, None, dtypes.dtype_of(tensor(data)), alg=alg)
    return na.stack([first, tensor(data, like=first)])


def stateless_uniform(
    shape: Shape,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Array:
    """Uniform numbers in [minval, maxval); integers of all bits if both limits are None."""
    sizes, wanted = sizes_of(shape), dtypes.as_dtype(dtype)
    seed = streams.beside(seed, minval, maxval)
    if wanted.kind == "float":
        drawn = streams.uniform(seed, sizes, wanted, alg)
        return between(drawn, 0 if minval is None else minval, 1 if maxval is None else maxval)
    unsigned = dtypes.uint64 if wanted.bits == 64 else dtypes.uint32
    if not wanted.is_integer or wanted.bits < 32:
        raise DtypeError(
            f"stateless_uniform: dtype: got {wanted}, expected a floating type or integers of 32 or "
            "64 bits"
        )
    words = streams.bits(seed, sizes, unsigned, alg)
    if minval is None and maxval is None:
        return as_signed(words, wanted)
    if minval is None or maxval is None:
        raise ArgumentError(
            f"stateless_uniform: minval, maxval: got {minval} and {maxval}, expected two integers "
            "or None twice"
        )
    low = tensor(minval, wanted, words)
    span = as_signed(na.subtract(tensor(maxval, wanted, words), low), unsigned)
    return na.add(as_signed(na.remainder(words, span), wanted), low)


def between(u: Array, low: Any, high: Any) -> Array:
    """u · (high − low) + low."""
    dtype = dtypes.dtype_of(u)
    low, high = tensor(low, dtype, u), tensor(high, dtype, u)
    return na.add(na.multiply(u, na.subtract(high, low)), low)


def as_signed(words: Array, dtype: DType) -> Array:
    """The same bits in another integer type of their width."""
    return words if dtypes.dtype_of(words) is dtype else na.bitcast(words, dtype)


def stateless_normal(
    shape: Shape,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Array:
    """Normal numbers."""
    seed = streams.beside(seed, mean, stddev)
    drawn = streams.normal(seed, sizes_of(shape), dtypes.as_dtype(dtype), alg)
    return scaled(drawn, mean, stddev)


def stateless_truncated_normal(
    shape: Shape,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
    alg: Any = "auto_select",
) -> Array:
    """Normal numbers of at most two standard deviations from the mean."""
    seed = streams.beside(seed, mean, stddev)
    drawn = streams.truncated_normal(seed, sizes_of(shape), dtypes.as_dtype(dtype), alg)
    return scaled(drawn, mean, stddev)


def scaled(x: Array, mean: Any, stddev: Any) -> Array:
    """x · stddev + mean."""
    dtype = dtypes.dtype_of(x)
    return na.add(na.multiply(x, tensor(stddev, dtype, x)), tensor(mean, dtype, x))


def stateless_parameterized_truncated_normal(
    shape: Shape,
    seed: Any,
    means: Any = 0.0,
    stddevs: Any = 1.0,
    minvals: Any = -2.0,
    maxvals: Any = 2.0,
    name: str | None = None,
) -> Array:
    """Normal numbers between limits.

    Upstream's numbers depend on the number of threads; these are others of the same distribution.
    """
    first = tensor(means)
    dtype = dtypes.dtype_of(first)
    seed = streams.beside(seed, means, stddevs, minvals, maxvals)
    u = streams.uniform(seed, sizes_of(shape), dtype)
    mean, deviation, low, high = [tensor(x, dtype, u) for x in (means, stddevs, minvals, maxvals)]
    low, high = [na.divide(na.subtract(x, mean), deviation) for x in (low, high)]
    return scaled(truncated(u, low, high), mean, deviation)


def truncated(u: Array, low: Array, high: Array) -> Array:
    """The quantile function of the standard normal distribution between limits.

    Above the mean it is that of the reflected limits: the lower tail has more digits.
    """
    is_above = na.greater(na.add(low, high), 0)
    first = na.where(is_above, na.negative(high), low)
    last = na.where(is_above, na.negative(low), high)
    levels = [na.multiply(na.erfc(na.multiply(x, -(0.5**0.5))), 0.5) for x in (first, last)]
    level = na.add(levels[0], na.multiply(u, na.subtract(levels[1], levels[0])))
    found = na.clip(na.ndtri(level), first, last)
    return na.where(is_above, na.negative(found), found)


def stateless_categorical(
    logits: Any,
    num_samples: Any,
    seed: Any,
    dtype: DTypeLike | None = dtypes.int64,
    name: str | None = None,
) -> Array:
    """Indices with the probabilities softmax(logits), `(batch, num_samples)`."""
    logits, count = tensor(logits), integers(num_samples)
    wide = backends.widest_float(logits)
    rows = na.shape(logits)[0]
    words = na.reshape(
        streams.philox(streams.beside(seed, logits)).words(2 * rows * count), (-1, 2)
    )
    u = streams.fraction_of_pair(na.getitem(words, (..., 0)), na.getitem(words, (..., 1)), wide)
    u = na.reshape(u, (rows, count, 1))
    is_finite = na.isfinite(logits)
    safe = na.where(is_finite, logits, na.full_like(logits, dtypes.finfo(logits).min))
    top = na.max(safe, axis=-1, keepdims=True)
    weights = na.exp(na.subtract(na.astype(safe, wide), na.astype(top, wide)))
    weights = na.where(is_finite, weights, na.zeros_like(weights))
    levels = na.expand_dims(na.cumulative_sum(weights, axis=-1), 1)
    is_below = na.less_equal(levels, na.multiply(u, na.getitem(levels, (..., slice(-1, None)))))
    wanted = dtypes.int64 if dtype is None else dtypes.as_dtype(dtype)
    return na.sum(na.astype(is_below, wanted), axis=-1, dtype=wanted)
