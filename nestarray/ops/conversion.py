"""Arrays from other data: numbers and lists, and the memory of other libraries."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray import backends, dtypes, ops
from nestarray.backends.transfer import move
from nestarray.config import current_backend
from nestarray.container import Container
from nestarray.dispatch import op
from nestarray.dynamo import is_compiling
from nestarray.errors import ArgumentError
from nestarray.typing import NUMBERS, Array, DTypeLike

__all__ = ["asarray", "from_dlpack", "from_numpy"]


@op
def asarray(
    obj: Any,
    /,
    *,
    dtype: DTypeLike | None = None,
    device: Any = None,
    copy: bool | None = None,
    like: Array | None = None,
) -> Array:
    """Convert `obj` to an array.

    Numbers, lists of them, NumPy arrays and objects with the buffer protocol become arrays of
    the backend of `like`, or of the default backend. An array of JAX, PyTorch or TensorFlow
    stays in its framework unless `like` is given. Each leaf of a Container is converted.

    Args:
        obj: number, nested lists of numbers or of arrays, an array or a Container.
        dtype: None uses the dtype of `obj`; Python numbers give bool, int64 (int32 on JAX
            without x64), float32 or complex64.
        device: the device; None means the device of `like`, or of the data.
        copy: True always copies, False raises if a copy is needed, None copies if needed.
        like: an array whose framework and device to use.

    Returns:
        array of the shape of the data.

    Raises:
        ArgumentError: `obj` contains other objects than numbers, or ``copy=False`` and a copy is
            needed.
        DtypeError: the framework has no such dtype.

    Example:
        >>> import nestarray as na
        >>> na.asarray([1.0, 2.0])
        array([1., 2.], dtype=float32)

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.asarray.html
    """
    if isinstance(obj, Container):
        return obj.map(lambda x: asarray(x, dtype=dtype, device=device, copy=copy, like=like))
    own = backends.backend_of_type(type(obj))
    if _is_stand_in(obj):
        if dtype is not None:
            return ops.astype(obj, dtype, copy=copy is not False)
        can_change = copy and hasattr(obj, "__copy__")
        return obj.__copy__() if can_change else obj
    if like is not None:
        target = backends.backend_of(like)
    else:
        target = own if own not in (None, "numpy") else current_backend()
    core = backends.core(target)
    if own is None:
        if is_compiling() and type(obj) in NUMBERS:  # it reads no dtypes of NumPy's arrays
            return ops.full((), obj, dtype=dtype, device=device, like=like)
        if isinstance(obj, (list, tuple)) and (is_compiling() or _holds_framework_arrays(obj)):
            parts = [asarray(x, dtype=dtype, like=like) for x in obj]
            return ops.stack(parts)
        if copy is False:
            raise ArgumentError(
                f"asarray: copy=False, but {type(obj).__name__} has no memory that an array could share"
            )
        obj, own, copy = _host_array(obj, dtype), "numpy", None
    if own == "numpy" and dtype is not None and copy is not False:
        # Cast on the host first: a framework may lack the dtype of the data, but not the requested one.
        obj = np.asarray(obj).astype(backends.core("numpy").native_dtype(dtype), copy=False)
    if device is None and like is not None and own != target:
        device = core.device_to_share(like)
    x = move(obj, target, device=device, copy=copy)
    if dtype is None or dtypes.dtype_of(x) is dtypes.as_dtype(core.native_dtype(dtype)):
        return x
    if copy is False:
        raise ArgumentError(
            f"asarray: copy=False, but casting {dtypes.dtype_of(x)} to {dtypes.as_dtype(dtype)} copies"
        )
    return ops.astype(x, dtype, copy=False)


def _holds_framework_arrays(obj: Any) -> bool:
    if isinstance(obj, (list, tuple)):
        return any(_holds_framework_arrays(x) for x in obj)
    return backends.backend_of_value(obj) not in (None, "numpy") or _is_stand_in(obj)


def _is_stand_in(obj: Any) -> bool:
    """Whether `obj` is a traced or differentiated array of the recorder or of NumPy's autodiff."""
    is_recorded = not backends.is_array(obj) and backends.backend_of_value(obj) is not None
    return is_recorded or backends.core("numpy").stands_in(obj)


