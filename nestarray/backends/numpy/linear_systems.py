"""NumPy: `nestarray.ops.linear_systems`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.base import promoted
from nestarray.backends.numpy.elementwise import _cast

inv = np.linalg.inv


def solve(x1: Any, x2: Any, /) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.linalg.solve.html"""
    return np.linalg.solve(*promoted((x1, x2), _cast))
