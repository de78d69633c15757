"""The time of ``import nestarray`` in a fresh process, beyond Python and NumPy."""

from __future__ import annotations

import os
import subprocess
import sys

from benchmarks.timing import Table, compare, ratio, readable

STATEMENTS = [
    "pass",
    "import numpy",
    "import nestarray",
    "import optree",
    "import jax",
    "import torch",
]


def tables() -> list[Table]:
    """One table: whole processes, and what each import adds to ``import numpy``."""
    table = Table(
        "Import in a fresh process",
        ["statement", "process", "beyond numpy", "relative to numpy"],
        "The goal for nestarray is 0.1 s beyond NumPy.",
    )
    times = compare({s: lambda s=s: _run(s) for s in STATEMENTS}, rounds=7, at_least=0.0)
    for statement in STATEMENTS:
        beyond = times[statement] - times["import numpy"]
        table.add(
            statement, readable(times[statement]), f"{beyond * 1e3:+.0f} ms",
            ratio(times[statement], times["import numpy"]),
        )  # fmt: skip
    return [table]


def _run(statement: str) -> None:
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": ""}  # as installed: compiled once
    code = [sys.executable, "-W", "ignore", "-c", statement]
    subprocess.run(code, check=True, env=environment)
