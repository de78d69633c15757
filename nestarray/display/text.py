"""The repr of a Container: a tree of keys with dtypes and shapes that fits the terminal.

Lines fit the width of the terminal and their number its height; omitted entries are counted.
Values of arrays are never read, so arrays under tracing print in the same way. Only one bare array
prints as its framework does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from nestarray.container import Container, method
from nestarray.container.leaf import array_text, describe, size
from nestarray.container.spec import Spec
from nestarray.display.outline import Gap, Row, outline, range_text
from nestarray.errors.text import counted

#: Columns and lines without a terminal.
WIDTH, HEIGHT = 100, 40
_LEAST_WIDTH, _LEAST_HEIGHT = 24, 4


def terminal_size() -> tuple[int, int]:
    """Columns and lines for a repr; two lines are reserved for the prompt."""
    import shutil

    size = shutil.get_terminal_size((WIDTH, HEIGHT + 2))
    return max(size.columns, _LEAST_WIDTH), max(size.lines - 2, _LEAST_HEIGHT)


def render(
    spec: Spec, leaves: Sequence[Any], width: int | None = None, height: int | None = None
) -> str:
    """The text of a Container; `height` and `width` default to the size of the terminal."""
    columns, lines = terminal_size()
    width, height = width or columns, height or lines
    if spec.kind == "leaf":
        is_array = array_text(leaves[0]) is not None
        return _bare(repr(leaves[0]) if is_array else f"Container({leaves[0]!r})", height)
    head = heading(spec, leaves)
    root = outline(spec, leaves, height - 1, max_depth=max(width // 4, 1))
    return "\n".join(clipped(line, width) for line in (head, *_lines(root, leaves, "  ", width)))


@method
def __repr__(self: Container) -> str:
    return render(self.spec, self.leaves())


def heading(spec: Spec, leaves: Sequence[Any]) -> str:
    """``Container(6 leaves, 15 elements, numpy) [list]``."""
    return f"Container({totals(leaves) if leaves else 'empty'}){kind_suffix(spec)}"


def kind_suffix(spec: Spec) -> str:
    """The suffix for the kind of a node, empty for a dict."""
    return "" if spec.kind == "dict" else f" [{spec.kind}]"


def _bare(text: str, height: int) -> str:
    lines = text.splitlines()
    if len(lines) <= height:
        return text
    head = height // 2
    tail = max(height - 1 - head, 1)
    hidden = len(lines) - head - tail
    return "\n".join([*lines[:head], f"  … {hidden} more lines …", *lines[-tail:]])


def _lines(row: Row, leaves: Sequence[Any], indent: str, width: int) -> Iterator[str]:
    children = row.children or ()
    room = max(width // 2, 12)
    names = {id(c): cut(range_text(c), room) for c in children if isinstance(c, Row)}
    of_leaves = (cells(names[id(c)]) for c in children if isinstance(c, Row) and c.is_leaf)
    column = max(of_leaves, default=0)
    for child in children:
        if isinstance(child, Gap):
            yield f"{indent}… {child.count:,} more …"
            continue
        name, times = names[id(child)], f"{child.count:,} × " if child.count > 1 else ""
        if child.is_leaf:
            pad = " " * (column - cells(name))
            yield f"{indent}{name}{pad}  {times}{describe(leaves[child.start])}"
            continue
        name += kind_suffix(child.spec)
        if child.children is None:
            part = leaves[child.start : child.start + child.spec.num_leaves]
            yield f"{indent}{name}  {times}{{{contents(part) if part else ''}}}"
        else:
            yield f"{indent}{name}{'  ' + times.rstrip() if times else ''}"
            yield from _lines(child, leaves, indent + "  ", width)


def contents(leaves: Sequence[Any]) -> str:
    """``6 leaves, 15 elements``."""
    count = sum(map(size, leaves))
    return counted(len(leaves), "leaf", "leaves") + (
        f", {counted(count, 'element')}" if count else ""
    )


def totals(leaves: Sequence[Any]) -> str:
    """``6 leaves, 15 elements, numpy``."""
    arrays = [leaf for leaf in leaves if array_text(leaf) is not None]
    text = counted(len(leaves), "leaf", "leaves")
    if not arrays:
        return text
    frameworks = {type(a).__module__.partition(".")[0] for a in arrays}
    names = ", ".join(sorted({{"jaxlib": "jax"}.get(f, f) for f in frameworks}))
    return f"{text}, {counted(sum(map(size, arrays)), 'element')}, {names}"


# -- columns of a terminal --------------------------------------------------------------------


def cells(text: str) -> int:
    """The columns that a text takes in a terminal: two for each wide character."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(_cells_of(c, unicodedata) for c in text)


def _cells_of(character: str, unicodedata: Any) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def clipped(text: str, width: int) -> str:
    """`text` cut at `width` columns, with an ellipsis."""
    if cells(text) <= width:
        return text
    text = text[:width]
    while cells(text) > width - 1:
        text = text[:-1]
    return text + "…"


def cut(text: str, width: int) -> str:
    """`text` with an ellipsis in the middle if it exceeds `width` columns."""
    if cells(text) <= width:
        return text
    half = (width - 1) // 2
    tail = text[-half:]
    while cells(tail) > half:
        tail = tail[1:]
    return clipped(text, width - cells(tail)) + tail
