"""The time of ``import nestarray`` in a fresh process, beyond Python and NumPy."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys

from benchmarks.timing import Table, ratio, readable

STATEMENTS = [
    "pass",
    "import numpy",
    "import nestarray",
    "import optree",
    "import jax",
    "import torch",
]
ROUNDS = 7


def tables() -> list[Table]:
    """One table: the time of each process, and its excess over ``import numpy``."""
    table = Table(
        "Import in a fresh process, processor time",
        ["statement", "process", "beyond numpy", "relative to numpy"],
        "The goal for nestarray is 0.1 s beyond NumPy.",
    )
    seconds: dict[str, list[float]] = {s: [_run(s)] for s in STATEMENTS}  # reads the disk
    for _ in range(ROUNDS):
        for statement in STATEMENTS:
            seconds[statement].append(_run(statement))
    times = {s: statistics.median(values[1:]) for s, values in seconds.items()}
    for statement in STATEMENTS:
        beyond = times[statement] - times["import numpy"]
        table.add(
            statement, readable(times[statement]), f"{beyond * 1e3:+.0f} ms",
            ratio(times[statement], times["import numpy"]),
        )  # fmt: skip
    return [table]


def _run(statement: str) -> float:
    """Processor time of a process, which other processes do not affect."""
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": ""}  # as installed: compiled once
    code = [sys.executable, "-W", "ignore", "-c", statement]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(code, check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
