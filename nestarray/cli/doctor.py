"""``nestarray doctor``: versions, devices and compatibility of the frameworks.

A version between the lower bound in pyproject.toml and the pin in constraints.txt is tested. The wheel
holds a copy of constraints.txt (``tools/hatch_build.py``).
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

import nestarray as na
from nestarray import backends
from nestarray.cli.console import Console
from nestarray.cli.self_test import self_test
from nestarray.config import BACKENDS
from nestarray.display.table import Table
from nestarray.versions import numbers

Versions = dict[str, str]

TESTED, NEWER, UNKNOWN, MISSING = "tested", "newer than tested", "installed", "not installed"
#: The statuses of a package that may work.
WORKING = (TESTED, NEWER, UNKNOWN)
#: Framework → distributions that provide it; the first that is installed counts.
_DISTRIBUTIONS = {"tensorflow": ("tensorflow", "tensorflow-cpu", "tensorflow-intel", "tf-nightly")}
#: Optional packages, and their use.
_PACKAGES = {
    "safetensors": "safetensors files", "ml-dtypes": "bfloat16 in NumPy", "h5py": "HDF5 and Keras files",
    "zarr": "Zarr stores", "tensorstore": "Orbax checkpoints", "rich": "this output in color",
    "einops": "einops notation of ops", "matplotlib": "plots", "flax": "Flax models", "dm-haiku": "Haiku models",
    "equinox": "Equinox models", "keras": "Keras models", "optax": "optimizers of JAX",
}  # fmt: skip
#: (package, first version without the limitation, limitation)
_LIMITATIONS = (
    ("torch", "2.12", "torch.compile does not trace calls of nestarray"),
    ("torch", "2.13", "torch.compile gives wrong gradients of scan"),
    ("jax", "0.10.2", "some values at infinities and NaN differ from the standard"),
)


def doctor(given: argparse.Namespace, console: Console) -> int:
    """Report versions and devices; 1 if an installed package is too old or does not work."""
    needed, pins = _requirements(), tested_versions()
    frameworks = [_framework(name, needed, pins) for name in BACKENDS]
    packages = [_package((name,), needed, pins) | {"use": use} for name, use in _PACKAGES.items()]
    installed = {row["package"]: row["installed"] for row in frameworks}
    notes = [
        f"{name} {installed[name]}: {text} (fixed in {version})"
        for name, version, text in _LIMITATIONS
        if installed.get(name) and numbers(installed[name]) < numbers(version)
    ]
    notes += [
        f"{row['package']} {row['installed']} is newer than {row['tested']}, with which the tests ran"
        for row in frameworks + packages
        if row["status"] == NEWER
    ]
    working = [row["package"] for row in frameworks if row["status"] in WORKING]
    pairs = list(self_test(working)) if given.self_test else []
    is_bad = any(row["status"] not in (*WORKING, MISSING) for row in frameworks + packages)
    is_bad = is_bad or any(row["result"] != "agrees" for row in pairs)
    system = {
        "nestarray": na.__version__,
        "python": platform.python_version(),
        "executable": sys.executable,
        "system": platform.platform(),
        "cpus": os.cpu_count(),
    }
    console.json(
        {
            "system": system,
            "frameworks": frameworks,
            "packages": packages,
            "notes": notes,
            "self_test": pairs,
            "ok": not is_bad,
        }
    )
    console.text(
        f"nestarray {na.__version__}, Python {system['python']} on {system['system']}, {system['cpus']} CPUs\n"
    )
    console.table(_table(frameworks))
    console.text("")
    console.table(_table(packages))
    if notes:
        console.text("\n" + "\n".join(notes), "yellow")
    if pairs:
        console.text("")
        console.table(
            _table([{name: row[name] for name in ("source", "target", "result")} for row in pairs])
        )
        for row in pairs:
            if row["error"]:
                console.text(f"\n{row['source']} to {row['target']}: {row['error']}", "red")
    console.text(
        "\n" + ("problems were found" if is_bad else "no problems"), "red" if is_bad else "green"
    )
    return int(is_bad)


def _table(rows: list[dict[str, Any]]) -> Table:
    def text(value: Any) -> str:
        return ", ".join(map(str, value)) if isinstance(value, list) else str(value or "-")

    return Table({name: [text(row[name]) for row in rows] for name in rows[0]})


def _framework(name: str, needed: Versions, pins: Versions) -> dict[str, Any]:
    """Version, devices and status of a framework, which is imported and computes once."""
    row = _package(_DISTRIBUTIONS.get(name, (name,)), needed, pins)
    row |= {"package": name, "devices": []}
    if row["status"] in WORKING:
        try:
            x = na.to_backend(np.arange(3.0, dtype="float32"), name)
            if na.to_backend(na.add(x, x), "numpy").tolist() != [0.0, 2.0, 4.0]:
                raise ArithmeticError("0 + 0, 1 + 1, 2 + 2 is wrong")
            row["devices"] = [str(device) for device in backends.core(name).devices()]
        except Exception as error:  # a broken installation may raise anything
            row["status"] = f"{type(error).__name__}: {' '.join(str(error).split())[:100]}"
    return row


def _package(names: Sequence[str], needed: Versions, pins: Versions) -> dict[str, Any]:
    """Version and status of the first of several distributions that is installed."""
    installed = next(filter(None, map(_version, names)), None)
    row = {"package": names[0], "installed": installed}
    for key, versions in (("needed", needed), ("tested", pins)):
        row[key] = next((versions[name] for name in names if name in versions), "")
    return row | {"status": _status(**row)}


def _status(package: str, installed: str | None, needed: str, tested: str) -> str:
    if installed is None:
        return MISSING
    if needed and numbers(installed) < numbers(needed):
        return f"older than promised, {needed}"
    if not tested:
        return UNKNOWN
    return NEWER if numbers(installed) > numbers(tested) else TESTED


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def tested_versions() -> Versions:
    """Distribution → ``2.5.1``, the newest version that the tests of this release ran with.

    Pins may depend on the version of Python: the highest counts.
    """
    package = Path(na.__file__).parent
    places = (package / "constraints.txt", package.parent / "constraints.txt")  # wheel, checkout
    text = next((place.read_text() for place in places if place.is_file()), "")
    pins = re.findall(r"^([\w.-]+)==([^\s;#]+)", text, re.MULTILINE)
    pins.sort(key=lambda pin: numbers(pin[1]))
    return {_normal(name): version for name, version in pins}


def _requirements() -> Versions:
    """Distribution → ``>=2.2``, from the metadata of nestarray; empty in a bare checkout."""
    try:
        texts = metadata.requires("nestarray") or []
    except metadata.PackageNotFoundError:
        return {}
    found = (re.match(r"([\w.-]+)(?:\[[^]]*\])?\s*(>=[\d.]+)", text) for text in texts)
    return {_normal(match[1]): match[2] for match in found if match}


def _normal(distribution: str) -> str:
    return distribution.lower().replace("_", "-")
