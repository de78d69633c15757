"""Sums of products: matrix products and Einstein sums."""

from __future__ import annotations

from nestarray.dispatch import op, primitive
from nestarray.typing import Array

__all__ = ["linear", "matmul"]


@primitive
def matmul(x1: Array, x2: Array, /) -> Array:
    """The matrix product over the last two axes; other axes broadcast, 1-d operands are vectors.

    Args:
        x1: `(*batch, m, k)` or `(k,)`, any number.
        x2: `(*batch, k, n)` or `(k,)`; the dtypes promote.

    Returns:
        `(*batch, m, n)`, without the axis of a 1-d operand.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.matmul(np.asarray([[1.0, 2.0]]), np.asarray([[3.0], [4.0]]))
        array([[11.]])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.matmul.html
    """


@op
def linear(x: Array, weight: Array, bias: Array | None = None) -> Array:
    """The affine map x Wᵀ + b.

    Args:
        x: `(*batch, in)`, floating.
        weight: `(out, in)`.
        bias: `(out,)`, or None.

    Returns:
        `(*batch, out)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.linear(np.ones((1, 2)), np.asarray([[1.0, 2.0]]), np.asarray([0.5]))
        array([[3.5]])
    """
    product = matmul(x, weight.T if hasattr(weight, "T") else _transposed(weight))
    return product if bias is None else product + bias


def _transposed(x: Array) -> Array:
    from nestarray import ops

    return ops.permute_dims(x, (1, 0))
