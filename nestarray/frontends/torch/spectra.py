"""Spectra of short frames.

Upstream: https://docs.pytorch.org/docs/stable/torch.html#spectral-ops
"""

from __future__ import annotations

import nestarray as na
from nestarray.frontends.torch.dims import shape_of
from nestarray.typing import Array

__all__ = ["istft", "stft"]


def stft(
    input: Array,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Array | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool = True,
) -> Array:
    """The spectrum of each frame, `(*batch, frequencies, frames)`, or its parts in a last dimension."""
    found = na.stft(
        input,
        window,
        n_fft=n_fft,
        hop_length=hop_length,
        win_length=win_length,
        center=center,
        pad_mode=pad_mode,
        normalized=normalized,
        onesided=onesided,
    )
    return found if return_complex else na.stack([na.real(found), na.imag(found)], axis=-1)


def istft(
    input: Array,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Array | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Array:
    """The signal whose frames have these spectra, by least squares.

    Of a real signal the second half of a whole spectrum is not looked at.
    """
    frequencies = n_fft // 2 + 1
    is_whole = shape_of(input)[-2] == n_fft if onesided is None else not onesided
    if is_whole and not return_complex:
        input, onesided = na.getitem(input, (..., slice(0, frequencies), slice(None))), True
    return na.istft(
        input,
        window,
        n_fft=n_fft,
        hop_length=hop_length,
        win_length=win_length,
        center=center,
        normalized=normalized,
        onesided=onesided,
        length=length,
        return_complex=return_complex,
    )
