"""Gradients by ``torch.autograd``, for proofs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from nestarray.errors import UnsupportedError

#: The words of torch's errors for operations without a derivative. The last is raised for a
#: `torch.cond` with an integer among its results.
_NO_DERIVATIVE = (
    "is not implemented",
    "does not support automatic differentiation",
    "outs_to_grad length",
)


class ConstantArgument(UnsupportedError):
    """An input has no derivative, such as the target of a loss."""


def leaf(x: Any) -> Any:
    """A copy of a tensor that requires a gradient, if its dtype has one."""
    new = x.detach().clone()
    return new.requires_grad_(x.is_floating_point() or x.is_complex())


def gradients(total: Callable[[], Any], leaves: Sequence[Any]) -> list[Any]:
    """∂total()/∂x for each leaf x; None for one that does not require a gradient.

    Raises:
        UnsupportedError: torch has no derivative of an operation.
    """
    try:
        # cuDNN has no derivative of recurrent layers in evaluation
        with torch.enable_grad(), torch.backends.cudnn.flags(enabled=False):
            value = total()
        for x in leaves:  # a forward may call backward()
            x.grad = None
        if value.requires_grad:  # else nothing depends on them
            value.backward()  # reentrant checkpoints refuse torch.autograd.grad
    except (NotImplementedError, RuntimeError, AssertionError) as error:
        reason = str(error).partition(". ")[0].rstrip(".")
        if "is not differentiable with respect to" in reason:
            raise ConstantArgument(f"verify: PyTorch: {reason}") from error
        if not any(words in reason for words in _NO_DERIVATIVE):
            raise
        raise UnsupportedError(f"verify: PyTorch: {reason}") from error
    return [
        (torch.zeros_like(x) if x.grad is None else x.grad) if x.requires_grad else None
        for x in leaves
    ]
