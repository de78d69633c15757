"""`Checkpointer`: the last and the best states of a run, in files that a killed writer cannot damage."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from nestarray import backends, storage
from nestarray.backends.transfer import move
from nestarray.container import Container
from nestarray.container.container import from_leaves
from nestarray.container.leaf import describe
from nestarray.container.spec import explain_mismatch
from nestarray.dtypes import dtype_of
from nestarray.errors import ArgumentError, DtypeError, MissingFileError, ShapeError, StorageError
from nestarray.storage.atomic import discard, remove_leftovers, replacing

#: The entry of a file's metadata with step, metrics and position.
_ENTRY = "nestarray.checkpoint"
_NAME = re.compile(r"step-(\d{10,})\.safetensors")


class Checkpoint(NamedTuple):
    """A state and its place in a run.

    Attributes:
        state: the training state.
        step: the number of steps done.
        metrics: the saved numbers, by name.
        position: the saved position in the data, or None.
    """

    state: Container
    step: int
    metrics: dict[str, float]
    position: Any


class Checkpointer:
    """Saves the states of a run in a folder, and removes all but the last and the best ones.

    A file is complete or absent: a program that is killed while it writes, or a loss of power, leaves
    the earlier files as they are. They are removed when the new one is on the disk. Files are
    safetensors, and loading executes nothing of them.

    Args:
        folder: a directory; a new one if it does not exist.
        keep: the number of checkpoints that stay; None: all.
        best: the name of a metric; the checkpoint with its best value stays too.
        mode: ``"min"``: smaller is better; ``"max"``: larger is better.

    Raises:
        ArgumentError: `keep` is not a positive integer, or `mode` is unknown.

    Example:
        >>> import tempfile, numpy as np, nestarray as na
        >>> folder = tempfile.TemporaryDirectory()
        >>> checkpoints = na.nn.Checkpointer(folder.name, keep=1, best="loss")
        >>> for step, loss in ((10, 0.5), (20, 0.2), (30, 0.4)):
        ...     state = na.Container(v={"w": np.full(2, loss)})
        ...     checkpoints.save(state, step=step, metrics={"loss": loss}, position={"epoch": step // 20})
        >>> checkpoints.steps()
        (20, 30)
        >>> checkpoints.restore().position, checkpoints.restore("best").state.v.w
        ({'epoch': 1}, array([0.2, 0.2]))
        >>> folder.cleanup()
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        keep: int | None = 3,
        best: str | None = None,
        mode: str = "min",
    ) -> None:
        if keep is not None and (not isinstance(keep, int) or isinstance(keep, bool) or keep < 1):
            raise ArgumentError(
                f"Checkpointer: keep: got {keep!r}, expected a positive integer or None"
            )
        if mode not in ("min", "max"):
            raise ArgumentError(f"Checkpointer: mode: got {mode!r}, expected 'min' or 'max'")
        self.folder, self.keep, self.best, self.mode = Path(folder), keep, best, mode
        if self.folder.exists() and not self.folder.is_dir():
            raise StorageError(
                f"Checkpointer: {str(self.folder)!r} is a file, expected a directory"
            )
        self.folder.mkdir(parents=True, exist_ok=True)

    def __repr__(self) -> str:
        return f"Checkpointer({str(self.folder)!r}, keep={self.keep}, best={self.best!r})"

    def steps(self) -> tuple[int, ...]:
        """The steps of the complete checkpoints, in increasing order."""
        names = (_NAME.fullmatch(path.name) for path in self.folder.iterdir())
        return tuple(sorted(int(name[1]) for name in names if name))

    def save(
        self,
        state: Container,
        *,
        step: int | None = None,
        metrics: Mapping[str, Any] | None = None,
        position: Any = None,
    ) -> None:
        """Write a checkpoint, then remove those that need not stay.

        Args:
            state: a Container, such as the state of `na.train_step`.
            step: the number of steps done; None: ``state["step"]``.
            metrics: numbers by name; must contain `best`.
            position: of the data: anything that JSON has, such as the numbers of the epoch and the batch.

        Raises:
            ArgumentError: `step` is missing, or smaller than the step of another checkpoint; a metric is
                missing, or not a number; JSON has no `position`.
            StorageError: the file cannot be written.
        """
        number = self._step_of(state, step)
        numbers = self._numbers_of({} if metrics is None else metrics)
        try:
            entry = json.dumps({"step": number, "metrics": numbers, "position": position})
        except (TypeError, ValueError) as error:
            raise ArgumentError(
                f"Checkpointer.save: position: got {describe(position)}, expected numbers, texts, lists "
                f"and dicts of JSON ({error})"
            ) from None
        remove_leftovers(self.folder, "step-*")
        with replacing(self._path(number), "Checkpointer.save", flushes=True) as path:
            state.save(path, metadata={_ENTRY: entry})
        self._remove()

    def restore(
        self,
        step: int | str | None = None,
        *,
        like: Container | None = None,
        backend: str | None = None,
    ) -> Checkpoint:
        """Read a checkpoint.

        Args:
            step: its number of steps; ``"best"``; None: the last.
            like: a state of the expected structure, shapes and dtypes, such as
                ``step.init(net.v)``; the result is on its backend and devices.
            backend: the framework of the arrays, without `like`; by default the current backend.

        Raises:
            MissingFileError: the checkpoint does not exist.
            StorageError: the file is damaged, or not of a `Checkpointer`.
            StructureError, ShapeError, DtypeError: it does not fit `like`; names the first path.
        """
        number = self._number(step)
        path = self._path(number)
        if like is not None:
            arrays = [x for x in like.leaves() if backends.is_array(x)]
            backend = backends.backend_of(arrays[0]) if arrays else backend
        state = Container.load(path, backend=backend)
        entry = self._entry(number)
        state = state if like is None else _fitted(state, like)
        return Checkpoint(state, number, entry["metrics"], entry["position"])

    def best_step(self) -> int | None:
        """The step of the checkpoint with the best value of `best`; None if there is none.

        Raises:
            ArgumentError: the checkpointer has no `best`.
        """
        if self.best is None:
            raise ArgumentError(
                "Checkpointer: has no best metric; say Checkpointer(folder, best='loss')"
            )
        values = {step: self._entry(step)["metrics"].get(self.best) for step in self.steps()}
        values = {s: x for s, x in values.items() if x is not None and not math.isnan(x)}
        if not values:
            return None
        chosen = min if self.mode == "min" else max
        return chosen(values, key=lambda step: values[step])

    def _path(self, step: int) -> Path:
        return self.folder / f"step-{step:010d}.safetensors"

    def _step_of(self, state: Container, step: int | None) -> int:
        if step is None:
            if not isinstance(state, Container) or "step" not in state:
                raise ArgumentError(
                    "Checkpointer.save: step: got None for a state without 'step', expected the number of "
                    "steps done"
                )
            step = int(state["step"])
        if isinstance(step, bool) or not isinstance(step, int) or step < 0:
            raise ArgumentError(
                f"Checkpointer.save: step: got {step!r}, expected an integer of 0 or more"
            )
        last = max(self.steps(), default=step)
        if last > step:
            raise ArgumentError(
                f"Checkpointer.save: step: got {step}, but {str(self.folder)!r} has a checkpoint of step "
                f"{last}; remove the later ones first, or use another folder"
            )
        return step

    def _numbers_of(self, metrics: Mapping[str, Any]) -> dict[str, float]:
        if self.best is not None and self.best not in metrics:
            raise ArgumentError(
                f"Checkpointer.save: metrics: got {', '.join(metrics) or 'none'}, expected "
                f"{self.best!r}, by which the best checkpoint is chosen"
            )
        numbers = {}
        for name, value in metrics.items():
            try:
                numbers[name] = float(value)
            except (TypeError, ValueError):
                raise ArgumentError(
                    f"Checkpointer.save: metrics[{name!r}]: got {describe(value)}, expected a number"
                ) from None
        return numbers

    def _number(self, step: int | str | None) -> int:
        """The step of an existing checkpoint."""
        steps = self.steps()
        number: Any = step
        if step is None:
            number = max(steps, default=None)
        elif step == "best":
            number = self.best_step()
        if number not in steps:
            has = ", ".join(map(str, steps)) or "none"
            raise MissingFileError(
                f"Checkpointer.restore: step: got {step!r}, but {str(self.folder)!r} has the steps {has}"
            )
        return number

    def _entry(self, step: int) -> dict[str, Any]:
        path = self._path(step)
        try:
            entry = json.loads(storage.metadata(path)[_ENTRY])
            return {"metrics": dict(entry["metrics"]), "position": entry["position"]}
        except (KeyError, TypeError, ValueError):
            raise StorageError(
                f"Checkpointer: {str(path)!r} was not written by a Checkpointer; remove it"
            ) from None

    def _remove(self) -> None:
        if self.keep is None:
            return
        steps = self.steps()
        stay = {*steps[-self.keep :], *([self.best_step()] if self.best is not None else [])}
        for step in steps:
            if step not in stay:
                discard(self._path(step))


def _fitted(state: Container, like: Container) -> Container:
    """A stored state in the order, and on the devices, of another one."""
    places = state.spec.permutation_to(like.spec)
    if places is None:
        raise explain_mismatch(like.spec, state.spec, "Checkpointer.restore: like (left)")
    leaves = []
    for (path, expected), place in zip(like.flat_items(), places, strict=True):
        leaf = state._leaves[place]
        if backends.is_array(expected) and backends.is_array(leaf):
            for error, got, want in (
                (ShapeError, tuple(leaf.shape), tuple(expected.shape)),
                (DtypeError, dtype_of(leaf).name, dtype_of(expected).name),
            ):
                if got != want:
                    raise error(
                        f"Checkpointer.restore: {path!r}: the checkpoint has {got}, like has {want}"
                    )
            backend = backends.backend_of(expected)
            leaf = move(leaf, backend, device=backends.core(backend).device_of(expected))
        leaves.append(leaf)
    return from_leaves(like.spec, tuple(leaves))
