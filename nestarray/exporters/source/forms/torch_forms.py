"""PyTorch: `nestarray.exporters.source.forms`."""

from __future__ import annotations

from typing import Any

import torch

from nestarray.backends.base import supports
from nestarray.dtypes import dtype_of

abs = torch.abs
square = torch.square
relu = torch.nn.functional.relu


@supports(lambda x, index: not _holds_bool(index))
def getitem(x: Any, index: Any) -> Any:
    """https://docs.pytorch.org/docs/stable/tensor_view.html"""
    return x[index]


def _holds_bool(index: Any) -> bool:
    return any(isinstance(i, bool) for i in (index if isinstance(index, tuple) else (index,)))


@supports(lambda x, indices, *, axis: dtype_of(indices).name == "int64")
def gather(x: Any, indices: Any, *, axis: int) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.gather.html"""
    return torch.gather(x, axis, indices)
