"""Exponentials, logarithms, roots, trigonometric and hyperbolic functions."""

from __future__ import annotations

import math

from nestarray import dtypes, ops
from nestarray.backends.base import refuse_complex
from nestarray.dispatch import Trait, floating_op, op, primitive
from nestarray.typing import Array

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "cos",
    "cosh",
    "deg2rad",
    "exp",
    "exp2",
    "expm1",
    "hypot",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "rad2deg",
    "rsqrt",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]
TRAITS = Trait.ELEMENTWISE


@primitive
def exp(x: Array, /) -> Array:
    """The exponential, eˣ.

    Args:
        x: floating; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.exp(np.asarray([0.0, 1.0]))
        array([1.        , 2.71828183])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.exp.html
    """


@primitive
def expm1(x: Array, /) -> Array:
    """eˣ − 1, accurate for small x.

    Args:
        x: floating; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.expm1(np.asarray([0.0, 1e-10]))
        array([0.e+00, 1.e-10])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.expm1.html
    """


@primitive
def exp2(x: Array, /) -> Array:
    """The power of two, 2ˣ.

    JAX computes exp(x · ln 2), which amplifies the rounding error by x: at 105 it is 65 ulp. Half
    precision is computed in float32.

    Args:
        x: floating; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.exp2(np.asarray([0.0, 3.0]))
        array([1., 8.])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.exp2.html
    """


@primitive
def log(x: Array, /) -> Array:
    """The natural logarithm, ln x; NaN below 0, −∞ at 0.

    Args:
        x: floating; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.log(np.asarray([1.0, np.e]))
        array([0., 1.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.log.html
    """


@primitive
def log1p(x: Array, /) -> Array:
    """ln(1 + x), accurate for small x.

    Args:
        x: floating; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.log1p(np.asarray([0.0, 1e-10]))
        array([0.e+00, 1.e-10])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.log1p.html
    """


@primitive
def log2(x: Array, /) -> Array:
    """The logarithm to base 2.

    Args:
        x: floating; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.log2(np.asarray([1.0, 8.0]))
        array([0., 3.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.log2.html
    """


@primitive
def log10(x: Array, /) -> Array:
    """The logarithm to base 10.

    Args:
        x: floating; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.log10(np.asarray([1.0, 100.0]))
        array([0., 2.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.log10.html
    """


@primitive(traits=TRAITS | Trait.COMMUTATIVE)
def logaddexp(x1: Array, x2: Array, /) -> Array:
    """ln(eˣ¹ + eˣ²), without overflow.

    Where the sum is close to 1 the result has the rounding error of the operands. Where both are
    −∞ the derivative is 0. Complex numbers give the principal value, as in `logsumexp`; with infinite
    parts it depends on the framework.

    Args:
        x1: floating or complex; integers become float32; broadcasts with `x2`, the dtypes promote.
        x2: floating or complex; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.logaddexp(np.asarray([0.0, 1000.0]), np.asarray([0.0, 1000.0]))
        array([6.93147181e-01, 1.00069315e+03])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.logaddexp.html
    """


@primitive
def sqrt(x: Array, /) -> Array:
    """The square root, √x; NaN below 0.

    Args:
        x: floating; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.sqrt(np.asarray([4.0, 9.0]))
        array([2., 3.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.sqrt.html
    """


@op
def rsqrt(x: Array, /) -> Array:
    """The reciprocal square root, 1/√x.

    Args:
        x: floating; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.rsqrt(np.asarray([4.0, 0.25]))
        array([0.5, 2. ])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.rsqrt.html
    """
    return ops.reciprocal(ops.sqrt(x))


@primitive
def sin(x: Array, /) -> Array:
    """The sine of x radians.

    Args:
        x: floating; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.sin(np.asarray([0.0, np.pi / 2]))
        array([0., 1.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.sin.html
    """


@primitive
def cos(x: Array, /) -> Array:
    """The cosine of x radians.

    Args:
        x: floating; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.cos(np.asarray([0.0, np.pi]))
        array([ 1., -1.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.cos.html
    """


@primitive
def tan(x: Array, /) -> Array:
    """The tangent of x radians.

    Args:
        x: floating; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.tan(np.asarray([0.0, 1.0]))
        array([0.        , 1.55740772])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.tan.html
    """


@primitive
def asin(x: Array, /) -> Array:
    """The angle in [−π/2, π/2] whose sine is x; NaN outside [−1, 1].

    Args:
        x: floating; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.asin(np.asarray([0.0, 1.0]))
        array([0.        , 1.57079633])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.asin.html
    """


@primitive
def acos(x: Array, /) -> Array:
    """The angle in [0, π] whose cosine is x; NaN outside [−1, 1].

    Args:
        x: floating; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.acos(np.asarray([1.0, 0.0]))
        array([0.        , 1.57079633])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.acos.html
    """


@primitive
def atan(x: Array, /) -> Array:
    """The angle in [−π/2, π/2] whose tangent is x.

    Args:
        x: floating; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.atan(np.asarray([0.0, 1.0]))
        array([0.        , 0.78539816])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.atan.html
    """


