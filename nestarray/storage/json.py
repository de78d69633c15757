"""JSON: arrays as numbers in text, for small trees to be read by people or other languages.

Numbers are restored exactly. Arrays with a dtype that NumPy lacks are stored as integers of the
same bits. JSON of other programs is read as a tree of dicts, lists and plain values.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from nestarray.container import Container
from nestarray.errors import StorageError
from nestarray.storage.elements import BITS, NATIVE
from nestarray.storage.plan import Plan, dotted
from nestarray.storage.source import Entry, Source
from nestarray.storage.structure import RESERVED, ArrayOf, parse_json

NATIVE_DTYPES = NATIVE | set(BITS)
naming, separator = dotted, "."


def write(path: Path, plan: Plan) -> None:
    """Write a document array by array, so that only one array is in memory as text."""
    with path.open("w", encoding="utf-8") as file:
        head = {
            "format": RESERVED,
            RESERVED: json.loads(plan.structure),
            "metadata": plan.metadata,
        }
        file.write(json.dumps(head, indent=1)[:-2] + ',\n "arrays": {')
        for number, (name, (dtype, shape)) in enumerate(plan.entries.items()):
            array = {"dtype": dtype, "shape": shape, **_numbers(plan.elements(name))}
            file.write(f"{',' if number else ''}\n  {json.dumps(name)}: ")
            json.dump(array, file, allow_nan=False)
        file.write("\n }\n}\n")


def _numbers(elements: np.ndarray) -> dict[str, list[Any]]:
    """The elements in one list; a complex number as two, infinities and NaN as strings.

    If a NaN has an unusual payload, all elements are stored as integers of their bits.
    """
    flat = elements.reshape(-1)
    if flat.dtype.kind == "c":
        flat = flat.view(f"f{flat.itemsize // 2}")
    numbers = flat.tolist()
    if flat.dtype.kind == "f" and not np.isfinite(flat).all():
        bits = flat.view(f"u{flat.itemsize}")
        if (bits[np.isnan(flat)] != np.array(np.nan, flat.dtype).view(bits.dtype)).any():
            return {"bits": bits.tolist()}
        numbers = [x if math.isfinite(x) else repr(x) for x in numbers]
    return {"elements": numbers}


class JsonSource(Source):
    """A document saved by nestarray or by another program."""

    def __init__(self, path: Path) -> None:
        self._document = parse_json(path.read_bytes())
        if not isinstance(self._document, dict) or not (
            RESERVED in self._document or self._document.get("format") == RESERVED
        ):
            super().__init__(path, {})
            return
        self._arrays = self._document["arrays"]
        entries = {}
        for name, array in self._arrays.items():
            entry = Entry(str(array["dtype"]), tuple(array["shape"]))
            count = len(array["bits"] if "bits" in array else array["elements"])
            parts = 2 if entry.dtype.startswith("complex") else 1
            if entry.dtype not in NATIVE_DTYPES or any(
                type(n) is not int or n < 0 for n in entry.shape
            ):
                raise ValueError(f"{name!r} has the dtype {entry.dtype!r}, the shape {entry.shape}")
            if count != parts * math.prod(entry.shape):
                raise ValueError(f"{name!r} has {count} elements and the shape {entry.shape}")

            entries[name] = entry
        texts = {str(k): str(v) for k, v in self._document["metadata"].items()}
        super().__init__(path, entries, json.dumps(self._document[RESERVED]), texts)

    def layout(self, array_of: ArrayOf) -> Container:
        """The saved Container, or the document itself."""
        return Container(self._plain()) if self.structure is None else super().layout(array_of)

    def flat(self, array_of: ArrayOf) -> dict[str, Any]:
        """Name → reference; for a document of another program, path → value."""
        if self.structure is not None:
            return super().flat(array_of)
        return Container(self._plain()).to_flat_dict(".")

    def _plain(self) -> Any:
        if isinstance(self._document, (dict, list)):
            return self._document
        raise StorageError(
            f"Container.load: {str(self.path)!r} holds one {type(self._document).__name__}, expected "
            "an object or a list"
        )

    def read(self, name: str) -> np.ndarray:
        """The elements of an array."""
        dtype, shape = self.entries[name]
        kind = np.dtype(BITS.get(dtype, dtype))
        array = self._arrays[name]
        numbers = array["bits"] if "bits" in array else array["elements"]
        own = np.dtype(f"f{kind.itemsize // 2}" if kind.kind == "c" else kind)
        if "bits" in array:
            own = np.dtype(f"u{own.itemsize}")
        if own.kind == "f":
            numbers = [float(x) for x in numbers]
        elif not all(type(x) is (bool if own.kind == "b" else int) for x in numbers):
            raise ValueError(f"{name!r} holds other things than {dtype}")
        return np.array(numbers, own).view(kind).reshape(shape)


def open(path: Path, *, writable: bool) -> Source:
    """The file as a `Source`."""
    return JsonSource(path)
