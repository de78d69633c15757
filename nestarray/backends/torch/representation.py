"""PyTorch: `nestarray.ops.representation`."""

from __future__ import annotations

from typing import Any

import torch

from nestarray.backends.torch import integers
from nestarray.backends.torch.promotion import promoting


def _gcd(x1: Any, x2: Any) -> Any:
    return torch.gcd(x1, x2).abs_()  # torch returns negative divisors of the smallest number


gcd = promoting(_gcd, otherwise=integers.gcd)
