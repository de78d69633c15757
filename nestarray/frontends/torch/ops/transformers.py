"""Operations that the package transformers registers with torch."""

from __future__ import annotations

import nestarray as na
from nestarray import dtypes
from nestarray.frontends.torch.dims import shape_of
from nestarray.frontends.unknown_names import public_namespace as _public_namespace
from nestarray.typing import Array

__all__ = ["grouped_mm_fallback"]


def grouped_mm_fallback(input: Array, weight: Array, offs: Array) -> Array:
    """Row s of `(rows, in)` times the matrix of its group in `(groups, in, out)`.

    Group g holds the rows before ``offs[g]`` that are in no earlier group. Every row is
    multiplied by every matrix and the right product chosen, so that no size depends on
    a value and the call can be compiled.
    """
    groups = shape_of(weight)[0]
    rows = na.arange(shape_of(input)[0], dtype=dtypes.dtype_of(offs), like=input)
    past = na.less_equal(na.expand_dims(offs, axis=-1), rows)
    group = na.sum(na.astype(past, dtypes.int64), axis=0)
    products = na.matmul(na.expand_dims(input, axis=0), weight)
    numbers = na.arange(groups, dtype=dtypes.dtype_of(group), like=input)
    chosen = na.equal(na.expand_dims(numbers, axis=-1), group)
    zero = na.zeros((), dtype=dtypes.dtype_of(products), like=products)
    return na.sum(na.where(na.expand_dims(chosen, axis=-1), products, zero), axis=0)


_public_namespace(__name__)
