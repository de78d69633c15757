"""Selection of the format by suffix, and the tree of stored arrays of an open file."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

from nestarray.container import Container
from nestarray.container.arguments import refuse
from nestarray.errors import ArgumentError, StorageError, StructureError
from nestarray.storage import (
    hdf5,
    json,
    keras,
    msgpack,
    npz,
    orbax,
    safetensors,
    shards,
    torch,
    zarr,
)
from nestarray.storage.elements import BITS
from nestarray.storage.source import Source, reading
from nestarray.storage.stored import StoredArray
from nestarray.storage.structure import Reference, reason

#: Format → its module.
FORMATS: dict[str, Any] = {
    "safetensors": safetensors, "npz": npz, "hdf5": hdf5, "zarr": zarr, "json": json, "torch": torch,
    "keras": keras, "msgpack": msgpack, "orbax": orbax,
}  # fmt: skip
#: Suffix → format; the first that fits is used.
SUFFIXES = {
    ".weights.h5": "keras",
    ".safetensors": "safetensors", ".npz": "npz", ".h5": "hdf5", ".hdf5": "hdf5", ".zarr": "zarr",
    ".json": "json", ".pt": "torch", ".pth": "torch", ".bin": "torch",
    ".ckpt": "torch", ".keras": "keras", ".msgpack": "msgpack",
}  # fmt: skip


def checked_path(function: str, path: Any) -> Path:
    """The path argument of a public function, checked."""
    if not isinstance(path, (str, os.PathLike)):
        refuse(function, "path", path, "the name of a file, text or a Path")
    return Path(path)


def open_source(function: str, path: Path, format: str | None, *, writable: bool = False) -> Source:
    """The open file, or sharded model, at `path`."""
    is_store = path.is_dir() and "zarr" in (format, SUFFIXES.get(path.suffix.lower()))
    if path.is_dir() and not is_store and (format == "orbax" or orbax.is_checkpoint(path)):
        place, format = orbax.find(path), "orbax"
    else:
        place = path if is_store else shards.find(path)
    with reading(place):
        if shards.is_index(place):
            module = shards
        else:
            content = None if format or _of_suffix(place) else _of_content(place)
            module = FORMATS[name_of(function, place, format, content)]
        source = module.open(place, writable=writable)
    source.writable = writable
    return source


def name_of(function: str, path: Path, format: str | None, default: str | None = None) -> str:
    """The name of the given format, or of the format of the suffix."""
    if format is not None:
        if format in FORMATS:
            return format
        raise ArgumentError(
            f"{function}: format: got {format!r}, expected one of {', '.join(FORMATS)}"
        )
    found = _of_suffix(path) or default
    if found is None and path.is_dir():
        raise ArgumentError(
            f"{function}: path: got {str(path)!r}, a directory; name a file in it, such as "
            f"{str(path / 'model.safetensors')!r}, or say max_shard_bytes=, for several and their index"
        )
    if found is None:
        raise ArgumentError(
            f"{function}: path: got {str(path)!r}, whose suffix is of no format; expected "
            f"one of {', '.join(SUFFIXES)}, or say format="
        )
    return found


def _of_suffix(path: Path) -> str | None:
    """The format of the suffix of a path."""
    name = path.name.lower()
    return next((f for suffix, f in SUFFIXES.items() if name.endswith(suffix)), None)


def _of_content(path: Path) -> str | None:
    """The format of a file without a known suffix, by its first bytes or the members of a zip."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        start = file.read(9)
    if start.startswith(b"\x89HDF"):
        return "hdf5"
    if start[8:] == b"{" and int.from_bytes(start[:8], "little") < path.stat().st_size:
        return "safetensors"
    if not zipfile.is_zipfile(path):
        return None
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    if keras.WEIGHTS in names:
        return "keras"
    is_npz = all(name.endswith(".npy") for name in names)
    is_torch = any(name.endswith("/data.pkl") for name in names)
    return "npz" if is_npz else "torch" if is_torch else None


def with_stored_arrays(source: Source, backend: str, mapped: bool, flat: bool) -> Container:
    """The tree in a file, with a `StoredArray` for every array; shared arrays are one object."""
    known: dict[tuple[str, str | None], StoredArray] = {}

    def of_leaf(leaf: Any) -> Any:
        if not isinstance(leaf, Reference):
            return leaf
        key = leaf.name, leaf.dtype
        if key not in known:
            dtype, shape = _declared(source, leaf)
            known[key] = StoredArray(source, leaf.name, dtype, shape, backend, mapped)
        return known[key]

    try:
        c = Container(source.flat()) if flat else source.layout()
    except StructureError as error:
        raise StorageError(
            f"Container.load: {str(source.path)!r}: the names in it are no tree ({reason(error)}); load "
            "it with flat=True"
        ) from error
    return c.map(of_leaf)


def _declared(source: Source, leaf: Reference) -> tuple[str, tuple[int, ...]]:
    """The dtype and shape of an array; the structure stores dtypes that the format lacks."""
    dtype, shape = source.entries[leaf.name]
    if leaf.dtype in (None, dtype):
        return dtype, shape
    if BITS.get(str(leaf.dtype)) == dtype:
        return str(leaf.dtype), shape
    if (leaf.dtype, dtype, shape[-1:]) == ("complex128", "float64", (2,)):
        return "complex128", shape[:-1]
    raise StorageError(
        f"Container.load: {str(source.path)!r}: {leaf.name!r} holds {dtype}, but its structure says "
        f"{leaf.dtype}; load it with flat=True"
    )
