"""Arrays that NumPy code takes for NumPy's, and that record what the code does with them.

A `RecordedArray` holds the value of `na` behind it: a traced one while a graph is recorded, one that
remembers its derivative while the code is differentiated. NumPy hands
its calls to the protocols ``__array_ufunc__`` and ``__array_function__``; the function of the same
name in `nestarray.frontends.numpy` computes and records them. The array is not a subclass of
``np.ndarray``: C code would then read and write its memory without a call. It only says so to
``isinstance``.

A write replaces the traced value of the array that owns the memory. A view knows its owner, how to
read from it and how to write into it; so a write into a view changes its owner and all other views.

``x[mask]`` has a size that depends on values. As long as only ufuncs of elements use it (``x[mask] += 1``,
``x[mask] = y[mask] * 2``), they are computed for all elements, and the write is a ``where``.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from nestarray import ops
from nestarray.dispatch import INTERPRETERS, Op
from nestarray.errors import ConversionError
from nestarray.frontends import numpy as frontend
from nestarray.frontends.numpy.arrays import cast
from nestarray.graph import assumptions
from nestarray.graph.node import map_leaves
from nestarray.graph.record import native_calls
from nestarray.graph.record.recorder import Traced
from nestarray.importers.numpy.recording import Recording

#: A view as functions: of the owner's value, and of the owner's value and the new value.
Read = Callable[[Any], Any]
Write = Callable[[Any, Any], Any]


class RecordedArray(NDArrayOperatorsMixin):
    """An array of NumPy code that is being recorded.

    Args:
        value: the value; None for a view.
        recording: the run of the code.
        base: of a view, the array whose memory it shares.
        index: of a view by an index.
        read, write: of a view.
        is_contiguous: whether a reshaped array shares the memory.
        selected: (all elements, mask) of the elements that a mask selects.
    """

    __array_priority__ = 1000.0

    def __init__(
        self,
        value: Any,
        recording: Recording,
        *,
        base: RecordedArray | None = None,
        index: Any = None,
        read: Read | None = None,
        write: Write | None = None,
        is_contiguous: bool = True,
        selected: tuple[Any, Any] | None = None,
    ) -> None:
        self._own, self._recording, self._base = value, recording, base
        self._index, self._read, self._write = index, read, write
        self._is_contiguous, self._selected = is_contiguous, selected
        self._version, self._seen = 0, -1

    @property
    def __class__(self) -> type:
        return np.ndarray

    # as of a traced array, for loops and other transformations of `na`
    __traced_backend__ = "numpy"

    @property
    def _value(self) -> np.ndarray:
        return self._example()

    # -- values ------------------------------------------------------------------------------

    def _memory(self) -> RecordedArray:
        """The array that owns the memory."""
        return self if self._base is None else self._base._memory()

    def _current(self) -> Any:
        """The current value."""
        if self._base is not None:
            version = self._memory()._version
            if self._seen != version:
                assert self._read is not None
                self._own, self._seen = self._read(self._base._current()), version
        if self._own is None and self._selected is not None:
            self._own = self._recording.compute(ops.getitem, self._selected, {})
        return self._own

    def _set(self, value: Any) -> None:
        """Make `value`, of this shape and dtype, the current value."""
        if self._base is None:
            self._own, self._selected = value, None
            self._version += 1
        else:
            assert self._write is not None
            self._base._set(self._write(self._base._current(), value))
            self._own, self._seen = value, self._memory()._version

    def _example(self) -> Any:
        """The elements for the arguments of the example."""
        found = self._current()
        while not isinstance(found, (np.ndarray, np.generic)):
            found = found._value if isinstance(found, Traced) else ops.stop_gradient(found)
        return np.asarray(found)

    def _view(
        self, read: Read, write: Write, is_contiguous: bool, index: Any = None
    ) -> RecordedArray:
        return RecordedArray(
            None,
            self._recording,
            base=self,
            index=index,
            read=read,
            write=write,
            is_contiguous=is_contiguous,
        )

    def _value_for(self, use: str) -> Any:
        """The value, for Python code that depends on it; see `Assumption`."""
        value = self._current()
        if isinstance(value, Traced):
            return value._recorder.read(value, use)
        return assumptions.read(use, value)

    # -- protocols ---------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        function = self._function(ufunc)
        if method != "__call__":
            function = getattr(function, method)
        elif ufunc.nout == 1 and (mask := _common_mask(args)) is not None:
            given = [x if (found := _selection(x)) is None else found[0] for x in args]
            settings = {k: v for k, v in kwargs.items() if k != "out"}
            found = self._recording.compute(function, given, settings)
            return RecordedArray(None, self._recording, selected=(found, mask))
        return self._recording.call(function, args, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        name = f"{function.__module__}.{function.__name__}".replace("numpy.", "", 1)
        view = _VIEWS.get(name)
        if view is not None and type(args[0]) is RecordedArray:
            return view(*args, **kwargs)
        return self._recording.call(self._function(function), args, kwargs)

    def _function(self, function: Any) -> Callable[..., Any]:
        found = native_calls.numpy_function(function)
        if found is None and _is_of_scipy(function):
            return self._recording.scipy(f"scipy.special.{function.__name__}")
        if found is None:
            module = getattr(function, "__module__", "numpy")
            raise ConversionError(
                f"trace_graph: {self._recording.line()}: {module}.{function.__name__} is not available; "
                "docs/numpy_coverage.md lists the functions"
            )
        return found

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise ConversionError(
            f"trace_graph: {self._recording.line()}: code outside of NumPy's protocols reads the "
            f"elements of an array of shape {self.shape}; only functions of NumPy are recorded"
        )

    def __bool__(self) -> bool:
        return self._value_for("bool")

    def __int__(self) -> int:
        return self._value_for("int")

    def __index__(self) -> int:
        return self._value_for("index")

    def __float__(self) -> float:
        return self._value_for("float")

    def __complex__(self) -> complex:
        return self._value_for("complex")

    def item(self, *args: Any) -> Any:
        """An element as a Python number."""
        if len(args) > 1:
            return self[args].item()
        found = self.flat[args[0]] if len(args) == 1 else self
        return found._value_for("item")

    def tolist(self) -> Any:
        """The elements as nested lists."""
        return self._value_for("tolist")

    def __repr__(self) -> str:
        return repr(self._example())

    def __format__(self, spec: str) -> str:
        return format(self._example()[()], spec)

    # -- metadata ----------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes; those that values decide become an assumption."""
        value = self._current()
        return value.shape if isinstance(value, Traced) else self._example().shape

    @shape.setter
    def shape(self, sizes: Any) -> None:
        reshaped = self.reshape(sizes)
        if self._base is None:
            self._set(reshaped._current())
        else:
            raise ConversionError("trace_graph: the shape of a view is set; use reshape")

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._example().ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def dtype(self) -> Any:
        """The dtype."""
        return self._example().dtype

    @property
    def itemsize(self) -> int:
        """The number of bytes of an element."""
        return self._example().itemsize

    @property
    def nbytes(self) -> int:
        """The number of bytes of all elements."""
        return self._example().nbytes

    @property
    def base(self) -> Any:
        """The array that owns the memory; None if this one does."""
        return None if self._base is None else self._memory()

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self))])

    def __contains__(self, item: Any) -> bool:
        return bool((self == item).any())

    # -- indices -----------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Any:
        call = self._recording.call
        if _is_mask(index):
            return RecordedArray(
                None, self._recording, selected=(self._current(), index._current())
            )
        if not _is_basic(index, self.ndim):
            return call(ops.getitem, (self, index), {})
        read = lambda x: self._recording.compute(ops.getitem, (x, index), {})  # noqa: E731
        write = lambda x, new: self._recording.compute(ops.setitem, (x, index, new), {})  # noqa: E731
        is_rows = isinstance(index, int) or (
            isinstance(index, slice) and index.step in (None, 1) and self.ndim > 0
        )
        return self._view(read, write, self._is_contiguous and is_rows, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        if type(value) is RecordedArray and value._is_element_of(self, index):
            return  # x[i] += y has written into the view x[i]
        compute = self._recording.compute
        if _is_mask(index):
            mask, selected = index._current(), _selection(value)
            new = value if selected is None else selected[0]
            if np.ndim(value) == 0 or (selected is not None and selected[1] is mask):
                new = compute(frontend.asarray, (new,), {"dtype": self.dtype, "like": self})
                added = (..., *[None] * (self.ndim - index.ndim))
                mask = compute(ops.getitem, (mask, added), {}) if len(added) > 1 else mask
                self._set(compute(ops.where, (mask, new, self._current()), {}))
                return
        new = compute(frontend.asarray, (value,), {"dtype": self.dtype})
        self._set(compute(ops.setitem, (self._current(), index, new), {}))

    def _is_element_of(self, base: RecordedArray, index: Any) -> bool:
        """Whether this is the current value of ``base[index]``."""
        is_current = self._base is base and self._seen == base._memory()._version
        return is_current and self._index is not None and repr(self._index) == repr(index)

    # -- methods -----------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        function = None if name.startswith("_") else native_calls.method("numpy", name)
        if function is None:
            raise AttributeError(f"an array of recorded NumPy code has no attribute {name!r}")
        return lambda *args, **kwargs: self._recording.call(function, (self, *args), kwargs)

    @property
    def T(self) -> RecordedArray:
        """The array with its axes reversed."""
        return self.transpose()

    @property
    def mT(self) -> RecordedArray:
        """The matrices of the last two axes transposed."""
        return self.swapaxes(-1, -2)

    @property
    def real(self) -> Any:
        """The real part."""
        return self._recording.call(frontend.real, (self,), {})

    @property
    def imag(self) -> Any:
        """The imaginary part."""
        return self._recording.call(frontend.imag, (self,), {})

    @property
    def flat(self) -> RecordedArray:
        """All elements along one axis, as a view."""
        return self._reshaped((-1,))

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> RecordedArray:
        """The elements in another shape; a view if NumPy gives one."""
        sizes = shape[0] if len(shape) == 1 else shape
        sizes = sizes if isinstance(sizes, (tuple, list)) else (sizes,)
        if order != "C" or copy or not self._is_contiguous:
            return self._recording.call(frontend.reshape, (self, sizes), {"order": order})
        return self._reshaped(tuple(int(n) for n in sizes))

    def _reshaped(self, sizes: tuple[int, ...]) -> RecordedArray:
        compute = self._recording.compute
        return self._view(
            lambda x: compute(ops.reshape, (x, sizes), {}),
            lambda x, new: compute(ops.reshape, (new, self.shape), {}),
            True,
        )

    def ravel(self, order: str = "C") -> RecordedArray:
        """All elements along one axis; a view if NumPy gives one."""
        return self.reshape(-1, order=order)

    def flatten(self, order: str = "C") -> RecordedArray:
        """All elements along one axis, as a new array."""
        return self._recording.call(frontend.reshape, (self, (-1,)), {"order": order})

    def transpose(self, *axes: Any) -> RecordedArray:
        """A view with the axes in another order."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        order = tuple(range(self.ndim))[::-1] if not order else tuple(a % self.ndim for a in order)
        back, compute = tuple(np.argsort(order).tolist()), self._recording.compute
        return self._view(
            lambda x: compute(ops.permute_dims, (x, order), {}),
            lambda x, new: compute(ops.permute_dims, (new, back), {}),
            order == tuple(range(self.ndim)) and self._is_contiguous,
        )

    def swapaxes(self, axis1: int, axis2: int) -> RecordedArray:
        """A view with two axes interchanged."""
        order = list(range(self.ndim))
        order[axis1], order[axis2] = order[axis2], order[axis1]
        return self.transpose(order)

    def squeeze(self, axis: Any = None) -> RecordedArray:
        """A view without axes of length 1."""
        return self._with_shape(np.squeeze(self._example(), axis).shape)

    def _with_shape(self, sizes: tuple[int, ...]) -> RecordedArray:
        """A view in which only axes of length 1 are added or left out."""
        view = self._reshaped(sizes)
        view._is_contiguous = self._is_contiguous
        return view

    def astype(self, dtype: Any, order: str = "K", casting: str = "unsafe", **kwargs: Any) -> Any:
        """A copy in a dtype."""
        return self._recording.call(frontend.astype, (self, dtype), {})

    def copy(self, order: str = "C") -> RecordedArray:
        """A new array with the same elements."""
        return RecordedArray(self._current(), self._recording)

    def fill(self, value: Any) -> None:
        """Write a number into all elements."""
        self[...] = value

    def sort(self, axis: int = -1, kind: Any = None, order: Any = None) -> None:
        """Sort in place."""
        self._set(self._recording.compute(frontend.sort, (self._current(), axis), {}))

    def conj(self) -> Any:
        """The complex conjugate."""
        return self._recording.call(frontend.conjugate, (self,), {})

    conjugate = conj

    def put(self, indices: Any, values: Any, mode: str = "raise") -> None:
        """Write values at positions of the flattened array."""
        self._recording.call(frontend.put, (self, indices, values, mode), {})

    def dot(self, b: Any, out: Any = None) -> Any:
        """The matrix product."""
        return self._recording.call(frontend.dot, (self, b), {"out": out})


def _record(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The handler of `RecordedArray` in `nestarray.dispatch`: NumPy code may call ops of `na`."""
    found: list[RecordedArray] = []
    map_leaves(lambda x: found.append(x) if type(x) is RecordedArray else None, [*args, kwargs])
    return found[0]._recording.call(op.function, args, kwargs)


# before traced arrays: the result of both can change
INTERPRETERS.insert([t for t, _ in INTERPRETERS].index(Traced), (RecordedArray, _record))


def _is_of_scipy(ufunc: Any) -> bool:
    special = sys.modules.get("scipy.special")
    return special is not None and getattr(special, ufunc.__name__, None) is ufunc


def _is_mask(index: Any) -> bool:
    return type(index) is RecordedArray and index.dtype == np.bool_


def _selection(x: Any) -> tuple[Any, Any] | None:
    """(all elements, mask) of elements that a mask selects; else None."""
    return x._selected if type(x) is RecordedArray else None


def _common_mask(args: tuple[Any, ...]) -> Any:
    """The mask that selects all operands that are not single elements; None without one."""
    masks = [found[1] for x in args if (found := _selection(x)) is not None]
    others = [x for x in args if _selection(x) is None]
    is_common = masks and all(m is masks[0] for m in masks) and all(np.ndim(x) == 0 for x in others)
    return masks[0] if is_common else None


def _bincount(x: RecordedArray, weights: Any = None, minlength: int = 0) -> Any:
    length = np.bincount(x._example(), minlength=minlength).size
    if length > minlength:
        length = int(x.max()) + 1
    return x._recording.call(_counted, (x, weights, length), {})


def _counted(x: Any, weights: Any, length: int) -> Any:
    dtype = np.int64 if weights is None else np.float64
    return cast(ops.bincount(x, weights, length=length), dtype)


def _is_basic(index: Any, rank: int) -> bool:
    """Whether NumPy returns a view: slices, integers, and not an element."""
    items = index if isinstance(index, tuple) else (index,)
    basic = all(
        item is None or item is Ellipsis or isinstance(item, slice) or _is_integer(item)
        for item in items
    )
    is_element = sum(map(_is_integer, items)) == rank == len(items)
    return basic and not is_element


def _is_integer(item: Any) -> bool:
    return isinstance(item, (int, np.integer)) and not isinstance(item, bool)


#: Functions of NumPy that return views.
_VIEWS: dict[str, Callable[..., Any]] = {
    "reshape": lambda a, shape, order="C", **kw: a.reshape(shape, order=order),
    "ravel": lambda a, order="C": a.ravel(order),
    "transpose": lambda a, axes=None: a.transpose(*([] if axes is None else [axes])),
    "swapaxes": lambda a, axis1, axis2: a.swapaxes(axis1, axis2),
    "squeeze": lambda a, axis=None: a.squeeze(axis),
    "expand_dims": lambda a, axis: a._with_shape(np.expand_dims(a._example(), axis).shape),
    "bincount": _bincount,
    "copy": lambda a, order="K", subok=False: a.copy(),
    "shape": lambda a: a.shape,
    "size": lambda a, axis=None: np.size(a._example(), axis),
    "ndim": lambda a: a.ndim,
    "iscomplexobj": lambda a: np.iscomplexobj(a._example()),
    "array2string": lambda a, **kwargs: np.array2string(a._example(), **kwargs),
}
