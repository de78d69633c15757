"""Activations, https://docs.pytorch.org/docs/stable/nn.functional.html#non-linear-activation-functions.

``inplace`` is taken and has no effect: arrays are values here.
"""

from __future__ import annotations

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, ShapeError
from nestarray.frontends.torch.dims import is_empty, ndim_of, shape_of, wrap
from nestarray.frontends.torch.pointwise import tanh as tanh
from nestarray.frontends.torch.promotion import HALF, cast, expect_one_dtype, floating
from nestarray.frontends.torch.sampling import required_key
from nestarray.typing import Array, DTypeLike

__all__ = [
    "celu", "elu", "gelu", "glu", "gumbel_softmax", "hardshrink", "hardsigmoid", "hardswish",
    "hardtanh", "leaky_relu", "log_softmax", "logsigmoid", "mish", "prelu", "relu", "relu6",
    "rrelu", "selu", "sigmoid", "silu", "softmax", "softmin", "softplus", "softshrink",
    "softsign", "tanhshrink", "threshold",
]  # fmt: skip


def relu(input: Array, inplace: bool = False) -> Array:
    """max(0, x)."""
    return na.relu(input)


def relu6(input: Array, inplace: bool = False) -> Array:
    """min(max(0, x), 6)."""
    return na.relu6(input) if dtypes.dtype_of(input).is_inexact else na.clip(input, 0, 6)


def leaky_relu(input: Array, negative_slope: float = 0.01, inplace: bool = False) -> Array:
    """x above zero, slope · x below."""
    return na.leaky_relu(input, negative_slope=negative_slope)


def prelu(input: Array, weight: Array) -> Array:
    """`leaky_relu` whose slope is learned, one for all or one for each channel (dimension 1)."""
    expect_one_dtype("prelu", input, weight=weight)
    if ndim_of(weight) > 1 or (
        ndim_of(input) == 0 and ndim_of(weight) and shape_of(weight) != (1,)
    ):
        raise ShapeError(
            f"prelu: weight: got the shape {shape_of(weight)} for an input of {ndim_of(input)} "
            "dimensions, expected a number for all or one for each channel"
        )
    if shape_of(weight) not in ((), (1,)) and ndim_of(input) > 1:
        weight = na.reshape(weight, (-1,) + (1,) * (ndim_of(input) - 2))
    slope = na.reshape(weight, ()) if shape_of(weight) == (1,) else weight
    return na.where(na.greater(input, 0), input, na.multiply(slope, input))


def rrelu(
    input: Array,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
    *,
    key: Array | None = None,
) -> Array:
    """`leaky_relu` with the mean slope; in training with a random slope for each element."""
    if not training:
        return na.leaky_relu(input, negative_slope=(lower + upper) / 2)
    draw = na.random.uniform(
        required_key("rrelu", key), na.shape(input), minval=lower, maxval=upper,
        dtype=dtypes.dtype_of(input),
    )  # fmt: skip
    return na.where(na.greater(input, 0), input, na.multiply(draw, input))


def elu(input: Array, alpha: float = 1.0, inplace: bool = False) -> Array:
    """x above zero, α (eˣ − 1) below."""
    return na.elu(input, alpha=alpha)


def selu(input: Array, inplace: bool = False) -> Array:
    """The scaled `elu` that keeps mean 0 and variance 1."""
    return na.selu(input)


def celu(input: Array, alpha: float = 1.0, inplace: bool = False) -> Array:
    """max(0, x) + min(0, α (e^(x/α) − 1))."""
    return na.celu(input, alpha=alpha)


def gelu(input: Array, approximate: str = "none") -> Array:
    """x Φ(x), or its approximation by "tanh"."""
    if approximate not in ("none", "tanh"):
        raise ArgumentError(f"gelu: approximate: got {approximate!r}, expected 'none' or 'tanh'")
    return na.gelu(input, approximate=approximate == "tanh")


def silu(input: Array, inplace: bool = False) -> Array:
    """x σ(x)."""
    return na.silu(input)


def mish(input: Array, inplace: bool = False) -> Array:
    """x tanh(softplus(x))."""
    return na.mish(input)


def softplus(input: Array, beta: float = 1, threshold: float = 20) -> Array:
    """ln(1 + e^(βx)) / β, linear where βx exceeds `threshold`."""
    return na.softplus(input, beta=beta, threshold=threshold)


