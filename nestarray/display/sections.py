"""Reports as a heading, notes and tables: HTML for notebooks, a tree for rich."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

from nestarray.display.html import escaped, framed
from nestarray.display.table import Table


class Sections(NamedTuple):
    """The parts of a report.

    Attributes:
        heading: one line.
        tables: titles and tables.
        notes: lines below the heading.
        is_open: whether the tables are open at first in HTML.
    """

    heading: str
    tables: Sequence[tuple[str, Table]] = ()
    notes: Sequence[str] = ()
    is_open: bool = False


class HasSections(ABC):
    """The base of reports: a text, and `_sections` for notebooks and ``rich.print``."""

    __slots__ = ()

    @abstractmethod
    def _sections(self) -> Sections:
        """The parts of the report."""

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """The HTML of notebooks: a heading with notes, and tables that open and close."""
        parts = self._sections()
        state = " open" if parts.is_open else ""
        notes = "".join(f'<div class="note">{escaped(note)}</div>\n' for note in parts.notes)
        tables = "".join(
            f"<details{state}><summary>{escaped(title)}</summary><div>\n"
            f"{table.to_html()}</div></details>\n"
            for title, table in parts.tables
        )
        return framed(
            f"<details open><summary>{escaped(parts.heading)}</summary>"
            f"<div>\n{notes}{tables}</div></details>"
        )

    def __rich__(self) -> Any:
        """The report as a tree, for ``rich.print``."""
        from rich.text import Text
        from rich.tree import Tree

        parts = self._sections()
        tree = Tree(Text(parts.heading, style="bold"), guide_style="dim")
        for note in parts.notes:
            tree.add(Text(note))
        for title, table in parts.tables:
            tree.add(Text(title, style="cyan")).add(table)
        return tree
