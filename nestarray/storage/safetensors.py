"""safetensors, the default format: a JSON header and the elements, without executable content.

https://huggingface.co/docs/safetensors. A file is the length of the header in 8 bytes, the header,
and the elements without gaps. The library validates headers, but its NumPy arrays lack 8-bit floats
and cannot be mapped, and it writes from memory: here arrays are written one after another, so that
a lazy tree needs the memory of one leaf. The structure is stored in the metadata of the header, so
files are compatible with other safetensors programs in both directions.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import weakref
from collections.abc import Iterable, Iterator
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
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
_METADATA = "__metadata__"
_HEADER_STARTS = 8
_LONGEST = 100_000_000  #: the longest header that the library reads


def library() -> Any:
    """The package safetensors."""
    return lazy_imports.optional(
        "safetensors", "safetensors files need", extra="storage", instead=", or save as .npz"
    )


def write(path: Path, plan: Plan) -> None:
    """Write a file, array by array."""
    texts = {**plan.metadata, **({RESERVED: plan.structure} if plan.structure else {})}
    header: dict[str, Any] = {_METADATA: texts} if texts else {}
    # wide elements first: each array starts at a multiple of its element size
    names = sorted(plan.arrays, key=lambda name: -num_bytes(_stored(plan.entries[name]).dtype, ()))
    start = 0
    for name in names:
        dtype, shape = _stored(plan.entries[name])
        stop = start + num_bytes(dtype, shape)
        header[name] = {"dtype": _NAMES[dtype], "shape": shape, "data_offsets": (start, stop)}
        start = stop
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % _HEADER_STARTS)
    if len(text) > _LONGEST:
        raise StorageError(
            f"Container.save: {str(path)!r}: names and structure take {len(text):,} bytes, of which "
            f"the format allows {_LONGEST:,}; save as .npz, or with max_shard_bytes"
        )
    with path.open("wb") as file:
        file.write(len(text).to_bytes(_HEADER_STARTS, "little") + text)
        for name in names:
            file.write(plan.elements(name).data)


def _stored(entry: Entry) -> Entry:
    """The dtype and shape of an array as the format has them."""
    dtype, shape = entry
    if dtype == "complex128":
        return Entry("float64", (*shape, 2))
    return entry if dtype in NATIVE_DTYPES else Entry(BITS[dtype], shape)


class SafetensorsSource(Source):
    """A safetensors file, mapped into memory."""

    def __init__(self, path: Path, *, writable: bool = False) -> None:
        # validates the header: length, dtypes, shapes, and exact size of the file
        with library().safe_open(path, framework="np") as file:
            parts = [(name, file.get_slice(name)) for name in file.offset_keys()]
            metadata = file.metadata() or {}
        if RESERVED not in metadata and any(map(looks_encoded, metadata.values())):
            raise StorageError(
                f"Container.load: {str(path)!r}: its structure is not under the name {RESERVED!r}; the "
                "file is damaged"
            )
        self._descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        weakref.finalize(self, os.close, self._descriptor)
        self._memory = map_file(self._descriptor, writable=writable)
        length = int.from_bytes(self._memory[:_HEADER_STARTS], "little")
        start = _HEADER_STARTS + length
        if self._memory[:start].count(b'"data_offsets"') != len(parts):
            parse_json(self._memory[_HEADER_STARTS:start])  # refuses repeated names
        entries: dict[str, Entry] = {}
        self._places: dict[str, tuple[int, int]] = {}
        for name, part in parts:  # without gaps
            kind = part.get_dtype()
            if kind not in _DTYPES:
                raise StorageError(
                    f"Container.load: {str(path)!r}: {name!r} has the dtype {kind}, expected one of "
                    f"{', '.join(_DTYPES)}"
                )
            entry = entries[name] = Entry(_DTYPES[kind], tuple(part.get_shape()))
            self._places[name] = start, (start := start + num_bytes(*entry))
        if start != len(self._memory):
            raise StorageError(f"Container.load: {str(path)!r}: it changed while it was opened")
        super().__init__(path, entries, metadata.pop(RESERVED, None), metadata)

    def view(self, name: str) -> np.ndarray:
        """The elements of an array, on the mapped file."""
        dtype, shape = self.entries[name]
        return np.frombuffer(
            self._memory, BITS.get(dtype, dtype), math.prod(shape), self._places[name][0]
        ).reshape(shape)

    def read(self, name: str) -> np.ndarray:
        """The elements of an array, in separate memory."""
        return next(self.read_all([name]))

    def read_all(self, names: Iterable[str]) -> Iterator[np.ndarray]:
        """The elements of several arrays; small neighbours are read by one call of the system."""
        if not hasattr(os, "preadv"):  # Windows
            yield from (self.view(name).copy() for name in names)
            return
        arrays: list[np.ndarray] = []
        start = end = 0
        for name in names:
            dtype, shape = self.entries[name]
            place, stop = self._places[name]
            if place != end or end - start > _LARGE or len(arrays) == _AT_ONCE:
                yield from self._filled(arrays, start)
                arrays, start = [], place
            empty = np.empty if stop - place < _LARGE else _in_small_pages
            arrays.append(empty(shape, BITS.get(dtype, dtype)))
            end = stop
        yield from self._filled(arrays, start)

    def _filled(self, arrays: list[Any], start: int) -> list[Any]:
        """Neighbouring arrays with the elements from an offset on.

        This is faster than a copy of the map, and raises an error, not a signal, for a file that
        was cut.
        """
        total, place = sum([x.nbytes for x in arrays]), start
        if not total or os.preadv(self._descriptor, arrays, start) == total:
            return arrays
        for elements in arrays:  # interrupted, or more than one call reads
            rest = elements.reshape(-1).view(np.uint8).data
            while rest.nbytes:
                count = os.preadv(self._descriptor, [rest], place)
                if not count:
                    raise EOFError("it goes beyond the end of the file, which was cut")
                place, rest = place + count, rest[count:]
        return arrays

    def part(self, name: str, index: Any) -> np.ndarray:
        """The elements of a part of an array; only this part is read."""
        return np.array(self.view(name)[index])


#: The number of arrays that one call of the system reads, of which Linux allows 1,024.
_AT_ONCE = 256

#: The size from which NumPy requests huge pages from the system.
_LARGE = 1 << 22


def _in_small_pages(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """`np.empty` with small pages, for memory that is written once.

    A virtual machine returns free huge pages to its host; new ones are up to twenty times slower
    than small pages of the same size, and slower than reading the file.
    """
    size = num_bytes(dtype, shape)
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return np.frombuffer(memory, dtype).reshape(shape)


def open(path: Path, *, writable: bool) -> Source:
    """The file as a `Source`."""
    return SafetensorsSource(path, writable=writable)