def softsign(input: Array) -> Array:
    """x / (1 + |x|)."""
    if dtypes.dtype_of(input).kind == "complex":
        return na.divide(input, cast(na.add(na.abs(input), 1.0), dtypes.dtype_of(input)))
    return na.softsign(floating(input))


def sigmoid(input: Array) -> Array:
    """1 / (1 + e⁻ˣ)."""
    return na.sigmoid(floating(input))


def logsigmoid(input: Array) -> Array:
    """ln σ(x)."""
    return na.log_sigmoid(input)


def hardsigmoid(input: Array, inplace: bool = False) -> Array:
    """min(max(0, x + 3), 6) / 6."""
    return na.hard_sigmoid(input)


def hardswish(input: Array, inplace: bool = False) -> Array:
    """x · hardsigmoid(x)."""
    return na.hard_swish(input)


def hardtanh(
    input: Array, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Array:
    """x limited to [min_val, max_val]."""
    if min_val > max_val:
        raise ArgumentError(f"hardtanh: min_val: got {min_val}, expected at most {max_val}")
    if not dtypes.dtype_of(input).is_inexact:  # upstream casts the bounds
        return na.clip(input, int(min_val), int(max_val))
    return na.hard_tanh(input, min_value=min_val, max_value=max_val)


def hardshrink(input: Array, lambd: float = 0.5) -> Array:
    """x, and 0 where |x| ≤ λ."""
    return na.hard_shrink(input, threshold=lambd)


def softshrink(input: Array, lambd: float = 0.5) -> Array:
    """x moved towards 0 by λ."""
    if lambd < 0:
        raise ArgumentError(f"softshrink: lambd: got {lambd}, expected 0 or more")
    return na.soft_shrink(input, threshold=lambd)


def tanhshrink(input: Array) -> Array:
    """x − tanh(x)."""
    return na.tanh_shrink(floating(input))


def threshold(input: Array, threshold: float, value: float, inplace: bool = False) -> Array:
    """x above the threshold, else `value`."""
    return na.threshold(input, threshold=threshold, value=value)


def softmax(input: Array, dim: int | None = None, *, dtype: DTypeLike | None = None) -> Array:
    """eˣ / Σ eˣ along `dim`."""
    return _normalized(na.softmax, "softmax", input, dim, dtype)


def log_softmax(input: Array, dim: int | None = None, *, dtype: DTypeLike | None = None) -> Array:
    """x − ln Σ eˣ along `dim`."""
    return _normalized(na.log_softmax, "log_softmax", input, dim, dtype)


def softmin(input: Array, dim: int | None = None, *, dtype: DTypeLike | None = None) -> Array:
    """`softmax` of −x."""
    return softmax(na.negative(input), dim, dtype=dtype)


def _normalized(function, name: str, x: Array, dim: int | None, dtype: DTypeLike | None) -> Array:  # type: ignore[no-untyped-def]
    if dim is None:
        raise ArgumentError(f"{name}: dim: got None, expected the dimension to normalize along")
    if dtype is not None:
        x = cast(x, dtype)
    if is_empty(x):
        return floating(x)
    if ndim_of(x) == 0:
        return na.reshape(function(na.reshape(x, (1,)), axis=0), ())
    own, axis = dtypes.dtype_of(x), wrap(name, dim, ndim_of(x))
    if own in HALF:  # upstream sums in float32, and rounds once
        return cast(function(cast(x, dtypes.float32), axis=axis), own)
    return function(x, axis=axis)


def glu(input: Array, dim: int = -1) -> Array:
    """The first half of `dim` times σ of the second."""
    return na.glu(input, axis=dim)


def gumbel_softmax(
    logits: Array,
    tau: float = 1,
    hard: bool = False,
    eps: float = 1e-10,
    dim: int = -1,
    *,
    key: Array | None = None,
) -> Array:
    """A sample of the Gumbel-softmax distribution; `hard`: one-hot, with the soft gradient."""
    dtype = dtypes.dtype_of(logits)
    draw = na.random.uniform(
        required_key("gumbel_softmax", key), na.shape(logits), dtype=dtype,
        minval=na.finfo(dtype).smallest_normal, maxval=1.0,
    )  # fmt: skip
    noise = na.negative(na.log(na.negative(na.log(draw))))
    soft = na.softmax(na.divide(na.add(logits, noise), tau), axis=dim)
    if not hard:
        return soft
    top = na.equal(soft, na.max(soft, axis=dim, keepdims=True))
    one_hot = na.stop_gradient(na.subtract(na.astype(top, dtype), soft))
    return na.add(one_hot, soft)
