"""The reader interface of all formats: arrays by name, and their structure.

A format is a module with ``open(path, mapped)``, which returns a `Source`, and, unless it is
read-only, ``write(path, plan)``. Errors of parsers on damaged or hostile files are converted to one
error type here, and arrays are allocated only after their size was compared with the file.
"""

from __future__ import annotations

import contextlib
import mmap
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nestarray.container import Container
from nestarray.errors import MissingFileError, NestarrayError, StorageError
from nestarray.storage.elements import num_bytes
from nestarray.storage.structure import RESERVED, ArrayOf, decode, parse_json, reason


class Entry(NamedTuple):
    """The description of an array in a file: the name of its dtype, and its shape."""

    dtype: str
    shape: tuple[int, ...]


class Source:
    """An open file.

    Attributes:
        path: the file.
        entries: name → description of each array, in order.
        metadata: the strings that were saved with the arrays.
        structure: the text from `structure.encode`; None in files of other programs.
        separator: the separator between keys in the names of other programs.
        unreadable: name → dtype of each entry that is no array of numbers. The others can be read.
    """

    separator = "."
    writable = False  #: whether the file is mapped with private, writable pages

    def __init__(
        self,
        path: Path,
        entries: dict[str, Entry],
        structure: str | None = None,
        metadata: dict[str, str] | None = None,
    ) -> None:
        self.path, self.entries, self.structure = path, entries, structure
        self.metadata = metadata or {}
        self.unreadable: dict[str, str] = {}
        self._state = _state_of(path)

    def check(self, names: Iterable[str]) -> None:
        """Raise an error if these arrays cannot be read, or another program wrote into the file.

        A file that was replaced or removed stays readable.

        Raises:
            StorageError: an entry is no array of numbers; or the size or the modification time of
                the file is another.
        """
        for name in self.unreadable and names:
            if name in self.unreadable:
                raise StorageError(
                    f"Container.load: {str(self.path)!r}: {name!r} has the dtype "
                    f"{self.unreadable[name]}, expected numbers or bools, and is not read; "
                    "load the others by their names, or with lazy=True"
                )
        before, now = self._state, _state_of(self.path)
        if before and now and now != before and now[0] == before[0]:
            raise StorageError(
                f"Container.load: {str(self.path)!r}: another program wrote into it after it was "
                "opened; load it again"
            )

    def read(self, name: str) -> np.ndarray:
        """The elements of an array (see `elements`), in separate memory."""
        return self.view(name).copy()

    def read_all(self, names: Iterable[str]) -> Iterator[np.ndarray]:
        """The elements of several arrays, one after another."""
        return map(self.read, names)

    def view(self, name: str) -> np.ndarray:
        """The elements of an array, on the mapped file."""
        raise StorageError(
            f"Container.load: {str(self.path)!r}: this format cannot be mapped into memory; leave "
            "memory_map=False, or save it as .safetensors"
        )

    def part(self, name: str, index: Any) -> np.ndarray:
        """The elements of a part of an array, in separate memory."""
        return np.array(self.read(name)[index])

    def layout(self, array_of: ArrayOf) -> Container:
        """The saved Container, or the arrays nested by name.

        Raises:
            StorageError: the structure is damaged.
            StructureError: the names do not form a tree: an array has the name of a node.
        """
        if self.structure is not None:
            return decode(self.structure, f"Container.load: {str(self.path)!r}", array_of)
        return Container.from_flat_dict(self.flat(array_of), self.separator)

    def _read_document(self) -> None:
        """Read structure and metadata from the array that stores their text."""
        document = parse_json(self.read(RESERVED).tobytes())
        del self.entries[RESERVED]
        self.structure, self.metadata = document["structure"], document["metadata"]

    def flat(self, array_of: ArrayOf) -> dict[str, Any]:
        """Name → leaf, for every array."""
        return {name: array_of(name, None) for name in self.entries}

    def close(self) -> None:
        """Close the file."""

    def __reduce__(self) -> tuple[Any, ...]:
        """By its path: where it is unpickled, the file is opened again."""
        open_again = sys.modules[type(self).__module__].open
        return partial(open_again, writable=self.writable), (self.path.absolute(),)


def _state_of(path: Path) -> tuple[Any, int, int] | None:
    """The identity, size and modification time of a file; None for a directory and for no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return (status.st_dev, status.st_ino), status.st_size, status.st_mtime_ns


def is_forward_slice(index: Any) -> bool:
    """Whether an index has only integers and forward slices, which HDF5 and Zarr support."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(
        p is ... or type(p) is int or (isinstance(p, slice) and (p.step is None or p.step > 0))
        for p in parts
    )


def map_file(descriptor: int, *, writable: bool) -> mmap.mmap:
    """Map an open file into memory; the map remains valid after the file is closed.

    With `writable`, modified pages become private copies: the file does not change, and frameworks
    that require writable memory need no copy of the whole file.
    """
    return mmap.mmap(descriptor, 0, access=mmap.ACCESS_COPY if writable else mmap.ACCESS_READ)


class reading:
    """Convert parser errors over a file, or over the array `name` in it, to one error type.

    A class, because each array is read inside one, and a generator costs ten times as much.

    Raises:
        MissingFileError: the file does not exist.
        StorageError: anything else.
    """

    __slots__ = ("_name", "_path")

    def __init__(self, path: Path, name: str | None = None) -> None:
        self._path, self._name = path, name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        # untrusted bytes reach third-party parsers here, which may raise any exception
        if not isinstance(error, Exception) or isinstance(error, NestarrayError):
            return
        where = f"Container.load: {str(self._path)!r}"
        if isinstance(error, FileNotFoundError) and not self._path.exists():
            raise MissingFileError(f"{where}: there is no such file") from error
        if self._name is not None:
            where = f"{where}: {self._name!r}"
        raise StorageError(f"{where} cannot be read: {reason(error)}") from error


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Convert errors of writing to one error type.

    Raises:
        StorageError: the disk is full, the directory is read-only, …
    """
    try:
        yield
    except NestarrayError:
        raise
    except Exception as error:
        raise StorageError(
            f"Container.save: {str(path)!r} cannot be written: {reason(error)}. What was there "
            "before is as it was"
        ) from error


#: The maximal compression ratio of deflate, which zip and HDF5 use.
_DEFLATE = 1032
_HARMLESS = 2**30


def check_size(path: Path, name: str, entry: Entry, stored: Callable[[], int]) -> None:
    """Refuse an array whose size is implausible for its stored bytes, before it is allocated.

    `stored` may read many files, so it is called for large arrays only.

    Raises:
        StorageError: it has more than a GiB, and more than 1032 times `stored()` bytes.
    """
    size = num_bytes(*entry)
    if size > _HARMLESS and size > _DEFLATE * (count := stored()):
        raise StorageError(
            f"Container.load: {str(path)!r}: {name!r} claims {size:,} bytes, of which {count:,} are "
            "stored; the file is damaged or hostile"
        )
