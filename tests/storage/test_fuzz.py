"""Formats of many parts, damaged at random: what loads is a tree, and all else is one error.

`test_hostile.py` has the attacks that have names, and single files.
"""

from __future__ import annotations

import json
import shutil
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import nestarray as na
from nestarray.errors import StorageError

#: Where in a file, as a share of its length; what to do there; a byte.
DAMAGE = st.lists(
    st.tuples(
        st.floats(0, 1, exclude_max=True),
        st.sampled_from(["change", "insert", "remove", "repeat"]),
        st.integers(0, 255),
    ),
    min_size=1,
    max_size=3,
)
FILES = ["../m.safetensors", "/etc/hostname", "", "..", "a/b", "a\0b", "missing.safetensors",
         "m.safetensors.index.json", "sub\\x", "x" * 5_000, 3, None, [], {}]  # fmt: skip
NUMBERS = [0, 1, -1, 8, 24, 48, 49, 2**31, 2**63, 2**64, 10**30, 1.5, "0", None, True]
SHAPES = [[2, 3], [6], [], [-1], [2**40, 2**40], [0], [0, 2**63], [1.5], "x", None, [[1]], [True]]
DTYPES = ["F32", "F64", "I8", "BF16", "F8_E4M3", "F4", "u4", "", None, 1]


def damaged(data: bytes, damage: list[tuple[float, str, int]]) -> bytes:
    changed = bytearray(data)
    for share, how, byte in damage:
        place = int(share * len(changed))
        if how == "change":
            changed[place] = byte
        elif how == "insert":
            changed[place:place] = bytes([byte])
        elif how == "remove":
            del changed[place : place + 1 + byte % 16]
        else:
            changed[place:place] = changed[place : place + 1 + byte]
        if not changed:
            break
    return bytes(changed)


@contextmanager
def folder() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp())
    try:
        yield path
    finally:
        shutil.rmtree(path)


def check(path: Path) -> None:
    """Load a file in every way; it leaves nothing behind, and an error names it."""
    before = sorted(p for p in path.parent.rglob("*"))
    options: dict[str, Any]
    for options in ({}, {"lazy": True}):
        try:
            c = na.Container.load(path, **options)
        except StorageError as error:
            message = str(error)
        else:
            assert len(c.paths()) == len(c.leaves())
            continue
        assert str(path.parent) in message
    assert sorted(p for p in path.parent.rglob("*")) == before


@pytest.mark.parametrize("is_zip", [True, False])
@settings(max_examples=40)
@given(damage=DAMAGE)
def test_damaged_weights_of_torch(is_zip: bool, damage: Any) -> None:
    with folder() as place:
        path = place / "c.pt"
        torch.save(
            {"w": torch.ones(2, 3), "n": [torch.zeros(2), 3]},
            path,
            _use_new_zipfile_serialization=is_zip,
        )
        path.write_bytes(damaged(path.read_bytes(), damage))
        check(path)


@settings(max_examples=25)
@given(share=st.floats(0, 1, exclude_max=True), damage=DAMAGE | st.none())
def test_damaged_parts_of_zarr(share: float, damage: Any) -> None:
    with folder() as place:
        path = place / "c.zarr"
        na.Container(enc={"w": np.arange(6.0).reshape(2, 3)}, b=[np.ones(3, "int8"), "relu"]).save(
            path
        )
        files = sorted(p for p in path.rglob("*") if p.is_file())
        part = files[int(share * len(files))]
        if damage is None:
            part.unlink()
        else:
            part.write_bytes(damaged(part.read_bytes(), damage))
        check(path)


def _shards(place: Path) -> Path:
    tree = na.Container({f"w{i}": np.arange(10.0) + i for i in range(6)})
    tree.save(place / "m.safetensors", max_shard_bytes=200)
    return place / "m.safetensors.index.json"


@settings(max_examples=40)
@given(damage=DAMAGE)
def test_damaged_indices(damage: Any) -> None:
    with folder() as place:
        path = _shards(place)
        path.write_bytes(damaged(path.read_bytes(), damage))
        check(path)


@settings(max_examples=60)
@given(
    entries=st.dictionaries(
        st.sampled_from(["w0", "w1", "w5", "new", "", "a/b"]),
        st.sampled_from(FILES) | st.integers(1, 6).map("m-0000{}-of-00006.safetensors".format),
        min_size=1,
        max_size=3,
    ),
    missing=st.sets(st.sampled_from(["w0", "w3"])),
)
def test_indices_that_name_other_files(entries: dict[str, Any], missing: set[str]) -> None:
    with folder() as place:
        path = _shards(place)
        index = json.loads(path.read_text())
        index["weight_map"] = {
            name: file for name, file in index["weight_map"].items() if name not in missing
        } | entries
        path.write_text(json.dumps(index))
        check(path)


@settings(max_examples=200)
@given(
    header=st.dictionaries(
        st.sampled_from(["a", "b", "a/b", "", "é", "__metadata__"]),
        st.fixed_dictionaries({
            "dtype": st.sampled_from(DTYPES),
            "shape": st.sampled_from(SHAPES),
            "data_offsets": st.sampled_from([[0, 24], [24, 48], [0, 48], []])
            | st.lists(st.sampled_from(NUMBERS), min_size=2, max_size=2),
        }),
        min_size=1,
        max_size=3,
    ),
    length=st.sampled_from([None, None, 0, 1, 100_000_001, 2**40, 2**63]),
)  # fmt: skip
def test_headers_of_any_numbers(header: Any, length: int | None) -> None:
    with folder() as place:
        path = place / "c.safetensors"
        text = json.dumps(header).encode()
        size = struct.pack("<Q", len(text) if length is None else length)
        path.write_bytes(size + text + bytes(48))
        check(path)
