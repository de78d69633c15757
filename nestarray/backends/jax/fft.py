"""JAX: `nestarray.ops.fft`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp

from nestarray.backends.fourier import (
    check_real,
    check_some_axis,
    checked,
    full_length,
    full_lengths,
    one_length,
)

_Function = Callable[..., Any]


def _along_one(name: str, *, real: str = "") -> _Function:
    """A transform along one axis; `real` names the one for complex numbers, where it takes none."""
    native = getattr(jnp.fft, name)

    def call(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
        length, _ = one_length(name, x.shape, n, axis, norm)
        if real:
            check_real(name, x, real)
        return native(_number(x), n=length, axis=axis, norm=norm)

    return call


def _from_half(name: str) -> _Function:
    """A transform of a half spectrum along one axis."""
    native = getattr(jnp.fft, name)

    def call(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
        length = full_length(name, x.shape, n, axis, norm)
        return native(_number(x), n=length, axis=axis, norm=norm)

    return call


def _along_several(name: str, read: _Function = checked, *, real: str = "") -> _Function:
    """A transform along several axes, whose lengths `read` finds."""
    native = getattr(jnp.fft, name)

    def call(
        x: Any,
        /,
        *,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        norm: str = "backward",
    ) -> Any:
        lengths, places = read(name, x.shape, s, axes, norm)
        if real:
            check_real(name, x, real)
            check_some_axis(name, places)
        return native(_number(x), s=lengths, axes=places, norm=norm)

    return call


def _number(x: Any) -> Any:
    is_wide = x.dtype in (jnp.float32, jnp.float64, jnp.complex64, jnp.complex128)
    return x if is_wide else x.astype(jnp.float32)


fft = _along_one("fft")
ifft = _along_one("ifft")
rfft = _along_one("rfft", real="fft")
irfft = _from_half("irfft")
hfft = _from_half("hfft")
ihfft = _along_one("ihfft", real="ifft")
fftn = _along_several("fftn")
ifftn = _along_several("ifftn")
rfftn = _along_several("rfftn", real="fftn")
irfftn = _along_several("irfftn", full_lengths)
