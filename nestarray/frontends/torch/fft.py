"""torch.fft, https://docs.pytorch.org/docs/stable/fft.html."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

import nestarray as na
from nestarray import dtypes
from nestarray.frontends.torch.dims import ndim_of, shape_of, wrap, wrap_all
from nestarray.frontends.torch.promotion import cast
from nestarray.frontends.torch.shaping import roll
from nestarray.typing import Array, DTypeLike

Ints = int | Sequence[int]


def fft(input: Array, n: int | None = None, dim: int = -1, norm: str | None = None) -> Array:
    """The discrete Fourier transform along a dimension, cut or filled to length `n`."""
    return fftn(input, None if n is None else (n,), (dim,), norm)


def ifft(input: Array, n: int | None = None, dim: int = -1, norm: str | None = None) -> Array:
    """The inverse of `fft`."""
    return ifftn(input, None if n is None else (n,), (dim,), norm)


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


def fftn(
    input: Array, s: Ints | None = None, dim: Ints | None = None, norm: str | None = None
) -> Array:
    """The discrete Fourier transform over several dimensions, all if `dim` is None."""
    lengths, axes = _settings("fftn", input, s, dim)
    return na.fftn(input, s=lengths, axes=axes, norm=norm or "backward")


def ifftn(
    input: Array, s: Ints | None = None, dim: Ints | None = None, norm: str | None = None
) -> Array:
    """The inverse of `fftn`."""
    lengths, axes = _settings("ifftn", input, s, dim)
    return na.ifftn(input, s=lengths, axes=axes, norm=norm or "backward")


def rfft(input: Array, n: int | None = None, dim: int = -1, norm: str | None = None) -> Array:
    """`fft` of real numbers, without the half that is the conjugate of the other."""
    return _half(fft(input, n, dim, norm), dim)


def rfft2(
    input: Array, s: Ints | None = None, dim: Ints = (-2, -1), norm: str | None = None
) -> Array:
    """`fft2` of real numbers, the last dimension halved as in `rfft`."""
    return rfftn(input, s, dim, norm)


def rfftn(
    input: Array, s: Ints | None = None, dim: Ints | None = None, norm: str | None = None
) -> Array:
    """`fftn` of real numbers, the last dimension halved as in `rfft`."""
    axes = _settings("rfftn", input, s, dim)[1]
    return _half(fftn(input, s, dim, norm), axes[-1])


def irfft(input: Array, n: int | None = None, dim: int = -1, norm: str | None = None) -> Array:
    """The inverse of `rfft`, of length `n` (an even one unless told otherwise)."""
    axis = wrap("irfft", dim, ndim_of(input))
    half = shape_of(input)[axis]
    size = 2 * (half - 1) if n is None else n
    kept = size // 2 + 1
    wide = dtypes.complex128 if _is_double(input) else dtypes.complex64
    x = cast(input, wide)
    if kept > half:
        margins = [(0, kept - half if a == axis else 0) for a in range(ndim_of(x))]
        x = na.pad(x, margins)
    before = (builtins.slice(None),) * axis
    x = na.getitem(x, (*before, builtins.slice(0, kept)))
    mirrored = na.getitem(x, (*before, builtins.slice(1, size - kept + 1)))
    # The first element and, for an even length, the middle one are read as real numbers.
    whole = na.concat([x, na.conj(na.flip(mirrored, axis=axis))], axis=axis)
    return na.real(na.ifftn(whole, axes=(axis,), norm=norm or "backward"))


def fftfreq(n: int, d: float = 1.0, *, dtype: DTypeLike | None = None) -> Array:
    """The frequency of each element of `fft`, the negative ones in the second half."""
    places = [*range((n + 1) // 2), *range(-(n // 2), 0)]
    return na.asarray([p / (n * d) for p in places], dtype=dtype or dtypes.float32)


def rfftfreq(n: int, d: float = 1.0, *, dtype: DTypeLike | None = None) -> Array:
    """The frequency of each element of `rfft`."""
    return na.asarray([p / (n * d) for p in range(n // 2 + 1)], dtype=dtype or dtypes.float32)


def fftshift(input: Array, dim: Ints | None = None) -> Array:
    """The zero frequency moved to the centre."""
    axes = wrap_all("fftshift", dim, ndim_of(input))
    return roll(input, [shape_of(input)[a] // 2 for a in axes], axes)


def ifftshift(input: Array, dim: Ints | None = None) -> Array:
    """The inverse of `fftshift`."""
    axes = wrap_all("ifftshift", dim, ndim_of(input))
    return roll(input, [(shape_of(input)[a] + 1) // 2 for a in axes], axes)


def _settings(
    name: str, x: Array, s: Ints | None, dim: Ints | None
) -> tuple[tuple[int, ...] | None, tuple[int, ...]]:
    lengths = None if s is None else (s,) if isinstance(s, int) else tuple(s)
    if dim is None and lengths is not None:
        axes = tuple(range(ndim_of(x) - len(lengths), ndim_of(x)))
    else:
        axes = wrap_all(name, dim, ndim_of(x))
    if lengths is not None:  # −1 keeps a length
        lengths = tuple(shape_of(x)[a] if n == -1 else n for n, a in zip(lengths, axes))
    return lengths, axes


def _half(x: Array, dim: int) -> Array:
    axis = wrap("rfft", dim, ndim_of(x))
    kept = builtins.slice(0, shape_of(x)[axis] // 2 + 1)
    return na.getitem(x, (builtins.slice(None),) * axis + (kept,))


def _is_double(x: Array) -> bool:
    return dtypes.dtype_of(x) in (dtypes.float64, dtypes.complex128)
