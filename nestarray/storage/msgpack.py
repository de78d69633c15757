"""MessagePack files of ``flax.serialization``: read-only, without Flax or the package msgpack.

The parser passes over the elements of arrays, so opening a file reads its structure only. An array
is an extension of MessagePack: its shape, the name of its dtype, its elements. Flax splits arrays
of more than a GiB into chunks. Lists are dicts with the keys "0", "1", … in these files.

https://github.com/msgpack/msgpack/blob/master/spec.md
https://flax.readthedocs.io/en/latest/api_reference/flax.serialization.html
"""

from __future__ import annotations

import builtins
import math
import struct
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nestarray.container import Container
from nestarray.errors import StorageError
from nestarray.storage.elements import BITS, NATIVE, num_bytes
from nestarray.storage.source import Entry, Source, map_file
from nestarray.storage.structure import ArrayOf, Reference, resolve

#: Why `Container.save` does not write this format.
READ_ONLY = "save as .safetensors, or write flax.serialization.to_bytes(c.to_flax())"

_CHUNKED = "__msgpack_chunked_array__"
#: Flax's codes of extensions.
_ARRAY, _COMPLEX, _SCALAR = 1, 2, 3


class _Section(NamedTuple):
    """Bytes of the file from `start` to `stop`."""

    start: int
    stop: int


class _Array(NamedTuple):
    """An array in the file, in one or several sections."""

    entry: Entry
    sections: tuple[_Section, ...]


#: First byte → the format of a number that follows, as `struct` names it.
_NUMBERS = {
    0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h",
    0xD2: ">i", 0xD3: ">q",
}  # fmt: skip
#: First byte → the type of the value, and the format of its length.
_SIZED = {
    0xC4: ("bytes", ">B"), 0xC5: ("bytes", ">H"), 0xC6: ("bytes", ">I"),
    0xC7: ("extension", ">B"), 0xC8: ("extension", ">H"), 0xC9: ("extension", ">I"),
    0xD9: ("text", ">B"), 0xDA: ("text", ">H"), 0xDB: ("text", ">I"),
    0xDC: ("list", ">H"), 0xDD: ("list", ">I"), 0xDE: ("dict", ">H"), 0xDF: ("dict", ">I"),
}  # fmt: skip
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}


class _Parser:
    """Reads values from the bytes between `place` and `stop`."""

    def __init__(self, memory: Any, place: int, stop: int) -> None:
        self._memory, self.place, self._stop = memory, place, stop

    def value(self) -> Any:
        """The next value; bytes are a `_Section`, arrays an `_Array`."""
        first = self._memory[self._skip(1).start]
        if first < 0x80:
            return first
        if first >= 0xE0:
            return first - 0x100
        if first < 0xC0:
            kind = "dict" if first < 0x90 else "list" if first < 0xA0 else "text"
            return self._sized(kind, first & (0x1F if kind == "text" else 0x0F))
        if first in _CONSTANTS:
            return _CONSTANTS[first]
        if first in _NUMBERS:
            return self._number(_NUMBERS[first])
        if first in _SIZED:
            kind, length = _SIZED[first]
            return self._sized(kind, int(self._number(length)))
        if 0xD4 <= first <= 0xD8:
            return self._sized("extension", 1 << (first - 0xD4))
        raise ValueError(f"byte {self.place - 1} is {first:#x}, which MessagePack does not use")

    def expect_end(self) -> None:
        """Raise an error unless all bytes were read."""
        if self.place != self._stop:
            raise ValueError(f"{self._stop - self.place:,} bytes follow its value")

    def _skip(self, count: int) -> _Section:
        section = _Section(self.place, self.place + count)
        if section.stop > self._stop:
            raise EOFError(f"it ends at byte {self._stop:,}, expected {section.stop:,} or more")
        self.place = section.stop
        return section

    def _number(self, format: str) -> Any:
        return struct.unpack(format, self._bytes(struct.calcsize(format)))[0]

    def _bytes(self, count: int) -> bytes:
        section = self._skip(count)
        return self._memory[section.start : section.stop]

    def _sized(self, kind: str, size: int) -> Any:
        if kind == "text":
            return str(self._bytes(size), "utf-8")
        if kind == "bytes":
            return self._skip(size)
        if kind == "list":
            return [self.value() for _ in range(size)]
        if kind == "extension":
            return self._extension(size)
        found: dict[Any, Any] = {}
        for _ in range(size):
            key = self.value()
            if type(key) not in (str, int):
                raise ValueError(f"a key is {type(key).__name__}, expected a string or an integer")
            if key in found:
                raise ValueError(f"the key {str(key)[:60]!r} occurs twice")
            found[key] = self.value()
        return _joined(found) if found.get(_CHUNKED) is True else found

    def _extension(self, size: int) -> Any:
        code = self._number(">b")
        section = self._skip(size)
        inner = _Parser(self._memory, *section)
        content = inner.value() if code in (_ARRAY, _COMPLEX, _SCALAR) else None
        match code, content:
            case _, [list(shape), str(dtype), _Section() as elements] if code in (_ARRAY, _SCALAR):
                inner.expect_end()
                return _Array(_entry(shape, dtype, elements), (elements,))
            case _, [int() | float() as real, int() | float() as imaginary] if code == _COMPLEX:
                inner.expect_end()
                return complex(real, imaginary)
        raise ValueError(f"byte {section.start:,} starts an extension that Flax does not write")


