"""PyTorch: `nestarray.ops.activations`."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F

from nestarray.backends.base import supports
from nestarray.backends.torch.core import INEXACT
from nestarray.backends.torch.derivatives import is_constant
from nestarray.backends.torch.integers import LACKING, guarded

relu = guarded(torch.relu, lambda x: x.clone() if x.dtype in LACKING else torch.relu(x))
selu = torch.selu
silu = F.silu
sigmoid = torch.sigmoid
log_sigmoid = F.logsigmoid
hard_swish = F.hardswish
tanh_shrink = F.tanhshrink
mish = F.mish

# Beyond it log(1 + exp(x)) rounds to x in every dtype, and exp does not overflow in any.
_SOFTPLUS_IS_LINEAR = 40.0


@supports(lambda x: x.dtype in INEXACT)  # torch would compute integers in their dtype
def softsign(x: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.softsign.html"""
    return F.softsign(x)


@supports(lambda x: x.dtype not in LACKING)
def relu6(x: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.relu6.html"""
    return F.relu6(x)


def leaky_relu(x: Any, /, *, negative_slope: float = 0.01) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.leaky_relu.html"""
    return F.leaky_relu(x, negative_slope)


def elu(x: Any, /, *, alpha: float = 1.0) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.elu.html"""
    return F.elu(x, alpha)


# It has no second derivative.
@supports(lambda x: is_constant(x))
def hard_sigmoid(x: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.hardsigmoid.html"""
    return F.hardsigmoid(x)


# Its derivative takes 1 / alpha in float32.
@supports(lambda x, alpha=1.0: alpha == 1.0 or x.dtype is not torch.float64 or is_constant(x))
def celu(x: Any, /, *, alpha: float = 1.0) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.celu.html"""
    return torch.celu(x) if alpha == 1.0 else torch.celu(x, alpha)


def _approximation(approximate: Any) -> str:
    return "tanh" if approximate else "none"


def gelu(x: Any, /, *, approximate: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.gelu.html"""
    return F.gelu(x, approximate="none" if approximate is False else _approximation(approximate))


def softplus(x: Any, /, *, beta: float = 1.0, threshold: float | None = None) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.softplus.html"""
    return F.softplus(x, beta, _SOFTPLUS_IS_LINEAR if threshold is None else threshold)


# torch rounds limits for integers, and returns the upper limit if the limits are reversed
@supports(lambda x, min_value=-1.0, max_value=1.0: x.is_floating_point() and min_value <= max_value)
def hard_tanh(x: Any, /, *, min_value: float = -1.0, max_value: float = 1.0) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.hardtanh.html"""
    return F.hardtanh(x, min_value, max_value)


@supports(lambda *_, threshold=0.5: threshold == threshold)  # torch returns x for a NaN threshold
def hard_shrink(x: Any, /, *, threshold: float = 0.5) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.hardshrink.html"""
    return F.hardshrink(x, threshold)


@supports(lambda *_, threshold=0.5: threshold < math.inf)  # torch rejects it
def soft_shrink(x: Any, /, *, threshold: float = 0.5) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.softshrink.html"""
    return F.softshrink(x) if threshold == 0.5 else F.softshrink(x, threshold)


@supports(lambda x, **_: x.is_floating_point())  # torch wraps the value for integers
def threshold(x: Any, /, *, threshold: float, value: float) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.threshold.html"""
    return F.threshold(x, threshold, value)


@supports(lambda *_, axis=-1: isinstance(axis, int))
def softmax(x: Any, /, *, axis: Any = -1) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.softmax.html"""
    if not x.ndim:
        raise IndexError("PyTorch has a last axis where there is none")
    return torch.softmax(x, axis)


@supports(lambda *_, axis=-1: isinstance(axis, int))
def log_softmax(x: Any, /, *, axis: Any = -1) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.log_softmax.html"""
    if not x.ndim:
        raise IndexError("PyTorch has a last axis where there is none")
    return torch.log_softmax(x, axis)


@supports(lambda x, axis=-1: x.shape[axis] % 2 == 0 and not x.is_complex())
def glu(x: Any, /, *, axis: int = -1) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.glu.html"""
    return F.glu(x, axis)


@supports(lambda x, weight: x.ndim > 1 and weight.shape in ((1,), (x.shape[1],)))
def prelu(x: Any, weight: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.prelu.html"""
    return torch.prelu(x, weight)
