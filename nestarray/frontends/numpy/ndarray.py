"""An array with NumPy's methods over an array of a framework.

``np.asarray`` returns it for arrays of JAX, PyTorch and TensorFlow, which lack methods of NumPy
(``x.astype``, ``x.T``) or are constant. Functions of NumPy, operators and ops of `na` return it for
it; functions of a framework take it and return the framework's arrays; `native` is the array
itself. Plain arrays stay plain in all calls.

A write replaces the native array, so gradients flow through it, and an array from which it was made
does not change. A view (a slice, a reshaped array, a transpose) knows the array that owns the
elements, how to read from it and how to write into it; so a write into a view changes its owner and
all other views.

Source: https://numpy.org/doc/stable/reference/arrays.ndarray.html
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

import nestarray as na
from nestarray import backends, dtypes
from nestarray.dispatch import INTERPRETERS, Op
from nestarray.errors import UnsupportedError
from nestarray.frontends.numpy import elements, functions, in_place, ufuncs
from nestarray.frontends.numpy.arrays import as_array, cast, numpy_dtype

#: A view as functions: of the owner's value, and of the owner's value and the new value.
Read = Callable[[Any], Any]
Write = Callable[[Any, Any], Any]


def _method(function: Callable[..., Any]) -> Any:
    def method(self: ndarray, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)

    method.__name__, method.__doc__ = function.__name__, function.__doc__
    return method


class _IsArray(type):
    def __instancecheck__(cls, x: Any) -> bool:
        return issubclass(type(x), _Interpreted) or backends.is_array(x)


class _Interpreted:
    """The type for the dispatcher: `ndarray` takes native arrays for its instances."""


class ndarray(_Interpreted, NDArrayOperatorsMixin, metaclass=_IsArray):  # type: ignore[misc]
    """An array of a framework with NumPy's attributes and methods.

    Arrays of all frameworks are instances, for ``isinstance``.

    Args:
        value: the native array; None for a view.
        base: of a view, the array whose elements it shares.
        index: of a view by an index.
        read, write: of a view.
        is_contiguous: whether a reshaped array shares the elements.

    Example:
        >>> import torch
        >>> from nestarray.frontends import numpy as np
        >>> x = np.asarray(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        >>> x.T[0] *= 10
        >>> x.astype("int32").native
        tensor([[10,  2],
                [30,  4]], dtype=torch.int32)
    """

    __array_priority__ = 1000.0
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        value: Any,
        *,
        base: ndarray | None = None,
        index: Any = None,
        read: Read | None = None,
        write: Write | None = None,
        is_contiguous: bool = True,
    ) -> None:
        self._own, self._base, self._index = value, base, index
        self._read, self._write, self._is_contiguous = read, write, is_contiguous
        self._version, self._seen = 0, -1

    # -- values ------------------------------------------------------------------------------

    @property
    def native(self) -> Any:
        """The array of the framework."""
        if self._base is not None:
            version = self._memory()._version
            if self._seen != version:
                assert self._read is not None
                self._own, self._seen = self._read(self._base.native), version
        return self._own

    def _memory(self) -> ndarray:
        """The array that owns the elements."""
        return self if self._base is None else self._base._memory()

    def _set(self, value: Any) -> None:
        """Make `value`, a native array of this shape and dtype, the current value."""
        if self._base is None:
            self._own = value
            self._version += 1
        else:
            assert self._write is not None
            self._base._set(self._write(self._base.native, value))
            self._own, self._seen = value, self._memory()._version

    def _view(self, read: Read, write: Write, is_contiguous: bool, index: Any = None) -> ndarray:
        return ndarray(
            None, base=self, index=index, read=read, write=write, is_contiguous=is_contiguous
        )

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

    # -- metadata ----------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes."""
        return tuple(na.shape(self.native))

    @shape.setter
    def shape(self, sizes: Any) -> None:
        if self._base is not None:
            raise UnsupportedError("ndarray.shape: a view has the shape of its owner; use reshape")
        self._set(self.reshape(sizes).native)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's dtype."""
        return numpy_dtype(self.native)

    @property
    def itemsize(self) -> int:
        """The number of bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The number of bytes of all elements."""
        return self.size * self.itemsize

    @property
    def device(self) -> str:
        """The name of the device."""
        return backends.core(self.__traced_backend__).device_of(self.native)

    @property
    def base(self) -> ndarray | None:
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

    def __getitem__(self, index: Any) -> ndarray:
        key = natives(index)
        if not _is_basic(key, self.ndim):
            return ndarray(na.getitem(self.native, _positions(key, self.native)))
        is_rows = isinstance(key, int) or (
            isinstance(key, slice) and key.step in (None, 1) and self.ndim > 0
        )
        return self._view(
            lambda x: na.getitem(x, key),
            lambda x, new: na.setitem(x, key, new),
            self._is_contiguous and is_rows,
            key,
        )

    def __setitem__(self, index: Any, value: Any) -> None:
        key = natives(index)
        if issubclass(type(value), ndarray) and value._is_current_view(self, key):
            return  # x[i] += y has written into the view x[i]
        new = as_array(natives(value), self.native, self.dtype)
        self._set(na.setitem(self.native, _positions(key, self.native), new))

    def _assign(self, value: Any) -> None:
        """Write all elements, as `out` of a function."""
        new = as_array(natives(value), self.native, self.dtype)
        self._set(na.broadcast_to(new, self.shape))

    def _is_current_view(self, base: ndarray, index: Any) -> bool:
        """Whether this is the current value of ``base[index]``."""
        is_current = self._base is base and self._seen == base._memory()._version
        return is_current and self._index is not None and repr(self._index) == repr(index)

    # -- views -------------------------------------------------------------------------------

    @property
    def T(self) -> ndarray:
        """The array with its axes reversed, as a view."""
        return self.transpose()

    @property
    def mT(self) -> ndarray:
        """The matrices of the last two axes transposed, as a view."""
        return self.swapaxes(-1, -2)

    @property
    def flat(self) -> ndarray:
        """All elements along one axis, as a view."""
        return self._reshaped((self.size,))

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> ndarray:
        """The elements in another shape; a view if NumPy gives one."""
        sizes = shape[0] if len(shape) == 1 else shape
        sizes = tuple(sizes) if isinstance(sizes, (tuple, list)) else (sizes,)
        if order not in ("C", "A", "K") or copy or not self._is_contiguous:
            return functions.reshape(self, sizes, order=order)
        return self._reshaped(sizes)

    def _reshaped(self, sizes: tuple[Any, ...]) -> ndarray:
        own, new_shape = self.shape, tuple([int(n) for n in sizes])
        read = lambda x: na.reshape(x, new_shape)  # noqa: E731
        read(self.native)  # raises the error for sizes that do not fit
        return self._view(read, lambda x, new: na.reshape(new, own), True)

    def ravel(self, order: str = "C") -> ndarray:
        """All elements along one axis; a view if NumPy gives one."""
        return self.reshape(-1, order=order)

    def transpose(self, *axes: Any) -> ndarray:
        """A view with the axes in another order."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        order = tuple(range(self.ndim))[::-1] if not order else tuple(a % self.ndim for a in order)
        back = tuple(np.argsort(order).tolist())
        return self._view(
            lambda x: na.permute_dims(x, order),
            lambda x, new: na.permute_dims(new, back),
            order == tuple(range(self.ndim)) and self._is_contiguous,
        )

    def swapaxes(self, axis1: int, axis2: int) -> ndarray:
        """A view with two axes interchanged."""
        order = list(range(self.ndim))
        order[axis1], order[axis2] = order[axis2], order[axis1]
        return self.transpose(order)

    def squeeze(self, axis: Any = None) -> ndarray:
        """A view without axes of length 1."""
        view = self._reshaped(np.empty(self.shape, bool).squeeze(axis).shape)
        view._is_contiguous = self._is_contiguous
        return view

    # -- new arrays --------------------------------------------------------------------------

    @property
    def real(self) -> ndarray:
        """The real parts."""
        return functions.real(self)

    @property
    def imag(self) -> ndarray:
        """The imaginary parts."""
        return functions.imag(self)

    def flatten(self, order: str = "C") -> ndarray:
        """All elements along one axis, as a new array."""
        return functions.reshape(ndarray(self.native), (-1,), order=order)

    def astype(
        self,
        dtype: Any,
        order: str = "K",
        casting: Any = "unsafe",
        subok: bool = True,
        copy: bool = True,
    ) -> ndarray:
        """The elements in a dtype."""
        wanted = np.dtype(dtype)
        if not np.can_cast(self.dtype, wanted, casting):
            raise TypeError(
                f"Cannot cast array data from {self.dtype!r} to {wanted!r} according to the rule "
                f"{casting!r}"
            )
        return ndarray(cast(self.native, wanted)) if copy or wanted != self.dtype else self

    def view(self, dtype: Any = None) -> ndarray:
        """The bits as elements of a dtype of the same width; a view without one."""
        if dtype is None:
            return self[...]
        return ndarray(na.bitcast(self.native, dtypes.as_dtype(np.dtype(dtype))))

    def copy(self, order: str = "C") -> ndarray:
        """A new array with the same elements."""
        return ndarray(self.native)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> ndarray:
        return self.copy()

    def __reduce__(self) -> Any:
        return ndarray, (self.native,)

    def compress(self, condition: Any, axis: int | None = None, out: Any = None) -> Any:
        """The slices at which a condition is true."""
        return functions.compress(condition, self, axis, out)

    all = _method(functions.all)
    any = _method(functions.any)
    argmax = _method(functions.argmax)
    argmin = _method(functions.argmin)
    argpartition = _method(functions.argpartition)
    argsort = _method(functions.argsort)
    choose = _method(elements.choose)
    clip = _method(elements.clip)
    conj = conjugate = _method(ufuncs.conjugate)
    cumprod = _method(elements.cumprod)
    cumsum = _method(elements.cumsum)
    diagonal = _method(functions.diagonal)
    dot = _method(functions.dot)
    max = _method(functions.max)
    mean = _method(functions.mean)
    min = _method(functions.min)
    nonzero = _method(functions.nonzero)
    prod = _method(functions.prod)
    put = _method(in_place.put)
    repeat = _method(functions.repeat)
    round = _method(functions.round)
    searchsorted = _method(functions.searchsorted)
    std = _method(functions.std)
    sum = _method(functions.sum)
    take = _method(elements.take)
    trace = _method(functions.trace)
    var = _method(functions.var)

    # -- writes ------------------------------------------------------------------------------

    def fill(self, value: Any) -> None:
        """Write a number into all elements."""
        self[...] = value

    def sort(self, axis: int = -1, kind: Any = None, order: Any = None) -> None:
        """Sort in place."""
        self._set(functions.sort(self.native, axis))

    def partition(self, kth: Any, axis: int = -1, kind: Any = None, order: Any = None) -> None:
        """Partition in place."""
        self._set(functions.partition(self.native, kth, axis))

    def resize(self, *shape: Any, refcheck: bool = True) -> None:
        """Change the shape in place; added elements are 0."""
        sizes = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        flat, size = na.reshape(self.native, (-1,)), math.prod(sizes)
        added = na.zeros((max(size - self.size, 0),), dtype=na.dtype_of(flat), like=flat)
        self._set(na.reshape(na.concat([flat[:size], added], axis=0), tuple(sizes)))


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


def _positions(index: Any, like: Any) -> Any:
    """An index whose lists and NumPy arrays are on the framework of `like`."""
    if isinstance(index, tuple):
        return tuple([_positions(i, like) for i in index])
    return as_array(index, like) if isinstance(index, (list, np.ndarray)) else index


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


INTERPRETERS.append((_Interpreted, _call))
