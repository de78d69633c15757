"""PyTorch: `nestarray.ops.matrices`."""

from __future__ import annotations

from typing import Any

import torch

from nestarray.backends.base import supports


@supports(lambda x, **_: x.ndim in (1, 2))
def diag(x: Any, /, *, k: int = 0) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.diag.html"""
    return torch.diag(x) if k == 0 else torch.diag(x, k)
