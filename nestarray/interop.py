"""Moving one array from one framework to another."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray import backends
from nestarray.errors import ArgumentError


def move(x: Any, backend: str, *, device: Any = None, copy: bool | None = None) -> Any:
    """The array `x` as an array of `backend`; a value that is no array comes back as it is."""
    source = backends.backend_of_type(type(x))
    if source is None:
        return x
    if source == backend:
        moved = x if device is None else backends.core(backend).to_device(x, device)
        return _copied(moved, backend) if copy and moved is x else moved
    target = backends.core(backend)
    host = backends.core(source).to_numpy(x)
    if copy:
        host = host.copy()
    moved = target.from_numpy(host, device)
    if copy is False and not _shares(host, moved, backend):
        raise ArgumentError(
            f"to_backend: copy=False, but moving this array from {source} to {backend} copies it; "
            "leave copy=None"
        )
    return moved


def _copied(x: Any, backend: str) -> Any:
    core = backends.core(backend)
    return core.from_numpy(np.array(core.to_numpy(x)))


def _shares(host: np.ndarray, moved: Any, backend: str) -> bool:
    back = backends.core(backend).to_numpy(moved)
    return host.size == 0 or bool(np.shares_memory(host, back))
