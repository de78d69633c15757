"""Arrays, dtypes and devices of TensorFlow."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import forwardprop_util, record

from nestarray import dtypes
from nestarray.backends import portable
from nestarray.config import current_device
from nestarray.dtypes import DType
from nestarray.errors import ArgumentError

NAME = "tensorflow"


def is_array_type(cls: type) -> bool:
    """Whether instances of `cls` are this backend's arrays."""
    return issubclass(cls, tf.Tensor | tf.Variable)


def native_dtype(dtype: Any) -> Any:
    """This framework's dtype for any spelling of a dtype."""
    return _NATIVE[dtypes.as_dtype(dtype)]


_NATIVE: dict[DType, Any] = {d: tf.as_dtype(d.name) for d in dtypes.ALL}


def is_watched(*arrays: Any) -> bool:
    """Whether a graph, a tape or a forward accumulator records operations on these tensors."""
    return (
        not tf.executing_eagerly()
        or record.should_record_backprop(arrays)
        or bool(forwardprop_util.pack_tangents(arrays).tangents)
    )


def on_device(device: Any) -> Any:
    """A context that creates tensors on `device`; for None, on the device of new arrays.

    Raises:
        ArgumentError: the device does not exist; TensorFlow would silently use another.
    """
    device = current_device(NAME) if device is None else device
    if device is None:
        return contextlib.nullcontext()
    have = tf.config.list_logical_devices()
    try:
        spec = tf.DeviceSpec.from_string(device) if isinstance(device, str) else device
        asked = f"{spec.device_type}:{spec.device_index or 0}"
        if spec.device_type is None or any(d.name.endswith(f":{asked}") for d in have):
            return tf.device(device)
    except (AttributeError, ValueError):  # not a device name
        pass
    raise ArgumentError(
        f"device: tensorflow has {', '.join(d.name.rpartition('/')[2] for d in have)}, "
        f"got {device!r}"
    )


def widest_float(x: Any) -> DType:
    """float64, or float32 for TFLite, whose operators lack float64."""
    return dtypes.float32 if portable.are_wanted() else dtypes.float64


def device_of(x: Any) -> str:
    """The name of the device of `x`."""
    name = str(x.device).rpartition("device:")[2].lower() or "cpu"
    return name.removesuffix(":0")


def devices() -> list[str]:
    """The names of all devices."""
    names = [d.name.split("/")[-1] for d in tf.config.list_logical_devices()]
    kinds = [name.removeprefix("device:").lower().removesuffix(":0") for name in names]
    return [kind for kind in kinds if not kind.startswith("xla")]


def to_device(x: Any, device: Any) -> Any:
    """`x` on `device`."""
    with on_device(device):
        return tf.identity(x)


def device_to_share(like: Any) -> Any:
    """The device for an array created from `like`; None for the framework's default."""
    return like.device or None


def from_numpy(x: np.ndarray, device: Any = None) -> Any:
    """This backend's array with the values of a NumPy array; shares memory if possible."""
    with on_device(device):
        return tf.convert_to_tensor(x)


def to_numpy(x: Any) -> np.ndarray:
    """A NumPy array with the values of `x`; shares memory if possible."""
    view = _host_view(for_dlpack(x)) if tf.executing_eagerly() else None
    return x.numpy() if view is None else view


def is_abstract(x: Any) -> bool:
    """Whether `x` has a shape and a dtype but no values."""
    return False


def is_traced(x: Any) -> bool:
    """Whether `x` represents an array in a function that is being traced."""
    return not (tf.executing_eagerly() if isinstance(x, tf.Variable) else hasattr(x, "numpy"))


def outside_of_traces() -> Any:
    """A context in which computation is not part of a traced tf.function."""
    return tf.init_scope()


def for_dlpack(x: Any) -> Any:
    """An object that exports the memory of `x` by DLPack; None if impossible."""
    return x.value() if isinstance(x, tf.Variable) else x


def from_dlpack(x: Any) -> Any:
    """An array over the memory of an object that exports DLPack; None if unsafe."""
    # Inside tf.function a constant must belong to the graph. Kernels crash on unaligned host
    # memory, which TensorFlow's import does not check.
    if not tf.executing_eagerly() or _is_misaligned(x):
        return None
    try:
        return tf.experimental.dlpack.from_dlpack(x.__dlpack__())
    except tf.errors.InvalidArgumentError:  # strides
        return None


_HOST, _ALIGNMENT = 1, 64  # kDLCPU in dlpack.h; EIGEN_MAX_ALIGN_BYTES


def _is_misaligned(x: Any) -> bool:
    for name in ("data_ptr", "unsafe_buffer_pointer"):  # torch, JAX
        if hasattr(x, name):
            return getattr(x, name)() % _ALIGNMENT != 0
    if isinstance(x, np.ndarray):
        return x.ctypes.data % _ALIGNMENT != 0
    return x.__dlpack_device__()[0] == _HOST


def copied(x: Any) -> Any:
    """A copy of `x` in new memory."""
    return tf.raw_ops.DeepCopy(x=x)  # tf.identity shares the memory


def address(x: Any) -> int | None:
    """The address of the memory of `x`; None if unknown."""
    host = _host_view(for_dlpack(x))
    return None if host is None else host.__array_interface__["data"][0]


def _host_view(x: Any) -> np.ndarray | None:
    """A read-only NumPy array over the memory of a tensor on the host."""
    bits = tf.bitcast(x, tf.uint16) if x.dtype is tf.bfloat16 else x
    try:
        view = np.from_dlpack(bits)
    except (RuntimeError, BufferError, AttributeError):  # on another device
        return None
    return view.view(x.dtype.as_numpy_dtype) if bits is not x else view


def why_constant(x: Any) -> str | None:
    """The kind of `x` for errors, if it cannot be written; else None."""
    return None if isinstance(x, tf.Variable) else "a tensor of TensorFlow, which is constant"


def write(x: Any, value: Any) -> None:
    """Replace the elements of `x` by those of `value`, of its shape and dtype."""
    x.assign(value)


def block_until_ready(x: Any) -> Any:
    """Wait until `x` is computed, and return it."""
    return x
