"""A model in several safetensors files with an index, in the layout of Hugging Face.

``model.safetensors.index.json`` maps each array to one of ``model-00001-of-00003.safetensors`` ….
New shards never reuse existing names, which an index may reference or another program may be
writing, and the index is replaced last: readers see the old model or the new one, never a mixture.
Then the shards of the old index are removed. Shards without an index are incomplete and are
ignored.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from nestarray.container import Container
from nestarray.display.progress import SetStep
from nestarray.errors import ArgumentError, MissingFileError, StorageError
from nestarray.storage import safetensors, torch
from nestarray.storage.atomic import check_place, discard, put, replacing, turn, workplace
from nestarray.storage.plan import Plan, make_plan
from nestarray.storage.source import Source, reading, writing
from nestarray.storage.structure import RESERVED, parse_json

SUFFIX = ".safetensors"
INDEX = ".safetensors.index.json"
_DEFAULT_STEM = "model"  # as in transformers and diffusers
_SHARD = re.compile(rf"-\d{{5}}-of-(?!00001)\d{{5}}{re.escape(SUFFIX)}$")


# -- finding ----------------------------------------------------------------------------------


def is_index(path: Path) -> bool:
    """Whether a file is the index of a sharded model, by its name; also for torch files."""
    return path.name.endswith((INDEX, ".bin.index.json"))


def find(path: Path) -> Path:
    """The file to open for a path: a file, an index, the name of a sharded model, or a directory.

    Raises:
        MissingFileError: nothing was found.
        StorageError: a directory contains several models.
    """
    if path.is_dir():
        return _only_model(path)
    index = _index_of(path)
    if not path.exists() and path.suffix == SUFFIX and index.exists():
        return index
    if not path.exists():
        raise MissingFileError(f"Container.load: {str(path)!r}: there is no such file")
    return path


def _index_of(path: Path) -> Path:
    return path.with_name(path.name.removesuffix(SUFFIX) + INDEX)


def _only_model(directory: Path) -> Path:
    names = [p for p in sorted(directory.iterdir()) if not p.name.startswith(".")]
    indices = [p for p in names if p.name.endswith(INDEX)]
    parts = {name for p in indices for name in _referenced_files(p)}
    whole = [p for p in names if p.suffix == SUFFIX and p.name not in parts]
    found = [*indices, *(p for p in whole if not _SHARD.search(p.name))]
    if len(found) == 1:
        return found[0]
    if not found and whole:
        raise StorageError(
            f"Container.load: {str(directory)!r} holds shards such as {whole[0].name!r}, and no index "
            f"({INDEX}): it is missing, or the model was not written to its end; name a shard to "
            "read that alone"
        )
    if not found:
        raise MissingFileError(
            f"Container.load: {str(directory)!r} is a directory without a {SUFFIX} file or an index "
            f"({INDEX}); name the file"
        )
    raise StorageError(
        f"Container.load: {str(directory)!r} holds {len(found)} models, expected one; name one of "
        f"{', '.join(repr(p.name) for p in found[:4])}"
    )


# -- reading ----------------------------------------------------------------------------------


class ShardedSource(Source):
    """All shards of an index as one `Source`."""

    def __init__(self, path: Path, *, writable: bool) -> None:
        index = _parse_index(path)
        self._files = index["weight_map"]
        self._shards: dict[str, Source] = {}
        for file in dict.fromkeys(self._files.values()):
            shard = _checked_place(path, file)
            module = torch if shard.suffix == ".bin" else safetensors
            with reading(shard):
                self._shards[file] = module.open(shard, writable=writable)
        entries = {}
        for name, file in self._files.items():
            if name not in self._shards[file].entries:
                raise StorageError(
                    f"Container.load: {str(path)!r}: it says that {name!r} is in {file!r}, where it is "
                    "not; the shards are of another model, or one is damaged"
                )
            entries[name] = self._shards[file].entries[name]
        texts = {k: v for k, v in index["metadata"].items() if isinstance(v, str)}
        super().__init__(path, entries, texts.pop(RESERVED, None), texts)

    def check(self, names: Iterable[str]) -> None:
        """Raise an error if another program wrote into a shard with one of these arrays."""
        for file in {self._files[name] for name in names}:
            self._shards[file].check(())

    def view(self, name: str) -> np.ndarray:
        """The elements of an array, on the mapped shard."""
        return self._shards[self._files[name]].view(name)

    def read(self, name: str) -> np.ndarray:
        """The elements of an array, in separate memory."""
        return self._shards[self._files[name]].read(name)

    def part(self, name: str, index: Any) -> np.ndarray:
        """The elements of a part of an array; only this part is read."""
        return self._shards[self._files[name]].part(name, index)


def open(path: Path, *, writable: bool) -> Source:
    """The shards that an index names, as one `Source`."""
    while True:
        before, failure = path.stat(), None
        try:
            source = ShardedSource(path, writable=writable)
        except StorageError as error:
            failure = error
        after = path.stat()
        if (before.st_ino, before.st_mtime_ns) != (after.st_ino, after.st_mtime_ns):
            continue  # another model replaced this one while its shards were opened
        if failure is not None:
            raise failure
        return source


def _parse_index(path: Path) -> dict[str, Any]:
    try:
        index = parse_json(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise StorageError(f"Container.load: {str(path)!r} is no index: {error}") from error
    files = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(files, dict) or not all(isinstance(f, str) for f in files.values()):
        raise StorageError(
            f"Container.load: {str(path)!r} is no index: expected an object with a 'weight_map' from "
            "names of arrays to names of files"
        )
    described = index.get("metadata")
    return {"weight_map": files, "metadata": described if isinstance(described, dict) else {}}


def _checked_place(index: Path, file: str) -> Path:
    """The path of a shard, which must be in the directory of the index.

    Hugging Face's cache links ``snapshots/<revision>/<file>`` to ``blobs/<hash>``; such links are
    followed.

    Raises:
        StorageError: the name, or the target of a link, is outside of the directory.
    """
    directory = index.parent
    plain = file == os.path.basename(file) and "\\" not in file and file not in ("", ".", "..")
    place = directory / file
    if plain and "\0" not in file:
        target, home = Path(os.path.realpath(place)), Path(os.path.realpath(directory))
        homes = [home]
        if home.parent.name == "snapshots":
            homes.append(home.parent.parent / "blobs")
        if any(target.is_relative_to(h) for h in homes):
            return place
        raise StorageError(
            f"Container.load: {str(index)!r}: the shard {file!r} leads to {str(target)!r}, out of its "
            "directory, and is not followed; copy it, or move the index and all shards there"
        )
    raise StorageError(
        f"Container.load: {str(index)!r} names the file {file!r}, expected a file in its directory"
    )


def _referenced_files(index: Path) -> set[str]:
    """The files that an index references; empty if the file is not an index."""
    try:
        return set(_parse_index(index)["weight_map"].values())
    except (StorageError, OSError):
        return set()


# -- writing ----------------------------------------------------------------------------------


def save(
    c: Container,
    path: Path,
    format: str,
    metadata: Mapping[str, str] | None,
    max_bytes: int,
    step: SetStep,
) -> None:
    """Write shards and index; see `nestarray.storage.files.save`."""
    if isinstance(max_bytes, bool) or not isinstance(max_bytes, int) or max_bytes < 1:
        raise ArgumentError(
            f"Container.save: max_shard_bytes: got {max_bytes!r}, expected a positive number of bytes, "
            "such as 5 * 10**9"
        )
    whole = _name_of_whole(path)
    if format != "safetensors" or whole.suffix != SUFFIX:
        raise ArgumentError(
            f"Container.save: path: got {str(path)!r}, expected a name such as 'model.safetensors' or "
            "an existing directory: only safetensors files are written in shards"
        )
    check_place(whole)
    plan = make_plan(c, metadata, safetensors.naming, native=safetensors.NATIVE_DTYPES)
    groups = _split(plan, max_bytes)
    with writing(whole):
        if len(groups) > 1:
            _write_shards(whole, plan, groups, step)
        else:
            with replacing(whole) as temporary:
                safetensors.write(temporary, plan)
            remove_stale(whole)


def _name_of_whole(path: Path) -> Path:
    if path.is_dir():
        return path / (_DEFAULT_STEM + SUFFIX)
    return path.with_name(path.name.removesuffix(INDEX) + SUFFIX) if is_index(path) else path


def _split(plan: Plan, max_bytes: int) -> list[list[str]]:
    """Names in groups of at most `max_bytes`, in order; a larger array forms a separate group."""
    groups: list[list[str]] = [[]]
    room = max_bytes
    for name in plan.arrays:
        size = plan.size(name)
        if groups[-1] and size > room:
            groups.append([])
            room = max_bytes
        groups[-1].append(name)
        room -= size
    return groups


def _write_shards(whole: Path, plan: Plan, groups: list[list[str]], step: SetStep) -> None:
    index = _index_of(whole)
    with workplace(index) as folder:
        made = [folder / f"{i}{SUFFIX}" for i in range(len(groups))]
        for number, (file, names) in enumerate(zip(made, groups, strict=True)):
            step(f"{number + 1} of {len(made)}", number / len(made))
            part = Plan(
                {n: plan.arrays[n] for n in names},
                {n: plan.entries[n] for n in names},
                "",
                plan.metadata,
            )
            safetensors.write(file, part)
        places = _reserve_paths(whole, len(groups))
        total = sum(map(plan.size, plan.arrays))
        text = {
            "metadata": {"total_size": total, **plan.metadata, RESERVED: plan.structure},
            "weight_map": {n: p.name for p, names in zip(places, groups) for n in names},
        }
        with turn(whole.parent):  # each writer removes the shards of the one before
            try:
                for file, place in zip(made, places, strict=True):
                    put(file, place)
                with replacing(index) as temporary:
                    temporary.write_text(json.dumps(text, indent=2))
                    old = _referenced_files(index)
            except BaseException:
                for place in places:
                    discard(place)
                raise
            _remove(whole.parent, old - {p.name for p in places}, index)
            discard(whole)  # an older model of the same name in one file


def _reserve_paths(whole: Path, count: int) -> list[Path]:
    """``model-00001-of-00003.safetensors`` …, or ``model.2-00001-…`` if there is such a file.

    The first file is created immediately, to reserve the names.
    """
    stem, number = whole.name.removesuffix(SUFFIX), 1
    while True:
        start = stem if number == 1 else f"{stem}.{number}"
        names = [f"{start}-{i:05}-of-{count:05}{SUFFIX}" for i in range(1, count + 1)]
        places = [whole.with_name(name) for name in names]
        if not any(p.exists() for p in places):
            try:
                places[0].touch(exist_ok=False)
            except FileExistsError:
                pass
            else:
                return places
        number += 1


def remove_stale(whole: Path) -> None:
    """Remove the index and shards of an earlier model with the name of this file."""
    index = _index_of(whole)
    if whole.suffix == SUFFIX and index.exists():
        with turn(whole.parent):
            names = _referenced_files(index)
            discard(index)
            _remove(whole.parent, names - {whole.name}, index)


def _remove(directory: Path, names: set[str], index: Path) -> None:
    """Remove shards in the directory and with the name of the index, except its present ones."""
    stem = index.name.removesuffix(INDEX)
    for name in names - _referenced_files(index):
        ours = name.startswith(stem) and name.endswith(SUFFIX) and "-of-" in name
        if ours and os.path.basename(name) == name:
            discard(directory / name)
