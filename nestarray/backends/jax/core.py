"""Arrays, dtypes and devices of JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from nestarray import dtypes
from nestarray.config import current_device
from nestarray.dtypes import DType
from nestarray.errors import ArgumentError, DtypeError

NAME = "jax"
_WIDE = (dtypes.float64, dtypes.int64, dtypes.uint64, dtypes.complex128)


def is_array_type(cls: type) -> bool:
    """Whether instances of `cls` are this backend's arrays."""
    return issubclass(cls, jax.Array | jax.core.Tracer)


def native_dtype(dtype: Any) -> Any:
    """This framework's dtype for any spelling of a dtype.

    Raises:
        DtypeError: a 64-bit floating type while JAX computes in 32 bits.
    """
    wanted = dtypes.as_dtype(dtype)
    if wanted in _WIDE and not jax.config.jax_enable_x64:
        if wanted.is_inexact:
            raise DtypeError(
                f"jax computes in 32 bits and has no {wanted.name} now. Call "
                'jax.config.update("jax_enable_x64", True) first, or ask for a 32-bit dtype'
            )
        return np.dtype(wanted.name.replace("64", "32"))
    return _NATIVE[wanted]


_NATIVE: dict[DType, Any] = {d: jnp.dtype(d.name) for d in dtypes.ALL}


def widest_float(x: Any) -> DType:
    """float64, or float32 where this framework or the device of `x` lacks float64."""
    return dtypes.float64 if jax.config.jax_enable_x64 else dtypes.float32


def find_device(device: Any) -> Any:
    """The jax.Device for a name such as ``"cpu"`` or ``"gpu:1"``; for None, of new arrays."""
    device = current_device(NAME) if device is None else device
    if device is None or not isinstance(device, str):
        return device
    platform, _, index = device.partition(":")
    try:
        return jax.devices({"cuda": "gpu"}.get(platform, platform))[int(index or 0)]
    except (RuntimeError, IndexError, ValueError) as error:
        have = ", ".join(f"{d.platform}:{d.id}" for d in jax.devices())
        raise ArgumentError(f"device: jax has {have}, got {device!r}") from error


def device_of(x: Any) -> str:
    """The name of the device of `x`; of the default one while JAX traces."""
    device = jax.devices()[0] if isinstance(x, jax.core.Tracer) else next(iter(x.devices()))
    return device.platform if device.id == 0 else f"{device.platform}:{device.id}"


def devices() -> list[str]:
    """The names of all devices."""
    return [d.platform if d.id == 0 else f"{d.platform}:{d.id}" for d in jax.devices()]


def to_device(x: Any, device: Any) -> Any:
    """`x` on `device`."""
    return jax.device_put(x, find_device(device))


def device_to_share(like: Any) -> Any:
    """The device for an array created from `like`; None for the framework's default."""
    # Only a committed array determines the device of new arrays; a tracer does not.
    if isinstance(like, jax.core.Tracer) or not getattr(like, "committed", False):
        return None
    return like.sharding if len(like.devices()) > 1 else next(iter(like.devices()))


def from_numpy(x: np.ndarray, device: Any = None) -> Any:
    """This backend's array with the values of a NumPy array: a copy, since JAX's arrays never change."""
    if x.dtype.name in ("float64", "complex128"):
        native_dtype(x.dtype)
    return jax.device_put(x, find_device(device), may_alias=False)


def to_numpy(x: Any) -> np.ndarray:
    """A NumPy array with the values of `x`; shares memory if possible."""
    return np.asarray(x)


def is_abstract(x: Any) -> bool:
    """Whether `x` has a shape and a dtype but no values."""
    return False


def is_traced(x: Any) -> bool:
    """Whether `x` represents an array in a function that is being traced."""
    return isinstance(x, jax.core.Tracer)


def outside_of_traces() -> Any:
    """A context in which computation is not traced."""
    # ensure_compile_time_eval would also evaluate in traces that begin in it
    return jax.core.eval_context()


def for_dlpack(x: Any) -> Any:
    """An object that exports the memory of `x` by DLPack; None if impossible."""
    return x if len(x.devices()) == 1 else None


def from_dlpack(x: Any) -> Any:
    """An array over the memory of an object that exports DLPack, or a copy; None if impossible.

    Arrays of the host go to the default device and stay uncommitted, like new arrays of JAX:
    DLPack commits arrays to their device, so a compiled step would commit all its outputs (an
    optimizer's count) and compile a second time; on a GPU, everything would run on the host.
    """
    if x.__dlpack_device__()[0] != _HOST:
        return jax.dlpack.from_dlpack(x)
    try:
        view = np.from_dlpack(x)
    except (RuntimeError, BufferError):  # NumPy lacks the dtype; BufferError since 2.5
        return jax.dlpack.from_dlpack(x) if jax.default_backend() == "cpu" else None
    if not view.flags.c_contiguous:
        return None
    with outside_of_traces():
        return jax.device_put(view, find_device(None))


_HOST = 1  # kDLCPU in dlpack.h


def copied(x: Any) -> Any:
    """A copy of `x` in new memory."""
    return jnp.array(x, copy=True)


def address(x: Any) -> int | None:
    """The address of the memory of `x`; None if unknown."""
    return x.unsafe_buffer_pointer() if len(x.devices()) == 1 else None


def why_constant(x: Any) -> str | None:
    """The kind of `x` for errors, if it cannot be written; else None."""
    return "an array of JAX, which is constant"


def block_until_ready(x: Any) -> Any:
    """Wait until `x` is computed, and return it."""
    return jax.block_until_ready(x)


def undecided_size() -> type[Exception]:
    """The exception for a comparison of open sizes that JAX cannot decide."""
    name = "InconclusiveDimensionOperation"
    home: Any = jax.errors if hasattr(jax.errors, name) else jax.core  # before JAX 0.9
    return getattr(home, name)
