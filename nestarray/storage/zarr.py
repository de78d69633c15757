"""Zarr, a directory of chunked arrays: nodes are groups.

Arrays are written uncompressed, because weights are hardly compressible. Stores of other programs
are read only if their codecs are pure compression: codecs that unpickle objects, and links out of
the directory, are refused.
"""

from __future__ import annotations

import json
import os
from collections.abc import Coroutine, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from nestarray import lazy_imports
from nestarray.errors import StorageError
from nestarray.storage.elements import BITS, NATIVE, num_bytes
from nestarray.storage.plan import Plan, grouped
from nestarray.storage.source import Entry, Source, check_size, is_forward_slice, reading
from nestarray.storage.structure import RESERVED

NATIVE_DTYPES = NATIVE
naming, separator = grouped, "/"

#: Codecs that convert bytes to bytes or numbers, without side effects.
_CODECS = frozenset((
    "bytes", "endian", "gzip", "zstd", "blosc", "crc32c", "transpose", "sharding_indexed",
    "zlib", "bz2", "lz4", "lzma", "shuffle", "crc32", "adler32", "fletcher32",
))  # fmt: skip

#: The number of bytes to read in one loop.
_AT_ONCE = 2**24


def library() -> Any:
    """The package zarr."""
    return lazy_imports.optional("zarr", "Zarr stores need", extra="zarr")


@cache
def _store_type() -> Any:
    class Store(library().storage.LocalStore):
        """Files with synchronous reads and writes.

        Zarr's own store uses another thread for each file, which is slower for small files.
        """

        async def get(self, key: str, prototype: Any = None, byte_range: Any = None) -> Any:
            return self.get_sync(key, prototype=prototype, byte_range=byte_range)

        async def set(self, key: str, value: Any) -> None:
            self.set_sync(key, value)

    return Store


