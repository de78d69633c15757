"""A Container as a tree of rich: ``rich.print(c)`` prints the rows of the repr, in color."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nestarray.container import Container, method
from nestarray.container.leaf import describe, itemsize, size
from nestarray.container.spec import LEAF
from nestarray.display.outline import Gap, Row, outline, range_text
from nestarray.display.table import bytes_text
from nestarray.display.text import contents, heading, kind_suffix, render, terminal_size


@method
def __rich__(c: Container, /) -> Any:
    """The tree for ``rich.print``: keys, dtypes, shapes and bytes. Values are not read."""
    from rich.text import Text
    from rich.tree import Tree

    leaves = c.leaves()
    if c.spec is LEAF:
        return Text(render(c.spec, leaves))
    width, height = terminal_size()
    tree = Tree(Text(heading(c.spec, leaves), style="bold"), guide_style="dim")
    _grow(tree, outline(c.spec, leaves, height - 1, max_depth=max(width // 4, 1)), leaves)
    return tree


def _grow(tree: Any, row: Row, leaves: Sequence[Any]) -> None:
    from rich.text import Text

    for child in row.children or ():
        if isinstance(child, Gap):
            tree.add(Text(f"… {child.count:,} more …", style="dim"))
            continue
        part = leaves[child.start : child.start + child.spec.num_leaves]
        times = f"{child.count:,} × " if child.count > 1 else ""
        what = describe(part[0]) if child.is_leaf else contents(part)
        style = "cyan" if child.is_leaf else "dim"
        count = sum(size(leaf) * itemsize(leaf) for leaf in part)
        line = Text.assemble(
            (range_text(child), "bold"),
            (f"{'' if child.is_leaf else kind_suffix(child.spec)}  {times}{what}", style),
            (f"  {bytes_text(count)}" if count else "", "dim"),
            no_wrap=True,
            overflow="ellipsis",
        )
        _grow(tree.add(line), child, leaves)
