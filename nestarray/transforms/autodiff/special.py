"""Partial derivatives of the special functions."""

from __future__ import annotations

import math
from typing import Any

from nestarray import ops
from nestarray.numerics.reparametrization import differentiable_gamma
from nestarray.transforms.autodiff.rules import Composed, Elementwise, OfResult, Rule

_ROOT_PI, _ROOT_2PI = math.sqrt(math.pi), math.sqrt(2 * math.pi)


def _bell(x: Any) -> Any:
    """exp(−x²)."""
    return ops.exp(ops.negative(ops.multiply(x, x)))


def _normal(x: Any) -> Any:
    """The density of the normal distribution."""
    return ops.divide(_bell(ops.multiply(x, math.sqrt(0.5))), _ROOT_2PI)


def _log_ndtr(y: Any, x: Any) -> Any:
    exponent = ops.subtract(ops.multiply(ops.multiply(x, x), -0.5), y)
    return ops.divide(ops.exp(exponent), _ROOT_2PI)


def _erfcx(y: Any, x: Any) -> Any:
    return ops.subtract(ops.multiply(ops.multiply(x, y), 2), 2 / _ROOT_PI)


def _ratio(y: Any, x: Any) -> Any:
    """y / x, with the limit ½ at 0."""
    is_zero = ops.equal(x, 0)
    return ops.where(is_zero, 0.5, ops.divide(y, ops.where(is_zero, 1, x)))


def _beside(x1: Any, x2: Any) -> Any:
    """x₂; 1 where x₁ = 0 and x₂ ≤ 0, so that 0 · ln 0 = 0 with derivatives 0."""
    return ops.where(ops.logical_and(ops.equal(x1, 0), ops.less_equal(x2, 0)), 1.0, x2)


def _random_gamma(key: Any, a: Any, *, log_space: bool = False) -> Any:
    drawn = ops.random_gamma(key, ops.stop_gradient(a), log_space=log_space)
    return differentiable_gamma(ops, a, drawn, log_space)


RULES: dict[str, Rule] = {
    "random_gamma": Composed(_random_gamma),
    "erf": Elementwise(lambda y, x: ops.multiply(_bell(x), 2 / _ROOT_PI)),
    "erfc": Elementwise(lambda y, x: ops.multiply(_bell(x), -2 / _ROOT_PI)),
    "erfcx": Elementwise(_erfcx),
    "erfinv": OfResult(lambda y: ops.multiply(ops.exp(ops.multiply(y, y)), _ROOT_PI / 2)),
    "ndtr": Elementwise(lambda y, x: _normal(x)),
    "log_ndtr": Elementwise(_log_ndtr),
    "ndtri": OfResult(lambda y: ops.reciprocal(_normal(y))),
    "lgamma": Elementwise(lambda y, x: ops.digamma(x)),
    "digamma": Elementwise(lambda y, x: ops.polygamma(1, x)),
    "xlogy": Elementwise(
        lambda y, x1, x2: ops.log(_beside(x1, x2)),
        lambda y, x1, x2: ops.divide(x1, _beside(x1, x2)),
    ),
    "entr": Elementwise(lambda y, x: ops.negative(ops.add(ops.log(x), 1.0))),
    "xlog1py": Elementwise(
        lambda y, x1, x2: ops.log(_beside(x1, ops.add(x2, 1))),
        lambda y, x1, x2: ops.divide(x1, _beside(x1, ops.add(x2, 1))),
    ),
    "i0": Elementwise(lambda y, x: ops.i1(x)),
    "i0e": Elementwise(lambda y, x: ops.subtract(ops.i1e(x), ops.multiply(ops.sign(x), y))),
    "i1": Elementwise(lambda y, x: ops.subtract(ops.i0(x), _ratio(y, x))),
    "i1e": Elementwise(
        lambda y, x: ops.subtract(
            ops.subtract(ops.i0e(x), _ratio(y, x)), ops.multiply(ops.sign(x), y)
        )
    ),
}
