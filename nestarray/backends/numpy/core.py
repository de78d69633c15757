"""Arrays, dtypes and devices of NumPy."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from nestarray import dtypes
from nestarray.dtypes import DType
from nestarray.errors import ArgumentError, DtypeError

NAME = "numpy"

#: The types of arrays whose derivative is being taken; `transforms.autodiff` adds them.
STAND_INS: list[type] = []


def is_array_type(cls: type) -> bool:
    """Whether instances of `cls` are this backend's arrays; masked arrays are not: see
    `is_masked`."""
    return issubclass(cls, (np.ndarray, np.generic, *STAND_INS)) and not is_masked(cls)


def stands_in(x: Any) -> bool:
    """Whether `x` is an array whose derivative is being taken."""
    return isinstance(x, tuple(STAND_INS))


def native_dtype(dtype: Any) -> Any:
    """This framework's dtype for any spelling of a dtype."""
    return _NATIVE[dtypes.as_dtype(dtype)]


class _Native(dict[DType, Any]):
    def __missing__(self, dtype: DType) -> Any:
        if dtype is dtypes.bfloat16:  # ml_dtypes comes with JAX and TensorFlow
            try:
                import ml_dtypes
            except ImportError as error:
                raise DtypeError(
                    "numpy has no bfloat16 of its own; install ml_dtypes "
                    "(pip install 'nestarray[storage]'), or use float32"
                ) from error
            native = np.dtype(ml_dtypes.bfloat16)
        else:
            native = np.dtype(dtype.name)
        self[dtype] = native
        return native


_NATIVE = _Native()
#: A set of dtypes: membership takes half the time of ``dtype.kind``.
PRECISE = frozenset(map(np.dtype, "fdFD"))


def in_dtype(x: Any, dtype: Any) -> Any:
    """`x` cast to NumPy's `dtype`; many functions return float32 for ml_dtypes' bfloat16."""
    return x if x.dtype is dtype else x.astype(dtype)


def check_device(device: Any) -> str | None:
    """`device` if this backend has it."""
    if device not in (None, "cpu"):
        raise ArgumentError(f"device: numpy has 'cpu' only, got {device!r}")
    return device


def widest_float(x: Any) -> DType:
    """float64, or float32 where this framework or the device of `x` lacks float64."""
    return dtypes.float64


def device_of(x: Any) -> str:
    """The name of the device of `x`."""
    return "cpu"


def devices() -> list[str]:
    """The names of all devices."""
    return ["cpu"]


def to_device(x: Any, device: Any) -> Any:
    """`x` on `device`."""
    check_device(device)
    return x


def device_to_share(like: Any) -> Any:
    """The device for an array created from `like`; None for the framework's default."""
    return None


def from_numpy(x: np.ndarray, device: Any = None) -> Any:
    """This backend's array with the values of a NumPy array; shares memory if possible."""
    check_device(device)
    return x


def to_numpy(x: Any) -> np.ndarray:
    """A NumPy array with the values of `x`; shares memory if possible."""
    x = np.asarray(x)
    return x if x.dtype.isnative else x.astype(x.dtype.newbyteorder("="))


def is_masked(cls: type) -> bool:
    """Whether `cls` is a class of ``numpy.ma``; some NumPy functions silently drop its masks."""
    masked = sys.modules.get("numpy.ma")
    return masked is not None and issubclass(cls, masked.MaskedArray)


def is_abstract(x: Any) -> bool:
    """Whether `x` has a shape and a dtype but no values."""
    return False


def is_traced(x: Any) -> bool:
    """Whether `x` represents an array in a function that is being traced."""
    return False


def for_dlpack(x: Any) -> Any:
    """An object that exports the memory of `x` by DLPack; None if impossible."""
    return np.asarray(x) if x.dtype.isnative and x.dtype.kind != "V" else None


def copied(x: Any) -> Any:
    """A copy of `x` in new memory."""
    return np.array(x)


def address(x: Any) -> int | None:
    """The address of the memory of `x`; None if unknown."""
    return np.asarray(x).__array_interface__["data"][0]


def why_constant(x: Any) -> str | None:
    """The kind of `x` for errors, if it cannot be written; else None."""
    if not isinstance(x, np.ndarray):
        return "a scalar of NumPy, which is constant"
    return None if x.flags.writeable else "a read-only array of NumPy"


def write(x: Any, value: Any) -> None:
    """Replace the elements of `x` by those of `value`, of its shape and dtype."""
    np.copyto(x, value)


def block_until_ready(x: Any) -> Any:
    """Wait until `x` is computed, and return it."""
    return x
