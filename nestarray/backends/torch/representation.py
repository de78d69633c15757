"""PyTorch: `nestarray.ops.representation`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from nestarray.backends.fast_paths import FastPath, noted
from nestarray.backends.torch.promotion import promoting
from nestarray.errors import DtypeError


def _of_signed(native: Callable[..., Any]) -> Callable[..., Any]:
    """`native`, which has no kernel for unsigned integers of more than 8 bits, in int64 for them."""

    def call(x1: Any, x2: Any, /) -> Any:
        dtype = x1.dtype
        if dtype in (torch.uint16, torch.uint32):
            return native(x1.to(torch.int64), x2.to(torch.int64)).to(dtype)
        if dtype is torch.uint64:
            raise DtypeError("gcd: torch has no kernel for uint64; cast to int64")
        return native(x1, x2)

    # of the others it raises, and is called again the general way
    return noted(call, FastPath("", "_native(x1, x2)", {"_native": native}))


gcd = promoting(_of_signed(torch.gcd))
