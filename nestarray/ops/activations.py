"""Nonlinearities of neural networks."""

from __future__ import annotations

import math

from nestarray import dtypes, ops
from nestarray.backends.base import refuse_complex
from nestarray.backends.truth import of_bools
from nestarray.dispatch import Trait, floating_op, op
from nestarray.dtypes import iinfo
from nestarray.errors import ArgumentError, ShapeError
from nestarray.numerics.axes import many_axes
from nestarray.typing import Array, Axis, check_not_zero, check_range

__all__ = [
    "celu",
    "crelu",
    "elu",
    "gelu",
    "glu",
    "hard_shrink",
    "hard_sigmoid",
    "hard_swish",
    "hard_tanh",
    "leaky_relu",
    "log_sigmoid",
    "log_softmax",
    "mish",
    "prelu",
    "relu",
    "relu6",
    "rrelu",
    "selu",
    "sigmoid",
    "silu",
    "soft_shrink",
    "softmax",
    "softplus",
    "softsign",
    "squareplus",
    "tanh_shrink",
    "threshold",
]
TRAITS = Trait.ELEMENTWISE | Trait.HALF_SAFE

# The constants for which mean 0 and variance 1 are a fixed point for normal inputs.
_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


@op
@of_bools(lambda x: ops.relu(ops.astype(x, dtypes.int64)))
def relu(x: Array, /) -> Array:
    """The rectified linear unit, max(x, 0).

    Args:
        x: any shape, real.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.relu(np.asarray([-1.0, 2.0]))
        array([0., 2.])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.nn.relu.html
    """
    return ops.maximum(x, 0)


@op
@of_bools(lambda x: ops.relu6(ops.astype(x, dtypes.int64)))
def relu6(x: Array, /) -> Array:
    """The rectified linear unit with a ceiling, min(max(x, 0), 6).

    Args:
        x: any shape, real.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.relu6(np.asarray([-1.0, 2.0, 8.0]))
        array([0., 2., 6.])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.nn.relu6.html
    """
    return ops.hard_tanh(x, min_value=0, max_value=6)


@floating_op
def leaky_relu(x: Array, /, *, negative_slope: float = 0.01) -> Array:
    """The leaky rectified linear unit: x where x > 0, `negative_slope` · x elsewhere.

    Args:
        x: any shape, floating.
        negative_slope: the slope below zero.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.leaky_relu(np.asarray([-1.0, 2.0]))
        array([-0.01,  2.  ])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.nn.leaky_relu.html
    """
    return ops.where(ops.greater(x, 0), x, x * negative_slope)


@floating_op
def elu(x: Array, /, *, alpha: float = 1.0) -> Array:
    """The exponential linear unit: x where x > 0, alpha · (eˣ − 1) elsewhere.

    TensorFlow subtracts 1 from eˣ in float32 and float64, so near 0 its result has the rounding
    error of 1; that holds for `selu` too, and `celu` is exact.

    Args:
        x: any shape, floating.
        alpha: minus the limit for x → −∞.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.elu(np.asarray([-1.0, 2.0]))
        array([-0.63212056,  2.        ])

    References:
        https://arxiv.org/abs/1511.07289
    """
    return ops.where(ops.greater(x, 0), x, _below_zero(x) * alpha)


def _below_zero(x: Array) -> Array:
    """eˣ − 1 where x < 0; x elsewhere, so that the second derivative at 0 is 0."""
    is_negative = ops.less(x, 0)
    # no positive argument for the exponential, whose overflow would give a NaN gradient
    return ops.where(is_negative, ops.expm1(ops.where(is_negative, x, 0)), x)


@floating_op
def selu(x: Array, /) -> Array:
    """The self-normalizing exponential linear unit, 1.0507 · elu(x, alpha=1.6733).

    The two constants keep mean 0 and variance 1 fixed through a layer.

    Args:
        x: any shape, floating.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.selu(np.asarray([-1.0, 2.0]))
        array([-1.11133074,  2.10140197])

    References:
        https://arxiv.org/abs/1706.02515
    """
    negative = _below_zero(x) * (_SELU_ALPHA * _SELU_SCALE)
    return ops.where(ops.greater(x, 0), x * _SELU_SCALE, negative)


