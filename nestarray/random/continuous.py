"""Continuous distributions by inversion of one uniform number."""

from __future__ import annotations

import math

from nestarray import dtypes, ops
from nestarray.errors import ArgumentError
from nestarray.numerics.threefry import MANTISSA, rounded
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
from nestarray.typing import Array, DTypeLike, Shape


@sampler
def uniform(
    key: Array,
    shape: Shape = (),
    dtype: DTypeLike = "float32",
    minval: float | Array = 0.0,
    maxval: float | Array = 1.0,
) -> Array:
    """Uniform random numbers in [minval, maxval).

    Args:
        key: `(2,)`, uint32.
        shape: of the result.
        dtype: a floating type.
        minval: a number, or an array that broadcasts to `shape`.
        maxval: a number, or an array that broadcasts to `shape`.

    Returns:
        array of `shape` and `dtype`.

    Raises:
        DtypeError: `dtype` is not floating.
        ShapeError: a bound does not broadcast to `shape`.

    Example:
        >>> import nestarray as na
        >>> na.random.uniform(na.random.key(0), (2,), minval=-1.0)
        array([0.895334  , 0.95715976], dtype=float32)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.uniform.html
    """
    wanted = floating("uniform", dtype)
    shape = shape_of("uniform", shape, minval=minval, maxval=maxval)
    numbers = sources.unit(key, shape, wanted)
    if is_number(minval) and is_number(maxval) and (minval, maxval) == (0.0, 1.0):
        return numbers
    low, high = parameter(minval, wanted, key), parameter(maxval, wanted, key)
    return ops.random_between(numbers, low, high)


@sampler
def normal(key: Array, shape: Shape = (), dtype: DTypeLike = "float32") -> Array:
    """Standard normal random numbers, √2 erf⁻¹(u) of u uniform in (−1, 1).

    Args:
        key: `(2,)`, uint32.
        shape: of the result.
        dtype: a floating type.

    Returns:
        array of `shape` and `dtype`.

    Raises:
        DtypeError: `dtype` is not floating.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = na.random.normal(na.random.key(0), (10000,))
        >>> bool(abs(x.mean()) < 0.05), bool(abs(x.std() - 1) < 0.05)
        (True, True)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.normal.html
    """
    wanted = floating("normal", dtype)
    shape = sizes("normal", shape)
    if is_native(key):
        return sources.generator_of(key).normal(key, shape, wanted)
    above = -1.0 + _spacing_below_one(wanted)
    return ops.normal_quantile(uniform(key, shape, wanted, above, 1.0))


def _spacing_below_one(dtype: dtypes.DType) -> float:
    """1 minus the number before it."""
    return 2.0 ** -(MANTISSA[dtype][0] + 1)


@sampler
def truncated_normal(
    key: Array,
    lower: float | Array,
    upper: float | Array,
    shape: Shape | None = None,
    dtype: DTypeLike = "float32",
) -> Array:
    """Standard normal random numbers between `lower` and `upper`.

    The numbers of ``jax.random``, except if both bounds are above 4 or below −4. There ``jax.random``
    has few different numbers or one, since the error function is close to ±1; these are resolved up
    to ±12 in float32 and ±37 in float64.

    Args:
        key: `(2,)`, uint32.
        lower: a number, or an array that broadcasts to `shape`.
        upper: a number, or an array that broadcasts to `shape`.
        shape: of the result; None is the shape to which the bounds broadcast.
        dtype: a floating type.

    Returns:
        array of `shape` and `dtype`, inside of the open interval.

    Raises:
        DtypeError: `dtype` is not floating.
        ShapeError: a bound does not broadcast to `shape`.
        ArgumentError: the bounds are numbers, and the lower one is not below the upper one.

    Example:
        >>> import nestarray as na
        >>> x = na.random.truncated_normal(na.random.key(0), -2.0, 2.0, (1000,))
        >>> bool((abs(x) < 2).all())
        True

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.truncated_normal.html
    """
    wanted = floating("truncated_normal", dtype)
    if is_number(lower) and is_number(upper) and not lower < upper:
        raise ArgumentError(
            f"random.truncated_normal: lower: got {lower}, expected a number below upper = {upper}"
        )
    shape = shape_of("truncated_normal", shape, lower=lower, upper=upper)
    low, high = parameter(lower, wanted, key), parameter(upper, wanted, key)
    root = rounded(math.sqrt(2), wanted)
    a, b = ops.erf(ops.divide(low, root)), ops.erf(ops.divide(high, root))
    x = ops.normal_quantile(uniform(key, shape, wanted, a, b))
    if not (is_number(lower) and lower <= 4 and is_number(upper) and upper >= -4):
        is_tail = ops.logical_or(ops.greater(low, 4), ops.less(high, -4))
        x = ops.where(is_tail, _in_tail(key, shape, low, high, wanted), x)
    infinity = parameter(math.inf, wanted, key)
    above = ops.nextafter(low, infinity)
    below = ops.nextafter(high, ops.negative(infinity))
    return ops.minimum(ops.maximum(x, above), below)


def _in_tail(key: Array, shape: Shape, low: Array, high: Array, dtype: dtypes.DType) -> Array:
    """Normal numbers between bounds of one sign, by the probabilities of the negative tail."""
    wide = dtypes.float32 if dtype.bits == 16 else dtype
    low, high = ops.astype(low, wide), ops.astype(high, wide)
    is_upper = ops.greater(low, 0)
    a = ops.ndtr(ops.where(is_upper, ops.negative(high), low))
    b = ops.ndtr(ops.where(is_upper, ops.negative(low), high))
    x = ops.ndtri(uniform(key, shape, wide, a, b))
    return ops.astype(ops.where(is_upper, ops.negative(x), x), dtype)


