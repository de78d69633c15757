"""PyTorch: `nestarray.exporters.source.forms`."""

from __future__ import annotations

from typing import Any

import torch

from nestarray.backends.base import supports
from nestarray.dtypes import dtype_of

abs = torch.abs
square = torch.square
relu = torch.nn.functional.relu


@supports(lambda x, index: all(map(_is_index, index if isinstance(index, tuple) else (index,))))
def getitem(x: Any, index: Any) -> Any:
    """https://docs.pytorch.org/docs/stable/tensor_view.html"""
    return x[index]


def _is_index(item: Any) -> bool:
    """Whether PyTorch reads it as NumPy does: uint8 would be a mask, negative steps fail."""
    if isinstance(item, slice):
        return item.step is None or item.step > 0
    if hasattr(item, "dtype"):
        return dtype_of(item).name in ("int64", "bool")
    return item is None or item is Ellipsis or type(item) is int


@supports(lambda x, indices, *, axis: dtype_of(indices).name == "int64")
def gather(x: Any, indices: Any, *, axis: int) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.gather.html"""
    return torch.gather(x, axis, indices)
