"""JAX: `nestarray.ops.contraction`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from nestarray.backends.jax.compiled import compiled
from nestarray.backends.jax.promotion import promoted, promoting
from nestarray.numerics.axes import check_contracted, many_axes

matmul = promoting(jnp.matmul)


@compiled
def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.tensordot.html"""
    check_contracted(axes, "tensordot")
    if isinstance(axes, (tuple, list)):
        for x, own in zip((x1, x2), axes):
            many_axes(own, x.ndim, "tensordot", "axes")  # JAX reads True as 1
    return jnp.tensordot(*promoted((x1, x2)), axes=axes)


@compiled
def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.vecdot.html"""
    return jnp.vecdot(*promoted((x1, x2)), axis=axis)


def einsum(subscripts: str, /, *operands: Any) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.einsum.html"""
    return jnp.einsum(subscripts, *promoted(operands))
