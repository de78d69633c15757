"""TensorFlow: `nestarray.ops.transcendental`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from nestarray.backends import xp
from nestarray.backends.base import refuse_complex
from nestarray.backends.tensorflow.core import is_watched
from nestarray.backends.tensorflow.derivatives import custom_gradient, summed
from nestarray.backends.tensorflow.promotion import floating, floating_pair, promoting
from nestarray.numerics.logarithms import complex_logaddexp
from nestarray.numerics.nonfinite import completed


def _completed(name: str, native: Callable[..., Any]) -> Callable[..., Any]:
    """`native`, with the standard's values for complex infinities and NaN."""
    of_complex = completed(xp, name, native, tf.complex)

    def call(x: Any, /) -> Any:
        return of_complex(x) if x.dtype.is_complex else native(x)

    return call


def _log(x: Any) -> Any:
    """log|x| + i arg x; TensorFlow's function is NaN if |x|² overflows or underflows."""
    if not x.dtype.is_complex:
        return tf.math.log(x)
    a, b = tf.math.real(x), tf.math.imag(x)
    large, small = tf.maximum(tf.abs(a), tf.abs(b)), tf.minimum(tf.abs(a), tf.abs(b))
    ratio = small / tf.where(large > 0, large, tf.ones_like(large))
    real = tf.math.log(large) + 0.5 * tf.math.log1p(ratio * ratio)
    return tf.complex(real, tf.math.atan2(b, a))


def _to_base(base: float) -> Callable[[Any], Any]:
    ln = math.log(base)

    def log(x: Any) -> Any:
        y = _log(x)
        if not y.dtype.is_complex:
            return y / ln
        return tf.complex(tf.math.real(y) / ln, tf.math.imag(y) / ln)  # −∞ / ln would be NaN

    return log


def _expm1(x: Any) -> Any:
    if not x.dtype.is_complex:
        return tf.math.expm1(x)
    y = tf.math.expm1(x)
    return tf.complex(tf.math.real(y) + 0.0, tf.math.imag(y))  # −0 + 0 is 0


def _log1p(x: Any) -> Any:
    """log|1 + x| + i arg(1 + x); TensorFlow's function loses the imaginary part of large x."""
    if not x.dtype.is_complex:
        return tf.math.log1p(x)
    a, b = tf.math.real(x), tf.math.imag(x)
    small = tf.maximum(tf.abs(a), tf.abs(b)) < 0.5
    near = tf.where(small, x, tf.zeros_like(x))
    c, d = tf.math.real(near), tf.math.imag(near)
    real = tf.where(small, 0.5 * tf.math.log1p(c * (2.0 + c) + d * d), tf.math.log(tf.abs(1.0 + x)))
    return tf.complex(real, tf.math.atan2(b, 1.0 + a))


acos = floating(tf.math.acos)
acosh = floating(tf.math.acosh)
asin = floating(tf.math.asin)
asinh = floating(tf.math.asinh)
atan = floating(tf.math.atan)
atanh = floating(tf.math.atanh)
cos = floating(tf.math.cos)
cosh = floating(tf.math.cosh)
exp = floating(tf.math.exp)
expm1 = floating(_completed("expm1", _expm1))
log = floating(_completed("log", _log))
log1p = floating(_completed("log1p", _log1p))
rsqrt = floating(tf.math.rsqrt)
sin = floating(tf.math.sin)
sinh = floating(tf.math.sinh)
sqrt = floating(tf.math.sqrt)
tan = floating(tf.math.tan)
tanh = floating(_completed("tanh", tf.math.tanh))
exp2 = floating(lambda x: tf.math.pow(tf.constant(2.0, x.dtype), x))
log2 = floating(_to_base(2.0))
log10 = floating(_to_base(10.0))


def _ordered(x1: Any, x2: Any) -> tuple[Any, Any]:
    """(maximum, minimum); (x1, x2) for equal operands, so that each has its own derivative.

    TensorFlow differentiates both by the first operand.
    """
    return tf.maximum(x1, x2), tf.minimum(x2, x1)


def _hypot(x1: Any, x2: Any) -> Any:
    refuse_complex(x1)
    large = tf.stop_gradient(tf.maximum(tf.abs(x1), tf.abs(x2)))
    one = tf.ones_like(large)
    scale = tf.where(tf.math.is_finite(large) & (large > 0), large, one)
    a, b = x1 / scale, x2 / scale
    square = a * a + b * b
    is_zero = tf.equal(square, 0)
    found = tf.where(is_zero, 0.0 * square, scale * tf.sqrt(tf.where(is_zero, one, square)))
    infinite = tf.math.is_inf(x1) | tf.math.is_inf(x2)
    return tf.where(infinite, tf.constant(math.inf, large.dtype), found)


@custom_gradient
def _watched_atan2(x1: Any, x2: Any) -> Any:
    """TensorFlow's derivative is NaN at the origin, this one 0."""

    def gradient(upstream: Any) -> tuple[Any, Any]:
        is_zero = tf.equal(x1, 0) & tf.equal(x2, 0)
        square = x1 * x1 + x2 * x2
        slope = tf.where(is_zero, tf.zeros_like(square), upstream)
        slope = slope / tf.where(is_zero, tf.ones_like(square), square)
        return summed(slope * x2, -slope * x1, x1, x2)

    return tf.math.atan2(tf.stop_gradient(x1), tf.stop_gradient(x2)), gradient  # for accumulators


def _atan2(x1: Any, x2: Any) -> Any:
    return _watched_atan2(x1, x2) if is_watched(x1) or is_watched(x2) else tf.math.atan2(x1, x2)


def _logaddexp(x1: Any, x2: Any) -> Any:
    if x1.dtype.is_complex:
        return complex_logaddexp(xp, x1, x2)
    large, small = _ordered(x1, x2)
    # ∞ − ∞ would be NaN; the result is ∞.
    gap = tf.where(tf.math.is_inf(large), tf.zeros_like(large), small - large)
    rest = tf.where(tf.math.is_inf(large), tf.zeros_like(large), tf.math.log1p(tf.exp(gap)))
    # of nothing but −∞, a constant
    return tf.where(tf.equal(large, -math.inf), large.dtype.as_numpy_dtype(-math.inf), large + rest)


atan2 = promoting(floating_pair(_atan2), scalar_ok=False, floats=True)
hypot = promoting(floating_pair(_hypot), scalar_ok=False, floats=True)
logaddexp = promoting(floating_pair(_logaddexp), scalar_ok=False, floats=True)
