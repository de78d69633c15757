"""Plots of a tree with matplotlib: histograms or norms of its leaves."""

from __future__ import annotations

import math
from typing import Any

from nestarray import lazy_imports
from nestarray.container import Container, method
from nestarray.container.leaf import size
from nestarray.display.statistics import has_values, histogram, sample_of, statistics
from nestarray.display.text import cut
from nestarray.errors import ArgumentError

#: The approximate maximal number of elements in the histogram of one leaf.
_SAMPLE = 100_000
_COLUMNS = 4


@method
def plot(
    c: Container,
    /,
    *patterns: Any,
    kind: str = "histogram",
    limit: int | None = None,
    bins: int = 50,
    log: bool = False,
    figure: Any = None,
) -> Any:
    """Draw the leaves with matplotlib: a grid of histograms, or bars of their norms.

    Elements that are not finite are ignored, and their number is in the title of the leaf.
    Histograms of leaves with more than 100,000 elements use evenly spaced samples. Complex
    leaves are shown by magnitude. Leaves without elements, without values (under tracing), and
    leaves that are not arrays are ignored.

    Args:
        c: a Container of arrays of any backend.
        *patterns: the leaves, as for `Container.select`; by default all.
        kind: ``"histogram"``, or ``"norm"`` for the 2-norm of each leaf.
        limit: the maximal number of leaves, of which the largest are drawn; by default 24
            histograms or 60 norms. The title of the figure has the total number.
        bins: the number of bins of a histogram.
        log: counts, or norms, on a logarithmic axis.
        figure: a matplotlib Figure to draw into; by default a new one, not managed by pyplot.

    Returns:
        the Figure. Nothing is shown or saved: ``c.plot().savefig("weights.png")``.

    Raises:
        MissingFrameworkError: matplotlib is not installed.
        ArgumentError: `kind`, `limit` or `bins` is out of range, or no leaf can be drawn.

    Example:
        >>> import numpy as np, nestarray as na
        >>> c = na.Container(layer={"weight": np.eye(3), "bias": np.ones(4)})
        >>> [axes.get_title() for axes in c.plot().axes]
        ['layer/weight [3, 3]', 'layer/bias [4]']
        >>> [float(bar.get_width()) for bar in c.plot("**/bias", kind="norm").axes[0].patches]
        [2.0]
    """
    if kind not in ("histogram", "norm"):
        raise ArgumentError(f"Container.plot: kind: got {kind!r}, expected 'histogram' or 'norm'")
    limit = _positive("limit", {"histogram": 24, "norm": 60}[kind] if limit is None else limit)
    bins = _positive("bins", bins)
    drawn, count = _drawn(c.select(*patterns) if patterns else c, limit)
    figure = _new_figure() if figure is None else figure
    if kind == "histogram":
        _histograms(figure, drawn, bins, log)
    else:
        _norms(figure, drawn, log)
    if len(drawn) < count:
        figure.suptitle(f"{len(drawn)} of {count:,} leaves, the largest")
    return figure


def _positive(name: str, value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    raise ArgumentError(f"Container.plot: {name}: got {value!r}, expected a positive integer")


def _drawn(c: Container, limit: int) -> tuple[list[tuple[str, Any]], int]:
    """The drawn (path, leaf) pairs, in the order of the tree, and the number of all candidates."""
    items = [item for item in c.flat_items() if _has_numbers(item[1])]
    if not items:
        raise ArgumentError(
            f"Container.plot: got {len(c.leaves())} leaves, of which none is an array with "
            "elements that can be read now; expected at least one"
        )
    order = sorted(range(len(items)), key=lambda i: -size(items[i][1]))[:limit]
    return [items[i] for i in sorted(order)], len(items)


def _has_numbers(leaf: Any) -> bool:
    kind = getattr(
        getattr(leaf, "dtype", None), "kind", None
    )  # NumPy, JAX: strings, objects, times
    return size(leaf) > 0 and has_values(leaf) and kind not in ("O", "S", "U", "M", "m")


def _new_figure() -> Any:
    lazy_imports.optional("matplotlib", "Container.plot needs", extra="plot")
    from matplotlib.figure import Figure

    return Figure(layout="constrained")


def _histograms(figure: Any, drawn: list[tuple[str, Any]], bins: int, log: bool) -> None:
    columns = min(len(drawn), _COLUMNS)
    rows = math.ceil(len(drawn) / columns)
    figure.set_size_inches(3.2 * columns, 2.2 * rows)
    for position, (path, leaf) in enumerate(drawn):
        axes = figure.add_subplot(rows, columns, position + 1)
        values = sample_of(leaf, _SAMPLE)
        lost = statistics(leaf) if values is None or values.size < size(leaf) else None
        note = f", {lost.nan:,} NaN, {lost.inf:,} inf" if lost and lost.nan + lost.inf else ""
        shape = ", ".join(map(str, leaf.shape))
        title = f"{cut(path, 40)} [{shape}]{note}"
        axes.set_title(title, fontsize=8, parse_math=False)
        axes.tick_params(labelsize=7)
        if values is not None and values.size:
            counts, edges = histogram(values, bins)
            axes.stairs(counts, edges, fill=True)
        if log:
            axes.set_yscale("symlog", linthresh=1)


def _norms(figure: Any, drawn: list[tuple[str, Any]], log: bool) -> None:
    figure.set_size_inches(8, max(0.22 * len(drawn) + 1.0, 2.0))
    axes = figure.add_subplot()
    rows = [(path, statistics(leaf)) for path, leaf in drawn]
    norms = [row.norm if row and row.norm is not None else 0.0 for _, row in rows]
    labels = [
        cut(path, 60)
        + (f" ({row.nan + row.inf:,} not finite)" if row and row.nan + row.inf else "")
        for path, row in rows
    ]
    places = range(len(rows))
    axes.barh(places, norms)
    axes.set_yticks(places, labels, fontsize=7, parse_math=False)
    axes.invert_yaxis()
    axes.set_xlabel("2-norm")
    if log:
        axes.set_xscale("log")
