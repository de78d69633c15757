"""Models in several files: as Hugging Face writes and reads them, and never a mixture."""

from __future__ import annotations

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import huggingface_hub
import numpy as np
import pytest
import torch

import nestarray as na
from nestarray.errors import ArgumentError, MissingFileError, StorageError
from nestarray.storage import safetensors as safetensors_format
from nestarray.storage import shards
from tests.storage.comparing import assert_same, sample


def files(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def model(value: float) -> na.Container:
    return na.Container({name: np.full(4, value) for name in "abc"})


def test_names_and_index_are_hugging_faces(tmp_path: Path) -> None:
    c = na.Container(a={"w": np.ones(4)}, b=np.ones(8, "float32"), c=np.ones(1), d="relu")
    c.save(tmp_path / "model.safetensors", max_shard_bytes=40, metadata={"format": "pt"})
    first, second = (f"model-0000{i}-of-00002.safetensors" for i in (1, 2))
    assert files(tmp_path) == [first, second, "model.safetensors.index.json"]
    index = json.loads((tmp_path / "model.safetensors.index.json").read_text())
    assert index["metadata"]["total_size"] == 32 + 32 + 8
    assert index["weight_map"] == {"a.w": first, "b": second, "c": second}
    for path in ("model.safetensors", "model.safetensors.index.json", "."):
        assert_same(na.Container.load(tmp_path / path), c)
        assert na.storage.metadata(tmp_path / path) == {"format": "pt"}


def test_everything_in_shards(tmp_path: Path) -> None:
    c = sample()
    c.save(tmp_path, max_shard_bytes=30)
    found = na.Container.load(tmp_path, memory_map=True)
    assert_same(found, c)
    assert not found["encoder/w"].flags.owndata
    lazy = na.Container.load(tmp_path, lazy=True)
    assert lazy["encoder/w"][1].tolist() == [3.0, 4.0, 5.0]
    assert_same(na.storage.read(lazy), c)
    lazy.save(tmp_path, max_shard_bytes=20)
    assert_same(na.Container.load(tmp_path), c)
    assert_same(na.Container.load(tmp_path, "encoder", backend="torch"), c.select("encoder"))


@pytest.mark.full
def test_transformers_reads_ours_and_we_read_theirs(tmp_path: Path) -> None:
    import transformers

    config = transformers.GPT2Config(n_layer=2, n_head=2, n_embd=8, vocab_size=32, n_positions=8)
    net = transformers.GPT2LMHeadModel(config)
    net.save_pretrained(tmp_path / "theirs", max_shard_size="4KB")
    assert "model.safetensors.index.json" in files(tmp_path / "theirs")
    c = na.Container.load(tmp_path / "theirs", backend="torch")
    state = net.state_dict()
    assert (
        c["transformer/h/0/attn/c_attn/weight"] == state["transformer.h.0.attn.c_attn.weight"]
    ).all()
    ours = tmp_path / "ours"
    ours.mkdir()
    config.save_pretrained(ours)
    c.save(ours, max_shard_bytes=4000, metadata={"format": "pt"})
    again = transformers.GPT2LMHeadModel.from_pretrained(ours)
    assert all((again.state_dict()[name] == x).all() for name, x in state.items())


def test_the_hubs_own_functions_read_ours_and_we_read_theirs(tmp_path: Path) -> None:
    net = torch.nn.Sequential(*(torch.nn.Linear(8, 8) for _ in range(4)))
    huggingface_hub.save_torch_state_dict(net.state_dict(), tmp_path, max_shard_size=600)
    assert "model-00002-of-00002.safetensors" in files(tmp_path)
    c = na.Container.load(tmp_path, backend="torch")
    assert torch.equal(c["2/weight"], net[2].weight)
    c = c.map(lambda x: x + 1)
    c.save(tmp_path, max_shard_bytes=600)
    huggingface_hub.load_torch_model(net, tmp_path)
    assert torch.equal(c["3/weight"], net[3].weight)


def test_torchs_shards_are_read(tmp_path: Path) -> None:
    net = torch.nn.Sequential(*(torch.nn.Linear(8, 8) for _ in range(4)))
    state = net.state_dict()
    names = {name: f"pytorch_model-0000{1 + (name > '2')}-of-00002.bin" for name in state}
    for file in set(names.values()):
        torch.save({n: state[n] for n in names if names[n] == file}, tmp_path / file)
    index = tmp_path / "pytorch_model.bin.index.json"
    index.write_text(json.dumps({"metadata": {"total_size": 1}, "weight_map": names}))
    c = na.Container.load(index, backend="torch")
    assert c.paths() == tuple(name.replace(".", "/") for name in state)
    assert all(torch.equal(c[name.replace(".", "/")], x) for name, x in state.items())
    with pytest.raises(ArgumentError, match="only safetensors files are written in shards"):
        c.save(index, max_shard_bytes=10)


def test_only_one_file_if_all_fits(tmp_path: Path) -> None:
    model(1.0).save(tmp_path / "m.safetensors", max_shard_bytes=96)
    assert files(tmp_path) == ["m.safetensors"]
    na.Container().save(tmp_path / "m.safetensors", max_shard_bytes=1)
    assert_same(na.Container.load(tmp_path / "m.safetensors"), na.Container())


def test_a_new_model_replaces_all_of_the_old_one(tmp_path: Path) -> None:
    whole = tmp_path / "m.safetensors"
    (tmp_path / "m-notes-of-mine.safetensors.txt").write_text("mine")
    for value, limit in ((1.0, 32), (2.0, 32), (3.0, 64), (4.0, None), (5.0, 32), (6.0, 1000)):
        model(value).save(whole, max_shard_bytes=limit)
        assert_same(na.Container.load(whole), model(value))
        named = {32: 5, 64: 4, None: 2, 1000: 2}[limit]
        assert len(files(tmp_path)) == named


@pytest.mark.parametrize("failure", [0, 1, 2])
def test_a_failure_leaves_the_old_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: int
) -> None:
    whole = tmp_path / "m.safetensors"
    model(1.0).save(whole, max_shard_bytes=32)
    before = {name: (tmp_path / name).read_bytes() for name in files(tmp_path)}
    write, calls = safetensors_format.write, []

    def failing(path: Path, plan: Any) -> None:
        calls.append(path)
        write(path, plan)
        if len(calls) > failure:
            raise OSError("No space left on device")

    monkeypatch.setattr(safetensors_format, "write", failing)
    with pytest.raises(StorageError) as info:
        model(2.0).save(whole, max_shard_bytes=32)
    assert str(info.value) == (
        f"Container.save: '{whole}' cannot be written: No space left on device. What was there before "
        "is as it was"
    )
    assert {name: (tmp_path / name).read_bytes() for name in files(tmp_path)} == before


