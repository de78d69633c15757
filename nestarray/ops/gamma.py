"""The polygamma and zeta functions, and the incomplete gamma and beta functions.

The incomplete functions use one Gauss-Legendre rule for all arguments. A change of variables makes
the integrand smooth; the rule ends where it is below exp(−40) of its maximum, in float32 exp(−20).
The number of steps is therefore constant, and derivatives exist with respect to every argument.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

from nestarray import dtypes, ops
from nestarray.dispatch import Trait, op
from nestarray.errors import ArgumentError
from nestarray.ops.special import _BERNOULLI, _STIRLING, _as_result, _polynomial, _working
from nestarray.typing import Array

__all__ = ["betainc", "gammainc", "gammaincc", "polygamma", "zeta"]
TRAITS = Trait.ELEMENTWISE

_BLOCK = 16  # the number of nodes per block, and the factor of the arguments' memory


def _is_double(x: Array) -> bool:
    return dtypes.dtype_of(x) is dtypes.float64


def _negligible(x: Array) -> float:
    """−ln of the relative size of negligible terms of an integral in the dtype of `x`."""
    return 40.0 if _is_double(x) else 20.0


@cache
def _gauss_legendre(count: int) -> tuple[tuple[float, float], ...]:
    """The nodes in [0, 1] and weights of Gauss's rule, by Newton's method on the Legendre polynomial.

    The weights of NumPy's ``leggauss`` are not accurate enough for the last digits.
    """
    rule = []
    for i in range(count):
        x = math.cos(math.pi * (i + 0.75) / (count + 0.5))
        for _ in range(6):
            value, previous = 1.0, 0.0
            for k in range(count):
                value, previous = ((2 * k + 1) * x * value - k * previous) / (k + 1), value
            slope = count * (x * value - previous) / (x * x - 1.0)
            x -= value / slope
        rule.append((0.5 * (1.0 + x), 1.0 / ((1.0 - x * x) * slope * slope)))
    return tuple(rule)


def _integral(integrand: Callable[..., Array], end: Array, *parameters: Array) -> Array:
    """∫₀ᵉⁿᵈ integrand(v, *parameters) dv, in blocks of nodes along a new axis behind."""
    total = ops.zeros_like(end)
    wide = [ops.expand_dims(x, axis=-1) for x in parameters]
    last, dtype = ops.expand_dims(end, axis=-1), dtypes.dtype_of(end)
    rule = _gauss_legendre(64 if _is_double(end) else 32)
    for first in range(0, len(rule), _BLOCK):
        block = zip(*rule[first : first + _BLOCK], strict=True)
        nodes, weights = (ops.asarray(column, dtype=dtype, like=end) for column in block)
        total = total + ops.sum(weights * integrand(last * nodes, *wide), axis=-1)
    return end * total


def _together(*arguments: Array) -> tuple[list[Array], Array]:
    """The arguments in one working dtype, and an array that has the dtype of the result."""
    like = next(x for x in arguments if hasattr(x, "dtype"))
    dtype = dtypes.result_dtype(*arguments)
    arrays = [
        ops.astype(x, dtype, copy=False)
        if hasattr(x, "dtype")
        else ops.asarray(x, dtype=dtype, like=like)
        for x in arguments
    ]
    return [_working(x) for x in ops.broadcast_arrays(*arrays)], arrays[0]


def _undefined(where: Array, *arguments: Array) -> Array:
    """NaN, whose derivatives of each order are NaN in the mask, and 0 elsewhere."""
    total = sum(arguments[1:], arguments[0])
    return ops.exp(ops.where(where, total, 0.0) * math.nan)


def _stirling_rest(a: Array) -> Array:
    """ln Γ(a) − [(a − ½) ln a − a + ½ ln 2π] for a ≥ 10."""
    inverse = 1.0 / a
    return inverse * _polynomial(inverse * inverse, _STIRLING)


def _log_minus(ratio: Array, u: Array) -> Array:
    """ln(ratio) − u where ratio = 1 + u, by its series where the difference would lose digits.

    ln(1 + u) is 2 artanh s with s = u / (2 + u), of which 2 s − u = −s u is the beginning.
    """
    small = ops.abs(u) < 0.5
    t = ops.where(small, u, 0.0)
    s = t / (2.0 + t)
    square = s * s
    last = 31 if _is_double(u) else 15
    rest = 2.0 * square * _polynomial(square, tuple(1.0 / k for k in range(last, 1, -2)))
    return ops.where(small, s * (rest - t), ops.log(ops.where(small, 1.0, ratio)) - u)


def _exp_plus(v: Array) -> Array:
    """exp(−v) − 1 + v for v ≥ 0, by its series where the sum would lose digits."""
    small = v < 0.2
    t = ops.where(small, v, 0.0)
    degree = 12 if _is_double(v) else 7
    series = _polynomial(t, tuple((-1.0) ** k / math.factorial(k) for k in range(degree, 1, -1)))
    series = series * t * t
    return ops.where(small, series, ops.expm1(-v) + v)


def _gamma_factor(a: Array, x: Array) -> Array:
    """xᵃ exp(−x) / Γ(a), for a > 0 and x > 0."""
    is_large = a >= 10.0  # not `maximum`, which halves the derivative at 10
    large = ops.where(is_large, a, 10.0)
    exponent = large * _log_minus(x / large, (x - large) / large) - _stirling_rest(large)
    by_stirling = ops.exp(exponent) * ops.sqrt(large / (2.0 * math.pi))
    small = ops.where(is_large, 10.0, a)
    direct = ops.exp(small * ops.log(x) - x - ops.lgamma(small))
    return ops.where(is_large, by_stirling, direct)


def _lower_integral(a: Array, x: Array) -> Array:
    """P(a, x) Γ(a) / (xᵃ exp(−x)) for 0 < x ≤ a + 1: ∫₀^∞ exp(−a v + x (1 − e⁻ᵛ)) dv."""
    raised = a - x + 3.0  # (a + 3) − x, without the rounding of a + 3
    tiny = ops.stop_gradient(ops.maximum(x, 1e-6))
    negligible = _negligible(x)
    scale = negligible / tiny
    end = 0.5 * scale + ops.sqrt(0.25 * scale * scale + 2.0 * scale)
    end = ops.minimum(end, negligible / ops.stop_gradient(raised))

    def integrand(v: Array, rise: Array, x: Array) -> Array:
        # A sum of two nonnegative terms; the terms of the usual formula cancel for large a and x.
        return ops.exp(-rise * v - x * _exp_plus(v))

    # The recurrence P(a) = P(a + 1) + xᵃ exp(−x) / Γ(a + 1), which adds positive numbers only.
    result = _integral(integrand, end, raised, x)
    for shift in (2.0, 1.0, 0.0):
        result = (1.0 + x * result) / (a + shift)
    return result


def _upper_integral(a: Array, x: Array) -> Array:
    """Q(a, x) Γ(a) / (xᵃ exp(−x)) for x ≥ max(a + 1, 1): ∫₀^∞ exp(−x u) (1 + u)ᵃ⁻¹ du."""
    rise = x - a + 1.0
    excess = ops.stop_gradient(ops.maximum(a - 1.0, 1e-6))
    negligible = _negligible(x)
    scale = negligible / excess
    end = scale + ops.sqrt(scale * scale + 2.0 * scale)
    end = ops.minimum(end, negligible / ops.stop_gradient(ops.minimum(x, rise)))

    def integrand(u: Array, a: Array, rise: Array) -> Array:
        return ops.exp((a - 1.0) * _log_minus(1.0 + u, u) - rise * u)

    return _integral(integrand, end, a, rise)


_SUMMED = 200.0  # the largest order of the ζ sums


@cache
def _lgamma1p() -> tuple[float, ...]:
    """The coefficients of (ln Γ(1 + a) + ln(1 + a)) / a for |a| ≤ ½, highest power first.

    They are (−1)ᵏ (ζ(k) − 1) / k, ζ by the Euler-Maclaurin formula, and 1 − γ.
    """
    found = [1.0 - 0.57721566490153286]
    for k in range(2, 28):
        zeta = math.fsum(float(n) ** -k for n in range(2, int(_SUMMED)))
        rest = _SUMMED / (k - 1) + 0.5 + k / (12.0 * _SUMMED)
        rest -= k * (k + 1) * (k + 2) / (720.0 * _SUMMED**3)
        found.append((-1.0) ** k * (zeta + rest * _SUMMED**-k) / k)
    return tuple(found[::-1])


#: The number of significant terms of Σ (−x)ⁿ / (n! (a + n)) for x ≤ 1.5.
_POWERS = 24


def _upper_of_small(a: Array, x: Array) -> Array:
    """Q(a, x) for 0 < a ≤ ½ and 0 < x ≤ 1.5, where 1 − P(a, x) would lose digits.

    P Γ(a + 1) is xᵃ times a series that begins with 1, and both are 1 where a is 0.
    """
    orders = range(1, _POWERS + 1)
    factors = [(-1.0) ** n / math.factorial(n) for n in orders]
    n = ops.asarray([float(n) for n in orders], dtype=dtypes.dtype_of(a), like=a)
    weights = ops.asarray(factors, dtype=dtypes.dtype_of(a), like=a)
    a_wide, x_wide = ops.expand_dims(a, axis=-1), ops.expand_dims(x, axis=-1)
    rest = a * ops.sum(weights * ops.pow(x_wide, n) / (a_wide + n), axis=-1)
    exponent = a * (ops.log(x) - _polynomial(a, _lgamma1p())) + ops.log1p(a)
    return -ops.expm1(exponent) - ops.exp(exponent) * rest


def _incomplete_gamma(a: Array, x: Array, *, upper: bool) -> Array:
    """P(a, x), or Q(a, x) if `upper`."""
    (a, x), result = _together(a, x)
    inside = ops.logical_and(
        ops.logical_and(a > 0.0, ops.isfinite(a)), ops.logical_and(x > 0.0, ops.isfinite(x))
    )
    shape, place = ops.where(inside, a, 1.0), ops.where(inside, x, 1.0)
    beyond = place > shape + 1.0
    factor = _gamma_factor(shape, place)
    low = factor * _lower_integral(shape, ops.where(beyond, shape + 1.0, place))
    high = factor * _upper_integral(shape, ops.where(beyond, place, shape + 1.0))
    if upper:
        near = ops.logical_and(shape < 0.5, ops.logical_not(beyond))
        small = _upper_of_small(ops.where(near, shape, 0.25), ops.where(near, place, 1.0))
        value = ops.where(beyond, high, ops.where(near, small, 1.0 - low))
    else:
        value = ops.where(beyond, 1.0 - high, low)
    # Limits: P = 1 for a = 0 or x = ∞, P = 0 for x = 0 or a = ∞.
    full = ops.logical_or(a == 0.0, x == math.inf)
    none = ops.logical_or(x == 0.0, a == math.inf)
    undefined = ops.logical_or(ops.logical_and(full, none), ops.logical_or(a < 0.0, x < 0.0))
    undefined = ops.logical_or(undefined, ops.logical_or(ops.isnan(a), ops.isnan(x)))
    filled = 0.0 if upper else 1.0
    value = ops.where(full, filled, ops.where(none, 1.0 - filled, value))
    return _as_result(ops.where(undefined, _undefined(undefined, a, x), value), result)


@op
def gammainc(a: Array, x: Array, /) -> Array:
    """The regularized lower incomplete gamma function, P(a, x) = 1/Γ(a) ∫₀ˣ tᵃ⁻¹ exp(−t) dt.

    0 at x = 0, 1 at x = ∞ and where a = 0; NaN where a or x is negative, and at (0, 0) and (∞, ∞).
    In float32 PyTorch's own function is used: accurate to 3 digits for a around 10⁷, NaN for a
    above 10³⁷, and 0 where a is NaN and x is 0.

    Args:
        a: real, the shape parameter; broadcasts with `x`, the dtypes promote.
        x: real, the upper limit of the integral.

    Returns:
        the broadcast shape; the promoted dtype, float32 for integers. Derivatives exist with
        respect to both.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.gammainc(np.asarray([1.0, 2.0]), np.asarray([1.0, 2.0]))
        array([0.63212056, 0.59399415])

    References:
        https://docs.pytorch.org/docs/stable/special.html#torch.special.gammainc
    """
    return _incomplete_gamma(a, x, upper=False)


@op
def gammaincc(a: Array, x: Array, /) -> Array:
    """The regularized upper incomplete gamma function, Q(a, x) = 1 − P(a, x), without cancellation.

    1 at x = 0, 0 at x = ∞ and where a = 0; NaN where a or x is negative, and at (0, 0) and (∞, ∞).
    In float32 PyTorch's own function is used: its error is 10⁻⁸ for smaller a, NaN for a above
    10³⁷, and 1 where a is NaN and x is 0.

    Args:
        a: real, the shape parameter; broadcasts with `x`, the dtypes promote.
        x: real, the lower limit of the integral.

    Returns:
        the broadcast shape; the promoted dtype, float32 for integers. Derivatives exist with
        respect to both.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.gammaincc(np.asarray([1.0, 2.0]), np.asarray([1.0, 20.0]))
        array([3.67879441e-01, 4.32842261e-08])

    References:
        https://docs.pytorch.org/docs/stable/special.html#torch.special.gammaincc
    """
    return _incomplete_gamma(a, x, upper=True)


def _beta_factor(a: Array, b: Array, x: Array) -> Array:
    """xᵃ yᵇ / B(a, b) with y = 1 − x, for a, b > 0 and 0 < x < 1."""
    y, log_x, log_y = 1.0 - x, ops.log(x), ops.log1p(-x)
    # Both large: logarithms of the ratios of x and y to a and b over their sum.
    p, q = (ops.where(z >= 10.0, z, 10.0) for z in (a, b))
    off = x * q - y * p
    exponent = p * _log_minus(x * (p + q) / p, off / p)
    exponent = exponent + q * _log_minus(y * (p + q) / q, -off / q)
    exponent = exponent + _stirling_rest(p + q) - _stirling_rest(p) - _stirling_rest(q)
    both = ops.exp(exponent) * ops.sqrt(p * q / (p + q) / (2.0 * math.pi))
    # One large: the ratio of Γ(a + b) to Γ of the larger by Stirling's series.
    swap = a < b
    large, small = ops.where(swap, q, p), ops.minimum(ops.where(swap, a, b), 10.0)
    log_large, log_small = ops.where(swap, log_y, log_x), ops.where(swap, log_x, log_y)
    ratio = small / large
    exponent = large * (_log_minus(1.0 + ratio, ratio) + log_large) + small * (
        log_small + ops.log(large)
    )
    exponent = exponent + (small - 0.5) * ops.log1p(ratio)
    exponent = exponent + _stirling_rest(large + small) - _stirling_rest(large)
    one = ops.exp(exponent - ops.lgamma(small))
    # Both small.
    p, q = ops.minimum(a, 10.0), ops.minimum(b, 10.0)
    exponent = p * log_x + q * log_y
    neither = ops.exp(exponent + ops.lgamma(p + q) - ops.lgamma(p) - ops.lgamma(q))
    smaller, larger = ops.minimum(a, b), ops.maximum(a, b)
    return ops.where(smaller >= 10.0, both, ops.where(larger >= 10.0, one, neither))


def _beta_integral(a: Array, b: Array, x: Array, y: Array) -> Array:
    """I(a, b, x) B(a, b) / (xᵃ yᵇ) for x ≤ (a + 1) / (a + b + 2).

    It is ∫₀^∞ exp(−a v) ((1 − x e⁻ᵛ) / y)ᵇ⁻¹ dv / y, at a + 3 in place of a, from which the
    recurrence I(a) = I(a + 1) + xᵃ yᵇ / (a B(a, b)) leads down.
    """
    raised, odds = a + 3.0, x / y
    end = _beta_end(*(ops.stop_gradient(z) for z in (raised, b, odds)))

    def integrand(v: Array, a: Array, b: Array, odds: Array) -> Array:
        return ops.exp((b - 1.0) * ops.log1p(-odds * ops.expm1(-v)) - a * v)

    result = _integral(integrand, end, raised, b, odds) / y
    for shift in (2.0, 1.0, 0.0):
        result = (1.0 + x * (a + b + shift) * result) / (a + shift)
    return result


def _beta_end(a: Array, b: Array, odds: Array) -> Array:
    """Where a v − (b − 1) ln(1 + odds · (1 − e⁻ᵛ)) is negligible, by Newton's method from above."""
    negligible = _negligible(a)
    power = ops.maximum(b - 1.0, 0.0)
    bound = ops.maximum(power * odds, 1e-6)
    root = ops.sqrt(negligible * negligible + 8.0 * negligible * bound)
    end = ops.minimum((negligible + root) / (2.0 * bound), negligible / (a - bound))
    for _ in range(10):  # convex: each step at least halves the distance, and stays above
        decay = ops.exp(-end)
        inside = 1.0 - odds * ops.expm1(-end)
        value = a * end - power * ops.log(inside) - negligible
        end = end - value / (a - power * odds * decay / inside)
    return end


