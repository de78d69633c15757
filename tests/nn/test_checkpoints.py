"""Checkpoints: retention, restored runs, and killed writers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import nn
from nestarray.errors import (
    ArgumentError,
    DtypeError,
    MissingFileError,
    ShapeError,
    StorageError,
    StructureError,
)
from nestarray.storage.atomic import discard


def _state(value: float) -> na.Container:
    return na.Container(v={"w": np.full(3, value, "float32")}, s=na.Container())


def _saved(folder: Path, losses: dict[int, float], **settings: Any) -> nn.Checkpointer:
    checkpoints = nn.Checkpointer(folder, **settings)
    for step, loss in losses.items():
        checkpoints.save(_state(loss), step=step, metrics={"loss": loss})
    return checkpoints


@pytest.mark.parametrize(
    ("settings", "steps"),
    [
        ({"keep": 2}, (4, 5)),
        ({"keep": 1, "best": "loss"}, (2, 5)),
        ({"keep": 1, "best": "loss", "mode": "max"}, (1, 5)),
        ({"keep": None}, (1, 2, 3, 4, 5)),
        ({"keep": 9, "best": "loss"}, (1, 2, 3, 4, 5)),
    ],
)
def test_the_last_and_the_best_stay(
    settings: dict[str, Any], steps: tuple[int, ...], tmp_path: Path
) -> None:
    losses = {1: 0.9, 2: 0.2, 3: float("nan"), 4: 0.3, 5: 0.4}
    checkpoints = _saved(tmp_path / "run", losses, **settings)
    assert checkpoints.steps() == steps
    assert len(list((tmp_path / "run").iterdir())) == len(steps)
    last = checkpoints.restore()
    assert (last.step, last.metrics, last.position) == (5, {"loss": 0.4}, None)
    np.testing.assert_array_equal(last.state.v.w, np.full(3, 0.4, "float32"))
    if "best" in settings:
        best = checkpoints.restore("best")
        assert best.step == (1 if settings.get("mode") == "max" else 2)


@pytest.mark.parametrize("backend", ["numpy", "jax", "torch", "tensorflow"])
def test_a_run_continues_with_the_same_bits(backend: str, tmp_path: Path) -> None:
    """From variables, optimizer, key, step and data position, in the middle of an epoch."""
    data = na.Container(x=np.arange(24, dtype="float32").reshape(12, 2) / 24).to_backend(backend)
    net = nn.Sequential(nn.Linear(2, 4), nn.Dropout(0.5), nn.Linear(4, 1))
    net = net.init(na.random.key(0, backend=backend))

    def loss_fn(v: Any, batch: Any, s: Any, key: Any) -> Any:
        y, s = net(batch.x, v=v, s=s, train=True, key=key)
        return na.mean(na.square(y)), s

    step = na.train_step(loss_fn, nn.Adam(0.1), compile=backend != "torch")
    key = na.random.key(1, backend=backend)

    def run(state: Any, start: tuple[int, int], stop: int | None, folder: Path | None) -> Any:
        """The losses of two epochs of three batches, from a position on."""
        losses = []
        for epoch in range(start[0], 2):
            batches = data.batches(4, shuffle=na.random.fold_in(key, epoch))
            first = start[1] if epoch == start[0] else 0
            for number, batch in enumerate(batches[first:], first):
                state, metrics = step(state, batch)
                losses.append(float(metrics.loss))
                if folder is not None:
                    position = {"epoch": epoch, "batch": number + 1}
                    nn.Checkpointer(folder).save(state, metrics=metrics, position=position)
                if len(losses) == stop:
                    return losses
        return losses

    expected = run(step.init(net.v, net.s, key), (0, 0), None, None)
    first = run(step.init(net.v, net.s, key), (0, 0), 4, tmp_path)
    loaded = nn.Checkpointer(tmp_path).restore(like=step.init(net.v, net.s, key))
    assert loaded.step == 4
    assert na.backend_of(loaded.state["key"]) == backend
    position = loaded.position["epoch"], loaded.position["batch"]
    assert first + run(loaded.state, position, None, None) == expected


_KILLED = """
import os, signal, sys
import numpy as np
import nestarray as na
from nestarray.storage import safetensors

checkpoints = na.nn.Checkpointer(sys.argv[1], keep=1)
checkpoints.save(na.Container(w=np.full(1000, 1.0)), step=1)
whole = safetensors.write

