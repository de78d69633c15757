"""The rows of a tree as a data set, and batches of them in order or shuffled.

A row is the same index of the first axis of every array. `Rows` has the protocol of map-style data
sets (``len``, an integer, a list of integers), which the loaders of PyTorch, Grain and Keras take;
`Batches` needs no loader. Leaves that are not arrays belong to every row. An array in a file
(`StoredArray`) is read in parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from nestarray import backends, ops
from nestarray.backends import is_array
from nestarray.container import Container, Leaf, method
from nestarray.container.access import map_leaves
from nestarray.container.container import from_leaves
from nestarray.dtypes import is_key
from nestarray.errors import ArgumentError, IndexingError, ShapeError
from nestarray.errors.text import counted
from nestarray.random import permutation


class Rows(Sequence[Any]):
    """The rows of a Container; see `Container.rows`."""

    __slots__ = ("_container", "_length")

    def __init__(self, container: Container) -> None:
        self._container, self._length = container, _common_length(container)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> Any:
        """A row by an integer; a Container of some rows by a slice, a list, an array or a mask."""
        if not isinstance(index, slice):
            index = positions(index, self._length)
            index = index if index.ndim else int(index)
        return _part(self._container, index)

    def __getitems__(self, indices: Sequence[int]) -> list[Container]:
        """A list of rows, which PyTorch's ``DataLoader`` takes; every array is read once."""
        rows = _part(self._container, positions(indices, self._length))
        return [_part(rows, i) for i in range(len(indices))]

    def __iter__(self) -> Iterator[Container]:
        return (self[i] for i in range(self._length))

    def __repr__(self) -> str:
        head = f"Rows({counted(self._length, 'row')})"
        return "\n".join([head, *repr(self._container).splitlines()[1:]])


class Batches(Sequence[Any]):
    """Containers of at most `size` rows; see `Container.batches`."""

    __slots__ = ("_numbers", "_order", "_rows", "_size")

    def __init__(self, rows: Rows, size: int, order: np.ndarray | None, numbers: range) -> None:
        self._rows, self._size, self._order, self._numbers = rows, size, order, numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index: Any) -> Any:
        """A batch by its number; the batches of a slice, such as ``batches[3:]`` after three steps."""
        if isinstance(index, slice):
            return Batches(self._rows, self._size, self._order, self._numbers[index])
        number = int(positions(index, len(self), "Container.batches", "batches"))
        start = self._numbers[number] * self._size
        part = slice(start, min(start + self._size, len(self._rows)))
        return self._rows[part if self._order is None else self._order[part]]

    def __iter__(self) -> Iterator[Container]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"Batches({len(self):,} of {counted(self._size, 'row')})"


@method
def rows(c: Container[Leaf], /) -> Rows:
    """The rows of a batch as a map-style data set, for the loaders of other libraries.

    ``rows[3]`` is a row, ``rows[[3, 1]]``, ``rows[2:5]`` and ``rows[mask]`` are Containers of
    several, ``len(rows)`` is their number. A Container itself is a mapping: its length is the
    number of keys, and a loader would iterate over these.

    Args:
        c: a Container whose arrays have a first axis of one length. Arrays of files that are
            loaded with ``lazy=True`` are read row by row. Leaves that are not arrays are kept.

    Raises:
        ShapeError: an array has no axes, or another length than the first one.
        ArgumentError: no leaf is an array.

    Example:
        >>> import numpy as np, nestarray as na
        >>> data = na.Container(x=np.arange(6.0).reshape(3, 2), label=np.asarray([0, 1, 0])).rows()
        >>> len(data), data[1].to_dict()
        (3, {'x': array([2., 3.]), 'label': np.int64(1)})
        >>> data[[2, 0]].label
        array([0, 0])

    References:
        https://docs.pytorch.org/docs/stable/data.html#map-style-datasets
    """
    return Rows(c)


