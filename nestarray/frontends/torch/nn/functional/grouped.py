"""Products of groups of rows: https://docs.pytorch.org/docs/stable/nn.functional.html.

Every group is multiplied with all rows and the right product chosen, so that no size depends on a
value and the call can be compiled.
"""

from __future__ import annotations

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.torch.dims import ndim_of, shape_of
from nestarray.frontends.torch.promotion import cast
from nestarray.typing import Array, DTypeLike

__all__ = ["grouped_mm"]


def grouped_mm(
    mat_a: Array,
    mat_b: Array,
    *,
    offs: Array | None = None,
    bias: Array | None = None,
    out_dtype: DTypeLike | None = None,
) -> Array:
    """The products of groups: of matrices, else of the rows, columns or terms up to each of `offs`.

    Rows and columns of no group, which upstream leaves undefined, are 0.
    """
    if bias is not None:
        raise ArgumentError("grouped_mm: bias: got an array, expected None, as upstream")
    if ndim_of(mat_a) == ndim_of(mat_b) == 3:
        products = na.matmul(mat_a, mat_b)
    elif offs is None:
        raise ArgumentError("grouped_mm: offs: got None, expected the ends of the groups")
    elif ndim_of(mat_b) == 3:
        rows = na.expand_dims(_members(offs, shape_of(mat_a)[0]), axis=-1)
        products = na.sum(_where(rows, na.matmul(na.expand_dims(mat_a, axis=0), mat_b)), axis=0)
    elif ndim_of(mat_a) == 3:
        columns = na.expand_dims(_members(offs, shape_of(mat_b)[1]), axis=-2)
        products = na.sum(_where(columns, na.matmul(mat_a, na.expand_dims(mat_b, axis=0))), axis=0)
    else:
        terms = na.expand_dims(_members(offs, shape_of(mat_a)[1]), axis=-2)
        products = na.matmul(_where(terms, na.expand_dims(mat_a, axis=0)), mat_b)
    return products if out_dtype is None else cast(products, out_dtype)


def _members(offs: Array, size: int) -> Array:
    """Which of `size` positions are in which group, `(groups, size)`."""
    positions = na.arange(size, dtype=dtypes.dtype_of(offs), like=offs)
    is_past = na.less_equal(na.expand_dims(offs, axis=-1), positions)
    group = na.sum(na.astype(is_past, dtypes.int64), axis=0)
    numbers = na.arange(shape_of(offs)[0], dtype=dtypes.dtype_of(group), like=offs)
    return na.equal(na.expand_dims(numbers, axis=-1), group)


def _where(mask: Array, x: Array) -> Array:
    return na.where(mask, x, na.zeros((), dtype=dtypes.dtype_of(x), like=x))
