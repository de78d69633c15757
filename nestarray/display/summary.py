"""Tables of a tree: `summary` by subtree, `describe` by leaf with optional statistics."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

from nestarray import backends
from nestarray.container import Container, method
from nestarray.container.leaf import array_text, itemsize, size
from nestarray.container.spec import Spec
from nestarray.display.outline import Gap, Row, key_text, outline
from nestarray.display.statistics import Statistics, has_values, statistics
from nestarray.display.table import Table
from nestarray.errors import ArgumentError

_STATISTICS = Statistics._fields
_ANY_DEPTH = sys.maxsize


@method
def summary(c: Container, /, depth: int | None = None) -> Table:
    """A table of leaves, parameters and bytes by subtree, with totals.

    The table has a row for each subtree and leaf. If it does not fit the terminal, it prints as
    an outline: numbered siblings with equal contents are one row with their sum
    (``layers/{0…11}``), deep levels are summed in their subtree, and omitted rows are one
    row with their number of leaves, parameters and bytes.

    An array at several places (tied weights) counts once in each subtree and once in the
    total, and a note names its places; shares may then sum to more than 100 %. Values are not
    read, so a summary also works under tracing.

    Args:
        c: a Container.
        depth: the number of levels, at least 1; None lists all levels.

    Returns:
        a `Table` with the columns ``subtree, leaves, parameters, bytes, dtype, share``.
        ``.rows`` and ``table["bytes"]`` are the values of all rows, ``table.to_string()``
        their text, ``table.to_string(50)`` an outline of 50 rows. Parameters are the elements
        of all arrays; ``dtype`` lists all dtypes; ``share`` is the fraction of the parameters.

    Raises:
        ArgumentError: `depth` is not a positive integer.

    Example:
        >>> import numpy as np, nestarray as na
        >>> layer = {"weight": np.zeros((3, 4), "float32"), "bias": np.zeros(3, "float32")}
        >>> c = na.Container(layers=[layer], scale=np.zeros(5, "float32"))
        >>> print(c.summary(depth=1))
        subtree  leaves  parameters  bytes  dtype    share
        layers        2          15   60 B  float32  75.0%
        scale         1           5   20 B  float32  25.0%
        ──────────────────────────────────────────────────
        total         3          20   80 B  float32
    """
    if depth is not None and (not isinstance(depth, int) or isinstance(depth, bool) or depth < 1):
        raise ArgumentError(
            f"Container.summary: depth: got {depth!r}, expected a positive integer or None for "
            "all levels"
        )
    counter, spec = _Counter(c), c.spec
    shortened = partial(_shortened, counter, spec, depth)
    rows = _subtrees(spec, 0, depth, ())
    return _table(counter, spec, rows, notes=counter.notes(), outline=shortened)


def _table(
    counter: _Counter, spec: Spec, rows: Iterable[tuple[str, Sequence[int]]], **more: Any
) -> Table:
    """The table with the name and the leaves of each row."""
    total = counter.count(range(spec.num_leaves))
    names, parts = zip(*rows) if spec.keys else ((), ())
    counts = [counter.count(part) for part in parts]
    columns: dict[str, Sequence[Any]] = {"subtree": names}
    for position, name in enumerate(("leaves", "parameters", "bytes", "dtype")):
        columns[name] = [row[position] for row in counts]
    last = dict(zip(columns, ("total", *total))) | {"share": None}
    columns["share"] = [n / total[1] if total[1] else 0.0 for n in columns["parameters"]]
    return Table(columns, total=last, **more)


def _shortened(counter: _Counter, spec: Spec, depth: int | None, room: int) -> Table:
    """The outline of a summary in `room` rows."""
    root = outline(spec, counter.texts, room, depth or _ANY_DEPTH)
    return _table(counter, spec, _outline_rows(root, "", [0]))


def _subtrees(
    spec: Spec, start: int, depth: int | None, path: tuple[str, ...]
) -> Iterator[tuple[str, range]]:
    """The path and the leaves of each subtree, down to `depth` levels."""
    if spec.kind == "leaf" or len(path) == depth:
        return
    for key, child in zip(spec.keys, spec.children):
        inner = (*path, key_text(key))
        yield "/".join(inner), range(start, start + child.num_leaves)
        yield from _subtrees(child, start, depth, inner)
        start += child.num_leaves


def _outline_rows(row: Row, prefix: str, shifts: list[int]) -> Iterator[tuple[str, Sequence[int]]]:
    """The name and the leaves of each row below `row`, for a run at each of `shifts`."""
    for child in row.children or ():
        if isinstance(child, Gap):
            own = [range(child.start + s, child.stop + s) for s in shifts]
            yield f"{prefix}… {child.count:,} more", list(chain(*own))
            continue
        inner, size = shifts, child.spec.num_leaves
        name = f"{prefix}{key_text(child.key)}"
        if child.count > 1:
            inner = [s + i * size for s in shifts for i in range(child.count)]
            name = f"{prefix}{{{key_text(child.key)}…{key_text(child.last_key)}}}"
        own = [range(child.start + s, child.start + s + size) for s in inner]
        yield name, list(chain(*own))
        yield from _outline_rows(child, f"{name}/", inner)


class _Counter:
    """Counts over subsets of the leaves, in which a repeated array counts once.

    It stores sizes, not leaves, so that a table keeps no array alive.
    """

    def __init__(self, c: Container) -> None:
        self.paths, leaves = c.paths(), c.leaves()
        self.sizes = [size(leaf) for leaf in leaves]
        self.bytes = [n * itemsize(leaf) for n, leaf in zip(self.sizes, leaves)]
        self.dtypes = [dtype_name(leaf) for leaf in leaves]
        self.texts = [array_text(leaf) or type(leaf).__name__ for leaf in leaves]
        places: dict[int, list[int]] = {}
        for i, leaf in enumerate(leaves):
            if self.dtypes[i] is not None:
                places.setdefault(id(leaf), []).append(i)
        #: for each array with several places, these places
        self.shared = [found for found in places.values() if len(found) > 1]
        self.first_place = {i: found[0] for found in self.shared for i in found}

    def count(self, part: Sequence[int]) -> tuple[int, int, int, str]:
        """Leaves, parameters, bytes and dtypes of the leaves with the given numbers."""
        own = part
        if self.shared:
            own = list({self.first_place.get(i, i): i for i in part})
        names = dict.fromkeys(self.dtypes[i] for i in own if self.dtypes[i])
        dtypes = ", ".join(sorted(str(name) for name in names))
        return (
            len(part),
            sum(self.sizes[i] for i in own),
            sum(self.bytes[i] for i in own),
            dtypes,
        )

    def notes(self) -> list[str]:
        """One line for each array with several places, and one for unknown shapes."""
        lines = []
        for places in self.shared[:5]:
            shown = " = ".join(self.paths[i] for i in places[:4])
            more = f" (and {len(places) - 4} more places)" if len(places) > 4 else ""
            lines.append(f"shared, counted once: {shown}{more}")
        if len(self.shared) > 5:
            lines.append(f"and {len(self.shared) - 5} more shared arrays")
        arrays = (text for text, name in zip(self.texts, self.dtypes) if name is not None)
        unknown = sum("?" in text or "..." in text for text in arrays)
        if unknown:
            lines.append(f"{unknown} arrays have a shape not known yet and are counted as 0")
        return lines


def dtype_name(leaf: Any) -> str | None:
    """``"float32"`` for any framework's array; None for other objects."""
    if array_text(leaf) is None:
        return None
    return str(getattr(leaf.dtype, "name", leaf.dtype)).removeprefix("torch.")


