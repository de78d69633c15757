"""Complex functions at infinities and NaN, by the tables of the Array API standard (and of C99).

The frameworks compute complex functions well where both parts are finite, and mostly not by the
tables where one is not: ∞ · 0 makes a NaN that the true limit does not have. `completed` takes
the framework's value where the argument is finite and the table's elsewhere. The tables are
functions of the real and the imaginary part, written in ops; nothing is differentiated there.

https://data-apis.org/array-api/2025.12/API_specification/elementwise_functions.html
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Function = Callable[..., Any]
Parts = tuple[Any, Any]

PI = math.pi


def completed(name: str, native: Function, build: Function) -> Function:
    """`native`, a complex function of one operand, with the values of the table of `name`.

    Args:
        name: of the op.
        native: the framework's function, right where the argument is finite.
        build: the framework's complex array from real and imaginary part.
    """
    table = TABLES[name]

    def call(x: Any, /) -> Any:
        from nestarray import ops

        real, imag = ops.real(x), ops.imag(x)
        finite = ops.logical_and(ops.isfinite(real), ops.isfinite(imag))
        limit = ops.stop_gradient(build(*table(ops.stop_gradient(real), ops.stop_gradient(imag))))
        # native sees finite numbers only: a NaN in its derivative would spread
        return ops.where(finite, native(ops.where(finite, x, ops.zeros_like(x))), limit)

    return call


def _product(p: Any, q: Any) -> Any:
    """p · q, where a zero also wins over ∞ and NaN."""
    from nestarray import ops

    plain = ops.logical_and(ops.isfinite(p), ops.isfinite(q))
    product = ops.multiply(p, q)
    product = ops.where(ops.logical_and(~plain, ops.equal(p, 0)), p, product)
    return ops.where(ops.logical_and(~plain, ops.equal(q, 0)), q, product)


def _turned(radius: Any, b: Any) -> Parts:
    """radius · (cos b, sin b); an infinite radius stays so in the real part, whatever b."""
    from nestarray import ops

    lost = ops.logical_and(ops.isinf(radius), ~ops.isfinite(b))
    return ops.where(lost, radius, _product(radius, ops.cos(b))), _product(radius, ops.sin(b))


def _exp(a: Any, b: Any) -> Parts:
    from nestarray import ops

    real, imag = _turned(ops.exp(a), b)
    unknown = ops.logical_and(ops.isfinite(a), ~ops.isfinite(b))  # also where eᵃ is rounded to 0
    imag = ops.where(unknown, math.nan, ops.where(ops.equal(b, 0), b, imag))
    return ops.where(unknown, math.nan, real), imag


def _expm1(a: Any, b: Any) -> Parts:
    real, imag = _exp(a, b)
    return real - 1.0, imag


def _cosh(a: Any, b: Any) -> Parts:
    from nestarray import ops

    lost = ops.logical_and(ops.isinf(a), ~ops.isfinite(b))
    real = ops.where(lost, ops.abs(a), _product(ops.cosh(a), ops.cos(b)))
    return real, _product(ops.sinh(a), ops.sin(b))


def _sinh(a: Any, b: Any) -> Parts:
    from nestarray import ops

    lost = ops.logical_and(ops.isinf(a), ~ops.isfinite(b))
    real = ops.where(lost, a, _product(ops.sinh(a), ops.cos(b)))
    return real, _product(ops.cosh(a), ops.sin(b))


def _tanh(a: Any, b: Any) -> Parts:
    from nestarray import ops

    infinite = ops.isinf(a)
    real = ops.where(infinite, ops.copysign(ops.ones_like(a), a), _nan_unless(ops.equal(a, 0), a))
    zero = ops.copysign(ops.zeros_like(b), b)
    imag = ops.where(infinite, zero, _nan_unless(ops.equal(b, 0), b))
    return real, imag


def _nan_unless(kept: Any, x: Any) -> Any:
    from nestarray import ops

    return ops.where(kept, x, math.nan)


def _sqrt(a: Any, b: Any) -> Parts:
    from nestarray import ops

    to_b = ops.isinf(b)
    up, down = ops.equal(a, math.inf), ops.equal(a, -math.inf)
    zero = _nan_unless(~ops.isnan(b), ops.zeros_like(b))
    infinity = ops.full_like(a, math.inf)
    real = ops.where(to_b | up, infinity, ops.where(down, zero, math.nan))
    imag = ops.where(down, ops.copysign(infinity, b), math.nan)
    imag = ops.where(up, ops.copysign(zero, b), imag)
    return real, ops.where(to_b, b, imag)


def _log(a: Any, b: Any) -> Parts:
    from nestarray import ops

    return _nan_unless(_any_infinite(a, b), ops.full_like(a, math.inf)), ops.atan2(b, a)


def _any_infinite(a: Any, b: Any) -> Any:
    from nestarray import ops

    return ops.logical_or(ops.isinf(a), ops.isinf(b))


def _acos(a: Any, b: Any) -> Parts:
    from nestarray import ops

    infinite = _any_infinite(a, b)
    real = ops.where(infinite, ops.atan2(ops.abs(b), a), math.nan)
    real = ops.where(ops.logical_and(ops.equal(a, 0), ops.isnan(b)), PI / 2, real)
    return real, _nan_unless(infinite, ops.copysign(ops.full_like(a, math.inf), -b))


def _acosh(a: Any, b: Any) -> Parts:
    from nestarray import ops

    real, imag = _acos(a, b)
    return ops.abs(imag), ops.copysign(real, b)


def _asinh(a: Any, b: Any) -> Parts:
    from nestarray import ops

    infinite = _any_infinite(a, b)
    real = _nan_unless(infinite, ops.copysign(ops.full_like(a, math.inf), a))
    imag = ops.where(infinite, ops.atan2(b, ops.abs(a)), _nan_unless(ops.equal(b, 0), b))
    return real, imag


def _atanh(a: Any, b: Any) -> Parts:
    from nestarray import ops

    infinite = _any_infinite(a, b)
    real = ops.where(infinite, ops.copysign(ops.zeros_like(a), a), _nan_unless(ops.equal(a, 0), a))
    right = ops.where(ops.isnan(b), math.nan, PI / 2 + ops.zeros_like(a))
    return real, _nan_unless(infinite, ops.copysign(right, b))


def _rotated(table: Function) -> Function:
    """The table of f(z) = −i g(iz), of that of g."""

    def of_rotated(a: Any, b: Any) -> Parts:
        real, imag = table(-b, a)
        return imag, -real

    return of_rotated


def _cos(a: Any, b: Any) -> Parts:
    return _cosh(-b, a)


#: Name of an op → (real part, imaginary part) of its value, for arguments that are not finite.
TABLES: dict[str, Callable[[Any, Any], Parts]] = {
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
    "log1p": lambda a, b: _log(a + 1.0, b),
    "sin": _rotated(_sinh),
    "sinh": _sinh,
    "sqrt": _sqrt,
    "tan": _rotated(_tanh),
    "tanh": _tanh,
}
