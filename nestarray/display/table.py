"""`Table`: rows of values with aligned text.

The repr fits the terminal and counts omitted rows; `to_string` prints all rows, a notebook shows
an HTML table, ``rich.print`` the same lines in color.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from textwrap import wrap
from typing import Any

from nestarray.container.leaf import shape_text
from nestarray.display.html import escaped, framed
from nestarray.display.outline import key_text
from nestarray.display.text import cells, clipped, cut, terminal_size

_GAP = "  "
TABLE_ROWS = 100  # the maximal number of rows in HTML
_LEAST_TEXT = 16  # the columns of a wrapped text
_LEAST_ROWS = 3  # the first row, the omitted rows, the last row

#: The rows of a table to print; a range is a group of omitted rows.
Shown = Sequence[int | range]


class Table:
    """Columns of equal length.

    Args:
        columns: name → values, one for each row. The format depends on the type of a value and on
            the name of its column: ``bytes`` in binary units, ``share`` in percent.
        total: name → value, a last row.
        notes: lines below the table.
        sums: numeric columns; a group of omitted rows shows their sums.
        outline: a function of a maximal number of rows, which returns a shorter table to print
            in place of this one.

    Example:
        >>> from nestarray.display.table import Table
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
        sums: Sequence[str] = (),
        outline: Callable[[int], Table] | None = None,
    ) -> None:
        self.columns = {name: tuple(values) for name, values in columns.items()}
        self.notes = tuple(notes)
        self._sums, self._outline = frozenset(sums), outline
        row = namedtuple("Row", self.columns)  # type: ignore[misc]
        self.rows: tuple[Any, ...] = tuple(map(row, *self.columns.values()))
        self.total: Any = None if total is None else row(**total)

    def __reduce__(self) -> tuple[Any, ...]:  # the class of the rows has no importable name
        settings = {"notes": self.notes, "sums": tuple(self._sums), "outline": self._outline}
        total = None if self.total is None else self.total._asdict()
        return partial(Table, total=total, **settings), (self.columns,)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows)

    def __getitem__(self, column: str) -> tuple[Any, ...]:
        return self.columns[column]

    def to_string(self, rows: int | None = None) -> str:
        """The table as text in full width: all rows, or at most `rows` and a line for the others.

        Example:
            >>> from nestarray.display.table import Table
            >>> print(Table({"path": list("abcdef"), "bytes": [8] * 6}, sums=["bytes"]).to_string(3))
            path      bytes
            a           8 B
            … 4 more   32 B
            f           8 B
        """
        table, shown = self.at_most(len(self) if rows is None else max(rows, _LEAST_ROWS))
        return "\n".join([*table._lines(shown, list(table.columns)), *self.notes])

    def __repr__(self) -> str:
        blocks, notes = self._fitted(*terminal_size())
        return "\n".join([line for block in blocks for line in block] + notes)

    def _fitted(self, width: int, height: int) -> tuple[list[list[str]], list[str]]:
        """Blocks of columns as lines that fit `width`, and the notes."""
        below = 1 + (2 if self.total else 0)  # the header; the rule and the total
        count, blocks = 0, [list(self.columns)]
        while len(blocks) > count:  # columns that do not fit form another block, with fewer rows
            count = len(blocks)
            room = (height - len(self.notes)) // count - below
            table, rows = self.at_most(max(room, _LEAST_ROWS))
            blocks = table._blocks(rows, width)
        texts = [table._lines(rows, block, width) for block in blocks]
        lines = [[clipped(line, width) for line in block] for block in texts]
        return lines, [clipped(note, width) for note in self.notes]

    def at_most(self, count: int) -> tuple[Table, Shown]:
        """The table to print in `count` rows, and the selection of its rows."""
        if len(self) > count and self._outline is not None:
            table = self._outline(count)
            return table, range(len(table))
        return self, shown_rows(len(self), count)

    def _blocks(self, rows: Shown, width: int) -> list[list[str]]:
        """The columns in blocks that fit `width`; each block starts with the first column."""
        first, *names = self.columns
        sizes = {name: size + len(_GAP) for name, size in self._sizes(rows, width).items()}
        lead = min(sizes[first], max(width // 3, 16))
        blocks, used = [[first]], lead
        for name in names:
            if used + sizes[name] > width and len(blocks[-1]) > 1:
                blocks.append([first])
                used = lead
            blocks[-1].append(name)
            used += sizes[name]
        return blocks

    def _sizes(self, rows: Shown, width: int) -> dict[str, int]:
        """The width of each column; the widest text is wrapped if the table then fits `width`."""
        sizes = {name: max(map(cells, text)) for name, text in self.texts(rows).items()}
        first, *others = sizes
        texts = [name for name in others if not self.is_number(name)]
        if texts:
            widest = max(texts, key=sizes.__getitem__)
            used = min(sizes[first], max(width // 3, 16))
            used += sum(sizes[name] for name in others if name != widest)
            room = width - used - len(self.columns) * len(_GAP)
            if _LEAST_TEXT <= room < sizes[widest]:
                sizes[widest] = room
        return sizes

    def _repr_html_(self) -> str:
        return framed(self.to_html())

    def to_html(self) -> str:
        """The HTML of the table alone, without the style."""
        table, rows = self.at_most(TABLE_ROWS)
        texts = table.texts(rows)
        classes = [' class="number"' if table.is_number(name) else "" for name in texts]

        wrong = ' class="wrong"'
        is_flag = [all(isinstance(v, bool) for v in table.columns[name]) for name in texts]

        def line(tag: str, values: tuple[str, ...]) -> str:
            inner = (
                f"<{tag}{wrong if flag and v == 'False' else c}>{escaped(v)}</{tag}>"
                for c, flag, v in zip(classes, is_flag, values)
            )
            return f"<tr>{''.join(inner)}</tr>\n"

        head, *body = zip(*texts.values())
        foot = f"<tfoot>{line('td', body.pop())}</tfoot>" if table.total else ""
        notes = "".join(f'<div class="note">{escaped(note)}</div>' for note in table.notes)
        return (
            f"<table><thead>{line('th', head)}</thead>\n"
            f"<tbody>{''.join(line('td', row) for row in body)}</tbody>\n{foot}</table>{notes}"
        )

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        """The lines of the repr for ``rich.print``, in the width that rich gives it."""
        from rich.text import Text

        blocks, notes = self._fitted(options.max_width, terminal_size()[1])
        for head, *lines in blocks:
            yield Text(head, style="bold cyan", no_wrap=True)
            for line in lines:
                text = Text(line, no_wrap=True)
                text.highlight_regex(r"\bFalse\b", "bold red")
                yield text
        yield from (Text(note, style="dim", no_wrap=True) for note in notes)

    def texts(self, rows: Shown) -> dict[str, list[str]]:
        """The cells of some rows as text by column, with the header first and the total last."""
        table: dict[str, list[str]] = {}
        for name, values in self.columns.items():
            hidden = self._sum if table else _more
            body = [
                hidden(name, row) if isinstance(row, range) else text_of(name, values[row])
                for row in rows
            ]
            total = [text_of(name, getattr(self.total, name))] if self.total else []
            table[name] = [name, *body, *total]
        return table

    def _sum(self, name: str, rows: range) -> str:
        if name not in self._sums:
            return ""
        values = self.columns[name][rows.start : rows.stop]
        return text_of(name, sum(value for value in values if value is not None))

    def is_number(self, name: str) -> bool:
        """Whether a column holds numbers, which are aligned right."""
        values = (v for v in self.columns[name] if v is not None)
        return all(isinstance(v, (int, float)) for v in values)

    def _lines(self, rows: Shown, names: Sequence[str], width: int | None = None) -> list[str]:
        texts = self.texts(rows)
        table = {name: texts[name] for name in names}
        if width is not None:  # shorten the first column, wrap others
            first, *others = table
            wanted = self._sizes(rows, width)
            for name in others:
                table[name] = [
                    "\n".join(wrap(text, wanted[name], break_on_hyphens=False))
                    for text in table[name]
                ]
            room = max(width - sum(_width(table[name]) + len(_GAP) for name in others), 16)
            table[first] = [cut(text, room) for text in table[first]]
        sizes = {name: _width(texts) for name, texts in table.items()}
        at_right = {name: self.is_number(name) for name in table}
        *body, last = zip(*table.values())
        lines = []
        for row in (*body, last):
            if row is last and self.total:
                lines.append("─" * (sum(sizes.values()) + len(_GAP) * (len(sizes) - 1)))
            for line in zip_longest(*[text.split("\n") for text in row], fillvalue=""):
                padded = (
                    " " * (sizes[name] - cells(t)) + t
                    if at_right[name]
                    else t + " " * (sizes[name] - cells(t))
                    for name, t in zip(table, line)
                )
                lines.append(_GAP.join(padded).rstrip())
        return lines


def _width(texts: Sequence[str]) -> int:
    """The columns of the widest line."""
    return max(cells(line) for text in texts for line in text.split("\n"))


def shown_rows(count: int, room: int) -> Shown:
    """The numbers of the rows to print in `room` lines, and the range of the omitted rows."""
    if count <= room:
        return range(count)
    head = room // 2
    tail = count - (room - 1 - head)
    return [*range(head), range(head, tail), *range(tail, count)]


def _more(_: str, rows: range) -> str:
    return f"… {len(rows):,} more"


def text_of(column: str, value: Any) -> str:
    """The text of a value in a column of this name."""
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
