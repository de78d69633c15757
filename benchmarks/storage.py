"""Saving and loading models, against safetensors' own functions and other formats; many leaves.

256 MiB by default; BENCH_STORAGE_MIB=1024 makes it the gigabyte of the goal.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import nestarray as na
from benchmarks.timing import Table, compare, ratio, readable

MIB = int(os.environ.get("BENCH_STORAGE_MIB", "256"))
MANY = 64
LEAVES = 10_000


def tables() -> list[Table]:
    """Speed of saving and loading, and memory of loading."""
    # in memory if possible, so that the disk does not matter
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        place = Path(folder)
        return [_speed(place, MANY), _speed(place, 1), _many_leaves(place), _memory(place)]


def _arrays(mib: int, count: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    size = mib * 2**20 // 4 // count
    return {f"layer{i}.weight": rng.random(size, dtype=np.float32) for i in range(count)}


def _speed(folder: Path, count: int) -> Table:
    import safetensors
    import safetensors.numpy
    import torch

    table = Table(
        f"Files of {MIB} MiB in {count} arrays"
        if count > 1
        else f"Files of one array of {MIB} MiB",
        ["", "Container", "safetensors.numpy", "np.savez, np.load", "torch"],
        "In brackets: how much longer than Container. The goal is 0.9 of safetensors' own speed. "
        "Files are in memory, not on a disk.",
    )
    flat = _arrays(MIB, count)
    tensors = {name: torch.from_numpy(x) for name, x in flat.items()}
    c = na.Container.from_flat_dict(flat, ".")
    ours, theirs = folder / "ours.safetensors", folder / "theirs.safetensors"
    archive, pickled = folder / "theirs.npz", folder / "theirs.pt"
    last = f"layer{count - 1}.weight"

    def numpy_load() -> dict[str, np.ndarray]:
        with np.load(archive) as file:
            return dict(file)

    def numpy_load_one() -> np.ndarray:
        with np.load(archive) as file:
            return file[last]

    def safetensors_load_one() -> Any:
        with safetensors.safe_open(theirs, "np") as file:
            return file.get_tensor(last)

    rows: dict[str, dict[str, Callable[[], Any]]] = {
        "save": {
            "Container": lambda: c.save(ours),
            "safetensors.numpy": lambda: safetensors.numpy.save_file(flat, theirs),
            "np.savez, np.load": lambda: np.savez(archive, **flat),  # type: ignore[arg-type]
            "torch": lambda: torch.save(tensors, pickled),
        },
        "load": {
            "Container": lambda: na.Container.load(ours),
            "safetensors.numpy": lambda: safetensors.numpy.load_file(theirs),
            "np.savez, np.load": numpy_load,
            "torch": lambda: torch.load(pickled),
        },
        "load the last array": {
            "Container": lambda: na.Container.load(ours, last.replace(".", "/")),
            "safetensors.numpy": safetensors_load_one,
            "np.savez, np.load": numpy_load_one,
        },
        "map into memory": {
            "Container": lambda: na.Container.load(ours, memory_map=True),
            "torch": lambda: torch.load(pickled, mmap=True),
        },
    }
    for title, functions in rows.items():
        time = compare(functions)
        own = time.pop("Container")
        cells = [
            f"{readable(time[name])} ({ratio(time[name], own)})" if name in time else ""
            for name in table.columns[2:]
        ]
        table.add(title, readable(own), *cells)
    return table


def _many_leaves(folder: Path) -> Table:
    """Trees of many small leaves, whose time is the number of calls for each."""
    import h5py
    import safetensors.numpy
    import tree as dm_tree

    table = Table(
        f"Trees of {LEAVES:,} leaves",
        ["", "Container", "peer", "", "goal"],
        "Leaves are f32[4, 4], ten in a node. In brackets: Container relative to the peer.",
    )
    flat = {f"layer{i // 10}/w{i % 10}": np.full((4, 4), i, "f4") for i in range(LEAVES)}
    dotted = {name.replace("/", "."): x for name, x in flat.items()}
    c, last = na.Container.from_flat_dict(flat), [*flat][-1]
    nested = c.to_dict()
    changed = c + np.random.default_rng(0).random((4, 4), dtype=np.float32)
    ours, theirs = folder / "ours.safetensors", folder / "theirs.safetensors"
    our_hdf5, their_hdf5 = folder / "ours.h5", folder / "theirs.h5"
    c.save(our_hdf5)
    with h5py.File(their_hdf5, "w") as file:
        for name, x in flat.items():
            file.create_dataset(name, data=x)

    def safetensors_load_one() -> Any:
        with safetensors.safe_open(theirs, "np") as file:
            return file.get_tensor(last.replace("/", "."))

    def hdf5_load() -> dict[str, Any]:
        arrays = {}

        def add(name: str, member: Any) -> None:
            if isinstance(member, h5py.Dataset):
                arrays[name] = member[()]

        with h5py.File(their_hdf5) as file:
            file.visititems(add)
        return arrays

    rows: list[tuple[str, str, Callable[[], Any], Callable[[], Any], str]] = [
        ("save .safetensors", "safetensors", lambda: c.save(ours),
         lambda: safetensors.numpy.save_file(dotted, theirs), ""),
        ("load .safetensors", "safetensors", lambda: na.Container.load(ours),
         lambda: safetensors.numpy.load_file(theirs), "1.3"),
        ("load one leaf", "safetensors", lambda: na.Container.load(ours, last),
         safetensors_load_one, "1.3"),
        ("lazily, one leaf", "safetensors", lambda: na.Container.load(ours, lazy=True)[last].read(),
         safetensors_load_one, "1.3"),
        ("load .h5", "h5py", lambda: na.Container.load(our_hdf5), hdf5_load, "1.2"),
        ("map_structure of dm-tree", "of a dict", lambda: dm_tree.map_structure(abs, c),
         lambda: dm_tree.map_structure(abs, nested), ""),
    ]  # fmt: skip
    for title, peer, own, other, goal in rows:
        time = compare({"own": own, "other": other}, rounds=1 if ".h5" in title else 5)
        between = f"{readable(time['other'])} ({ratio(time['own'], time['other'])})"
        table.add(title, readable(time["own"]), between, peer, goal)
    difference = c.diff(changed)
    time = compare({"own": lambda: str(difference)}, rounds=5)
    table.add("str(c.diff(d))", readable(time["own"]), "", "", "100 ms")
    return table


#: Prints the private memory of loading, without pages of files.
_PROGRAM = """
import sys
import numpy, nestarray as na, safetensors.numpy
def own():
    text = open("/proc/self/status").read()
    return int(text.split("RssAnon:")[1].split()[0]) / 1024
