"""JAX: `nestarray.ops.activations`."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp

from nestarray.backends.base import refuse_complex, supports
from nestarray.backends.jax.compiled import compiled, compiled_for_any
from nestarray.backends.jax.promotion import floating


@jax.jit
def relu(x: Any, /) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.nn.relu.html"""
    refuse_complex(x)
    return jax.nn.relu(x)


selu = floating(jax.nn.selu, refuse_complex)
silu = floating(jax.nn.silu)
softsign = floating(jax.nn.soft_sign)
sigmoid = floating(jax.nn.sigmoid)
log_sigmoid = floating(jax.nn.log_sigmoid, refuse_complex)
mish = floating(jax.nn.mish, refuse_complex)


def _floats(x: Any) -> Any:
    """Cast integers to float32; JAX would subtract and negate in the integer dtype."""
    refuse_complex(x)
    return x.astype(jnp.float32) if x.dtype.kind in "biu" else x


@compiled
def softmax(x: Any, /, *, axis: Any = -1) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.nn.softmax.html"""
    return jax.nn.softmax(_floats(x), axis)


@compiled
def log_softmax(x: Any, /, *, axis: Any = -1) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.nn.log_softmax.html"""
    return jax.nn.log_softmax(_floats(x), axis)


@compiled_for_any("negative_slope")
def leaky_relu(x: Any, /, *, negative_slope: float = 0.01) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.nn.leaky_relu.html"""
    return jax.nn.leaky_relu(_floats(x), negative_slope)


@compiled_for_any("alpha")
def elu(x: Any, /, *, alpha: float = 1.0) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.nn.elu.html"""
    return jax.nn.elu(_floats(x), alpha)


# for other numbers the products in JAX's formula are NaN
@supports(lambda *_, alpha=1.0: alpha.__class__ in (int, float) and 0 < alpha < math.inf)
@compiled_for_any("alpha")
def celu(x: Any, /, *, alpha: float = 1.0) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.nn.celu.html"""
    return jax.nn.celu(_floats(x), alpha)


@compiled
def gelu(x: Any, /, *, approximate: bool = False) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.nn.gelu.html"""
    return jax.nn.gelu(_floats(x), approximate)


def softplus(x: Any, /, *, beta: float = 1.0, threshold: float | None = None) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.nn.softplus.html"""
    x = _floats(x)
    if beta == 1.0 and threshold is None:
        return jax.nn.softplus(x)
    scaled = x * beta
    smooth = jax.nn.softplus(scaled) / beta
    return smooth if threshold is None else jnp.where(scaled > threshold, x, smooth)


@compiled_for_any("b")
def squareplus(x: Any, /, *, b: float = 4.0) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.nn.squareplus.html"""
    return jax.nn.squareplus(_floats(x), b)
