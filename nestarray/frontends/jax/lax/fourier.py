"""Fourier transforms.

Upstream: https://docs.jax.dev/en/latest/_autosummary/jax.lax.fft.html
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray.typing import Array

__all__ = ["fft"]


def fft(x: Array, fft_type: Any, fft_lengths: Sequence[int]) -> Array:
    """The discrete Fourier transform of the last axes: FFT, IFFT, RFFT or IRFFT."""
    kind = str(getattr(fft_type, "name", fft_type)).lower()
    axes = tuple(range(-len(fft_lengths), 0))
    function = {"fft": na.fftn, "ifft": na.ifftn, "rfft": na.rfftn, "irfft": na.irfftn}[kind]
    return function(x, s=tuple(fft_lengths), axes=axes)
