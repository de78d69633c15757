"""Transfer of an array from one framework to another.

Arrays share memory where both frameworks support it: by DLPack between JAX, PyTorch and TensorFlow
and from NumPy to them, by NumPy's protocols in the other direction, by bit views for bfloat16,
which NumPy's DLPack lacks. Arrays that share memory see each other's in-place changes;
``copy=True`` prevents this. A comparison of addresses afterwards decides whether memory is shared,
because it depends on alignment and strides.
"""

from __future__ import annotations

from contextlib import nullcontext
from types import ModuleType
from typing import Any

import numpy as np

from nestarray import backends, dtypes
from nestarray.config import use_backend
from nestarray.errors import ArgumentError


def move(x: Any, backend: str, *, device: Any = None, copy: bool | None = None) -> Any:
    """The array `x` as an array of `backend`; other values are returned unchanged.

    A typed key of JAX becomes its words.

    Args:
        x: array of any framework, or anything else.
        backend: the target framework.
        device: the target device; None: the accelerator of `x`, if `backend` has it; for an array
            of the host, the device on which `backend` creates arrays.
        copy: True always copies, False never copies, None copies if necessary.

    Raises:
        DtypeError: `backend` lacks the dtype.
        ArgumentError: ``copy=False`` and a copy is necessary; or `x` is traced and has no values.
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
        if dtypes.is_key(x):
            x = backends.chapter("jax", "keys").words_of(x)
        target.native_dtype(dtypes.dtype_of(x))  # raises for a missing dtype
        place = use_backend(backend, device=device) if device is not None else nullcontext()
        with place:
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
    if hasattr(target, "from_dlpack") and (origin.NAME, target.NAME) != ("numpy", "torch"):
        exported = origin.for_dlpack(x)
        if exported is not None:
            try:
                moved = target.from_dlpack(exported)
            # Each framework rejects other strides, devices and flags by its own exception.
            except (RuntimeError, BufferError, ValueError, TypeError):
                moved = None
            if moved is not None:
                return moved
    return target.from_numpy(origin.to_numpy(x))


def _same_memory(x: Any, y: Any, origin: ModuleType, target: ModuleType) -> bool | None:
    """Whether two arrays start at one address; None if unknown."""
    if np.prod(tuple(x.shape), dtype=int) == 0:
        return True
    first, second = origin.address(x), target.address(y)
    return None if first is None or second is None else first == second
