"""Duck arrays that record the calls of NumPy code.

A `RecordedArray` holds the value of `na` behind it: a traced one while a graph is recorded, one that
remembers its derivative while the code is differentiated. NumPy hands
its calls to the protocols ``__array_ufunc__`` and ``__array_function__``; the function of the same
name in `nestarray.frontends.numpy` computes and records them. The array is not a subclass of
``np.ndarray``: C code would then read and write its memory without a call. It only says so to
``isinstance``.

`AbstractArray` in the frontend defines its views, writes and methods.

``x[mask]`` has a size that depends on values. As long as only ufuncs of elements use it (``x[mask] += 1``,
``x[mask] = y[mask] * 2``), they are computed for all elements, and the write is a ``where``. Its sums,
means and extrema are those of all elements with ``where=mask``. So the sizes are known, and compilers take
them. The maximum of no elements, for which NumPy raises an error, is then the least number of the dtype.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from nestarray import dtypes, ops
from nestarray.dispatch import Op, register_interpreter
from nestarray.errors import ConversionError
from nestarray.frontends.numpy import functions, reductions
from nestarray.frontends.numpy.arrays import as_array, cast, numpy_dtype
from nestarray.frontends.numpy.ndarray import AbstractArray
from nestarray.frontends.numpy.ufunc import filled, has_poles
from nestarray.graph import assumptions
from nestarray.graph.node import map_leaves
from nestarray.graph.passes.subexpressions import is_equal
from nestarray.graph.record import native_calls
from nestarray.graph.record.abstract_recorder import AbstractTraced
from nestarray.graph.record.recorder import Traced
from nestarray.importers.numpy.recording import Recording
from nestarray.transforms.abstract import UndecidedSize


class RecordedArray(AbstractArray):
    """An array of NumPy code that is being recorded.

    Args:
        value: the value; None for a view.
        recording: the run of the code.
        selected: (all elements, mask) of the elements that a mask selects.
        view: of a view, see `AbstractArray`.
    """

    def __init__(
        self,
        value: Any,
        recording: Recording,
        *,
        selected: tuple[Any, Any] | None = None,
        **view: Any,
    ) -> None:
        super().__init__(value, **view)
        self._recording, self._selected = recording, selected

    @property
    def __class__(self) -> type:
        return np.ndarray

    # as of a traced array, for loops and other transformations of `na`
    __traced_backend__ = "numpy"

    @property
    def _value(self) -> Any:
        value = self._current()
        return value._value if isinstance(value, AbstractTraced) else self._example()

    # -- values ------------------------------------------------------------------------------

    def _current(self) -> Any:
        """The current value."""
        if self._own is None and self._selected is not None:
            self._own = self._recording.compute(ops.getitem, self._selected, {})
        return super()._current()

    def _set(self, value: Any) -> None:
        """Make `value`, of this shape and dtype, the current value."""
        self._selected = None
        super()._set(value)

    def _made(self, value: Any, **view: Any) -> RecordedArray:
        return RecordedArray(value, self._recording, **view)

    def _compute(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return self._recording.compute(function, args, kwargs)

    def _call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return self._recording.call(function, *_of_all_elements(function, args, kwargs))

    def _example(self) -> Any:
        """The elements for the arguments of the example."""
        value = self._current()
        if isinstance(value, AbstractTraced):
            raise UndecidedSize("the code needs the elements of an array of open size")
        while not isinstance(value, (np.ndarray, np.generic)):
            value = value._value if isinstance(value, Traced) else ops.stop_gradient(value)
        return np.asarray(value)

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
            fills = has_poles(ufunc.__name__, args)
            operands = [self._operand(x, fills) for x in args]
            settings = {k: v for k, v in kwargs.items() if k != "out"}
            values = self._recording.compute(function, operands, settings)
            return RecordedArray(None, self._recording, selected=(values, mask))
        return self._recording.call(function, args, kwargs)

    def _operand(self, x: Any, fills: bool) -> Any:
        """All elements for those that a mask selects."""
        selected = _selection(x)
        if selected is None:
            return x
        return self._recording.compute(filled, selected, {}) if fills else selected[0]

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        name = f"{function.__module__}.{function.__name__}".replace("numpy.", "", 1)
        view = _VIEWS.get(name)
        if view is not None and type(args[0]) is RecordedArray:
            return view(*args, **kwargs)
        return self._call(self._function(function), *args, **kwargs)

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
        value = self._current()
        if isinstance(value, np.ndarray) or (
            isinstance(value, Traced) and value._recorder.is_constant(value)
        ):
            return np.array(self._example(), dtype)
        raise ConversionError(
            f"trace_graph: {self._recording.line()}: code outside of NumPy's protocols reads the "
            f"elements of an array of shape {self.shape}; only functions of NumPy are recorded. "
            "np.array(...) makes an array of a list of arrays"
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
        element = self.flat[args[0]] if len(args) == 1 else self
        return element._value_for("item")

    def tolist(self) -> Any:
        """Nested lists of arrays of one element."""
        return [row.tolist() for row in self] if self.ndim else self.copy()

    def __hash__(self) -> int:  # type: ignore[override]
        if self.ndim:
            raise TypeError("unhashable type: 'numpy.ndarray'")
        return hash(self._value_for("item"))

    def __round__(self, ndigits: int | None = None) -> Any:
        return self.round().astype(int) if ndigits is None else self.round(ndigits)

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
        AbstractArray.shape.fset(self, sizes)  # type: ignore[misc]

    @property
    def ndim(self) -> int:
        """The number of axes."""
        value = self._current()
        return value.ndim if isinstance(value, AbstractTraced) else self._example().ndim

    @property
    def dtype(self) -> Any:
        """The dtype."""
        value = self._current()
        return value.dtype if isinstance(value, AbstractTraced) else self._example().dtype

    @property
    def strides(self) -> tuple[int, ...]:
        """The number of bytes between elements along each axis, as if stored row by row."""
        return tuple([self.itemsize * math.prod(self.shape[i + 1 :]) for i in range(self.ndim)])

    # -- indices -----------------------------------------------------------------------------

    def _positions(self, index: Any) -> Any:
        """An index with one array for a list of arrays."""
        if isinstance(index, tuple):
            return tuple(map(self._positions, index))
        has_arrays = isinstance(index, list) and _may_repeat(index)
        return self._call(as_array, index, self._current()) if has_arrays else index

    def __getitem__(self, index: Any) -> Any:
        index = self._positions(index)
        if _is_mask(index):
            return self._made(None, selected=(self._current(), index._current()))
        return super().__getitem__(index)

    def __setitem__(self, index: Any, value: Any) -> None:
        index = self._positions(index)
        if _is_mask(index):
            mask, selected = index._current(), _selection(value)
            new = value if selected is None else selected[0]
            if np.ndim(value) == 0 or (selected is not None and _is_same(selected[1], mask)):
                new = self._compute(as_array, new, self, self.dtype)
                added = (..., *[None] * (self.ndim - index.ndim))
                mask = self._compute(ops.getitem, mask, added) if len(added) > 1 else mask
                self._set(self._compute(ops.where, mask, new, self._current()))
                return
        if _may_repeat(index):
            value = self._compute(_of_last_writes, self, index, value)
        super().__setitem__(index, value)


def _record(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The handler of `RecordedArray` in `nestarray.dispatch`: NumPy code may call ops of `na`."""
    arrays: list[RecordedArray] = []
    map_leaves(lambda x: arrays.append(x) if type(x) is RecordedArray else None, [*args, kwargs])
    return arrays[0]._recording.call(op.function, args, kwargs)


