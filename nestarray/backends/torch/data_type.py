"""PyTorch: `nestarray.ops.data_type`."""

from __future__ import annotations

from typing import Any

import torch

from nestarray.backends.checks.shapes import check_bitcast
from nestarray.backends.torch import core
from nestarray.backends.torch.core import native_dtype


def astype(x: Any, dtype: Any, *, copy: bool = True, device: Any = None) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.Tensor.to.html"""
    cast = torch.as_tensor(x).to(native_dtype(dtype), copy=copy)
    return cast if device is None else core.to_device(cast, device)


def bitcast(x: Any, dtype: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.Tensor.view.html"""
    check_bitcast(x, dtype)
    return x.detach().contiguous().view(native_dtype(dtype))


def stop_gradient(x: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.Tensor.detach.html"""
    return x.detach()
