"""The running step and a bar on stderr, once a call has taken two seconds.

In a terminal rich draws a bar, if it is installed; otherwise, and in notebooks, it is one line of
text. Without either, nothing is shown.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Protocol

#: Seconds before the line appears, and between its updates.
DELAY, INTERVAL = 2.0, 0.5
#: Characters of the bar without rich.
_WIDTH = 20

#: Held while a call shows its line; calls inside of it, or in other threads, show none.
_LINE = threading.Lock()

#: The finished share, from 0 to 1; None if it is unknown.
Share = Callable[[], float | None]


class SetStep(Protocol):
    """Sets the running step, and optionally the finished share of the call."""

    def __call__(self, text: str, share: float | Share | None = None, /) -> None:
        """A function as `share` is called whenever the line is drawn."""
        ...


class _Shown:
    """The state of a call, which its thread draws."""

    def __init__(self, title: str) -> None:
        self.title, self.step = title, ""
        self.share: float | Share | None = None
        self.start, self.is_done = time.monotonic(), threading.Event()

    def set_step(self, text: str, share: float | Share | None = None, /) -> None:
        self.step, self.share = text, share

    @property
    def name(self) -> str:
        return f"{self.title}: {self.step}" if self.step else self.title

    def finished(self) -> float | None:
        """The finished share, from 0 to 1."""
        share = self.share() if callable(self.share) else self.share
        return None if share is None else min(max(share, 0.0), 1.0)

    def draw(self) -> None:
        """Draw until the call is done."""
        if self.is_done.wait(DELAY):
            return
        if not (_is_terminal() and self._draw_with_rich()):
            self._draw_line()

    def _draw_with_rich(self) -> bool:
        """Draw rich's bar; False if rich is not installed."""
        try:
            from rich import progress as rich
            from rich.console import Console
        except ImportError:
            return False
        columns = (
            rich.TextColumn("{task.description}", markup=False),
            rich.BarColumn(),
            rich.TaskProgressColumn(),
            rich.TimeElapsedColumn(),
        )
        console = Console(stderr=True)
        with rich.Progress(*columns, console=console, transient=True, auto_refresh=False) as bar:
            task = bar.add_task(self.name, total=None)
            bar.tasks[0].start_time = bar.get_time() - (time.monotonic() - self.start)
            while True:
                share = self.finished()
                total = None if share is None else 1.0
                bar.update(task, description=self.name, completed=share or 0.0, total=total)
                bar.refresh()
                if self.is_done.wait(INTERVAL):
                    return True

    def _draw_line(self) -> None:
        width, is_done = 0, False
        while not is_done:
            share = self.finished()
            count = 0 if share is None else round(share * _WIDTH)
            bar = "" if share is None else f" [{'#' * count:<{_WIDTH}}] {share:.0%}"
            line = f"{self.name}{bar}, {time.monotonic() - self.start:.0f} s"
            sys.stderr.write("\r" + line.ljust(width))
            sys.stderr.flush()
            width = max(width, len(line))
            is_done = self.is_done.wait(INTERVAL)
        sys.stderr.write("\r" + " " * width + "\r")
        sys.stderr.flush()


@contextlib.contextmanager
def progress(title: str) -> Iterator[SetStep]:
    """Show the title, the step, a bar and the time while the block runs, in terminals and notebooks.

    A block inside of another one, or in another thread at the same time, shows nothing.

    Yields:
        a function that sets the step, and the share of the call that is finished.
    """
    shown = _Shown(title)
    if not (_is_terminal() or _is_notebook()) or not _LINE.acquire(blocking=False):
        yield shown.set_step
        return
    thread = threading.Thread(target=shown.draw, daemon=True)
    thread.start()
    try:
        yield shown.set_step
    finally:
        shown.is_done.set()
        thread.join()
        _LINE.release()


def _is_notebook() -> bool:
    return type(sys.stderr).__module__.startswith("ipykernel")


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
