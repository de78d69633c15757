"""PyTorch: functions that it lacks."""

from __future__ import annotations

import torch
import torch.nn.functional as F


def custom_vjp(forward, backward, args):
    """The result of ``result, residuals = forward(args)``, with a pullback of its own."""

    class Function(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *args):
            result, residuals = forward(one_or_all(args))
            kept = residuals if isinstance(residuals, tuple) else (residuals,)
            ctx.save_for_backward(*kept)
            return result

        @staticmethod
        def backward(ctx, *gradients):
            return backward(one_or_all(ctx.saved_tensors), one_or_all(gradients))

    return Function.apply(*args) if isinstance(args, tuple) else Function.apply(args)


def one_or_all(items):
    """The item of a tuple of one, or the tuple."""
    return items[0] if len(items) == 1 else items


def pad_same(x, *, window, stride, value=0.0):
    """Images with a border for ceil(size / stride) windows along each axis."""
    total = [max(-n % s + k - s, 0) for n, k, s in zip(x.shape[2:], window, stride)]
    border = [end for n in reversed(total) for end in (n // 2, n - n // 2)]
    return F.pad(x, border, value=value)