@floating_op
def celu(x: Array, /, *, alpha: float = 1.0) -> Array:
    """The continuously differentiable elu: x where it is positive, alpha · (exp(x / alpha) − 1) elsewhere.

    Args:
        x: any shape, floating.
        alpha: minus the limit for x → −∞; positive.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.celu(np.asarray([-1.0, 2.0]), alpha=0.5)
        array([-0.43233236,  2.        ])

    References:
        https://arxiv.org/abs/1704.07483
    """
    check_not_zero("celu", "alpha", alpha)
    is_negative = ops.less(x, 0)
    return ops.where(is_negative, ops.expm1(ops.where(is_negative, x, 0) / alpha) * alpha, x)


@floating_op
def gelu(x: Array, /, *, approximate: bool = False) -> Array:
    """The Gaussian error linear unit, x · Φ(x), Φ the normal distribution function.

    NaN at −∞, like the product. PyTorch computes Φ as 1 plus an error function, which far below 0 has
    the rounding error of 1; its vector code for float32 returns NaN at +∞ too.

    Args:
        x: any shape, floating.
        approximate: compute Φ by tanh, as 0.5 · (1 + tanh(√(2/π) · (x + 0.044715 x³))),
            rather than exactly by erf.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.gelu(np.asarray([-1.0, 2.0])).round(4)
        array([-0.1587,  1.9545])

    References:
        https://arxiv.org/abs/1606.08415
    """
    refuse_complex(x)
    if approximate:
        inner = (x + x * x * x * 0.044715) * math.sqrt(2.0 / math.pi)
        return x * 0.5 * (ops.tanh(inner) + 1.0)
    return x * 0.5 * ops.erfc(x * -math.sqrt(0.5))  # 1 + erf would cancel below 0


@floating_op
def silu(x: Array, /) -> Array:
    """The sigmoid linear unit, also called swish: x · sigmoid(x).

    NaN at −∞, like the product. In float32 it is 0 below −88.7, on JAX and TensorFlow below −87.3.

    Args:
        x: any shape, floating.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.silu(np.asarray([-1.0, 2.0]))
        array([-0.26894142,  1.76159416])

    References:
        https://arxiv.org/abs/1702.03118
    """
    return x * ops.sigmoid(x)


@floating_op(traits=Trait.ELEMENTWISE)
def softplus(x: Array, /, *, beta: float = 1.0, threshold: float | None = None) -> Array:
    """A smooth relu, log(1 + exp(beta · x)) / beta.

    Args:
        x: any shape, floating.
        beta: the sharpness; the larger, the closer to relu.
        threshold: the result is x itself where beta · x is above; None: the formula everywhere.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.softplus(np.asarray([-1.0, 2.0]))
        array([0.31326169, 2.12692801])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.softplus.html
    """
    refuse_complex(x)
    scaled = x if beta == 1.0 else x * beta
    smooth = ops.logaddexp(scaled, 0.0)
    smooth = smooth if beta == 1.0 else smooth / beta
    if threshold is None:
        return smooth
    return ops.where(ops.greater(scaled, threshold), x, smooth)


@floating_op
def softsign(x: Array, /) -> Array:
    """x / (1 + |x|).

    NaN at ±∞, like the quotient.

    Args:
        x: any shape, floating.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.softsign(np.asarray([-1.0, 3.0]))
        array([-0.5 ,  0.75])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.softsign.html
    """
    return ops.divide(x, ops.abs(x) + 1.0)


@floating_op
def sigmoid(x: Array, /) -> Array:
    """The logistic function, 1 / (1 + e⁻ˣ).

    The derivative is σ (1 − σ) of the rounded σ, as in each framework: 0 above 37 in float64. There
    `log_sigmoid` keeps digits.

    Args:
        x: any shape, floating.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.sigmoid(np.asarray([-1.0, 0.0]))
        array([0.26894142, 0.5       ])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.nn.sigmoid.html
    """
    # from the logarithm, because e⁻ˣ overflows where the result is small but nonzero
    return ops.exp(ops.log_sigmoid(x))


