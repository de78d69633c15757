"""Initial values: functions of (key, shape, dtype), with the bits of `jax.random`.

Upstream: https://docs.jax.dev/en/latest/jax.nn.initializers.html. ``out_sharding`` is not a parameter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.jax.promotion import as_dtype, axes_of, cast
from nestarray.typing import Array, DTypeLike

__all__ = [
    "Initializer", "constant", "delta_orthogonal", "glorot_normal", "glorot_uniform", "he_normal",
    "he_uniform", "kaiming_normal", "kaiming_uniform", "lecun_normal", "lecun_uniform", "normal",
    "ones", "orthogonal", "truncated_normal", "uniform", "variance_scaling", "xavier_normal",
    "xavier_uniform", "zeros",
]  # fmt: skip

Axes = int | Sequence[int]


class Initializer(Protocol):
    """A function that makes an array of random or constant values."""

    def __call__(
        self, key: Array, shape: Sequence[int], dtype: DTypeLike | None = None
    ) -> Array: ...


def _initializer(
    draw: Callable[[Array, tuple[int, ...], dtypes.DType], Array], default: DTypeLike | None
) -> Initializer:
    def init(key: Array, shape: Sequence[int], dtype: DTypeLike | None = default) -> Array:
        return draw(key, tuple(shape), as_dtype(float if dtype is None else dtype))

    return init


def zeros(key: Array, shape: Sequence[int], dtype: DTypeLike | None = None) -> Array:
    """Zeros."""
    return na.zeros(tuple(shape), dtype=as_dtype(float if dtype is None else dtype), like=key)


def ones(key: Array, shape: Sequence[int], dtype: DTypeLike | None = None) -> Array:
    """Ones."""
    return na.ones(tuple(shape), dtype=as_dtype(float if dtype is None else dtype), like=key)


def constant(value: Any, dtype: DTypeLike | None = None) -> Initializer:
    """`value` everywhere."""

    def draw(key: Array, shape: tuple[int, ...], dtype: dtypes.DType) -> Array:
        if hasattr(value, "dtype"):
            return na.broadcast_to(cast(value, dtype), shape)
        return na.full(shape, value, dtype=dtype, like=key)

    return _initializer(draw, dtype)


def uniform(scale: Any = 1e-2, dtype: DTypeLike | None = None) -> Initializer:
    """Uniform in [0, scale)."""
    return _initializer(
        lambda key, shape, dtype: na.multiply(na.random.uniform(key, shape, dtype), scale), dtype
    )


def normal(stddev: Any = 1e-2, dtype: DTypeLike | None = None) -> Initializer:
    """Normal, of a standard deviation."""
    return _initializer(
        lambda key, shape, dtype: na.multiply(na.random.normal(key, shape, dtype), stddev), dtype
    )


def truncated_normal(
    stddev: Any = 1e-2, dtype: DTypeLike | None = None, lower: Any = -2.0, upper: Any = 2.0
) -> Initializer:
    """Normal numbers between two bounds, times `stddev`."""

    def draw(key: Array, shape: tuple[int, ...], dtype: dtypes.DType) -> Array:
        return na.multiply(na.random.truncated_normal(key, lower, upper, shape, dtype), stddev)

    return _initializer(draw, dtype)


def _fans(
    shape: tuple[int, ...], in_axis: Axes, out_axis: Axes, batch_axis: Axes
) -> tuple[float, float]:
    """(inputs, outputs) of a weight; each position of its window counts."""
    if len(shape) < 2 and isinstance(in_axis, int) and isinstance(out_axis, int):
        raise ArgumentError(f"variance_scaling: shape: got {shape}, expected at least two axes")
    sizes = [
        math.prod(shape[i] for i in axes_of(axis, len(shape)))
        for axis in (in_axis, out_axis, batch_axis)
    ]
    window = math.prod(shape) / sizes[0] / sizes[1] / sizes[2]
    return sizes[0] * window, sizes[1] * window


def variance_scaling(
    scale: Any,
    mode: str,
    distribution: str,
    in_axis: Axes = -2,
    out_axis: Axes = -1,
    batch_axis: Axes = (),
    dtype: DTypeLike | None = None,
) -> Initializer:
    """Random numbers of the variance scale / n, where `mode` determines n: "fan_in", "fan_out", …"""

    def draw(key: Array, shape: tuple[int, ...], dtype: dtypes.DType) -> Array:
        fan_in, fan_out = _fans(shape, in_axis, out_axis, batch_axis)
        count = {
            "fan_in": fan_in,
            "fan_out": fan_out,
            "fan_avg": (fan_in + fan_out) / 2,
            "fan_geo_avg": (fan_in * fan_out) ** 0.5,
        }.get(mode)
        if count is None:
            raise ArgumentError(
                f"variance_scaling: mode: got {mode!r}, expected 'fan_in', 'fan_out', 'fan_avg' or "
                "'fan_geo_avg'"
            )
        deviation = math.sqrt(scale / max(count, 1e-30))
        if distribution == "truncated_normal":
            sample = na.random.truncated_normal(key, -2.0, 2.0, shape, dtype)
            return na.multiply(sample, deviation / 0.87962566103423978)
        if distribution == "normal":
            return na.multiply(na.random.normal(key, shape, dtype), deviation)
        if distribution == "uniform":
            sample = na.random.uniform(key, shape, dtype, -1.0, 1.0)
            return na.multiply(sample, math.sqrt(3) * deviation)
        raise ArgumentError(
            f"variance_scaling: distribution: got {distribution!r}, expected 'truncated_normal', "
            "'normal' or 'uniform'"
        )

    return _initializer(draw, dtype)


def _scaling(
    scale: float, mode: str, distribution: str, summary: str
) -> Callable[..., Initializer]:
    def initializer(
        in_axis: Axes = -2,
        out_axis: Axes = -1,
        batch_axis: Axes = (),
        dtype: DTypeLike | None = None,
    ) -> Initializer:
        return variance_scaling(scale, mode, distribution, in_axis, out_axis, batch_axis, dtype)

    initializer.__doc__ = summary
    return initializer


glorot_uniform = xavier_uniform = _scaling(
    1.0, "fan_avg", "uniform", "Uniform, of the variance 2 / (inputs + outputs)."
)
glorot_normal = xavier_normal = _scaling(
    1.0, "fan_avg", "truncated_normal", "Normal, of the variance 2 / (inputs + outputs)."
)
lecun_uniform = _scaling(1.0, "fan_in", "uniform", "Uniform, of the variance 1 / inputs.")
lecun_normal = _scaling(1.0, "fan_in", "truncated_normal", "Normal, of the variance 1 / inputs.")
he_uniform = kaiming_uniform = _scaling(
    2.0, "fan_in", "uniform", "Uniform, of the variance 2 / inputs."
)
he_normal = kaiming_normal = _scaling(
    2.0, "fan_in", "truncated_normal", "Normal, of the variance 2 / inputs."
)


def orthogonal(
    scale: Any = 1.0, column_axis: int = -1, dtype: DTypeLike | None = None
) -> Initializer:
    """Orthonormal vectors along `column_axis`, or across it, times `scale`."""

    def draw(key: Array, shape: tuple[int, ...], dtype: dtypes.DType) -> Array:
        if len(shape) < 2:
            raise ArgumentError(f"orthogonal: shape: got {shape}, expected at least two axes")
        columns = shape[column_axis]
        rows = math.prod(shape) // columns
        found = na.random.orthogonal(key, rows, (), dtype, columns)
        rest = [n for i, n in enumerate(shape) if i != column_axis % len(shape)]
        found = na.moveaxis(na.reshape(found, (*rest, columns)), -1, column_axis)
        return na.multiply(found, scale)

    return _initializer(draw, dtype)


def delta_orthogonal(
    scale: Any = 1.0, column_axis: int = -1, dtype: DTypeLike | None = None
) -> Initializer:
    """Kernels of convolutions that are orthogonal at their center and 0 elsewhere."""

    def draw(key: Array, shape: tuple[int, ...], dtype: dtypes.DType) -> Array:
        if len(shape) not in (3, 4, 5) or shape[-1] < shape[-2]:
            raise ArgumentError(
                f"delta_orthogonal: shape: got {shape}, expected 3 to 5 axes, and at least as many "
                "outputs (the last axis) as inputs"
            )
        center = orthogonal(scale, column_axis, dtype)(key, shape[-2:])
        places = tuple([(k - 1) // 2 for k in shape[:-2]])
        return na.setitem(na.zeros(shape, dtype=dtype, like=key), places, center)

    return _initializer(draw, dtype)
