"""Selection of the rows of a tree that fit a given number of lines.

An outline opens nodes level by level while lines remain. Each level shares the remaining lines
evenly; a node with more children than its share keeps the first and the last. Numbered siblings
with equal text (``layers/0`` … ``layers/11``) are one row. Printers iterate over the rows, so
apart from one shape and dtype lookup for each leaf, the work is proportional to the rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from nestarray.container.leaf import array_text, describe
from nestarray.container.spec import Key, Spec

Leaves = Sequence[Any]

#: The minimal number of equal siblings that are folded to one row.
SHORTEST_RUN = 3
#: The maximal number of leaves that one outline compares in its search for equal siblings.
MAX_COMPARED = 20_000

_NUMBERED = re.compile(r"(.*?)(0|[1-9]\d{0,8})", re.DOTALL)
_PLAIN = (type(None), bool, int, float, complex, str, bytes)


class Row:
    """One line of an outline: a leaf or a node, or a run of `count` equal siblings."""

    __slots__ = ("children", "count", "key", "last_key", "spec", "start")

    def __init__(self, key: Key, spec: Spec, start: int) -> None:
        self.key, self.last_key, self.spec, self.start = key, key, spec, start
        self.count = 1
        self.children: list[Row | Gap] | None = None  # None: a leaf, or a closed node

    @property
    def stop(self) -> int:
        """One past the last leaf of all siblings in the run."""
        return self.start + self.count * self.spec.num_leaves

    @property
    def is_leaf(self) -> bool:
        """Whether it is a leaf or a run of leaves."""
        return self.spec.kind == "leaf"


class Gap:
    """Omitted siblings: their number, and their leaves from `start` to `stop`."""

    __slots__ = ("count", "start", "stop")

    def __init__(self, rows: Sequence[Row]) -> None:
        self.count = sum(row.count for row in rows)
        self.start, self.stop = rows[0].start, rows[-1].stop


def outline(spec: Spec, leaves: Leaves, lines: int, max_depth: int) -> Row:
    """The root row, with children opened up to `lines` lines and `max_depth` levels."""
    root = Row("", spec, 0)
    folder = _Folder(leaves)
    level, left, depth = [root], lines, 0
    while level and left > 0 and depth < max_depth:
        nodes = [(row, folder.rows(row)) for row in level if row.spec.keys]
        nodes.sort(key=lambda pair: len(pair[1]))  # small nodes leave lines to the others
        for position, (row, rows) in enumerate(nodes):
            share = left // (len(nodes) - position)
            row.children = _fitted(rows, share)
            left -= len(row.children or ())
        level = [child for row in level for child in row.children or () if isinstance(child, Row)]
        depth += 1
    return root


def _fitted(rows: list[Row], room: int) -> list[Row | Gap] | None:
    if len(rows) <= room:
        return [*rows]
    if room < 3:  # the first, the gap, the last
        return None
    head = room // 2
    tail = room - 1 - head
    last = len(rows) - tail
    return [*rows[:head], Gap(rows[head:last]), *rows[last:]]


class _Folder:
    """Rows for the children of a node, with runs of equal siblings folded."""

    def __init__(self, leaves: Leaves) -> None:
        self.leaves, self.budget = leaves, MAX_COMPARED

    def rows(self, parent: Row) -> list[Row]:
        rows: list[Row] = []
        run: list[Row] = []
        number: tuple[type, str, int] | None = None
        start = parent.start
        for key, child in zip(parent.spec.keys, parent.spec.children):
            row = Row(key, child, start)
            start += child.num_leaves
            expected = number and (number[0], number[1], number[2] + 1)
            number = _numbered(key)
            follows = run and child is run[0].spec and number is not None and number == expected
            if follows and self._have_equal_text(run[0], row):
                run.append(row)
                continue
            rows.extend(_folded(run))
            run = [row]
        rows.extend(_folded(run))
        return rows

    def _have_equal_text(self, first: Row, row: Row) -> bool:
        size = row.spec.num_leaves
        self.budget -= size
        if self.budget < 0:
            return False
        theirs = self.leaves[first.start : first.start + size]
        return all(map(_same_text, theirs, self.leaves[row.start : row.start + size]))


def _folded(run: list[Row]) -> Iterator[Row]:
    if len(run) < SHORTEST_RUN:
        yield from run
        return
    first = run[0]
    first.count, first.last_key = len(run), run[-1].key
    yield first


def _numbered(key: Key) -> tuple[type, str, int] | None:
    """``"layer12"`` as (str, "layer", 12)."""
    if isinstance(key, int):
        return int, "", key
    match = _NUMBERED.fullmatch(key)
    return (str, match[1], int(match[2])) if match else None


def _same_text(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    shape = getattr(a, "shape", None)
    if shape.__class__ is tuple and shape == b.shape and a.dtype == b.dtype:  # NumPy, JAX: faster
        return True
    is_comparable = isinstance(a, _PLAIN) or array_text(a) is not None
    return is_comparable and describe(a) == describe(b)  # the repr of other objects may be slow


def key_text(key: Key) -> str:
    """A key as printed: escaped if it would break the line."""
    text = str(key)
    return text if text.isprintable() else repr(text)[1:-1]


def range_text(row: Row) -> str:
    """``weight``, or ``0 … 11`` for a run."""
    if row.count == 1:
        return key_text(row.key)
    return f"{key_text(row.key)} … {key_text(row.last_key)}"
