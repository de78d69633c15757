"""Arrays, dtypes and devices of TensorFlow."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import tensorflow as tf

from nestarray import dtypes
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


def on_device(device: Any) -> Any:
    """A context in which tensors are made on `device`."""
    if device is None:
        return contextlib.nullcontext()
    return tf.device(device)


def device_of(x: Any) -> str:
    """The name of the device that `x` is on."""
    name = str(x.device).rpartition("device:")[2].lower() or "cpu"
    return name.removesuffix(":0")


def to_device(x: Any, device: Any) -> Any:
    """`x` on `device`."""
    try:
        with on_device(device):
            return tf.identity(x)
    except (tf.errors.InvalidArgumentError, ValueError) as error:
        have = ", ".join(d.name.rpartition("/")[2] for d in tf.config.list_logical_devices())
        raise ArgumentError(f"device: tensorflow has {have}, got {device!r}") from error


def device_to_share(like: Any) -> Any:
    """Where an array made beside `like` belongs; None for the framework's default place."""
    return like.device or None


def from_numpy(x: np.ndarray, device: Any = None) -> Any:
    """This backend's array with the values of a NumPy array; shares memory where it can."""
    with on_device(device):
        return tf.convert_to_tensor(x)


def to_numpy(x: Any) -> np.ndarray:
    """A NumPy array with the values of `x`; shares memory where it can."""
    return x.numpy()


def block_until_ready(x: Any) -> Any:
    """Wait until `x` is computed, and return it."""
    return x
