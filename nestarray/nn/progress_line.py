"""`progress`: one line on stderr with the position, values such as the loss, and the rate."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from typing import Any, Generic, TextIO, TypeVar

from nestarray.errors import ArgumentError

T = TypeVar("T")

#: Seconds between updates of the line.
_INTERVAL = 0.1


def progress(
    iterable: Iterable[T],
    *,
    total: int | None = None,
    title: str = "",
    show: bool | None = None,
    file: TextIO | None = None,
) -> Progress[T]:
    """Iterate over `iterable`, and show a line: position, share, values, rate, remaining time.

    Values are read when the line is drawn, at most ten times per second, so the loop does not wait for
    the others.

    Args:
        iterable: for example ``data.batches(32)``, or a range.
        total: the number of items; None: ``len(iterable)``, if it has one.
        title: the text at the beginning.
        show: whether to show the line; None: if it is written to a terminal.
        file: where to write; None: ``sys.stderr``.

    Returns:
        an iterable; its ``set(loss=…)`` sets values.

    Raises:
        ArgumentError: `total` is negative.

    Example:
        >>> import nestarray as na
        >>> steps = na.nn.progress(range(3), title="train")
        >>> for step in steps:
        ...     steps.set(loss=0.5**step)
        >>> steps.line().split(", ")[:2]
        ['train 3/3 (100%)', 'loss 0.25']
    """
    if total is not None and total < 0:
        raise ArgumentError(f"progress: total: got {total!r}, expected a number of items")
    return Progress(iterable, total, title, show, file)


class Progress(Generic[T]):
    """The result of `progress`."""

    def __init__(
        self,
        iterable: Iterable[T],
        total: int | None,
        title: str,
        show: bool | None,
        file: TextIO | None,
    ) -> None:
        self._iterable, self._title = iterable, title
        self._total = len(iterable) if total is None and isinstance(iterable, Sized) else total
        self._file = sys.stderr if file is None else file
        self._show = self._is_terminal() if show is None else show
        self._values: dict[str, Any] = {}
        self._count, self._start, self._drawn, self._width = 0, time.monotonic(), 0.0, 0

    def __len__(self) -> int:
        if self._total is None:
            raise TypeError("progress: the number of items is unknown; say total=")
        return self._total

    def set(self, **values: Any) -> None:
        """Set the values that the line shows: numbers, arrays of shape `()`, or texts."""
        self._values.update(values)

    def __iter__(self) -> Iterator[T]:
        self._count, self._start, self._drawn = 0, time.monotonic(), 0.0
        try:
            for item in self._iterable:
                yield item
                self._count += 1
                now = time.monotonic()
                if self._show and now - self._drawn >= _INTERVAL:
                    self._draw(now)
        finally:
            if self._show:
                self._draw(time.monotonic())
                self._file.write("\n")
                self._file.flush()

    def line(self) -> str:
        """The text of the line."""
        return self._line(time.monotonic())

    def _draw(self, now: float) -> None:
        self._drawn = now
        line = self._line(now)
        self._file.write("\r" + line.ljust(self._width))
        self._file.flush()
        self._width = len(line)

    def _line(self, now: float) -> str:
        seconds = max(now - self._start, 1e-9)
        position = f"{self._count}"
        if self._total:
            position += f"/{self._total} ({self._count / self._total:.0%})"
        values = [f"{name} {_text(value)}" for name, value in self._values.items()]
        rate = self._count / seconds
        rest = [f"{rate:.3g} items/s", f"{seconds:.0f} s"]
        if self._total and 0 < self._count < self._total:
            rest.append(f"{(self._total - self._count) / rate:.0f} s left")
        return " ".join(x for x in (self._title, position) if x) + "".join(
            f", {part}" for part in (*values, *rest)
        )

    def _is_terminal(self) -> bool:
        return self._file is not None and self._file.isatty()


def _text(value: Any) -> str:
    return value if isinstance(value, str) else f"{float(value):.4g}"
