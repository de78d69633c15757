"""The content of a file, determined before the first byte is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import numpy as np

from nestarray.backends import is_array
from nestarray.container import Container
from nestarray.container.spec import Path as KeyPath
from nestarray.errors import ArgumentError
from nestarray.storage.elements import dtype_name, num_bytes, to_elements
from nestarray.storage.source import Entry
from nestarray.storage.stored import StoredArray
from nestarray.storage.structure import RESERVED, Reference, encode


@dataclass(frozen=True)
class Plan:
    """Arrays by name, the structure as text, and metadata."""

    arrays: dict[str, Any]
    entries: dict[str, Entry]
    structure: str
    metadata: dict[str, str]

    def elements(self, name: str) -> np.ndarray:
        """The elements of an array as stored in files."""
        leaf = self.arrays[name]
        return leaf.elements() if isinstance(leaf, StoredArray) else to_elements(leaf)

    def size(self, name: str) -> int:
        """The bytes of an array."""
        return num_bytes(*self.entries[name])


Naming = Callable[[KeyPath], str]


def dotted(path: KeyPath) -> str:
    """``("layer", 0, "w")`` as ``"layer.0.w"``, as torch names parameters."""
    return _text(".".join(map(str, path)))


def _text(name: str) -> str:
    """`name` without lone surrogates, which cannot be encoded."""
    return name.encode("utf-8", "replace").decode()


def dotted_file_name(path: KeyPath) -> str:
    """As `dotted`, with escapes for characters that may form a path when an archive is unpacked."""
    return ".".join(quote(_text(str(key)), safe=" ~") for key in path)


def grouped(path: KeyPath) -> str:
    """``("layer", 0, "w")`` as ``"layer/0/w"``, for formats with groups; keys are escaped."""
    keys = [quote(_text(str(key)), safe=" ~") for key in path]
    return "/".join(map(_not_reserved, keys))


def _not_reserved(key: str) -> str:
    """A key that is not reserved as a group name: "", ".", "..", or by Zarr."""
    if key.startswith((".", "__")) or key == "zarr.json":
        return f"%{ord(key[0]):02X}{key[1:]}"
    return key or "%"


def make_plan(
    c: Container,
    metadata: Mapping[str, str] | None,
    naming: Naming,
    *,
    native: Iterable[str],
    separator: str = ".",
) -> Plan:
    """Check that everything in `c` can be stored, and choose names.

    Args:
        c: the Container to save.
        metadata: strings to store with it.
        naming: path → name of the array.
        native: the names of the dtypes that the format supports.
        separator: "/" if names with slashes create groups, whose names arrays cannot have.

    Raises:
        ArgumentError, DtypeError: a leaf or an entry of `metadata` cannot be stored.
    """
    native = frozenset(native)
    arrays: dict[str, Any] = {}
    entries: dict[str, Entry] = {}
    known: dict[int, Reference] = {}  # shared arrays are stored once
    names = _Names()
    leaves: list[Any] = []
    for keys, path, leaf in zip(c.spec.paths, c.spec.path_names, c.leaves(), strict=True):
        if not (isinstance(leaf, StoredArray) or is_array(leaf)):
            leaves.append(leaf)
            continue
        if id(leaf) not in known:
            dtype = leaf.dtype_name if isinstance(leaf, StoredArray) else dtype_name(leaf, path)
            name = _free_name(naming(keys), names, separator)
            shape = tuple(int(n) for n in leaf.shape)
            arrays[name], entries[name] = leaf, Entry(dtype, shape)
            known[id(leaf)] = Reference(name, None if dtype in native else dtype)
        leaves.append(known[id(leaf)])
    return Plan(arrays, entries, encode(c.spec, leaves), _checked_metadata(metadata))


def _free_name(name: str, names: _Names, separator: str) -> str:
    """`name`, or the first free one of ``name~2``, ``name~3`` …."""
    candidate, number = name, 1
    # a group with the same name as an array is renamed
    first, slash, rest = name.partition("/") if separator == "/" else (name, "", "")
    while not names.reserve(candidate, separator):
        number += 1
        candidate = f"{first}~{number}{slash}{rest}"
    return candidate


class _Names:
    """The names of arrays so far, and of their groups."""

    def __init__(self) -> None:
        self._arrays = {"", RESERVED, "__metadata__"}
        self._groups: set[str] = set()

    def reserve(self, name: str, separator: str) -> bool:
        """Reserve `name` for an array; returns False if it is taken."""
        keys = name.split("/") if separator == "/" else [name]
        above = {"/".join(keys[:end]) for end in range(1, len(keys))}
        if name in self._arrays or name in self._groups or above & self._arrays:
            return False
        self._arrays.add(name)
        self._groups |= above
        return True


def _checked_metadata(metadata: Mapping[str, str] | None) -> dict[str, str]:
    found = dict(metadata or {})
    for key, value in found.items():
        if not (isinstance(key, str) and isinstance(value, str)):
            raise ArgumentError(
                f"Container.save: metadata: got {key!r}: {value!r}, expected strings; use "
                "json.dumps, or make it a leaf of the Container"
            )
        if key == RESERVED:
            raise ArgumentError(
                f"Container.save: metadata: the key {RESERVED!r} is the structure's; use another"
            )
        try:
            (key + value).encode()
        except UnicodeEncodeError as error:
            raise ArgumentError(f"Container.save: metadata: {key!r} is no text: {error}") from error
    return found
