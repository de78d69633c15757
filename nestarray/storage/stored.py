"""Arrays that remain in their file until they are read.

A Container loaded with ``lazy=True`` is an ordinary Container with `StoredArray` leaves, so
`select`, paths, `partition` and printing work on files, too.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from nestarray import dtypes, tree
from nestarray.display.progress import progress
from nestarray.errors import DtypeError
from nestarray.storage.elements import from_elements, num_bytes
from nestarray.storage.source import Entry, Source, reading


class StoredArray:
    """An array in a file, with known shape and dtype; its elements are read on request.

    It is not an array, so ops and reductions refuse it. `read` returns the array, ``x[…]`` a part
    of it, ``np.asarray(x)`` a NumPy array. It stays readable after the file is replaced or
    removed, except for a Zarr directory. It is pickled as a reference to the file.

    Example:
        >>> import tempfile, numpy as np, nestarray as na
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     na.Container(a={"w": np.ones((2, 3))}, b=np.zeros(4)).save(f"{folder}/c.npz")
        ...     c = na.Container.load(f"{folder}/c.npz", lazy=True)
        ...     c.a.w.shape, c.a.w.dtype, c.a.w[0]
        ((2, 3), nestarray.float64, array([1., 1., 1.]))
    """

    __slots__ = ("_backend", "_declared", "_mapped", "_name", "_source")

    def __init__(
        self,
        source: Source,
        name: str,
        declared: Entry | None,
        backend: str,
        mapped: bool,
    ) -> None:
        self._source, self._name, self._declared = source, name, declared
        self._backend, self._mapped = backend, mapped

    @property
    def _entry(self) -> Entry:
        return self._declared or self._source.entries[self._name]

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        return self._entry.shape

    @property
    def dtype_name(self) -> str:
        """The name of the dtype, such as ``"float8_e5m2"``."""
        return self._entry.dtype

    @property
    def dtype(self) -> Any:
        """A `DType`, or the name of an 8-bit float, which na.dtypes lacks."""
        return dtypes._NAMES.get(self.dtype_name, self.dtype_name)

    @property
    def backend(self) -> str:
        """The framework of the array that `read` gives."""
        return self._backend

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The number of bytes of the array in memory."""
        return num_bytes(*self._entry)

    def read(self) -> Any:
        """The array, of the backend given to `Container.load`."""
        return self._array_of(self.elements())

    def _array_of(self, elements: np.ndarray) -> Any:
        entry = self._entry
        try:
            return from_elements(elements, entry.dtype, self._backend)
        except DtypeError as error:
            error.add_note(f"at the array {self._name!r} of {str(self._source.path)!r}")
            raise

    def elements(self) -> np.ndarray:
        """The elements as stored in files; see `nestarray.storage.elements`."""
        self._source.check([self._name])
        with reading(self._source.path, self._name):
            find = self._source.view if self._mapped else self._source.read
            return self._whole(find(self._name))

    def _whole(self, found: np.ndarray) -> np.ndarray:
        return found.view(np.complex128).reshape(self.shape) if self._in_pairs() else found

    def _in_pairs(self) -> bool:
        """Whether the file stores complex128 as pairs of real numbers."""
        return self._declared is not None and (
            self._declared.dtype == "complex128" != self._source.entries[self._name].dtype
        )

    def __getitem__(self, index: Any) -> Any:
        np.broadcast_to(np.uint8(), self.shape)[index]  # raises NumPy's error for a wrong index
        if self._mapped or self._in_pairs():
            part = np.asarray(self.elements()[index])
        else:
            self._source.check([self._name])
            with reading(self._source.path, self._name):
                part = self._source.part(self._name, index)
        return from_elements(part, self.dtype_name, self._backend)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = from_elements(self.elements(), self.dtype_name, "numpy")
        return array if dtype is None else array.astype(dtype)

    def __deepcopy__(self, memo: dict[int, Any]) -> StoredArray:
        return self  # immutable

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a StoredArray without axes")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"StoredArray({self.dtype_name}{list(self.shape)} in {self._source.path.name})"


def read(nest: Any, /) -> Any:
    """Read every `StoredArray` of a Container or another nest; other leaves are kept.

    A shared array is read once.

    Example:
        >>> import tempfile, numpy as np, nestarray as na
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     na.Container(w=np.ones(2), b=np.zeros(1)).save(f"{folder}/c.npz")
        ...     c = na.Container.load(f"{folder}/c.npz", lazy=True)
        ...     na.storage.read(c.select("b")).b
        array([0.])
    """
    return read_arrays(nest, "read arrays")


def read_arrays(nest: Any, title: str) -> Any:
    """As `read`; `title` names the call while it shows its progress."""
    leaves, structure = tree.flatten(nest)
    places: dict[tuple[Source, bool], dict[int, StoredArray]] = {}
    for leaf in leaves:
        if isinstance(leaf, StoredArray):
            places.setdefault((leaf._source, leaf._mapped), {})[id(leaf)] = leaf
    arrays: dict[int, Any] = {}
    total = cache(lambda: sum(x.nbytes for stored in places.values() for x in stored.values()) or 1)
    count = 0
    with progress(title) as step:
        step("", lambda: count / total())
        for (source, is_mapped), stored in places.items():
            names = [leaf._name for leaf in stored.values()]
            source.check(names)
            found = iter(map(source.view, names) if is_mapped else source.read_all(names))
            for key, leaf in stored.items():
                with reading(source.path, leaf._name):
                    elements = leaf._whole(next(found))
                arrays[key] = leaf._array_of(elements)
                count += elements.nbytes
    return tree.unflatten(structure, [arrays.get(id(leaf), leaf) for leaf in leaves])