def half(path, plan):
    whole(path, plan)
    os.truncate(path, path.stat().st_size // 2)
    os.kill(os.getpid(), signal.SIGKILL)

safetensors.write = half
checkpoints.save(na.Container(w=np.full(1000, 2.0)), step=2)
"""


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_a_killed_writer_leaves_the_last_checkpoint(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", _KILLED, str(tmp_path)], timeout=120, check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 2  # the checkpoint, and a partial file
    checkpoints = nn.Checkpointer(tmp_path, keep=1)
    assert checkpoints.steps() == (1,)
    np.testing.assert_array_equal(checkpoints.restore().state.w, np.ones(1000))
    checkpoints.save(na.Container(w=np.zeros(2)), step=3)
    assert [path.name for path in tmp_path.iterdir()] == ["step-0000000003.safetensors"]


@pytest.mark.skipif(os.name != "posix", reason="other systems cannot open directories")
def test_a_file_is_on_the_disk_before_others_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[str, Path]] = []

    def recorded(name: str, function: Any, path_of: Any) -> Any:
        def call(*args: Any) -> Any:
            calls.append((name, Path(path_of(args[-1]))))
            return function(*args)

        return call

    def path_of(descriptor: int) -> Path:
        number = os.fstat(descriptor).st_ino
        return next(p for p in (tmp_path, *tmp_path.rglob("*")) if p.stat().st_ino == number)

    checkpoints = nn.Checkpointer(tmp_path, keep=1)
    checkpoints.save(_state(1.0), step=1)
    monkeypatch.setattr(os, "fsync", recorded("flush", os.fsync, path_of))
    monkeypatch.setattr(os, "replace", recorded("move", os.replace, lambda path: path))
    monkeypatch.setattr(
        "nestarray.nn.checkpoints.discard", recorded("remove", discard, lambda p: p)
    )
    checkpoints.save(_state(2.0), step=2)
    old, new = (tmp_path / f"step-{step:010d}.safetensors" for step in (1, 2))
    (_, place), (flush, written), *rest = calls
    assert (flush, written) == ("flush", place)  # after the save to a temporary place
    assert written.name == new.name != written
    assert rest == [("move", new), ("flush", tmp_path), ("remove", old)]


def test_partial_files_are_no_checkpoints(tmp_path: Path) -> None:
    checkpoints = _saved(tmp_path, {1: 0.5, 2: 0.4})
    (tmp_path / "step-0000000003.safetensors.part").write_bytes(b"half")
    (tmp_path / "notes.txt").write_text("a run")
    assert checkpoints.restore().step == 2
    checkpoints.save(_state(0.3), step=3)
    assert (tmp_path / "notes.txt").read_text() == "a run"


def test_a_damaged_file_is_an_error(tmp_path: Path) -> None:
    checkpoints = _saved(tmp_path, {1: 0.5, 2: 0.4})
    path = tmp_path / "step-0000000002.safetensors"
    os.truncate(path, path.stat().st_size - 5)
    with pytest.raises(StorageError, match="step-0000000002"):
        checkpoints.restore()
    assert checkpoints.restore(1).metrics == {"loss": 0.5}
    na.Container(w=np.ones(2)).save(path)
    with pytest.raises(StorageError, match="was not written by a Checkpointer"):
        checkpoints.restore()


def test_a_state_that_does_not_fit(tmp_path: Path) -> None:
    checkpoints = _saved(tmp_path, {1: 0.5})
    like = _state(0.0)
    assert checkpoints.restore(like=like).state.spec is like.spec
    for changed, error, message in (
        (like.set("v/b", np.ones(1)), StructureError, "'v/b' is in the left one"),
        (like.set("v/w", np.ones(2, "float32")), ShapeError, r"'v/w': the checkpoint has \(3,\)"),
        (like.set("v/w", np.ones(3)), DtypeError, "'v/w': the checkpoint has float32, like has"),
    ):
        with pytest.raises(error, match=message):
            checkpoints.restore(like=changed)


def test_wrong_arguments(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="Checkpointer: keep: got 0, expected a positive"):
        nn.Checkpointer(tmp_path, keep=0)
    with pytest.raises(ArgumentError, match="Checkpointer: mode: got 'least'"):
        nn.Checkpointer(tmp_path, mode="least")
    checkpoints = nn.Checkpointer(tmp_path / "run", best="loss")
    with pytest.raises(MissingFileError, match=r"step: got None, but .* has the steps none"):
        checkpoints.restore()
    with pytest.raises(ArgumentError, match="metrics: got accuracy, expected 'loss'"):
        checkpoints.save(_state(0), step=1, metrics={"accuracy": 1})
    with pytest.raises(ArgumentError, match=r"metrics\['loss'\]: got .*, expected a number"):
        checkpoints.save(_state(0), step=1, metrics={"loss": np.ones(2)})
    with pytest.raises(ArgumentError, match="step: got None for a state without 'step'"):
        checkpoints.save(_state(0), metrics={"loss": 1})
    with pytest.raises(ArgumentError, match=r"position: got .*, expected numbers, texts"):
        checkpoints.save(_state(0), step=1, metrics={"loss": 1}, position=object())
    checkpoints.save(_state(0), step=5, metrics={"loss": 1})
    with pytest.raises(ArgumentError, match=r"step: got 4, but .* has a checkpoint of step 5"):
        checkpoints.save(_state(0), step=4, metrics={"loss": 1})
    with pytest.raises(MissingFileError, match=r"step: got 3, but .* has the steps 5"):
        checkpoints.restore(3)
    with pytest.raises(ArgumentError, match="has no best metric"):
        nn.Checkpointer(tmp_path / "run").restore("best")
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="is a file, expected a directory"):
        nn.Checkpointer(tmp_path / "file")
