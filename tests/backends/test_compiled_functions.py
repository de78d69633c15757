"""Functions of JAX's backend that are one compiled call: their settings, errors and numbers."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

import nestarray as na
from nestarray.backends.jax import activations, statistical
from nestarray.errors import ShapeError

X = jnp.arange(6.0).reshape(2, 3)


def test_axes_in_a_list() -> None:
    assert na.var(X, axis=[0, 1]) == jnp.var(X)  # type: ignore[arg-type]
    assert na.std(X, axis=(1,), keepdims=True).shape == (2, 1)


def test_a_function_is_compiled_once_for_its_arrays() -> None:
    count = 0

    def traced(x: jax.Array, /, *, axis: int = 0) -> jax.Array:
        nonlocal count
        count += 1
        return x.sum(axis)

    function = statistical.compiled(traced)
    for _ in range(3):
        function(X, axis=1)
    assert count == 1


def test_numbers_that_change_are_compiled_once() -> None:
    count = 0

    def traced(x: jax.Array, /, *, alpha: float = 1.0) -> jax.Array:
        nonlocal count
        count += 1
        return x * alpha

    function = activations.compiled_for_any("alpha")(traced)
    found = [float(function(X, alpha=a)[0, 1]) for a in (1.0, 0.5, 0.25, 1.0)]
    assert found == [1.0, 0.5, 0.25, 1.0]
    assert count == 2  # the default, and any other


def test_errors_are_without_the_notes_of_tracing() -> None:
    with pytest.raises(ShapeError, match=r"^fft: n: got the length 0, expected at least 1$"):
        na.fft(X, n=0)


def test_numbers_stay_weak_while_jax_traces() -> None:
    half = jnp.ones(3, jnp.float16)
    assert jax.jit(na.add)(half, 2.0).dtype == na.add(half, 2.0).dtype == jnp.float16
    assert na.clip(half, 0.0, 0.5).dtype == jnp.float16
    assert na.clip(jnp.ones(3, jnp.int32), 0, 1.5).dtype == jnp.float32
