"""Zarr, a directory of arrays in chunks: nodes are groups.

Arrays are written uncompressed, since weights hardly shrink. Of other programs' stores only
those are read whose codecs compress bytes: a codec that unpickles objects, or a link that
leads out of the directory, is refused.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from nestarray import packages
from nestarray.errors import StorageError
from nestarray.storage.elements import BITS, NATIVE, num_bytes
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

#: What an array says whose chunks are its elements, in the order and the bytes that NumPy has them.
_UNCOMPRESSED = (
    ({"name": "bytes", "configuration": {"endian": "little"}},),
    ({"name": "bytes"},),
)


def library() -> Any:
    """The package zarr."""
    return packages.optional("zarr", "Zarr stores need", extra="zarr")


def write(path: Path, plan: Plan) -> None:
    """Write a store in the format 3.

    Zarr says how arrays are described and cut; the files are written here, one after another.
    Its own loop takes ten times as long for small arrays, and after a failure it would write on
    into a directory that is being removed.
    """
    attributes = {RESERVED: plan.structure, "metadata": plan.metadata}
    groups = {"": _group(attributes)}
    describe, inner = cache(_array), _group({})
    for name, (dtype, shape) in plan.entries.items():
        description, array = describe(BITS.get(dtype, dtype), shape)
        above, _, _ = name.rpartition("/")
        while above not in groups:
            groups[above] = inner
            above, _, _ = above.rpartition("/")
        _put(path / name / "zarr.json", description)
        elements = plan.elements(name)
        elements = elements.astype(elements.dtype.newbyteorder("<"), copy=False)
        for file, region in _chunks(array):
            _put(path / name / file, _padded(elements[region], array.chunks))
    for name, description in groups.items():
        _put(path / name / "zarr.json", description)


def _put(file: Path, content: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


def _group(attributes: dict[str, Any]) -> bytes:
    """The description of a group, asked of one in memory."""
    files: dict[str, Any] = {}
    library().create_group(files, zarr_format=3, attributes=attributes)
    return files["zarr.json"].to_bytes()


def _array(dtype: str, shape: tuple[int, ...]) -> tuple[bytes, Any]:
    """The description of an uncompressed array, asked of one in memory; and that array."""
    files: dict[str, Any] = {}
    array = library().create_array(files, shape=shape, dtype=dtype, compressors=None, zarr_format=3)
    return files["zarr.json"].to_bytes(), array


def _chunks(array: Any) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """The file of each chunk of an array in the format 3, and the part that is in it."""
    counts = [-(-n // size) for n, size in zip(array.shape, array.chunks, strict=True)]
    for place in np.ndindex(*counts):
        region = [slice(i * n, (i + 1) * n) for i, n in zip(place, array.chunks, strict=True)]
        yield array.metadata.encode_chunk_key(place), (*region, ...)


def _padded(part: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """A part as its chunk: all chunks have one shape, also those at the end of an axis."""
    if part.shape == shape:
        return np.ascontiguousarray(part)
    whole = np.zeros(shape, part.dtype)
    whole[tuple(map(slice, part.shape))] = part
    return whole


class ZarrSource(Source):
    """A store with a group at its root."""

    separator = "/"

    def __init__(self, path: Path) -> None:
        zarr = library()
        store = zarr.storage.LocalStore(path, read_only=True)
        described = cache(_described)  # many are alike, and zarr takes long to read one
        self._arrays: dict[str, Any] = {}
        self._uncompressed: set[str] = set()
        entries: dict[str, Entry] = {}
        for name, text in sorted(_descriptions(path).items()):
            if (found := described(text)) is None:
                continue
            metadata, codecs, uncompressed = found
            array = zarr.Array(zarr.AsyncArray(metadata, zarr.storage.StorePath(store, name)))
            self._arrays[name], entries[name] = array, _entry(path, name, array, codecs)
            if uncompressed:
                self._uncompressed.add(name)
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

    def read(self, name: str) -> np.ndarray:
        """The elements of an array."""
        if name not in self._uncompressed:
            return self.part(name, ...)
        array, dtype = self._arrays[name], self.entries[name].dtype
        elements = np.empty(array.shape, dtype)
        for file, region in _chunks(array):
            part = elements[region]
            try:
                content = (self.path / name / file).read_bytes()
            except FileNotFoundError:  # what is all fill need not be there
                part[...] = array.fill_value
                continue
            if len(content) != (expected := num_bytes(dtype, array.chunks)):
                raise StorageError(
                    f"Container.load: {str(self.path)!r}: {f'{name}/{file}'!r} has {len(content):,} "
                    f"bytes, expected {expected:,}; the file is damaged"
                )
            chunk = np.frombuffer(content, np.dtype(dtype).newbyteorder("<"))
            part[...] = chunk.reshape(array.chunks)[tuple(map(slice, part.shape))]
        return elements

    def part(self, name: str, index: Any) -> np.ndarray:
        """The elements of a part of an array; only its chunks are read."""
        if not is_forward_slice(index):
            return super().part(name, index)
        elements = np.asarray(self._arrays[name][index])
        return elements.astype(self.entries[name].dtype, copy=False)


def _descriptions(path: Path) -> dict[str, bytes]:
    """What each node of a store says of itself, by its name.

    Raises:
        StorageError: a link leads out of the store, or to a directory, and then maybe in circles.
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


def _described(text: bytes) -> tuple[Any, set[str], bool] | None:
    """What the text of a description says; None if it is a group's.

    Returns:
        (metadata, codecs, uncompressed): zarr's own object; the names of all codecs; whether
        they are `_UNCOMPRESSED`.
    """
    zarr, node = library(), json.loads(text)
    if node.get("node_type", "array") == "group":
        return None
    nowhere = zarr.storage.StorePath(zarr.storage.MemoryStore())
    metadata = zarr.AsyncArray(node, nowhere).metadata
    node = metadata.to_dict()
    return metadata, _codec_names(node), tuple(node.get("codecs", ())) in _UNCOMPRESSED


def _entry(path: Path, name: str, array: Any, codecs: set[str]) -> Entry:
    where = f"Container.load: {str(path)!r}: {name!r}"
    if array.dtype.name not in NATIVE:
        raise StorageError(f"{where} has the dtype {array.dtype}, expected numbers or bools")
    if odd := sorted(codecs - _CODECS):
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
