"""JAX: `nestarray.ops.fft`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from nestarray.backends.fourier import Transforms, full_lengths


def _number(x: Any) -> Any:
    is_wide = x.dtype in (jnp.float32, jnp.float64, jnp.complex64, jnp.complex128)
    return x if is_wide else x.astype(jnp.float32)


_transforms = Transforms(jnp.fft, _number)

fft = _transforms.along_one("fft")
ifft = _transforms.along_one("ifft")
rfft = _transforms.along_one("rfft", real="fft")
irfft = _transforms.from_half("irfft")
hfft = _transforms.from_half("hfft")
ihfft = _transforms.along_one("ihfft", real="ifft")
fftn = _transforms.along_several("fftn")
ifftn = _transforms.along_several("ifftn")
rfftn = _transforms.along_several("rfftn", real="fftn")
irfftn = _transforms.along_several("irfftn", full_lengths)
