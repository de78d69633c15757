"""Initial values that are constant, or independent random numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from nestarray import ops, random
from nestarray.errors import ArgumentError, ShapeError
from nestarray.typing import Array, DTypeLike, Shape

#: A function of a key, a shape and a dtype.
Initializer: TypeAlias = Callable[..., Array]

#: The standard deviation of a standard normal number cut off at ±2.
_TRUNCATED_STD = 0.87962566103423978


def zeros(key: Array, shape: Shape, dtype: DTypeLike = "float32") -> Array:
    """All 0; `key` determines backend and device.

    Example:
        >>> import nestarray as na
        >>> na.nn.initializers.zeros(na.random.key(0), (2,))
        array([0., 0.], dtype=float32)
    """
    return ops.zeros(tuple(shape), dtype=dtype, like=key)


def ones(key: Array, shape: Shape, dtype: DTypeLike = "float32") -> Array:
    """All 1; `key` determines backend and device.

    Example:
        >>> import nestarray as na
        >>> na.nn.initializers.ones(na.random.key(0), (2,))
        array([1., 1.], dtype=float32)
    """
    return ops.ones(tuple(shape), dtype=dtype, like=key)


def constant(value: float) -> Initializer:
    """The initializer of arrays that hold `value` everywhere.

    Example:
        >>> import nestarray as na
        >>> na.nn.initializers.constant(0.5)(na.random.key(0), (2,))
        array([0.5, 0.5], dtype=float32)
    """
    return partial(_constant, value)


def _constant(value: float, key: Array, shape: Shape, dtype: DTypeLike = "float32") -> Array:
    return ops.full(tuple(shape), value, dtype=dtype, like=key)


def uniform(bound: float = 0.01) -> Initializer:
    """The initializer of uniform numbers in [−bound, bound).

    Example:
        >>> import nestarray as na
        >>> x = na.nn.initializers.uniform(0.1)(na.random.key(0), (100,))
        >>> bool(abs(x).max() <= 0.1)
        True
    """
    return partial(_uniform, bound)


def _uniform(bound: float, key: Array, shape: Shape, dtype: DTypeLike = "float32") -> Array:
    return random.uniform(key, tuple(shape), dtype, -bound, bound)


def normal(std: float = 0.01) -> Initializer:
    """The initializer of normal numbers of standard deviation `std`.

    Example:
        >>> import nestarray as na
        >>> x = na.nn.initializers.normal(2.0)(na.random.key(0), (10000,))
        >>> bool(abs(x.std() - 2) < 0.1)
        True
    """
    return partial(_normal, std)


def _normal(std: float, key: Array, shape: Shape, dtype: DTypeLike = "float32") -> Array:
    return ops.multiply(random.normal(key, tuple(shape), dtype), std)


def truncated_normal(std: float = 0.01, lower: float = -2.0, upper: float = 2.0) -> Initializer:
    """The initializer of normal numbers cut off at `lower` and `upper`, times `std`.

    Args:
        std: the factor; the standard deviation before the cut.
        lower, upper: the bounds, in standard deviations.

    Example:
        >>> import nestarray as na
        >>> x = na.nn.initializers.truncated_normal(0.5)(na.random.key(0), (1000,))
        >>> bool(abs(x).max() < 1.0)
        True
    """
    return partial(_truncated_normal, std, lower, upper)


def _truncated_normal(
    std: float, lower: float, upper: float, key: Array, shape: Shape, dtype: DTypeLike = "float32"
) -> Array:
    return ops.multiply(random.truncated_normal(key, lower, upper, tuple(shape), dtype), std)


def variance_scaling(scale: float, mode: str, distribution: str) -> Initializer:
    """An initializer with variance scale / fan.

    Args:
        scale: the variance of a weight times the fan.
        mode: the fan: ``"fan_in"``, ``"fan_out"`` or ``"fan_avg"``.
        distribution: ``"uniform"``, ``"normal"`` or ``"truncated_normal"`` (cut off at two
            standard deviations, which are widened to keep the variance).

    Raises:
        ArgumentError: `mode` or `distribution` is unknown.

    Example:
        >>> import nestarray as na
        >>> he = na.nn.initializers.variance_scaling(2.0, "fan_in", "normal")
        >>> he(na.random.key(0), (4, 3)).shape
        (4, 3)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.nn.initializers.variance_scaling.html
    """
    if mode not in ("fan_in", "fan_out", "fan_avg"):
        raise ArgumentError(
            f"variance_scaling: mode: got {mode!r}, expected 'fan_in', 'fan_out' or 'fan_avg'"
        )
    if distribution not in ("uniform", "normal", "truncated_normal"):
        raise ArgumentError(
            f"variance_scaling: distribution: got {distribution!r}, expected 'uniform', 'normal' "
            "or 'truncated_normal'"
        )
    return partial(_variance_scaling, scale, mode, distribution)


def _variance_scaling(
    scale: float,
    mode: str,
    distribution: str,
    key: Array,
    shape: Shape,
    dtype: DTypeLike = "float32",
) -> Array:
    fan_in, fan_out = fans(shape)
    fan = {"fan_in": fan_in, "fan_out": fan_out}.get(mode, (fan_in + fan_out) / 2)
    std = math.sqrt(scale / max(1.0, fan))
    if distribution == "uniform":
        return uniform(math.sqrt(3) * std)(key, shape, dtype)
    if distribution == "normal":
        return normal(std)(key, shape, dtype)
    return truncated_normal(std / _TRUNCATED_STD)(key, shape, dtype)


def fans(shape: Shape) -> tuple[int, int]:
    """(fan-in, fan-out) of a weight `(out, in, *window)`.

    Raises:
        ShapeError: the weight has fewer than two axes.

    Example:
        >>> import nestarray as na
        >>> na.nn.initializers.fans((8, 3, 5, 5))
        (75, 200)
    """
    if len(shape) < 2:
        raise ShapeError(
            f"initializers: got the shape {tuple(shape)}, expected (out, in, *window), which has "
            "a fan; use uniform, normal or a constant for vectors"
        )
    window = math.prod(shape[2:])
    return shape[1] * window, shape[0] * window


def glorot_uniform() -> Initializer:
    """Uniform in ±√(6 / (fan-in + fan-out)).

    Example:
        >>> import nestarray as na
        >>> x = na.nn.initializers.glorot_uniform()(na.random.key(0), (30, 30))
        >>> bool(abs(x).max() <= 0.1 ** 0.5)
        True

    References:
        https://proceedings.mlr.press/v9/glorot10a.html
    """
    return variance_scaling(1.0, "fan_avg", "uniform")


def glorot_normal() -> Initializer:
    """Truncated normal of variance 2 / (fan-in + fan-out).

    Example:
        >>> import nestarray as na
        >>> na.nn.initializers.glorot_normal()(na.random.key(0), (3, 2)).shape
        (3, 2)

    References:
        https://proceedings.mlr.press/v9/glorot10a.html
    """
    return variance_scaling(1.0, "fan_avg", "truncated_normal")


def he_uniform() -> Initializer:
    """Uniform in ±√(6 / fan-in).

    Example:
        >>> import nestarray as na
        >>> na.nn.initializers.he_uniform()(na.random.key(0), (3, 2)).shape
        (3, 2)

    References:
        https://arxiv.org/abs/1502.01852
    """
    return variance_scaling(2.0, "fan_in", "uniform")


def he_normal() -> Initializer:
    """Truncated normal of variance 2 / fan-in.

    Example:
        >>> import nestarray as na
        >>> na.nn.initializers.he_normal()(na.random.key(0), (3, 2)).shape
        (3, 2)

    References:
        https://arxiv.org/abs/1502.01852
    """
    return variance_scaling(2.0, "fan_in", "truncated_normal")


def lecun_uniform() -> Initializer:
    """Uniform in ±√(3 / fan-in).

    Example:
        >>> import nestarray as na
        >>> na.nn.initializers.lecun_uniform()(na.random.key(0), (3, 2)).shape
        (3, 2)
    """
    return variance_scaling(1.0, "fan_in", "uniform")


def lecun_normal() -> Initializer:
    """Truncated normal of variance 1 / fan-in.

    Example:
        >>> import nestarray as na
        >>> na.nn.initializers.lecun_normal()(na.random.key(0), (3, 2)).shape
        (3, 2)
    """
    return variance_scaling(1.0, "fan_in", "truncated_normal")


def fan_in_uniform() -> Initializer:
    """Uniform in ±1 / √fan-in: what PyTorch's layers begin with.

    Example:
        >>> import nestarray as na
        >>> x = na.nn.initializers.fan_in_uniform()(na.random.key(0), (3, 4))
        >>> bool(abs(x).max() <= 0.5)
        True
    """
    return variance_scaling(1.0 / 3.0, "fan_in", "uniform")


#: Name of an activation → gain.
_GAINS = {"linear": 1.0, "sigmoid": 1.0, "tanh": 5 / 3, "relu": math.sqrt(2), "selu": 0.75}


def gain(activation: str, slope: float = 0.01) -> float:
    """The factor of a standard deviation that keeps the variance through an activation.

    Args:
        activation: ``"linear"``, ``"sigmoid"``, ``"tanh"``, ``"relu"``, ``"leaky_relu"`` or ``"selu"``.
        slope: of ``"leaky_relu"`` for negative numbers.

    Raises:
        ArgumentError: the activation is unknown.

    Example:
        >>> import nestarray as na
        >>> relu = na.nn.initializers.gain("relu")
        >>> na.nn.Linear(2, 3, initializer=na.nn.initializers.orthogonal(relu))
        Linear(in_features=2, out_features=3, has_bias=True)

    References:
        https://docs.pytorch.org/docs/stable/nn.init.html#torch.nn.init.calculate_gain
    """
    if activation == "leaky_relu":
        return math.sqrt(2 / (1 + slope**2))
    if activation not in _GAINS:
        names = ", ".join(map(repr, [*_GAINS, "leaky_relu"]))
        raise ArgumentError(f"gain: activation: got {activation!r}, expected one of {names}")
    return _GAINS[activation]