@primitive
def atan2(x1: Array, x2: Array, /) -> Array:
    """The angle in [−π, π] of the point (x2, x1).

    Args:
        x1: floating; integers become float32; the ordinate; broadcasts with `x2`, the dtypes promote.
        x2: floating; integers become float32; the abscissa.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.atan2(np.asarray([1.0, -1.0]), np.asarray([1.0, -1.0]))
        array([ 0.78539816, -2.35619449])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.atan2.html
    """


@primitive
def sinh(x: Array, /) -> Array:
    """The hyperbolic sine, (eˣ − e⁻ˣ) / 2.

    In float32, JAX is accurate to 25 ulp.

    Args:
        x: floating; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.sinh(np.asarray([0.0, 1.0]))
        array([0.        , 1.17520119])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.sinh.html
    """


@primitive
def cosh(x: Array, /) -> Array:
    """The hyperbolic cosine, (eˣ + e⁻ˣ) / 2.

    In float32, JAX is accurate to 25 ulp.

    Args:
        x: floating; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.cosh(np.asarray([0.0, 1.0]))
        array([1.        , 1.54308063])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.cosh.html
    """


@primitive
def tanh(x: Array, /) -> Array:
    """The hyperbolic tangent, sinh x / cosh x.

    Args:
        x: floating; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.tanh(np.asarray([0.0, 1.0]))
        array([0.        , 0.76159416])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.tanh.html
    """


@primitive
def asinh(x: Array, /) -> Array:
    """The inverse of `sinh`.

    Args:
        x: floating; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.asinh(np.asarray([0.0, 1.0]))
        array([0.        , 0.88137359])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.asinh.html
    """


@primitive
def acosh(x: Array, /) -> Array:
    """The inverse of `cosh`; NaN below 1.

    Args:
        x: floating; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.acosh(np.asarray([1.0, 2.0]))
        array([0.       , 1.3169579])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.acosh.html
    """


@primitive
def atanh(x: Array, /) -> Array:
    """The inverse of `tanh`; NaN outside [−1, 1], ±∞ at ±1.

    Args:
        x: floating; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.atanh(np.asarray([0.0, 0.5]))
        array([0.        , 0.54930614])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.atanh.html
    """


@primitive(traits=TRAITS | Trait.COMMUTATIVE)
def hypot(x1: Array, x2: Array, /) -> Array:
    """The length of the vector (x1, x2), √(x1² + x2²), without overflow.

    Args:
        x1: floating; integers become float32; broadcasts with `x2`, the dtypes promote.
        x2: floating; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.hypot(np.asarray([3.0, 1e200]), np.asarray([4.0, 1e200]))
        array([5.00000000e+000, 1.41421356e+200])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.hypot.html
    """


@op
def cbrt(x: Array, /) -> Array:
    """The real cube root, ∛x, with the sign of x.

    Args:
        x: real; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.cbrt(np.asarray([-8.0, 27.0]))
        array([-2.,  3.])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.cbrt.html
    """
    refuse_complex(x)
    dtype = dtypes.dtype_of(x)
    wide = x if dtype is dtypes.float64 else ops.astype(x, dtypes.float32, copy=False)
    size = ops.abs(wide)
    plain = ops.logical_and(size > 0.0, ops.isfinite(size))
    safe = ops.where(plain, size, 1.0)
    guess = ops.pow(safe, 1.0 / 3.0)
    # One step of Newton's method corrects the power: ⅓ is not representable.
    root = guess - (guess - safe / (guess * guess)) / 3.0
    zero = size == 0.0
    rest = ops.where(
        zero, ops.sqrt(ops.where(zero, wide, 1.0)), wide
    )  # its derivative at 0 is infinite
    root = ops.where(plain, ops.where(wide < 0.0, -root, root), rest)
    return ops.astype(root, dtype, copy=False) if dtype.is_floating else root


@floating_op(traits=TRAITS | Trait.COMMUTATIVE)
def logaddexp2(x1: Array, x2: Array, /) -> Array:
    """The logarithm to base 2 of a sum of powers of 2, log₂(2^x1 + 2^x2), without overflow.

    Where the sum is close to 1 the result has the rounding error of the operands.

    Args:
        x1: floating; integers become float32; broadcasts with `x2`, the dtypes promote.
        x2: floating; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.logaddexp2(np.asarray([1000.0]), np.asarray([1000.0]))
        array([1001.])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.logaddexp2.html
    """
    refuse_complex(x1)
    refuse_complex(x2)
    ln2 = math.log(2.0)
    return ops.divide(ops.logaddexp(ops.multiply(x1, ln2), ops.multiply(x2, ln2)), ln2)


@op
def deg2rad(x: Array, /) -> Array:
    """Convert degrees to radians, x π / 180.

    Args:
        x: floating; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.deg2rad(np.asarray([0.0, 180.0]))
        array([0.        , 3.14159265])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.deg2rad.html
    """
    return ops.multiply(x, math.pi / 180.0)


@op
def rad2deg(x: Array, /) -> Array:
    """Convert radians to degrees, x 180 / π.

    Args:
        x: floating; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.rad2deg(np.asarray([0.0, np.pi]))
        array([  0., 180.])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.rad2deg.html
    """
    return ops.multiply(x, 180.0 / math.pi)