@op
def betainc(a: Array, b: Array, x: Array, /) -> Array:
    """The regularized incomplete beta function, Iₓ(a, b) = 1/B(a, b) ∫₀ˣ tᵃ⁻¹ (1 − t)ᵇ⁻¹ dt.

    0 at x = 0 and 1 at x = 1; NaN for x outside [0, 1] and where a or b is not above 0.

    Args:
        a: real, the first parameter; all broadcast, the dtypes promote.
        b: real, the second parameter.
        x: real, the upper limit of the integral.

    Returns:
        the broadcast shape; the promoted dtype, float32 for integers. There are derivatives
        with respect to all three.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.betainc(np.asarray(2.0), np.asarray(3.0), np.asarray([0.0, 0.5, 1.0]))
        array([0.    , 0.6875, 1.    ])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.scipy.special.betainc.html
    """
    (a, b, x), result = _together(a, b, x)
    valid = ops.logical_and(
        ops.logical_and(a > 0.0, ops.isfinite(a)), ops.logical_and(b > 0.0, ops.isfinite(b))
    )
    inside = ops.logical_and(valid, ops.logical_and(x > 0.0, x < 1.0))
    p, q = ops.where(inside, a, 1.0), ops.where(inside, b, 1.0)
    place = ops.where(inside, x, 0.5)
    swap = place * (p + q + 2.0) > p + 1.0
    first, second = ops.where(swap, q, p), ops.where(swap, p, q)
    low, high = ops.where(swap, 1.0 - place, place), ops.where(swap, place, 1.0 - place)
    value = _beta_factor(p, q, place) * _beta_integral(first, second, low, high)
    value = ops.where(swap, 1.0 - value, value)
    at_end = ops.logical_and(valid, ops.logical_or(x == 0.0, x == 1.0))
    undefined = ops.logical_not(ops.logical_or(inside, at_end))
    value = ops.where(inside, value, ops.where(at_end, x, _undefined(undefined, a, b, x)))
    return _as_result(value, result)