@sampler
def exponential(key: Array, shape: Shape = (), dtype: DTypeLike = "float32") -> Array:
    """Random numbers of the density e⁻ˣ for x ≥ 0: −ln(1 − u) of u uniform in [0, 1).

    Args:
        key: `(2,)`, uint32.
        shape: of the result.
        dtype: a floating type.

    Returns:
        array of `shape` and `dtype`.

    Raises:
        DtypeError: `dtype` is not floating.

    Example:
        >>> import nestarray as na
        >>> x = na.random.exponential(na.random.key(0), (10000,))
        >>> bool(x.min() >= 0), bool(abs(x.mean() - 1) < 0.05)
        (True, True)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.exponential.html
    """
    wanted = floating("exponential", dtype)
    return ops.random_quantile(uniform(key, shape, wanted), distribution="exponential")


@sampler
def gumbel(key: Array, shape: Shape = (), dtype: DTypeLike = "float32", mode: str = "low") -> Array:
    """Standard Gumbel random numbers, −ln(−ln u) of u uniform in (0, 1).

    Args:
        key: `(2,)`, uint32.
        shape: of the result.
        dtype: a floating type.
        mode: ``"low"`` uses the bits of one number, ``"high"`` the bits of two, which resolves
            small numbers, and thus the tails, more finely.

    Returns:
        array of `shape` and `dtype`.

    Raises:
        DtypeError: `dtype` is not floating.
        ArgumentError: `mode` is another.

    Example:
        >>> import nestarray as na
        >>> x = na.random.gumbel(na.random.key(0), (10000,))
        >>> bool(abs(x.mean() - 0.5772) < 0.05)
        True

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.gumbel.html
    """
    wanted = floating("gumbel", dtype)
    check_mode("gumbel", mode)
    if mode == "low":
        u = uniform(key, shape, wanted, _smallest_normal(wanted), 1.0)
        return ops.random_quantile(u, distribution="gumbel")
    both = uniform(key, (2, *sizes("gumbel", shape)), wanted)
    high, low = both[0], both[1]
    finer = ops.multiply(low, 2.0 ** -MANTISSA[wanted][0])
    sum_ = ops.add(ops.add(high, finer), _smallest_normal(wanted))
    u = ops.where(ops.greater_equal(high, 0.5), high, sum_)
    return ops.random_quantile(u, distribution="gumbel_upper")


def check_mode(name: str, mode: str) -> None:
    """Raise an ArgumentError for an unknown `mode`."""
    if mode not in ("low", "high"):
        raise ArgumentError(f"random.{name}: mode: got {mode!r}, expected 'low' or 'high'")


def _smallest_normal(dtype: dtypes.DType) -> float:
    return dtypes.finfo(dtype).smallest_normal


@sampler
def laplace(key: Array, shape: Shape = (), dtype: DTypeLike = "float32") -> Array:
    """Random numbers of the density e⁻|ˣ| / 2: sign(u) ln(1 − |u|) of u uniform in (−1, 1).

    Args:
        key: `(2,)`, uint32.
        shape: of the result.
        dtype: a floating type.

    Returns:
        array of `shape` and `dtype`.

    Raises:
        DtypeError: `dtype` is not floating.

    Example:
        >>> import nestarray as na
        >>> x = na.random.laplace(na.random.key(0), (10000,))
        >>> bool(abs(abs(x).mean() - 1) < 0.05)
        True

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.laplace.html
    """
    wanted = floating("laplace", dtype)
    u = uniform(key, shape, wanted, -1.0 + _spacing_below_one(wanted), 1.0)
    return ops.random_quantile(u, distribution="laplace")


@sampler
def logistic(key: Array, shape: Shape = (), dtype: DTypeLike = "float32") -> Array:
    """Standard logistic random numbers, ln(u / (1 − u)) of u uniform in (0, 1).

    Args:
        key: `(2,)`, uint32.
        shape: of the result.
        dtype: a floating type.

    Returns:
        array of `shape` and `dtype`.

    Raises:
        DtypeError: `dtype` is not floating.

    Example:
        >>> import nestarray as na
        >>> x = na.random.logistic(na.random.key(0), (10000,))
        >>> bool(abs(x.std() - 3.14159 / 3**0.5) < 0.05)
        True

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.logistic.html
    """
    wanted = floating("logistic", dtype)
    u = uniform(key, shape, wanted, _smallest_normal(wanted), 1.0)
    return ops.random_quantile(u, distribution="logistic")


@sampler
def cauchy(key: Array, shape: Shape = (), dtype: DTypeLike = "float32") -> Array:
    """Standard Cauchy random numbers, tan(π (u − 1/2)) of u uniform in (0, 1).

    Args:
        key: `(2,)`, uint32.
        shape: of the result.
        dtype: a floating type.

    Returns:
        array of `shape` and `dtype`. They have no mean.

    Raises:
        DtypeError: `dtype` is not floating.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = na.random.cauchy(na.random.key(0), (10000,))
        >>> bool(abs(np.mean(abs(x) < 1) - 0.5) < 0.02)
        True

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.cauchy.html
    """
    wanted = floating("cauchy", dtype)
    u = uniform(key, shape, wanted, dtypes.finfo(wanted).eps, 1.0)
    return ops.random_quantile(u, distribution="cauchy")
