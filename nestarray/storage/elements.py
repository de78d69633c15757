"""Conversion between arrays of any framework and the elements stored in a file.

Dtypes have the names of NumPy and ml_dtypes. Dtypes that NumPy lacks (bfloat16 and numbers of at
most 8 bits) are stored, and passed through torch, as unsigned integers of the same bits, so that
neither torch nor ml_dtypes is required.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from nestarray import backends, dtypes
from nestarray.backends.transfer import move
from nestarray.container.leaf import describe
from nestarray.display.statistics import has_values
from nestarray.errors import ArgumentError, DtypeError

#: The dtypes of NumPy, by name.
NATIVE = frozenset(d.name for d in dtypes.ALL if d is not dtypes.bfloat16)

#: The other dtypes, with the dtype of their bits. Dtypes of less than 8 bits occupy one byte.
BITS = {
    "bfloat16": "uint16",
    **dict.fromkeys(
        (
            "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu",
            "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float4_e2m1fn",
            "int4", "uint4", "int2", "uint2",
        ),
        "uint8",
    ),
}  # fmt: skip


#: torch's dtypes with an integer dtype of the same bits.
_OF_TORCH = (
    "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz",
    "float8_e8m0fnu",
)  # fmt: skip


@cache
def _name(dtype: Any) -> str:
    return str(getattr(dtype, "name", dtype)).rpartition(".")[2]


def dtype_name(leaf: Any, path: str) -> str:
    """The name of the dtype of an array to store.

    Raises:
        DtypeError: no file format supports this dtype.
        ArgumentError: the array has no values, or is not dense.
    """
    backend = backends.backend_of_type(type(leaf))
    if backend is not None and backends.core(backend).is_traced(leaf):
        raise ArgumentError(
            f"Container.save: {path!r} is being traced by {backend}, it has no values yet; save "
            "outside of the function that is traced"
        )
    if backend == "torch" and (leaf.is_nested or str(leaf.layout) != "torch.strided"):
        raise ArgumentError(
            f"Container.save: {path!r} is a tensor of the layout {leaf.layout}, expected a dense one; "
            "save x.to_dense(), or x.to_padded_tensor(0.0) of a nested tensor"
        )
    if not has_values(leaf):
        raise ArgumentError(
            f"Container.save: {path!r} has no values: it is on PyTorch's meta device, was donated "
            f"or deleted; give it some, or leave it out with c.exclude({path!r})"
        )
    name = _name(leaf.dtype)
    if name in NATIVE or (name in BITS and backend != "torch") or name in _OF_TORCH:
        return name
    if dtypes.is_key(leaf):
        raise DtypeError(
            f"Container.save: {path!r} is a typed key of JAX, expected numbers; save "
            "c.to_backend('numpy'), which has its words, jax.random.key_data(key): na.random takes "
            "them too, and to_flax and jax.random.wrap_key_data make a typed key of them again"
        )
    raise DtypeError(
        f"Container.save: {path!r} has the dtype {leaf.dtype}, expected numbers or bools "
        f"({', '.join(sorted(NATIVE))}, bfloat16, or of at most 8 bits as ml_dtypes has them); convert "
        f"it, or leave it out with c.exclude({path!r})"
    )


def num_bytes(dtype: str, shape: tuple[int, ...]) -> int:
    """The bytes of an array of this dtype and shape."""
    return math.prod(shape) * _itemsize(dtype)


@cache
def _itemsize(dtype: str) -> int:
    return np.dtype(BITS.get(dtype, dtype)).itemsize


def to_elements(leaf: Any) -> np.ndarray:
    """The elements of an array in NumPy: C order, native byte order, integers for `BITS`.

    The result shares memory where possible.
    """
    backend = backends.backend_of_type(type(leaf))
    assert backend is not None, f"not an array: {describe(leaf)}"
    name = _name(leaf.dtype)
    if backend == "torch" and name in BITS:
        import torch

        signed = torch.int16 if BITS[name] == "uint16" else torch.uint8
        elements = leaf.detach().cpu().view(signed).numpy()
    elif backend == "tensorflow" and BITS.get(name) == "uint8":  # not supported by its DLPack
        elements = leaf.numpy()
    else:
        elements = backends.core(backend).to_numpy(leaf)
    elements = np.asarray(elements, order="C")
    return elements.view(BITS[name]) if name in BITS else elements


def from_elements(elements: np.ndarray, dtype: str, backend: str) -> Any:
    """The array of `backend` with these elements; shares their memory where possible.

    Raises:
        DtypeError: `backend` lacks the dtype, or needs ml_dtypes for it.
    """
    if dtype not in BITS:
        return elements if backend == "numpy" else move(elements, backend)
    if backend == "torch":
        import torch

        if dtype not in _OF_TORCH or not hasattr(torch, dtype):
            raise DtypeError(
                f"torch {torch.__version__} has no {dtype}; load it with backend='numpy'"
            )
        signed = elements.view("int16") if BITS[dtype] == "uint16" else elements
        return backends.core("torch").from_numpy(signed).view(getattr(torch, dtype))
    try:  # installed with JAX and TensorFlow
        import ml_dtypes
    except ImportError as error:
        raise DtypeError(
            f"numpy has no {dtype} of its own; install ml_dtypes (pip install 'nestarray[storage]'), "
            "or load it with backend='torch'"
        ) from error
    return backends.core(backend).from_numpy(elements.view(getattr(ml_dtypes, dtype)))
