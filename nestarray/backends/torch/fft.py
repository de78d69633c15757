"""PyTorch: `nestarray.ops.fft`."""

from __future__ import annotations

from typing import Any

import torch

from nestarray.backends.fourier import Transforms
from nestarray.numerics.fourier import full_lengths

_REAL = (torch.float32, torch.float64)
_COMPLEX = (torch.complex64, torch.complex128)


def _number(x: Any) -> Any:
    return x if x.dtype in (*_REAL, *_COMPLEX) else x.to(torch.float32)


def _of_nothing_too(native: Any) -> Any:
    """`native`, which rejects empty arrays: the shape comes from an array with elements."""

    def transform(x: Any, *, dim: Any, **settings: Any) -> Any:
        if x.numel():
            return native(x, dim=dim, **settings)
        dims = [d % x.ndim for d in ([dim] if isinstance(dim, int) else dim)]
        result = native(x.new_zeros([max(n, 1) for n in x.shape]), dim=dim, **settings)
        return result[tuple(slice(None if d in dims else n) for d, n in enumerate(x.shape))]

    return transform


_transforms = Transforms(
    torch.fft, _number, axis="dim", axes="dim", real_dtypes=_REAL, complex_dtypes=_COMPLEX,
    adapted=_of_nothing_too,
)  # fmt: skip

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
