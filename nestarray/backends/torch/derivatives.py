"""Which derivatives are asked for; torch lacks those by some arguments.

https://github.com/pytorch/pytorch/blob/main/tools/autograd/derivatives.yaml
"""

from __future__ import annotations

from typing import Any

from torch.autograd import forward_ad


def is_constant(x: Any) -> bool:
    """Whether no derivative by `x` is asked for, backward or forward; None is constant."""
    return x is None or (not x.requires_grad and forward_ad.unpack_dual(x).tangent is None)
