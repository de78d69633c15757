"""A graph as rows that open: HTML for notebooks, a tree for rich.

Modules, loops and branches are rows with the rows of their calls. Large graphs are closed from
the innermost groups on, and long groups are cut, so the output has a few hundred rows at most.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from nestarray.display.html import escaped, framed
from nestarray.display.table import bytes_text
from nestarray.display.text import terminal_size
from nestarray.errors.text import counted
from nestarray.graph.graph import Graph
from nestarray.graph.viewer.diagram import Box, Diagram, Variable, diagram

if TYPE_CHECKING:
    from rich.tree import Tree

#: The maximal number of rows in HTML, and of these within one group.
ROWS, GROUP_ROWS = 400, 200
#: Groups are open while the page has at most this many rows.
_OPEN_ROWS = 30


@dataclasses.dataclass
class Row:
    """A call, or a group with the rows inside.

    Attributes:
        first: number of its first box, by which rows are ordered.
        key: module name, or variable.
        text: the function that is called.
        type: dtype and shape.
        note: sizes, module, source line.
        rows: those inside; None for a call.
        hidden: number of rows inside that are left out.
        is_open: whether it is open at first.
    """

    first: int
    key: str
    text: str = ""
    type: str = ""
    note: str = ""
    rows: list[Row] | None = None
    hidden: int = 0
    is_open: bool = False


def _repr_html_(graph: Graph) -> str:
    """The output in notebooks: modules that open, with calls, shapes and sizes; see `Graph.show`."""
    whole = outline(diagram(graph), ROWS, GROUP_ROWS)
    rows = "".join(map(_html, whole.rows or ()))
    return framed(
        f"<details open><summary>{escaped(repr(graph))}"
        f"{_note(bytes_text(sum(c.nbytes for c in (graph.v, graph.s, graph.constants))))}"
        f"</summary><div>\n{rows}{_more(whole)}</div></details>"
    )


def __rich__(graph: Graph) -> Tree:
    """The modules and calls as a tree, for ``rich.print``."""
    from rich.text import Text
    from rich.tree import Tree

    height = terminal_size()[1]
    whole = outline(diagram(graph), height - 1, max(height // 2, 3))
    tree = Tree(Text(repr(graph), style="bold"), guide_style="dim")
    _grow(tree, whole)
    return tree


def outline(found: Diagram, most: int, most_inside: int) -> Row:
    """The rows of a diagram, up to `most`; a group shows `most_inside` of its rows."""
    inside: list[list[Row]] = [[] for _ in found.groups]
    variables: list[dict[str, Variable]] = [{} for _ in found.groups]
    calls = [0] * len(found.groups)
    drawn = {group.box for group in found.groups}
    for number, box in enumerate(found.boxes):
        if number not in drawn:
            inside[box.group].append(_call_row(number, box))
        calls[box.group] += bool(box.call)
        variables[box.group] |= {v.path: v for v in box.variables if v.source == "v"}
    rows = [Row(0, group.name, rows=inside[number]) for number, group in enumerate(found.groups)]
    for number in reversed(range(len(found.groups))):
        group, row = found.groups[number], rows[number]
        assert row.rows is not None
        row.rows.sort(key=lambda inner: inner.first)
        row.first = group.box if group.box >= 0 else row.rows[0].first if row.rows else 0
        row.text = found.boxes[group.box].op if group.box >= 0 else ""
        row.note = _sizes(calls[number], [*variables[number].values()])
        if number:
            inside[group.parent].append(row)
            calls[group.parent] += calls[number]
            variables[group.parent] |= variables[number]
    _cut(rows[0], most, most_inside)
    return rows[0]


def _cut(root: Row, most: int, most_inside: int) -> None:
    """Leave out rows, and close groups, from the innermost ones on."""
    level, count = [root], 0
    while level:
        after: list[Row] = []
        for row in sorted(level, key=lambda row: len(row.rows or ())):
            rows = row.rows or []
            kept = min(len(rows), most_inside, max(most - count, 0))
            row.rows, row.hidden = rows[:kept], len(rows) - kept
            count += kept
            row.is_open = count <= _OPEN_ROWS
            after += [inner for inner in row.rows if inner.rows is not None]
        level = after


def _call_row(number: int, box: Box) -> Row:
    parts = [box.label, _sizes(0, box.variables), "random" if box.is_random else "", box.line]
    op = box.op if box.call else ""
    return Row(number, box.name, op, box.type, " · ".join(filter(None, parts)))


def _sizes(calls: int, variables: list[Variable]) -> str:
    parts = [counted(calls, "call")] if calls else []
    own = [v for v in variables if v.source == "v"]
    if own:
        parts.append(counted(sum(v.size for v in own), "parameter"))
        parts.append(bytes_text(sum(v.bytes for v in own)))
    return ", ".join(parts)


def _html(row: Row) -> str:
    key = f'<span class="key">{escaped(row.key)}</span>'
    text = f"<span>{escaped(row.text)}</span>" if row.text else ""
    if row.rows is None:
        kind = f"<span>{escaped(row.type)}</span>" if row.type else ""
        return f'<div class="leaf">{key}{text}{kind}{_note(row.note)}</div>\n'
    head = f"{key} {text}{_note(row.note)}"
    if not row.rows:
        return f'<div class="leaf"><span>{head}</span></div>\n'
    state = " open" if row.is_open else ""
    inner = "".join(map(_html, row.rows))
    return f"<details{state}><summary>{head}</summary><div>\n{inner}{_more(row)}</div></details>\n"


def _note(text: str) -> str:
    return f' <span class="note">{escaped(text)}</span>' if text else ""


def _more(row: Row) -> str:
    return f'<div class="note">… {row.hidden:,} more …</div>\n' if row.hidden else ""


def _grow(tree: Tree, row: Row) -> None:
    from rich.text import Text

    for child in row.rows or ():
        line = Text.assemble(
            (child.key, "bold"),
            (f"  {child.text}" if child.text else ""),
            (f"  {child.type}" if child.type else "", "cyan"),
            (f"  {child.note}" if child.note else "", "dim"),
            no_wrap=True,
            overflow="ellipsis",
        )
        _grow(tree.add(line), child)
    if row.hidden and row.rows:
        tree.add(Text(f"… {row.hidden:,} more …", style="dim"))
