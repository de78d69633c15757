"""Special functions: error functions, gamma functions and logarithmic products.

The bodies are accurate to float64 rounding, so that NumPy without SciPy computes the same GELU and
the same random normals as the other backends.
"""

from __future__ import annotations

import math

from nestarray import dtypes, ops
from nestarray.backends.base import refuse_complex
from nestarray.dispatch import Trait, floating_op, op
from nestarray.errors import ArgumentError
from nestarray.typing import Array

__all__ = [
    "digamma",
    "divide_no_nan",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "lgamma",
    "log_ndtr",
    "logit",
    "multigammaln",
    "ndtr",
    "ndtri",
    "sinc",
    "xlog1py",
    "xlogy",
]
TRAITS = Trait.ELEMENTWISE


def _working(x: Array) -> Array:
    """`x` in the floating dtype to compute in: float64, or float32 for everything narrower."""
    refuse_complex(x)
    dtype = dtypes.dtype_of(x)
    return x if dtype is dtypes.float64 else ops.astype(x, dtypes.float32, copy=False)


def _as_result(y: Array, x: Array) -> Array:
    """`y` in the dtype of the result: the dtype of `x`, or float32 for integers."""
    dtype = dtypes.dtype_of(x)
    return ops.astype(y, dtype, copy=False) if dtype.is_floating else y


def _ratio(x: Array, numerator: tuple[float, ...], denominator: tuple[float, ...]) -> Array:
    """The quotient of two polynomials, coefficients of the highest power first."""
    return _polynomial(x, numerator) / _polynomial(x, denominator)


def _polynomial(x: Array, coefficients: tuple[float, ...]) -> Array:
    result = x * coefficients[0] + coefficients[1]
    for c in coefficients[2:]:
        result = result * x + c
    return result


# The three rational approximations of W. J. Cody (1969), for |x| up to 0.46875, to 4 and beyond.
_SMALL = (
    (1.85777706184603153e-1, 3.16112374387056560e0, 1.13864154151050156e2,
     3.77485237685302021e2, 3.20937758913846947e3),
    (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3,
     2.84423683343917062e3),
)  # fmt: skip
_MIDDLE = (
    (2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0,
     6.61191906371416295e1, 2.98635138197400131e2, 8.81952221241769090e2,
     1.71204761263407058e3, 2.05107837782607147e3, 1.23033935479799725e3),
    (1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2,
     1.62138957456669019e3, 3.29079923573345963e3, 4.36261909014324716e3,
     3.43936767414372164e3, 1.23033935480374942e3),
)  # fmt: skip
_LARGE = (
    (1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1,
     1.25781726111229246e-1, 1.60837851487422766e-2, 6.58749161529837803e-4),
    (1.0, 2.56852019228982242e0, 1.87295284992346725e0, 5.27905102951428412e-1,
     6.05183413124413191e-2, 2.33520497626869185e-3),
)  # fmt: skip
_SQRT_PI = math.sqrt(math.pi)


def _erf_near_zero(x: Array) -> Array:
    """erf x for |x| ≤ 0.46875."""
    return x * _ratio(x * x, *_SMALL)


def _erfcx_beyond(y: Array) -> Array:
    """exp(y²) erfc y for y ≥ 0.46875."""
    middle = ops.clip(y, 0.46875, 4.0)
    scaled_middle = _ratio(middle, *_MIDDLE)
    inverse = 1.0 / ops.clip(y, min=4.0)
    square = inverse * inverse
    tail = square * _ratio(square, *_LARGE)
    return ops.where(y <= 4.0, scaled_middle, (1.0 / _SQRT_PI - tail) * inverse)


def _erfc_beyond(y: Array) -> Array:
    """erfc y for y ≥ 0.46875, without cancellation."""
    scaled = _erfcx_beyond(y)
    # exp(−y²) with y² split in two parts, the first exact, to avoid the rounding error of y².
    bounded = ops.clip(y, 0.0, 30.0)
    coarse = ops.trunc(bounded * 16.0) / 16.0
    rest = (bounded - coarse) * (bounded + coarse)
    return ops.exp(-coarse * coarse) * ops.exp(-rest) * scaled


