"""Files that are damaged, cut off or made to do harm: one error, nothing run, nothing left."""

from __future__ import annotations

import asyncio
import io
import json
import os
import pickle
import re
import resource
import struct
import time
import zipfile
from pathlib import Path
from typing import Any, NoReturn

import h5py
import numpy as np
import pytest
import torch
import zarr
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import nestarray as na
from nestarray.errors import StorageError
from tests.storage.comparing import SUFFIXES, assert_same, sample

ONE_FOLDER = [HealthCheck.function_scoped_fixture]


class Program:
    """A pickle of this writes a file when it is loaded."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.target),)


def small() -> na.Container:
    return na.Container(enc={"w": np.arange(6.0).reshape(2, 3)}, b=[np.ones(3, "int8"), "relu"])


# -- any damage ----------------------------------------------------------------------------------


def _check_damaged(path: Path, data: bytes, *, elements: bool) -> na.Container | None:
    """Load a damaged file; it loads as the tree it was, or it is a StorageError."""
    found = _load_bytes(path, data)
    assert [p.name for p in path.parent.iterdir()] == [path.name]
    if found is not None:
        assert na.Container.load(path, lazy=True).spec is found.spec
        if elements:
            assert_same(found, small())
        else:
            assert found.spec is small().spec
            assert found["b/1"] == "relu"
    return found


def _load_bytes(path: Path, data: bytes) -> na.Container | None:
    """The contents of a file of these bytes; None for a StorageError, which names the file."""
    path.write_bytes(data)
    try:
        return na.Container.load(path)
    except StorageError as error:
        message = str(error)
    assert str(path) in message
    return None


def _saved(folder: Path, suffix: str) -> tuple[Path, bytes]:
    path = folder / f"c.{suffix}"
    small().save(path)
    return path, path.read_bytes()


@pytest.mark.parametrize("suffix", ["safetensors", "npz"])
def test_cut_off_anywhere(tmp_path: Path, suffix: str) -> None:
    path, data = _saved(tmp_path, suffix)
    for end in {*range(0, len(data), 5), *range(20), *range(len(data) - 60, len(data))}:
        found = _check_damaged(path, data[:end], elements=True)
        only_comment = suffix == "npz" and end >= len(data) - len("nestarray")
        assert (found is not None) == only_comment
    assert _check_damaged(path, data, elements=True) is not None


@pytest.mark.parametrize("suffix", ["json", "h5"])
@settings(suppress_health_check=ONE_FOLDER, max_examples=100)
@given(share=st.floats(0, 1, exclude_max=True))
def test_cut_off_somewhere(tmp_path: Path, suffix: str, share: float) -> None:
    path, data = _saved(tmp_path, suffix)
    _check_damaged(path, data[: int(share * len(data))], elements=True)


@pytest.mark.parametrize("suffix", ["safetensors", "npz", "json"])
@settings(suppress_health_check=ONE_FOLDER, max_examples=150)
@given(share=st.floats(0, 1, exclude_max=True), byte=st.integers(0, 255))
def test_any_byte_changed(tmp_path: Path, suffix: str, share: float, byte: int) -> None:
    path, data = _saved(tmp_path, suffix)
    place = int(share * len(data))
    assume(data[place] != byte)
    # zip has checksums of elements; safetensors and JSON have none, so numbers may change there
    changed = data[:place] + bytes([byte]) + data[place + 1 :]
    _check_damaged(path, changed, elements=suffix == "npz")


@pytest.mark.full
@pytest.mark.parametrize("suffix", ["safetensors", "npz", "json"])
def test_every_byte_changed(tmp_path: Path, suffix: str) -> None:
    path, data = _saved(tmp_path, suffix)
    for place in range(len(data)):
        for byte in {data[place] ^ (1 << bit) for bit in range(8)} | {0, 255} - {data[place]}:
            changed = data[:place] + bytes([byte]) + data[place + 1 :]
            _check_damaged(path, changed, elements=suffix == "npz")


@pytest.mark.full
@settings(suppress_health_check=ONE_FOLDER)
@given(share=st.floats(0, 1, exclude_max=True), byte=st.integers(0, 255))
def test_any_byte_of_hdf5_changed(tmp_path: Path, share: float, byte: int) -> None:
    path, data = _saved(tmp_path, "h5")
    place = int(share * len(data))
    _load_bytes(path, data[:place] + bytes([byte]) + data[place + 1 :])


@pytest.mark.parametrize(
    "suffix", ["safetensors", "npz", "json", "h5", "pt", "safetensors.index.json"]
)
@settings(suppress_health_check=ONE_FOLDER)
@given(data=st.binary(max_size=200))
def test_any_bytes(tmp_path: Path, suffix: str, data: bytes) -> None:
    _load_bytes(tmp_path / f"c.{suffix}", data)


@settings(suppress_health_check=ONE_FOLDER)
@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["w", "dict", "float32", "F32", "", "nan"]),
    lambda c: st.lists(c, max_size=3) | st.dictionaries(
        st.sampled_from(["dict", "list", "version", "tree", "array", "dtype", "value", "float", "w"]), c,
        max_size=3),
    max_leaves=8,
))  # fmt: skip
def test_any_structure(tmp_path: Path, tree: Any) -> None:
    import zlib

    crc = zlib.crc32(json.dumps(tree, separators=(",", ":")).encode())
    document = {"version": 1, "crc32": crc, "tree": tree}
    text = {"nestarray": document, "metadata": {}, "arrays": {}}
    (tmp_path / "c.json").write_text(json.dumps(text))
    try:
        na.Container.load(tmp_path / "c.json")
    except StorageError:
        pass


# -- safetensors -----------------------------------------------------------------------------------


def _header(path: Path, header: Any, data: bytes = b"", length: int | None = None) -> Path:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text) if length is None else length) + text + data)
    return path


def _tensor(shape: list[Any], begin: int, end: int, dtype: str = "U8") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


HOSTILE_HEADERS: dict[str, Any] = {
    "out of range": {"w": _tensor([100], 0, 100)},
    "negative": {"w": _tensor([-4], 0, 4)},
    "backwards": {"w": _tensor([4], 4, 0)},
    "overlapping": {"a": _tensor([4], 0, 4), "b": _tensor([2], 2, 4)},
    "with a hole": {"a": _tensor([1], 0, 1), "b": _tensor([2], 2, 4)},
    "too short": {"a": _tensor([2], 0, 2)},
    "shape that does not fit": {"w": _tensor([2], 0, 4)},
    "absurd shape": {"w": _tensor([2**62, 2**62], 0, 4)},
    "shape that overflows": {"w": _tensor([2**32, 2**32, 0, 4], 0, 4)},
    "float shape": {"w": _tensor([4.0], 0, 4)},
    "unknown dtype": {"w": _tensor([4], 0, 4, "F32X")},
    "no dtype": {"w": {"shape": [4], "data_offsets": [0, 4]}},
    "list": [],
    "number": 3,
    "metadata that is no text": {"__metadata__": {"a": 3}, "w": _tensor([4], 0, 4)},
    "metadata that is nested": {"__metadata__": {"nestarray": {}}, "w": _tensor([4], 0, 4)},
    "same name twice": b'{"w":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},'
    b'"w":{"dtype":"I8","shape":[4],"data_offsets":[0,4]}}',
    "deep nesting": b'{"w":' + b"[" * 10**5 + b"]" * 10**5 + b"}",
    "no json": b"{",
    "no utf-8": b'{"\xff":3}',
    "deep structure": {
        "__metadata__": {"nestarray": '{"version":1,"tree":' + '{"list":[' * 10**5},
        "w": _tensor([4], 0, 4),
    },
}


@pytest.mark.parametrize("name", HOSTILE_HEADERS)
def test_headers(tmp_path: Path, name: str) -> None:
    path = _header(tmp_path / "c.safetensors", HOSTILE_HEADERS[name], b"\0" * 4)
    ways: list[dict[str, Any]] = [{}, {"lazy": True}, {"memory_map": True}]
    for options in ways:
        with pytest.raises(StorageError, match=re.escape(f"Container.load: '{path}'")):
            na.Container.load(path, **options)


def test_a_file_that_is_cut_while_it_is_open(tmp_path: Path) -> None:
    path = tmp_path / "c.safetensors"
    na.Container(w=np.arange(10_000.0)).save(path)
    c = na.Container.load(path, lazy=True)
    os.truncate(path, 50_000)
    with pytest.raises(StorageError) as info:
        c.w.read()
    assert str(info.value) == (
        f"Container.load: '{path}': another program wrote into it after it was opened; load it again"
    )


def test_headers_of_absurd_length(tmp_path: Path) -> None:
    for length in (2**64 - 1, 2**63, 2**40, 100_000_001):
        path = _header(tmp_path / "c.safetensors", b"{}", length=length)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with pytest.raises(StorageError, match=r"cannot be read: .*header"):
            na.Container.load(path)
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # KiB


def test_message_of_an_unknown_dtype(tmp_path: Path) -> None:
    path = _header(tmp_path / "c.safetensors", {"w": _tensor([8], 0, 4, "F4")}, b"\0" * 4)
    with pytest.raises(StorageError) as info:
        na.Container.load(path)
    assert str(info.value).startswith(
        f"Container.load: '{path}': 'w' has the dtype F4, expected one of BOOL, I8, I16,"
    )


def test_messages_of_structures(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    na.Container(w=np.ones(2)).save(path)
    document = json.loads(path.read_text())

    def message(**changes: Any) -> str:
        changed = {**document, "nestarray": {**document["nestarray"], **changes}}
        path.write_text(json.dumps(changed))
        with pytest.raises(StorageError) as info:
            na.Container.load(path)
        assert na.Container.load(path, flat=True).w.tolist() == [1.0, 1.0]
        return str(info.value)

    assert message(version=2) == (
        f"Container.load: '{path}': its structure has the version 2, this nestarray reads 1; upgrade "
        "nestarray, or load it with flat=True"
    )
    assert message(crc32=3) == (
        f"Container.load: '{path}': the structure in it is damaged (its checksum is wrong); load it "
        "with flat=True, which takes the arrays by their names"
    )


def test_a_structure_that_claims_another_dtype(tmp_path: Path) -> None:
    path = tmp_path / "c.npz"
    na.Container(w=np.ones(2, "float32")).save(path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    import zlib

    tree = {"dict": [["w", {"array": "w", "dtype": "bfloat16"}]]}
    crc = zlib.crc32(json.dumps(tree, separators=(",", ":")).encode())
    structure = json.dumps({"version": 1, "crc32": crc, "tree": tree})
    text = json.dumps({"structure": structure, "metadata": {}}).encode()
    buffer = io.BytesIO()
    np.save(buffer, np.frombuffer(text, np.uint8))
    members["nestarray.npy"] = buffer.getvalue()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    with pytest.raises(StorageError) as info:
        na.Container.load(path)
    assert str(info.value) == (
        f"Container.load: '{path}': 'w' holds float32, but its structure says bfloat16; load it with "
        "flat=True"
    )


# -- programs ------------------------------------------------------------------------------------


def test_pickles_in_npz_are_not_run(tmp_path: Path) -> None:
    path = tmp_path / "c.npz"
    np.savez(path, a=np.array([Program(tmp_path / "harm")], object))
    with pytest.raises(StorageError) as info:
        na.Container.load(path)
    assert str(info.value) == (
        f"Container.load: '{path}': 'a' has the dtype object, expected numbers or bools, and is not "
        "read; load the others by their names, or with lazy=True"
    )
    assert not (tmp_path / "harm").exists()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", pickle.dumps(Program(tmp_path / "harm")))
    with pytest.raises(StorageError, match="cannot be read"):
        na.Container.load(path)
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize("new", [True, False])
def test_programs_of_torch_are_not_run(tmp_path: Path, new: bool) -> None:
    path = tmp_path / "c.pt"
    state = {"w": torch.ones(2), "x": Program(tmp_path / "harm")}
    torch.save(state, path, _use_new_zipfile_serialization=new)
    with pytest.raises(StorageError) as info:
        na.Container.load(path)
    assert str(info.value).startswith(
        f"Container.load: '{path}' is not only weights, and what else is in it could run any program, "
        "so it is not read (Weights only load failed."
    )
    path.write_bytes(pickle.dumps(Program(tmp_path / "harm")))
    with pytest.raises(StorageError, match="is not only weights"):
        na.Container.load(path)
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.99])
def test_torch_cut_off(tmp_path: Path, share: float) -> None:
    path = tmp_path / "c.pt"
    torch.save({"w": torch.ones(100)}, path)
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    with pytest.raises(StorageError, match=re.escape(str(path))):
        na.Container.load(path)


def test_pickles_in_zarr_are_not_run(tmp_path: Path) -> None:
    path = tmp_path / "c.zarr"
    group = zarr.open_group(path, mode="w", zarr_format=2)
    group.create_array("a", data=np.arange(3.0), compressors=None)
    place = path / "a" / ".zarray"
    metadata = json.loads(place.read_text())
    (path / "a" / "0").write_bytes(pickle.dumps(Program(tmp_path / "harm")))
    for changes in (
        {"filters": [{"id": "pickle"}]},
        {"dtype": "|O", "filters": [{"id": "pickle"}]},
    ):
        place.write_text(json.dumps(metadata | changes))
        with pytest.raises(StorageError, match=re.escape(f"Container.load: '{path}'")):
            na.Container.load(path)
    assert not (tmp_path / "harm").exists()


# -- sizes and links -----------------------------------------------------------------------------


def test_npz_whose_header_claims_more_than_is_stored(tmp_path: Path) -> None:
    path = tmp_path / "c.npz"
    buffer = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": (2**40,)}
    np.lib.format.write_array_header_1_0(buffer, header)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("w.npy", buffer.getvalue() + b"\0" * 8)
    with pytest.raises(StorageError) as info:
        na.Container.load(path)
    assert str(info.value) == (
        f"Container.load: '{path}': 'w' claims 8,796,093,022,208 bytes, but 8 are stored"
    )


def test_npz_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "c.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("run.sh", "rm -rf")
    with pytest.raises(StorageError, match=r"'run.sh' is no array \(.npy\)"):
        na.Container.load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("w.npy", b"")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("w.npy", b"")
    with pytest.raises(StorageError, match="two arrays have one name"):
        na.Container.load(path)


def test_absurd_shapes_without_elements(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "c.h5", "w") as file:
        file.create_dataset("w", shape=(2**40,), dtype="f8", chunks=(1000,))
    group = zarr.open_group(tmp_path / "c.zarr", mode="w")
    group.create_array("w", shape=(2**40,), dtype="f8", chunks=(1000,))
    group = zarr.open_group(tmp_path / "d.zarr", mode="w")
    group.create_array("w", shape=(2,), dtype="f8", chunks=(2,))
    text = (tmp_path / "d.zarr/w/zarr.json").read_text()
    text = re.sub(r'("chunk_shape": \[\s*)2', rf"\g<1>{2**40}", text)
    (tmp_path / "d.zarr/w/zarr.json").write_text(text)
    for name in ("c.h5", "c.zarr", "d.zarr"):
        with pytest.raises(
            StorageError, match=r"'w' claims 8,796,093,022,208 bytes, of which [\d,]+ are"
        ):
            na.Container.load(tmp_path / name)


def test_hdf5_that_leads_to_other_files(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"12345678")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["w"] = np.ones(2)

    def external(file: Any) -> None:
        file.create_dataset("w", (1,), "f8", external=[(str(tmp_path / "secret"), 0, 8)])

    def virtual(file: Any) -> None:
        layout = h5py.VirtualLayout((2,), "f8")
        layout[:] = h5py.VirtualSource(str(tmp_path / "other.h5"), "w", (2,))
        file.create_virtual_dataset("w", layout)

    def link(file: Any) -> None:
        file["w"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "w")

    def loop(file: Any) -> None:
        file.create_group("a")
        file["a/w"] = file["/"]

    def text(file: Any) -> None:
        file["w"] = ["text"]

    def type_(file: Any) -> None:
        file["w"] = np.dtype("f8")

    for make, what in (
        (external, "'w' keeps its elements in another file, which is not read"),
        (virtual, "'w' keeps its elements in another file, which is not read"),
        (link, "'w' is a link, which may lead to another file; expected groups and datasets"),
        (loop, "the group 'a/w' is inside of itself"),
        (text, "'w' has the dtype object, expected numbers or bools, and is not read; load the "
               "others by their names, or with lazy=True"),
        (type_, "'w' is a named type, expected a group or a dataset"),
    ):  # fmt: skip
        path = tmp_path / f"{make.__name__}.h5"
        with h5py.File(path, "w") as file:
            make(file)
        with pytest.raises(StorageError) as info:
            na.Container.load(path)
        assert str(info.value) == f"Container.load: '{path}': {what}"


def test_zarr_with_links_to_other_places(tmp_path: Path) -> None:
    path = tmp_path / "c.zarr"
    na.Container(w=np.ones(1)).save(path)
    (tmp_path / "secret").write_bytes(b"12345678")
    (path / "w/c/0").unlink()
    (path / "w/c/0").symlink_to(tmp_path / "secret")
    with pytest.raises(StorageError) as info:
        na.Container.load(path)
    assert str(info.value) == (
        f"Container.load: '{path}': '{path}/w/c/0' is a link that leads out of the directory, and is "
        "not followed"
    )


# -- writing -------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["safetensors", "npz", "json", "h5", "zarr"])
def test_a_failure_while_writing_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    path = tmp_path / f"c.{suffix}"
    small().save(path)
    monkeypatch.setattr(os, "replace", _no_space)
    monkeypatch.setattr(os, "rename", _no_space)
    monkeypatch.setattr(Path, "write_bytes", _no_space)  # directories are exchanged, not renamed
    with pytest.raises(StorageError) as info:
        sample().save(path)
    assert str(info.value) == (
        f"Container.save: '{path}' cannot be written: No space left on device. What was there before is "
        "as it was"
    )
    monkeypatch.undo()
    assert_same(na.Container.load(path), small())
    assert list(tmp_path.iterdir()) == [path]


def _no_space(source: Any, target: Any) -> NoReturn:
    raise OSError("No space left on device")


@pytest.mark.parametrize("count", [1, 100])
def test_a_failure_amid_the_files_of_a_zarr_store_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    put, names = zarr.storage.LocalStore.set_sync, []

    def to_full_disk(store: Any, name: str, content: Any) -> None:
        names.append(name)
        return put(store, name, content) if len(names) != 10 else _no_space(name, content)

    monkeypatch.setattr(zarr.storage.LocalStore, "set_sync", to_full_disk)
    leaf = np.ones((3, 10**6) if count == 1 else 3)  # of many chunks, or of one
    with pytest.raises(StorageError, match="No space left on device"):
        na.Container({f"w{i}": leaf + i for i in range(count)}).save(tmp_path / "c.zarr")
    assert not any(tmp_path.iterdir())
    begun = len(names)
    time.sleep(0.05)
    assert len(names) == begun  # nothing is written on behind the error


def test_a_zarr_store_is_written_where_an_event_loop_runs(tmp_path: Path) -> None:
    async def main() -> None:
        small().save(tmp_path / "c.zarr")
        assert_same(na.Container.load(tmp_path / "c.zarr"), small())

    asyncio.run(main())


def test_zarr_leaves_the_loop_of_the_thread_alone(tmp_path: Path) -> None:
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    small().save(tmp_path / "c.zarr")
    assert_same(na.Container.load(tmp_path / "c.zarr"), small())
    assert asyncio.get_event_loop() is loop
    asyncio.set_event_loop(None)
    loop.close()


def test_a_program_that_is_interrupted_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "c.npz"
    small().save(path)
    monkeypatch.setattr(np.lib.format, "write_array", _interrupt)
    with pytest.raises(KeyboardInterrupt):
        sample().save(path)
    monkeypatch.undo()
    assert_same(na.Container.load(path), small())
    assert list(tmp_path.iterdir()) == [path]


def _interrupt(*arguments: Any, **options: Any) -> None:
    raise KeyboardInterrupt


def test_a_new_zarr_takes_the_place_of_the_old_one_only(tmp_path: Path) -> None:
    path = tmp_path / "c.zarr"
    sample().save(path)
    small().save(path)
    assert_same(na.Container.load(path), small())
    assert list(tmp_path.iterdir()) == [path]
    mine = tmp_path / "mine.zarr"
    mine.mkdir()
    small().save(mine)
    assert_same(na.Container.load(mine), small())
    other = tmp_path / "other.zarr"
    other.mkdir()
    (other / "thesis.txt").write_text("years of work")
    with pytest.raises(StorageError) as info:
        small().save(other)
    assert str(info.value) == (
        f"Container.save: '{other}' is a directory of other things, which would be lost; remove it "
        "first, or choose another name"
    )
    assert (other / "thesis.txt").read_text() == "years of work"


@pytest.mark.parametrize("suffix", ["npz", "zarr"])
def test_a_path_of_the_other_kind_is_kept(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"c.{suffix}"
    path.write_text("years of work") if suffix == "zarr" else path.mkdir()
    kinds = ("file", "directory") if suffix == "zarr" else ("directory", "file")
    with pytest.raises(StorageError, match="is a {}, expected a {}; remove it".format(*kinds)):
        small().save(path)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", SUFFIXES[:-1])
def test_permissions_are_those_of_other_files(tmp_path: Path, suffix: str) -> None:
    path, other = tmp_path / f"c.{suffix}", tmp_path / "other"
    other.touch()
    na.Container(w=np.ones(2)).save(path)
    assert path.stat().st_mode == other.stat().st_mode
    path.chmod(0o640)
    mode = path.stat().st_mode  # where there is a group, another than before
    na.Container(w=np.zeros(2)).save(path)
    assert path.stat().st_mode == mode
    assert sorted(p.name for p in tmp_path.iterdir()) == [path.name, "other"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    small().save(tmp_path / "real" / "c.npz")
    link = tmp_path / "c.npz"
    link.symlink_to(tmp_path / "real" / "c.npz")
    sample().save(link)
    assert link.is_symlink()
    assert_same(na.Container.load(tmp_path / "real" / "c.npz"), sample())
    assert [p.name for p in (tmp_path / "real").iterdir()] == ["c.npz"]


@pytest.mark.parametrize(
    ("package", "suffix", "what", "extra"),
    [
        ("safetensors", "safetensors", "safetensors files need", "storage"),
        ("h5py", "h5", "HDF5 files need", "hdf5"),
        ("zarr", "zarr", "Zarr stores need", "zarr"),
    ],
)
def test_messages_of_packages_that_are_not_there(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    package: str,
    suffix: str,
    what: str,
    extra: str,
) -> None:
    path = tmp_path / f"c.{suffix}"
    small().save(path)
    monkeypatch.setitem(__import__("sys").modules, package, None)
    for call in (small().save, na.Container.load)[suffix == "safetensors" :]:  # writes without it
        with pytest.raises(na.errors.MissingFrameworkError) as info:
            call(path)
        assert str(info.value).startswith(
            f"{what} the package '{package}', which cannot be imported"
        )
        assert f"pip install 'nestarray[{extra}]'" in str(info.value)
