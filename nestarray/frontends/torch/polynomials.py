"""Orthogonal polynomials, by their three-term recurrences.

The degree may be an array: the recurrence runs up to the highest degree, and each element keeps
the value at its own degree. Upstream: https://docs.pytorch.org/docs/stable/special.html
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.frontends.torch.promotion import floating, is_number, promote_arrays
from nestarray.typing import Array

__all__ = [
    "chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v",
    "chebyshev_polynomial_w", "hermite_polynomial_h", "hermite_polynomial_he",
    "laguerre_polynomial_l", "legendre_polynomial_p", "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
]  # fmt: skip

#: The next polynomial of x from k, the polynomial of degree k and the one before it.
Step = Callable[[Array, Any, Array, Array], Array]


def chebyshev_polynomial_t(input: Array | float, n: Array | float) -> Array:
    """Tₙ(x) = cos(n arccos x); Tₙ₊₁ = 2x Tₙ − Tₙ₋₁."""
    return _polynomial(input, n, lambda x: x, _chebyshev)


def chebyshev_polynomial_u(input: Array | float, n: Array | float) -> Array:
    """Uₙ(x), of the second kind: U₁ = 2x."""
    return _polynomial(input, n, lambda x: 2.0 * x, _chebyshev)


def chebyshev_polynomial_v(input: Array | float, n: Array | float) -> Array:
    """Vₙ(x), of the third kind: V₁ = 2x − 1."""
    return _polynomial(input, n, lambda x: 2.0 * x - 1.0, _chebyshev)


def chebyshev_polynomial_w(input: Array | float, n: Array | float) -> Array:
    """Wₙ(x), of the fourth kind: W₁ = 2x + 1."""
    return _polynomial(input, n, lambda x: 2.0 * x + 1.0, _chebyshev)


def shifted_chebyshev_polynomial_t(input: Array | float, n: Array | float) -> Array:
    """Tₙ(2x − 1)."""
    return _polynomial(input, n, lambda x: x, _chebyshev, is_shifted=True)


def shifted_chebyshev_polynomial_u(input: Array | float, n: Array | float) -> Array:
    """Uₙ(2x − 1)."""
    return _polynomial(input, n, lambda x: 2.0 * x, _chebyshev, is_shifted=True)


def shifted_chebyshev_polynomial_v(input: Array | float, n: Array | float) -> Array:
    """Vₙ(2x − 1)."""
    return _polynomial(input, n, lambda x: 2.0 * x - 1.0, _chebyshev, is_shifted=True)


def shifted_chebyshev_polynomial_w(input: Array | float, n: Array | float) -> Array:
    """Wₙ(2x − 1)."""
    return _polynomial(input, n, lambda x: 2.0 * x + 1.0, _chebyshev, is_shifted=True)


def hermite_polynomial_h(input: Array | float, n: Array | float) -> Array:
    """Hₙ(x), the physicists': Hₙ₊₁ = 2x Hₙ − 2n Hₙ₋₁; NaN where the degree is too high."""
    return _polynomial(
        input, n, lambda x: 2.0 * x, lambda x, k, q, p: 2.0 * x * q - 2.0 * k * p, has_limit=True
    )


def hermite_polynomial_he(input: Array | float, n: Array | float) -> Array:
    """Heₙ(x), the probabilists': Heₙ₊₁ = x Heₙ − n Heₙ₋₁; NaN where the degree is too high."""
    return _polynomial(input, n, lambda x: x, lambda x, k, q, p: x * q - k * p, has_limit=True)


def laguerre_polynomial_l(input: Array | float, n: Array | float) -> Array:
    """Lₙ(x): (n + 1) Lₙ₊₁ = (2n + 1 − x) Lₙ − n Lₙ₋₁."""
    return _polynomial(
        input, n, lambda x: 1.0 - x,
        lambda x, k, q, p: ((2.0 * k + 1.0 - x) * q - k * p) / (k + 1.0),
    )  # fmt: skip


def legendre_polynomial_p(input: Array | float, n: Array | float) -> Array:
    """Pₙ(x): (n + 1) Pₙ₊₁ = (2n + 1) x Pₙ − n Pₙ₋₁."""
    return _polynomial(
        input, n, lambda x: x,
        lambda x, k, q, p: ((2.0 * k + 1.0) * x * q - k * p) / (k + 1.0),
    )  # fmt: skip


def _chebyshev(x: Array, k: Any, q: Array, p: Array) -> Array:
    return 2.0 * x * q - p


def _polynomial(
    input: Array | float,
    n: Array | float,
    first: Callable[[Array], Array],
    step: Step,
    *,
    is_shifted: bool = False,
    has_limit: bool = False,
) -> Array:
    """The polynomial of degree n from the polynomial of degree 1; 0 for negative degrees."""
    x, degree = (floating(a) for a in promote_arrays(input, n))
    x, degree = na.broadcast_arrays(x, na.trunc(degree))
    dtype = dtypes.dtype_of(x)
    if not dtype.is_floating or dtype.bits < 32:
        x, degree = (na.astype(a, dtypes.float32) for a in (x, degree))
    x = 2.0 * x - 1.0 if is_shifted else x
    one = na.ones_like(x)
    value, before = first(x), one
    if is_number(n):
        for k in range(1, int(n)):
            value, before = step(x, float(k), value, before), value
    else:
        value = _steps(x, degree, value, before, step)
    value = na.where(na.equal(degree, 0.0), one, value)
    value = na.where(na.less(degree, 0.0), na.zeros_like(x), value)
    if has_limit:  # upstream's: beyond it the numbers overflow
        limit = 512.0 if dtype is dtypes.float64 else 128.0
        value = na.where(na.greater(degree, limit), na.full_like(x, math.nan), value)
    return na.astype(value, dtype, copy=False)


def _steps(x: Array, degree: Array, value: Array, before: Array, step: Step) -> Array:
    """The recurrence, for each element up to its degree."""

    def is_open(carry: tuple[Array, Array, Array]) -> Array:
        return na.any(na.less(carry[0], degree))

    def go_on(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        k, q, p = carry
        is_below = na.less(k, degree)
        following = step(x, k, q, p)
        return na.add(k, 1.0), na.where(is_below, following, q), na.where(is_below, q, p)

    start = na.ones((), dtype=dtypes.dtype_of(x), like=x)
    return na.while_loop(is_open, go_on, (start, value, before))[1]
