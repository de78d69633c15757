"""PyTorch: `nestarray.ops.losses`."""

from __future__ import annotations

from typing import Any

import torch.nn.functional as F

from nestarray.backends.base import supports
from nestarray.backends.torch.core import FLOATING
from nestarray.backends.torch.derivatives import is_constant

_REDUCTIONS = ("mean", "sum", "none")


# torch warns of different shapes, and computes in the dtype of x
def _is_native(x: Any, target: Any, *weights: Any, reduction: str = "mean", **_: Any) -> bool:
    """Whether torch supports these arguments: no broadcasting, and one of three reductions."""
    return x.shape == target.shape and x.dtype is target.dtype and reduction in _REDUCTIONS


def _classes_first(x: Any, target: Any, axis: int) -> tuple[Any, Any]:
    """x and the target with the class axis in torch's position."""
    count = x.ndim
    if count > 2 and axis % count != 1:
        x = x.movedim(axis, 1)
        if target.ndim == count:
            target = target.movedim(axis, 1)
    elif count == 2 and axis % count == 0:
        x, target = x.T, target.T if target.ndim == count else target
    return x, target if target.dtype in FLOATING else target.long()


def _classes_fit(x: Any, target: Any, weight: Any, axis: int, reduction: str) -> bool:
    expected = x.shape
    if not -len(expected) <= axis < len(expected):
        return False
    if target.is_complex():
        return False
    if target.dtype not in FLOATING:
        axis = axis % len(expected)
        expected = expected[:axis] + expected[axis + 1 :]
    return target.shape == expected and reduction in _REDUCTIONS and is_constant(weight)


@supports(
    lambda logits, target, weight=None, axis=-1, label_smoothing=0.0, reduction="mean", **_: (
        0.0 <= label_smoothing <= 1.0 and _classes_fit(logits, target, weight, axis, reduction)
    )
)
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


@supports(
    lambda log_probs, target, weight=None, axis=-1, reduction="mean", **_: _classes_fit(
        log_probs, target, weight, axis, reduction
    )
)
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


# torch supports no weight that broadcasts x
@supports(
    lambda x, target, weight=None, pos_weight=None, reduction="mean": (
        _is_native(x, target, reduction=reduction)
        and (weight is None or (weight.ndim <= x.ndim and is_constant(weight)))
        and is_constant(pos_weight)
    )
)
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