def _run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine to its end and return its result; all tasks that it started end with it.

    Zarr's own event loop continues, and would write into a directory that is being removed.
    """
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run_here(coroutine)
    with ThreadPoolExecutor(1) as executor:  # a notebook already runs a loop in this thread
        return executor.submit(_run_here, coroutine).result()


def _run_here(coroutine: Coroutine[Any, Any, Any]) -> Any:
    import asyncio

    # unlike asyncio.run, this does not change the current loop of the thread
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        return runner.run(coroutine)


def write(path: Path, plan: Plan) -> None:
    """Write a store of format 3."""
    _run(_write(path, plan))


async def _write(path: Path, plan: Plan) -> None:
    zarr = library()
    store, describe = _store_type()(path), cache(_array)
    groups = {""}
    for name, (dtype, shape) in plan.entries.items():
        description, metadata = describe(BITS.get(dtype, dtype), shape)
        await store.set(f"{name}/zarr.json", description)
        place = zarr.storage.StorePath(store, name)
        # store empty chunks too: readers compare stored bytes with the size of the array
        array = zarr.AsyncArray(metadata, place, {"write_empty_chunks": True})
        await array.setitem(..., plan.elements(name))
        keys = name.split("/")
        groups |= {"/".join(keys[:end]) for end in range(1, len(keys))}
    plain, root = _group({}), _group({RESERVED: plan.structure, "metadata": plan.metadata})
    for name in groups:
        await store.set(f"{name}/zarr.json" if name else "zarr.json", plain if name else root)


def _group(attributes: dict[str, Any]) -> Any:
    """The metadata of a group, from a store in memory."""
    files: dict[str, Any] = {}
    library().create_group(files, zarr_format=3, attributes=attributes)
    return files["zarr.json"]


def _array(dtype: str, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """The metadata of an uncompressed array, from a store in memory: as a file and as parsed by zarr."""
    files: dict[str, Any] = {}
    array = library().create_array(files, shape=shape, dtype=dtype, compressors=None, zarr_format=3)
    return files["zarr.json"], array.metadata


class ZarrSource(Source):
    """A store with a group at its root."""

    separator = "/"

    def __init__(self, path: Path) -> None:
        zarr = library()
        store = _store_type()(path, read_only=True)
        described = cache(_described)  # metadata repeats, and zarr parses it slowly
        self._arrays: dict[str, Any] = {}
        entries: dict[str, Entry] = {}
        for name, text in sorted(_descriptions(path).items()):
            if (found := described(text)) is None:
                continue
            metadata, codecs = found
            array = zarr.Array(zarr.AsyncArray(metadata, zarr.storage.StorePath(store, name)))
            self._arrays[name], entries[name] = array, _entry(path, name, array, codecs)
        if "" in entries:
            raise StorageError(
                f"Container.load: {str(path)!r} is one array, expected a group of arrays"
            )
        group = zarr.open_group(str(path), mode="r", use_consolidated=False)
        attributes = dict(group.attrs)
        structure = attributes.pop(RESERVED, None)
        texts = attributes if structure is None else attributes["metadata"]
        texts = {k: v for k, v in texts.items() if isinstance(v, str)}
        super().__init__(path, entries, structure, texts)
        for name, entry in entries.items():
            if entry.dtype not in NATIVE:
                self.unreadable[name] = str(self._arrays[name].dtype)

    def read(self, name: str) -> np.ndarray:
        """The elements of an array."""
        return self.part(name, ...)

    def read_all(self, names: Iterable[str]) -> Iterator[np.ndarray]:
        """The elements of several arrays; small arrays are read together in one loop."""
        batch, size = [], 0
        for name in names:
            batch.append(name)
            size += num_bytes(*self.entries[name])
            if size > _AT_ONCE:
                yield from _run(self._read(batch))
                batch, size = [], 0
        yield from _run(self._read(batch))

    async def _read(self, names: list[str]) -> list[np.ndarray]:
        found = []
        for name in names:
            with reading(self.path, name):
                elements = await self._arrays[name].async_array.getitem(...)
            found.append(self._of_entry(name, elements))
        return found

    def part(self, name: str, index: Any) -> np.ndarray:
        """The elements of a part of an array; only its chunks are read."""
        if not is_forward_slice(index):
            return super().part(name, index)
        return self._of_entry(name, self._arrays[name][index])

    def _of_entry(self, name: str, elements: Any) -> np.ndarray:
        return np.asarray(elements).astype(self.entries[name].dtype, copy=False)


def _descriptions(path: Path) -> dict[str, bytes]:
    """Name → metadata text of each node of a store.

    Raises:
        StorageError: a link leads out of the store, or to a directory, and may form a cycle.
    """
    home = Path(os.path.realpath(path))
    description = "zarr.json" if (path / "zarr.json").exists() else ".zarray"  # the format 3 or 2
    found: dict[str, bytes] = {}
    names = [""]
    for name in names:
        with os.scandir(path / name) as listing:
            members = list(listing)
        for member in members:
            if member.is_symlink():
                leads_out = not Path(os.path.realpath(member.path)).is_relative_to(home)
                if leads_out or member.is_dir():
                    raise StorageError(
                        f"Container.load: {str(path)!r}: {member.path!r} is a link that leads "
                        f"{'out of the' if leads_out else 'to a'} directory, and is not followed"
                    )
            elif member.is_dir():
                names.append(f"{name}/{member.name}" if name else member.name)
            if member.name == description:
                found[name] = Path(member.path).read_bytes()
    return found


def _described(text: bytes) -> tuple[Any, set[str]] | None:
    """The parsed metadata and the names of all codecs; None for a group."""
    zarr, node = library(), json.loads(text)
    if node.get("node_type", "array") == "group":
        return None
    nowhere = zarr.storage.StorePath(zarr.storage.MemoryStore())
    metadata = zarr.AsyncArray(node, nowhere).metadata
    return metadata, _codec_names(metadata.to_dict())


def _entry(path: Path, name: str, array: Any, codecs: set[str]) -> Entry:
    where = f"Container.load: {str(path)!r}: {name!r}"
    if odd := sorted(codecs - _CODECS):
        raise StorageError(
            f"{where} needs the codec {odd[0]!r}, which is not one of those that only compress "
            f"({', '.join(sorted(_CODECS))})"
        )
    if array.dtype.name not in NATIVE:
        return Entry("object", tuple(array.shape))
    entry = Entry(array.dtype.name, tuple(array.shape))
    for shape in (entry.shape, array.chunks, array.shards or ()):
        check_size(path, name, Entry(entry.dtype, tuple(shape)), array.nbytes_stored)
    return entry


def _codec_names(node: Any) -> set[str]:
    """The names of all codecs in an array's metadata of format 2 or 3, including nested ones."""
    found: set[str] = set()
    for key in ("codecs", "index_codecs", "filters", "compressor"):
        codecs = node.get(key) or ()
        for codec in (codecs,) if isinstance(codecs, dict) else codecs:
            found.add(str(codec.get("name") or codec.get("id")).removeprefix("numcodecs."))
            found |= _codec_names({**codec, **(codec.get("configuration") or {})})
    return found


def open(path: Path, *, writable: bool) -> Source:
    """The store as a `Source`."""
    return ZarrSource(path)
