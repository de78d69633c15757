"""Complex functions at infinities and NaN, by the tables of the Array API standard and C99.

Frameworks deviate from the tables for arguments that are not finite: ∞ · 0 gives a NaN instead of
the limit. `completed` uses the framework's function for finite arguments and a table elsewhere. A
table is a function of a namespace, the real part and the imaginary part; it is not differentiated.

https://data-apis.org/array-api/2025.12/API_specification/elementwise_functions.html
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Function = Callable[..., Any]
Parts = tuple[Any, Any]

PI = math.pi


def completed(xp: Any, name: str, native: Function, build: Function) -> Function:
    """A complex function of one operand: `native` for finite arguments, else its table.

    Args:
        xp: a namespace of real functions.
        name: of the op.
        native: the framework's function, correct for finite arguments.
        build: ``build(real, imag)``, the framework's complex array.
    """
    table = TABLES[name]

    def call(x: Any, /) -> Any:
        real, imag = xp.real(x), xp.imag(x)
        finite = xp.logical_and(xp.isfinite(real), xp.isfinite(imag))
        limit = xp.stop_gradient(build(*table(xp, xp.stop_gradient(real), xp.stop_gradient(imag))))
        # native gets finite numbers only: a NaN in its derivative would spread
        return xp.where(finite, native(xp.where(finite, x, xp.zeros_like(x))), limit)

    return call


def _product(xp: Any, p: Any, q: Any) -> Any:
    """p · q, where 0 · ∞ and 0 · NaN are 0."""
    plain = xp.logical_and(xp.isfinite(p), xp.isfinite(q))
    product = xp.multiply(p, q)
    product = xp.where(xp.logical_and(~plain, xp.equal(p, 0)), p, product)
    return xp.where(xp.logical_and(~plain, xp.equal(q, 0)), q, product)


def _turned(xp: Any, radius: Any, b: Any) -> Parts:
    """radius · (cos b, sin b); the real part of an infinite radius is infinite for every b."""
    lost = xp.logical_and(xp.isinf(radius), ~xp.isfinite(b))
    return xp.where(lost, radius, _product(xp, radius, xp.cos(b))), _product(xp, radius, xp.sin(b))


def _exp(xp: Any, a: Any, b: Any) -> Parts:
    real, imag = _turned(xp, xp.exp(a), b)
    unknown = xp.logical_and(xp.isfinite(a), ~xp.isfinite(b))  # also if eᵃ rounds to 0
    imag = xp.where(unknown, math.nan, xp.where(xp.equal(b, 0), b, imag))
    return xp.where(unknown, math.nan, real), imag


def _expm1(xp: Any, a: Any, b: Any) -> Parts:
    real, imag = _exp(xp, a, b)
    return real - 1.0, imag


def _cosh(xp: Any, a: Any, b: Any) -> Parts:
    lost = xp.logical_and(xp.isinf(a), ~xp.isfinite(b))
    real = xp.where(lost, xp.abs(a), _product(xp, xp.cosh(a), xp.cos(b)))
    return real, _product(xp, xp.sinh(a), xp.sin(b))


def _sinh(xp: Any, a: Any, b: Any) -> Parts:
    lost = xp.logical_and(xp.isinf(a), ~xp.isfinite(b))
    real = xp.where(lost, a, _product(xp, xp.sinh(a), xp.cos(b)))
    return real, _product(xp, xp.cosh(a), xp.sin(b))


def _tanh(xp: Any, a: Any, b: Any) -> Parts:
    infinite = xp.isinf(a)
    real = xp.where(infinite, xp.copysign(xp.ones_like(a), a), _nan_unless(xp, xp.equal(a, 0), a))
    zero = xp.copysign(xp.zeros_like(b), b)
    imag = xp.where(infinite, zero, _nan_unless(xp, xp.equal(b, 0), b))
    return real, imag


def _nan_unless(xp: Any, kept: Any, x: Any) -> Any:
    return xp.where(kept, x, math.nan)


def _sqrt(xp: Any, a: Any, b: Any) -> Parts:
    to_b = xp.isinf(b)
    up, down = xp.equal(a, math.inf), xp.equal(a, -math.inf)
    zero = _nan_unless(xp, ~xp.isnan(b), xp.zeros_like(b))
    infinity = xp.full_like(a, math.inf)
    real = xp.where(to_b | up, infinity, xp.where(down, zero, math.nan))
    imag = xp.where(down, xp.copysign(infinity, b), math.nan)
    imag = xp.where(up, xp.copysign(zero, b), imag)
    return real, xp.where(to_b, b, imag)


def _log(xp: Any, a: Any, b: Any) -> Parts:
    return _nan_unless(xp, _any_infinite(xp, a, b), xp.full_like(a, math.inf)), xp.atan2(b, a)


def _any_infinite(xp: Any, a: Any, b: Any) -> Any:
    return xp.logical_or(xp.isinf(a), xp.isinf(b))


def _acos(xp: Any, a: Any, b: Any) -> Parts:
    infinite = _any_infinite(xp, a, b)
    real = xp.where(infinite, xp.atan2(xp.abs(b), a), math.nan)
    real = xp.where(xp.logical_and(xp.equal(a, 0), xp.isnan(b)), PI / 2, real)
    return real, _nan_unless(xp, infinite, xp.copysign(xp.full_like(a, math.inf), -b))


def _acosh(xp: Any, a: Any, b: Any) -> Parts:
    real, imag = _acos(xp, a, b)
    return xp.abs(imag), xp.copysign(real, b)


def _asinh(xp: Any, a: Any, b: Any) -> Parts:
    infinite = _any_infinite(xp, a, b)
    real = _nan_unless(xp, infinite, xp.copysign(xp.full_like(a, math.inf), a))
    imag = xp.where(infinite, xp.atan2(b, xp.abs(a)), _nan_unless(xp, xp.equal(b, 0), b))
    return real, imag


def _atanh(xp: Any, a: Any, b: Any) -> Parts:
    infinite = _any_infinite(xp, a, b)
    real = xp.where(infinite, xp.copysign(xp.zeros_like(a), a), _nan_unless(xp, xp.equal(a, 0), a))
    right = xp.where(xp.isnan(b), math.nan, PI / 2 + xp.zeros_like(a))
    return real, _nan_unless(xp, infinite, xp.copysign(right, b))


def _rotated(table: Function) -> Function:
    """The table of f(z) = −i g(iz) from the table of g."""

    def of_rotated(xp: Any, a: Any, b: Any) -> Parts:
        real, imag = table(xp, -b, a)
        return imag, -real

    return of_rotated


def _cos(xp: Any, a: Any, b: Any) -> Parts:
    return _cosh(xp, -b, a)


#: Op → function to the real and imaginary part of its value, for nonfinite arguments.
TABLES: dict[str, Callable[[Any, Any, Any], Parts]] = {
    "acos": _acos,
    "acosh": _acosh,
    "asin": _rotated(_asinh),
    "asinh": _asinh,
    "atan": _rotated(_atanh),
    "atanh": _atanh,
    "cos": _cos,
    "cosh": _cosh,
    "exp": _exp,
    "expm1": _expm1,
    "log": _log,
    "log1p": lambda xp, a, b: _log(xp, a + 1.0, b),
    "sin": _rotated(_sinh),
    "sinh": _sinh,
    "sqrt": _sqrt,
    "tan": _rotated(_tanh),
    "tanh": _tanh,
}
