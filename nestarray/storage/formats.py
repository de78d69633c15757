"""Selection of the format by suffix, and the tree of stored arrays of an open file."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import Any, NoReturn

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
from nestarray.storage.source import Entry, Source, reading
from nestarray.storage.stored import StoredArray
from nestarray.storage.structure import reason

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
    arrays: dict[str, StoredArray] = {}

    def array_of(name: str, dtype: str | None) -> StoredArray:
        if name not in arrays:
            entry = None if dtype is None else _declared(source, name, dtype)
            arrays[name] = StoredArray(source, name, entry, backend, mapped)
        return arrays[name]

    try:
        c = Container(source.flat(array_of)) if flat else source.layout(array_of)
    except StructureError as error:
        raise StorageError(
            f"Container.load: {str(source.path)!r}: the names in it are no tree ({reason(error)}); load "
            "it with flat=True"
        ) from error
    if arrays.keys() != source.entries.keys():
        _refuse(source, arrays)
    return c


def _refuse(source: Source, names: Collection[str]) -> NoReturn:
    """Raise the error for a structure that names other arrays than the file has."""
    missing = [name for name in names if name not in source.entries]
    more = [name for name in source.entries if name not in names]
    text = (
        "its structure names {!r}, which is not in it"
        if missing
        else ("{!r} is in it, but not in its structure")
    )
    raise StorageError(
        f"Container.load: {str(source.path)!r}: {text.format((missing or more)[0])}; it was changed by "
        "another program: load it with flat=True, which takes the arrays by their names"
    )


def _declared(source: Source, name: str, declared: str) -> Entry:
    """The dtype and shape of an array whose dtype the format lacks, so that the structure has it."""
    if name not in source.entries:
        _refuse(source, [name])
    dtype, shape = source.entries[name]
    if declared == dtype or BITS.get(declared) == dtype:
        return Entry(declared, shape)
    if (declared, dtype, shape[-1:]) == ("complex128", "float64", (2,)):
        return Entry(declared, shape[:-1])
    raise StorageError(
        f"Container.load: {str(source.path)!r}: {name!r} holds {dtype}, but its structure says "
        f"{declared}; load it with flat=True"
    )
