"""Arrays, dtypes and devices of PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch._C import _functorch
from torch._subclasses.fake_tensor import FakeTensor

from nestarray import dtypes
from nestarray.config import current_device
from nestarray.dtypes import DType
from nestarray.dynamo import is_compiling
from nestarray.errors import ArgumentError

NAME = "torch"


def is_array_type(cls: type) -> bool:
    """Whether instances of `cls` are this backend's arrays."""
    return issubclass(cls, torch.Tensor)


def native_dtype(dtype: Any) -> torch.dtype:
    """This framework's dtype for any spelling of a dtype."""
    return _NATIVE[dtypes.as_dtype(dtype)]


_NATIVE: dict[DType, torch.dtype] = {d: getattr(torch, d.name) for d in dtypes.ALL}
#: Sets of dtypes: membership is faster than methods of an array.
FLOATING = frozenset(d for d in _NATIVE.values() if d.is_floating_point)
PRECISE = frozenset((torch.float32, torch.float64, torch.complex64, torch.complex128))
INEXACT = FLOATING.union(d for d in _NATIVE.values() if d.is_complex)

for _dtype in _NATIVE.values():
    dtypes.as_dtype(_dtype)  # cached before torch.compile traces a lookup


def widest_float(x: Any) -> DType:
    """float64, or float32 where this framework or the device of `x` lacks float64."""
    return dtypes.float32 if str(x.device).startswith("mps") else dtypes.float64


def find_device(device: Any) -> Any:
    """The torch.device for a name such as ``"cpu"`` or ``"cuda:1"``; for None, of new arrays."""
    if device is None:
        device = current_device(NAME)
        if device is None:
            return None
    try:
        found = torch.device(
            {"gpu": "cuda"}.get(device, device) if isinstance(device, str) else device
        )
    except RuntimeError as error:
        raise ArgumentError(
            f"device: got {device!r}, which torch does not know ({error})"
        ) from error
    if found.type == "cpu" and found.index:
        raise ArgumentError(f"device: torch has one cpu, got {device!r}")
    return found


def device_of(x: Any) -> str:
    """The name of the device of `x`."""
    return str(x.device)


def devices() -> list[str]:
    """The names of all devices."""
    if not torch.accelerator.is_available():
        return ["cpu"]
    kind = torch.accelerator.current_accelerator()
    return ["cpu", *(f"{kind}:{i}" for i in range(torch.accelerator.device_count()))]


def to_device(x: Any, device: Any) -> Any:
    """`x` on `device`."""
    return x.to(find_device(device))


def device_to_share(like: Any) -> Any:
    """The device for an array created from `like`; None for the framework's default."""
    return like.device


def from_numpy(x: np.ndarray, device: Any = None) -> Any:
    """This backend's array with the values of a NumPy array; shares memory if possible."""
    if is_compiling():  # torch.compile represents NumPy arrays by tensors
        tensor, place = torch.from_numpy(x), find_device(device)
        return tensor if place is None else tensor.to(place)
    x = np.asarray(x)
    if not x.dtype.isnative:
        x = x.astype(x.dtype.newbyteorder("="))
    if not x.flags.writeable or any(s < 0 for s in x.strides):
        x = x.copy()
    if x.dtype.name == "bfloat16":
        tensor = torch.from_numpy(x.view(np.int16)).view(torch.bfloat16)
    else:
        tensor = torch.from_numpy(x)
    place = find_device(device)
    return tensor if place is None else tensor.to(place)


def to_numpy(x: Any) -> np.ndarray:
    """A NumPy array with the values of `x`; shares memory if possible."""
    x = _plain(x).cpu()
    if x.dtype is torch.bfloat16:
        import ml_dtypes

        return x.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return x.numpy()


def is_abstract(x: Any) -> bool:
    """Whether `x` has a shape and a dtype but no values, on torch's meta device."""
    return x.is_meta


def is_traced(x: Any) -> bool:
    """Whether `x` represents an array in a function that is being traced or mapped."""
    return isinstance(x, FakeTensor) or _functorch.is_batchedtensor(x)


def for_dlpack(x: Any) -> Any:
    """An object that exports the memory of `x` by DLPack; None if impossible."""
    return _plain(x)


def from_dlpack(x: Any) -> Any:
    """An array over the memory of an object that exports DLPack."""
    return torch.from_dlpack(x)


def copied(x: Any) -> Any:
    """A copy of `x` in new memory."""
    return x.clone()


def address(x: Any) -> int | None:
    """The address of the memory of `x`; None if unknown."""
    return x.data_ptr()


def _plain(x: Any) -> Any:
    """`x` as a dense tensor in memory: detached, without lazy conjugation.

    Some derivatives are zero tensors without memory, whose address is invalid.
    """
    if x.layout is not torch.strided:
        raise ArgumentError(
            f"to_backend: x: got a tensor of the layout {x.layout}, expected a dense one; "
            "call x.to_dense() first"
        )
    x = x.detach().resolve_conj().resolve_neg()
    return x.clone() if x._is_zerotensor() else x


def why_constant(x: Any) -> str | None:
    """The kind of `x` for errors, if it cannot be written; else None."""
    is_parameter = x.requires_grad and x.is_leaf and torch.is_grad_enabled()
    return "a parameter, which changes under torch.no_grad()" if is_parameter else None


def write(x: Any, value: Any) -> None:
    """Replace the elements of `x` by those of `value`, of its shape and dtype."""
    if not torch.compiler.is_compiling() and torch._C._is_alias_of(x, value):
        value = value.clone()  # copy_ reads elements that it has written
    x.copy_(value)


def block_until_ready(x: Any) -> Any:
    """Wait until `x` is computed, and return it."""
    if x.is_cuda:
        torch.cuda.synchronize(x.device)
    return x