@op
def erf(x: Array, /) -> Array:
    """The error function, 2/√π ∫₀ˣ exp(−t²) dt.

    Args:
        x: real; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.erf(np.asarray([0.0, 1.0]))
        array([0.        , 0.84270079])

    References:
        W. J. Cody, Rational Chebyshev approximations for the error function, 1969.
        https://docs.pytorch.org/docs/stable/special.html#torch.special.erf
    """
    wide = _working(x)
    y = ops.abs(wide)
    small = ops.clip(wide, -0.46875, 0.46875)
    beyond = ops.copysign(1.0 - _erfc_beyond(y), wide)
    result = ops.where(y <= 0.46875, _erf_near_zero(small), beyond)
    return _as_result(ops.where(ops.isnan(wide), wide, result), x)


@op
def erfc(x: Array, /) -> Array:
    """The complementary error function, 1 − erf x, without cancellation.

    Above 3, JAX and TensorFlow are accurate to 60 ulp in float32.

    Args:
        x: real; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.erfc(np.asarray([0.0, 10.0]))
        array([1.00000000e+00, 2.08848758e-45])

    References:
        W. J. Cody, Rational Chebyshev approximations for the error function, 1969.
        https://docs.pytorch.org/docs/stable/special.html#torch.special.erfc
    """
    wide = _working(x)
    y = ops.abs(wide)
    small = ops.clip(wide, -0.46875, 0.46875)
    tail = _erfc_beyond(y)
    beyond = ops.where(wide < 0.0, 2.0 - tail, tail)
    result = ops.where(y <= 0.46875, 1.0 - _erf_near_zero(small), beyond)
    return _as_result(ops.where(ops.isnan(wide), wide, result), x)


@op
def erfcx(x: Array, /) -> Array:
    """The scaled complementary error function, exp(x²) · erfc x; about 1 / (√π x) for large x.

    Args:
        x: real; integers become float32.

    Returns:
        the shape of `x`, its dtype, float32 for integers; +∞ where it overflows, below −26.6.
        Below 0, PyTorch is accurate to 65 ulp in float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.erfcx(np.asarray([0.0, 100.0]))
        array([1.        , 0.00564161])

    References:
        W. J. Cody, Rational Chebyshev approximations for the error function, 1969.
        https://docs.pytorch.org/docs/stable/special.html#torch.special.erfcx
    """
    wide = _working(x)
    y = ops.abs(wide)
    small = ops.clip(wide, -0.46875, 0.46875)
    near = ops.exp(small * small) * (1.0 - _erf_near_zero(small))
    beyond = _erfcx_beyond(y)
    # For x < 0 it is 2 exp(x²) − erfcx |x|; x² is split as in `erfc`.
    limit = math.sqrt(math.log(0.5 * dtypes.finfo(dtypes.dtype_of(wide)).max))
    bounded = ops.clip(ops.where(wide < 0.0, y, 0.0), 0.0, limit)
    coarse = ops.trunc(bounded * 16.0) / 16.0
    rest = (bounded - coarse) * (bounded + coarse)
    mirrored = 2.0 * ops.exp(coarse * coarse) * ops.exp(rest) - beyond
    mirrored = ops.where(y > limit, math.inf, mirrored)
    result = ops.where(y <= 0.46875, near, ops.where(wide < 0.0, mirrored, beyond))
    return _as_result(ops.where(ops.isnan(wide), wide, result), x)


