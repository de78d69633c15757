"""An array with NumPy's methods over an array of a framework.

``np.asarray`` returns it for arrays of JAX, PyTorch and TensorFlow, which lack methods of NumPy
(``x.astype``, ``x.T``) or are constant. Functions of NumPy, operators and ops of `na` return it for
it; functions of a framework take it and return the framework's arrays; `native` is the array
itself. Plain arrays stay plain in all calls.

A write replaces the native array, so gradients flow through it, and an array from which it was made
does not change. A view (a slice, a reshaped array, a transpose) knows the array that owns the
elements, how to read from it and how to write into it; so a write into a view changes its owner and
all other views. `AbstractArray` defines this for any values, also in recorded NumPy code.

Source: https://numpy.org/doc/stable/reference/arrays.ndarray.html
"""

from __future__ import annotations

import math
import sys
from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

import nestarray as na
from nestarray import backends, dtypes
from nestarray.dispatch import Op, register_interpreter
from nestarray.errors import UnsupportedError
from nestarray.frontends.numpy import elements, functions, in_place, reductions, ufuncs
from nestarray.frontends.numpy.arrays import as_array, cast, numpy_dtype, positions_on

#: A view as functions: of the owner's value, and of the owner's value and the new value.
Read = Callable[[Any], Any]
Write = Callable[[Any, Any], Any]


def _method(function: Callable[..., Any]) -> Any:
    def method(self: AbstractArray, *args: Any, **kwargs: Any) -> Any:
        return self._call(function, self, *args, **kwargs)

    method.__name__, method.__doc__ = function.__name__, function.__doc__
    return method


