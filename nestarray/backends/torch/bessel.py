"""PyTorch: `nestarray.ops.bessel`."""

from __future__ import annotations

import torch

i0 = torch.i0
i0e = torch.special.i0e
i1 = torch.special.i1
i1e = torch.special.i1e
