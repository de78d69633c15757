"""usage: python -m benchmarks [--write] [imports] [dispatch] [overhead] [composed] [container] [trees] [storage] [random]
                            [training] [models] [torch_in]

With --write the tables go into docs/benchmarks.md too, in place of those of the same benchmark.
"""

from __future__ import annotations

import importlib
import os
import platform
import re
import sys
import warnings
from importlib.metadata import version
from pathlib import Path

# One core for everybody: thread pools of different kinds compare badly on a shared machine.
os.environ["OMP_NUM_THREADS"] = "1"
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

NAMES = [
    "imports",
    "dispatch",
    "overhead",
    "composed",
    "container",
    "trees",
    "storage",
    "random",
    "training",
    "models",
    "torch_in",
]
PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
PACKAGES = ["numpy", "torch", "jax", "tensorflow-cpu", "optree", "dm-tree", "tensordict", "keras"]


def main(arguments: list[str]) -> None:
    """Run the benchmarks that are named, or all."""
    names = [a for a in arguments if not a.startswith("-")] or NAMES
    unknown = sorted(set(names) - set(NAMES))
    if unknown:
        raise SystemExit(f"unknown benchmark {unknown[0]!r}; there are {', '.join(NAMES)}")
    for name in names:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the frameworks' own
            tables = importlib.import_module(f"benchmarks.{name}").tables()
        for table in tables:
            table.print()
        if "--write" in arguments:
            _write(name, "\n".join(table.markdown() for table in tables))


def _write(name: str, text: str) -> None:
    """Put the tables of one benchmark into the page, and leave those of the others."""
    found = re.split(r"^<!-- (\w+) -->\n", PAGE.read_text(), flags=re.MULTILINE)
    parts = dict(zip(found[1::2], found[2::2], strict=True)) | {name: text}
    marked = (f"<!-- {n} -->\n{parts[n].strip()}\n" for n in NAMES if n in parts)
    PAGE.write_text("\n".join([_head(), *marked]))


def _head() -> str:
    versions = ", ".join(f"{p} {version(p)}" for p in PACKAGES)
    return (
        "# Benchmarks\n\n"
        "Written by `python -m benchmarks --write`; do not edit. Everything in a table was measured\n"
        "in one run, taking turns; compare within a table, not between machines.\n\n"
        f"One core, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, {versions}.\n"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
