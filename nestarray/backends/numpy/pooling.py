"""NumPy: `nestarray.ops.pooling`; the body is for derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nestarray.backends.base import supports
from nestarray.numerics import windows


def _max_pool(count: int) -> Callable[..., Any]:
    @supports(lambda x, **_: x.dtype.kind == "f")
    def max_pool(
        x: Any,
        /,
        *,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> Any:
        """https://numpy.org/doc/stable/reference/generated/numpy.maximum.html"""
        at = windows.pooling(
            f"max_pool{count}d",
            count,
            x.shape,
            kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            ceil_mode=ceil_mode,
        )
        output = at.output(x.shape[2:])
        if at.is_padded:
            x = np.pad(x, [(0, 0), (0, 0), *at.padding], constant_values=-np.inf)
        first, *rest = [x[(slice(None), slice(None), *place)] for place in at.offsets(output)]
        found = first.copy()
        for part in rest:
            np.maximum(found, part, out=found)
        return found

    return max_pool


max_pool1d = _max_pool(1)
max_pool2d = _max_pool(2)
max_pool3d = _max_pool(3)
