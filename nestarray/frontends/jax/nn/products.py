"""Products of scaled factors.

Upstream: https://docs.jax.dev/en/latest/_autosummary/jax.nn.scaled_matmul.html. Factors of 4 and 8
bits, which few frameworks have, may be of any floating dtype.
"""

from __future__ import annotations

from typing import Any

from nestarray import dtypes
from nestarray.errors import UnsupportedError
from nestarray.frontends.jax import lax
from nestarray.typing import Array

__all__ = ["scaled_dot_general", "scaled_matmul"]


def scaled_matmul(
    lhs: Array,
    rhs: Array,
    lhs_scales: Array,
    rhs_scales: Array,
    preferred_element_type: Any = dtypes.float32,
) -> Array:
    """Σ lhs · rhs over the last axes, each block of which has a scale.

    Args:
        lhs: `(batch, m, k)`.
        rhs: `(batch, n, k)`.
        lhs_scales: `(batch, m, blocks)`.
        rhs_scales: `(batch, n, blocks)`.
        preferred_element_type: dtype of the result.
    """
    return lax.scaled_dot(
        lhs, rhs, lhs_scale=lhs_scales, rhs_scale=rhs_scales,
        dimension_numbers=(((2,), (2,)), ((0,), (0,))),
        preferred_element_type=preferred_element_type,
    )  # fmt: skip


def scaled_dot_general(
    lhs: Array,
    rhs: Array,
    dimension_numbers: lax.DotDimensionNumbers,
    preferred_element_type: Any = dtypes.float32,
    configs: Any = None,
    implementation: str | None = None,
) -> Array:
    """`jax.lax.dot_general`.

    Raises:
        UnsupportedError: `configs` ask for quantized factors.
    """
    if configs is not None:
        raise UnsupportedError(
            "scaled_dot_general: configs: got quantized dtypes, expected None: the frameworks have no "
            "arithmetic in 4 and 8 bits"
        )
    return lax.dot_general(lhs, rhs, dimension_numbers, None, preferred_element_type)
