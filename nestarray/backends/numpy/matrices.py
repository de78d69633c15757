"""NumPy: `nestarray.ops.matrices`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.base import supports


@supports(lambda x, **_: x.ndim in (1, 2))
def diag(x: Any, /, *, k: int = 0) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.diag.html"""
    return np.diag(x, k)
