"""JAX: `nestarray.ops.activations`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from nestarray.backends.jax.compiled import compiled, compiled_for_any

relu = jax.nn.relu
selu = jax.nn.selu
silu = jax.nn.silu
softsign = jax.nn.soft_sign
sigmoid = jax.nn.sigmoid
log_sigmoid = jax.nn.log_sigmoid
mish = jax.nn.mish
softmax = jax.nn.softmax
log_softmax = jax.nn.log_softmax


@compiled_for_any("negative_slope")
def leaky_relu(x: Any, /, *, negative_slope: float = 0.01) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.nn.leaky_relu.html"""
    return jax.nn.leaky_relu(x, negative_slope)


@compiled_for_any("alpha")
def elu(x: Any, /, *, alpha: float = 1.0) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.nn.elu.html"""
    return jax.nn.elu(x, alpha)


@compiled_for_any("alpha")
def celu(x: Any, /, *, alpha: float = 1.0) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.nn.celu.html"""
    return jax.nn.celu(x, alpha)


@compiled
def gelu(x: Any, /, *, approximate: bool = False) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.nn.gelu.html"""
    return jax.nn.gelu(x, approximate)


def softplus(x: Any, /, *, beta: float = 1.0, threshold: float | None = None) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.nn.softplus.html"""
    if beta == 1.0 and threshold is None:
        return jax.nn.softplus(x)
    scaled = x * beta
    smooth = jax.nn.softplus(scaled) / beta
    return smooth if threshold is None else jnp.where(scaled > threshold, x, smooth)


@compiled_for_any("b")
def squareplus(x: Any, /, *, b: float = 4.0) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.nn.squareplus.html"""
    return jax.nn.squareplus(x, b)
