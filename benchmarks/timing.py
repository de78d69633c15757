"""Timing of several functions against each other, and tables of the results."""

from __future__ import annotations

import gc
import shutil
import time
from collections.abc import Callable, Mapping
from typing import Any

Seconds = float


def compare(
    functions: Mapping[str, Callable[[], Any]], *, rounds: int = 11, at_least: Seconds = 0.01
) -> dict[str, Seconds]:
    """The time of one call of each function: the minimum over rounds.

    A round calls every function in turn, so that other load on the machine affects all of them, and
    each round begins with another one. Load only adds time, hence the minimum. Each function is
    called repeatedly for at least `at_least`, without garbage collection, whose time depends on
    other loaded modules.

    Args:
        functions: name → function without arguments, which waits for its own result.
        rounds: the number of rounds.
        at_least: the minimum duration of one measurement.
    """
    counts = {name: _calls_that_fill(at_least, fn) for name, fn in functions.items()}
    seconds: dict[str, list[Seconds]] = {name: [] for name in functions}
    gc.collect()
    gc.disable()
    try:
        names = [*functions]
        for i in range(rounds):
            first = i % len(names)
            for name in (*names[first:], *names[:first]):
                seconds[name].append(_time(functions[name], counts[name]) / counts[name])
    finally:
        gc.enable()
    return {name: min(times) for name, times in seconds.items()}


def _calls_that_fill(at_least: Seconds, fn: Callable[[], Any]) -> int:
    fn()
    fn()
    count = 1
    while (spent := _time(fn, count)) < at_least:
        count = max(2 * count, int(1.2 * count * at_least / max(spent, 1e-9)))
    return count


def _time(fn: Callable[[], Any], count: int) -> Seconds:
    calls = range(count)
    start = time.perf_counter()
    for _ in calls:
        fn()
    return time.perf_counter() - start


class Table:
    """Rows of text under a title, as a rich table and as Markdown."""

    def __init__(self, title: str, columns: list[str], note: str = "") -> None:
        self.title, self.columns, self.note = title, columns, note
        self.rows: list[list[str]] = []

    def add(self, *cells: str) -> None:
        """Append a row."""
        self.rows.append(list(cells))

    def print(self) -> None:
        """Print to the terminal."""
        from rich.console import Console
        from rich.table import Table as RichTable

        table = RichTable(title=self.title, caption=self.note or None, title_justify="left")
        for i, column in enumerate(self.columns):
            table.add_column(column, justify="right" if i else "left")
        for row in self.rows:
            table.add_row(*row)
        console = Console()
        # a pipe has no width; a terminal that is too narrow folds the cells
        Console(width=console.width if console.is_terminal else 140).print(table)

    def markdown(self) -> str:
        """The table as Markdown."""
        lines = [f"## {self.title}", "", f"| {' | '.join(self.columns)} |"]
        lines.append(f"|---{'|--:' * (len(self.columns) - 1)}|")
        lines += [f"| {' | '.join(row)} |" for row in self.rows]
        return "\n".join([*lines, *(["", self.note] if self.note else [])]) + "\n"


def readable(seconds: Seconds) -> str:
    """``12.3 µs``."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def ratio(seconds: Seconds, reference: Seconds) -> str:
    """``1.23×``."""
    return f"{seconds / reference:.2f}×"


def has_compiler() -> bool:
    """Whether torch.compile finds one for C++."""
    return any(map(shutil.which, ("g++", "c++", "clang++")))
