"""Data types and bits of elements.

Upstream: https://www.tensorflow.org/api_docs/python/tf/cast
"""

from __future__ import annotations

from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.dtypes import DType
from nestarray.frontends.tensorflow.conversion import tensor, tensors
from nestarray.typing import Array, DTypeLike

__all__ = ["as_dtype", "bitcast", "cast", "complex", "saturate_cast"]


def as_dtype(type_value: Any) -> DType:
    """The dtype of a name, or of a framework's dtype."""
    return dtypes.as_dtype(type_value)


def cast(x: Any, dtype: DTypeLike, name: str | None = None) -> Array:
    """`x` in another dtype; complex numbers lose their imaginary part."""
    x = tensor(x)
    source, wanted = dtypes.dtype_of(x), dtypes.as_dtype(dtype)
    if source is wanted:
        return x
    if source.kind == "complex" and wanted.kind != "complex":
        x = na.real(x)
    return na.not_equal(x, 0) if wanted is dtypes.bool else na.astype(x, wanted)


def saturate_cast(value: Any, dtype: DTypeLike, name: str | None = None) -> Array:
    """`value` in another dtype, within its limits."""
    return na.saturate_cast(tensor(value), dtypes.as_dtype(dtype))


def bitcast(input: Any, type: DTypeLike, name: str | None = None) -> Array:
    """The bits of `input` as another dtype; a last axis has the parts of an element if widths differ."""
    x, wanted = tensor(input), dtypes.as_dtype(type)
    found, ratio = na.bitcast(x, wanted), dtypes.dtype_of(x).bits // wanted.bits
    if ratio > 1:
        return na.reshape(found, (*na.shape(x), ratio))
    return na.squeeze(found, axis=-1) if ratio < 1 else found


def complex(real: Any, imag: Any, name: str | None = None) -> Array:
    """real + i · imag."""
    return na.complex(*tensors("complex", real, imag))
