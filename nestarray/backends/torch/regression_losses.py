"""PyTorch: `nestarray.ops.regression_losses`."""

from __future__ import annotations

from typing import Any

import torch.nn.functional as F

from nestarray.backends.base import supports
from nestarray.backends.fast_paths import at_defaults
from nestarray.backends.torch.core import FLOATING  # noqa: F401 - in conditions
from nestarray.backends.torch.losses import _IS_NATIVE, _REDUCTIONS  # noqa: F401 - in conditions


@at_defaults("F.mse_loss(x, target)", where="x.dtype is target.dtype and x.shape == target.shape")
@supports(_IS_NATIVE)
def mse_loss(x: Any, target: Any, /, *, reduction: str = "mean") -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.mse_loss.html"""
    if reduction == "mean":
        return F.mse_loss(x, target)
    return F.mse_loss(x, target, reduction=reduction)


@at_defaults(
    "F.l1_loss(x, target)",
    where="x.dtype is target.dtype and x.dtype in FLOATING and x.shape == target.shape",
)
@supports(f"x.is_floating_point() and {_IS_NATIVE}")
def l1_loss(x: Any, target: Any, /, *, reduction: str = "mean") -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.l1_loss.html"""
    if reduction == "mean":
        return F.l1_loss(x, target)
    return F.l1_loss(x, target, reduction=reduction)


@at_defaults("F.huber_loss(x, target)", where="x.dtype is target.dtype and x.shape == target.shape")
@supports(_IS_NATIVE)
def huber_loss(x: Any, target: Any, /, *, delta: float = 1.0, reduction: str = "mean") -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.huber_loss.html"""
    return F.huber_loss(x, target, reduction=reduction, delta=delta)


@at_defaults(
    "F.smooth_l1_loss(x, target)", where="x.dtype is target.dtype and x.shape == target.shape"
)
@supports(_IS_NATIVE)
def smooth_l1_loss(x: Any, target: Any, /, *, beta: float = 1.0, reduction: str = "mean") -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.smooth_l1_loss.html"""
    return F.smooth_l1_loss(x, target, reduction=reduction, beta=beta)
