"""Elementwise arithmetic, rounding, bounds, and parts of numbers."""

from __future__ import annotations

import builtins
import math

from nestarray import dtypes, ops
from nestarray.backends.base import clip_dtype
from nestarray.backends.truth import itself, of_bools, through_numbers
from nestarray.dispatch import Trait, op, primitive
from nestarray.numerics.fills import check_fill
from nestarray.typing import Array

__all__ = [
    "abs",
    "add",
    "angle",
    "ceil",
    "clip",
    "conj",
    "copysign",
    "divide",
    "float_power",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "heaviside",
    "imag",
    "lerp",
    "maximum",
    "minimum",
    "multiply",
    "nan_to_num",
    "negative",
    "nextafter",
    "positive",
    "pow",
    "real",
    "reciprocal",
    "remainder",
    "round",
    "sign",
    "square",
    "subtract",
    "trunc",
]
TRAITS = Trait.ELEMENTWISE | Trait.HALF_SAFE


@primitive
@of_bools(itself)
def abs(x: Array, /) -> Array:
    """The absolute value, |x|; of a complex number its modulus.

    The derivative at 0 is 0, on JAX 1.

    Args:
        x: any number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.abs(np.asarray([-1.5, 2.0]))
        array([1.5, 2. ])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.abs.html
    """


@primitive(traits=TRAITS | Trait.LINEAR)
def negative(x: Array, /) -> Array:
    """The negative, −x.

    Args:
        x: any number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.negative(np.asarray([1, -2]))
        array([-1,  2])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.negative.html
    """


@primitive(traits=TRAITS | Trait.LINEAR)
@of_bools(itself)
def positive(x: Array, /) -> Array:
    """`x` itself, +x.

    Args:
        x: any number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.positive(np.asarray([1, -2]))
        array([ 1, -2])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.positive.html
    """


@primitive
@of_bools(itself)
def square(x: Array, /) -> Array:
    """The square, x².

    Args:
        x: any number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.square(np.asarray([3.0, -2.0]))
        array([9., 4.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.square.html
    """


@primitive(traits=Trait.ELEMENTWISE)
def reciprocal(x: Array, /) -> Array:
    """The reciprocal, 1 / x.

    Args:
        x: floating; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.reciprocal(np.asarray([2.0, -4.0]))
        array([ 0.5 , -0.25])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.reciprocal.html
    """


@primitive
@of_bools(itself)
def sign(x: Array, /) -> Array:
    """The sign of x: −1, 0 or 1; NaN for NaN, x / |x| for complex numbers, 0 at 0.

    The derivative is 0 for real numbers, and at a complex 0.

    Args:
        x: any number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.sign(np.asarray([-3.0, 0.0, 2.0]))
        array([-1.,  0.,  1.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.sign.html
    """


@primitive(traits=TRAITS | Trait.LINEAR | Trait.COMMUTATIVE | Trait.NONNEGATIVE)
@of_bools(lambda x1, x2: ops.logical_or(x1, x2))
def add(x1: Array, x2: Array, /) -> Array:
    """The sum, x1 + x2.

    Args:
        x1: any number; broadcasts with `x2`, the dtypes promote.
        x2: any number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.add(np.asarray([5.0, 7.0]), np.asarray([2.0, 7.0]))
        array([ 7., 14.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.add.html
    """


@primitive(traits=TRAITS | Trait.LINEAR)
def subtract(x1: Array, x2: Array, /) -> Array:
    """The difference, x1 − x2.

    Args:
        x1: any number; broadcasts with `x2`, the dtypes promote.
        x2: any number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.subtract(np.asarray([5.0, 7.0]), np.asarray([2.0, 7.0]))
        array([3., 0.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.subtract.html
    """


@primitive(traits=TRAITS | Trait.MULTILINEAR | Trait.COMMUTATIVE | Trait.NONNEGATIVE)
@of_bools(lambda x1, x2: ops.logical_and(x1, x2))
def multiply(x1: Array, x2: Array, /) -> Array:
    """The product, x1 · x2.

    Args:
        x1: any number; broadcasts with `x2`, the dtypes promote.
        x2: any number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.multiply(np.asarray([5.0, 7.0]), np.asarray([2.0, 7.0]))
        array([10., 49.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.multiply.html
    """


@primitive
def divide(x1: Array, x2: Array, /) -> Array:
    """The quotient, x1 / x2; integers are divided as float32.

    Args:
        x1: any number; broadcasts with `x2`, the dtypes promote.
        x2: any number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.divide(np.asarray([5.0, 7.0]), np.asarray([2.0, 7.0]))
        array([2.5, 1. ])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.divide.html
    """


