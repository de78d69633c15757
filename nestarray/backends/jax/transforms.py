"""JAX: `nestarray.transforms`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp


def value_and_grad(
    fn: Callable[..., Any], leaves: list[Any], has_aux: bool, name: str
) -> tuple[Any, Any, list[Any]]:
    """https://docs.jax.dev/en/latest/_autosummary/jax.value_and_grad.html"""
    differentiate = jax.value_and_grad(lambda values: fn(*values), has_aux=True)
    (value, aux), gradients = differentiate([jnp.asarray(leaf) for leaf in leaves])
    # JAX gives ∂f/∂x − i ∂f/∂y, the conjugate of the direction of ascent.
    return value, aux, [g.conj() if jnp.iscomplexobj(g) else g for g in gradients]


def jit(fn: Callable[..., Any], options: dict[str, Any]) -> Callable[..., Any]:
    """https://docs.jax.dev/en/latest/_autosummary/jax.jit.html"""
    return jax.jit(fn, **options)


def vmap(fn: Callable[..., tuple[Any, ...]], arrays: list[Any]) -> tuple[Any, ...]:
    """https://docs.jax.dev/en/latest/_autosummary/jax.vmap.html"""
    return jax.vmap(fn)(*arrays)
