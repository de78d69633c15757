"""Tables of a tree: `summary` by subtree, `describe` leaf by leaf with statistics on request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from nestarray import backends
from nestarray.container import Container, method
from nestarray.container.display import itemsize, size
from nestarray.container.outline import array_text, key_text
from nestarray.container.spec import Spec
from nestarray.errors import ArgumentError
from nestarray.methods.statistics import Statistics, has_values, statistics
from nestarray.methods.table import Table

_STATISTICS = Statistics._fields


@method
def summary(c: Container, /, depth: int | None = None) -> Table:
    """A table of leaves, parameters and bytes by subtree, with totals.

    An array that occurs at several places (tied weights) counts once in each subtree
    and once in the total, and a note names its places; shares may then sum to more
    than 100 %. Nothing reads values, so arrays that are being traced have a summary.

    Args:
        c: a Container.
        depth: how many levels to list, at least 1; None lists all down to the leaves.

    Returns:
        a `Table` with the columns ``subtree, leaves, parameters, bytes, dtype, share``:
        ``.rows`` has the values, ``print`` all lines, the repr as many as the terminal
        shows. Parameters are the elements of all arrays; ``dtype`` names all dtypes;
        ``share`` is that of the parameters.

    Raises:
        ArgumentError: `depth` is no positive integer.

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
    counter = _Counter(c)
    names, counts = [], []
    for path, start, stop in _subtrees(c.spec, 0, depth, ()):
        names.append("/".join(path))
        counts.append(counter.count(start, stop))
    total = counter.count(0, len(c.leaves()))
    share = [n / total[1] if total[1] else 0.0 for _, n, _, _ in counts]
    columns = {"subtree": names}
    for position, name in enumerate(("leaves", "parameters", "bytes", "dtype")):
        columns[name] = [row[position] for row in counts]
    last = dict(zip(columns, ("total", *total))) | {"share": None}
    return Table(columns | {"share": share}, total=last, notes=counter.notes())


def _subtrees(
    spec: Spec, start: int, depth: int | None, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """(path, first leaf, one past the last) of each subtree, down to `depth` levels."""
    if spec.kind == "leaf" or len(path) == depth:
        return
    for key, child in zip(spec.keys, spec.children):
        inner = (*path, key_text(key))
        yield inner, start, start + child.num_leaves
        yield from _subtrees(child, start, depth, inner)
        start += child.num_leaves


class _Counter:
    """Counts of ranges of leaves, in which an array that occurs twice counts once."""

    def __init__(self, c: Container) -> None:
        self.paths, self.leaves = c.paths(), c.leaves()
        self.sizes = [size(leaf) for leaf in self.leaves]
        self.bytes = [n * itemsize(leaf) for n, leaf in zip(self.sizes, self.leaves)]
        self.dtypes = [dtype_name(leaf) for leaf in self.leaves]
        places: dict[int, list[int]] = {}
        for i, leaf in enumerate(self.leaves):
            if self.dtypes[i] is not None:
                places.setdefault(id(leaf), []).append(i)
        #: for each array that has several places, these
        self.shared = [found for found in places.values() if len(found) > 1]
        self.first_place = {i: found[0] for found in self.shared for i in found}

    def count(self, start: int, stop: int) -> tuple[int, int, int, str]:
        """Leaves, parameters, bytes and dtypes of the leaves from `start` to `stop`."""
        own: Sequence[int] = range(start, stop)
        if self.shared:
            seen = {self.first_place.get(i, i): i for i in reversed(own)}
            own = sorted(seen.values())
        names = dict.fromkeys(self.dtypes[i] for i in own if self.dtypes[i])
        dtypes = ", ".join(sorted(str(name) for name in names))
        return (
            stop - start,
            sum(self.sizes[i] for i in own),
            sum(self.bytes[i] for i in own),
            dtypes,
        )

    def notes(self) -> list[str]:
        """One line for each array that has several places, and one for shapes not yet known."""
        lines = []
        for places in self.shared[:5]:
            shown = " = ".join(self.paths[i] for i in places[:4])
            more = f" (and {len(places) - 4} more places)" if len(places) > 4 else ""
            lines.append(f"shared, counted once: {shown}{more}")
        if len(self.shared) > 5:
            lines.append(f"and {len(self.shared) - 5} more shared arrays")
        unknown = sum("?" in text or "..." in text for text in map(_text, self.leaves))
        if unknown:
            lines.append(f"{unknown} arrays have a shape not known yet and are counted as 0")
        return lines


def _text(leaf: Any) -> str:
    return array_text(leaf) or ""


def dtype_name(leaf: Any) -> str | None:
    """``"float32"`` for any framework's array; None of anything else."""
    if array_text(leaf) is None:
        return None
    return str(getattr(leaf.dtype, "name", leaf.dtype)).removeprefix("torch.")


@method
def describe(c: Container, /, *patterns: Any, statistics: bool = False) -> Table:
    """A table of the leaves: dtype, shape, bytes, backend and device, and statistics on request.

    Leaves that are no arrays have the name of their type for a dtype. Statistics are
    read on the host in float64, alike on every backend; those of complex leaves are of
    their magnitudes. A leaf without values (one that is being traced, of torch's
    ``meta`` device, or deleted) has none.

    Args:
        c: a Container.
        *patterns: which leaves, as for `Container.select`; none means all.
        statistics: also read the values. ``mean``, ``std`` (biased), ``min``, ``max`` and
            the 2-norm are those of the finite elements; ``nan``, ``inf`` and ``zeros`` are
            counts.

    Returns:
        a `Table`: ``.rows`` has the values, ``table["mean"]`` one column, ``print`` all
        lines, the repr as many as the terminal shows.

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
    return Table(columns)


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
    except (TypeError, ValueError):  # of a rank not known yet
        return None


def _statistics(path: str, leaf: Any) -> Statistics | None:
    try:
        return statistics(leaf)
    except Exception as error:
        error.add_note(f"at the Container path {path!r}")
        raise
