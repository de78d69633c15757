"""Stores of Zarr: ours as zarr reads them, and zarr's as we do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from zarr.codecs import BytesCodec, TransposeCodec

import nestarray as na
from nestarray.errors import StorageError

_SHAPES = [(), (0,), (3, 0), (5,), (2, 3), (700, 1001)]  # the last in several chunks


@pytest.mark.parametrize("dtype", ["bool", "int64", "float16", "complex64"])
def test_zarr_reads_what_is_written(tmp_path: Path, dtype: str) -> None:
    arrays = {f"w{i}": (np.arange(np.prod(s)) % 7 - 3).reshape(s) for i, s in enumerate(_SHAPES)}
    c = na.Container(a=arrays, b={"c": arrays}).map(lambda x: x.astype(dtype))
    c.save(tmp_path / "c.zarr", metadata={"licence": "MIT"})
    group = zarr.open_group(tmp_path / "c.zarr", mode="r")
    assert group.attrs["metadata"] == {"licence": "MIT"}
    assert {name for name, _ in group.members(max_depth=None)} >= {"a", "b", "b/c", *c.paths()}
    loaded = na.Container.load(tmp_path / "c.zarr")
    for path, expected in zip(c.paths(), c.leaves(), strict=True):
        found: Any = group[path]
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        np.testing.assert_array_equal(found[...], expected)
        np.testing.assert_array_equal(loaded[path], expected)
    wide: Any = group["a/w5"]
    assert wide.nchunks_initialized == wide.nchunks > 1


@pytest.mark.parametrize("shape", _SHAPES)
def test_arrays_in_any_order_of_memory(tmp_path: Path, shape: tuple[int, ...]) -> None:
    x = np.asfortranarray(np.arange(np.prod(shape)).reshape(shape)).astype(">i4")
    na.Container(x=x, turned=x.T).save(tmp_path / "c.zarr")
    c = na.Container.load(tmp_path / "c.zarr")
    np.testing.assert_array_equal(c.x, x)
    np.testing.assert_array_equal(c.turned, x.T)


@pytest.mark.release
@pytest.mark.parametrize(
    "settings",
    [
        {"chunks": (2, 2), "compressors": None},
        {"chunks": (4, 9), "compressors": None},
        {"chunks": (2, 2), "compressors": None, "fill_value": 7},
        {"chunks": (2, 2), "compressors": None, "chunk_key_encoding": {"name": "v2"}},
        {"chunks": (2, 2), "compressors": None, "serializer": BytesCodec(endian="big")},
        {"chunks": (2, 2), "compressors": None, "filters": [TransposeCodec(order=(1, 0))]},
        {"chunks": (2, 2), "shards": (4, 4)},
        {"zarr_format": 2, "chunks": (2, 2), "compressors": None, "order": "F"},
    ],
)  # fmt: skip
def test_what_zarr_writes_is_read(tmp_path: Path, settings: dict[str, Any]) -> None:
    settings = {"zarr_format": 3, **settings}
    group = zarr.open_group(tmp_path / "c.zarr", mode="w", zarr_format=settings.pop("zarr_format"))
    array = group.create_array("x", shape=(3, 5), dtype="float32", **settings)
    array[:2, 2:4] = [[1, 2], [3, 4]]
    expected = np.full((3, 5), settings.get("fill_value", 0))
    expected[:2, 2:4] = [[1, 2], [3, 4]]
    c = na.Container.load(tmp_path / "c.zarr")
    assert c.x.dtype == np.float32
    np.testing.assert_array_equal(c.x, expected)


@pytest.mark.parametrize("size", [0, 7, 9, 16])
def test_a_chunk_of_another_size(tmp_path: Path, size: int) -> None:
    path = tmp_path / "c.zarr"
    na.Container(a={"w": np.ones(1)}).save(path)
    (path / "a/w/c/0").write_bytes(bytes(size))
    with pytest.raises(StorageError) as info:
        na.Container.load(path)
    reason = "cannot reshape" if size % 8 == 0 else "When changing to a larger dtype"
    assert str(info.value).startswith(f"Container.load: '{path}': 'a/w' cannot be read: {reason}")
    with pytest.raises(StorageError, match="'a/w' cannot be read"):
        na.Container.load(path, lazy=True).a.w[0]


def test_arrays_are_those_that_are_there(tmp_path: Path) -> None:
    """A list in the root's description may be old, or made to lead elsewhere."""
    path = tmp_path / "c.zarr"
    na.Container(w=np.ones(3)).save(path)
    group = json.loads((path / "zarr.json").read_text())
    array = json.loads((path / "w/zarr.json").read_text())
    names = {name: {**array, "shape": [2]} for name in ("w", "x", "../c.zarr/w")}
    listed = {"kind": "inline", "must_understand": False, "metadata": names}
    (path / "zarr.json").write_text(json.dumps({**group, "consolidated_metadata": listed}))
    for c in (na.Container.load(path), na.Container.load(path, flat=True)):
        assert c.paths() == ("w",)
        np.testing.assert_array_equal(c.w, np.ones(3))


def test_groups_that_are_not_described(tmp_path: Path) -> None:
    path = tmp_path / "c.zarr"
    na.Container(a={"w": np.ones(3)}).save(path)
    (path / "a/zarr.json").unlink()
    np.testing.assert_array_equal(na.Container.load(path).a.w, np.ones(3))


def test_links_inside(tmp_path: Path) -> None:
    path = tmp_path / "c.zarr"
    na.Container(v=np.zeros(3), w=np.ones(3)).save(path)
    (path / "v/c/0").unlink()
    (path / "v/c/0").symlink_to(path / "w/c/0")
    np.testing.assert_array_equal(na.Container.load(path).v, np.ones(3))
    (path / "circle").symlink_to(path)
    with pytest.raises(StorageError) as info:
        na.Container.load(path)
    assert str(info.value) == (
        f"Container.load: '{path}': '{path}/circle' is a link that leads to a directory, and is not "
        "followed"
    )