@floating_op(traits=Trait.ELEMENTWISE)
def log_sigmoid(x: Array, /) -> Array:
    """The logarithm of the logistic function, −log(1 + e⁻ˣ), without overflow.

    Args:
        x: any shape, floating.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.log_sigmoid(np.asarray([-1.0, 0.0]))
        array([-1.31326169, -0.69314718])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.nn.log_sigmoid.html
    """
    refuse_complex(x)
    return -ops.logaddexp(-x, 0.0)


@floating_op
def hard_sigmoid(x: Array, /) -> Array:
    """The piecewise linear approximation of the logistic function, relu6(x + 3) / 6.

    Args:
        x: any shape, floating.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.hard_sigmoid(np.asarray([-4.0, 0.0, 1.5]))
        array([0.  , 0.5 , 0.75])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.nn.hard_sigmoid.html
    """
    return ops.relu6(x + 3.0) / 6.0


@floating_op
def hard_swish(x: Array, /) -> Array:
    """The piecewise approximation of silu, x · hard_sigmoid(x).

    NaN at −∞, like the product.

    Args:
        x: any shape, floating.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.hard_swish(np.asarray([-4.0, 0.0, 1.5]))
        array([-0.   ,  0.   ,  1.125])

    References:
        https://arxiv.org/abs/1905.02244
    """
    return x * ops.hard_sigmoid(x)


@op
def hard_tanh(x: Array, /, *, min_value: float = -1.0, max_value: float = 1.0) -> Array:
    """x clipped to two limits, min(max(x, min_value), max_value).

    The derivative is 1 between the limits and 0 elsewhere, including the limits.

    Args:
        x: any shape, floating.
        min_value: the lower limit.
        max_value: the upper limit.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.hard_tanh(np.asarray([-4.0, 0.5]))
        array([-1. ,  0.5])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.hardtanh.html
    """
    if isinstance(max_value, (int, float)):
        check_range("hard_tanh", "min_value", min_value, -math.inf, max_value)
    below = ops.where(ops.greater_equal(x, max_value), max_value, x)
    return ops.where(ops.less_equal(x, min_value), min_value, below)


@floating_op
def hard_shrink(x: Array, /, *, threshold: float = 0.5) -> Array:
    """x where |x| > `threshold`, 0 elsewhere.

    Args:
        x: any shape, floating.
        threshold: values in [−threshold, threshold] become 0.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.hard_shrink(np.asarray([-1.0, 0.25]))
        array([-1.,  0.])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.hardshrink.html
    """
    refuse_complex(x)
    return ops.where(ops.greater(ops.abs(x), threshold), x, ops.multiply(x, 0.0))


@floating_op
def soft_shrink(x: Array, /, *, threshold: float = 0.5) -> Array:
    """x shifted towards 0 by `threshold`: sign(x) · max(|x| − threshold, 0).

    Args:
        x: any shape, floating.
        threshold: the shift; not negative.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.soft_shrink(np.asarray([-1.0, 0.25]))
        array([-0.5,  0. ])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.softshrink.html
    """
    check_range("soft_shrink", "threshold", threshold, 0)
    return x - ops.clip(x, -threshold, threshold)


@floating_op
def tanh_shrink(x: Array, /) -> Array:
    """x − tanh(x).

    It is computed as this difference: near 0, where it is about x³/3, it has the rounding error of x.

    Args:
        x: any shape, floating.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.tanh_shrink(np.asarray([-1.0, 0.0]))
        array([-0.23840584,  0.        ])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.tanhshrink.html
    """
    return x - ops.tanh(x)


