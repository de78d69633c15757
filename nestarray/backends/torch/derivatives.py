"""The derivatives that a call needs; some native functions lack derivatives by some arguments.

https://github.com/pytorch/pytorch/blob/main/tools/autograd/derivatives.yaml
"""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd import forward_ad

_peek_interpreter_stack = torch._C._functorch.peek_interpreter_stack
_len_torch_dispatch_stack = torch._C._len_torch_dispatch_stack


def is_constant(x: Any) -> bool:
    """Whether `x` needs no derivative, backward or forward; None is constant."""
    return x is None or (
        not x.requires_grad
        and (forward_ad._current_level < 0 or forward_ad.unpack_dual(x).tangent is None)
    )


def is_observed() -> bool:
    """Whether a derivative, a trace or vmap is active."""
    return (
        forward_ad._current_level >= 0
        or torch.compiler.is_compiling()
        or _peek_interpreter_stack() is not None
        or _len_torch_dispatch_stack() > 0
    )