def test_until_the_index_is_in_place_the_old_model_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = tmp_path / "m.safetensors"
    model(1.0).save(whole, max_shard_bytes=32)
    replace, seen = os.replace, []

    def observed(source: Any, target: Any) -> None:
        seen.append(float(na.Container.load(whole).a[0]))
        assert_same(na.Container.load(whole), model(seen[-1]))
        replace(source, target)
        done = os.path.basename(target) == "m.safetensors.index.json"
        assert_same(na.Container.load(whole), model(2.0 if done else 1.0))

    monkeypatch.setattr(os, "replace", observed)
    model(2.0).save(whole, max_shard_bytes=32)
    assert seen == [1.0] * 4


def test_shards_whose_writer_was_killed_are_no_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(path: Path) -> None:  # as a killed program, which leaves its files
        pass

    def die(*args: Any) -> None:
        raise KeyboardInterrupt

    def save_until_the_index(value: float) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(shards, "discard", killed)
            patch.setattr(shards, "_referenced_files", die)
            with pytest.raises(KeyboardInterrupt):
                model(value).save(tmp_path, max_shard_bytes=32)

    save_until_the_index(1.0)
    with pytest.raises(StorageError) as info:
        na.Container.load(tmp_path)
    assert str(info.value) == (
        f"Container.load: '{tmp_path}' holds shards such as 'model-00001-of-00003.safetensors', and "
        "no index (.safetensors.index.json): it is missing, or the model was not written to its "
        "end; name a shard to read that alone"
    )
    model(2.0).save(tmp_path, max_shard_bytes=32)
    save_until_the_index(3.0)
    assert_same(na.Container.load(tmp_path), model(2.0))
    assert len(files(tmp_path)) == 3 * 3 + 1


def test_a_model_that_is_replaced_while_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model(1.0).save(tmp_path, max_shard_bytes=32)
    opened = safetensors_format.open

    def replaced(path: Path, *, writable: bool) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(safetensors_format, "open", opened)
            found = opened(path, writable=writable)
            if found.read(next(iter(found.entries)))[0] == 1.0:
                model(2.0).save(tmp_path, max_shard_bytes=32)
        return found

    monkeypatch.setattr(safetensors_format, "open", replaced)
    assert_same(na.Container.load(tmp_path), model(2.0))


def test_writers_at_the_same_time_leave_one_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model(0.0).save(tmp_path, max_shard_bytes=32)
    referenced = shards._referenced_files

    def slow(index: Path) -> set[str]:
        names = referenced(index)
        time.sleep(0.05)  # without a lock, others read the same index here
        return names

    monkeypatch.setattr(shards, "_referenced_files", slow)
    values = [1.0, 2.0, 3.0, 4.0]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda x: model(x).save(tmp_path, max_shard_bytes=32), values))
    assert len(files(tmp_path)) == 3 + 1
    found = na.Container.load(tmp_path)
    assert_same(found, model(float(found.a[0])))


