"""The derivatives that a call needs; some native functions lack derivatives by some arguments.

https://github.com/pytorch/pytorch/blob/main/tools/autograd/derivatives.yaml
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import torch
from torch._C import _functorch
from torch.autograd import forward_ad
from torch.fx.experimental.proxy_tensor import get_proxy_mode

from nestarray.dynamo import ContextVariable

_peek_interpreter_stack = _functorch.peek_interpreter_stack
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


def is_compiled() -> bool:
    """Whether ``torch.compile`` or `jit` traces the running code; ``torch.export`` does not count."""
    if torch.compiler.is_exporting():
        return False
    return torch.compiler.is_dynamo_compiling() or get_proxy_mode() is not None


def is_batched(x: Any) -> bool:
    """Whether vmap maps `x`."""
    if torch.compiler.is_dynamo_compiling():
        return False
    while _functorch.is_functorch_wrapped_tensor(x):
        if _functorch.is_batchedtensor(x):
            return True
        x = _functorch.get_unwrapped(x)
    return False


#: The order of the derivative that nestarray's transformations take of the running code.
_order: ContextVariable[int] = ContextVariable("nestarray_torch_order", default=0)


def order() -> int:
    """The order of the derivative that is taken of the running code."""
    return _order.get()


def order_set(number: int) -> AbstractContextManager[None]:
    """Set the order of the derivative of the code inside."""
    return _order.being(number)


def differentiated(orders: int = 1) -> AbstractContextManager[None]:
    """Raise the order of the derivative of the code inside."""
    return _order.being(_order.get() + orders)