@op
def erfinv(x: Array, /) -> Array:
    """The inverse of `erf`; ±∞ at ±1, NaN outside [−1, 1].

    Within 0.01 of ±1, JAX is accurate to 65 ulp in float32.

    Args:
        x: real; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.erfinv(np.asarray([0.0, 0.5, 1.0]))
        array([0.        , 0.47693628,        inf])

    References:
        S. Winitzki, A handy approximation for the error function and its inverse, 2008.
        https://docs.pytorch.org/docs/stable/special.html#torch.special.erfinv
    """
    wide = _working(x)
    magnitude = ops.abs(wide)
    inside = magnitude < 1.0
    small = (
        magnitude < 1e-4
    )  # two terms are accurate to 2e-17 here, where the derivative of the root is large
    y = ops.where(ops.logical_and(inside, magnitude >= 1e-4), magnitude, ops.full_like(wide, 0.5))
    # Winitzki's formula is accurate to 2e-3; Halley's step cubes the error, so three steps suffice.
    log = ops.log1p(-y * y)
    half = 2.0 / (math.pi * 0.147) + log * 0.5
    guess = ops.sqrt(ops.maximum(ops.sqrt(half * half - log / 0.147) - half, 0.0))
    for _ in range(3):
        # For y near 1 the complement is exact, and its erfc has full relative accuracy.
        error = ops.where(y < 0.5, ops.erf(guess) - y, (1.0 - y) - ops.erfc(guess))
        step = error * (0.5 * _SQRT_PI) * ops.exp(guess * guess)
        guess = guess - step / (1.0 + guess * step)
    near = ops.where(small, wide, ops.zeros_like(wide))
    series = near * (0.5 * _SQRT_PI) * (1.0 + near * near * (math.pi / 12.0))
    signed = ops.where(small, series, ops.copysign(guess, wide))
    edge = ops.where(magnitude == 1.0, ops.copysign(ops.full_like(wide, math.inf), wide), math.nan)
    return _as_result(ops.where(inside, signed, edge), x)


@op
def ndtr(x: Array, /) -> Array:
    """The cumulative distribution function of the standard normal distribution, erfc(−x / √2) / 2.

    Below 0 the rounding error of x / √2 is amplified by x²: at −12 it is 100 ulp.

    Args:
        x: real; integers become float32.

    Returns:
        the shape of `x`, its dtype, float32 for integers.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.ndtr(np.asarray([0.0, 1.96]))
        array([0.5      , 0.9750021])

    References:
        https://docs.pytorch.org/docs/stable/special.html#torch.special.ndtr
    """
    wide = _working(x)
    return _as_result(0.5 * ops.erfc(wide * -math.sqrt(0.5)), x)


@op
def log_ndtr(x: Array, /) -> Array:
    """The logarithm of `ndtr`, accurate also where `ndtr` rounds to 0 or 1.

    Above 0 it is about −ndtr(−x), with the accuracy of `ndtr`.

    Args:
        x: real; integers become float32.

    Returns:
        the shape of `x`, its dtype, float32 for integers.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.log_ndtr(np.asarray([0.0, -100.0]))
        array([-6.93147181e-01, -5.00552421e+03])

    References:
        https://docs.pytorch.org/docs/stable/special.html#torch.special.log_ndtr
    """
    wide = _working(x)
    scaled = wide * math.sqrt(0.5)
    left = scaled < -0.5
    endless = wide == -math.inf
    low = ops.where(ops.logical_and(left, ops.logical_not(endless)), scaled, -1.0)
    below = ops.log(0.5 * ops.erfcx(-low)) - low * low
    high = ops.where(left, 0.0, scaled)
    result = ops.where(left, below, ops.log1p(-0.5 * ops.erfc(high)))
    return _as_result(ops.where(endless, wide, result), x)


