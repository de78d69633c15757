"""Moving one array from one framework to another.

Memory is handed over, not copied, where both sides can: DLPack between JAX, PyTorch and
TensorFlow and from NumPy to them, NumPy's own protocols the other way, bit views for
bfloat16, which NumPy's DLPack lacks. Two arrays over one memory see each other's in-place
changes; ``copy=True`` keeps them apart. Whether memory is shared is found out by comparing
addresses afterwards, not predicted: alignment and strides decide it case by case.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from nestarray import backends, dtypes
from nestarray.errors import ArgumentError


def move(x: Any, backend: str, *, device: Any = None, copy: bool | None = None) -> Any:
    """The array `x` as an array of `backend`; a value that is no array comes back as it is.

    Args:
        x: array of any framework, or anything else.
        backend: the framework to hand it to.
        device: where it should be; None leaves it where it is, if `backend` has that device.
        copy: True always copies, False raises rather than copying, None copies if it must.

    Raises:
        DtypeError: `backend` has no such dtype.
        ArgumentError: ``copy=False`` and it would copy; or `x` has no values yet, because it
            is being traced.
    """
    source = backends.backend_of_type(type(x))
    if source is None:
        return x
    origin, target = backends.core(source), backends.core(backend)
    if source == backend:
        moved = x
    else:
        if origin.is_traced(x):
            raise ArgumentError(
                f"to_backend: x: got an array that {source} is tracing, which has no values yet; move "
                f"it to {backend} before the traced function is called"
            )
        target.native_dtype(dtypes.dtype_of(x))  # a dtype that the framework lacks raises here
        moved = _handed_over(x, origin, target)
    if device is not None:
        moved = target.to_device(moved, device)
    if copy is None:
        return moved
    shared = moved is x or _same_memory(x, moved, origin, target)
    if copy and shared is not False:
        return target.copied(moved)
    if not copy and shared is not True:
        raise ArgumentError(
            f"to_backend: copy=False, but moving this array from {source} to {backend} copies it; "
            "leave copy=None"
        )
    return moved


def _handed_over(x: Any, origin: ModuleType, target: ModuleType) -> Any:
    if target.NAME != "numpy" and not (origin.NAME == "numpy" and target.NAME == "torch"):
        exported = origin.for_dlpack(x)
        if exported is not None:
            try:
                moved = target.from_dlpack(exported)
            # Each framework refuses in its own words what it cannot take: strides, devices, flags.
            except (RuntimeError, BufferError, ValueError, TypeError):
                moved = None
            if moved is not None:
                return moved
    return target.from_numpy(origin.to_numpy(x))


def _same_memory(x: Any, y: Any, origin: ModuleType, target: ModuleType) -> bool | None:
    """Whether two arrays start at one address; None where a framework does not tell."""
    if np.prod(tuple(x.shape), dtype=int) == 0:
        return True
    first, second = origin.address(x), target.address(y)
    return None if first is None or second is None else first == second
