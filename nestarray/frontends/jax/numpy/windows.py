"""Window functions, symmetric.

Upstream: https://docs.jax.dev/en/latest/_autosummary/jax.numpy.hanning.html
"""

from __future__ import annotations

import nestarray as na
from nestarray.frontends.jax.promotion import default_dtype
from nestarray.typing import Array

__all__ = ["bartlett", "blackman", "hamming", "hanning", "kaiser"]


def bartlett(M: int) -> Array:
    """1 − |2n / (M − 1) − 1|."""
    return na.bartlett(M, dtype=default_dtype(float))


def blackman(M: int) -> Array:
    """0.42 − 0.5 cos(2πn / (M − 1)) + 0.08 cos(4πn / (M − 1))."""
    return na.blackman(M, dtype=default_dtype(float))


def hamming(M: int) -> Array:
    """0.54 − 0.46 cos(2πn / (M − 1))."""
    return na.hamming(M, dtype=default_dtype(float))


def hanning(M: int) -> Array:
    """½ − ½ cos(2πn / (M − 1))."""
    return na.hanning(M, dtype=default_dtype(float))


def kaiser(M: int, beta: float) -> Array:
    """I₀(β √(1 − (2n / (M − 1) − 1)²)) / I₀(β)."""
    return na.kaiser(M, beta=beta, dtype=default_dtype(float))
