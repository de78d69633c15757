"""Output of the commands: text, colored in terminals by rich if it is installed, or JSON."""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

from nestarray.container.leaf import describe, itemsize, size
from nestarray.container.spec import Spec
from nestarray.display.outline import Gap, Row, outline, range_text
from nestarray.display.table import Table, bytes_text
from nestarray.display.text import cells, kind_suffix
from nestarray.errors.text import counted

#: Start of a line of a report → its style.
_STYLES = {
    "~ ": "yellow", "+ ": "green", "- ": "red", "> ": "cyan", "? ": "magenta", "FAIL": "bold red",
    "ok ": "green",
}  # fmt: skip


#: Control characters, which names in a file may hold, and terminals obey.
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


#: Characters of reports → what is printed where the output's encoding lacks them.
_ASCII = {"→": "->", "×": "x", "·": "*", "…": "...", "−": "-", "–": "-", "≤": "<=", "≥": ">=",
          "Δ": "d", "∞": "inf", "⁻": "^-", "¹": "^1", "²": "^2", "│": "|", "├": "|", "└": "`",
          "─": "-"}  # fmt: skip


def prepare_streams() -> None:
    """Make stdout and stderr print in every encoding, and nowhere if they are closed."""
    codecs.register_error("nestarray.ascii", _in_ascii)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="nestarray.ascii")


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    """An error handler of codecs."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    known = [_ASCII.get(c) or c.encode("ascii", "backslashreplace").decode() for c in text]
    return "".join(known), error.end


class Failure(Exception):
    """A wrong argument of the command line; the message is one line."""


class Console:
    """Prints the result of a command.

    Args:
        is_json: print only the document that `json` gets.
    """

    def __init__(self, *, is_json: bool) -> None:
        self.is_json = is_json
        self._rich = None if is_json else _rich_console()

    def json(self, document: Any) -> None:
        """Print the document, if JSON is asked for."""
        if self.is_json:
            print(json.dumps(document, indent=2, allow_nan=False))

    def text(self, text: str, style: str = "") -> None:
        """Print text, unless JSON is asked for; lines of reports are colored by their first word."""
        if self.is_json:
            return
        text = _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text)
        if self._rich is None:
            print(text)
            return
        for line in text.splitlines():
            found = style or next(
                (s for k, s in _STYLES.items() if line.lstrip().startswith(k)), ""
            )
            self._rich.print(line, style=found, markup=False, highlight=False, soft_wrap=True)

    def table(self, table: Table) -> None:
        """Print all rows of a table."""
        if self._rich is None:
            self.text(table.to_string())
            return
        from rich.table import Table as RichTable
        from rich.text import Text

        texts = table.texts(range(len(table)))
        shown = RichTable(box=None, pad_edge=False, header_style="bold")
        for name in texts:
            shown.add_column(name, justify="right" if table.is_number(name) else "left")
        for row in list(zip(*texts.values(), strict=True))[1:]:  # the first is the header
            shown.add_row(*map(Text, row))
        self._rich.print(shown)

    def tree(self, spec: Spec, leaves: tuple[Any, ...], lines: int) -> None:
        """Print a tree of at most `lines` rows, with shape, dtype and bytes of each leaf."""
        root = outline(spec, leaves, lines, max_depth=lines)
        if self._rich is None:
            self.text("\n".join(_lines(root, leaves)))
        elif root.children:
            self._rich.print(_rich_tree(root, leaves))

    @contextlib.contextmanager
    def text_to_stderr(self) -> Iterator[None]:
        """With JSON, send the output of the block to stderr."""
        with contextlib.redirect_stdout(sys.stderr) if self.is_json else contextlib.nullcontext():
            yield

    def warn(self, message: Any, *_: Any) -> None:
        """Print a warning; a replacement of `warnings.showwarning`."""
        print(f"nestarray: warning: {' '.join(str(message).split())}", file=sys.stderr)

    def error(self, message: str) -> None:
        """Print an error in one line."""
        print(f"nestarray: error: {message}", file=sys.stderr)


def _rich_console() -> Any:
    """rich's console for a terminal; None without rich, without a terminal, or with NO_COLOR."""
    if os.environ.get("NO_COLOR") or not (sys.stdout.isatty() or os.environ.get("FORCE_COLOR")):
        return None
    try:
        from rich.console import Console as RichConsole
    except ImportError:
        return None
    return RichConsole()


# -- trees ------------------------------------------------------------------------------------


def num_bytes(leaves: Any) -> int:
    """The bytes of arrays, which may be in a file."""
    return sum(
        getattr(x, "nbytes", None) or size(x) * itemsize(x) for x in leaves if hasattr(x, "shape")
    )


def _row_text(row: Row, leaves: tuple[Any, ...]) -> tuple[str, str, str]:
    """The name of a row, its content, and its bytes."""
    times = f"{row.count:,} × " if row.count > 1 else ""
    part = leaves[row.start : row.stop]
    count = num_bytes(part)
    if row.is_leaf:
        return range_text(row), times + describe(part[0]), bytes_text(count) if count else ""
    hidden = counted(row.spec.num_leaves, "leaf", "leaves") if part else ""
    content = times.rstrip() if row.children else f"{times}{{{hidden}}}"
    return range_text(row) + kind_suffix(row.spec), content, bytes_text(count) if count else ""


def _lines(root: Row, leaves: tuple[Any, ...]) -> list[str]:
    """The rows as aligned text."""
    rows: list[tuple[str, str, str]] = []

    def visit(row: Row, indent: str) -> None:
        for child in row.children or ():
            if isinstance(child, Gap):
                rows.append(
                    (
                        f"{indent}… {child.count:,} more",
                        "",
                        bytes_text(num_bytes(leaves[child.start : child.stop])),
                    )
                )
                continue
            name, content, count = _row_text(child, leaves)
            rows.append((indent + name, content, count))
            visit(child, indent + "  ")

    visit(root, "")
    columns = [max((cells(row[i]) for row in rows), default=0) for i in range(3)]
    return [
        f"{name}{' ' * (columns[0] - cells(name))}  {content}{' ' * (columns[1] - cells(content))}  "
        f"{count:>{columns[2]}}".rstrip()
        for name, content, count in rows
    ]


def _rich_tree(root: Row, leaves: tuple[Any, ...]) -> Any:
    from rich.text import Text
    from rich.tree import Tree

    def add(parent: Any, row: Row) -> None:
        for child in row.children or ():
            if isinstance(child, Gap):
                parent.add(Text(f"… {child.count:,} more", "dim"))
                continue
            name, content, count = _row_text(child, leaves)
            text = Text.assemble(
                (name, "" if child.is_leaf else "bold"),
                "  ",
                (content, "cyan"),
                "  ",
                (count, "dim"),
            )
            add(parent.add(text), child)

    tree = Tree("", hide_root=True, guide_style="dim")
    add(tree, root)
    return tree
