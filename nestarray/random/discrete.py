"""Random bits, integers, signs and masks."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray import dtypes, ops
from nestarray.errors import ArgumentError, DtypeError
from nestarray.numerics.threefry import check_bits_dtype, integer_type
from nestarray.random import sources
from nestarray.random.arguments import (
    floating,
    is_native,
    is_number,
    parameter,
    sampler,
    shape_of,
    sizes,
)
from nestarray.random.continuous import check_mode
from nestarray.typing import Array, DTypeLike, Shape


@sampler
def bits(key: Array, shape: Shape = (), dtype: DTypeLike = "uint32") -> Array:
    """Uniform random unsigned integers over the whole range of `dtype`.

    Args:
        key: `(2,)`, uint32.
        shape: of the result.
        dtype: uint8, uint16, uint32 or uint64.

    Returns:
        array of `shape` and `dtype`.

    Raises:
        DtypeError: `dtype` is not an unsigned integer type.

    Example:
        >>> import nestarray as na
        >>> na.random.bits(na.random.key(0), (2,), "uint8")
        array([167, 146], dtype=uint8)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.bits.html
    """
    wanted = check_bits_dtype("random.bits", dtype)
    return sources.bits(key, sizes("bits", shape), wanted)


@sampler
def randint(
    key: Array,
    shape: Shape,
    minval: int | Array,
    maxval: int | Array,
    dtype: DTypeLike = "int32",
) -> Array:
    """Uniform random integers in [minval, maxval).

    Args:
        key: `(2,)`, uint32.
        shape: of the result.
        minval: the smallest result; an integer, or an array of these that broadcasts to `shape`.
        maxval: one more than the largest result; as `minval`. Bounds outside the range
            of `dtype` are clipped to it.
        dtype: an integer type; every backend supports int32.

    Returns:
        array of `shape` and `dtype`; `minval` wherever `maxval` is not above it.

    Raises:
        DtypeError: `dtype` or an array of bounds is not of an integer type.
        ArgumentError: a bound is a number and no integer.
        ShapeError: a bound does not broadcast to `shape`.

    Example:
        >>> import nestarray as na
        >>> na.random.randint(na.random.key(0), (5,), 0, 10)
        array([9, 0, 2, 3, 1], dtype=int32)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.randint.html
    """
    wanted = integer_type("random.randint", dtype)
    shape = shape_of("randint", shape, minval=minval, maxval=maxval)
    low, high = _integer("minval", minval), _integer("maxval", maxval)
    if isinstance(low, int) and isinstance(high, int):
        if not is_native(key):
            return ops.random_integers(key, low=low, high=high, shape=shape, dtype=wanted)
        limits = dtypes.iinfo(wanted)
        least, most = max(limits.min, -(2**31)), min(limits.max, 2**31 - 1)
        if least <= low < high <= most:
            return sources.generator_of(key).integers(key, low, high, shape, wanted)
    return _between(key, low, high, shape, wanted)


def _integer(argument: str, bound: Any) -> int | Array:
    if isinstance(bound, (int, np.integer)):
        return int(bound)
    if is_number(bound) or not hasattr(bound, "shape"):
        raise ArgumentError(
            f"random.randint: {argument}: got {type(bound).__name__}, expected an integer or an "
            "array of integers"
        )
    dtype = dtypes.dtype_of(bound)
    if not dtype.is_integer:
        raise DtypeError(f"random.randint: {argument}: got an array of {dtype}, expected integers")
    return bound


def _between(
    key: Array, low: int | Array, high: int | Array, shape: tuple[int, ...], dtype: dtypes.DType
) -> Array:
    """`random_integers` with bounds for each element: (a · 2ᵇ + c) mod span of two words."""
    wide = dtype if dtype.bits >= 32 else dtypes.int32
    word = dtypes.uint64 if wide.bits == 64 else dtypes.uint32
    span, start, is_any = _span(low, high, shape, dtype, wide, word, key)
    first, second = sources.halves(key)
    flat = ops.shape(start)
    upper, lower = sources.bits(first, flat, word), sources.bits(second, flat, word)
    safe = ops.where(is_any, ops.ones_like(span), span)
    half = _remainder(ops.full_like(span, 1 << word.bits // 2), safe)
    factor = _remainder(_product(half, half), safe)
    total = _sum(_product(_remainder(upper, safe), factor), _remainder(lower, safe))
    words = _sum(ops.where(is_any, lower, _remainder(total, safe)), start)
    return ops.reshape(ops.astype(ops.astype(words, wide), dtype), shape)


# Sums and products of words in signed integers, which have the same bits: torch.compile does not
# support unsigned ones.


def _sum(x: Array, y: Array) -> Array:
    return ops.astype(ops.add(_signed(x), _signed(y)), dtypes.dtype_of(x))


def _product(x: Array, y: Array) -> Array:
    return ops.astype(ops.multiply(_signed(x), _signed(y)), dtypes.dtype_of(x))


def _remainder(x: Array, y: Array) -> Array:
    whole = ops.multiply(_signed(ops.floor_divide(x, y)), _signed(y))
    return ops.astype(ops.subtract(_signed(x), whole), dtypes.dtype_of(x))


def _signed(x: Array) -> Array:
    return ops.astype(x, f"int{dtypes.dtype_of(x).bits}")


def _span(
    low: int | Array,
    high: int | Array,
    shape: tuple[int, ...],
    dtype: dtypes.DType,
    wide: dtypes.DType,
    word: dtypes.DType,
    key: Array,
) -> tuple[Array, Array, Array]:
    """(high − low as a word, low as a word, whether every word is a result), one-dimensional."""
    limits = dtypes.iinfo(dtype)
    # in a wider type there is room for one more than the largest number
    room = limits.max + (wide is not dtype)
    start, _ = _clipped(low, limits.min, limits.max, wide, shape, key)
    stop, is_over = _clipped(high, limits.min, room, wide, shape, key)
    is_some = ops.greater(stop, start)
    start, stop = ops.astype(start, word), ops.astype(stop, word)
    less = ops.astype(ops.subtract(_signed(stop), _signed(start)), word)  # wraps correctly
    span = ops.where(is_some, less, ops.ones_like(less))
    if wide is dtype:  # one more than fits: the whole range is a span that wraps to 0
        span = _sum(span, ops.astype(ops.logical_and(is_over, is_some), word))
    return span, start, ops.equal(span, ops.zeros_like(span))


def _clipped(
    bound: int | Array,
    least: int,
    most: int,
    dtype: dtypes.DType,
    shape: tuple[int, ...],
    key: Array,
) -> tuple[Array, Array]:
    """(`bound` in `dtype`, whether it was above `most`), one element for each result."""
    if isinstance(bound, int):
        number = ops.full((1,), min(max(bound, least), most), dtype=dtype, like=key)
        is_over = ops.full((1,), bound > most, dtype="bool", like=key)
    else:
        own = dtypes.iinfo(dtypes.dtype_of(bound))
        flat = ops.reshape(bound, (1,)) if bound.shape == () else bound
        top = ops.full((1,), min(most, own.max), dtype=dtypes.dtype_of(bound), like=key)
        bottom = ops.full((1,), max(least, own.min), dtype=dtypes.dtype_of(bound), like=key)
        is_over = ops.greater(flat, top)
        number = ops.astype(ops.minimum(ops.maximum(flat, bottom), top), dtype)
    numbers = ops.broadcast_to(number, shape or (1,))
    return ops.reshape(numbers, (-1,)), ops.reshape(ops.broadcast_to(is_over, shape or (1,)), (-1,))


@sampler
def bernoulli(
    key: Array, p: float | Array = 0.5, shape: Shape | None = None, mode: str = "low"
) -> Array:
    """True with probability `p`.

    Args:
        key: `(2,)`, uint32.
        p: a number (its draws are compared in float32), or a floating array.
        shape: of the result, to which `p` broadcasts; None is the shape of `p`.
        mode: ``"low"`` draws one uniform number for each result, which is a multiple of 2⁻²³
            in float32; ``"high"`` draws two, for probabilities below that.

    Returns:
        array of `shape`, bool.

    Raises:
        DtypeError: `p` is an array and not floating.
        ArgumentError: `p` is a number outside of [0, 1]; or `mode` is another.
        ShapeError: `p` does not broadcast to `shape`.

    Example:
        >>> import nestarray as na
        >>> na.random.bernoulli(na.random.key(0), 0.7, (4,))
        array([False, False,  True,  True])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.bernoulli.html
    """
    dtype = dtypes.float32 if is_number(p) else dtypes.dtype_of(p)
    if not dtype.is_floating:
        raise DtypeError(f"random.bernoulli: p: got an array of {dtype}, expected a floating one")
    if is_number(p) and not 0.0 <= p <= 1.0:
        raise ArgumentError(f"random.bernoulli: p: got {p}, expected a probability from 0 to 1")
    check_mode("bernoulli", mode)
    shape = shape_of("bernoulli", shape, p=p)
    bound = parameter(p, dtype, key)
    if mode == "low":
        return ops.less(sources.unit(key, shape, dtype), bound)
    both = sources.unit(key, (2, *shape), dtype)
    finer = ops.multiply(both[1], dtypes.finfo(dtype).eps)
    return ops.less(finer, ops.subtract(bound, both[0]))


@sampler
def dropout_mask(key: Array, rate: float, shape: Shape, dtype: DTypeLike = "float32") -> Array:
    """0 with probability `rate` and 1 / (1 − rate) otherwise, so that the mean is 1.

    The factor by which dropout multiplies. For channels that are dropped as a whole, ask for
    a shape with ones, such as ``(batch, channels, 1, 1)``.

    Args:
        key: `(2,)`, uint32.
        rate: the probability of a zero, from 0 to below 1.
        shape: of the result.
        dtype: a floating type.

    Returns:
        array of `shape` and `dtype`.

    Raises:
        ArgumentError: `rate` is outside of [0, 1).
        DtypeError: `dtype` is not floating.

    Example:
        >>> import nestarray as na
        >>> na.random.dropout_mask(na.random.key(0), 0.5, (6,)).tolist()
        [0.0, 0.0, 2.0, 2.0, 0.0, 2.0]

    References:
        Srivastava et al., Dropout: a simple way to prevent neural networks from overfitting.
        Journal of Machine Learning Research, 2014.
    """
    wanted = floating("dropout_mask", dtype)
    if not is_number(rate) or not 0.0 <= rate < 1.0:
        raise ArgumentError(
            f"random.dropout_mask: rate: got {rate!r}, expected a number from 0 to below 1"
        )
    kept = bernoulli(key, 1.0 - float(rate), sizes("dropout_mask", shape))
    return ops.multiply(ops.astype(kept, wanted), 1.0 / (1.0 - float(rate)))


@sampler
def rademacher(key: Array, shape: Shape = (), dtype: DTypeLike = "int32") -> Array:
    """−1 or 1, each with probability 1/2.

    Args:
        key: `(2,)`, uint32.
        shape: of the result.
        dtype: a floating or a signed integer type.

    Returns:
        array of `shape` and `dtype`.

    Raises:
        DtypeError: `dtype` has no −1.

    Example:
        >>> import nestarray as na
        >>> na.random.rademacher(na.random.key(0), (6,)).tolist()
        [-1, -1, 1, 1, -1, 1]

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.rademacher.html
    """
    wanted = dtypes.dtype_for("random.rademacher", dtype)
    if not (wanted.is_floating or wanted.kind == "int"):
        raise DtypeError(
            f"random.rademacher: dtype: got {wanted}, expected a floating or a signed integer type"
        )
    # in 64 bits where the result has them, as in jax.random with x64
    half = parameter(0.5, dtypes.float64 if wanted.bits == 64 else dtypes.float32, key)
    ones = ops.astype(bernoulli(key, half, sizes("rademacher", shape)), wanted)
    return ops.subtract(ops.multiply(ones, 2), 1)
