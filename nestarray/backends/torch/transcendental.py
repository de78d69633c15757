"""PyTorch: `nestarray.ops.transcendental`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from nestarray.backends import xp
from nestarray.backends.torch.core import FLOATING
from nestarray.backends.torch.derivatives import is_constant, is_observed, order
from nestarray.backends.torch.promotion import floating_pair, promoting
from nestarray.numerics.logarithms import complex_logaddexp, differentiable_log_sum
from nestarray.numerics.nonfinite import completed


def _completed(
    name: str, native: Callable[..., Any], finite: Callable[..., Any]
) -> Callable[..., Any]:
    """`native`; for complex numbers `finite`, with the standard's values for infinities and NaN."""
    of_complex = completed(xp, name, finite, torch.complex)

    def call(x: Any, /) -> Any:
        return native(x) if x.dtype in FLOATING or not x.is_complex() else of_complex(x)

    return call


def _real_expm1(x: Any) -> Any:
    """``torch.expm1``, whose derivative, its value + 1, is 0 below −37."""
    if not order():
        return torch.expm1(x)
    return torch.where(x < -1.0, torch.exp(x.clamp(max=-1.0)) - 1.0, torch.expm1(x))


def _expm1(x: Any) -> Any:
    """(eᵃ − 1) cos b − 2 sin²(b/2) + i eᵃ sin b: torch loses small complex numbers."""
    a, b = x.real, x.imag
    real = torch.expm1(a) * torch.cos(b) - 2.0 * torch.sin(0.5 * b).square()
    return torch.complex(real + 0.0, torch.exp(a) * torch.sin(b))  # −0 + 0 is 0


def _acos(x: Any) -> Any:
    """``torch.acos`` with the correct sign of a zero imaginary part."""
    y = torch.acos(x)
    sign = -torch.copysign(torch.ones_like(y.imag), x.imag.detach())
    return torch.complex(y.real, sign * (sign * y.imag + 0.0))  # −0 + 0 is 0


def _logaddexp(x1: Any, x2: Any) -> Any:
    if x1.is_complex():
        return complex_logaddexp(xp, x1, x2)
    return _real_logaddexp(x1, x2)


def _differentiable(logaddexp: Callable[..., Any], base: float) -> Callable[..., Any]:
    """`logaddexp`; PyTorch's second derivative is NaN for numbers far from each other."""

    def smooth(x1: Any, x2: Any) -> Any:
        is_first = x1 >= x2
        large, small = torch.where(is_first, x1, x2), torch.where(is_first, x2, x1)
        ln = math.log(base)
        return large + torch.log1p(torch.exp((small - large) * ln)) / ln

    def call(x1: Any, x2: Any) -> Any:
        if not order():
            return logaddexp(x1, x2)
        is_nothing = (x1 == -math.inf) & (x2 == -math.inf)
        is_infinite = (x1 == math.inf) | (x2 == math.inf)
        finite = (torch.where(is_infinite, 0.0, x) for x in (x1, x2))
        total = differentiable_log_sum(xp, smooth, is_nothing, *finite)
        return torch.where(is_infinite, torch.maximum(x1, x2), total)

    return call


_real_logaddexp = _differentiable(torch.logaddexp, math.e)


def _hypot(x1: Any, x2: Any) -> Any:
    """The derivative is 0 at the origin, where torch's is NaN."""
    if is_constant(x1) and is_constant(x2) and not is_observed():
        return torch.hypot(x1, x2)
    is_zero = (x1 == 0) & (x2 == 0)
    return torch.where(is_zero, 0, torch.hypot(torch.where(is_zero, 1, x1), x2))


def _atan2(x1: Any, x2: Any) -> Any:
    """The derivative is 0 at the origin; torch's is NaN in forward mode and the second one."""
    if is_constant(x1) and is_constant(x2) and not is_observed():
        return torch.atan2(x1, x2)
    is_zero = (x1 == 0) & (x2 == 0)
    constant = torch.atan2(x1.detach(), x2.detach())
    return torch.where(is_zero, constant, torch.atan2(x1, torch.where(is_zero, 1, x2)))


acos = _completed("acos", torch.acos, _acos)
acosh = torch.acosh
asin = torch.asin
asinh = torch.asinh
atan = torch.atan
atanh = torch.atanh
cos = torch.cos
cosh = torch.cosh
exp = torch.exp
exp2 = torch.exp2
expm1 = _completed("expm1", _real_expm1, _expm1)
log = torch.log
log10 = torch.log10
log1p = _completed("log1p", torch.log1p, torch.log1p)
log2 = torch.log2
sin = torch.sin
sinh = torch.sinh
sqrt = torch.sqrt
tan = torch.tan
tanh = _completed("tanh", torch.tanh, torch.tanh)
rsqrt = torch.rsqrt

atan2 = promoting(_atan2)
hypot = promoting(floating_pair(_hypot), floats=True)
logaddexp = promoting(floating_pair(_logaddexp), floats=True)
logaddexp2 = promoting(floating_pair(_differentiable(torch.logaddexp2, 2.0)), floats=True)
