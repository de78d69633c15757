"""PyTorch: `nestarray.ops.losses`."""

from __future__ import annotations

from typing import Any

import torch.nn.functional as F

from nestarray.backends.base import supports
from nestarray.backends.torch.derivatives import is_constant

_REDUCTIONS = ("mean", "sum", "none")


def _is_native(x: Any, target: Any, *, reduction: str = "mean", **_: Any) -> bool:
    # torch warns where the shapes differ, and computes in the dtype of x alone
    return x.shape == target.shape and x.dtype is target.dtype and reduction in _REDUCTIONS


@supports(_is_native)
def mse_loss(x: Any, target: Any, /, *, reduction: str = "mean") -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.mse_loss.html"""
    return F.mse_loss(x, target, reduction=reduction)


@supports(_is_native)
def l1_loss(x: Any, target: Any, /, *, reduction: str = "mean") -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.l1_loss.html"""
    return F.l1_loss(x, target, reduction=reduction)


@supports(_is_native)
def huber_loss(x: Any, target: Any, /, *, delta: float = 1.0, reduction: str = "mean") -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.huber_loss.html"""
    return F.huber_loss(x, target, reduction=reduction, delta=delta)


@supports(_is_native)
def smooth_l1_loss(x: Any, target: Any, /, *, beta: float = 1.0, reduction: str = "mean") -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.smooth_l1_loss.html"""
    return F.smooth_l1_loss(x, target, reduction=reduction, beta=beta)


def _classes_first(x: Any, target: Any, axis: int) -> tuple[Any, Any]:
    """x and the target with the classes where torch wants them."""
    count = x.ndim
    if count > 2 and axis % count != 1:
        x = x.movedim(axis, 1)
        if target.ndim == count:
            target = target.movedim(axis, 1)
    elif count == 2 and axis % count == 0:
        x, target = x.T, target.T if target.ndim == count else target
    if not target.is_floating_point():
        target = target.long()
    return x, target


def _classes_fit(
    x: Any,
    target: Any,
    weight: Any = None,
    *,
    axis: int = -1,
    reduction: str = "mean",
    **_: Any,
) -> bool:
    expected = list(x.shape)
    if not target.is_floating_point():
        del expected[axis]
    fits = list(target.shape) == expected and reduction in _REDUCTIONS
    return fits and is_constant(weight)


@supports(_classes_fit)
def cross_entropy(
    logits: Any,
    target: Any,
    weight: Any = None,
    *,
    axis: int = -1,
    label_smoothing: float = 0.0,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.cross_entropy.html"""
    logits, target = _classes_first(logits, target, axis)
    return F.cross_entropy(
        logits,
        target,
        weight,
        ignore_index=ignore_index,
        reduction=reduction,
        label_smoothing=label_smoothing,
    )


@supports(_classes_fit)
def nll_loss(
    log_probs: Any,
    target: Any,
    weight: Any = None,
    *,
    axis: int = -1,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.nll_loss.html"""
    log_probs, target = _classes_first(log_probs, target, axis)
    return F.nll_loss(log_probs, target, weight, ignore_index=ignore_index, reduction=reduction)


def _weighted_is_native(x: Any, target: Any, *weights: Any, reduction: str = "mean") -> bool:
    return _is_native(x, target, reduction=reduction) and all(map(is_constant, weights))


@supports(_weighted_is_native)
def binary_cross_entropy_with_logits(
    x: Any,
    target: Any,
    weight: Any = None,
    pos_weight: Any = None,
    /,
    *,
    reduction: str = "mean",
) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.binary_cross_entropy_with_logits.html"""
    return F.binary_cross_entropy_with_logits(
        x, target, weight, pos_weight=pos_weight, reduction=reduction
    )
