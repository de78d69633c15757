"""A line on stderr with the running step, once a call has taken two seconds."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator

#: Seconds before the line appears, and between its updates.
DELAY, INTERVAL = 2.0, 0.5

#: Held while a call shows its line; calls inside of it, or in other threads, show none.
_LINE = threading.Lock()


@contextlib.contextmanager
def progress(title: str) -> Iterator[Callable[[str], None]]:
    """Show ``title: step, 12 s`` while the block runs, in terminals and notebooks.

    A block inside of another one, or in another thread at the same time, shows nothing.

    Yields:
        a function that sets the step.
    """
    step, is_done, start = "", threading.Event(), time.monotonic()

    def set_step(text: str) -> None:
        nonlocal step
        step = text

    def show() -> None:
        width = 0
        wait = DELAY
        while not is_done.wait(wait):
            wait = INTERVAL
            named = f"{title}: {step}" if step else title
            line = f"{named}, {time.monotonic() - start:.0f} s"
            sys.stderr.write("\r" + line.ljust(width))
            sys.stderr.flush()
            width = len(line)
        if width:
            sys.stderr.write("\r" + " " * width + "\r")
            sys.stderr.flush()

    if not _is_interactive() or not _LINE.acquire(blocking=False):
        yield set_step
        return
    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    try:
        yield set_step
    finally:
        is_done.set()
        thread.join()
        _LINE.release()


def _is_interactive() -> bool:
    is_notebook = type(sys.stderr).__module__.startswith("ipykernel")
    return is_notebook or (sys.stderr is not None and sys.stderr.isatty())