@primitive(traits=TRAITS | Trait.CONSTANT)
def floor_divide(x1: Array, x2: Array, /) -> Array:
    """The quotient rounded towards −∞, ⌊x1 / x2⌋; ±∞ for infinite x1, ±0 for infinite x2.

    It is the floor of the exact quotient, also where x1 / x2 rounds up to an integer: 1.0 // 0.1
    is 9.

    Args:
        x1: real; broadcasts with `x2`, the dtypes promote.
        x2: real. Integer division by 0 raises on PyTorch and TensorFlow, gives 0 with a warning on
            NumPy, and an unspecified number on JAX.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.floor_divide(np.asarray([5.0, 7.0]), np.asarray([2.0, 7.0]))
        array([2., 1.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.floor_divide.html
    """


@primitive(traits=TRAITS | Trait.NONNEGATIVE)
def remainder(x1: Array, x2: Array, /) -> Array:
    """The remainder of `floor_divide`, with the sign of x2.

    Args:
        x1: real; broadcasts with `x2`, the dtypes promote.
        x2: real. Integer division by 0 raises on PyTorch and TensorFlow, gives 0 with a warning on
            NumPy, and an unspecified number on JAX.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.remainder(np.asarray([5.0, 7.0]), np.asarray([2.0, 7.0]))
        array([1., 0.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.remainder.html
    """


@primitive
def fmod(x1: Array, x2: Array, /) -> Array:
    """The remainder of the quotient rounded towards 0, with the sign of x1.

    Args:
        x1: real; broadcasts with `x2`, the dtypes promote.
        x2: real. Integer division by 0 raises on PyTorch and TensorFlow, gives 0 with a warning on
            NumPy, and an unspecified number on JAX.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.fmod(np.asarray([5.0, -5.0]), np.asarray([3.0, 3.0]))
        array([ 2., -2.])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.fmod.html
    """


@primitive(traits=Trait.ELEMENTWISE)
def pow(x1: Array, x2: Array, /) -> Array:
    """The power, x1^x2.

    Negative powers of integers are rounded towards 0: they are 0, except for x1 = 1 and −1. The
    power 0⁰ is 1; other powers of a complex 0 are 0 if the real part of the exponent is positive,
    else NaN. The derivative of x1⁰ by x1 is 0, also at x1 = 0; the derivative by x2 is 0 at
    x1 = 0 for x2 ≥ 0, and NaN for x1 < 0, on TensorFlow 0.

    Args:
        x1: any number; broadcasts with `x2`, the dtypes promote.
        x2: any number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.pow(np.asarray([5.0, 7.0]), np.asarray([2.0, 7.0]))
        array([2.50000e+01, 8.23543e+05])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.pow.html
    """


@op(traits=Trait.ELEMENTWISE)
def float_power(x1: Array, x2: Array, /) -> Array:
    """The power, x1^x2, with integers converted to float32.

    Args:
        x1: any number; broadcasts with `x2`, the dtypes promote.
        x2: any number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.float_power(np.asarray([2, 4]), np.asarray([-1, 2]))
        array([ 0.5, 16. ], dtype=float32)

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.float_power.html
    """
    dtype = dtypes.result_dtype(x1, x2)
    if dtype.is_inexact:
        return ops.pow(x1, x2)
    return ops.pow(ops.astype(x1, dtypes.float32), ops.astype(x2, dtypes.float32))


@primitive(traits=TRAITS | Trait.COMMUTATIVE | Trait.NONNEGATIVE)
@of_bools(lambda x1, x2: ops.logical_or(x1, x2))
def maximum(x1: Array, x2: Array, /) -> Array:
    """The larger of x1 and x2; NaN if either is NaN.

    For equal operands the gradient is split or goes to one operand, depending on the framework.

    Args:
        x1: real; broadcasts with `x2`, the dtypes promote.
        x2: real.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.maximum(np.asarray([5.0, 7.0]), np.asarray([2.0, 7.0]))
        array([5., 7.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.maximum.html
    """


@primitive(traits=TRAITS | Trait.COMMUTATIVE | Trait.NONNEGATIVE)
@of_bools(lambda x1, x2: ops.logical_and(x1, x2))
def minimum(x1: Array, x2: Array, /) -> Array:
    """The smaller of x1 and x2; NaN if either is NaN.

    For equal operands the gradient is split or goes to one operand, depending on the framework.

    Args:
        x1: real; broadcasts with `x2`, the dtypes promote.
        x2: real.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.minimum(np.asarray([5.0, 7.0]), np.asarray([2.0, 7.0]))
        array([2., 7.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.minimum.html
    """


