"""HDF5 through h5py: nodes are groups, arrays are datasets.

Only data in the file itself is read. Links to other files, external storage, virtual datasets,
objects and filters that would load a plug-in are refused.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from nestarray import lazy_imports
from nestarray.errors import StorageError
from nestarray.storage.elements import NATIVE
from nestarray.storage.plan import Plan, grouped
from nestarray.storage.source import Entry, Source, check_size, is_forward_slice, map_file
from nestarray.storage.structure import RESERVED

NATIVE_DTYPES = NATIVE
naming, separator = grouped, "/"

_FILTERS = {1: "deflate", 2: "shuffle", 3: "fletcher32", 4: "szip", 32000: "lzf"}


def library() -> Any:
    """The package h5py."""
    return lazy_imports.optional("h5py", "HDF5 files need", extra="hdf5")


def write(path: Path, plan: Plan) -> None:
    """Write a file. The text of the structure is a dataset, because attributes are limited to 64 KiB."""
    document = json.dumps({"structure": plan.structure, "metadata": plan.metadata}).encode()
    with library().File(path, "w", track_order=True) as file:
        file.create_dataset(RESERVED, data=np.frombuffer(document, np.uint8))
        for name in plan.arrays:
            file.create_dataset(name, data=plan.elements(name))


class Hdf5Source(Source):
    """A file of groups and datasets; `file` is an open file, if it is inside of another one."""

    separator = "/"

    def __init__(self, path: Path, *, writable: bool, file: Any = None) -> None:
        self._writable = writable
        self._file = library().File(path if file is None else file, "r")
        try:
            self._datasets: dict[str, Any] = {}  # name → identifier, of h5py's fast interface
            self._collect(path, self._file, "", set())
            h5py = library()
            entries = {n: _entry(h5py, path, n, d) for n, d in self._datasets.items()}
            self._whole = h5py.h5s.ALL
            texts = {k: v for k, v in self._file.attrs.items() if isinstance(v, str)}
            super().__init__(path, entries, None, texts)
            for name, entry in entries.items():
                if entry.dtype not in NATIVE:
                    self.unreadable[name] = str(self._datasets[name].dtype)
            if RESERVED in entries:
                self._read_document()
        except BaseException:
            self._file.close()
            raise

    def _collect(self, path: Path, group: Any, prefix: str, above: set[Any]) -> None:
        h5py = library()
        above = above | {h5py.h5o.get_info(group.id).addr}
        for key in group:
            name, link = prefix + key, key.encode("utf-8", "surrogateescape")
            if group.id.links.get_info(link).type != h5py.h5l.TYPE_HARD:
                raise StorageError(
                    f"Container.load: {str(path)!r}: {name!r} is a link, which may lead to another "
                    "file; expected groups and datasets"
                )
            member = h5py.h5o.open(group.id, link)
            if isinstance(member, h5py.h5d.DatasetID):
                self._datasets[name] = member
            elif not isinstance(member, h5py.h5g.GroupID):
                raise StorageError(
                    f"Container.load: {str(path)!r}: {name!r} is a named type, expected a "
                    "group or a dataset"
                )
            elif h5py.h5o.get_info(member).addr in above:
                raise StorageError(
                    f"Container.load: {str(path)!r}: the group {name!r} is inside of itself"
                )
            else:
                self._collect(path, h5py.Group(member), name + "/", above)

    def read(self, name: str) -> np.ndarray:
        """The elements of an array."""
        dataset = self._datasets[name]
        elements = np.empty(self.entries[name].shape, dataset.dtype)
        if elements.size:
            dataset.read(self._whole, self._whole, elements)
        return elements.astype(self.entries[name].dtype, copy=False)

    def part(self, name: str, index: Any) -> np.ndarray:
        """The elements of a part of an array; only this part is read."""
        if not is_forward_slice(index):
            return super().part(name, index)
        elements = np.asarray(library().Dataset(self._datasets[name])[index])
        return elements.astype(self.entries[name].dtype, copy=False)

    def view(self, name: str) -> np.ndarray:
        """The elements of an array, on the mapped file."""
        dataset, entry = self._datasets[name], self.entries[name]
        offset, dtype = dataset.get_offset(), dataset.dtype
        if 0 in entry.shape:
            return self.read(name)
        if offset is None or not dtype.isnative or dtype.name != entry.dtype:
            raise StorageError(
                f"Container.load: {str(self.path)!r}: {name!r} is stored in chunks or in another byte "
                "order, which cannot be mapped into memory; leave memory_map=False"
            )
        # by descriptor: another file may have replaced this one under its name
        if self._file.driver == "fileobj":
            return super().view(name)
        memory = map_file(self._file.id.get_vfd_handle(), writable=self._writable)
        count = math.prod(entry.shape)
        return np.frombuffer(memory, dtype, count=count, offset=offset).reshape(entry.shape)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _entry(h5py: Any, path: Path, name: str, dataset: Any) -> Entry:
    where = f"Container.load: {str(path)!r}: {name!r}"
    dtype, shape = dataset.dtype, dataset.shape
    properties = dataset.get_create_plist()
    if properties.get_external_count() or properties.get_layout() == h5py.h5d.VIRTUAL:
        raise StorageError(f"{where} keeps its elements in another file, which is not read")
    for position in range(properties.get_nfilters()):
        number = properties.get_filter(position)[0]
        if number not in _FILTERS:
            raise StorageError(
                f"{where} needs the filter {number}, a plug-in; expected {', '.join(_FILTERS.values())}"
            )
    if dtype.name not in NATIVE or shape is None:  # an empty dataset
        return Entry("object", shape or ())
    entry = Entry(dtype.name, shape)
    check_size(path, name, entry, dataset.get_storage_size)
    return entry


def open(path: Path, *, writable: bool) -> Source:
    """The file as a `Source`."""
    return Hdf5Source(path, writable=writable)
