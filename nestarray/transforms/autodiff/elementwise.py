"""Partial derivatives of arithmetic and elementary functions."""

from __future__ import annotations

import math
from typing import Any

from nestarray import ops
from nestarray.transforms.autodiff.rules import (
    Call,
    Elementwise,
    Jacobian,
    Linear,
    Multilinear,
    OfResult,
    Place,
    Pullback,
    Pushed,
    Rule,
    Signed,
    Tangents,
    conj,
    fit,
    is_complex,
    spread,
)

_LN2, _LN10 = math.log(2.0), math.log(10.0)


def _by_base(y: Any, x1: Any, x2: Any) -> Any:
    """∂(x₁^x₂)/∂x₁; 0 where the exponent is 0, also at x₁ = 0."""
    if not hasattr(x2, "dtype"):
        return 0 if x2 == 0 else 1 if x2 == 1 else ops.multiply(ops.pow(x1, x2 - 1), x2)
    is_zero = ops.equal(x2, 0)
    lower = ops.pow(x1, ops.where(is_zero, 1, ops.subtract(x2, 1)))
    return ops.multiply(ops.where(is_zero, 0, x2), lower)


def _by_exponent(y: Any, x1: Any, x2: Any) -> Any:
    """∂(x₁^x₂)/∂x₂; 0 at x₁ = 0 for x₂ ≥ 0."""
    is_flat = ops.logical_and(ops.equal(x1, 0), ops.greater_equal(ops.real(x2), 0))
    return ops.multiply(y, ops.log(ops.where(is_flat, 1, ops.astype(x1, y.dtype))))


def _factor(truth: Any, y: Any) -> Any:
    return ops.astype(truth, y.dtype)


def _is_inside(y: Any, x: Any, low: Any = None, high: Any = None) -> Any:
    """Whether `clip` returns x; x below crossed bounds is outside, also if it equals the upper."""
    found = ops.logical_or(ops.equal(x, y), ops.isnan(x))
    return found if low is None else ops.logical_and(found, ops.logical_not(ops.less(x, low)))


def _is_low(y: Any, x: Any, low: Any) -> Any:
    """Whether `clip` returns the lower bound and x is below it."""
    return ops.logical_and(ops.less(x, y), ops.equal(y, low))


def _is_high(y: Any, x: Any, low: Any, high: Any) -> Any:
    """Whether `clip` returns the upper bound, which takes precedence if the bounds cross."""
    found = ops.logical_and(ops.equal(y, high), ops.logical_not(_is_inside(y, x, low)))
    return found if low is None else ops.logical_and(found, ops.logical_not(_is_low(y, x, low)))


def _extremum(function: Any) -> Rule:
    """The rule of `maximum` for ``function=ops.greater``; equal operands share the gradient evenly."""

    def share(call: Call) -> Any:
        x1, x2 = call.args
        first = ops.astype(function(x1, x2), call.y.dtype)
        return ops.where(ops.equal(x1, x2), 0.5, first)

    def push(call: Call, tangents: Tangents) -> Any:
        return spread(ops.lerp(tangents.get(1, 0.0), tangents.get(0, 0.0), share(call)), call.y)

    def pull(call: Call, places: list[Place]) -> Pullback:
        def back(ct: Any) -> list[Any]:
            first = ops.multiply(ct, share(call))
            parts = (first, ops.subtract(ct, first) if 1 in places else None)
            return [fit(parts[i], call.args[i]) for i in places]  # type: ignore[index]

        return back

    return Jacobian(push, pull)


def _abs(y: Any, x: Any) -> Any:
    if not is_complex(x):
        return ops.sign(x)
    is_zero = ops.equal(y, 0)
    return ops.divide(ops.conj(ops.where(is_zero, 0, x)), ops.where(is_zero, 1, y))


def _push_sign(call: Call, tangents: Tangents) -> Any:
    """For complex x ≠ 0, only the component of the tangent orthogonal to x changes x / |x|."""
    (x,), y, t = call.args, call.y, tangents[0]
    if not is_complex(x):
        return None
    size = ops.abs(x)
    along = ops.multiply(y, ops.real(ops.multiply(ops.conj(y), t)))
    is_zero = ops.equal(size, 0)
    slope = ops.divide(ops.subtract(t, along), ops.where(is_zero, 1, size))
    return ops.where(is_zero, 0, slope)


def _angle(y: Any, x: Any) -> Any:
    return ops.divide(-1j, x) if is_complex(x) else ops.zeros_like(x)


def _over(x: Any, y: Any) -> Any:
    """x / y, 0 where y is."""
    is_zero = ops.equal(y, 0)
    return ops.divide(ops.where(is_zero, 0, x), ops.where(is_zero, 1, y))


def _shift(y: Any, x: Any) -> Any:
    """x − y, where both are infinite too: the whole of +∞, nothing of −∞."""
    equal = ops.where(ops.equal(y, -math.inf), -math.inf, ops.zeros_like(y))
    return ops.where(ops.equal(x, y), equal, ops.subtract(x, y))


def _acosh(y: Any, x: Any) -> Any:
    if is_complex(x):  # whose branches the square would mix
        root = ops.multiply(ops.sqrt(ops.subtract(x, 1)), ops.sqrt(ops.add(x, 1)))
    else:
        root = ops.sqrt(ops.multiply(ops.subtract(x, 1), ops.add(x, 1)))
    return ops.reciprocal(root)


