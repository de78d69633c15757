"""Files of a killed program, and of several programs at once."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray.errors import StorageError
from nestarray.storage import atomic
from nestarray.storage.atomic import replacing, workplace
from tests.storage.comparing import assert_same

_SUFFIXES = ["safetensors", "npz", "zarr"]


def model(value: float = 1.0) -> na.Container:
    return na.Container(a={"w": np.full(3, value)}, b=np.zeros(2))


def left_by_killed(path: Path, number: int = 0) -> Path:
    folder = path.with_name(f".{path.name}.{number}.tmp")
    (folder / "inner").mkdir(parents=True)
    (folder / path.name).write_bytes(b"half a model")
    return folder


@pytest.mark.parametrize("suffix", _SUFFIXES)
def test_what_killed_programs_left_is_removed(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"c.{suffix}"
    for number in range(3):
        left_by_killed(path, number)
    other = left_by_killed(tmp_path / f"d.{suffix}")
    model().save(path)
    assert_same(na.Container.load(path), model())
    assert sorted(tmp_path.iterdir()) == [other, path]


def test_shards_of_a_killed_program_are_removed(tmp_path: Path) -> None:
    left_by_killed(tmp_path / "m.safetensors.index.json")
    model().save(tmp_path / "m.safetensors", max_shard_bytes=20)
    names = sorted(p.name for p in tmp_path.iterdir())
    assert names == [
        "m-00001-of-00002.safetensors",
        "m-00002-of-00002.safetensors",
        "m.safetensors.index.json",
    ]


def test_a_program_that_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "c.npz"
    code = (
        "import os, sys, pathlib\n"
        "from nestarray.storage.atomic import replacing\n"
        "with replacing(pathlib.Path(sys.argv[1])) as made:\n"
        "    made.write_bytes(b'half')\n"
        "    print('begun', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    program = subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert program.stdout is not None
    assert program.stdout.readline() == b"begun\n"
    model(1.0).save(path)  # while the other one is at work
    left = tmp_path / ".c.npz.0.tmp"
    assert (left / "c.npz").read_bytes() == b"half"
    program.kill()
    program.communicate()
    assert left.is_dir()
    model(2.0).save(path)
    assert_same(na.Container.load(path), model(2.0))
    assert list(tmp_path.iterdir()) == [path]


def test_writers_do_not_disturb_each_other(tmp_path: Path) -> None:
    path = tmp_path / "c.txt"
    with replacing(path) as first:
        with replacing(path) as second, workplace(path) as third:
            assert len({first.parent, second.parent, third}) == 3
            first.write_text("first")
            second.write_text("second")
        assert path.read_text() == "second"
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]


def test_without_locks_nothing_of_others_is_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "c.npz"
    other = left_by_killed(path)
    monkeypatch.setattr(atomic, "fcntl", None)
    model().save(path)
    assert_same(na.Container.load(path), model())
    assert (other / path.name).read_bytes() == b"half a model"
    monkeypatch.undo()

    class NoLocks:
        LOCK_EX = LOCK_NB = 0

        def flock(self, descriptor: int, operation: int) -> None:
            raise OSError("no locks available")

    monkeypatch.setattr(atomic, "fcntl", NoLocks())
    model(2.0).save(path)
    assert_same(na.Container.load(path), model(2.0))
    assert sorted(tmp_path.iterdir()) == [other, path]


def test_what_has_such_a_name_and_is_no_directory_stays(tmp_path: Path) -> None:
    path, target = tmp_path / "c.npz", tmp_path / "target"
    target.mkdir()
    (target / "thesis.txt").write_text("years of work")
    (tmp_path / ".c.npz.0.tmp").symlink_to(target)
    (tmp_path / ".c.npz.1.tmp").write_text("a file")
    model().save(path)
    assert (target / "thesis.txt").read_text() == "years of work"
    assert (tmp_path / ".c.npz.1.tmp").read_text() == "a file"


#: Linux and macOS exchange two directories in one step.
IN_STEPS = [True, False] if sys.platform in ("linux", "darwin") else [False]


@pytest.mark.parametrize("at_once", IN_STEPS)
def test_a_directory_takes_the_place_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: bool
) -> None:
    path = tmp_path / "c.zarr"
    model(1.0).save(path)
    if at_once:
        (tmp_path / "other").mkdir()
        assert atomic._exchange(path, tmp_path / "other")
        (tmp_path / "c.zarr").rmdir()
        (tmp_path / "other").rename(path)
        monkeypatch.setattr(atomic.os, "rename", _never)
    else:
        monkeypatch.setattr(atomic, "_exchange", lambda a, b: False)
    model(2.0).save(path)
    monkeypatch.undo()
    assert_same(na.Container.load(path), model(2.0))
    assert list(tmp_path.iterdir()) == [path]


def test_two_steps_that_fail_are_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = tmp_path / "old.d", tmp_path / "new.d"
    for folder in (old, new):
        folder.mkdir()
        (folder / "x").write_text(folder.name)
    monkeypatch.setattr(atomic, "_exchange", lambda a, b: False)
    rename = atomic.os.rename
    monkeypatch.setattr(
        atomic.os, "rename", lambda a, b: _never() if Path(a) == new else rename(a, b)
    )
    with pytest.raises(OSError, match="must not be called"):
        atomic.put(new, old)
    assert (old / "x").read_text() == "old.d"


def _never(*arguments: Any) -> None:
    raise OSError("must not be called")


@pytest.mark.parametrize("is_link", [False, True])
def test_a_pipe_is_not_replaced(tmp_path: Path, is_link: bool) -> None:
    pipe = tmp_path / "pipe.safetensors"
    os.mkfifo(pipe)
    target = tmp_path / "link.safetensors" if is_link else pipe
    if is_link:
        target.symlink_to(pipe)
    with pytest.raises(StorageError, match="is a device, a pipe or a socket"):
        model().save(target)
    with pytest.raises(StorageError, match="is a device, a pipe or a socket"), replacing(target):
        pass
    assert stat.S_ISFIFO(target.stat().st_mode)
    assert {*tmp_path.iterdir()} == {pipe, target}
