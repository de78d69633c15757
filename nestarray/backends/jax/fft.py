"""JAX: `nestarray.ops.fft`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from nestarray.backends.fourier import checked


def fftn(
    x: Any,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
) -> Any:
    lengths, places = checked("fftn", x.shape, s, axes, norm)
    return jnp.fft.fftn(_number(x), s=lengths, axes=places, norm=norm)


def ifftn(
    x: Any,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
) -> Any:
    lengths, places = checked("ifftn", x.shape, s, axes, norm)
    return jnp.fft.ifftn(_number(x), s=lengths, axes=places, norm=norm)


def _number(x: Any) -> Any:
    is_wide = x.dtype in (jnp.float32, jnp.float64, jnp.complex64, jnp.complex128)
    return x if is_wide else x.astype(jnp.float32)
