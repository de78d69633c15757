"""PyTorch: `nestarray.ops.contraction`."""

from __future__ import annotations

import torch

from nestarray.backends.base import promoting
from nestarray.backends.torch.elementwise import _cast

matmul = promoting(torch.matmul, _cast)
