"""PyTorch: `nestarray.ops.representation`."""

from __future__ import annotations

import torch

from nestarray.backends.base import promoting
from nestarray.backends.torch.elementwise import _cast

gcd = promoting(torch.gcd, _cast, scalar_ok=False)
lcm = promoting(torch.lcm, _cast, scalar_ok=False)