@op(traits=TRAITS | Trait.COMMUTATIVE)
@of_bools(lambda x1, x2: ops.logical_or(x1, x2))
def fmax(x1: Array, x2: Array, /) -> Array:
    """The larger of x1 and x2, ignoring a NaN operand.

    Args:
        x1: real; broadcasts with `x2`, the dtypes promote.
        x2: real.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.fmax(np.asarray([5.0, np.nan]), np.asarray([2.0, 7.0]))
        array([5., 7.])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.fmax.html
    """
    is_first = ops.logical_or(ops.greater_equal(x1, x2), ops.isnan(x2))
    return ops.where(is_first, x1, x2)


@op(traits=TRAITS | Trait.COMMUTATIVE)
@of_bools(lambda x1, x2: ops.logical_and(x1, x2))
def fmin(x1: Array, x2: Array, /) -> Array:
    """The smaller of x1 and x2, ignoring a NaN operand.

    Args:
        x1: real; broadcasts with `x2`, the dtypes promote.
        x2: real.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.fmin(np.asarray([5.0, np.nan]), np.asarray([2.0, 7.0]))
        array([2., 7.])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.fmin.html
    """
    is_first = ops.logical_or(ops.less_equal(x1, x2), ops.isnan(x2))
    return ops.where(is_first, x1, x2)


@op
def clip(x: Array, /, min: Array | float | None = None, max: Array | float | None = None) -> Array:
    """`x` clipped to two bounds: min where x < min, max where x > max.

    NaN stays NaN; a NaN bound gives NaN. At a bound the derivative with respect to `x` is 1.

    Args:
        x: real.
        min: the lower bound, broadcasts with `x`; None for none.
        max: the upper bound, which takes precedence if the bounds cross; None for none.

    Returns:
        the broadcast shape, the dtype of `x`; integers with a floating bound become that, or float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.clip(np.asarray([-2.0, 0.5, 3.0]), 0.0, 1.0)
        array([0. , 0.5, 1. ])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.clip.html
    """
    if min is None and max is None:
        return ops.positive(x)
    dtype = clip_dtype(x, min, max)
    check_fill("clip", "min", min, dtype)
    check_fill("clip", "max", max, dtype)
    x = ops.astype(x, dtype, copy=False)
    if min is not None:
        x = ops.maximum(x, _bound(min, dtype))
    if max is not None:
        x = ops.minimum(x, _bound(max, dtype))
    return x


def _bound(bound: Array | float, dtype: dtypes.DType) -> Array | float:
    return ops.astype(bound, dtype, copy=False) if hasattr(bound, "dtype") else bound


#: 10ᵈ of more decimals d is not a float64.
_MOST_DECIMALS = 308


@primitive(traits=TRAITS | Trait.CONSTANT)
@of_bools(itself)
def ceil(x: Array, /) -> Array:
    """The smallest integer not below x, ⌈x⌉, in the dtype of x.

    Args:
        x: real.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.ceil(np.asarray([1.5, -1.5]))
        array([ 2., -1.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.ceil.html
    """


@primitive(traits=TRAITS | Trait.CONSTANT)
@of_bools(itself)
def floor(x: Array, /) -> Array:
    """The largest integer not above x, ⌊x⌋, in the dtype of x.

    Args:
        x: real.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.floor(np.asarray([1.5, -1.5]))
        array([ 1., -2.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.floor.html
    """


@primitive(traits=TRAITS | Trait.CONSTANT)
@of_bools(itself)
def trunc(x: Array, /) -> Array:
    """The integer part: x rounded towards 0, in the dtype of x.

    Args:
        x: real.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.trunc(np.asarray([1.5, -1.5]))
        array([ 1., -1.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.trunc.html
    """


@op(traits=TRAITS | Trait.CONSTANT)
@of_bools(itself)
def round(x: Array, /, *, decimals: int = 0) -> Array:
    """The nearest integer, or multiple of 10⁻ᵈ; halves round to even.

    Args:
        x: any number.
        decimals: the number d of decimal places; negative numbers round to tens, hundreds, ….

    Returns:
        the shape and dtype of `x`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.round(np.asarray([0.5, 1.5, 2.4]))
        array([0., 2., 2.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.round.html
    """
    scale = 10 ** builtins.abs(decimals)
    if not dtypes.dtype_of(x).is_integer:
        if decimals == 0:
            return ops.round(x)
        if decimals > _MOST_DECIMALS:
            return ops.positive(x)
        if decimals < -_MOST_DECIMALS:
            return ops.multiply(x, 0.0)
        if decimals > 0:
            return ops.divide(ops.round(ops.multiply(x, float(scale))), float(scale))
        return ops.multiply(ops.round(ops.divide(x, float(scale))), float(scale))
    if decimals >= 0:
        return ops.positive(x)
    quotient = ops.floor_divide(x, scale)
    twice = ops.multiply(ops.subtract(x, ops.multiply(quotient, scale)), 2)
    odd = ops.equal(ops.remainder(quotient, 2), 1)
    up = ops.logical_or(ops.greater(twice, scale), ops.logical_and(ops.equal(twice, scale), odd))
    return ops.multiply(ops.add(quotient, ops.astype(up, dtypes.dtype_of(x))), scale)