#: B₂ₖ / (2k)!, the coefficients of the Euler-Maclaurin formula, and the number of terms that are summed directly.
_EULER_MACLAURIN = tuple(b / math.factorial(2 * k) for k, b in enumerate(_BERNOULLI, 1))
_TERMS = 12


@op
def zeta(x: Array, q: Array, /) -> Array:
    """The Hurwitz zeta function, Σ (k + q)⁻ˣ over k = 0, 1, 2, …; Riemann's at q = 1.

    +∞ at x = 1 and for q = 0, −1, −2, …; NaN for x below 1 and for other negative q.

    Args:
        x: real, the exponent, above 1; broadcasts with `q`, the dtypes promote.
        q: real, the beginning of the sum, above 0.

    Returns:
        the broadcast shape; the promoted dtype, float32 for integers.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.zeta(np.asarray([2.0, 4.0]), np.asarray([1.0, 1.0]))
        array([1.64493407, 1.08232323])

    References:
        https://docs.pytorch.org/docs/stable/special.html#torch.special.zeta
    """
    (s, q), result = _together(x, q)
    inside = ops.logical_and(s > 1.0, q > 0.0)
    value = _hurwitz(ops.where(inside, s, 2.0), ops.where(inside, q, 1.0))
    pole = ops.logical_and(q <= 0.0, q == ops.floor(q))
    infinite = ops.logical_or(s == 1.0, ops.logical_and(s > 1.0, pole))
    undefined = ops.logical_not(ops.logical_or(inside, infinite))
    outside = ops.where(infinite, math.inf, _undefined(undefined, s, q))
    return _as_result(ops.where(inside, value, outside), result)


