"""A Container as HTML: a collapsible tree with sizes, norms and small histograms.

The size of the output and the time are limited: the rows of one outline, norms of leaves that are
not large, and histograms of the largest leaves among the rows, each from a sample.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nestarray.container import Container, method
from nestarray.container.leaf import describe, itemsize, size
from nestarray.container.spec import LEAF
from nestarray.display.html import escaped, framed
from nestarray.display.outline import Gap, Row, key_text, outline, range_text
from nestarray.display.statistics import histogram, sample_of, statistics
from nestarray.display.table import bytes_text
from nestarray.display.text import contents, heading, kind_suffix

#: The maximal numbers of rows, levels and histograms of one tree.
ROWS, DEPTH, HISTOGRAMS = 400, 12, 40
#: Nodes are open while the page has at most this many rows.
_OPEN_ROWS = 30
_SAMPLE, _BINS, _LONGEST = 2048, 24, 120
#: The maximal number of elements of a leaf whose norm is computed, and of all of these.
_NORM_ELEMENTS, _ALL_NORM_ELEMENTS = 1 << 18, 1 << 22


@method
def to_html(c: Container, /, *, histograms: bool = True, norms: bool = True) -> str:
    """An HTML page of the tree: keys, dtypes, shapes, bytes, norms; nodes are collapsible.

    It needs no script and no other file, and follows the light or dark theme of the browser.
    The largest floating leaves among the rows have histograms, from a sample of about 2,000
    elements. Leaves with at most 262,144 elements have their 2-norm over the finite elements, and
    counts of NaN and infinities. The page of a large tree has about 400 rows; numbered blocks
    with equal contents are one row.

    Args:
        c: a Container.
        histograms: draw histograms.
        norms: compute norms.

    Returns:
        a complete HTML document. Notebooks display the same tree for a Container.

    Example:
        >>> import numpy as np, nestarray as na
        >>> page = na.Container(layer={"weight": np.ones((2, 3))}).to_html()
        >>> page.startswith("<!DOCTYPE html>"), "f64[2, 3]" in page
        (True, True)
    """
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Container</title>'
        '<meta name="color-scheme" content="light dark"></head>\n<body>\n'
        f"{tree_html(c, histograms, norms)}\n</body></html>\n"
    )


@method
def _repr_html_(c: Container, /) -> str | None:
    """The output in notebooks; see `to_html`. None for a bare array, which prints as its repr."""
    return None if c.spec is LEAF else tree_html(c)


def tree_html(c: Container, histograms: bool = True, norms: bool = True) -> str:
    """The HTML of a Container."""
    leaves = c.leaves()
    root = outline(c.spec, leaves, ROWS, DEPTH)
    if c.spec.kind == "leaf":
        values = [_norm(leaves[0]) if norms else "", _histogram(leaves[0]) if histograms else ""]
        head, body = "Container", [_leaf_html("", leaves[0], "", "".join(values))]
    else:
        head, body = heading(c.spec, leaves), _Page(root, leaves, histograms, norms)
    return framed(
        f"<details open><summary>{escaped(head)}{_bytes_note(leaves)}</summary><div>\n"
        f"{''.join(body)}</div></details>"
    )


class _Page:
    """The rows of an outline as HTML."""

    def __init__(self, root: Row, leaves: tuple[Any, ...], histograms: bool, norms: bool) -> None:
        self.root, self.leaves = root, leaves
        rows = list(_leaf_rows(root))
        rows.sort(key=lambda row: size(leaves[row.start]), reverse=True)
        drawn = rows[:HISTOGRAMS] if histograms else []
        self.with_histogram = {row.start for row in drawn}
        self.with_norm, left = set(), _ALL_NORM_ELEMENTS
        for row in reversed(rows) if norms else ():  # the small leaves first
            left -= size(leaves[row.start])
            if left >= 0 and row.count == 1:
                self.with_norm.add(row.start)

    def __iter__(self) -> Iterator[str]:
        return self._children(self.root, room=_OPEN_ROWS)

    def _children(self, parent: Row, room: int) -> Iterator[str]:
        children = parent.children or ()
        room -= len(children)
        for child in children:
            if isinstance(child, Gap):
                yield f'<div class="note">… {child.count:,} more …</div>\n'
            elif child.is_leaf:
                leaf = self.leaves[child.start]
                values = _norm(leaf) if child.start in self.with_norm else ""
                values += _histogram(leaf) if child.start in self.with_histogram else ""
                yield _leaf_html(range_text(child), leaf, _times(child), values)
            else:
                yield from self._node(child, room)

    def _node(self, row: Row, room: int) -> Iterator[str]:
        part = self.leaves[row.start : row.start + row.spec.num_leaves]
        which = f" (here {escaped(key_text(row.key))})" if row.count > 1 else ""
        note = f"{kind_suffix(row.spec)} {_times(row)}{contents(part)}{which}"
        head = f'{_key_html(range_text(row))}<span class="note">{note}</span>{_bytes_note(part)}'
        if not row.children:
            yield f'<div class="leaf"><span>{head}</span></div>\n'
            return
        state = " open" if len(row.children) <= room else ""
        yield f"<details{state}><summary>{head}</summary><div>\n"
        yield from self._children(row, room)
        yield "</div></details>\n"


def _leaf_rows(row: Row) -> Iterator[Row]:
    for child in row.children or ():
        if isinstance(child, Row):
            if child.is_leaf:
                yield child
            else:
                yield from _leaf_rows(child)


def _leaf_html(key: str, leaf: Any, times: str, values: str) -> str:
    text = escaped(f"{times}{describe(leaf)}")
    name = _key_html(key) if key else ""
    return f'<div class="leaf">{name}<span>{text}</span>{_bytes_note((leaf,))}{values}</div>\n'


def _key_html(key: str) -> str:
    shown = key if len(key) <= _LONGEST else f"{key[: _LONGEST // 2]}…{key[-_LONGEST // 2 :]}"
    return f'<span class="key">{escaped(shown)}</span>'


def _times(row: Row) -> str:
    return f"{row.count:,} × " if row.count > 1 else ""


def _bytes_note(leaves: tuple[Any, ...]) -> str:
    count = sum(size(leaf) * itemsize(leaf) for leaf in leaves)
    return f' <span class="note">{bytes_text(count)}</span>' if count else ""


def _norm(leaf: Any) -> str:
    """The 2-norm of a floating or complex leaf, and its number of NaN and infinities."""
    name = str(getattr(leaf, "dtype", ""))
    if not 0 < size(leaf) <= _NORM_ELEMENTS or not ("float" in name or "complex" in name):
        return ""
    try:
        found = statistics(leaf)
    except Exception:  # a lost device must not prevent the display of the tree
        return ""
    if found is None:
        return ""
    parts = [] if found.norm is None else [f"norm {found.norm:.4g}"]
    parts += [f"{n:,} {word}" for n, word in ((found.nan, "NaN"), (found.inf, "inf")) if n]
    style = "wrong" if found.nan or found.inf else "note"
    return f' <span class="{style}">{", ".join(parts)}</span>'


def _histogram(leaf: Any) -> str:
    """The histogram of a floating leaf as SVG; empty for other leaves and for few elements."""
    if size(leaf) < 2 or "float" not in str(getattr(leaf, "dtype", "")):
        return ""
    try:
        values = sample_of(leaf, _SAMPLE)
    except Exception:  # a lost device must not prevent the display of the tree
        return ""
    if values is None or values.size < 2:
        return ""
    low, high = float(values.min()), float(values.max())
    counts, _ = histogram(values, _BINS)
    heights = counts / counts.max() * 20
    bars = "".join(f"M{i} 20V{20 - height:.1f}h1V20z" for i, height in enumerate(heights) if height)
    label = f"from {low:.4g} to {high:.4g}"
    return (
        f'<svg viewBox="0 0 {_BINS} 20" preserveAspectRatio="none" role="img" '
        f'aria-label="histogram {label}"><title>{label}</title><path d="{bars}"/></svg>'
    )
