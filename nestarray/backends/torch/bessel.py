"""PyTorch: `nestarray.ops.bessel`."""

from __future__ import annotations

import torch

from nestarray.backends.torch.special import _not_half

i0 = torch.i0
i0e = torch.special.i0e
i1 = torch.special.i1
i1e = _not_half(torch.special.i1e)  # its derivative has no half precision