def _hurwitz(s: Array, q: Array) -> Array:
    """The sum for s > 1 and q > 0, by the Euler-Maclaurin formula."""
    far = q == math.inf
    q = ops.where(far, 1.0, q)
    value = ops.pow(q, -s)
    for k in range(1, _TERMS):
        value = value + ops.pow(q + float(k), -s)
    end = q + float(_TERMS)
    last = ops.pow(end, -s)
    value = value + ops.pow(end, 1.0 - s) / (s - 1.0) + 0.5 * last
    s = ops.minimum(s, 1e3)  # beyond that the remainder is 0, and 0 · ∞ is NaN
    factor, inverse = s / end, 1.0 / end
    for k, coefficient in enumerate(_EULER_MACLAURIN):
        value = value + last * factor * coefficient
        if k + 1 < len(_EULER_MACLAURIN):
            rise = (s + (2.0 * k + 1.0)) * inverse * (s + (2.0 * k + 2.0)) * inverse
            factor = factor * rise
    return ops.where(far, 0.0, value)


@op
def polygamma(n: int, x: Array, /) -> Array:
    """The derivative of order n of `digamma`, (−1)ⁿ⁺¹ n! ζ(n + 1, x).

    At 0 and the negative integers it is (−1)ⁿ⁺¹ ∞; for even n the sign of the limit depends on the
    side. NaN at −∞.

    Args:
        n: the order of the derivative, at least 0.
        x: real.

    Returns:
        the shape of `x`, its dtype, float32 for integers.

    Raises:
        ArgumentError: `n` is not a non-negative integer.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.polygamma(1, np.asarray([1.0, 2.0]))
        array([1.64493407, 0.64493407])

    References:
        https://docs.pytorch.org/docs/stable/special.html#torch.special.polygamma
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 0:
        raise ArgumentError(f"polygamma: n: got {n!r}, expected an integer of at least 0")
    if n == 0:
        return ops.digamma(x)
    wide = _working(x)
    reflect = wide < 0.5
    y = ops.where(reflect, 1.0 - wide, wide)
    order = ops.full_like(y, float(n + 1))
    value = (-1.0) ** (n + 1) * math.factorial(n) * _hurwitz(order, y)
    # ψₙ(x) = (−1)ⁿ ψₙ(1 − x) − π dⁿ/dxⁿ cot πx; the distance to the next integer is exact.
    bounded = ops.where(ops.logical_and(reflect, ops.isfinite(wide)), wide, 0.25)
    part = bounded - ops.round(bounded)
    pole = part == 0.0
    angle = math.pi * ops.where(pole, 0.25, part)
    # The sine of the distance to ½ instead of the cosine, which rounding makes nonzero at ½.
    cosine = ops.sin(math.pi * (0.5 - ops.abs(ops.where(pole, 0.25, part))))
    cotangent = cosine / ops.sin(angle)
    slope = math.pi ** (n + 1) * _polynomial(cotangent, _cotangent_derivative(n))
    reflected = (-1.0) ** n * value - slope
    reflected = ops.where(pole, math.inf if n % 2 else -math.inf, reflected)
    undefined = wide == -math.inf
    reflected = ops.where(undefined, _undefined(undefined, wide), reflected)
    return _as_result(ops.where(reflect, reflected, value), x)


@cache
def _cotangent_derivative(n: int) -> tuple[float, ...]:
    """dⁿ/dtⁿ cot t as a polynomial in cot t, coefficients of the highest power first."""
    lowest_first = [0, 1]
    for _ in range(n):
        slope = [k * c for k, c in enumerate(lowest_first)][1:]
        lowest_first = [-c for c in slope] + [0, 0]
        for k, c in enumerate(slope):
            lowest_first[k + 2] -= c
    return tuple(float(c) for c in reversed(lowest_first))
