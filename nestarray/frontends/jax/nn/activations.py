"""Activation functions, with JAX's derivatives.

Upstream: https://docs.jax.dev/en/latest/jax.nn.html
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.jax.numpy import reduction
from nestarray.frontends.jax.promotion import (
    as_array,
    as_dtype,
    axes_of,
    cast,
    inexact,
    promote_inexact,
)
from nestarray.typing import Array, DTypeLike

__all__ = [
    "celu", "elu", "gelu", "glu", "hard_sigmoid", "hard_silu", "hard_swish", "hard_tanh",
    "identity", "leaky_relu", "log1mexp", "log_sigmoid", "log_softmax", "logmeanexp", "logsumexp",
    "mish", "one_hot", "relu", "relu6", "selu", "sigmoid", "silu", "soft_sign", "softmax",
    "softplus", "sparse_plus", "sparse_sigmoid", "squareplus", "standardize", "swish", "tanh",
]  # fmt: skip

tanh, sigmoid = na.tanh, na.sigmoid
Axis = int | Sequence[int] | None


def identity(x: Array) -> Array:
    """x."""
    return x


def relu(x: Array) -> Array:
    """max(x, 0), with the derivative 0 at 0."""
    return na.relu(x)


def relu6(x: Array) -> Array:
    """min(max(x, 0), 6), with the derivative 0 at 0 and at 6."""
    return na.relu6(inexact(x))


def silu(x: Array) -> Array:
    """x · sigmoid(x)."""
    return na.silu(inexact(x))


swish = silu


def elu(x: Array, alpha: Any = 1.0) -> Array:
    """x if it is positive, alpha · (eˣ − 1) if not."""
    x = inexact(x)
    below = na.multiply(na.expm1(na.minimum(x, 0.0)), alpha)
    return na.where(na.greater(x, 0), x, below)


def celu(x: Array, alpha: Any = 1.0) -> Array:
    """max(x, 0) + alpha · (exp(min(x, 0) / alpha) − 1)."""
    x = inexact(x)
    below = na.multiply(na.expm1(na.divide(na.minimum(x, 0.0), alpha)), alpha)
    return na.add(na.maximum(x, 0.0), below)


def selu(x: Array) -> Array:
    """1.0507 · elu(x, 1.6733)."""
    return na.selu(inexact(x))


def leaky_relu(x: Array, negative_slope: Any = 1e-2) -> Array:
    """x, times a slope if it is negative."""
    x = inexact(x)
    return na.where(na.greater_equal(x, 0), x, na.multiply(x, negative_slope))


def gelu(x: Array, approximate: bool = True) -> Array:
    """x · Φ(x), by default with tanh in place of erf."""
    return na.gelu(inexact(x), approximate=approximate)


def glu(x: Array, axis: int = -1) -> Array:
    """a · sigmoid(b), of the halves of x."""
    if na.shape(x)[axis] % 2:
        raise ArgumentError(
            f"glu: x: got {na.shape(x)[axis]} elements along axis {axis}, expected an even number"
        )
    return na.glu(inexact(x), axis=axis)


def softplus(x: Array) -> Array:
    """ln(1 + eˣ)."""
    return na.softplus(inexact(x))


def log_sigmoid(x: Array) -> Array:
    """ln sigmoid(x)."""
    return na.log_sigmoid(inexact(x))


def soft_sign(x: Array) -> Array:
    """x / (1 + \\|x\\|)."""
    return na.softsign(inexact(x))


def mish(x: Array) -> Array:
    """x · tanh(softplus(x))."""
    return na.mish(inexact(x))


def squareplus(x: Array, b: Any = 4) -> Array:
    """(x + √(x² + b)) / 2."""
    x = inexact(x)
    return na.divide(na.add(x, na.sqrt(na.add(na.square(x), b))), 2)


def hard_tanh(x: Array) -> Array:
    """x within [−1, 1], with the derivative 1 at both."""
    x = as_array(x)
    high = na.where(na.greater(x, 1), na.ones_like(x), x)
    return na.where(na.less(x, -1), na.full_like(x, -1), high)


def hard_sigmoid(x: Array) -> Array:
    """relu6(x + 3) / 6."""
    return na.hard_sigmoid(inexact(x))


def hard_silu(x: Array) -> Array:
    """x · hard_sigmoid(x)."""
    x = inexact(x)
    return na.multiply(x, na.hard_sigmoid(x))


hard_swish = hard_silu


def sparse_plus(x: Array) -> Array:
    """0 up to −1, (x + 1)² / 4 up to 1, then x."""
    x = inexact(x)
    middle = na.multiply(na.square(na.add(x, 1)), 0.25)
    upper = na.where(na.greater_equal(x, 1), x, middle)
    return na.where(na.less_equal(x, -1), na.zeros_like(x), upper)


def sparse_sigmoid(x: Array) -> Array:
    """(x + 1) / 2, within [0, 1]."""
    x = inexact(x)
    return na.multiply(na.minimum(na.maximum(na.add(x, 1.0), 0.0), 2.0), 0.5)


def log1mexp(x: Array) -> Array:
    """ln(1 − e⁻ˣ) of positive numbers."""
    x = inexact(x)
    is_small = na.less(x, math.log(2.0))
    # each branch at a number in its range: outside, its derivative may be infinite
    small = na.where(is_small, x, na.ones_like(x))
    large = na.where(is_small, na.ones_like(x), x)
    return na.where(
        is_small,
        na.log(na.negative(na.expm1(na.negative(small)))),
        na.log1p(na.negative(na.exp(na.negative(large)))),
    )


# -- along axes ----------------------------------------------------------------------------------


def _axes(x: Array, axis: Axis) -> tuple[int, ...]:
    return axes_of(axis, len(na.shape(x)))


def _one_axis(x: Array, axis: Axis) -> int | tuple[int, ...]:
    """The axes; one as a number, for which frameworks have kernels."""
    axes = _axes(x, axis)
    return axes[0] if len(axes) == 1 else axes


def softmax(x: Array, axis: Axis = -1, where: Array | None = None) -> Array:
    """Exponentials divided by their sum; 0 where `where` is false."""
    x = inexact(x)
    axes = _one_axis(x, axis)
    if where is None:
        return na.softmax(x, axis=axes)
    found = na.softmax(na.where(where, x, na.full_like(x, -math.inf)), axis=axes)
    return na.where(where, found, na.zeros_like(found))


def log_softmax(x: Array, axis: Axis = -1, where: Array | None = None) -> Array:
    """The logarithm of `softmax`; −∞ where `where` is false."""
    x = inexact(x)
    axes = _one_axis(x, axis)
    if where is None:
        return na.log_softmax(x, axis=axes)
    nothing = na.full_like(x, -math.inf)
    return na.where(where, na.log_softmax(na.where(where, x, nothing), axis=axes), nothing)


def logsumexp(
    a: Array,
    axis: Axis = None,
    b: Array | None = None,
    keepdims: bool = False,
    return_sign: bool = False,
    where: Array | None = None,
) -> Any:
    """ln Σ b eᵃ; with `return_sign` of the absolute value, and the sign."""
    a, *factors = promote_inexact(a) if b is None else promote_inexact(a, b)
    axes = _axes(a, axis)
    if where is not None:
        a = na.where(where, a, na.full_like(a, -math.inf))
    if return_sign:
        factor = factors[0] if factors else na.ones_like(a)
        found, sign = na.logsumexp(a, axis=axes, b=factor, keepdims=keepdims, return_sign=True)
        return found, cast(sign, na.dtype_of(a))
    return na.logsumexp(a, axis=axes, b=factors[0] if factors else None, keepdims=keepdims)


def logmeanexp(
    x: Array, axis: Axis = None, where: Array | None = None, keepdims: bool = False
) -> Array:
    """ln of the mean of exponentials."""
    x = inexact(x)
    total = logsumexp(x, axis, keepdims=keepdims, where=where)
    if where is None:
        count = math.prod(na.shape(x)[i] for i in _axes(x, axis))
        return na.subtract(total, math.log(count) if count else -math.inf)
    chosen = na.broadcast_to(where, na.shape(x))
    count = reduction.count_nonzero(chosen, _axes(x, axis), keepdims)
    return na.subtract(total, na.log(cast(count, na.dtype_of(total))))


def standardize(
    x: Array,
    axis: Axis = -1,
    mean: Array | None = None,
    variance: Array | None = None,
    epsilon: Any = 1e-5,
    where: Array | None = None,
    *,
    algorithm: str = "fast",
) -> Array:
    """(x − mean) / √(variance + epsilon)."""
    x = inexact(x)
    axes = _axes(x, axis)
    mean = reduction.mean(x, axes, keepdims=True, where=where) if mean is None else mean
    if variance is None:
        squares = na.square(x) if algorithm == "fast" else na.square(na.subtract(x, mean))
        variance = reduction.mean(squares, axes, keepdims=True, where=where)
        if algorithm == "fast":
            variance = na.subtract(variance, na.square(mean))
    return na.divide(na.subtract(x, mean), na.sqrt(na.add(variance, epsilon)))


def one_hot(x: Array, num_classes: int, *, dtype: DTypeLike | None = None, axis: int = -1) -> Array:
    """A 1 at each index, among zeros; only zeros for an index out of range."""
    wanted = as_dtype(float if dtype is None else dtype)
    x = x if hasattr(x, "dtype") else na.asarray(x, dtype=dtypes.int32)
    rank = len(na.shape(x)) + 1
    sizes = [1] * rank
    sizes[axis] = num_classes
    classes = na.reshape(na.arange(num_classes, dtype=na.dtype_of(x), like=x), sizes)
    return na.astype(na.equal(na.expand_dims(x, axis % rank), classes), wanted)
