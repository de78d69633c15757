"""Text and sections of a `Diff`: one line for each change, folded to fit the terminal.

Changes of numbered places with equal text, ``layers/0/w`` to ``layers/11/w``, become one line with
the range of the number. If the report is still too long, lines are summarized by subtree, deepest
first. The largest change comes first, and numbers are never cut: the text of a long line
continues in the next one.
"""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from textwrap import wrap
from typing import Any

from nestarray.comparison.change import Change, total
from nestarray.comparison.equality import Statistics
from nestarray.container.spec import Path, join_path
from nestarray.display.sections import Sections
from nestarray.display.table import Table
from nestarray.display.text import cut
from nestarray.errors.text import counted

MAX_LINES = 40
_FOLDED_FROM = 16
_SIGNS = {
    "changed": "~", "added": "+", "removed": "-", "moved": ">", "kind": "!", "order": "!",
}  # fmt: skip
_NUMBER = re.compile(r"\d+")


@dataclass(eq=False)
class _Line:
    """One line of the report: one change, or several in one line."""

    name: str
    detail: str
    note: str
    path: Path
    changes: tuple[Change, ...]

    @property
    def status(self) -> str:
        """The status of its changes, which have the same."""
        return self.changes[0].status

    @cached_property
    def statistics(self) -> Statistics | None:
        """The distance of all values, computed when lines are ranked: most lines become parts of others."""
        return total(self.changes)


