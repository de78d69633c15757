"""Discrete Fourier transforms.

Upstream: https://numpy.org/doc/stable/reference/routines.fft.html
"""

from __future__ import annotations

from nestarray.frontends.jax.numpy import fft as transforms
from nestarray.frontends.numpy.adaptation import adapted

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift",
    "ihfft", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip

fft = adapted("fft.fft", transforms.fft, is_inexact=True)
fft2 = adapted("fft.fft2", transforms.fft2, is_inexact=True)
fftfreq = adapted("fft.fftfreq", transforms.fftfreq)
fftn = adapted("fft.fftn", transforms.fftn, is_inexact=True)
fftshift = adapted("fft.fftshift", transforms.fftshift)
hfft = adapted("fft.hfft", transforms.hfft, is_inexact=True)
ifft = adapted("fft.ifft", transforms.ifft, is_inexact=True)
ifft2 = adapted("fft.ifft2", transforms.ifft2, is_inexact=True)
ifftn = adapted("fft.ifftn", transforms.ifftn, is_inexact=True)
ifftshift = adapted("fft.ifftshift", transforms.ifftshift)
ihfft = adapted("fft.ihfft", transforms.ihfft, is_inexact=True)
irfft = adapted("fft.irfft", transforms.irfft, is_inexact=True)
irfft2 = adapted("fft.irfft2", transforms.irfft2, is_inexact=True)
irfftn = adapted("fft.irfftn", transforms.irfftn, is_inexact=True)
rfft = adapted("fft.rfft", transforms.rfft, is_inexact=True)
rfft2 = adapted("fft.rfft2", transforms.rfft2, is_inexact=True)
rfftfreq = adapted("fft.rfftfreq", transforms.rfftfreq)
rfftn = adapted("fft.rfftn", transforms.rfftn, is_inexact=True)