@op
def ndtri(x: Array, /) -> Array:
    """The quantile of the standard normal distribution, the inverse of `ndtr`.

    Args:
        x: real, a probability; −∞ at 0, +∞ at 1, NaN outside.

    Returns:
        the shape of `x`, its dtype, float32 for integers.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.ndtri(np.asarray([0.5, 0.975]))
        array([0.        , 1.95996398])

    References:
        M. Abramowitz and I. Stegun, Handbook of mathematical functions, 26.2.23, 1964.
        https://docs.pytorch.org/docs/stable/special.html#torch.special.ndtri
    """
    wide = _working(x)
    central = ops.abs(wide - 0.5) <= 0.25
    middle = math.sqrt(2.0) * ops.erfinv(2.0 * ops.where(central, wide, 0.5) - 1.0)
    outer = ops.logical_and(ops.logical_and(wide > 0.0, wide < 1.0), ops.logical_not(central))
    tail = ops.where(outer, ops.minimum(wide, 1.0 - wide), 0.125)
    log = ops.log(tail)
    t = ops.sqrt(-2.0 * log)
    z = (
        _ratio(t, (0.010328, 0.802853, 2.515517), (0.001308, 0.189269, 1.432788, 1.0)) - t
    )  # accurate to 5e-4; Newton's step on ln Φ(z) = ln p squares the error
    for _ in range(3):
        value = ops.log_ndtr(z)
        slope = ops.exp(-0.5 * z * z - value) / math.sqrt(2.0 * math.pi)
        z = z - (value - log) / slope
    signed = ops.where(wide > 0.5, -z, z)
    nan = ops.full_like(wide, math.nan)
    edge = ops.where(wide == 0.0, -math.inf, ops.where(wide == 1.0, math.inf, nan))
    return _as_result(ops.where(central, middle, ops.where(outer, signed, edge)), x)


# Stirling's series: Bernoulli numbers B₂ₖ / (2k (2k − 1)) and B₂ₖ / 2k, highest power first.
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
_STIRLING = tuple(b / (2 * k * (2 * k - 1)) for k, b in enumerate(_BERNOULLI, 1))[::-1]
_DIGAMMA = tuple(b / (2 * k) for k, b in enumerate(_BERNOULLI, 1))[::-1]
_SHIFT = 8


@op
def lgamma(x: Array, /) -> Array:
    """The logarithm of the absolute value of the gamma function, ln |Γ(x)|.

    +∞ at 0, the negative integers and ±∞. Near its zeros 1 and 2, JAX has an error of 10⁻⁶ in float32.

    Args:
        x: real; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.lgamma(np.asarray([3.0, 5.0]))
        array([0.69314718, 3.17805383])

    References:
        https://docs.pytorch.org/docs/stable/special.html#torch.special.gammaln
    """
    wide = _working(x)
    reflect = wide < 0.5
    y = ops.where(reflect, 1.0 - wide, wide)
    finite = ops.where(ops.isfinite(y), y, ops.ones_like(y))
    product = finite
    for shift in range(1, _SHIFT):
        product = product * (ops.clip(finite, max=_SHIFT) + float(shift))
    near = finite < _SHIFT
    shifted = ops.where(near, finite + float(_SHIFT), finite)
    inverse = 1.0 / shifted
    series = inverse * _polynomial(inverse * inverse, _STIRLING)
    value = (shifted - 0.5) * ops.log(shifted) - shifted + 0.5 * math.log(2.0 * math.pi) + series
    value = ops.where(near, value - ops.log(ops.where(near, product, 1.0)), value)
    value = ops.where(ops.isfinite(y), value, ops.abs(y))
    # ln |Γ(x)| = ln π − ln |sin πx| − ln Γ(1 − x); the sine of the distance to the next integer is exact.
    bounded = ops.where(ops.isfinite(wide), wide, 0.25 + ops.zeros_like(wide))
    sine = ops.abs(ops.sin(math.pi * (bounded - ops.round(bounded))))
    pole = sine == 0.0
    reflected = math.log(math.pi) - ops.log(ops.where(pole, 1.0, sine)) - value
    reflected = ops.where(pole, math.inf, reflected)
    reflected = ops.where(ops.isfinite(wide), reflected, ops.abs(wide))
    return _as_result(ops.where(reflect, reflected, value), x)