@op
def threshold(x: Array, /, *, threshold: float, value: float) -> Array:
    """`value` where x is at most `threshold`, x elsewhere; NaN stays.

    Args:
        x: any shape, floating.
        threshold: elements above it are kept.
        value: the replacement of other elements.

    Raises:
        ArgumentError: `x` is of integers that do not hold `value`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.threshold(np.asarray([-1.0, 2.0]), threshold=0.5, value=-7.0)
        array([-7.,  2.])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.threshold.html
    """
    dtype = dtypes.dtype_of(x)
    if not dtype.is_inexact:
        low, high = (0, 1) if dtype is dtypes.bool else (iinfo(dtype).min, iinfo(dtype).max)
        check_range("threshold", "value", value, low, high)
    return ops.where(ops.less_equal(x, threshold), ops.full_like(x, value), x)


@floating_op
def squareplus(x: Array, /, *, b: float = 4.0) -> Array:
    """A smooth relu without exponentials, (x + √(x² + b)) / 2.

    Below 0, where the sum cancels, it is computed as b / (2 √(x² + b) − 2 x). The limits are 0 and ∞,
    with derivatives 0 and 1.

    Args:
        x: any shape, floating.
        b: the smoothness; 0 gives relu.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.squareplus(np.asarray([0.0, 1.5]))
        array([1., 2.])

    References:
        https://arxiv.org/abs/2112.11687
    """
    refuse_complex(x)
    size = ops.abs(x)
    is_large = ops.greater(size, 0.5 * math.sqrt(dtypes.finfo(dtypes.dtype_of(x)).max))
    root = ops.where(is_large, size, ops.sqrt(ops.square(ops.where(is_large, 0.0, x)) + b))
    is_negative = ops.less(x, 0.0)
    below = 0.5 * b / (root - ops.where(is_negative, x, 0.0))  # the sum would cancel
    above = 0.5 * (ops.where(is_negative, 0.0, x) + root)
    return ops.where(is_negative, below, above)


@floating_op
def mish(x: Array, /) -> Array:
    """x · tanh(softplus(x)).

    NaN at −∞, like the product. On JAX and TensorFlow it is 0 below −87.3 in float32.

    Args:
        x: any shape, floating.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.mish(np.asarray([-1.0, 2.0]))
        array([-0.30340146,  1.94395896])

    References:
        https://arxiv.org/abs/1908.08681
    """
    return x * ops.tanh(ops.softplus(x))


@floating_op(traits=Trait.ROWWISE)
def softmax(x: Array, /, *, axis: Axis = -1) -> Array:
    """The exponentials divided by their sum: exp(xᵢ) / Σⱼ exp(xⱼ), along `axis`.

    The largest element is subtracted first, so that nothing overflows. Where an element is NaN or +∞,
    or all are −∞, the result is NaN.

    Args:
        x: any shape, floating.
        axis: the axis or axes that sum to 1; None: all.

    Returns:
        The shape and dtype of x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.softmax(np.asarray([0.0, np.log(3.0)]))
        array([0.25, 0.75])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.nn.softmax.html
    """
    largest = ops.stop_gradient(ops.max(x, axis=axis, keepdims=True))  # any shift gives the same
    powers = ops.exp(x - largest)
    return powers / ops.sum(powers, axis=axis, keepdims=True)


@floating_op(traits=Trait.ROWWISE)
def log_softmax(x: Array, /, *, axis: Axis = -1) -> Array:
    """The logarithm of `softmax`: xᵢ − log Σⱼ exp(xⱼ), along `axis`.

    Args:
        x: any shape, floating.
        axis: the axis or axes whose exponentials sum to 1; None: all.

    Returns:
        The shape and dtype of x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.log_softmax(np.asarray([0.0, 0.0]))
        array([-0.69314718, -0.69314718])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.nn.log_softmax.html
    """
    many_axes(axis, len(x.shape), "log_softmax")
    if 0 in x.shape:
        return x  # the maximum of an empty array is undefined
    shifted = x - ops.stop_gradient(ops.max(x, axis=axis, keepdims=True))
    return shifted - ops.log(ops.sum(ops.exp(shifted), axis=axis, keepdims=True))