class AbstractArray(NDArrayOperatorsMixin):
    """NumPy's array over values that are constant: its views, writes and methods.

    Args:
        value: the value; None for a view.
        base: of a view, the array whose elements it shares.
        index: of a view by an index.
        read, write: of a view.
        is_contiguous: whether a reshaped array shares the elements.
    """

    __array_priority__ = 1000.0
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        value: Any,
        *,
        base: Any = None,
        index: Any = None,
        read: Read | None = None,
        write: Write | None = None,
        is_contiguous: bool = True,
    ) -> None:
        self._own, self._base, self._index = value, base, index
        self._read, self._write, self._is_contiguous = read, write, is_contiguous
        self._version, self._seen = 0, -1

    # -- abstract methods --------------------------------------------------------------------

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """NumPy's dtype."""

    @abstractmethod
    def _made(self, value: Any, **view: Any) -> Self:
        """An array of this class."""

    @abstractmethod
    def _compute(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """The value of a function of the values of arrays."""

    @abstractmethod
    def _call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """The result of a function as arrays of this class."""

    # -- values ------------------------------------------------------------------------------

    def _current(self) -> Any:
        """The current value."""
        if self._base is not None:
            version = self._memory()._version
            if self._seen != version:
                assert self._read is not None
                self._own, self._seen = self._read(self._base._current()), version
        return self._own

    def _memory(self) -> Any:
        """The array that owns the elements."""
        return self if self._base is None else self._base._memory()

    def _set(self, value: Any) -> None:
        """Make `value`, of this shape and dtype, the current value."""
        if self._base is None:
            self._own = value
            self._version += 1
        else:
            assert self._write is not None
            self._base._set(self._write(self._base._current(), value))
            self._own, self._seen = value, self._memory()._version

    def _view(self, read: Read, write: Write, is_contiguous: bool, index: Any = None) -> Self:
        return self._made(
            None, base=self, index=index, read=read, write=write, is_contiguous=is_contiguous
        )

    # -- metadata ----------------------------------------------------------------------------

    @shape.setter
    def shape(self, sizes: Any) -> None:
        if self._base is not None:
            raise UnsupportedError("ndarray.shape: a view has the shape of its owner; use reshape")
        self._set(self.reshape(sizes)._current())

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """The number of bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The number of bytes of all elements."""
        return self.size * self.itemsize

    @property
    def base(self) -> Any:
        """The array that owns the elements; None if this one does."""
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
        index = _without_ranges(index)
        if not _is_basic(index, self.ndim):
            return self._call(na.getitem, self, index)
        is_rows = isinstance(index, int) or (
            isinstance(index, slice) and index.step in (None, 1) and self.ndim > 0
        )
        return self._view(
            lambda x: self._compute(na.getitem, x, index),
            lambda x, new: self._compute(na.setitem, x, index, new),
            self._is_contiguous and is_rows,
            index,
        )

    def __setitem__(self, index: Any, value: Any) -> None:
        index = _without_ranges(index)
        if not self._is_current_view(index, value):
            new = self._compute(as_array, value, self._current(), self.dtype)
            self._set(self._compute(na.setitem, self._current(), index, new))

    def _is_current_view(self, index: Any, value: Any) -> bool:
        """Whether `value` is the current ``self[index]``: x[i] += y has written into the view."""
        if type(value) is not type(self) or value._base is not self or value._index is None:
            return False
        return value._seen == self._memory()._version and repr(value._index) == repr(index)

    # -- views -------------------------------------------------------------------------------

    @property
    def T(self) -> Self:
        """The array with its axes reversed, as a view."""
        return self.transpose()

    @property
    def mT(self) -> Self:
        """The matrices of the last two axes transposed, as a view."""
        return self.swapaxes(-1, -2)

    @property
    def flat(self) -> Self:
        """All elements along one axis, as a view."""
        return self._reshaped((-1,))

    @flat.setter
    def flat(self, values: Any) -> None:
        new = self._compute(as_array, values, self._current(), self.dtype)
        self._set(self._compute(functions.resize, new, self.shape))

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> Any:
        """The elements in another shape; a view if NumPy gives one."""
        sizes = shape[0] if len(shape) == 1 else shape
        sizes = sizes if isinstance(sizes, (tuple, list)) else (sizes,)
        if order == "F" or copy or not self._is_contiguous:
            return self._call(functions.reshape, self, sizes, order=order)
        return self._reshaped(tuple([n if isinstance(n, int) else int(n) for n in sizes]))

    def _reshaped(self, sizes: tuple[Any, ...]) -> Self:
        return self._view(
            lambda x: self._compute(na.reshape, x, sizes),
            lambda x, new: self._compute(na.reshape, new, self.shape),
            True,
        )

    def ravel(self, order: str = "C") -> Any:
        """All elements along one axis; a view if NumPy gives one."""
        return self.reshape(-1, order=order)

    def transpose(self, *axes: Any) -> Self:
        """A view with the axes in another order."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        order = tuple(range(self.ndim))[::-1] if not order else tuple(a % self.ndim for a in order)
        back = tuple(np.argsort(order).tolist())
        return self._view(
            lambda x: self._compute(na.permute_dims, x, order),
            lambda x, new: self._compute(na.permute_dims, new, back),
            order == tuple(range(self.ndim)) and self._is_contiguous,
        )

    def swapaxes(self, axis1: int, axis2: int) -> Self:
        """A view with two axes interchanged."""
        order = list(range(self.ndim))
        order[axis1], order[axis2] = order[axis2], order[axis1]
        return self.transpose(order)

    def squeeze(self, axis: Any = None) -> Self:
        """A view without axes of length 1."""
        return self._with_shape(np.empty(self.shape, bool).squeeze(axis).shape)

    def _with_shape(self, sizes: tuple[int, ...]) -> Self:
        """A view in which only axes of length 1 are added or left out."""
        view = self._reshaped(sizes)
        view._is_contiguous = self._is_contiguous
        return view

    # -- new arrays --------------------------------------------------------------------------

    @property
    def real(self) -> Any:
        """The real parts."""
        return self._call(functions.real, self)

    @property
    def imag(self) -> Any:
        """The imaginary parts."""
        return self._call(functions.imag, self)

    def flatten(self, order: str = "C") -> Any:
        """All elements along one axis, as a new array."""
        return self._call(functions.reshape, self.copy(), (-1,), order=order)

    def astype(
        self,
        dtype: Any,
        order: str = "K",
        casting: Any = "unsafe",
        subok: bool = True,
        copy: bool = True,
    ) -> Self:
        """The elements in a dtype."""
        wanted = np.dtype(dtype)
        if not np.can_cast(self.dtype, wanted, casting):
            raise TypeError(
                f"Cannot cast array data from {self.dtype!r} to {wanted!r} according to the rule "
                f"{casting!r}"
            )
        if not copy and wanted == self.dtype:
            return self
        return self._made(self._compute(cast, self, wanted))

    def view(self, dtype: Any = None) -> Any:
        """The bits as elements of a dtype of the same width; a view without one."""
        if dtype is None:
            return self[...]
        return self._call(na.bitcast, self, dtypes.as_dtype(np.dtype(dtype)))

    def copy(self, order: str = "C") -> Self:
        """A new array with the same elements."""
        return self._made(self._current())

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Self:
        return self.copy()

    def conj(self) -> Any:
        """The complex conjugates; an array that is not complex is returned."""
        return self._call(ufuncs.conjugate, self) if self.dtype.kind == "c" else self

    conjugate = conj

    def compress(self, condition: Any, axis: int | None = None, out: Any = None) -> Any:
        """The slices at which a condition is true."""
        return self._call(elements.compress, condition, self, axis, out)

    all = _method(reductions.all)
    any = _method(reductions.any)
    argmax = _method(functions.argmax)
    argmin = _method(functions.argmin)
    argpartition = _method(functions.argpartition)
    argsort = _method(functions.argsort)
    choose = _method(elements.choose)
    clip = _method(elements.clip)
    cumprod = _method(reductions.cumprod)
    cumsum = _method(reductions.cumsum)
    diagonal = _method(functions.diagonal)
    dot = _method(functions.dot)
    max = _method(reductions.max)
    mean = _method(functions.mean)
    min = _method(reductions.min)
    nonzero = _method(elements.nonzero)
    prod = _method(reductions.prod)
    put = _method(in_place.put)
    repeat = _method(functions.repeat)
    round = _method(functions.round)
    searchsorted = _method(functions.searchsorted)
    std = _method(functions.std)
    sum = _method(reductions.sum)
    take = _method(elements.take)
    trace = _method(functions.trace)
    var = _method(functions.var)

    # -- writes ------------------------------------------------------------------------------

    def fill(self, value: Any) -> None:
        """Write a number into all elements."""
        self[...] = value

    def sort(
        self,
        axis: int = -1,
        kind: Any = None,
        order: Any = None,
        *,
        stable: bool | None = None,
        descending: bool | None = None,
    ) -> None:
        """Sort in place."""
        settings = {} if descending is None else {"descending": descending}
        self._set(self._compute(functions.sort, self, axis, **settings))

    def partition(self, kth: Any, axis: int = -1, kind: Any = None, order: Any = None) -> None:
        """Partition in place."""
        self._set(self._compute(functions.partition, self, kth, axis))

    def resize(self, *shape: Any, refcheck: bool = True) -> None:
        """Change the shape in place; added elements are 0."""
        sizes = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        self._set(self._compute(_resized, self, tuple(sizes)))


class _IsArray(type):
    def __instancecheck__(cls, x: Any) -> bool:
        return issubclass(type(x), _Interpreted) or backends.is_array(x)


class _Interpreted:
    """The type for the dispatcher: `ndarray` takes native arrays for its instances."""


class ndarray(_Interpreted, AbstractArray, metaclass=_IsArray):  # type: ignore[misc]
    """An array of a framework with NumPy's attributes and methods.

    Arrays of all frameworks are instances, for ``isinstance``.

    Example:
        >>> import torch
        >>> from nestarray.frontends import numpy as np
        >>> x = np.asarray(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        >>> x.T[0] *= 10
        >>> x.astype("int32").native
        tensor([[10,  2],
                [30,  4]], dtype=torch.int32)
    """

    @property
    def native(self) -> Any:
        """The array of the framework."""
        return self._current()

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes."""
        return tuple(na.shape(self.native))

    @shape.setter
    def shape(self, sizes: Any) -> None:
        AbstractArray.shape.fset(self, sizes)  # type: ignore[misc]

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's dtype."""
        return numpy_dtype(self.native)

    @property
    def device(self) -> str:
        """The name of the device."""
        return backends.core(self.__traced_backend__).device_of(self.native)

    def to_device(self, device: Any, /, *, stream: Any = None) -> ndarray:
        """The array on another device of its framework."""
        return ndarray(na.to_device(self.native, device, stream=stream))

    def _made(self, value: Any, **view: Any) -> ndarray:
        return ndarray(value, **view)

    def _compute(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return function(*natives(args), **natives(kwargs))

    def _call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    def _view(self, read: Read, write: Write, is_contiguous: bool, index: Any = None) -> ndarray:
        view = super()._view(read, write, is_contiguous, natives(index))
        view._current()  # raises the error for an index or a shape that does not fit
        return view

    def __getitem__(self, index: Any) -> ndarray:
        return super().__getitem__(positions_on(natives(index), self.native))

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(positions_on(natives(index), self.native), value)

    def _assign(self, value: Any) -> None:
        """Write all elements, as `out` of a function."""
        new = as_array(natives(value), self.native, self.dtype)
        self._set(na.broadcast_to(new, self.shape))

    def _host(self) -> np.ndarray:
        return backends.core(self.__traced_backend__).to_numpy(self.native)

    # -- protocols ---------------------------------------------------------------------------

    @property
    def __traced_backend__(self) -> str:
        return backends.backend_of(self.native)

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        function = getattr(ufuncs, ufunc.__name__, None) or getattr(functions, ufunc.__name__)
        return (function if method == "__call__" else getattr(function, method))(*args, **kwargs)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*natives(args), **natives(kwargs or {}))

    def __jax_array__(self) -> Any:
        return self.native

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        return self.native if dtype is None else cast(self.native, dtypes.as_dtype(dtype))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._host(), dtype, copy=copy)

    def __array_namespace__(self, *, api_version: Any = None) -> Any:
        """`nestarray.frontends.numpy`, the namespace of the Array API standard for this array."""
        np.empty(0).__array_namespace__(api_version=api_version)  # raises for unknown versions
        return sys.modules["nestarray.frontends.numpy"]

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule of the native array."""
        return na.Container(self.native).__dlpack__(
            stream=stream, max_version=max_version, dl_device=dl_device, copy=copy
        )

    def __dlpack_device__(self) -> tuple[Any, int]:
        return na.Container(self.native).__dlpack_device__()

    def __reduce__(self) -> Any:
        return ndarray, (self.native,)

    def __bool__(self) -> bool:
        return bool(self._host())

    def __int__(self) -> int:
        return int(self._host())

    def __index__(self) -> int:
        return self._host().__index__()

    def __float__(self) -> float:
        return float(self._host())

    def __complex__(self) -> complex:
        return complex(self._host())

    def __repr__(self) -> str:
        return f"ndarray({self.native!r})"

    def __format__(self, spec: str) -> str:
        return format(self._host()[()], spec) if spec else str(self._host())

    def item(self, *args: Any) -> Any:
        """An element as a Python number."""
        return self._host().item(*args)

    def tolist(self) -> Any:
        """The elements as nested lists."""
        return self._host().tolist()

    def tobytes(self, order: Any = "C") -> bytes:
        """The bytes of the elements."""
        return self._host().tobytes(order)


def wrapped(x: Any) -> Any:
    """Values with `ndarray` for the arrays of frameworks other than NumPy."""
    if isinstance(x, (tuple, list)):
        items = [wrapped(item) for item in x]
        return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    return ndarray(x) if backends.backend_of_type(type(x)) not in (None, "numpy") else x


def natives(x: Any) -> Any:
    """Values with native arrays instead of `ndarray`."""
    if isinstance(x, (tuple, list)):
        items = [natives(item) for item in x]
        return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    if isinstance(x, dict):
        return {k: natives(v) for k, v in x.items()}
    return x.native if issubclass(type(x), ndarray) else x


def _without_ranges(index: Any) -> Any:
    """An index with lists for ranges."""
    if isinstance(index, tuple):
        return tuple(map(_without_ranges, index))
    return list(index) if isinstance(index, range) else index


def _resized(x: Any, sizes: tuple[int, ...]) -> Any:
    flat, size = na.reshape(x, (-1,)), math.prod(sizes)
    own = math.prod(na.shape(x))
    added = na.zeros((max(size - own, 0),), dtype=na.dtype_of(flat), like=flat)
    return na.reshape(na.concat([flat[:size], added], axis=0), sizes)


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


def _call(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The handler in `nestarray.dispatch`."""
    return wrapped(op.function(*natives(args), **natives(kwargs)))


register_interpreter(_Interpreted, _call, priority=50)
