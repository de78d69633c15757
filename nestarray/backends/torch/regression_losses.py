"""PyTorch: `nestarray.ops.regression_losses`."""

from __future__ import annotations

from typing import Any

import torch.nn.functional as F

from nestarray.backends.base import supports
from nestarray.backends.torch.losses import _is_native


@supports(_is_native)
def mse_loss(x: Any, target: Any, /, *, reduction: str = "mean") -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.mse_loss.html"""
    if reduction == "mean":
        return F.mse_loss(x, target)
    return F.mse_loss(x, target, reduction=reduction)


@supports(
    lambda x, target, reduction="mean": (
        x.is_floating_point() and _is_native(x, target, reduction=reduction)
    )
)
def l1_loss(x: Any, target: Any, /, *, reduction: str = "mean") -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.l1_loss.html"""
    if reduction == "mean":
        return F.l1_loss(x, target)
    return F.l1_loss(x, target, reduction=reduction)


@supports(_is_native)
def huber_loss(x: Any, target: Any, /, *, delta: float = 1.0, reduction: str = "mean") -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.huber_loss.html"""
    return F.huber_loss(x, target, reduction=reduction, delta=delta)


@supports(_is_native)
def smooth_l1_loss(x: Any, target: Any, /, *, beta: float = 1.0, reduction: str = "mean") -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.smooth_l1_loss.html"""
    return F.smooth_l1_loss(x, target, reduction=reduction, beta=beta)