def _host_array(obj: Any, dtype: Any) -> np.ndarray:
    """A NumPy array of Python numbers or sequences, with the default dtypes."""
    if _hides_elements(obj):
        raise ArgumentError(
            "asarray: obj: got a masked array that hides elements, expected all of them; pass "
            "x.filled(value), or x.data and x.mask as two arrays"
        )
    try:
        host = np.asarray(obj)
    except ValueError as error:
        raise ArgumentError(
            f"asarray: obj: the lists in it have different lengths ({error})"
        ) from error
    if host.dtype.kind not in "biufcV":
        raise ArgumentError(
            f"asarray: obj: got {type(obj).__name__} of {host.dtype}, expected numbers"
        )
    if dtype is None and _is_python(obj):
        if host.dtype.kind == "f":
            return host.astype(np.float32)
        if host.dtype.kind == "c":
            return host.astype(np.complex64)
    return host


def _hides_elements(obj: Any) -> bool:
    """Whether elements of `obj` are behind a mask of ``numpy.ma``, which an array does not have."""
    if isinstance(obj, (list, tuple)):
        return not set(map(type, obj)).issubset(NUMBERS) and any(map(_hides_elements, obj))
    return backends.core("numpy").is_masked(type(obj)) and bool(np.any(obj.mask))


def _is_python(obj: Any) -> bool:
    if isinstance(obj, (list, tuple)):
        return all(_is_python(x) for x in obj)
    return type(obj) in NUMBERS


@op
def from_dlpack(
    x: Any, /, *, device: Any = None, copy: bool | None = None, like: Array | None = None
) -> Array:
    """An array that shares the memory of an object that exports DLPack.

    Args:
        x: object with ``__dlpack__`` and ``__dlpack_device__``.
        device: the device; None keeps the device of `x`.
        copy: True always copies, False raises if a copy is needed, None copies if needed.
        like: an array whose framework to use; None means the default backend.

    Returns:
        array of the shape, dtype and values of `x`.

    Raises:
        ArgumentError: `x` does not export DLPack, or ``copy=False`` and a copy is needed.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.from_dlpack(np.asarray([1, 2]))
        array([1, 2])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.from_dlpack.html
    """
    if not hasattr(x, "__dlpack__"):
        raise ArgumentError(
            f"from_dlpack: x: got {type(x).__name__}, expected an object with __dlpack__; "
            "na.asarray takes other data"
        )
    if _is_stand_in(x):
        return x
    target = current_backend() if like is None else backends.backend_of(like)
    if not backends.is_array(x):
        x = np.from_dlpack(x)
    return move(x, target, device=device, copy=copy)


@op
def from_numpy(x: Any, /, *, device: Any = None, like: Array | None = None) -> Array:
    """Convert a NumPy array to an array of the default backend, or of the backend of `like`.

    Unlike `asarray`, it accepts NumPy arrays only: a list or an array of another framework raises.

    Args:
        x: array or scalar of NumPy.
        device: the device; None means the device of `like`, or the framework's default.
        like: an array whose framework and device to use.

    Returns:
        array of the shape, dtype and values of `x`, over its memory where the framework
        can share it.

    Raises:
        ArgumentError: `x` is not of NumPy.

    Example:
        >>> import numpy as np, nestarray as na
        >>> with na.use_backend("torch"):
        ...     na.from_numpy(np.asarray([1, 2]))
        tensor([1, 2])
    """
    if isinstance(x, Container):
        return x.map(lambda leaf: from_numpy(leaf, device=device, like=like))
    if _is_stand_in(x):
        return x
    if not isinstance(x, (np.ndarray, np.generic)):
        raise ArgumentError(
            f"from_numpy: x: got {type(x).__name__}, expected a NumPy array; na.asarray takes "
            "other data"
        )
    return ops.asarray(x, device=device, like=like)
