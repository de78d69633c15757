"""PyTorch: `nestarray.ops.window_reductions`."""

from __future__ import annotations

from typing import Any

import torch.nn.functional as F

from nestarray.backends.base import supports


def _is_native(
    x: Any,
    /,
    *,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> bool:
    are_plain = isinstance(kernel_size, int) and isinstance(padding, int) and stride != ()
    if not (are_plain and dilation == 1):
        return False
    fits = all(n + 2 * padding >= kernel_size > 0 for n in x.shape[2:])
    return (
        x.ndim in (3, 4, 5)
        and x.shape[1]
        and x.is_floating_point()
        and fits
        and 0 <= padding <= kernel_size // 2
    )


@supports(_is_native)
def max_pool_with_indices(
    x: Any,
    /,
    *,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> tuple[Any, Any]:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.max_pool2d.html"""
    pool = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[x.ndim - 3]
    found = pool(x, kernel_size, stride, padding, dilation, ceil_mode, return_indices=True)
    return found[0], found[1]