def as_text(entries: Sequence[Change], old_leaves: int, new_leaves: int) -> str:
    """The report for a terminal."""
    if not entries:
        return f"no differences in {counted(old_leaves, 'leaf', 'leaves')}"
    columns, rows = shutil.get_terminal_size((100, MAX_LINES + 4))
    columns = max(columns, 24)
    limit = max(8, min(MAX_LINES, rows - 4))
    lines = sorted(_folded(entries, limit), key=_rank)
    left_out = len(lines) - limit
    if left_out > 0:
        lines = lines[: limit - 1]
    width = min(max(len(line.name) for line in lines), max(24, columns // 2))
    middle = min(max(len(line.detail) for line in lines), 32)
    text = wrap(_heading(entries, old_leaves, new_leaves), columns)
    for line in lines:
        row = f"{_SIGNS[line.status]} {line.name:<{width}}  {line.detail:<{middle}}  {_note(line)}"
        text.extend(_wrapped(row.rstrip(), line, columns))
    if left_out > 0:
        text.append(f"… {left_out + 1} more lines; all of them: list(diff)")
    return "\n".join(text)


def as_sections(entries: Sequence[Change], old_leaves: int, new_leaves: int) -> Sections:
    """The report for notebooks and rich."""
    if not entries:
        return Sections(as_text(entries, old_leaves, new_leaves))
    lines = sorted(_folded(entries, MAX_LINES), key=_rank)
    shown = lines[:MAX_LINES]
    more = [f"… {len(lines) - MAX_LINES:,} more lines; all of them: list(diff)"]
    table = Table(
        {
            "status": [line.status for line in shown],
            "path": [line.name for line in shown],
            "leaf": [line.detail for line in shown],
            "difference": [_note(line) for line in shown],
        },
        notes=more if len(lines) > MAX_LINES else (),
    )
    heading = _heading(entries, old_leaves, new_leaves)
    return Sections(heading, [(counted(len(entries), "difference"), table)], is_open=True)


def _heading(entries: Sequence[Change], old_leaves: int, new_leaves: int) -> str:
    counts = dict.fromkeys(_SIGNS, 0)
    for entry in entries:
        counts[entry.status] += 1
    nodes = {"of another kind": counts.pop("kind"), "in another order": counts.pop("order")}
    parts = [f"{count:,} {status}" for status, count in counts.items() if count]
    parts += [f"{counted(count, 'node')} {text}" for text, count in nodes.items() if count]
    return f"{', '.join(parts)}; {counted(old_leaves, 'leaf', 'leaves')} → {new_leaves:,}"


def _rank(line: _Line) -> tuple[int, float]:
    """Changed values first, the largest change at the top; other orders of keys last."""
    if line.status in ("kind", "order"):
        return 2, 0.0
    s: Any = line.statistics
    if s is None:
        return 1, 0.0
    return 0, -math.inf if s.nans else -s.max_abs if s.max_abs == s.max_abs else 0.0


def _wrapped(row: str, line: _Line, width: int) -> list[str]:
    """`row` in lines of at most `width` columns: the name and the shape, then the numbers."""
    if len(row) <= width:
        return [row]
    sign = _SIGNS[line.status]
    if len(line.name) + len(line.detail) + 4 <= width:
        head = [f"{sign} {line.name}  {line.detail}"]
    else:
        head = [f"{sign} {cut(line.name, width - 2)}", *wrap(line.detail, width - 4)]
    head += wrap(_note(line), width - 4)
    return [head[0].rstrip(), *(f"    {text}" for text in head[1:])]


# -- folding ----------------------------------------------------------------------------------


def _folded(entries: Sequence[Change], limit: int) -> list[_Line]:
    lines = _with_moved_subtrees([_line(entry) for entry in entries])
    if len(lines) <= min(limit, _FOLDED_FROM):
        return lines
    lines = _grouped(lines, _pattern, _numbered)
    for depth in range(max(len(line.path) for line in lines) - 1, -1, -1):
        if len(lines) <= limit:
            break
        lines = _grouped(lines, lambda line, d=depth: _prefix(line, d), _subtree(depth))
    return lines


def _line(entry: Change) -> _Line:
    name = join_path(entry.path) or "."
    note, detail = "", entry.new or entry.old or ""
    if entry.status == "moved" and entry.old_path is not None:
        old_name = join_path(entry.old_path)
        if old_name == name:  # an integer key became a string, or the reverse
            old_name, name = repr(entry.old_path), repr(entry.path)
        name = f"{old_name} → {name}"
    elif entry.status == "changed":
        if entry.old != entry.new and set(entry.aspects) != {"values"}:
            detail = f"{entry.old} → {entry.new}"
        elif entry.compared is None:
            detail, note = f"{entry.old}", f"→ {entry.new}"
    elif entry.status == "kind":
        detail = f"{entry.old} → {entry.new}"
    elif entry.status == "order":
        detail, note = "keys in another order", f"{entry.old} → {entry.new}"
    return _Line(name, detail, note, entry.path, (entry,))


def _with_moved_subtrees(lines: list[_Line]) -> list[_Line]:
    """Merge the lines of leaves that moved from one node to another."""
    groups: dict[Hashable, list[_Line]] = {}
    for line in lines:
        groups.setdefault(_move(line) or id(line), []).append(line)
    result = []
    for key, group in groups.items():
        if len(group) == 1 or not isinstance(key, tuple):
            result.extend(group)
            continue
        old, new = (join_path(part) or "." for part in key)
        name, detail = f"{old}/ → {new}/", f"{len(group):,} leaves"
        result.append(_Line(name, detail, "", key[1], _changes(group)))
    return result


def _move(line: _Line) -> tuple[Path, Path] | None:
    """The old and the new node of a moved leaf, without the common end; None if they have none."""
    old, new = line.changes[0].old_path, line.path
    if line.status != "moved" or old is None:
        return None
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    return (old, new) if len(new) < len(line.path) else None


def _grouped(
    lines: Iterable[_Line],
    key_of: Callable[[_Line], Hashable],
    summarize: Callable[[list[_Line]], _Line],
) -> list[_Line]:
    groups: dict[Hashable, list[_Line]] = {}
    for line in lines:
        groups.setdefault(key_of(line), []).append(line)
    return [group[0] if len(group) == 1 else summarize(group) for group in groups.values()]


def _pattern(line: _Line) -> Hashable:
    return line.status, _NUMBER.sub("#", line.name), line.detail, line.note


def _numbered(group: list[_Line]) -> _Line:
    """One line for changes whose names differ in numbers only."""
    first, changes = group[0], _changes(group)
    detail = f"{len(changes):,} × {first.detail}".rstrip()
    return _Line(_ranges([x.name for x in group]), detail, first.note, first.path, changes)


def _ranges(names: Sequence[str]) -> str:
    """One name for names that differ in numbers only: ``layers/{0…11}/w``."""
    columns = zip(*map(_NUMBER.findall, names), strict=True)
    ranges = iter([(min(c, key=int), max(c, key=int)) for c in columns])

    def shown(_: re.Match[str]) -> str:
        low, high = next(ranges)
        return low if low == high else f"{{{low}…{high}}}"

    return _NUMBER.sub(shown, names[0])


def _changes(group: Iterable[_Line]) -> tuple[Change, ...]:
    return tuple([change for line in group for change in line.changes])


def _prefix(line: _Line, depth: int) -> Hashable:
    if len(line.path) <= depth:
        return id(line)
    return line.status, tuple(_NUMBER.sub("#", str(key)) for key in line.path[:depth])


def _subtree(depth: int) -> Callable[[list[_Line]], _Line]:
    def summarize(group: list[_Line]) -> _Line:
        changes = _changes(group)
        names = list(dict.fromkeys([join_path(change.path[:depth]) for change in changes]))
        name, detail = f"{_ranges(names) or '.'}/", f"{len(changes):,} leaves"
        return _Line(name, detail, "", group[0].path[:depth], changes)

    return summarize


def _note(line: _Line) -> str:
    s: Any = line.statistics
    if s is None:
        return line.note
    text = f"{s.changed:,} of {s.size:,} changed ({_percent(s.fraction)})"
    if s.changed == s.size:
        text = f"all {s.size:,} changed" if s.size > 1 else "changed"
    if s.max_abs == s.max_abs:  # NaN for strings
        place = f" at {list(s.where)}" if s.where else ""
        text += f", |Δ| ≤ {s.max_abs:.3g}{place}"
        if s.size > 1:
            text += f", mean {s.mean_abs:.3g}"
    if s.nans:
        text += f", {s.nans:,} NaN on one side"
    return f"{text} {line.note}".rstrip()


def _percent(fraction: float) -> str:
    if 0 < fraction < 0.01:
        return "<1%"
    return f"{int(fraction * 100)}%"  # rounded down: only a whole is 100%
