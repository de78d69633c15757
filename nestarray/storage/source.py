"""What every format gives to those who read: arrays by name, and the structure they stand in.

A format is a module with ``open(path, mapped)``, which returns a `Source`, and, unless it is
only read, ``write(path, plan)``. What a damaged or hostile file makes of a parser is
turned into one error here, and no array is made before its size is known to fit the file.
"""

from __future__ import annotations

import contextlib
import mmap
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nestarray.container import Container
from nestarray.errors import MissingFileError, NestarrayError, StorageError
from nestarray.storage.elements import num_bytes
from nestarray.storage.structure import RESERVED, Reference, decode, parse_json, reason


class Entry(NamedTuple):
    """What a file says of an array without reading it: the name of its dtype, and its shape."""

    dtype: str
    shape: tuple[int, ...]


class Source:
    """An open file.

    Attributes:
        path: the file.
        entries: what arrays there are, in order.
        metadata: the strings that were stored with them.
        structure: the text of `structure.encode`; None in files of other programs.
        separator: what joins keys to names in files of other programs.
    """

    separator = "."

    def __init__(
        self,
        path: Path,
        entries: dict[str, Entry],
        structure: str | None = None,
        metadata: dict[str, str] | None = None,
    ) -> None:
        self.path, self.entries, self.structure = path, entries, structure
        self.metadata = metadata or {}

    def read(self, name: str) -> np.ndarray:
        """The elements of an array (see `elements`), in memory of their own."""
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
        """The elements of a part of an array, in memory of their own."""
        return np.array(self.read(name)[index])

    def layout(self) -> Container:
        """The Container that was saved, or else the names split, with a `Reference` for each array.

        Raises:
            StorageError: the structure is damaged or does not fit the arrays.
            StructureError: the names are no tree: one array is named as a node of others.
        """
        where = f"Container.load: {str(self.path)!r}"
        if self.structure is not None:
            c = decode(self.structure, where)
            self._check(c, where)
            return c
        return Container.from_flat_dict(self.flat(), self.separator)

    def _check(self, c: Container, where: str) -> None:
        named = {leaf.name for leaf in c.leaves() if isinstance(leaf, Reference)}
        for names, others, text in (
            (named, self.entries, "its structure names {!r}, which is not in it"),
            (self.entries, named, "{!r} is in it, but not in its structure"),
        ):
            odd = [name for name in names if name not in others]
            if odd:
                raise StorageError(
                    f"{where}: {text.format(odd[0])}; it was changed by another program: load it "
                    "with flat=True, which takes the arrays by their names"
                )

    def _take_document(self) -> None:
        """Read structure and metadata from the array that holds their text."""
        document = parse_json(self.read(RESERVED).tobytes())
        del self.entries[RESERVED]
        self.structure, self.metadata = document["structure"], document["metadata"]

    def flat(self) -> dict[str, Reference]:
        """Name → `Reference` of every array."""
        return {name: Reference(name) for name in self.entries}

    def close(self) -> None:
        """Let go of the file."""


def is_forward_slice(index: Any) -> bool:
    """Whether an index is of integers and slices that go forward, which HDF5 and Zarr take too."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(
        p is ... or type(p) is int or (isinstance(p, slice) and (p.step is None or p.step > 0))
        for p in parts
    )


def map_file(descriptor: int, *, writable: bool) -> mmap.mmap:
    """An open file in memory, read as it is touched; it stays when the file is closed.

    `writable` makes the pages that are written to private copies: the file stays as it is,
    but frameworks that take no read-only memory need no copy of all of it.
    """
    return mmap.mmap(descriptor, 0, access=mmap.ACCESS_COPY if writable else mmap.ACCESS_READ)


class reading:
    """Make one error of whatever a parser raises over a file, or over the array `name` in it.

    A class, because each array is read under one, and a generator costs ten times as much.

    Raises:
        MissingFileError: there is no such file.
        StorageError: anything else.
    """

    __slots__ = ("_name", "_path")

    def __init__(self, path: Path, name: str | None = None) -> None:
        self._path, self._name = path, name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        # Bytes that somebody else chose reach third-party parsers here, which raise anything.
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
    """Make one error of whatever goes wrong while a file is written.

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


#: The most that deflate, the compression of zip and HDF5, can shrink anything.
_DEFLATE = 1032
_HARMLESS = 2**30


def check_size(path: Path, name: str, entry: Entry, stored: Callable[[], int]) -> None:
    """Refuse an array that is absurdly larger than what is stored of it, before it is allocated.

    `stored`, which may have to look at many files, is asked for large arrays only.

    Raises:
        StorageError: it has more than a GiB, and more than 1032 times `stored()` bytes.
    """
    size = num_bytes(*entry)
    if size > _HARMLESS and size > _DEFLATE * (count := stored()):
        raise StorageError(
            f"Container.load: {str(path)!r}: {name!r} claims {size:,} bytes, of which {count:,} are "
            "stored; the file is damaged or hostile"
        )