# before traced arrays: the result of both can change
register_interpreter(RecordedArray, _record, priority=40)


def _is_of_scipy(ufunc: Any) -> bool:
    special = sys.modules.get("scipy.special")
    return special is not None and getattr(special, ufunc.__name__, None) is ufunc


def _is_mask(index: Any) -> bool:
    return type(index) is RecordedArray and index.dtype == np.bool_


def _may_repeat(index: Any) -> bool:
    """Whether an index has several positions that values decide."""
    parts = index if isinstance(index, tuple) else (index,)
    lists = [x for x in parts if isinstance(x, list) or (type(x) is RecordedArray and x.ndim)]
    leaves: list[Any] = []
    map_leaves(leaves.append, lists)
    return any(type(x) is RecordedArray and x.dtype != np.bool_ for x in leaves)


def _of_last_writes(x: Any, index: Any, value: Any) -> Any:
    """Elements to write at positions of which the last one counts, in each of several that are equal.

    Backends write repeated positions in any order, and differentiate each of them.
    """
    sizes, int32 = ops.shape(x), dtypes.int32
    count = math.prod(sizes)
    places = ops.reshape(ops.arange(count, dtype=int32, like=x), sizes)
    places = ops.getitem(places, index)
    shape = ops.shape(places)
    order = ops.reshape(ops.arange(math.prod(shape), dtype=int32, like=x), shape)
    last = ops.setitem(ops.full((count,), -1, dtype=int32, like=x), places, order, mode="max")
    winner = ops.getitem(last, places)
    new = ops.broadcast_to(as_array(value, x, numpy_dtype(x)), shape)
    fixed = ops.stop_gradient(ops.getitem(ops.reshape(new, (-1,)), winner))
    return ops.where(ops.equal(winner, order), new, fixed)