na.Container.load(sys.argv[2])
before = own()
{statement}
print(own() - before)
"""
_STATEMENTS = {
    "memory_map=True": "c = na.Container.load(sys.argv[1], memory_map=True)",
    "lazy=True": "c = na.Container.load(sys.argv[1], lazy=True)",
    "all": "c = na.Container.load(sys.argv[1])",
    "safetensors.numpy": "c = safetensors.numpy.load_file(sys.argv[1])",
}


def _memory(folder: Path) -> Table:
    table = Table(
        "Memory that a loaded file takes",
        ["file", *_STATEMENTS],
        "The process's own memory (RssAnon) in a fresh process; pages of the file, which the "
        "system takes back when it needs them, are not in it.",
    )
    small = folder / "small.safetensors"
    na.Container(w=np.zeros(1)).save(small)
    for mib in (MIB // 16, MIB // 4, MIB):
        path = folder / "model.safetensors"
        na.Container.from_flat_dict(_arrays(mib, MANY), ".").save(path)
        cells = []
        for statement in _STATEMENTS.values():
            code = [
                sys.executable,
                "-c",
                _PROGRAM.format(statement=statement),
                str(path),
                str(small),
            ]
            run = subprocess.run(code, check=True, capture_output=True, text=True)
            cells.append(f"{float(run.stdout):.1f} MiB")
        table.add(f"{mib} MiB", *cells)
    return table
