"""PyTorch: `nestarray.ops.sets`."""

from __future__ import annotations

from typing import Any

import torch

from nestarray.backends.base import supports
from nestarray.backends.torch.integers import by_order
from nestarray.backends.torch.promotion import promoted

_isin = by_order(torch.isin)
#: Dtypes without a kernel.
_LACKING = frozenset((torch.bool, torch.complex64, torch.complex128))


@supports(lambda x1, x2, **_: _LACKING.isdisjoint((x1.dtype, x2.dtype)))
def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.isin.html"""
    x1, x2 = (x.contiguous() for x in promoted((x1, x2)))  # torch cannot view others
    return _isin(x1, x2, invert=invert)
