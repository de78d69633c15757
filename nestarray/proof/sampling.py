"""Random inputs of the same kind as an example: ids stay ids, masks stay masks."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray import backends, dtypes, ops


def drawn_like(example: Any, rng: np.random.Generator) -> Any:
    """An array of the example's framework, shape, dtype and range.

    Booleans are true as often as in the example, integers uniform between its smallest
    and its largest, floating numbers normal with its mean and its deviation and within its
    bounds. Of an example of one or two values (a mask as numbers), and of one with
    infinities (a mask to be added), each element is one of the example's own. Complex
    numbers are drawn part by part.

    Args:
        example: array of any framework.
        rng: where the randomness comes from.
    """
    backend = backends.backend_of(example)
    dtype = dtypes.dtype_of(example)
    host = backends.core(backend).to_numpy(example)
    if dtype.is_floating:
        host = host.astype(np.float64)
    moved = ops.to_backend(np.asarray(_drawn(host, rng)), backend)
    return ops.astype(moved, dtype)


def _drawn(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    if x.size == 0:
        return x
    if x.dtype.kind == "c":
        return (_drawn(np.real(x), rng) + 1j * _drawn(np.imag(x), rng)).astype(x.dtype)
    low, high = x.min(), x.max()
    if x.dtype.kind == "b" or not np.isfinite(x).all() or not ((low < x) & (x < high)).any():
        return rng.choice(x.reshape(-1), size=x.shape)
    if x.dtype.kind in "iu":
        return rng.integers(low, high, size=x.shape, dtype=x.dtype, endpoint=True)
    return np.clip(rng.normal(x.mean(), x.std(), size=x.shape), low, high)
