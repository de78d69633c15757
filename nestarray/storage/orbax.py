"""Checkpoints of Orbax: read-only, through tensorstore, without Orbax or JAX.

A checkpoint is a directory. ``_METADATA`` lists the keys of each leaf, and each array is a Zarr
array, in a directory or in an OCDBT database. Their JSON descriptions have shapes and dtypes, so
opening a checkpoint reads no elements. The codecs that tensorstore knows only compress.

https://orbax.readthedocs.io/en/latest/guides/checkpoint/checkpoint_format.html
https://google.github.io/tensorstore/kvstore/ocdbt/index.html
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from nestarray import lazy_imports
from nestarray.container import Container
from nestarray.errors import StorageError
from nestarray.storage.elements import BITS, NATIVE
from nestarray.storage.source import Entry, Source, check_size, is_forward_slice
from nestarray.storage.structure import ArrayOf, Reference, parse_json, resolve

#: Why `Container.save` does not write this format.
READ_ONLY = "save as .safetensors, or with orbax: it takes c.to_dict()"

_TREE, _STEP, _STRINGS = "_METADATA", "_CHECKPOINT_METADATA", "_strings.json"
_SEQUENCE = 1
#: Values without an array, by their type in the metadata.
_EMPTY = {"None": None, "Dict": {}, "List": [], "Tuple": (), "NamedTuple": {}}


def library() -> Any:
    """The package tensorstore."""
    return lazy_imports.optional("tensorstore", "Orbax checkpoints need", extra="orbax")


def is_checkpoint(path: Path) -> bool:
    """Whether a directory is a checkpoint, an item of one, or a folder of numbered checkpoints."""
    names = (_TREE, _STEP)
    return any((path / name).is_file() for name in names) or bool(_steps(path))


def _steps(path: Path) -> list[Path]:
    numbered = [p for p in path.iterdir() if p.name.isdigit() and p.is_dir()]
    return sorted((p for p in numbered if (p / _STEP).is_file()), key=lambda p: int(p.name))


def find(path: Path) -> Path:
    """The directory with ``_METADATA`` for a directory that `is_checkpoint`.

    Raises:
        StorageError: there is no tree, or there are several trees or checkpoints.
    """
    where = f"Container.load: {str(path)!r}"
    if (path / _TREE).is_file():
        return path
    found = sorted(p for p in path.iterdir() if (p / _TREE).is_file())
    choices = found or _steps(path)
    if len(choices) == 1:
        return find(choices[0])
    if not choices:
        raise StorageError(f"{where} is a checkpoint of Orbax without a tree ({_TREE})")
    raise StorageError(
        f"{where} holds {len(choices)} {'trees' if found else 'checkpoints'}; name one of "
        f"{', '.join(repr(str(p)) for p in choices[-4:])}"
    )


class OrbaxSource(Source):
    """The tree of one checkpoint."""

    def __init__(self, path: Path) -> None:
        self._stored = 0
        for member in path.rglob("*"):
            self._stored += member.lstat().st_size
            if member.is_symlink():
                raise StorageError(
                    f"Container.load: {str(path)!r}: {member.name!r} is a link, which may lead out of "
                    "the directory, and is not followed"
                )
        document = parse_json((path / _TREE).read_bytes())
        self._is_database = bool(document.get("use_ocdbt", (path / "manifest.ocdbt").exists()))
        self._driver = "zarr3" if document.get("use_zarr3") else "zarr"
        self._path = path
        strings = path / _STRINGS
        self._strings = parse_json(strings.read_bytes()) if strings.is_file() else {}
        leaves = [self._leaf(row) for row in document["tree_metadata"].values()]
        names = [leaf.name for _, leaf in leaves if isinstance(leaf, Reference)]
        super().__init__(path, dict(zip(names, self._entries(names), strict=True)))
        self._tree = _nested(leaves)

    def _leaf(self, row: dict[str, Any]) -> tuple[list[tuple[Any, int]], Any]:
        keys = [(str(key["key"]), int(key["key_type"])) for key in row["key_metadata"]]
        value, name = row["value_metadata"], ".".join(key for key, _ in keys)
        kind = value["value_type"]
        if value.get("skip_deserialize") and kind in _EMPTY:
            return keys, _EMPTY[kind]
        if not self._is_database and not {".", ".."}.isdisjoint(name.split("/")):
            raise ValueError(f"the name {name!r} leads to another directory")
        if kind == "string":
            return keys, str(self._strings[name])
        return keys, Reference(name)

    def _base(self) -> dict[str, Any]:
        files = {"driver": "file", "path": f"{self._path}/"}
        return {"driver": "ocdbt", "base": files} if self._is_database else files

    def _entries(self, names: list[str]) -> list[Entry]:
        """The description of each array, from its JSON document."""
        store = library().KvStore.open(self._base()).result()
        file = "zarr.json" if self._driver == "zarr3" else ".zarray"
        texts = [store.read(f"{name}/{file}") for name in names]
        entries = [_entry(name, text.result().value) for name, text in zip(names, texts)]
        for name, entry in zip(names, entries):
            check_size(self._path, name, entry, lambda: self._stored)
        return entries

    def layout(self, array_of: ArrayOf) -> Container:
        """The tree of the checkpoint; tuples and named tuples are as Orbax stores them."""
        return resolve(Container(self._tree), array_of)

    def flat(self, array_of: ArrayOf) -> dict[str, Any]:
        """Joined name → leaf."""
        return resolve(Container(self._tree), array_of).to_flat_dict(".")

    def _array(self, name: str) -> Any:
        kvstore = self._base()
        kvstore["path"] = f"{kvstore.get('path', '')}{name}/"
        return library().open({"driver": self._driver, "kvstore": kvstore}, read=True).result()

    def read(self, name: str) -> np.ndarray:
        """The elements of an array."""
        return self.part(name, ())

    def part(self, name: str, index: Any) -> np.ndarray:
        """The elements of a part of an array; only its chunks are read."""
        if not is_forward_slice(index):
            return super().part(name, index)
        dtype = self.entries[name].dtype
        elements = np.array(self._array(name)[index].read().result(), order="C")
        return elements.view(BITS.get(dtype, dtype))


def _entry(name: str, text: bytes) -> Entry:
    document = json.loads(text or "null")
    if not isinstance(document, dict):
        raise ValueError(f"there is no array {name!r}")
    dtype = document["data_type"] if "data_type" in document else document["dtype"]
    dtype = str(dtype) if dtype in NATIVE or dtype in BITS else np.dtype(dtype).name
    if dtype not in NATIVE and dtype not in BITS:
        raise ValueError(f"{name!r} has the dtype {dtype!r}, expected numbers or bools")
    return Entry(dtype, tuple(int(n) for n in document["shape"]))


def _nested(leaves: list[tuple[list[tuple[Any, int]], Any]]) -> Any:
    """Dicts and lists from the keys and the value of each leaf."""
    if leaves and not leaves[0][0]:
        return leaves[0][1]
    members: dict[str, list[tuple[list[tuple[Any, int]], Any]]] = {}
    for keys, value in leaves:
        members.setdefault(keys[0][0], []).append((keys[1:], value))
    if leaves and all(keys[0][1] == _SEQUENCE for keys, _ in leaves):
        return [_nested(members[str(i)]) for i in range(len(members))]
    return {key: _nested(inner) for key, inner in members.items()}


def open(path: Path, *, writable: bool) -> Source:
    """The checkpoint as a `Source`."""
    return OrbaxSource(path)
