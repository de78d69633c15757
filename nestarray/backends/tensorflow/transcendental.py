"""TensorFlow: `nestarray.ops.transcendental`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from nestarray.backends import xp
from nestarray.backends.base import refuse_complex
from nestarray.backends.tensorflow.promotion import floating, floating_pair, promoting
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
log2 = floating(lambda x: _log(x) / math.log(2.0))
log10 = floating(lambda x: _log(x) / math.log(10.0))


def _ordered(x1: Any, x2: Any) -> tuple[Any, Any]:
    """(maximum, minimum); (x1, x2) for equal operands, so that each has its own derivative.

    TensorFlow differentiates both by the first operand.
    """
    return tf.maximum(x1, x2), tf.minimum(x2, x1)


def _hypot(x1: Any, x2: Any) -> Any:
    refuse_complex(x1)
    a, b = tf.abs(x1), tf.abs(x2)
    large, small = _ordered(a, b)
    # If large is 0 or ∞, the ratio would be NaN and so would the gradient.
    plain = tf.math.is_finite(large) & (large > 0)
    safe = tf.where(plain, large, tf.ones_like(large))
    ratio = tf.where(plain, small, tf.zeros_like(small)) / safe
    infinite = tf.math.is_inf(a) | tf.math.is_inf(b)
    return tf.where(
        infinite, tf.constant(math.inf, large.dtype), large * tf.sqrt(1.0 + ratio * ratio)
    )


def _logaddexp(x1: Any, x2: Any) -> Any:
    if x1.dtype.is_complex:
        return _complex_logaddexp(x1, x2)
    large, small = _ordered(x1, x2)
    # ∞ − ∞ would be NaN; the result is ∞.
    gap = tf.where(tf.math.is_inf(large), tf.zeros_like(large), small - large)
    rest = tf.where(tf.math.is_inf(large), tf.zeros_like(large), tf.math.log1p(tf.exp(gap)))
    return large + rest


def _complex_logaddexp(x1: Any, x2: Any) -> Any:
    is_larger = tf.math.real(x1) >= tf.math.real(x2)
    large, small = tf.where(is_larger, x1, x2), tf.where(is_larger, x2, x1)
    is_finite = tf.math.is_finite(tf.math.real(large))
    gap = tf.where(is_finite, small - large, tf.zeros_like(large))
    return large + tf.where(is_finite, _log1p(tf.math.exp(gap)), tf.zeros_like(large))


atan2 = promoting(floating_pair(tf.math.atan2), scalar_ok=False)
hypot = promoting(floating_pair(_hypot), scalar_ok=False)
logaddexp = promoting(floating_pair(_logaddexp), scalar_ok=False)