def _selection(x: Any) -> tuple[Any, Any] | None:
    """(all elements, mask) of elements that a mask selects; else None."""
    return x._selected if type(x) is RecordedArray else None


def _common_mask(args: tuple[Any, ...]) -> Any:
    """The mask that selects all operands that are not single elements; None without one."""
    masks = [found[1] for x in args if (found := _selection(x)) is not None]
    others = [x for x in args if _selection(x) is None]
    is_common = masks and all(_is_same(m, masks[0]) for m in masks[1:])
    return masks[0] if is_common and all(np.ndim(x) == 0 for x in others) else None


def _is_same(mask: Any, other: Any) -> bool:
    """Whether two masks are one, also if the code computes it twice: ``x[x > 0] = y[x > 0]``."""
    are_traced = isinstance(mask, Traced) and isinstance(other, Traced)
    return mask is other or (are_traced and is_equal(mask._node, other._node))


#: Reductions that take a mask of the elements to reduce.
_WITH_MASK = (
    functions.mean, functions.std, functions.var, reductions.all, reductions.any,
    reductions.max, reductions.min, reductions.prod, reductions.sum,
)  # fmt: skip
#: Reductions without an identity → the limit of real numbers that takes its place.
_LIMITS = {reductions.max: "min", reductions.min: "max"}


def _of_all_elements(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call; a reduction of selected elements is one of all, with a mask."""
    selected = _selection(args[0]) if args else None
    axis = args[1] if len(args) == 2 else kwargs.get("axis")
    is_plain = len(args) < 3 and {*kwargs} <= {"axis", "dtype", "ddof", "correction"}
    if selected is None or function not in _WITH_MASK or not is_plain or axis not in (None, 0):
        return args, kwargs
    x, mask = selected
    if function in _LIMITS and numpy_dtype(x).kind == "c":
        return args, kwargs
    rank, axes = len(ops.shape(x)), tuple(range(len(ops.shape(mask))))
    mask = ops.expand_dims(mask, tuple(range(len(axes), rank))) if rank > len(axes) else mask
    kwargs = {**kwargs, "axis": None if axis is None else axes, "where": mask}
    if function in _LIMITS:
        kwargs["initial"] = _limit(numpy_dtype(x), _LIMITS[function])
    return (x,), kwargs


def _limit(dtype: np.dtype[Any], name: str) -> Any:
    """The least or the largest number of a real dtype."""
    if dtype.kind == "f":
        return np.inf if name == "max" else -np.inf
    return name == "max" if dtype.kind == "b" else getattr(np.iinfo(dtype), name)


def _bincount(x: RecordedArray, weights: Any = None, minlength: int = 0) -> Any:
    length = np.bincount(x._example(), minlength=minlength).size
    if length > minlength:
        length = int(x.max()) + 1
    return x._recording.call(_counted, (x, weights, length), {})


def _counted(x: Any, weights: Any, length: int) -> Any:
    dtype = np.int64 if weights is None else np.float64
    return cast(ops.bincount(x, weights, length=length), dtype)


def _with_new_axes(axis: Any, rank: int) -> tuple[slice | None, ...]:
    """The index that adds axes."""
    places = axis if isinstance(axis, (tuple, list)) else (axis,)
    count = rank + len(places)
    new = normalize_axis_tuple(places, count)
    return tuple([None if i in new else slice(None) for i in range(count)])


#: Functions of NumPy that return views.
_VIEWS: dict[str, Callable[..., Any]] = {
    "reshape": lambda a, shape, order="C", **kw: a.reshape(shape, order=order),
    "ravel": lambda a, order="C": a.ravel(order),
    "transpose": lambda a, axes=None: a.transpose(*([] if axes is None else [axes])),
    "swapaxes": lambda a, axis1, axis2: a.swapaxes(axis1, axis2),
    "squeeze": lambda a, axis=None: a.squeeze(axis),
    "expand_dims": lambda a, axis: a[_with_new_axes(axis, a.ndim)],
    "bincount": _bincount,
    "copy": lambda a, order="K", subok=False: a.copy(),
    "shape": lambda a: a.shape,
    "size": lambda a, axis=None: a.size if axis is None else a.shape[axis],
    "ndim": lambda a: a.ndim,
    "iscomplexobj": lambda a: a.dtype.kind == "c",
    "array2string": lambda a, **kwargs: np.array2string(a._example(), **kwargs),
}
