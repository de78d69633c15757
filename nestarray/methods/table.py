"""`Table`: rows that are values, and print aligned.

`str` gives all rows, `repr` as many as the terminal shows, a notebook an HTML table.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nestarray.container.display import cells, clipped, cut, terminal_size
from nestarray.container.outline import key_text, shape_text

_GAP = "  "


class Table:
    """Columns of equal length.

    Args:
        columns: name → values, one a row. How a value prints goes by its type and by the
            name of its column: ``bytes`` in binary units, ``share`` in percent.
        total: name → value, a last row.
        notes: lines below the table.

    Example:
        >>> from nestarray.methods.table import Table
        >>> table = Table({"path": ["a", "b/c"], "bytes": [12, 4096]})
        >>> print(table)
        path    bytes
        a        12 B
        b/c   4.0 KiB
        >>> table.rows[1].bytes
        4096
    """

    def __init__(
        self,
        columns: Mapping[str, Sequence[Any]],
        *,
        total: Mapping[str, Any] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self.columns = {name: tuple(values) for name, values in columns.items()}
        self.notes = tuple(notes)
        row = namedtuple("Row", self.columns)  # type: ignore[misc]
        self.rows: tuple[Any, ...] = tuple(map(row, *self.columns.values()))
        self.total: Any = None if total is None else row(**total)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows)

    def __getitem__(self, column: str) -> tuple[Any, ...]:
        return self.columns[column]

    def __str__(self) -> str:
        return "\n".join([*self._lines(range(len(self)), list(self.columns)), *self.notes])

    def __repr__(self) -> str:
        width, height = terminal_size()
        blocks = self._blocks(width)
        below = 1 + (2 if self.total else 0)  # the head; the line and the total
        room = (height - len(self.notes)) // len(blocks) - below
        rows = shown_rows(len(self), max(room, 3))
        lines = [line for block in blocks for line in self._lines(rows, block, width)]
        return "\n".join(clipped(line, width) for line in (*lines, *self.notes))

    def _blocks(self, width: int) -> list[list[str]]:
        """The columns, in groups that fit `width`; each starts with the first column."""
        first, *names = self.columns
        texts = self.texts(range(len(self)) if len(self) < 200 else shown_rows(len(self), 200))
        sizes = {name: max(map(cells, column)) + len(_GAP) for name, column in texts.items()}
        lead = min(sizes[first], max(width // 3, 16))
        blocks, used = [[first]], lead
        for name in names:
            if used + sizes[name] > width and len(blocks[-1]) > 1:
                blocks.append([first])
                used = lead
            blocks[-1].append(name)
            used += sizes[name]
        return blocks

    def _repr_html_(self) -> str:
        from nestarray.methods.html import table_html

        return table_html(self)

    def texts(self, rows: Sequence[int | None]) -> dict[str, list[str]]:
        """The cells of some rows as text by column, the head first and the total last."""
        table = {}
        for name, values in self.columns.items():
            body = ["…" if i is None else text_of(name, values[i]) for i in rows]
            total = [text_of(name, getattr(self.total, name))] if self.total else []
            table[name] = [name, *body, *total]
        return table

    def is_number(self, name: str) -> bool:
        """Whether a column holds numbers, which stand at its right."""
        values = (v for v in self.columns[name] if v is not None)
        return all(isinstance(v, (int, float)) for v in values)

    def _lines(
        self, rows: Sequence[int | None], names: Sequence[str], width: int | None = None
    ) -> list[str]:
        texts = self.texts(rows)
        table = {name: texts[name] for name in names}
        if width is not None:  # the first column gives way
            name = next(iter(table))
            others = (max(map(cells, t)) + len(_GAP) for n, t in table.items() if n != name)
            table[name] = [cut(text, max(width - sum(others), 16)) for text in table[name]]
        sizes = {name: max(map(cells, texts)) for name, texts in table.items()}
        at_right = {name: self.is_number(name) for name in table}
        lines = []
        for row in zip(*table.values()):
            padded = (
                " " * (sizes[name] - cells(t)) + t
                if at_right[name]
                else t + " " * (sizes[name] - cells(t))
                for name, t in zip(table, row)
            )
            lines.append(_GAP.join(padded).rstrip())
        if self.total:
            lines.insert(-1, "─" * (sum(sizes.values()) + len(_GAP) * (len(sizes) - 1)))
        return lines


def shown_rows(count: int, room: int) -> Sequence[int | None]:
    """The numbers of the rows to show in `room` lines; None stands for those between."""
    if count <= room:
        return range(count)
    head = room // 2
    return [*range(head), None, *range(count - (room - 1 - head), count)]


def text_of(column: str, value: Any) -> str:
    """How a value prints in a column of this name."""
    if value is None:
        return ""
    if column == "bytes":
        return bytes_text(value)
    if column == "share":
        return f"{value:.1%}"
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"[{shape_text(value)}]" if isinstance(value, tuple) else key_text(str(value))


def bytes_text(count: int) -> str:
    """``512 B``, ``4.0 KiB``, ``1.5 GiB``."""
    if count < 1024:
        return f"{count} B"
    size, units = float(count), iter(("KiB", "MiB", "GiB", "TiB", "PiB"))
    unit = "B"
    while size >= 1023.95 and unit != "PiB":  # 1024.0 would round up to the next unit
        size, unit = size / 1024, next(units)
    return f"{size:.1f} {unit}"
