"""``nestarray doctor``: versions, devices and compatibility of the frameworks."""

from __future__ import annotations

import argparse
import os
import platform
import re
import sys
from importlib import metadata
from typing import Any

import numpy as np

import nestarray as na
from nestarray import backends
from nestarray.cli.console import Console
from nestarray.config import BACKENDS
from nestarray.display.table import Table

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
    """Report versions and devices; 1 if an installed framework is too old or does not work."""
    needed = _requirements()
    frameworks = [_framework(name, needed) for name in BACKENDS]
    packages = [{"package": name, "installed": _version(name), "needed": needed.get(name, ""), "use": use}
                for name, use in _PACKAGES.items()]  # fmt: skip
    for row in packages:
        row["status"] = _status(row["installed"], row["needed"])
    installed = {row["package"]: row["installed"] for row in frameworks}
    notes = [
        f"{name} {installed[name]}: {text} (fixed in {version})"
        for name, version, text in _LIMITATIONS
        if installed.get(name) and _numbers(installed[name]) < _numbers(version)
    ]
    is_bad = any(row["status"] not in ("ok", "not installed") for row in frameworks + packages)
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
    console.text(
        "\n" + ("problems were found" if is_bad else "no problems"), "red" if is_bad else "green"
    )
    return int(is_bad)


def _table(rows: list[dict[str, Any]]) -> Table:
    def text(value: Any) -> str:
        return ", ".join(map(str, value)) if isinstance(value, list) else str(value or "-")

    return Table({name: [text(row[name]) for row in rows] for name in rows[0]})


def _framework(name: str, needed: dict[str, str]) -> dict[str, Any]:
    """Version, devices and status of a framework, which is imported and computes once."""
    distributions = _DISTRIBUTIONS.get(name, (name,))
    installed = next(filter(None, map(_version, distributions)), None)
    wanted = next((needed[each] for each in distributions if each in needed), "")
    row = {"package": name, "installed": installed, "needed": wanted, "devices": []}
    row["status"] = _status(installed, wanted)
    if row["status"] == "ok":
        try:
            x = na.to_backend(np.arange(3.0, dtype="float32"), name)
            if na.to_backend(na.add(x, x), "numpy").tolist() != [0.0, 2.0, 4.0]:
                raise ArithmeticError("0 + 0, 1 + 1, 2 + 2 is wrong")
            row["devices"] = [str(device) for device in backends.core(name).devices()]
        except Exception as error:  # a broken installation may raise anything
            row["status"] = f"{type(error).__name__}: {' '.join(str(error).split())[:100]}"
    return row


def _status(installed: str | None, needed: str) -> str:
    if installed is None:
        return "not installed"
    return "ok" if not needed or _numbers(installed) >= _numbers(needed[2:]) else f"needs {needed}"


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _requirements() -> dict[str, str]:
    """Distribution → ``>=2.2``, from the metadata of nestarray; empty in a bare checkout."""
    try:
        texts = metadata.requires("nestarray") or []
    except metadata.PackageNotFoundError:
        return {}
    found = (re.match(r"([\w.-]+)(?:\[[^]]*\])?\s*(>=[\d.]+)", text) for text in texts)
    return {match[1].lower().replace("_", "-"): match[2] for match in found if match}


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version.partition("+")[0])[:3]))