def _entry(shape: list[Any], dtype: str, elements: _Section) -> Entry:
    if not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError(f"an array has the shape {shape}")
    if dtype not in NATIVE and dtype not in BITS:
        raise ValueError(f"an array has the dtype {dtype[:60]!r}, expected numbers or bools")
    entry = Entry(dtype, tuple(shape))
    if num_bytes(*entry) != elements.stop - elements.start:
        raise ValueError(
            f"an array of {dtype}{shape} has {elements.stop - elements.start:,} bytes, expected "
            f"{num_bytes(*entry):,}"
        )
    return entry


def _joined(node: dict[Any, Any]) -> _Array:
    """The array of a dict of chunks."""
    shape, chunks = _members(node["shape"]), _members(node["chunks"])
    dtypes = {chunk.entry.dtype for chunk in chunks}
    if len(dtypes) != 1 or not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError("the chunks of an array have no common dtype, or no shape")
    entry = Entry(dtypes.pop(), tuple(shape))
    if math.prod(shape) != sum(math.prod(chunk.entry.shape) for chunk in chunks):
        raise ValueError(f"the chunks of an array do not fill its shape {shape}")
    return _Array(entry, tuple(section for chunk in chunks for section in chunk.sections))


def _members(node: dict[str, Any]) -> list[Any]:
    return [node[str(i)] for i in range(len(node))]


class MsgpackSource(Source):
    """A file of ``flax.serialization``, mapped into memory."""

    def __init__(self, path: Path) -> None:
        with builtins.open(path, "rb") as file:
            self._memory = map_file(file.fileno(), writable=False)
        parser = _Parser(self._memory, 0, len(self._memory))
        tree = parser.value()
        parser.expect_end()
        if not isinstance(tree, (dict, list, _Array)):
            raise StorageError(
                f"Container.load: {str(path)!r} holds one {type(tree).__name__}, expected a tree of arrays"
            )
        self._arrays: dict[str, _Array] = {}
        self._tree = self._referenced(tree, ())
        super().__init__(path, {name: array.entry for name, array in self._arrays.items()})

    def _referenced(self, node: Any, keys: tuple[Any, ...]) -> Any:
        if isinstance(node, _Array):
            name = ".".join(map(str, keys))
            while name in self._arrays:
                name += "~"
            self._arrays[name] = node
            return Reference(name)
        if isinstance(node, _Section):
            return self._memory[node.start : node.stop]
        if isinstance(node, dict):
            return {k: self._referenced(v, (*keys, k)) for k, v in node.items()}
        if isinstance(node, list):
            return [self._referenced(v, (*keys, i)) for i, v in enumerate(node)]
        return node

    def layout(self, array_of: ArrayOf) -> Container:
        """The tree in the file."""
        return resolve(Container(self._tree), array_of)

    def flat(self, array_of: ArrayOf) -> dict[str, Any]:
        """Joined name → leaf."""
        return resolve(Container(self._tree), array_of).to_flat_dict(".")

    def read(self, name: str) -> np.ndarray:
        """The elements of an array."""
        entry, sections = self._arrays[name]
        dtype = np.dtype(BITS.get(entry.dtype, entry.dtype))
        elements = np.empty(math.prod(entry.shape), dtype)
        target, place = elements.view(np.uint8), 0
        for start, stop in sections:
            target[place : place + stop - start] = np.frombuffer(
                self._memory, np.uint8, stop - start, start
            )
            place += stop - start
        return elements.reshape(entry.shape)

    def part(self, name: str, index: Any) -> np.ndarray:
        """The elements of a part of an array; only this part is read, unless it has chunks."""
        entry, sections = self._arrays[name]
        if len(sections) != 1:
            return super().part(name, index)
        dtype = np.dtype(BITS.get(entry.dtype, entry.dtype))
        count = math.prod(entry.shape)
        elements = np.frombuffer(self._memory, dtype, count, sections[0].start)
        return np.array(elements.reshape(entry.shape)[index])


def open(path: Path, *, writable: bool) -> Source:
    """The file as a `Source`."""
    return MsgpackSource(path)
