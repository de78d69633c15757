"""NumPy: `nestarray.ops.linear_systems`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.numpy.promotion import cast, promoted
from nestarray.backends.precision import in_single_precision

_single = in_single_precision(cast)
_single_pair = in_single_precision(cast, arrays=(0, 1))

inv = _single(np.linalg.inv)


@_single_pair
def solve(x1: Any, x2: Any, /) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.linalg.solve.html"""
    if x1.dtype is x2.dtype:
        return np.linalg.solve(x1, x2)
    return np.linalg.solve(*promoted((x1, x2)))
