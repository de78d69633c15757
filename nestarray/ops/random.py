"""Random bits as functions of a key and a shape, the basis of `nestarray.random`.

The generator is Threefry-2x32 with 20 rounds and the counters 0, 1, 2 … for the elements in order,
the partitionable scheme of ``jax.random``. The same key gives the same numbers on every backend,
and the same as ``jax.random`` with a raw key. Integers are unsigned and wrap; PyTorch, which lacks
arithmetic for them, computes in int64.

References:
    Salmon et al., Parallel random numbers: as easy as 1, 2, 3. SC 2011.
    https://docs.jax.dev/en/latest/jax.random.html
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from nestarray import backends, dtypes, ops
from nestarray.backends.base import refuse_complex
from nestarray.dispatch import Trait, floating_op, op
from nestarray.numerics import bit_generators, logarithms, rounding, threefry
from nestarray.typing import Array, DTypeLike, Shape, check_range

__all__ = [
    "normal_quantile",
    "philox4x32",
    "random_between",
    "random_bits",
    "random_integers",
    "random_quantile",
    "random_split",
    "random_uniform",
    "threefry2x32",
]


@op
def threefry2x32(key: Array, x0: Array, x1: Array) -> tuple[Array, Array]:
    """The Threefry-2x32 hash of the counters (x0, x1) under `key`, 20 rounds.

    Args:
        key: `(2,)`, uint32; or `(2, n)`, a key for each counter.
        x0: `(n,)`, uint32, the high words.
        x1: `(n,)`, uint32, the low words.

    Returns:
        two arrays `(n,)`, uint32.

    Raises:
        DtypeError: an array is not of uint32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> zero = np.zeros(1, np.uint32)
        >>> na.threefry2x32(np.zeros(2, np.uint32), zero, zero)
        (array([1797259609], dtype=uint32), array([2579123966], dtype=uint32))

    References:
        https://www.thesalmons.org/john/random123/papers/random123sc11.pdf
    """
    threefry.check_key(key, can_be_many=True)
    threefry.check_words(x0=x0, x1=x1)
    add, xor = ops.add, ops.bitwise_xor
    k0, k1 = ops.reshape(key[0:1], (-1,)), ops.reshape(key[1:2], (-1,))
    keys = (k0, k1, xor(xor(k0, k1), threefry.PARITY))
    x0, x1 = add(x0, k0), add(x1, k1)
    for group in range(5):
        for distance in threefry.ROTATIONS[group % 2]:
            x0 = add(x0, x1)
            high = ops.bitwise_left_shift(x1, distance)
            x1 = xor(ops.bitwise_or(high, ops.bitwise_right_shift(x1, 32 - distance)), x0)
        x0 = add(x0, keys[(group + 1) % 3])
        x1 = add(add(x1, keys[(group + 2) % 3]), group + 1)
    return x0, x1


@op
def philox4x32(
    key: Array, x0: Array, x1: Array, x2: Array, x3: Array
) -> tuple[Array, Array, Array, Array]:
    """The Philox-4x32 hash of the counters (x0, x1, x2, x3) under `key`, 10 rounds.

    Args:
        key: `(2,)`, uint32; or `(2, n)`, a key for each counter.
        x0: `(n,)` or `()`, uint32, the lowest words.
        x1: of the shape of x0, uint32.
        x2: of the shape of x0, uint32.
        x3: of the shape of x0, uint32, the highest words.

    Returns:
        four arrays of the shape of x0, uint32.

    Raises:
        DtypeError: an array is not of uint32.
        ShapeError: the counters have different shapes.

    Example:
        >>> import numpy as np, nestarray as na
        >>> zero = np.zeros((), np.uint32)
        >>> [hex(word) for word in na.philox4x32(np.zeros(2, np.uint32), *[zero] * 4)]
        ['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']

    References:
        https://www.thesalmons.org/john/random123/papers/random123sc11.pdf
    """
    threefry.check_key(key, can_be_many=True)
    threefry.check_words(x0=x0, x1=x1, x2=x2, x3=x3)
    xor, (f0, f1) = ops.bitwise_xor, bit_generators.FACTORS
    k0, k1 = key[0], key[1]
    for _ in range(10):
        (high0, low0), (high1, low1) = _product(x0, f0), _product(x2, f1)
        x0, x1 = xor(xor(high1, x1), k0), low1
        x2, x3 = xor(xor(high0, x3), k1), low0
        k0, k1 = (ops.add(k, ops.full_like(k, n)) for k, n in zip((k0, k1), bit_generators.STEPS))
    return x0, x1, x2, x3


def _product(x: Array, factor: int) -> tuple[Array, Array]:
    """The upper and the lower word of the product of words and a word."""
    y0, y1 = factor & 0xFFFF, factor >> 16
    x0, x1 = ops.bitwise_and(x, 0xFFFF), ops.bitwise_right_shift(x, 16)
    first = ops.add(ops.multiply(x1, y0), ops.bitwise_right_shift(ops.multiply(x0, y0), 16))
    second = ops.add(ops.multiply(x0, y1), ops.bitwise_and(first, 0xFFFF))
    carried = ops.add(ops.bitwise_right_shift(first, 16), ops.bitwise_right_shift(second, 16))
    return ops.add(ops.multiply(x1, y1), carried), ops.multiply(x, ops.full_like(x, factor))


@op
def random_split(key: Array, *, num: int = 2) -> Array:
    """Split a key into `num` new keys, independent of each other and of `key`.

    Args:
        key: `(2,)`, uint32.
        num: the number of elements.

    Returns:
        `(num, 2)`, uint32.

    Raises:
        ArgumentError: `key` does not have two words (native keys have four).

    Example:
        >>> import nestarray as na
        >>> na.random_split(na.random.key(0))
        array([[1797259609, 2579123966],
               [ 928981903, 3453687069]], dtype=uint32)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.split.html
    """
    threefry.check_key(key)
    check_range("random_split", "num", num, 0)
    counts = ops.astype(ops.arange(num, like=key), "uint32")
    return ops.stack(ops.threefry2x32(key, ops.zeros_like(counts), counts), axis=1)


@op
def random_bits(key: Array, *, shape: Shape, dtype: DTypeLike = "uint32") -> Array:
    """Uniform random unsigned integers: all bits are independent and fair.

    Args:
        key: `(2,)`, uint32, from ``na.random.key``.
        shape: the shape of the result.
        dtype: uint8, uint16, uint32 or uint64.

    Returns:
        array of `shape` and `dtype`, on the framework and device of `key`.

    Raises:
        ArgumentError: `key` does not have two words (native keys have four).
        DtypeError: `dtype` is not an unsigned integer type.

    Example:
        >>> import nestarray as na
        >>> na.random_bits(na.random.key(0), shape=(2,))
        array([4070199207, 4202968722], dtype=uint32)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.bits.html
    """
    threefry.check_key(key)
    wanted = threefry.check_bits_dtype("random_bits", dtype)
    counts = ops.astype(ops.arange(threefry.count(shape), like=key), "uint32")
    high, low = ops.threefry2x32(key, ops.zeros_like(counts), counts)
    bits = threefry.joined(ops, high, low, wanted)
    return ops.reshape(bits, tuple(shape))


@op
def random_uniform(key: Array, *, shape: Shape, dtype: DTypeLike = "float32") -> Array:
    """Uniform random numbers in [0, 1): a random mantissa, m · 2⁻ᵇ.

    Args:
        key: `(2,)`, uint32, from ``na.random.key``.
        shape: the shape of the result.
        dtype: a floating type.

    Returns:
        array of `shape` and `dtype`, on the framework and device of `key`.

    Raises:
        ArgumentError: `key` does not have two words (native keys have four).
        DtypeError: `dtype` is not a floating type.

    Example:
        >>> import nestarray as na
        >>> na.random_uniform(na.random.key(0), shape=(2,))
        array([0.947667 , 0.9785799], dtype=float32)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.uniform.html
    """
    wanted, _, width = threefry.check_uniform_dtype("random_uniform", dtype)
    return threefry.fraction(ops, ops.random_bits(key, shape=shape, dtype=f"uint{width}"), wanted)


@op(promoted=("u", "low", "high"), traits=Trait.ELEMENTWISE)
def random_between(u: Array, low: Array, high: Array) -> Array:
    """Map numbers in [0, 1) to [low, high): max(u · (high − low) + low, low).

    In float32 and float64 the product and the sum are rounded once, as by XLA, so that uniform
    random numbers have the bits of ``jax.random`` in any range. Half precision is rounded twice,
    also as by XLA, except for float16 on processors with float16 arithmetic (AVX512-FP16), where
    ``jax.random`` itself differs.

    Args:
        u: floating, in [0, 1).
        low: of the dtype of `u`, broadcasts with it.
        high: of the dtype of `u`, broadcasts with it.

    Returns:
        array of the broadcast shape and the dtype of `u`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.random_between(np.asarray([0.0, 0.5]), np.asarray(-1.0), np.asarray(3.0))
        array([-1.,  1.])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.uniform.html
    """
    span = ops.subtract(high, low)
    if dtypes.dtype_of(u).bits == 16:
        moved = ops.add(ops.multiply(u, span), low)
    else:
        moved = rounding.multiply_add(ops, u, span, low, backends.widest_float(u))
    return ops.maximum(moved, low)


@floating_op(traits=Trait.ELEMENTWISE)
def random_quantile(u: Array, *, distribution: str) -> Array:
    """The quantile function of a distribution, which maps uniform numbers u to random numbers.

    The formulas of ``jax.random``: ``"exponential"`` −ln(1 − u), ``"gumbel"`` −ln(−ln u),
    ``"gumbel_upper"`` −ln(−ln(1 − u)), ``"logistic"`` ln u − ln(1 − u), ``"cauchy"``
    tan(π (u − ½)), ``"rayleigh"`` √(−2 ln u), all for u in (0, 1); and ``"laplace"``
    sign(u) ln(1 − |u|) for u in (−1, 1). Computed in float64 if available, and rounded once.

    Args:
        u: floating.
        distribution: one of the names above.

    Returns:
        array of the shape and dtype of `u`.

    Raises:
        ArgumentError: `distribution` is unknown.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.random_quantile(np.asarray([0.25, 0.5]), distribution="logistic").round(4)
        array([-1.0986,  0.    ])

    References:
        https://docs.jax.dev/en/latest/jax.random.html
    """
    refuse_complex(u)
    threefry.check_distribution(distribution)
    if (
        distribution == "cauchy"
    ):  # rounded like jax.random, because the tangent amplifies differences
        pi = threefry.rounded(math.pi, dtypes.dtype_of(u))
        u = ops.multiply(ops.subtract(u, 0.5), pi)
    # the others are computed in float64, where the log1p of jax.random has larger errors
    wide = backends.widest_float(u)
    log1p = ops.log1p
    if dtypes.dtype_of(u) is dtypes.float64:
        log1p = partial(logarithms.log1p, ops, wide=wide)
    return rounding.rounded_once(ops, partial(_QUANTILES[distribution], log1p), u, wide)


Logarithm = Callable[[Array], Array]


def _exponential(log1p: Logarithm, u: Array) -> Array:
    return ops.negative(log1p(ops.negative(u)))


def _gumbel(log1p: Logarithm, u: Array) -> Array:
    return ops.negative(ops.log(ops.negative(ops.log(u))))


def _gumbel_upper(log1p: Logarithm, u: Array) -> Array:
    return ops.negative(ops.log(_exponential(log1p, u)))


def _logistic(log1p: Logarithm, u: Array) -> Array:
    return ops.subtract(ops.log(u), log1p(ops.negative(u)))


def _laplace(log1p: Logarithm, u: Array) -> Array:
    return ops.multiply(ops.sign(u), log1p(ops.negative(ops.abs(u))))


def _rayleigh(log1p: Logarithm, u: Array) -> Array:
    return ops.sqrt(ops.multiply(ops.log(u), -2.0))


def _cauchy(log1p: Logarithm, angle: Array) -> Array:
    return ops.tan(angle)


_QUANTILES = {
    "exponential": _exponential,
    "gumbel": _gumbel,
    "gumbel_upper": _gumbel_upper,
    "laplace": _laplace,
    "logistic": _logistic,
    "cauchy": _cauchy,
    "rayleigh": _rayleigh,
}


@floating_op(traits=Trait.ELEMENTWISE)
def normal_quantile(u: Array) -> Array:
    """The standard normal quantile of the probability (1 + u) / 2, √2 erf⁻¹(u).

    It maps uniform random numbers to normal ones, by Giles' polynomials. Up to 32 bits it rounds
    like ``jax.random`` on CPUs, so that all backends draw the same bits; float64 agrees to 2 ulp.

    Args:
        u: floating, in [−1, 1]; ±1 gives ±∞, other values give NaN.

    Returns:
        array of the shape and dtype of `u`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.normal_quantile(np.asarray([0.0, 0.6826895], np.float32)).round(5)
        array([0., 1.], dtype=float32)

    References:
        Giles, Approximating the erfinv function. GPU Computing Gems, Jade Edition, 2012.
    """
    refuse_complex(u)
    dtype = dtypes.dtype_of(u)
    if dtype is dtypes.float64:
        return ops.multiply(_wide_erfinv(u), 2.0**0.5)
    x = ops.astype(u, "float32")
    wide = backends.widest_float(x)
    w = ops.negative(logarithms.log1p(ops, ops.negative(ops.multiply(x, x)), wide))
    is_central = ops.less(w, 5.0)
    far = ops.subtract(
        rounding.rounded_once(ops, ops.sqrt, w, wide), 3.0
    )  # PyTorch's root has an error of 1 ulp
    w = ops.where(is_central, ops.subtract(w, 2.5), far)
    w, p = ops.astype(w, wide, copy=False), None
    for central, tail in zip(threefry.GILES_CENTRAL, threefry.GILES_TAIL, strict=True):
        c = ops.astype(ops.where(is_central, central, tail), wide, copy=False)
        if p is not None:
            c = ops.astype(ops.astype(ops.add(c, ops.multiply(p, w)), "float32"), wide)
        p = c
    is_end = ops.equal(ops.abs(x), 1.0)
    infinity = ops.copysign(ops.full_like(x, float("inf")), x)
    root = ops.where(is_end, infinity, ops.multiply(ops.astype(p, "float32"), x))
    root = ops.where(ops.greater(ops.abs(x), 1.0), math.nan, root)
    return ops.multiply(ops.astype(root, dtype), threefry.rounded(2.0**0.5, dtype))


def _wide_erfinv(x: Array) -> Array:
    """erf⁻¹ in float64, by three polynomials for three ranges."""
    wide = dtypes.float64
    w = ops.negative(logarithms.log1p(ops, ops.negative(ops.multiply(x, x)), wide))
    is_central = ops.less(w, 6.25)
    root = ops.sqrt(ops.where(is_central, ops.ones_like(w), w))
    near, middle, far = (
        rounding.polynomial(ops, coefficients, ops.subtract(place, center), wide)
        for coefficients, place, center in zip(
            threefry.GILES_WIDE, (w, root, root), (3.125, 3.25, 5.0), strict=True
        )
    )
    p = ops.where(is_central, near, ops.where(ops.less(w, 16.0), middle, far))
    infinity = ops.copysign(ops.full_like(x, math.inf), x)
    return ops.where(ops.equal(ops.abs(x), 1.0), infinity, ops.multiply(p, x))


@op
def random_integers(
    key: Array, *, low: int, high: int, shape: Shape, dtype: DTypeLike = "int32"
) -> Array:
    """Uniform random integers in [low, high), from two random words each.

    (a · 2ᵇ + c) mod (high − low) of two random words a and c of b bits: the bias is at
    most (high − low) · 2⁻²ᵇ.

    Args:
        key: `(2,)`, uint32, from ``na.random.key``.
        low: the smallest result.
        high: one more than the largest; at most the largest number of `dtype`, plus one.
        shape: the shape of the result.
        dtype: an integer type of b bits.

    Returns:
        array of `shape` and `dtype`; all `low` if `high` ≤ `low`.

    Raises:
        ArgumentError: `key` does not have two words (native keys have four).
        DtypeError: `dtype` is not an integer type.

    Example:
        >>> import nestarray as na
        >>> na.random_integers(na.random.key(0), low=0, high=10, shape=(5,))
        array([9, 0, 2, 3, 1], dtype=int32)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.randint.html
    """
    wanted, unsigned, span = threefry.check_integers("random_integers", low, high, dtype)
    keys = ops.random_split(key)
    flat = (threefry.count(shape),)  # NumPy warns when scalars wrap, not when arrays do
    words = ops.random_bits(keys[1], shape=flat, dtype=unsigned)
    if span:  # 0 means the whole range: every word is a result
        # arrays, because JAX converts numbers to int32, which may be too small
        size, factor = (
            ops.full((1,), number, dtype=unsigned, like=key)
            for number in (span, threefry.word_factor(span, unsigned.bits))
        )
        high_words = ops.remainder(ops.random_bits(keys[0], shape=flat, dtype=unsigned), size)
        total = ops.add(ops.multiply(high_words, factor), ops.remainder(words, size))
        words = ops.remainder(total, size)
    start = ops.full((1,), threefry.clipped(low, wanted), dtype=wanted, like=key)
    result = ops.add(ops.astype(words, wanted), start)
    return ops.reshape(result, tuple(shape))