@op(traits=Trait.HALF_SAFE)
def crelu(x: Array, /, *, axis: int = -1) -> Array:
    """The concatenated rectified linear unit: relu(x) and relu(−x), concatenated along `axis`.

    Args:
        x: any shape, real.
        axis: the axis of the concatenation.

    Returns:
        The shape of x with twice the size along `axis`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.crelu(np.asarray([-1.0, 2.0]))
        array([0., 2., 1., 0.])

    References:
        https://arxiv.org/abs/1603.05201
    """
    return ops.concat((ops.relu(x), ops.relu(ops.negative(x))), axis=axis)


@floating_op(not_promoted=("key",), traits=Trait(0))
def rrelu(
    x: Array, key: Array | None = None, /, *, lower: float = 1 / 8, upper: float = 1 / 3
) -> Array:
    """A leaky relu with random slopes below zero, uniform in [lower, upper).

    Args:
        x: any shape, floating.
        key: `(2,)`, uint32, from ``na.random.key``: each element has a random slope, as in
            training. None: all elements have the mean slope (lower + upper) / 2.
        lower: the smallest slope.
        upper: the largest slope.

    Returns:
        The shape and dtype of x.

    Raises:
        ArgumentError: `lower` is greater than `upper`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.rrelu(np.asarray([-1.0, 2.0]), lower=0.25, upper=0.75)
        array([-0.5,  2. ])

    References:
        https://arxiv.org/abs/1505.00853
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.rrelu.html
    """
    if lower > upper:
        raise ArgumentError(
            f"rrelu: lower: got {lower!r}, expected at most upper, which is {upper!r}"
        )
    if key is None:
        return ops.leaky_relu(x, negative_slope=(lower + upper) / 2)
    uniform = ops.random_uniform(key, shape=ops.shape(x), dtype=dtypes.dtype_of(x))
    slopes = ops.add(ops.multiply(uniform, upper - lower), lower)
    return ops.where(ops.greater(x, 0), x, ops.multiply(x, slopes))


@floating_op(traits=Trait.HALF_SAFE)
def glu(x: Array, /, *, axis: int = -1) -> Array:
    """The gated linear unit: a · sigmoid(b), a and b the halves of x along `axis`.

    Args:
        x: any shape with an even size along `axis`, floating.
        axis: the axis that is halved.

    Returns:
        The shape of x with half the size along `axis`.

    Raises:
        ShapeError: the size along `axis` is odd.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.glu(np.asarray([2.0, 0.0]))
        array([1.])

    References:
        https://arxiv.org/abs/1612.08083
    """
    size = x.shape[axis]
    if size % 2:
        raise ShapeError(
            f"glu: axis {axis} of x {tuple(x.shape)} has {size} elements, expected an even "
            "number, to split it in halves"
        )
    at = axis % len(x.shape)
    first = x[(slice(None),) * at + (slice(None, size // 2),)]
    second = x[(slice(None),) * at + (slice(size // 2, None),)]
    return first * ops.sigmoid(second)


@floating_op(traits=Trait.HALF_SAFE)
def prelu(x: Array, weight: Array, /) -> Array:
    """A leaky relu with learned slopes: x where x > 0, weight · x elsewhere.

    Args:
        x: `(batch, channels, *spatial)`, floating, or any shape with one slope for all.
        weight: the slopes, `(channels,)`, `(1,)` or `()`.

    Returns:
        The shape and dtype of x.

    Raises:
        ShapeError: `weight` has neither one element nor one per channel.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.prelu(np.asarray([[-1.0, -1.0]]), np.asarray([0.25, 0.5]))
        array([[-0.25, -0.5 ]])

    References:
        https://arxiv.org/abs/1502.01852
    """
    slopes = tuple(weight.shape)
    if math.prod(slopes) == 1:
        weight = ops.reshape(weight, ())
    elif len(slopes) != 1 or len(x.shape) < 2 or slopes[0] != x.shape[1]:
        raise ShapeError(
            f"prelu: weight has shape {slopes}, x {tuple(x.shape)}; expected one slope, or "
            "one for each channel (axis 1 of x)"
        )
    else:
        weight = ops.reshape(weight, (slopes[0],) + (1,) * (len(x.shape) - 2))
    return ops.where(ops.greater(x, 0), x, x * weight)
