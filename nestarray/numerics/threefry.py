"""Constants and checks of `nestarray.ops.random` and its native functions."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from nestarray import dtypes
from nestarray.errors import ArgumentError, DtypeError, ShapeError
from nestarray.typing import Array, DTypeLike, Shape, is_unknown_size

#: (mantissa bits, random bits per number).
MANTISSA: dict[dtypes.DType, tuple[int, int]] = {
    dtypes.float16: (10, 16),
    dtypes.bfloat16: (7, 8),
    dtypes.float32: (23, 32),
    dtypes.float64: (52, 64),
}


def _in_single_precision(*numbers: float) -> tuple[float, ...]:
    return tuple(float(np.float32(x)) for x in numbers)


#: The polynomials of Giles' erf⁻¹ in single precision: −ln(1 − x²) < 5, and above.
GILES_CENTRAL = _in_single_precision(
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
    -0.00125372503, -0.00417768164, 0.246640727, 1.50140941,
)  # fmt: skip
GILES_TAIL = _in_single_precision(
    -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
    -0.0076224613, 0.00943887047, 1.00167406, 2.83297682,
)  # fmt: skip

#: Those in double precision: −ln(1 − x²) < 6.25, its root below 4, and above.
GILES_WIDE = (
    (
        -3.6444120640178196996e-21, -1.685059138182016589e-19, 1.2858480715256400167e-18,
        1.115787767802518096e-17, -1.333171662854620906e-16, 2.0972767875968561637e-17,
        6.6376381343583238325e-15, -4.0545662729752068639e-14, -8.1519341976054721522e-14,
        2.6335093153082322977e-12, -1.2975133253453532498e-11, -5.4154120542946279317e-11,
        1.051212273321532285e-09, -4.1126339803469836976e-09, -2.9070369957882005086e-08,
        4.2347877827932403518e-07, -1.3654692000834678645e-06, -1.3882523362786468719e-05,
        0.0001867342080340571352, -0.00074070253416626697512, -0.0060336708714301490533,
        0.24015818242558961693, 1.6536545626831027356,
    ),
    (
        2.2137376921775787049e-09, 9.0756561938885390979e-08, -2.7517406297064545428e-07,
        1.8239629214389227755e-08, 1.5027403968909827627e-06, -4.013867526981545969e-06,
        2.9234449089955446044e-06, 1.2475304481671778723e-05, -4.7318229009055733981e-05,
        6.8284851459573175448e-05, 2.4031110387097893999e-05, -0.0003550375203628474796,
        0.00095328937973738049703, -0.0016882755560235047313, 0.0024914420961078508066,
        -0.0037512085075692412107, 0.005370914553590063617, 1.0052589676941592334,
        3.0838856104922207635,
    ),
    (
        -2.7109920616438573243e-11, -2.5556418169965252055e-10, 1.5076572693500548083e-09,
        -3.7894654401267369937e-09, 7.6157012080783393804e-09, -1.4960026627149240478e-08,
        2.9147953450901080826e-08, -6.7711997758452339498e-08, 2.2900482228026654717e-07,
        -9.9298272942317002539e-07, 4.5260625972231537039e-06, -1.9681778105531670567e-05,
        7.5995277030017761139e-05, -0.00021503011930044477347, -0.00013871931833623122026,
        1.0103004648645343977, 4.8499064014085844221,
    ),
)  # fmt: skip

#: The distributions of `random_quantile`.
DISTRIBUTIONS = (
    "exponential",
    "gumbel",
    "gumbel_upper",
    "laplace",
    "logistic",
    "cauchy",
    "rayleigh",
)

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = 0x1BD11BDA


def count(shape: Shape) -> int:
    """The number of elements of `shape`; an expression if a size is unknown.

    Raises:
        ArgumentError: a size is a bool, or below 0.
        ShapeError: there are 2³² elements or more.
    """
    for n in shape:
        if isinstance(n, bool) or (isinstance(n, int) and n < 0):
            raise ArgumentError(
                f"random: shape: got {n!r} in {shape!r}, expected sizes of at least 0"
            )
    size = prod(shape)
    if not is_unknown_size(size) and size >= 2**32:
        raise ShapeError(
            f"random: got the shape {tuple(shape)} of {size} elements, expected fewer than 2**32; "
            "draw parts with keys of their own"
        )
    return size


def check_words(**words: Array) -> None:
    """Check that keys and counters are uint32 and of one shape.

    Raises:
        DtypeError: a dtype is not uint32.
        ShapeError: the shapes differ.
    """
    for name, x in words.items():
        dtype = dtypes.dtype_of(x)
        if dtype is not dtypes.uint32:
            made = ", as na.random.key makes it" if name == "key" else ""
            raise DtypeError(f"random: {name}: got {dtype}, expected uint32{made}")
    shapes = {name: tuple(x.shape) for name, x in words.items()}
    first, *others = shapes.values()
    if any(shape != first for shape in others):
        raise ShapeError(f"random: {shapes}: expected words of one shape")


def check_key(key: Array, *, can_be_many: bool = False) -> None:
    """Check that `key` has the two words of a key, or `(2, n)` of many keys.

    Raises:
        DtypeError: the words are not of uint32.
        ArgumentError: the number of words is not 2; a native key has four.
    """
    shape = tuple(key.shape)
    if not shape and dtypes.is_key(key):
        return  # a typed key of JAX; threefry2x32 takes its words
    check_words(key=key)
    if shape[:1] == (2,) and (can_be_many or len(shape) == 1):
        return
    native = (
        ", the words of a framework's own generator; na.random's functions, such as "
        "na.random.uniform, take these too"
    )
    raise ArgumentError(
        f"random: key: got the shape {shape}{native if shape == (4,) else ''}; expected (2,), as "
        "na.random.key(0) makes it"
    )


def check_bits_dtype(name: str, dtype: DTypeLike) -> dtypes.DType:
    """`dtype` as a `DType`, if it is an unsigned integer type."""
    wanted = dtypes.dtype_for(name, dtype)
    if wanted.kind != "uint":
        raise DtypeError(f"{name}: dtype: got {wanted}, expected uint8, uint16, uint32 or uint64")
    return wanted


def check_uniform_dtype(name: str, dtype: DTypeLike) -> tuple[dtypes.DType, int, int]:
    """(`dtype`, mantissa bits, random bits), if it is a floating type."""
    wanted = dtypes.dtype_for(name, dtype)
    if wanted not in MANTISSA:
        raise DtypeError(f"{name}: dtype: got {wanted}, expected a floating type")
    return wanted, *MANTISSA[wanted]


def integer_type(name: str, dtype: DTypeLike) -> dtypes.DType:
    """`dtype` as a `DType`, if it is an integer type."""
    wanted = dtypes.dtype_for(name, dtype)
    if not wanted.is_integer:
        raise DtypeError(f"{name}: dtype: got {wanted}, expected an integer type")
    return wanted


def check_integers(
    name: str, low: int, high: int, dtype: DTypeLike
) -> tuple[dtypes.DType, dtypes.DType, int]:
    """(`dtype`, dtype of the random words, (high − low) modulo its range), for an integer type.

    Words have at least 32 bits, which makes the bias of narrow types negligible.
    """
    wanted = integer_type(name, dtype)
    smallest = -(1 << wanted.bits - 1) if wanted.kind == "int" else 0
    limit = smallest + (1 << wanted.bits)
    low = min(max(low, smallest), limit - 1)
    high = min(max(high, smallest), limit)
    word = dtypes.uint64 if wanted.bits == 64 else dtypes.uint32
    return wanted, word, max(high - low, 1) & (1 << word.bits) - 1


def check_rates(key: Array, lam: Array, dtype: DTypeLike) -> dtypes.DType:
    """`dtype` as a `DType`, after a check of the arguments of `random_poisson`."""
    check_key(key)
    if dtypes.dtype_of(lam) is not dtypes.float32:
        raise DtypeError(f"random_poisson: lam: got {dtypes.dtype_of(lam)}, expected float32")
    return integer_type("random_poisson", dtype)


def check_trials(key: Array, n: Array, p: Array) -> None:
    """Check the arguments of `random_binomial`."""
    check_key(key)
    dtype = dtypes.dtype_of(p)
    if dtype not in (dtypes.float32, dtypes.float64):
        raise DtypeError(f"random_binomial: p: got {dtype}, expected float32 or float64")
    if dtypes.dtype_of(n) is not dtype:
        raise DtypeError(
            f"random_binomial: n: got {dtypes.dtype_of(n)}, expected {dtype}, the dtype of p"
        )
    if tuple(n.shape) != tuple(p.shape):
        raise ShapeError(
            f"random_binomial: n: got shape {tuple(n.shape)}, expected {tuple(p.shape)}, that of p"
        )


def check_distribution(distribution: str) -> None:
    """Raise ArgumentError for an unknown distribution."""
    if distribution not in DISTRIBUTIONS:
        known = ", ".join(map(repr, DISTRIBUTIONS))
        raise ArgumentError(
            f"random_quantile: distribution: got {distribution!r}, expected one of {known}"
        )


def unit(xp: Any, high: Array, low: Array, dtype: dtypes.DType) -> Array:
    """Uniform numbers in [0, 1) from the two words of a hash."""
    return fraction(xp, joined(xp, high, low, dtypes.as_dtype(f"uint{MANTISSA[dtype][1]}")), dtype)


def fraction(xp: Any, words: Array, dtype: dtypes.DType) -> Array:
    """Random bits as numbers in [0, 1): m · 2⁻ᵇ of the first b bits."""
    mantissa, width = MANTISSA[dtype]
    numbers = xp.astype(xp.bitwise_right_shift(words, width - mantissa), dtype)
    return xp.multiply(numbers, 2.0**-mantissa)


def joined(xp: Any, high: Array, low: Array, dtype: dtypes.DType) -> Array:
    """The random bits of `dtype` from the two words of a hash."""
    if dtype is not dtypes.uint64:
        return xp.astype(xp.bitwise_xor(high, low), dtype)
    high, low = widened(xp.astype(high, dtype)), xp.astype(low, dtype)
    return xp.bitwise_or(xp.bitwise_left_shift(high, 32), low)


def clipped(number: int, dtype: dtypes.DType) -> int:
    """`number` clipped to the range of `dtype`."""
    smallest = -(1 << dtype.bits - 1) if dtype.kind == "int" else 0
    return min(max(number, smallest), smallest + (1 << dtype.bits) - 1)


def widened(word: Array) -> Array:
    """`word` if it is uint64; JAX without x64 returns uint32."""
    if dtypes.dtype_of(word) is dtypes.uint64:
        return word
    raise DtypeError(
        "random: jax computes in 32 bits and has no 64-bit numbers now. Call "
        'jax.config.update("jax_enable_x64", True) first, or ask for a 32-bit dtype'
    )


def word_factor(span: int, bits: int) -> int:
    """2**bits mod `span`, the factor of the higher of two words, in wrapping arithmetic."""
    half = (1 << bits // 2) % span
    return (half * half & (1 << bits) - 1) % span


def rounded(number: float, dtype: DTypeLike) -> float:
    """`number` rounded to `dtype`."""
    name = dtypes.as_dtype(dtype).name
    if name != "bfloat16":
        return float(np.dtype(name).type(number))
    word = int(np.float32(number).view(np.uint32))
    word = word + 0x7FFF + (word >> 16 & 1) & 0xFFFF0000  # to the nearest, ties to even
    return float(np.uint32(word).view(np.float32))
