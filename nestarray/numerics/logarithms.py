"""XLA's logarithms on CPUs, bit for bit: ``jax.random`` uses them.

XLA uses the approximations of the Cephes library with fused multiply-add. In single precision one
result in ten is off by one unit in the last place. A correctly rounded logarithm would differ, and
one unit in a normal number changes decisions of rejection sampling. In double precision Cephes'
``log1p`` is accurate for x > 1/√2 − 1. XLA uses it from 1 − √2 on, where it is off by up to 128
units. The functions here agree with it to 2 units.

References:
    S. L. Moshier, Cephes Mathematical Library, logf.c and unity.c. https://www.netlib.org/cephes/
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from nestarray import dtypes
from nestarray.numerics import rounding
from nestarray.typing import Array


def _in_single_precision(*numbers: float) -> tuple[float, ...]:
    return tuple([float(np.float32(number)) for number in numbers])


#: ln(1 + x) = x − x²/2 + x³ P(x) / Q(x) for |x| < √2 − 1.
BOUND = float(np.float32(2.0**0.5 - 1.0))
P_WIDE = (
    4.5270000862445199635215e-5, 4.9854102823193375972212e-1, 6.5787325942061044846969,
    2.9911919328553073277375e1, 6.0949667980987787057556e1, 5.7112963590585538103336e1,
    2.0039553499201281259648e1,
)  # fmt: skip
Q_WIDE = (
    1.0, 1.5062909083469192043167e1, 8.3047565967967209469434e1, 2.2176239823732856465394e2,
    3.0909872225312059774938e2, 2.1642788614495947685003e2, 6.0118660497603843919306e1,
)  # fmt: skip
P, Q = _in_single_precision(*P_WIDE), _in_single_precision(*Q_WIDE)

#: ln m = (m − 1) − (m − 1)²/2 + (m − 1)³ R(m − 1), R in three polynomials of the cube.
ROOT_HALF = float(np.float32(0.5**0.5))
R = (
    _in_single_precision(7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1),
    _in_single_precision(-1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1),
    _in_single_precision(2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1),
)
#: ln 2 as a sum of two numbers; the larger has few bits.
LN2_SMALL, LN2_LARGE = _in_single_precision(-2.12194440e-4, 0.693359375)


def log(xp: Any, x: Array, wide: dtypes.DType) -> Array:
    """ln x for x > 0; of other dtypes than float32, rounded once."""
    if dtypes.dtype_of(x) is not dtypes.float32:
        return rounding.rounded_once(xp, xp.log, x, wide)
    mantissa, exponent = xp.frexp(x)  # in [1/2, 1)
    is_low = xp.less(mantissa, ROOT_HALF)
    e = xp.astype(xp.subtract(exponent, xp.astype(is_low, "int32")), "float32")
    m = xp.subtract(xp.where(is_low, xp.add(mantissa, mantissa), mantissa), 1.0)
    square = xp.multiply(m, m)
    cube = xp.multiply(square, m)
    first, second, third = (rounding.polynomial(xp, part, m, wide) for part in R)
    y = rounding.multiply_add(xp, first, cube, second, wide)
    y = rounding.multiply_add(xp, y, cube, third, wide)
    y = rounding.multiply_add(xp, y, cube, xp.multiply(e, LN2_SMALL), wide)
    y = xp.add(xp.subtract(m, xp.multiply(square, 0.5)), y)
    # no sum of three terms: TensorFlow's graphs would reorder it
    return xp.subtract(y, xp.multiply(e, -LN2_LARGE))


def log1p(xp: Any, x: Array, wide: dtypes.DType) -> Array:
    """ln(1 + x) for x > −1; of half precision, rounded once."""
    dtype = dtypes.dtype_of(x)
    if dtype.bits == 16:
        return rounding.rounded_once(xp, xp.log1p, x, wide)
    p, q = (P, Q) if dtype is dtypes.float32 else (P_WIDE, Q_WIDE)
    is_near = xp.less(xp.abs(x), BOUND)
    near = xp.where(is_near, x, xp.zeros_like(x))
    square = xp.multiply(near, near)
    quotient = xp.divide(
        rounding.polynomial(xp, p, near, wide), rounding.polynomial(xp, q, near, wide)
    )
    rest = xp.multiply(xp.multiply(near, square), quotient)
    close = xp.add(near, xp.subtract(rest, xp.multiply(square, 0.5)))
    return xp.where(
        is_near, close, log(xp, xp.where(is_near, xp.ones_like(x), xp.add(x, 1.0)), wide)
    )


def complex_logaddexp(xp: Any, x1: Any, x2: Any) -> Any:
    """ln(eˣ¹ + eˣ²) of complex numbers: `logsumexp` of the two.

    Args:
        xp: a namespace with the names of the ops.
        x1: the first operand.
        x2: the second, of its dtype.
    """
    return xp.logsumexp(xp.stack(xp.broadcast_arrays(x1, x2)), axis=0)


def differentiable_log_sum(
    xp: Any, log_sum: Callable[..., Any], is_nothing: Any, *terms: Any
) -> Any:
    """A logarithm of sums of exponentials whose derivative is 0 where all terms are −∞.

    It is NaN elsewhere, from log 0 and −∞ − (−∞).

    Args:
        xp: a namespace with the names of the ops.
        log_sum: the function, without this derivative.
        is_nothing: whether all terms of a sum are −∞.
        terms: the arguments of `log_sum`, real.
    """
    lowest = dtypes.finfo(dtypes.dtype_of(terms[0])).min
    finite = [xp.where(xp.equal(x, -math.inf), lowest, x) for x in terms]
    return xp.where(is_nothing, -math.inf, log_sum(*finite))
