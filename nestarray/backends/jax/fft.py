"""JAX: `nestarray.ops.fft`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from nestarray.backends.fourier import Transforms
from nestarray.backends.jax.compiled import compiled
from nestarray.numerics.fourier import full_lengths


def _number(x: Any) -> Any:
    is_wide = x.dtype in (jnp.float32, jnp.float64, jnp.complex64, jnp.complex128)
    return x if is_wide else x.astype(jnp.float32)


_transforms = Transforms(jnp.fft, _number)

fft = compiled(_transforms.along_one("fft"))
ifft = compiled(_transforms.along_one("ifft"))
rfft = compiled(_transforms.along_one("rfft", real="fft"))
irfft = compiled(_transforms.from_half("irfft"))
hfft = compiled(_transforms.from_half("hfft"))
ihfft = compiled(_transforms.along_one("ihfft", real="ifft"))
fftn = compiled(_transforms.along_several("fftn"))
ifftn = compiled(_transforms.along_several("ifftn"))
rfftn = compiled(_transforms.along_several("rfftn", real="fftn"))
irfftn = compiled(_transforms.along_several("irfftn", full_lengths))
