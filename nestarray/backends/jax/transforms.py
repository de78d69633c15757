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
    return value, aux, [_conj(g) for g in gradients]


def vjp(fn: Callable[..., Any], arrays: list[Any], name: str) -> tuple[Any, Any, Any]:
    """https://docs.jax.dev/en/latest/_autosummary/jax.vjp.html"""
    found, pull, others = jax.vjp(fn, *arrays, has_aux=True)

    def pullback(cotangents: list[Any]) -> list[Any]:  # JAX multiplies with Jᵀ, we with Jᴴ
        return [_conj(x) for x in pull(tuple(_conj(ct) for ct in cotangents))]

    return found, others, pullback


def jvp(
    fn: Callable[..., Any], arrays: list[Any], tangents: list[Any], name: str
) -> tuple[Any, Any, Any]:
    """https://docs.jax.dev/en/latest/_autosummary/jax.jvp.html"""
    found, moved, others = jax.jvp(fn, arrays, tangents, has_aux=True)
    return found, others, moved


def linearize(fn: Callable[..., Any], arrays: list[Any]) -> tuple[Any, Any, Any]:
    """https://docs.jax.dev/en/latest/_autosummary/jax.linearize.html"""
    found, push, others = jax.linearize(fn, *arrays, has_aux=True)
    return found, others, lambda tangents: push(*tangents)


def _conj(x: Any) -> Any:
    return x.conj() if jnp.iscomplexobj(x) else x


def jit(fn: Callable[..., Any], options: dict[str, Any]) -> Callable[..., Any]:
    """https://docs.jax.dev/en/latest/_autosummary/jax.jit.html"""
    return jax.jit(fn, **options)


def vmap(fn: Callable[..., tuple[Any, ...]], arrays: list[Any]) -> tuple[Any, ...]:
    """https://docs.jax.dev/en/latest/_autosummary/jax.vmap.html"""
    return jax.vmap(fn)(*arrays)