@op
@through_numbers
def heaviside(x1: Array, x2: Array, /) -> Array:
    """The step function: 0 where x1 < 0, x2 where x1 = 0, 1 where x1 > 0; NaN for NaN.

    Args:
        x1: real; broadcasts with `x2`, the dtypes promote.
        x2: real.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.heaviside(np.asarray([-1.5, 0.0, 2.0]), 0.5)
        array([0. , 0.5, 1. ])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.heaviside.html
    """
    x1, x2 = ops.multiply(x1, _one(x2)), ops.multiply(x2, _one(x1))
    step = ops.astype(ops.greater(x1, 0), dtypes.dtype_of(x1))
    return ops.where(ops.isnan(x1), x1, ops.where(ops.equal(x1, 0), x2, step))


def _one(x: Array | float) -> Array | float:
    """1 of the shape and dtype of an array; of a number one of its type, which has no backend."""
    return type(x)(1) if isinstance(x, (int, float)) else ops.ones_like(x)


@primitive
def copysign(x1: Array, x2: Array, /) -> Array:
    """The magnitude of x1 with the sign of x2, including the sign of −0.0.

    Args:
        x1: floating; integers become float32; broadcasts with `x2`, the dtypes promote.
        x2: floating; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.copysign(np.asarray([1.0, -2.0]), np.asarray([-0.0, 3.0]))
        array([-1.,  2.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.copysign.html
    """


@primitive
def nextafter(x1: Array, x2: Array, /) -> Array:
    """The next representable number after x1 in the direction of x2.

    Args:
        x1: real, floating; broadcasts with `x2`, the dtypes promote.
        x2: real, floating.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.nextafter(np.asarray([1.0], "float16"), np.asarray([2.0], "float16"))
        array([1.001], dtype=float16)

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.nextafter.html
    """


@op
def nan_to_num(
    x: Array, /, *, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Array:
    """`x` with NaN and ±∞ replaced by numbers.

    Args:
        x: real.
        nan: the replacement of NaN.
        posinf: the replacement of +∞; None means the largest finite number of the dtype.
        neginf: the replacement of −∞; None means the smallest finite number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.nan_to_num(np.asarray([np.nan, np.inf, 1.0]), posinf=9.0)
        array([0., 9., 1.])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.nan_to_num.html
    """
    dtype = dtypes.dtype_of(x)
    if not dtype.is_inexact:
        return ops.positive(x)
    if dtype.kind == "complex":
        parts = (
            ops.nan_to_num(part, nan=nan, posinf=posinf, neginf=neginf)
            for part in (ops.real(x), ops.imag(x))
        )
        return ops.complex(*parts)
    largest = dtypes.finfo(dtype).max
    x = ops.where(ops.isnan(x), nan, x)
    x = ops.where(ops.equal(x, math.inf), largest if posinf is None else posinf, x)
    return ops.where(ops.equal(x, -math.inf), -largest if neginf is None else neginf, x)


@op
def lerp(start: Array, end: Array, weight: Array | float) -> Array:
    """Linear interpolation, start + weight · (end − start).

    Args:
        start: floating, at weight 0.
        end: floating, at weight 1; broadcasts with `start`.
        weight: floating, broadcasts too, or a number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.lerp(np.asarray([0.0, 10.0]), np.asarray([1.0, 20.0]), 0.25)
        array([ 0.25, 12.5 ])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.lerp.html
    """
    return ops.add(start, ops.multiply(weight, ops.subtract(end, start)))


@primitive
@of_bools(itself)
def real(x: Array, /) -> Array:
    """The real part; `x` itself if it is real.

    Args:
        x: any number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.real(np.asarray([1.0 + 2.0j]))
        array([1.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.real.html
    """


@primitive
def imag(x: Array, /) -> Array:
    """The imaginary part; zeros if `x` is real.

    Args:
        x: any number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.imag(np.asarray([1.0 + 2.0j]))
        array([2.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.imag.html
    """


@primitive
@of_bools(itself)
def conj(x: Array, /) -> Array:
    """The complex conjugate; `x` itself if it is real.

    Args:
        x: any number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.conj(np.asarray([1.0 + 2.0j]))
        array([1.-2.j])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.conj.html
    """


@op
def angle(x: Array, /) -> Array:
    """The argument in (−π, π]; of real numbers π below 0, else 0, also for −0.

    Args:
        x: floating; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.angle(np.asarray([1.0 + 1.0j]))
        array([0.78539816])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.angle.html
    """
    return ops.atan2(ops.imag(x), ops.real(x))
