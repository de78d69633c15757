"""Gamma samples as functions of their parameter: the quantile at the drawn level.

A sample x of the level u solves F(x; a) = u. From a constant, each step of Newton's method doubles
the number of derivatives by a that are right.

References:
    Figurnov, Mohamed and Mnih, Implicit reparameterization gradients. 2018.
    https://arxiv.org/abs/1805.08498
"""

from __future__ import annotations

import math
from typing import Any

from nestarray import dtypes

#: Below this logarithm, F(x; a) is xᵃ / Γ(a + 1) up to rounding.
_LOG_SMALL = -36.0


def differentiable_gamma(xp: Any, a: Any, drawn: Any, log_space: bool) -> Any:
    """Drawn gamma samples, with derivatives by `a` up to the third.

    Args:
        xp: the namespace of the ops.
        a: the parameters of the samples.
        drawn: the samples, of the shape of `a`.
        log_space: the samples are logarithms.
    """
    drawn, fixed = xp.stop_gradient(drawn), xp.stop_gradient(a)
    least = -math.inf if log_space else dtypes.finfo(dtypes.dtype_of(a)).smallest_normal
    is_right = xp.logical_and(xp.isfinite(fixed), xp.greater(fixed, 0.0))
    is_right = xp.logical_and(
        is_right, xp.logical_and(xp.isfinite(drawn), xp.greater(drawn, least))
    )
    a = xp.where(is_right, a, 1.0)
    start = xp.where(is_right, drawn, 0.0 if log_space else 1.0)
    start = start if log_space else xp.log(start)
    is_small = xp.less(start, _LOG_SMALL)
    level = xp.stop_gradient(_level(xp, a, start, is_small))
    log_x = start
    for _ in range(2):
        x = xp.exp(xp.where(is_small, 0.0, log_x))
        slope = xp.exp(xp.subtract(xp.multiply(a, log_x), xp.add(x, xp.lgamma(a))))
        slope = xp.where(is_small, a, slope)
        excess = xp.subtract(_level(xp, a, log_x, is_small), level)
        log_x = xp.subtract(log_x, xp.divide(excess, slope))
    if log_space:
        return xp.where(is_right, log_x, drawn)
    return xp.where(is_right, xp.multiply(drawn, xp.exp(xp.subtract(log_x, start))), drawn)


def _level(xp: Any, a: Any, log_x: Any, is_small: Any) -> Any:
    """F(x; a), or its logarithm where x is small."""
    x = xp.exp(xp.where(is_small, 0.0, log_x))
    small = xp.subtract(xp.multiply(a, log_x), xp.lgamma(xp.add(a, 1.0)))
    return xp.where(is_small, small, xp.gammainc(a, x))