def test_two_writers_take_different_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, values = safetensors_format.write, [2.0]

    def interrupted(path: Path, plan: Any) -> None:
        write(path, plan)
        if values:
            model(values.pop()).save(tmp_path, max_shard_bytes=32)

    monkeypatch.setattr(safetensors_format, "write", interrupted)
    model(1.0).save(tmp_path, max_shard_bytes=32)
    assert_same(na.Container.load(tmp_path), model(1.0))  # whose index was the last
    assert len(files(tmp_path)) == 4


@pytest.mark.parametrize(
    "name", ["../m.safetensors", "/etc/passwd", "sub/m.safetensors", "..", "", ".", "a\\b", "x\0y"]
)
def test_names_that_lead_out_of_the_directory(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "folder"
    (folder / "sub").mkdir(parents=True)
    for place in (tmp_path, folder / "sub"):
        model(1.0).save(place / "m.safetensors")
    index = folder / "m.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"a": name}}))
    with pytest.raises(StorageError) as info:
        na.Container.load(index)
    assert str(info.value) == (
        f"Container.load: '{index}' names the file {name!r}, expected a file in its directory"
    )


def test_links_that_lead_out_of_the_directory(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    model(1.0).save(tmp_path / "m.safetensors")
    (folder / "link.safetensors").symlink_to(tmp_path / "m.safetensors")
    index = folder / "m.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"a": "link.safetensors"}}))
    with pytest.raises(StorageError) as info:
        na.Container.load(index)
    assert str(info.value) == (
        f"Container.load: '{index}': the shard 'link.safetensors' leads to "
        f"'{os.path.realpath(tmp_path / 'm.safetensors')}', out of its directory, and is not followed; "
        "copy it, or move the index and all shards there"
    )


def test_links_of_the_hub_cache_are_followed(tmp_path: Path) -> None:
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshots" / "0a1b"
    blobs.mkdir()
    snapshot.mkdir(parents=True)
    model(1.0).save(tmp_path / "m.safetensors", max_shard_bytes=32)
    for number, path in enumerate(sorted(tmp_path.glob("m*"))):
        path.rename(blobs / str(number))
        (snapshot / path.name).symlink_to(Path("../../blobs") / str(number))
    assert_same(na.Container.load(snapshot), model(1.0))


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", '{"weight_map": 3}', '{"weight_map": {"a": 3}}', "[" * 10**5, '{"a":1,"a":2}',
     '{"metadata": {}}', "\xff"],
)  # fmt: skip
def test_what_is_no_index(tmp_path: Path, text: str) -> None:
    path = tmp_path / "m.safetensors.index.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(StorageError, match="is no index"):
        na.Container.load(path)


def test_messages_of_shards_that_do_not_fit(tmp_path: Path) -> None:
    whole = tmp_path / "m.safetensors"
    model(1.0).save(whole, max_shard_bytes=32)
    first = tmp_path / "m-00001-of-00003.safetensors"
    na.Container(z=np.ones(1)).save(first)
    with pytest.raises(StorageError) as info:
        na.Container.load(whole)
    assert str(info.value) == (
        f"Container.load: '{whole}.index.json': it says that 'a' is in '{first.name}', where it is not; "
        "the shards are of another model, or one is damaged"
    )
    first.unlink()
    with pytest.raises(MissingFileError) as missing:
        na.Container.load(whole)
    assert str(missing.value) == f"Container.load: '{first}': there is no such file"


def test_messages_of_directories(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError) as info:
        na.Container.load(tmp_path)
    assert str(info.value) == (
        f"Container.load: '{tmp_path}' is a directory without a .safetensors file or an index "
        "(.safetensors.index.json); name the file"
    )
    model(1.0).save(tmp_path / "a.safetensors", max_shard_bytes=32)
    model(1.0).save(tmp_path / "b.safetensors")
    with pytest.raises(StorageError) as several:
        na.Container.load(tmp_path)
    assert str(several.value) == (
        f"Container.load: '{tmp_path}' holds 2 models, expected one; name one of "
        "'a.safetensors.index.json', 'b.safetensors'"
    )


def test_messages_of_wrong_arguments(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError) as info:
        model(1.0).save(tmp_path / "m.safetensors", max_shard_bytes=0)
    assert str(info.value) == (
        "Container.save: max_shard_bytes: got 0, expected a positive number of bytes, such as "
        "5 * 10**9"
    )
    with pytest.raises(ArgumentError) as info:
        model(1.0).save(tmp_path / "m.npz", max_shard_bytes=10)
    assert str(info.value) == (
        f"Container.save: path: got '{tmp_path}/m.npz', expected a name such as 'model.safetensors' or "
        "an existing directory: only safetensors files are written in shards"
    )
    with pytest.raises(ArgumentError) as info:
        model(1.0).save(tmp_path / "m.safetensors.index.json")
    assert str(info.value) == (
        f"Container.save: path: got '{tmp_path}/m.safetensors.index.json', the name of an index; say "
        "max_shard_bytes, or name one file"
    )
