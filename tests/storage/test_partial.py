"""Reading a part of a file, lazily, and on the mapped file; files of other programs."""

from __future__ import annotations

import copy
import os
import re
import tracemalloc
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import h5py
import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy
import safetensors.torch
import torch
import zarr

import nestarray as na
from nestarray.errors import StorageError
from nestarray.storage import StoredArray
from nestarray.storage import safetensors as safetensors_format
from tests.storage.comparing import SUFFIXES, assert_same, sample


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_patterns_are_those_of_select(tmp_path: Path, suffix: str) -> None:
    c = sample()
    c.save(tmp_path / f"c.{suffix}")
    for patterns in (
        ("encoder",),
        ("**/w", "tuple"),
        (re.compile("b$"),),
        ("plain/*",),
        (lambda path, leaf: getattr(leaf, "shape", ()) == (2, 3),),
        ("nothing",),
    ):
        found = na.Container.load(tmp_path / f"c.{suffix}", *patterns)
        assert_same(found, c.select(*patterns))


def test_only_what_is_selected_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sample().save(tmp_path / "c.safetensors")
    read: list[str] = []
    own = safetensors_format.SafetensorsSource.read_all

    def counted(self: Any, names: Iterable[str]) -> Iterator[np.ndarray]:
        read.extend(names := list(names))
        return own(self, names)

    monkeypatch.setattr(safetensors_format.SafetensorsSource, "read_all", counted)
    na.Container.load(tmp_path / "c.safetensors", "encoder/b", "list/0")
    assert read == ["encoder.b", "list.0"]
    read.clear()
    c = na.Container.load(tmp_path / "c.safetensors", lazy=True)
    assert read == []
    assert c["list/0"].shape == (3, 2)
    c["list/0"].read()
    assert read == ["list.0"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_lazy_leaves_know_what_they_are(tmp_path: Path, suffix: str) -> None:
    c = sample()
    c.save(tmp_path / f"c.{suffix}")
    lazy = na.Container.load(tmp_path / f"c.{suffix}", lazy=True)
    assert lazy.paths() == c.paths()
    assert lazy["plain/0"] == "relu"
    assert lazy["encoder/w"] is lazy["a.b"][0]
    for x, leaf in zip(lazy.leaves(), c.leaves(), strict=True):
        if hasattr(leaf, "dtype"):
            assert isinstance(x, StoredArray)
            assert (x.shape, x.ndim, x.size, x.nbytes) == (
                leaf.shape, leaf.ndim, leaf.size, leaf.nbytes,
            )  # fmt: skip
            assert str(x.dtype) == str(leaf.dtype)
            assert np.asarray(x).tobytes() == np.asarray(leaf).tobytes()
    assert_same(na.storage.read(lazy), c)
    assert_same(na.storage.read(lazy.select("list")), c.select("list"))
    assert na.storage.read({"x": lazy["encoder/w"], "y": 3})["x"].shape == (2, 3)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_parts_of_lazy_arrays(tmp_path: Path, suffix: str) -> None:
    x = np.arange(24.0).reshape(4, 6)
    na.Container(x=x, z=x + 1j, b=x.astype(ml_dtypes.bfloat16)).save(tmp_path / f"c.{suffix}")
    c = na.Container.load(tmp_path / f"c.{suffix}", lazy=True)
    for index in (
        1,
        slice(1, 3),
        (slice(None), 2),
        (slice(3, None, -1), slice(1, 5, 2)),
        ...,
        (2, 3),
    ):
        assert (c.x[index] == x[index]).all()
        assert (c.z[index] == (x + 1j)[index]).all()
        assert (np.asarray(c.b[index]) == x[index]).all()
    with pytest.raises(IndexError, match="index 4 is out of bounds for axis 0 with size 4"):
        c.x[4]
    assert c.x[[0, 2]].tolist() == x[[0, 2]].tolist()
    assert len(c.x) == 4
    assert c.x.dtype is na.float64
    assert repr(c.b) == f"StoredArray(bfloat16[4, 6] in c.{suffix})"


def test_lazy_arrays_print_in_containers(tmp_path: Path) -> None:
    na.Container(w=np.ones((2, 3)), s="relu").save(tmp_path / "c.npz")
    c = na.Container.load(tmp_path / "c.npz", lazy=True)
    assert copy.deepcopy(c).w is c.w
    assert repr(c) == "Container(2 leaves, 6 elements, nestarray)\n  w  f64[2, 3]\n  s  'relu'"


def test_lazy_arrays_are_saved_without_reading_all(tmp_path: Path) -> None:
    c = sample()
    c.save(tmp_path / "a.safetensors")
    for mapped in (False, True):
        lazy = na.Container.load(tmp_path / "a.safetensors", lazy=True, memory_map=mapped)
        for suffix in SUFFIXES:
            lazy.save(tmp_path / f"b.{suffix}")
            assert_same(na.Container.load(tmp_path / f"b.{suffix}"), c)
    lazy.save(tmp_path / "a.safetensors")  # into the file that it is read from
    assert_same(na.Container.load(tmp_path / "a.safetensors"), c)


@pytest.mark.parametrize("suffix", ["safetensors", "h5", "npz", "zarr"])
def test_a_lazy_tree_is_saved_with_the_memory_of_one_leaf(tmp_path: Path, suffix: str) -> None:
    c = na.Container({f"w{i}": np.full(2**18, i, "float32") for i in range(24)})
    c.save(tmp_path / "a.safetensors")
    lazy = na.Container.load(tmp_path / "a.safetensors", lazy=True)
    options: list[dict[str, Any]] = [{}]
    if suffix == "safetensors":
        options.append({"max_shard_bytes": 2**23})
    for option in options:
        tracemalloc.start()
        lazy.save(tmp_path / f"b.{suffix}", **option)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 6 * c.w0.nbytes
        assert_same(na.Container.load(tmp_path / f"b.{suffix}"), c)


@pytest.mark.parametrize("suffix", ["h5", "npz", "zarr"])
def test_what_is_no_array_of_numbers_leaves_the_others_readable(
    tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"c.{suffix}"
    table = np.zeros(2, [("x", "f4"), ("name", "S4")])
    if suffix == "npz":
        np.savez(path, table=table, w=np.arange(3.0))
    elif suffix == "h5":
        with h5py.File(path, "w") as file:
            file["table"], file["w"] = table, np.arange(3.0)
            file["nothing"], file["text"] = h5py.Empty("f4"), "text"
    else:
        group = zarr.create_group(path, zarr_format=2)
        group.create_array("w", data=np.arange(3.0), compressors=None)
        group.create_array("table", shape=(2,), dtype=table.dtype, compressors=None)
    assert na.Container.load(path, "w").w.tolist() == [0, 1, 2]
    lazy = na.Container.load(path, lazy=True)
    assert lazy.w[1] == 1
    assert "table" in repr(lazy)
    assert na.storage.read(lazy.select("w")).w.tolist() == [0, 1, 2]
    for read in (lambda: na.Container.load(path, "table"), lazy.table.read, lambda: lazy.table[0]):
        with pytest.raises(
            StorageError, match=r"'table' has the dtype .*, expected numbers or bools"
        ):
            read()


def test_safetensors_files_are_those_of_the_library(tmp_path: Path) -> None:
    arrays = {
        "a": np.arange(3, dtype="uint8"), "empty": np.zeros((0, 2)), "é": np.float64(2.0),
        "w": np.arange(6, dtype="float32").reshape(2, 3), "z": np.ones(2, "complex64"),
    }  # fmt: skip
    na.Container(arrays).save(tmp_path / "c.safetensors", metadata={"licence": "MIT"})
    with safetensors.safe_open(tmp_path / "c.safetensors", "np") as file:
        assert file.metadata()["licence"] == "MIT"
        for name, x in arrays.items():
            found = file.get_tensor(name)
            assert (found.dtype, found.shape) == (x.dtype, x.shape)
            assert found.tobytes() == x.tobytes()
    mapped = na.Container.load(tmp_path / "c.safetensors", memory_map=True)
    assert all(x.flags.aligned for x in mapped.leaves())  # wide elements come first
    na.Container().save(tmp_path / "none.safetensors")
    assert safetensors.numpy.load_file(tmp_path / "none.safetensors") == {}
    assert na.Container.load(tmp_path / "none.safetensors").spec is na.Container().spec


@pytest.mark.parametrize("count", [1, 255, 256, 257, 600])
def test_many_small_arrays_in_another_order(tmp_path: Path, count: int) -> None:
    c = na.Container({f"w{i}": np.full(i % 5, i, "float32") for i in range(count)})
    c.save(tmp_path / "c.safetensors")
    assert_same(na.Container.load(tmp_path / "c.safetensors"), c)
    lazy = na.Container.load(tmp_path / "c.safetensors", lazy=True)
    back = na.Container(dict(reversed(lazy.items())))
    assert_same(na.storage.read(back), na.Container(dict(reversed(c.items()))))


@pytest.mark.parametrize("suffix", ["safetensors", "h5", "npz"])
def test_what_was_opened_stays_when_the_file_is_replaced(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"c.{suffix}"
    na.Container(w=np.arange(4.0)).save(path)
    lazy = na.Container.load(path, lazy=True)
    mapped = na.Container.load(path, lazy=True, memory_map=suffix != "npz")
    na.Container(w=np.zeros(100), v=np.ones(1)).save(path)
    assert lazy.w.read().tolist() == [0.0, 1.0, 2.0, 3.0]
    assert mapped.w.read().tolist() == [0.0, 1.0, 2.0, 3.0]
    path.unlink()
    assert lazy.w.read().tolist() == [0.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize("suffix", ["safetensors", "h5"])
def test_memory_maps(tmp_path: Path, suffix: str) -> None:
    c, path = sample(), tmp_path / f"c.{suffix}"
    c.save(path)
    before = path.read_bytes()
    mapped = na.Container.load(path, memory_map=True)
    assert_same(mapped, c)
    assert not mapped["encoder/w"].flags.writeable
    assert not mapped["encoder/w"].flags.owndata
    tensors = na.Container.load(path, "encoder", backend="torch", memory_map=True)
    tensors["encoder/w"].zero_()  # torch has no read-only memory
    tensors["encoder/b"].zero_()
    assert path.read_bytes() == before
    assert_same(na.Container.load(path), c)


def test_memory_maps_take_no_memory(tmp_path: Path) -> None:
    na.Container(w=np.ones(2**22)).save(tmp_path / "c.safetensors")  # 32 MiB
    before = _own_memory()
    c = na.Container.load(tmp_path / "c.safetensors", memory_map=True)
    t = na.Container.load(tmp_path / "c.safetensors", memory_map=True, backend="torch")
    assert float(c.w[::4096].sum()) == float(t.w[::4096].sum()) == 2**10
    assert _own_memory() - before < 2**22
    del c, t


def _own_memory() -> int:
    """Bytes that this process has to itself: without pages of files."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no RssAnon")


def test_large_arrays_are_read_into_memory_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "c.safetensors"
    large = np.arange(2**21 + 1, dtype="float32") % 1000  # not a whole number of pages
    na.Container(small=np.ones(1), large=large, half=large.astype("float16")).save(path)
    before = path.read_bytes()
    first, second = na.Container.load(path), na.Container.load(path)
    first.large[:] = 0
    first.half.fill(1)
    assert second.large.tobytes() == large.tobytes()
    assert second.half.tobytes() == large.astype("float16").tobytes()
    assert path.read_bytes() == before
    assert {x.flags.c_contiguous and x.flags.aligned for x in second.leaves()} == {True}


@pytest.mark.parametrize("suffix", ["npz", "json", "zarr"])
def test_message_of_formats_that_cannot_be_mapped(tmp_path: Path, suffix: str) -> None:
    na.Container(w=np.ones(2)).save(tmp_path / f"c.{suffix}")
    with pytest.raises(StorageError) as info:
        na.Container.load(tmp_path / f"c.{suffix}", memory_map=True)
    assert str(info.value) == (
        f"Container.load: '{tmp_path}/c.{suffix}': this format cannot be mapped into memory; leave "
        "memory_map=False, or save it as .safetensors"
    )


def test_hdf5_in_chunks_is_read_but_not_mapped(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "c.h5", "w") as file:
        file.create_dataset("x", data=np.arange(100.0), chunks=(10,), compression="gzip")
        file.create_dataset("y", data=np.arange(4, dtype=">i4"))
    assert na.Container.load(tmp_path / "c.h5").x.tolist() == np.arange(100.0).tolist()
    assert na.Container.load(tmp_path / "c.h5").y.dtype == np.dtype("int32")
    for name in ("x", "y"):
        with pytest.raises(
            StorageError, match="cannot be mapped into memory; leave memory_map=False"
        ):
            na.Container.load(tmp_path / "c.h5", name, memory_map=True)


# -- files of other programs --------------------------------------------------------------------


def test_safetensors_of_anybody_are_nested_at_dots(tmp_path: Path) -> None:
    net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.LayerNorm(2))
    safetensors.torch.save_file(net.state_dict(), tmp_path / "c.safetensors", {"format": "pt"})
    c = na.Container.load(tmp_path / "c.safetensors", backend="torch")
    assert c.to_dict().keys() == {"0", "1"}
    assert torch.equal(c["0/weight"], net[0].weight)
    c.load_into_torch_module(torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.LayerNorm(2)))
    assert na.storage.metadata(tmp_path / "c.safetensors") == {"format": "pt"}
    flat = na.Container.load(tmp_path / "c.safetensors", flat=True)
    assert set(flat) == set(net.state_dict())


def test_everybodys_safetensors_reads_ours(tmp_path: Path) -> None:
    c = na.Container(enc=[{"w": torch.ones(2, dtype=torch.bfloat16)}], b=np.arange(3), n="relu")
    c.save(tmp_path / "c.safetensors", metadata={"format": "pt"})
    found = safetensors.torch.load_file(tmp_path / "c.safetensors")
    assert torch.equal(found["enc.0.w"], c["enc/0/w"])
    assert found["b"].tolist() == [0, 1, 2]
    assert safetensors.numpy.load_file(tmp_path / "c.safetensors")["b"].tolist() == [0, 1, 2]


def test_ours_when_another_program_cast_it(tmp_path: Path) -> None:
    c = na.Container(enc=[np.ones(2)], n="relu")
    c.save(tmp_path / "c.safetensors")
    with safetensors.safe_open(tmp_path / "c.safetensors", "np") as file:
        metadata, tensors = file.metadata(), file.get_tensors()
    small = {name: x.astype("float16") for name, x in tensors.items()}
    safetensors.numpy.save_file(small, tmp_path / "d.safetensors", metadata)
    found = na.Container.load(tmp_path / "d.safetensors")
    assert found.spec is c.spec
    assert found.enc[0].dtype == np.float16
    safetensors.numpy.save_file({"x": np.ones(1), **small}, tmp_path / "e.safetensors", metadata)
    with pytest.raises(StorageError) as info:
        na.Container.load(tmp_path / "e.safetensors")
    assert str(info.value) == (
        f"Container.load: '{tmp_path}/e.safetensors': 'x' is in it, but not in its structure; it was "
        "changed by another program: load it with flat=True, which takes the arrays by their names"
    )
    assert set(na.Container.load(tmp_path / "e.safetensors", flat=True)) == {"x", "enc.0"}


def test_names_that_are_no_tree(tmp_path: Path) -> None:
    safetensors.numpy.save_file({"a": np.ones(1), "a.b": np.ones(1)}, tmp_path / "c.safetensors")
    with pytest.raises(StorageError) as info:
        na.Container.load(tmp_path / "c.safetensors")
    assert str(info.value) == (
        f"Container.load: '{tmp_path}/c.safetensors': the names in it are no tree "
        "(Container.from_flat_dict: 'a.b' "
        "goes below 'a', which is a leaf); load it with flat=True"
    )
    assert set(na.Container.load(tmp_path / "c.safetensors", flat=True)) == {"a", "a.b"}


def test_archives_of_numpy(tmp_path: Path) -> None:
    x = np.arange(6.0).reshape(2, 3)
    np.savez_compressed(
        tmp_path / "c.npz", **{"enc.w": x.T, "b": x.astype(">i4"), "s": np.float64(2)}
    )
    c = na.Container.load(tmp_path / "c.npz")
    assert c.paths() == ("enc/w", "b", "s")
    assert (c.enc.w == x.T).all()
    assert c.b.dtype == np.int32
    assert c.b.tolist() == x.tolist()
    na.Container(enc={"w": x}).save(tmp_path / "d.npz")
    assert np.load(tmp_path / "d.npz")["enc.w"].tolist() == x.tolist()


def test_groups_of_hdf5_and_zarr(tmp_path: Path) -> None:
    x = np.arange(6.0).reshape(2, 3)
    with h5py.File(tmp_path / "c.h5", "w") as file:
        file.create_dataset("enc/w", data=x)
        file["b"] = 3
        file.attrs["licence"] = "MIT"
        file.attrs["number"] = 3
    group = zarr.open_group(tmp_path / "c.zarr", mode="w")
    group.create_array("enc/w", data=x, chunks=(1, 2), shards=(2, 2))
    group.create_array("b", data=np.array(3))
    group.attrs["licence"] = "MIT"
    zarr.open_group(tmp_path / "d.zarr", mode="w", zarr_format=2).create_array("enc/w", data=x)
    for name in ("c.h5", "c.zarr", "d.zarr"):
        c = na.Container.load(tmp_path / name)
        assert (c.enc.w == x).all()
        assert na.Container.load(tmp_path / name, flat=True).to_dict().keys() >= {"enc/w"}
        if name[0] == "c":
            assert c.b == 3
            assert na.storage.metadata(tmp_path / name) == {"licence": "MIT"}
    na.Container(enc={"w": x}).save(tmp_path / "e.h5")
    with h5py.File(tmp_path / "e.h5") as file:
        assert (file["enc/w"][...] == x).all()


def test_json_of_anybody(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text('{"a": [1, 2.5, {"b": null}], "c": "x"}')
    assert na.Container.load(path).to_dict() == {"a": [1, 2.5, {"b": None}], "c": "x"}
    assert set(na.Container.load(path, flat=True)) == {"a.0", "a.1", "a.2.b", "c"}
    path.write_text("3")
    with pytest.raises(StorageError) as info:
        na.Container.load(path)
    assert str(info.value) == (
        f"Container.load: '{path}' holds one int, expected an object or a list"
    )


def test_weights_of_torch(tmp_path: Path) -> None:
    net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.LayerNorm(2, dtype=torch.bfloat16))
    shared = torch.ones(4)
    state = {
        "model": net.state_dict(),
        "epoch": 3,
        "tied": [shared, shared, shared[:2]],
        "optimizer": {"state": {0: {"m": torch.zeros(2)}}, "betas": (0.9, {"a.b": 1})},
    }
    for name, options in (("c.pt", {}), ("c.bin", {"_use_new_zipfile_serialization": False})):
        torch.save(state, tmp_path / name, **options)
        c = na.Container.load(tmp_path / name, backend="torch")
        assert torch.equal(c["model/0/weight"], net[0].weight)
        assert torch.equal(c["model/1/weight"], net[1].weight)
        assert c.epoch == 3
        assert c.tied[0] is c.tied[1]
        assert c.tied[2].shape == (2,)
        assert c.optimizer.betas.to_dict() == (0.9, {"a": {"b": 1}})
        assert c["optimizer/state"][0].m.tolist() == [0, 0]
        part = na.Container.load(tmp_path / name, "model/1", memory_map=True)
        assert part["model/1/weight"].dtype == ml_dtypes.bfloat16
        assert "model.0.weight" in na.Container.load(tmp_path / name, flat=True)
        assert na.Container.load(tmp_path / name, lazy=True)["model/0/bias"].shape == (2,)
    torch.save(torch.arange(3), tmp_path / "d.pth")
    assert na.Container.load(tmp_path / "d.pth").leaves()[0].tolist() == [0, 1, 2]


def test_a_path_may_be_text_or_a_path(tmp_path: Path) -> None:
    na.Container(a=1).save(os.fspath(tmp_path / "c.npz"))
    assert na.Container.load(os.fspath(tmp_path / "c.npz")).a == 1
    assert na.Container.load(tmp_path / "c.npz").a == 1


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_lazy_leaves_are_compared_by_their_values(tmp_path: Path, suffix: str) -> None:
    base = na.Container(a=np.ones((3, 2)), k={"b": np.arange(3.0)})
    new = na.Container(a=np.ones((3, 2)), k={"c": np.arange(3.0)}, d=np.zeros(2))
    files = [tmp_path / f"{name}.{suffix}" for name in ("base", "new")]
    for c, file in zip((base, new), files, strict=True):
        c.save(file)
    lazy = [na.Container.load(file, lazy=True) for file in files]
    again = na.Container.load(files[0], lazy=True)
    assert not lazy[0].diff(again)
    assert not lazy[0].diff(base)
    assert str(lazy[0].diff(lazy[1])) == str(base.diff(new))
    assert_same(na.storage.read(lazy[0].patch(again.diff(lazy[1]))), new)
    assert_same(na.storage.read(base.merge(lazy[0], lazy[1])), base.merge(base, new))
    changed = na.Container(a=np.ones((3, 2)) * 2, k={"b": np.arange(3.0)})
    assert str(lazy[0].diff(changed)) == str(base.diff(changed))


@pytest.mark.parametrize("suffix", [s for s in SUFFIXES if s != "zarr"])
def test_a_file_that_was_written_into(tmp_path: Path, suffix: str) -> None:
    file, other = tmp_path / f"c.{suffix}", tmp_path / f"other.{suffix}"
    na.Container(a=np.ones(100), b=np.zeros(3)).save(file)
    na.Container(zz=np.zeros(300), a=np.full(7, 5.0)).save(other)
    lazy = na.Container.load(file, lazy=True)
    file.write_bytes(other.read_bytes())
    for read in (lambda: lazy.a.read(), lambda: lazy.a[0], lambda: na.storage.read(lazy)):
        with pytest.raises(StorageError, match="another program wrote into it"):
            read()


def test_a_shard_that_was_written_into(tmp_path: Path) -> None:
    na.Container(a=np.ones(100), b=np.zeros(100)).save(
        tmp_path / "c.safetensors", max_shard_bytes=900
    )
    lazy = na.Container.load(tmp_path, lazy=True)
    first, second = sorted(tmp_path.glob("c-*.safetensors"))
    first.write_bytes(second.read_bytes())
    assert lazy.b.read().sum() == 0.0
    with pytest.raises(StorageError, match="another program wrote into it"):
        lazy.a.read()
