"""NumPy: `nestarray.ops.fft`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

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
    return np.fft.fftn(_number(x), s=lengths, axes=places, norm=norm)


def ifftn(
    x: Any,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
) -> Any:
    lengths, places = checked("ifftn", x.shape, s, axes, norm)
    return np.fft.ifftn(_number(x), s=lengths, axes=places, norm=norm)


def _number(x: Any) -> Any:
    # NumPy would compute integers and float16 in double precision
    return x.astype(np.float32) if x.dtype.kind in "biu" or x.dtype.itemsize < 4 else x
