"""torch.fft, https://docs.pytorch.org/docs/stable/fft.html."""

from __future__ import annotations

from collections.abc import Sequence

import nestarray as na
from nestarray import dtypes
from nestarray.frontends.torch.dims import ndim_of, wrap_all
from nestarray.frontends.unknown_names import public_namespace as _public_namespace
from nestarray.typing import Array, DTypeLike

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "ifft", "ifft2",
    "ifftn", "ifftshift", "ihfft", "ihfft2", "ihfftn", "irfft", "irfft2", "irfftn", "rfft",
    "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip

Ints = int | Sequence[int]


def fft(input: Array, n: int | None = None, dim: int = -1, norm: str | None = None) -> Array:
    """The discrete Fourier transform along a dimension, cut or filled to length `n`."""
    return na.fft(input, n=n, axis=dim, norm=norm or "backward")


def ifft(input: Array, n: int | None = None, dim: int = -1, norm: str | None = None) -> Array:
    """The inverse of `fft`."""
    return na.ifft(input, n=n, axis=dim, norm=norm or "backward")


def rfft(input: Array, n: int | None = None, dim: int = -1, norm: str | None = None) -> Array:
    """`fft` of real numbers: the half with frequencies ≥ 0."""
    return na.rfft(input, n=n, axis=dim, norm=norm or "backward")


def irfft(input: Array, n: int | None = None, dim: int = -1, norm: str | None = None) -> Array:
    """The inverse of `rfft`, of length `n` (by default an even length)."""
    return na.irfft(input, n=n, axis=dim, norm=norm or "backward")


def hfft(input: Array, n: int | None = None, dim: int = -1, norm: str | None = None) -> Array:
    """The real spectrum of a hermitian signal, given by its half."""
    return na.hfft(input, n=n, axis=dim, norm=norm or "backward")


def ihfft(input: Array, n: int | None = None, dim: int = -1, norm: str | None = None) -> Array:
    """The inverse of `hfft`."""
    return na.ihfft(input, n=n, axis=dim, norm=norm or "backward")


def fft2(
    input: Array, s: Ints | None = None, dim: Ints = (-2, -1), norm: str | None = None
) -> Array:
    """`fftn` over the last two dimensions."""
    return fftn(input, s, dim, norm)


def ifft2(
    input: Array, s: Ints | None = None, dim: Ints = (-2, -1), norm: str | None = None
) -> Array:
    """`ifftn` over the last two dimensions."""
    return ifftn(input, s, dim, norm)


def rfft2(
    input: Array, s: Ints | None = None, dim: Ints = (-2, -1), norm: str | None = None
) -> Array:
    """`fft2` of real numbers, with the half spectrum of `rfft` in the last dimension."""
    return rfftn(input, s, dim, norm)


def irfft2(
    input: Array, s: Ints | None = None, dim: Ints = (-2, -1), norm: str | None = None
) -> Array:
    """The inverse of `rfft2`."""
    return irfftn(input, s, dim, norm)


def fftn(
    input: Array, s: Ints | None = None, dim: Ints | None = None, norm: str | None = None
) -> Array:
    """The discrete Fourier transform over several dimensions, all if `dim` is None."""
    return na.fftn(input, s=_several(s), axes=_several(dim), norm=norm or "backward")


def ifftn(
    input: Array, s: Ints | None = None, dim: Ints | None = None, norm: str | None = None
) -> Array:
    """The inverse of `fftn`."""
    return na.ifftn(input, s=_several(s), axes=_several(dim), norm=norm or "backward")


def rfftn(
    input: Array, s: Ints | None = None, dim: Ints | None = None, norm: str | None = None
) -> Array:
    """`fftn` of real numbers, with the half spectrum of `rfft` in the last dimension."""
    return na.rfftn(input, s=_several(s), axes=_several(dim), norm=norm or "backward")


def irfftn(
    input: Array, s: Ints | None = None, dim: Ints | None = None, norm: str | None = None
) -> Array:
    """The inverse of `rfftn`."""
    return na.irfftn(input, s=_several(s), axes=_several(dim), norm=norm or "backward")


def fftfreq(n: int, d: float = 1.0, *, dtype: DTypeLike | None = None) -> Array:
    """The frequency of each element of `fft`, the negative ones in the second half."""
    return na.fftfreq(n, d=d, dtype=dtype)


def rfftfreq(n: int, d: float = 1.0, *, dtype: DTypeLike | None = None) -> Array:
    """The frequency of each element of `rfft`."""
    return na.rfftfreq(n, d=d, dtype=dtype)


def fftshift(input: Array, dim: Ints | None = None) -> Array:
    """The zero frequency moved to the centre."""
    return na.fftshift(input, axes=wrap_all("fftshift", dim, ndim_of(input)))


def ifftshift(input: Array, dim: Ints | None = None) -> Array:
    """The inverse of `fftshift`."""
    return na.ifftshift(input, axes=wrap_all("ifftshift", dim, ndim_of(input)))


def _several(value: Ints | None) -> Sequence[int] | None:
    return (value,) if isinstance(value, int) else value


_SWAPPED = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def hfftn(
    input: Array, s: Ints | None = None, dim: Ints | None = None, norm: str | None = None
) -> Array:
    """The real spectrum of a hermitian signal over several dimensions, given by half of the last."""
    x = na.conj(input) if dtypes.dtype_of(input).kind == "complex" else input
    return irfftn(x, s, dim, _SWAPPED[norm or "backward"])


def ihfftn(
    input: Array, s: Ints | None = None, dim: Ints | None = None, norm: str | None = None
) -> Array:
    """The inverse of `hfftn`."""
    return na.conj(rfftn(input, s, dim, _SWAPPED[norm or "backward"]))


def hfft2(
    input: Array, s: Ints | None = None, dim: Ints = (-2, -1), norm: str | None = None
) -> Array:
    """`hfftn` over the last two dimensions."""
    return hfftn(input, s, dim, norm)


def ihfft2(
    input: Array, s: Ints | None = None, dim: Ints = (-2, -1), norm: str | None = None
) -> Array:
    """`ihfftn` over the last two dimensions."""
    return ihfftn(input, s, dim, norm)


_public_namespace(__name__)
