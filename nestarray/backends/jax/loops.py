"""JAX: `nestarray.backends.loops`."""

from __future__ import annotations

from typing import Any

from jax import lax


def scan(step: Any, states: tuple[Any, ...], inputs: tuple[Any, ...], *, reverse: bool) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.scan.html"""

    def one(carry: tuple[Any, ...], time: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any]:
        carry = step(carry, time)
        return carry, carry[0]

    return lax.scan(one, states, inputs, reverse=reverse)
