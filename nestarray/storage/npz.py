"""NumPy's .npz: a zip of .npy files, without pickles.

NumPy reads the headers; they are compared with the sizes of the archive's entries before memory is
allocated. The checksums of the zip format detect damaged elements.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any, cast

import numpy as np

from nestarray.errors import StorageError
from nestarray.storage.elements import NATIVE, num_bytes
from nestarray.storage.plan import Plan, dotted_file_name
from nestarray.storage.source import Entry, Source, check_size
from nestarray.storage.structure import RESERVED

NATIVE_DTYPES = NATIVE
naming, separator = dotted_file_name, "."
_SUFFIX = ".npy"


def write(path: Path, plan: Plan) -> None:
    """Write an archive that ``np.load`` can read."""
    document = json.dumps({"structure": plan.structure, "metadata": plan.metadata}).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.comment = RESERVED.encode()
        _write_array(archive, RESERVED, np.frombuffer(document, np.uint8))
        for name in plan.arrays:
            _write_array(archive, name, plan.elements(name))


def _write_array(archive: zipfile.ZipFile, name: str, elements: np.ndarray) -> None:
    with archive.open(name + _SUFFIX, "w", force_zip64=True) as file:
        np.lib.format.write_array(file, elements, allow_pickle=False)


class NpzSource(Source):
    """An archive of arrays."""

    def __init__(self, path: Path) -> None:
        self._archive = zipfile.ZipFile(path)
        try:
            self._infos = {i.filename.removesuffix(_SUFFIX): i for i in self._archive.infolist()}
            if len(self._infos) < len(self._archive.infolist()):
                raise StorageError(f"Container.load: {str(path)!r}: two arrays have one name")
            self._fortran: set[str] = set()
            self._others: dict[str, str] = {}
            super().__init__(path, {name: self._header(path, name) for name in self._infos})
            self.unreadable = self._others
            if self._archive.comment == RESERVED.encode() or RESERVED in self.entries:
                self._read_document()
        except BaseException:
            self._archive.close()
            raise

    def _header(self, path: Path, name: str) -> Entry:
        info = self._infos[name]
        if not info.filename.endswith(_SUFFIX):
            raise StorageError(
                f"Container.load: {str(path)!r}: {info.filename!r} is no array (.npy)"
            )
        with self._archive.open(info) as file:
            shape, fortran, dtype = _read_header(file)
            start = file.tell()
        if dtype.name not in NATIVE:  # objects are pickles, which can run any program
            self._others[name] = str(dtype)
            return Entry("object", shape)
        entry = Entry(dtype.name, shape)
        if start + num_bytes(*entry) != info.file_size:
            raise StorageError(
                f"Container.load: {str(path)!r}: {name!r} claims {num_bytes(*entry):,} bytes, but "
                f"{info.file_size - start:,} are stored"
            )
        check_size(path, name, entry, lambda: info.compress_size)
        if fortran:
            self._fortran.add(name)
        return entry

    def read(self, name: str) -> np.ndarray:
        """The elements of an array."""
        dtype, shape = self.entries[name]
        with self._archive.open(self._infos[name]) as file:
            stored = _read_header(file)[2]
            elements = np.empty(shape[::-1] if name in self._fortran else shape, stored)
            rest = elements.reshape(-1).view(np.uint8).data
            while rest.nbytes:
                count = cast(zipfile.ZipExtFile, file).readinto(rest)
                if not count:
                    raise EOFError(f"{name!r} ends too early")
                rest = rest[count:]
            file.read(1)  # reading the end verifies the checksum
        if name in self._fortran:
            elements = np.ascontiguousarray(elements.transpose())
        return elements.astype(dtype, copy=False)  # this machine's byte order

    def close(self) -> None:
        """Close the file."""
        self._archive.close()


def _read_header(file: Any) -> tuple[tuple[int, ...], bool, np.dtype]:
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(file)
    return np.lib.format.read_array_header_2_0(file)


def open(path: Path, *, writable: bool) -> Source:
    """The file as a `Source`."""
    return NpzSource(path)
