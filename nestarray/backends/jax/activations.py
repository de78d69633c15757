"""JAX: `nestarray.ops.activations`."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp

from nestarray.backends.base import refuse_complex, supports
from nestarray.backends.jax.compiled import compiled, compiled_for_any
from nestarray.backends.jax.promotion import floating, in_float32


@jax.jit
def relu(x: Any, /) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.nn.relu.html"""
    refuse_complex(x)
    return jax.nn.relu(x)


silu = floating(jax.nn.silu)
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
    return in_float32(lambda x: jax.nn.softmax(x, axis))(_floats(x))


@compiled
def log_softmax(x: Any, /, *, axis: Any = -1) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.nn.log_softmax.html"""
    return jax.nn.log_softmax(_floats(x), axis)


@compiled_for_any("negative_slope")
def leaky_relu(x: Any, /, *, negative_slope: float = 0.01) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.nn.leaky_relu.html

    JAX's function has the derivative 1 at 0.
    """
    x = _floats(x)
    return jnp.where(x > 0, x, negative_slope * x)


@compiled_for_any("alpha")
def elu(x: Any, /, *, alpha: float = 1.0) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.nn.elu.html

    JAX's function has the second derivative `alpha` at 0.
    """
    x = _floats(x)
    curved = jnp.expm1(jnp.where(x < 0, x, 0))
    return jnp.where(x > 0, x, alpha * jnp.where(x < 0, curved, x))


# for other numbers the products in JAX's formula are NaN
@supports(lambda *_, alpha=1.0: alpha.__class__ in (int, float) and 0 < alpha < math.inf)
@compiled_for_any("alpha")
def celu(x: Any, /, *, alpha: float = 1.0) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.nn.celu.html

    JAX's function has a second derivative of 1 / (4 alpha) at 0.
    """
    x = _floats(x)
    return jnp.where(x < 0, alpha * jnp.expm1(jnp.where(x < 0, x, 0) / alpha), x)


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
