"""Weights of Keras 3, read-only and without Keras: ``.keras`` archives and ``.weights.h5`` files.

An archive is a zip with ``model.weights.h5`` in it; its configuration, which may name functions to
import, is not read. Keras numbers the variables of a layer: ``layers/dense/vars/0``. They get the
paths of the variables in a model here, ``head/kernel`` for a `Dense` with the name "head". Variables
of layers that the table does not know keep their numbers.

https://keras.io/guides/serialization_and_saving/
"""

from __future__ import annotations

import builtins
import io
import re
import struct
import zipfile
from pathlib import Path
from typing import Any

from nestarray.errors import StorageError
from nestarray.storage.hdf5 import Hdf5Source
from nestarray.storage.source import Entry, Source, check_size
from nestarray.storage.structure import parse_json

#: Why `Container.save` does not write this format.
READ_ONLY = "save as .safetensors, or write c.load_into_keras(model).save(path)"

WEIGHTS, _METADATA = "model.weights.h5", "metadata.json"
_KERNEL = ("kernel", "bias")
_SCALE = ("gamma", "beta")
_CELL = ("kernel", "recurrent_kernel", "bias")
#: Class of a layer, as Keras writes it in paths → its variables, in order.
_VARIABLES = {
    **dict.fromkeys(("dense", "einsum_dense", "query_dense", "key_dense", "value_dense", "output_dense"), _KERNEL),
    **dict.fromkeys((f"conv{n}d{end}" for n in (1, 2, 3) for end in ("", "_transpose")), _KERNEL),
    **dict.fromkeys(("depthwise_conv1d", "depthwise_conv2d"), _KERNEL),
    **dict.fromkeys(("separable_conv1d", "separable_conv2d"), ("depthwise_kernel", "pointwise_kernel", "bias")),
    **dict.fromkeys(("layer_normalization", "group_normalization"), _SCALE),
    **dict.fromkeys(("lstm_cell", "gru_cell", "simple_rnn_cell"), _CELL),
    "batch_normalization": (*_SCALE, "moving_mean", "moving_variance"),
    "embedding": ("embeddings",),
    "p_re_lu": ("alpha",),
}  # fmt: skip
#: Groups that only hold layers.
_HOLDERS = ("layers", "_layer_checkpoint_dependencies")
#: Bytes of a local header of a zip, which ends with the lengths of the name and the extra field.
_HEADER = 30
_NUMBER = re.compile(r"_\d+$")


class _Window(io.RawIOBase):
    """The bytes of a file from `start` on, as a file of `size` bytes."""

    def __init__(self, path: Path, start: int, size: int) -> None:
        self._file = builtins.open(path, "rb")  # noqa: SIM115 - open as long as this one
        self._start, self._size = start, size
        self._place = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = 0, /) -> int:
        self._place = offset + (0, self._place, self._size)[whence]
        return self._place

    def readinto(self, buffer: Any, /) -> int:
        self._file.seek(self._start + self._place)
        rest = memoryview(buffer)[: max(self._size - self._place, 0)]
        count = self._file.readinto(rest)
        self._place += count
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


class KerasSource(Hdf5Source):
    """The weights of a model."""

    def __init__(self, path: Path, *, writable: bool) -> None:
        texts: dict[str, str] = {}
        file: Any = None
        if zipfile.is_zipfile(path):
            file, texts = _unpacked(path)
        super().__init__(path, writable=writable, file=file)
        self.metadata = {**self.metadata, **texts}
        if self.structure is not None:  # written by nestarray
            return
        names = self._names(by_layer=True)
        if len(set(names.values())) < len(names):  # two layers of one name in nested models
            names = self._names(by_layer=False)
        self.entries = {names[old]: entry for old, entry in self.entries.items()}
        self._datasets = {names[old]: dataset for old, dataset in self._datasets.items()}
        self.unreadable = {names[old]: dtype for old, dtype in self.unreadable.items()}

    def _names(self, *, by_layer: bool) -> dict[str, str]:
        """Name in the file → path of the variable, with the names of layers, or of their classes."""
        groups: dict[str, int] = {}
        for name in self.entries:
            group = name.rpartition("/")[0]
            groups[group] = groups.get(group, 0) + 1
        return {old: self._name(old, groups, by_layer) for old in self.entries}

    def _name(self, old: str, groups: dict[str, int], by_layer: bool) -> str:
        *keys, holder, number = old.split("/") if old.count("/") > 1 else ("", "")
        if holder != "vars" or not number.isdigit():
            return old
        path, layer = [], ""
        for end, key in enumerate(keys, 1):
            layer = self._layer_name("/".join(keys[:end])) or key
            if key not in _HOLDERS:
                path.append(layer if by_layer else key)
        count = groups[old.rpartition("/")[0]]
        variables = _variables(keys[-1], count) or _variables(layer, count)
        return "/".join([*path, variables[int(number)] if variables else number])

    def _layer_name(self, group: str) -> str:
        """The name of the layer of a group; empty if the file does not have it."""
        holder = self._file.get(f"{group}/vars")
        name = "" if holder is None else holder.attrs.get("name", "")
        return name if isinstance(name, str) and "/" not in name else ""


def _variables(layer: str, count: int) -> tuple[str, ...]:
    """The names of the variables of a layer with `count` of them; empty if they are undecided."""
    names = _VARIABLES.get(_NUMBER.sub("", layer), ())
    if len(names) == count:
        return names
    if count == len(names) - 1 and names[-1] == "bias":
        return names[:-1]
    return names[2:] if count == 2 and len(names) == 4 else ()  # a normalization without scale


def _unpacked(path: Path) -> tuple[Any, dict[str, str]]:
    """The file of weights in an archive, and its metadata."""
    with zipfile.ZipFile(path) as archive:
        if WEIGHTS not in archive.namelist():
            raise StorageError(
                f"Container.load: {str(path)!r} is an archive without {WEIGHTS!r}, expected a model of "
                "Keras 3"
            )
        info, texts = archive.getinfo(WEIGHTS), {}
        if _METADATA in archive.namelist() and archive.getinfo(_METADATA).file_size < 2**20:
            document = parse_json(archive.read(_METADATA))
            texts = {str(k): str(v) for k, v in document.items()}
        if info.compress_type == zipfile.ZIP_STORED:
            return io.BufferedReader(_Window(path, _start(path, info), info.file_size)), texts
        entry = Entry("uint8", (info.file_size,))
        check_size(path, WEIGHTS, entry, lambda: info.compress_size)
        return io.BytesIO(archive.read(info)), texts


def _start(path: Path, info: zipfile.ZipInfo) -> int:
    """The place of a member's first byte: after its header, with its name and an extra field."""
    with builtins.open(path, "rb") as file:
        file.seek(info.header_offset)
        header = file.read(_HEADER)
    return info.header_offset + len(header) + sum(struct.unpack("<HH", header[-4:]))


def open(path: Path, *, writable: bool) -> Source:
    """The weights as a `Source`."""
    return KerasSource(path, writable=writable)
