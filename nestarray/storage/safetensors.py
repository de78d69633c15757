"""safetensors, the default format: a JSON header and the elements, without executable content.

https://huggingface.co/docs/safetensors. The library writes files, and validates headers; elements
are NumPy views of the mapped file, because the library's NumPy arrays lack 8-bit floats and cannot
be mapped. The structure is stored in the metadata of the header, so files are compatible with
other safetensors programs in both directions.
"""

from __future__ import annotations

import math
import mmap
import os
import weakref
from pathlib import Path
from typing import Any

import numpy as np

from nestarray import lazy_imports
from nestarray.errors import StorageError
from nestarray.storage.elements import BITS, num_bytes
from nestarray.storage.plan import Plan, dotted
from nestarray.storage.source import Entry, Source, map_file
from nestarray.storage.structure import RESERVED, looks_encoded, parse_json

NAME = "safetensors"
naming, separator = dotted, "."

_DTYPES = {
    "BOOL": "bool", "I8": "int8", "I16": "int16", "I32": "int32", "I64": "int64", "U8": "uint8",
    "U16": "uint16", "U32": "uint32", "U64": "uint64", "F16": "float16", "BF16": "bfloat16",
    "F32": "float32", "F64": "float64", "C64": "complex64", "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2", "F8_E4M3FNUZ": "float8_e4m3fnuz", "F8_E5M2FNUZ": "float8_e5m2fnuz",
    "F8_E8M0": "float8_e8m0fnu",
}  # fmt: skip
NATIVE_DTYPES = frozenset(_DTYPES.values())
_HEADER_STARTS = 8


def library() -> Any:
    """The package safetensors."""
    return lazy_imports.optional(
        "safetensors", "safetensors files need", extra="storage", instead=", or save as .npz"
    )


def write(path: Path, plan: Plan) -> None:
    """Write a file, directly from the memory of arrays on the CPU."""
    structure = {RESERVED: plan.structure} if plan.structure else {}
    package = library()
    kept = {name: np.asarray(plan.elements(name)) for name in plan.arrays}  # alive during the write
    specs = {}
    for name, elements in kept.items():
        dtype, shape = plan.entries[name]
        if dtype == "complex128":
            dtype, shape = "float64", (*shape, 2)
        elif dtype not in NATIVE_DTYPES:
            dtype = BITS[dtype]
        specs[name] = package.TensorSpec(
            dtype=dtype, shape=shape, data_ptr=elements.ctypes.data, data_len=elements.nbytes
        )
    package.serialize_file(specs, path, metadata={**plan.metadata, **structure} or None)


class SafetensorsSource(Source):
    """A safetensors file, mapped into memory."""

    def __init__(self, path: Path, *, writable: bool = False) -> None:
        with library().safe_open(path, framework="np"):
            pass  # validates the header: length, dtypes, shapes, and exact size of the file
        self._descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        weakref.finalize(self, os.close, self._descriptor)
        self._memory = map_file(self._descriptor, writable=writable)
        length = int.from_bytes(self._memory[:_HEADER_STARTS], "little")
        self._start = _HEADER_STARTS + length
        header = parse_json(self._memory[_HEADER_STARTS : self._start])
        metadata = header.pop("__metadata__", None) or {}
        if RESERVED not in metadata and any(map(looks_encoded, metadata.values())):
            raise StorageError(
                f"Container.load: {str(path)!r}: its structure is not under the name {RESERVED!r}; the "
                "file is damaged"
            )
        entries = {}
        self._offsets: dict[str, int] = {}
        for name, value in header.items():
            if value["dtype"] not in _DTYPES:
                raise StorageError(
                    f"Container.load: {str(path)!r}: {name!r} has the dtype {value['dtype']}, expected "
                    f"one of {', '.join(_DTYPES)}"
                )
            entries[name] = Entry(_DTYPES[value["dtype"]], tuple(value["shape"]))
            self._offsets[name] = value["data_offsets"][0]
        for name, entry in entries.items():
            end = self._start + self._offsets[name] + num_bytes(*entry)
            if end > len(self._memory):  # the file changed after validation
                raise StorageError(f"Container.load: {str(path)!r}: {name!r} goes beyond the file")
        super().__init__(path, entries, metadata.pop(RESERVED, None), metadata)

    def view(self, name: str) -> np.ndarray:
        """The elements of an array, on the mapped file."""
        dtype, shape = self.entries[name]
        place = self._start + self._offsets[name]
        return np.frombuffer(
            self._memory, BITS.get(dtype, dtype), count=math.prod(shape), offset=place
        ).reshape(shape)

    def read(self, name: str) -> np.ndarray:
        """The elements of an array, in separate memory."""
        if not hasattr(os, "preadv"):  # Windows
            return self.view(name).copy()
        dtype, shape = self.entries[name]
        elements = _empty(shape, np.dtype(BITS.get(dtype, dtype)))
        place, rest = self._start + self._offsets[name], elements.reshape(-1).view(np.uint8).data
        # faster than a copy of the map, and raises an error, not a signal, for a truncated file
        while rest.nbytes:
            count = os.preadv(self._descriptor, [rest], place)
            if not count:
                raise EOFError("it goes beyond the end of the file, which was cut")
            place, rest = place + count, rest[count:]
        return elements

    def part(self, name: str, index: Any) -> np.ndarray:
        """The elements of a part of an array; only this part is read."""
        return np.array(self.view(name)[index])


#: The size from which NumPy requests huge pages from the system.
_LARGE = 1 << 22


def _empty(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """`np.empty` with small pages, for memory that is written once.

    A virtual machine returns free huge pages to its host; new ones are up to twenty times slower
    than small pages of the same size, and slower than reading the file.
    """
    size = math.prod(shape) * dtype.itemsize
    if size < _LARGE:
        return np.empty(shape, dtype)
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return np.frombuffer(memory, dtype).reshape(shape)


def open(path: Path, *, writable: bool) -> Source:
    """The file as a `Source`."""
    return SafetensorsSource(path, writable=writable)
