"""PyTorch: promotion of operands of several dtypes and of Python numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from nestarray.backends import promotion
from nestarray.backends.torch.core import INEXACT, find_device, native_dtype
from nestarray.backends.torch.integers import LACKING


def cast(x: Any, dtype: Any, like: Any = None) -> Any:
    """An array as an array of `dtype`; a Python number as one on the device of `like`."""
    if isinstance(x, torch.Tensor):
        return x.to(native_dtype(dtype))
    device = like.device if isinstance(like, torch.Tensor) else find_device(None)
    return torch.as_tensor(x, dtype=native_dtype(dtype), device=device)


def promoting(
    native: Callable[..., Any],
    *,
    scalar_ok: bool | Callable[[Any], bool] = False,
    reflected: Callable[..., Any] | None = None,
    otherwise: Callable[..., Any] | None = None,
    **kind: bool,
) -> Callable[..., Any]:
    """A two-operand function that promotes; Python numbers become tensors by default.

    The arguments are those of `nestarray.backends.promotion.promoting`.
    """
    return promotion.promoting(
        native,
        cast,
        scalar_ok=scalar_ok,
        reflected=reflected,
        otherwise=otherwise,
        lacking=LACKING,
        **kind,
    )


def is_wide(dtype: torch.dtype) -> bool:
    """Whether torch computes with a number as with an array; narrow dtypes use float32."""
    return dtype is torch.float32 or dtype is torch.float64


def swapped(native: Callable[..., Any]) -> Callable[..., Any]:
    """`native` with its operands swapped, for a number and a tensor."""
    return lambda number, x: native(x, number)


def floating_pair(native: Callable[..., Any]) -> Callable[..., Any]:
    """`native`, which lacks integers, with integers cast to float32."""

    def call(x1: Any, x2: Any, /) -> Any:
        if x1.dtype not in INEXACT:
            x1, x2 = x1.to(torch.float32), x2.to(torch.float32)
        return native(x1, x2)

    return call


promoted = promotion.promoting_all(cast)
