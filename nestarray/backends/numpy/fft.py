"""NumPy: `nestarray.ops.fft`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nestarray.backends.fourier import Transforms
from nestarray.numerics.fourier import full_lengths


def _number(x: Any) -> Any:
    # NumPy computes integers and float16 in double precision
    return x.astype(np.float32) if x.dtype.kind in "biu" or x.dtype.itemsize < 4 else x


def _of_nothing_too(native: Callable[..., Any]) -> Callable[..., Any]:
    """`native`, which returns uninitialized memory for an empty transform."""

    def transform(x: Any, **settings: Any) -> Any:
        if x.size:
            return native(x, **settings)
        with np.errstate(all="ignore"):
            return np.zeros_like(native(x, **settings))

    return transform


_transforms = Transforms(
    np.fft,
    _number,
    real_dtypes=[np.dtype("float32"), np.dtype("float64")],
    complex_dtypes=[np.dtype("complex64"), np.dtype("complex128")],
    adapted=_of_nothing_too,
)

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