@op
def digamma(x: Array, /) -> Array:
    """The derivative of ln Γ, ψ(x) = Γ′(x) / Γ(x).

    NaN at the negative integers, where the sign of the pole depends on the side; −∞ at 0. Near its
    zeros, such as 1.4616, it has an error of 10⁻⁶ in float32, except with SciPy on NumPy.

    Args:
        x: real; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.digamma(np.asarray([1.0, 2.0]))
        array([-0.57721566,  0.42278434])

    References:
        https://docs.pytorch.org/docs/stable/special.html#torch.special.digamma
    """
    wide = _working(x)
    reflect = wide < 0.5
    y = ops.where(reflect, 1.0 - wide, wide)
    total = ops.zeros_like(y)
    shifted = y
    for _ in range(_SHIFT):
        small = shifted < _SHIFT
        total = total + ops.where(small, 1.0 / ops.where(small, shifted, 1.0), 0.0)
        shifted = ops.where(small, shifted + 1.0, shifted)
    inverse = 1.0 / shifted
    square = inverse * inverse
    value = ops.log(shifted) - 0.5 * inverse - square * _polynomial(square, _DIGAMMA) - total
    bounded = ops.where(ops.isfinite(wide), wide, 0.25 + ops.zeros_like(wide))
    part = bounded - ops.round(bounded)
    pole = part == 0.0
    tangent = ops.tan(math.pi * ops.where(pole, 0.25 + ops.zeros_like(part), part))
    reflected = ops.where(pole, math.nan, value - math.pi / tangent)
    reflected = ops.where(wide == 0.0, ops.copysign(math.inf, -wide), reflected)
    reflected = ops.where(ops.isfinite(wide), reflected, math.nan)
    return _as_result(ops.where(reflect, reflected, value), x)


@op
def xlogy(x1: Array, x2: Array, /) -> Array:
    """x1 · ln x2; 0 where x1 = 0, unless x2 is NaN.

    Where both are 0, both derivatives are 0.

    Args:
        x1: real; broadcasts with `x2`, the dtypes promote.
        x2: real.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.xlogy(np.asarray([0.0, 2.0]), np.asarray([0.0, np.e]))
        array([0., 2.])

    References:
        https://docs.pytorch.org/docs/stable/special.html#torch.special.xlogy
    """
    refuse_complex(x1)
    refuse_complex(x2)
    zero = _without_product(x1, x2, 0.0)
    # Value and gradient of the unselected branch must be finite.
    return ops.where(
        zero, ops.multiply(x1, 0.0), ops.multiply(x1, ops.log(ops.where(zero, 1.0, x2)))
    )


def _without_product(x1: Array, x2: Array, pole: float) -> Array:
    """Whether x1 is 0 and the logarithm of `x2` is infinite (x2 ≤ `pole` or x2 = ∞); False for NaN.

    Elsewhere the product is 0 and has the derivatives of the product rule.
    """
    is_pole = ops.logical_or(ops.less_equal(x2, pole), ops.equal(x2, math.inf))
    return ops.logical_and(ops.equal(x1, 0), is_pole)


@op
def xlog1py(x1: Array, x2: Array, /) -> Array:
    """x1 · ln(1 + x2); 0 where x1 = 0, unless x2 is NaN.

    Args:
        x1: real; broadcasts with `x2`, the dtypes promote.
        x2: real.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.xlog1py(np.asarray([0.0, 2.0]), np.asarray([-1.0, np.e - 1.0]))
        array([0., 2.])

    References:
        https://docs.pytorch.org/docs/stable/special.html#torch.special.xlog1py
    """
    refuse_complex(x1)
    refuse_complex(x2)
    zero = _without_product(x1, x2, -1.0)
    return ops.where(
        zero, ops.multiply(x1, 0.0), ops.multiply(x1, ops.log1p(ops.where(zero, 0.0, x2)))
    )


