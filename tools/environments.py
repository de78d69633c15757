"""Virtual environments of the newest, the pinned and the oldest releases.

usage: python3 tools/environments.py {default,newest,oldest} FOLDER [--python PYTHON]
       python3 tools/environments.py upgrade FOLDER

| name | packages | Python |
|---|---|---|
| `default` | the versions that constraints.txt pins | the newest that runs |
| `newest` | the newest releases that install together | the newest that runs |
| `oldest` | the lowest versions that pyproject.toml promises | 3.11 |

`upgrade` writes the newest releases into constraints.txt with the uv of the environment FOLDER, and
prints which pins change.

uv installs the packages from the indexes and under the constraints that pip is configured with. Its
cache keeps each wheel unpacked, so that a second environment of the same versions takes seconds;
UV_CACHE_DIR names another folder for it. This script needs Python 3.8 and nothing else.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "constraints.txt"
#: The Pythons of the classifiers in pyproject.toml.
PYTHONS = ("3.11", "3.12", "3.13")
LEGS = {
    "default": ["--constraint", str(CONSTRAINTS), "--editable", f"{ROOT}[dev]"],
    "newest": ["--editable", f"{ROOT}[dev]"],
    "oldest": ["--resolution", "lowest-direct", "--editable", f"{ROOT}[test]"],
}
#: Parts of the CUDA build of PyTorch, which pins them itself, and tools of building.
LEFT_OUT = re.compile("(nvidia-|cuda-|triton|setuptools$|wheel$)")
HEADER = "# What the tests of this release ran with; pip install -c constraints.txt"


def main() -> None:
    parser = argparse.ArgumentParser(usage=__doc__.partition("usage: ")[2].partition("\n\n")[0])
    parser.add_argument("name", choices=[*LEGS, "upgrade"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--python")
    options = parser.parse_args()
    if options.name == "upgrade":
        upgrade(options.folder)
    else:
        create(options.name, options.folder, options.python)


# -- interpreters -----------------------------------------------------------------------------


def interpreter(versions: Iterable[str]) -> str:
    """The path of the first Python that runs and can make environments."""
    versions = tuple(versions)
    for version in versions:
        for command in candidates(version):
            path = running(command, version)
            if path:
                return path
    names = ", ".join("Python " + version for version in versions)
    sys.exit(f"None of {names} runs here; install one, or name it: make PYTHON=/path/to/python")


def candidates(version: str) -> Iterator[str]:
    """Commands that may start this version: on the path, then those of pyenv."""
    yield f"python{version}"
    yield "python3"
    for name in output(["pyenv", "versions", "--bare"]).split():
        if name.startswith(f"{version}."):
            yield output(["pyenv", "prefix", name]).strip() + "/bin/python"


def running(command: str, version: str | None = None) -> str:
    """The path of an interpreter if it starts, has this version and can make environments.

    A shim of pyenv for a version that is not selected only prints an error.
    """
    code = (
        "import ensurepip, os, sys; print(*sys.version_info[:2], sep='.');"
        "print(os.path.realpath(sys.executable))"  # of a virtual environment, its base
    )
    numbers, _, path = output([command, "-c", code]).strip().partition("\n")
    return path if numbers and version in (None, numbers) else ""


def output(command: list[str]) -> str:
    """What a command prints; nothing if it fails or does not exist."""
    try:
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return ""
    return run.stdout.decode() if run.returncode == 0 else ""


# -- environments -----------------------------------------------------------------------------


def create(name: str, folder: Path, python: str | None) -> None:
    """Make an environment, or renew one in place if its Python has not changed."""
    start = time.monotonic()
    if python:
        base = running(python) or sys.exit(f"{python} does not run, or cannot make environments")
    else:
        base = interpreter(["3.11"] if name == "oldest" else reversed(PYTHONS))
    code = "import sys; print(sys.version)"
    if output([str(folder / "bin/python"), "-c", code]) != output([base, "-c", code]):
        subprocess.run([base, "-m", "venv", "--clear", str(folder)], check=True)
    pip = [str(folder / "bin/python"), "-m", "pip", "install", "-qq", "--upgrade", "uv"]
    subprocess.run(pip, check=True)
    uv(folder, "install", "--upgrade", *LEGS[name])
    print(f"{folder}: {time.monotonic() - start:.0f} s, {base}")


def uv(folder: Path, command: str, *arguments: str) -> str:
    """What ``uv pip COMMAND`` prints, for the Python of an environment."""
    program = [str(folder / "bin/uv"), "pip", command, "--python", str(folder / "bin/python")]
    environment = {**os.environ, "UV_LINK_MODE": os.environ.get("UV_LINK_MODE", "hardlink")}
    run = subprocess.run(
        [*program, "--quiet", *pip_settings(folder), *arguments],
        check=True,
        stdout=subprocess.PIPE,
        env=environment,
        cwd=str(ROOT),
    )
    return run.stdout.decode()


def pip_settings(folder: Path) -> list[str]:
    """The indexes and constraints that pip is configured with, as options of uv."""
    options = ["--index-strategy", "unsafe-best-match"]  # as pip: the best version of all indexes
    for line in output([str(folder / "bin/python"), "-m", "pip", "config", "list"]).splitlines():
        setting, _, value = line.partition("=")
        section, _, name = setting.rpartition(".")
        if section in ("global", "install", ":env:") and name in (
            "constraint", "extra-index-url", "find-links", "index-url"
        ):  # fmt: skip
            for each in ast.literal_eval(value).split():
                options += [f"--{name}", each]
    return options


# -- pins -------------------------------------------------------------------------------------


def upgrade(folder: Path) -> None:
    """Write constraints.txt anew and print the pins that change."""
    before = read(CONSTRAINTS.read_text())
    pins = {version: newest(folder, version) for version in PYTHONS}
    names = sorted(set().union(*pins.values()))
    lines = [line for name in names for line in pinned(name, pins)]
    CONSTRAINTS.write_text("\n".join([HEADER, *lines, ""]))
    after = read(CONSTRAINTS.read_text())
    for name in sorted({*before, *after}):
        old, new = before.get(name, "none"), after.get(name, "none")
        if old != new:
            print(f"{name}: {old} → {new}")


def newest(folder: Path, version: str) -> dict[str, str]:
    """Package → the newest version that installs together with the others on this Python."""
    text = uv(
        folder, "compile", "pyproject.toml", "--extra", "dev", "--python-version", version,
        "--no-annotate", "--no-header",
    )  # fmt: skip
    pins = dict(line.split("==") for line in text.splitlines())
    return {name: pin for name, pin in pins.items() if not LEFT_OUT.match(name)}


def pinned(name: str, pins: dict[str, dict[str, str]]) -> Iterator[str]:
    """The lines of one package, with markers if its version depends on the Python."""
    pythons = [version for version in PYTHONS if name in pins[version]]
    groups = [list(g) for _, g in itertools.groupby(pythons, key=lambda v: pins[v][name])]
    for i, group in enumerate(groups):
        bounds = [f'python_version >= "{group[0]}"'] if i > 0 else []
        if i + 1 < len(groups):
            bounds.append(f'python_version < "{groups[i + 1][0]}"')
        marker = " ; " + " and ".join(bounds) if bounds else ""
        yield f"{name}=={pins[group[0]][name]}{marker}"


def read(text: str) -> dict[str, str]:
    """Package → its versions with their markers, of the text of constraints.txt."""
    pins: dict[str, list[str]] = {}
    for line in text.splitlines():
        name, _, version = line.partition("==")
        if version:
            pins.setdefault(re.sub("[-_.]+", "-", name).lower(), []).append(version)
    return {name: ", ".join(versions) for name, versions in pins.items()}


if __name__ == "__main__":
    main()
