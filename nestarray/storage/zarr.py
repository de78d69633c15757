"""Zarr, a directory of arrays in chunks: nodes are groups.

Arrays are written uncompressed, since weights hardly shrink. Of other programs' stores only
those are read whose codecs compress bytes: a codec that unpickles objects, or a link that
leads out of the directory, is refused.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from nestarray import packages
from nestarray.errors import StorageError
from nestarray.storage.elements import BITS, NATIVE
from nestarray.storage.plan import Plan, grouped
from nestarray.storage.source import Entry, Source, check_size, is_forward_slice
from nestarray.storage.structure import RESERVED

NATIVE_DTYPES = NATIVE
naming, separator = grouped, "/"

#: Codecs that turn bytes into bytes or into numbers, and do nothing else.
_CODECS = frozenset((
    "bytes", "endian", "gzip", "zstd", "blosc", "crc32c", "transpose", "sharding_indexed",
    "zlib", "bz2", "lz4", "lzma", "shuffle", "crc32", "adler32", "fletcher32",
))  # fmt: skip


def library() -> Any:
    """The package zarr."""
    return packages.optional("zarr", "Zarr stores need", extra="zarr")


def write(path: Path, plan: Plan) -> None:
    """Write a store in the format 3."""
    _run_whole(_write(path, plan))


async def _write(path: Path, plan: Plan) -> None:
    zarr = library()
    attributes = {RESERVED: plan.structure, "metadata": plan.metadata}
    nodes = {"": zarr.create_group({}, zarr_format=3, attributes=attributes).metadata}
    # All descriptions are written at once: array by array, each would look for its groups again.
    # Empty chunks are written too, because what is stored says how large the array is.
    describe = cache(_description)
    with zarr.config.set({"array.write_empty_chunks": True}):
        for name, (dtype, shape) in plan.entries.items():
            nodes[name] = describe(BITS.get(dtype, dtype), shape)
        store = zarr.storage.LocalStore(path)
        create = zarr.api.asynchronous.create_hierarchy
        made = {name: node async for name, node in create(store=store, nodes=nodes)}
    for name in plan.arrays:
        await made[name].setitem(..., plan.elements(name))


def _run_whole(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run to the end; when it ends, well or not, nothing that it began is still writing.

    Zarr writes files side by side and leaves at the first failure. In its own loop the others
    would write on, into a directory that is being removed; a loop that closes waits for them.
    """

    async def quiet() -> None:
        # One failure is raised; what became of those beside it is not worth a traceback each.
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
        await coroutine

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(quiet())
    else:  # a notebook's or server's loop runs in this thread
        with ThreadPoolExecutor(1) as executor:
            executor.submit(asyncio.run, quiet()).result()


def _description(dtype: str, shape: tuple[int, ...]) -> Any:
    """What Zarr says of an uncompressed array, asked of one in memory."""
    array = library().create_array({}, shape=shape, dtype=dtype, compressors=None, zarr_format=3)
    return array.metadata


class ZarrSource(Source):
    """A store with a group at its root."""

    separator = "/"

    def __init__(self, path: Path) -> None:
        _check_links(path)
        zarr = library()
        group = zarr.open(store=str(path), mode="r")
        if not isinstance(group, zarr.Group):
            raise StorageError(
                f"Container.load: {str(path)!r} is one array, expected a group of arrays"
            )
        members = sorted(group.members(max_depth=None))
        self._arrays = {name: m for name, m in members if isinstance(m, zarr.Array)}
        entries = {name: _entry(path, name, m) for name, m in self._arrays.items()}
        attributes = dict(group.attrs)
        structure = attributes.pop(RESERVED, None)
        texts = attributes if structure is None else attributes["metadata"]
        texts = {k: v for k, v in texts.items() if isinstance(v, str)}
        super().__init__(path, entries, structure, texts)

    def read(self, name: str) -> np.ndarray:
        """The elements of an array."""
        return self.part(name, ...)

    def part(self, name: str, index: Any) -> np.ndarray:
        """The elements of a part of an array; only its chunks are read."""
        if not is_forward_slice(index):
            return super().part(name, index)
        elements = np.asarray(self._arrays[name][index])
        return elements.astype(self.entries[name].dtype, copy=False)


def _check_links(path: Path) -> None:
    home = Path(os.path.realpath(path))
    for folder, folders, files in os.walk(path):
        for name in (*folders, *files):
            place = Path(folder, name)
            if place.is_symlink() and not Path(os.path.realpath(place)).is_relative_to(home):
                raise StorageError(
                    f"Container.load: {str(path)!r}: {str(place)!r} is a link that leads out of the "
                    "directory, and is not followed"
                )


def _entry(path: Path, name: str, array: Any) -> Entry:
    where = f"Container.load: {str(path)!r}: {name!r}"
    if array.dtype.name not in NATIVE:
        raise StorageError(f"{where} has the dtype {array.dtype}, expected numbers or bools")
    odd = sorted(_codec_names(array.metadata.to_dict()) - _CODECS)
    if odd:
        raise StorageError(
            f"{where} needs the codec {odd[0]!r}, which is not one of those that only compress "
            f"({', '.join(sorted(_CODECS))})"
        )
    entry = Entry(array.dtype.name, tuple(array.shape))
    for shape in (entry.shape, array.chunks, array.shards or ()):
        check_size(path, name, Entry(entry.dtype, tuple(shape)), array.nbytes_stored)
    return entry


def _codec_names(node: Any) -> set[str]:
    """The names of all codecs in an array's metadata, of the format 2 or 3, also inside of others."""
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