RULES: dict[str, Rule] = {
    "add": Signed(1, 1),
    "subtract": Signed(1, -1),
    "multiply": Multilinear(
        lambda ct, x1, x2: ops.multiply(ct, conj(x2)), lambda ct, x1, x2: ops.multiply(ct, conj(x1))
    ),
    "divide": Elementwise(
        lambda y, x1, x2: (
            ops.reciprocal(x2) if hasattr(x2, "dtype") else 1 / x2 if x2 else math.inf
        ),
        lambda y, x1, x2: ops.negative(ops.divide(y, x2)),
    ),
    "pow": Elementwise(_by_base, _by_exponent),
    "remainder": Elementwise(
        lambda y, x1, x2: 1, lambda y, x1, x2: ops.negative(ops.floor_divide(x1, x2))
    ),
    "fmod": Elementwise(
        lambda y, x1, x2: 1, lambda y, x1, x2: ops.negative(ops.trunc(ops.divide(x1, x2)))
    ),
    "maximum": _extremum(ops.greater),
    "minimum": _extremum(ops.less),
    "clip": Elementwise(
        lambda y, x, *bounds: _factor(_is_inside(y, x, *bounds), y),
        lambda y, x, low, *high: _factor(_is_low(y, x, low), y),
        lambda y, x, low, high: _factor(_is_high(y, x, low, high), y),
    ),
    "nextafter": Elementwise(lambda y, x1, x2: 1, None),
    "copysign": Elementwise(lambda y, x1, x2: ops.multiply(ops.sign(x1), ops.sign(y)), None),
    "negative": Signed(-1),
    "positive": Signed(1),
    "square": Elementwise(lambda y, x: ops.multiply(x, 2)),
    "reciprocal": OfResult(lambda y: ops.negative(ops.multiply(y, y))),
    "abs": Elementwise(_abs),
    "sign": Pushed(_push_sign),
    "real": Signed(1),
    "imag": Elementwise(lambda y, x: -1j if is_complex(x) else 0),
    "conj": Linear(lambda ct, x: ops.conj(ct)),
    "angle": Elementwise(_angle),
    "complex": Elementwise(lambda y, real, imag: 1, lambda y, real, imag: 1j),
    "exp": OfResult(lambda y: y),
    "expm1": Elementwise(lambda y, x: ops.exp(x)),
    "exp2": OfResult(lambda y: ops.multiply(y, _LN2)),
    "log": Elementwise(lambda y, x: ops.reciprocal(x)),
    "log1p": Elementwise(lambda y, x: ops.reciprocal(ops.add(x, 1))),
    "log2": Elementwise(lambda y, x: ops.reciprocal(ops.multiply(x, _LN2))),
    "log10": Elementwise(lambda y, x: ops.reciprocal(ops.multiply(x, _LN10))),
    "logaddexp": Elementwise(
        lambda y, x1, x2: ops.exp(_shift(y, x1)),
        lambda y, x1, x2: ops.exp(_shift(y, x2)),
    ),
    "logaddexp2": Elementwise(
        lambda y, x1, x2: ops.exp2(_shift(y, x1)),
        lambda y, x1, x2: ops.exp2(_shift(y, x2)),
    ),
    "sqrt": OfResult(lambda y: ops.divide(0.5, y)),
    "cbrt": OfResult(lambda y: ops.divide(1 / 3, ops.multiply(y, y))),
    "hypot": Elementwise(lambda y, x1, x2: _over(x1, y), lambda y, x1, x2: _over(x2, y)),
    "sin": Elementwise(lambda y, x: ops.cos(x)),
    "cos": Elementwise(lambda y, x: ops.negative(ops.sin(x))),
    "tan": OfResult(lambda y: ops.add(ops.multiply(y, y), 1)),
    "asin": Elementwise(lambda y, x: ops.divide(1.0, ops.sqrt(_one_minus_square(x)))),
    "acos": Elementwise(lambda y, x: ops.divide(-1.0, ops.sqrt(_one_minus_square(x)))),
    "atan": Elementwise(lambda y, x: ops.reciprocal(ops.add(ops.multiply(x, x), 1))),
    "atan2": Elementwise(
        lambda y, x1, x2: _over(x2, _squares(x1, x2)),
        lambda y, x1, x2: ops.negative(_over(x1, _squares(x1, x2))),
    ),
    "sinh": Elementwise(lambda y, x: ops.cosh(x)),
    "cosh": Elementwise(lambda y, x: ops.sinh(x)),
    "tanh": OfResult(lambda y: _one_minus_square(y)),
    "asinh": Elementwise(lambda y, x: ops.divide(1.0, ops.sqrt(ops.add(ops.multiply(x, x), 1)))),
    "acosh": Elementwise(_acosh),
    "atanh": Elementwise(lambda y, x: ops.reciprocal(_one_minus_square(x))),
}


def _one_minus_square(x: Any) -> Any:
    return ops.subtract(1, ops.multiply(x, x))


def _squares(x1: Any, x2: Any) -> Any:
    return ops.add(ops.multiply(x1, x1), ops.multiply(x2, x2))
