"""NumPy: `nestarray.ops.matrices`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.base import lenient, supports
from nestarray.backends.fast_paths import at_defaults


@at_defaults("np.diag(x, k)")
@supports("x.ndim in (1, 2)")
@lenient
def diag(x: Any, /, *, k: int = 0) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.diag.html"""
    return np.diag(x, k)
