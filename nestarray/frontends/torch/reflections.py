"""Householder reflections: the factors of qr, and products with Q without forming it.

Upstream: https://docs.pytorch.org/docs/stable/generated/torch.geqrf.html
"""

from __future__ import annotations

from typing import NamedTuple

from nestarray.errors import ShapeError
from nestarray.frontends.jax.lax import reflections
from nestarray.frontends.torch.dims import shape_of
from nestarray.typing import Array

__all__ = ["geqrf", "ormqr"]


class Reflections(NamedTuple):
    """torch.return_types.geqrf."""

    a: Array
    tau: Array


def geqrf(input: Array) -> Reflections:
    """R above the diagonal, below it the vectors whose reflections multiply to Q, and their τ."""
    return Reflections(*reflections.geqrf(input))


def ormqr(
    input: Array, tau: Array, other: Array, left: bool = True, transpose: bool = False
) -> Array:
    """Q other, of the reflections that `geqrf` gives; from the right, or with Qᴴ."""
    order = shape_of(other)[-2 if left else -1]
    count = min(order, shape_of(input)[-1])
    if shape_of(tau)[-1] > count:
        raise ShapeError(f"ormqr: tau: got {shape_of(tau)[-1]} numbers, expected at most {count}")
    if shape_of(input)[-2] != order:
        raise ShapeError(
            f"ormqr: other: got the shape {shape_of(other)}, expected {shape_of(input)[-2]} "
            f"{'rows' if left else 'columns'}, as many as input has rows"
        )
    return reflections.ormqr(input, tau, other, left=left, transpose=transpose)