@method
def describe(c: Container, /, *patterns: Any, statistics: bool = False) -> Table:
    """A table of the leaves: dtype, shape, bytes, backend and device, with optional statistics.

    For leaves that are not arrays, the dtype is the name of their type. Statistics are computed
    on the host in float64, for every backend; for complex leaves, on magnitudes. A leaf without
    values (under tracing, on torch's ``meta`` device, or deleted) has no statistics.

    Args:
        c: a Container.
        *patterns: the leaves, as for `Container.select`; by default all.
        statistics: also read the values. ``mean``, ``std`` (biased), ``min``, ``max`` and
            the 2-norm are over the finite elements; ``nan``, ``inf`` and ``zeros`` are counts.

    Returns:
        a `Table`: ``.rows`` has the values, ``table["mean"]`` one column. It prints as many
        rows as fit the terminal, and the number of the others; ``table.to_string()`` prints all.

    Example:
        >>> import numpy as np, nestarray as na
        >>> c = na.Container(w=np.asarray([[1.0, 3.0], [0.0, np.nan]]), name="relu")
        >>> print(c.describe())
        path  dtype    shape   size  bytes  backend  device
        w     float64  [2, 2]     4   32 B  numpy    cpu
        name  str                 0    0 B
        >>> c.describe("w", statistics=True)["max"]
        (3.0,)
    """
    items = list((c.select(*patterns) if patterns else c).flat_items())
    names = ("path", "dtype", "shape", "size", "bytes", "backend", "device")
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for path, leaf in items:
        row = (path, *_facts(leaf))
        for name, value in zip(names, row):
            columns[name].append(value)
    if statistics:
        found = [_statistics(path, leaf) for path, leaf in items]
        for position, name in enumerate(_STATISTICS):
            columns[name] = [None if s is None else s[position] for s in found]
    return Table(columns, sums=("size", "bytes", "nan", "inf", "zeros"))


def _facts(leaf: Any) -> tuple[Any, ...]:
    name = dtype_name(leaf)
    if name is None:
        return type(leaf).__name__, None, 0, 0, "", ""
    backend = backends.backend_of_type(type(leaf)) or ""
    device = ""
    if backend and (has_values(leaf) or getattr(leaf, "is_meta", False)):
        device = backends.core(backend).device_of(leaf)
    return name, _shape(leaf), size(leaf), size(leaf) * itemsize(leaf), backend, device


def _shape(leaf: Any) -> tuple[int | None, ...] | None:
    try:
        return tuple(None if d is None else int(d) for d in leaf.shape)
    except (TypeError, ValueError):  # an unknown rank
        return None


def _statistics(path: str, leaf: Any) -> Statistics | None:
    try:
        return statistics(leaf)
    except Exception as error:
        error.add_note(f"at the Container path {path!r}")
        raise
