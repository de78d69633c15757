"""NumPy: `nestarray.ops.contraction`."""

from __future__ import annotations

import numpy as np

from nestarray.backends.base import promoting
from nestarray.backends.numpy.elementwise import _cast

matmul = promoting(np.matmul, _cast)