@op(promoted=("x1", "x2"))
def divide_no_nan(x1: Array, x2: Array, /) -> Array:
    """x1 / x2; 0 with derivative 0 where x2 = 0.

    Args:
        x1: any number; broadcasts with `x2`, the dtypes promote.
        x2: any number.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.divide_no_nan(np.asarray([1.0, 1.0]), np.asarray([0.0, 2.0]))
        array([0. , 0.5])

    References:
        https://www.tensorflow.org/api_docs/python/tf/math/divide_no_nan
    """
    is_zero = ops.equal(x2, 0)
    return ops.where(is_zero, 0.0, ops.divide(x1, ops.where(is_zero, 1, x2)))


@floating_op
def entr(x: Array, /) -> Array:
    """The entropy of a probability, −x ln x; 0 at 0, −∞ for negative numbers.

    Args:
        x: real.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.entr(np.asarray([0.0, 1.0, -1.0])) + 0.0
        array([  0.,   0., -inf])

    References:
        https://docs.pytorch.org/docs/stable/special.html#torch.special.entr
    """
    refuse_complex(x)
    return ops.where(ops.less(x, 0), -math.inf, -ops.xlogy(x, ops.maximum(x, 0)))


@floating_op
def multigammaln(x: Array, /, *, p: int) -> Array:
    """The logarithm of the multivariate gamma function of dimension p.

    It is p (p − 1) / 4 · ln π + Σⱼ ln Γ(x + (1 − j) / 2), j from 1 to p.

    Args:
        x: real, greater than (p − 1) / 2; NaN elsewhere.
        p: the dimension, at least 1.

    Raises:
        ArgumentError: `p` is below 1.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.multigammaln(np.asarray([2.0]), p=1)
        array([0.])

    References:
        https://docs.pytorch.org/docs/stable/special.html#torch.special.multigammaln
    """
    refuse_complex(x)
    if p < 1:
        raise ArgumentError(f"multigammaln: p: got {p}, expected at least 1")
    total = p * (p - 1) / 4 * math.log(math.pi)
    for j in range(p):
        total = total + ops.lgamma(x - j / 2)
    return ops.where(ops.greater(x, (p - 1) / 2), total, math.nan)


@floating_op
def logit(x: Array, /, *, eps: float | None = None) -> Array:
    """The log-odds, ln(x / (1 − x)), the inverse of `sigmoid`.

    It is computed as ln x − ln(1 − x): near its zero 0.5, it has the rounding error of 1.

    Args:
        x: real, in [0, 1]; NaN outside, ±∞ at the ends.
        eps: clip `x` to [eps, 1 − eps] first; None: do not clip.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.logit(np.asarray([0.5, 0.9]))
        array([0.        , 2.19722458])

    References:
        https://docs.pytorch.org/docs/stable/special.html#torch.special.logit
    """
    refuse_complex(x)
    if eps is not None:
        x = ops.clip(x, eps, 1.0 - eps)
    return ops.subtract(ops.log(x), ops.log1p(ops.negative(x)))


@op
def sinc(x: Array, /) -> Array:
    """The normalized sinc function, sin(πx) / (πx); 1 at 0.

    πx is rounded to the dtype of `x`: at integers the result is of the order of this rounding error
    instead of 0, and it is NaN where πx overflows.

    Args:
        x: floating or complex; integers become float32.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.sinc(np.asarray([0.0, 0.5]))
        array([1.        , 0.63661977])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.sinc.html
    """
    wide = x if dtypes.dtype_of(x).kind == "complex" else _working(x)
    near = ops.less(ops.abs(wide), 0.03)  # where derivatives of the quotient cancel
    angle = math.pi * ops.where(near, 1.0, wide)
    square = ops.square(math.pi * ops.where(near, wide, 0.0))  # does not overflow elsewhere
    series = 1.0
    for divisor in (156, 110, 72, 42, 20, 6):  # 1 − a² / 6 + a⁴ / 120 − …
        series = 1.0 - series * square / divisor
    return _as_result(ops.where(near, series, ops.sin(angle) / angle), x)