@method
def batches(
    c: Container[Leaf], size: int, /, *, shuffle: Any = None, drop_last: bool = False
) -> Batches:
    """The rows in Containers of `size` rows each, as a sequence that can be iterated again.

    Args:
        c: a Container as for `rows`.
        size: the number of rows of a batch.
        shuffle: a key: the rows are in the order ``na.random.permutation(key, len(rows))``, the same
            on every backend. ``na.random.fold_in(key, epoch)`` gives another order in each epoch.
        drop_last: leave out the last batch if it has fewer rows.

    Raises:
        ShapeError: an array has no axes, or another length than the first one.
        ArgumentError: `size` is not a positive integer, or `shuffle` is not a key.

    Example:
        >>> import numpy as np, nestarray as na
        >>> data = na.Container(x=np.arange(5), y=np.arange(5) * 10)
        >>> [batch.y.tolist() for batch in data.batches(2)]
        [[0, 10], [20, 30], [40]]
        >>> shuffled = data.batches(2, shuffle=na.random.key(0), drop_last=True)
        >>> len(shuffled), sum(len(batch.x) for batch in shuffled)
        (2, 4)

        A run that stopped after one batch continues with the others:

        >>> [batch.y.tolist() for batch in data.batches(2)[1:]]
        [[20, 30], [40]]
    """
    if isinstance(size, bool) or not isinstance(size, Integral) or size < 1:
        raise ArgumentError(
            f"Container.batches: size: got {size!r}, expected a positive number of rows"
        )
    if not (shuffle is None or is_array(shuffle)):
        raise ArgumentError(
            f"Container.batches: shuffle: got {shuffle!r}, expected a key, such as na.random.key(0)"
        )
    data = Rows(c)
    order = None if shuffle is None else _host(permutation(shuffle, len(data)))
    count = len(data) // size if drop_last else -(-len(data) // size)
    return Batches(data, int(size), order, range(count))


def _common_length(c: Container) -> int:
    """The length of the first axis of all arrays."""
    first: tuple[str, int] | None = None
    for path, leaf in c.flat_items():
        if not _has_rows(leaf):
            continue
        shape = tuple(leaf.shape)
        if not shape or shape[0] is None:
            raise ShapeError(
                f"Container.rows: {path!r} has the shape {shape}, expected a first axis of known length"
            )
        first = first or (path, int(shape[0]))
        if shape[0] != first[1]:
            raise ShapeError(
                f"Container.rows: {first[0]!r} has {first[1]:,} rows and {path!r} {shape[0]:,}, "
                "expected one number; na.LazyStack holds records of different lengths"
            )
    if first is None:
        raise ArgumentError("Container.rows: no leaf is an array, so there are no rows")
    return first[1]


def _has_rows(leaf: Any) -> bool:
    """Whether a leaf is an array, in memory or in a file."""
    return hasattr(leaf, "shape") and not isinstance(leaf, np.generic)


def _part(c: Container, index: Any) -> Container:
    """The rows at `index`, which is in range."""

    def part(leaf: Any) -> Any:
        if not _has_rows(leaf):
            return leaf
        return ops.getitem(leaf, index) if is_array(leaf) and not is_key(leaf) else leaf[index]

    return from_leaves(c.spec, map_leaves(c.spec, part, [c.leaves()]))


def positions(
    index: Any, length: int, name: str = "Container.rows", unit: str = "rows"
) -> np.ndarray:
    """The row numbers of an integer, a list or an array of integers, or a mask, from 0 on.

    Args:
        index: the index in the call.
        length: the number of rows.
        name: the name of the caller, for errors.
        unit: a word for the rows, for errors.

    Raises:
        IndexingError: `index` is something else, or out of range.

    Example:
        >>> import numpy as np
        >>> positions([0, -1], 3).tolist(), positions(np.asarray([True, False, True]), 3).tolist()
        ([0, 2], [0, 2])
    """
    found = _host(index) if is_array(index) else np.asarray(index)
    if found.dtype == bool and found.shape == (length,):
        return np.flatnonzero(found)
    if not found.size:
        found = found.astype(np.int64)
    if found.ndim > 1 or found.dtype.kind not in "iu":
        raise IndexingError(
            f"{name}: got {index!r} as an index, expected an integer, a slice, a list of integers, "
            f"or a mask of {length:,} {unit}"
        )
    outside = found[(found < -length) | (found >= length)]
    if outside.size:
        raise IndexingError(
            f"{name}: got the index {outside.reshape(-1)[0]}, expected one of {length:,} {unit}"
        )
    return np.where(found < 0, found + length, found)


def _host(x: Any) -> np.ndarray:
    return np.asarray(backends.core(backends.backend_of(x)).to_numpy(x))
