"""PyTorch: `nestarray.ops.representation`."""

from __future__ import annotations

import torch

from nestarray.backends.torch import integers
from nestarray.backends.torch.promotion import promoting

gcd = promoting(torch.gcd, otherwise=integers.gcd)
