"""The class of universal functions: NumPy's loops choose the dtypes, `na` computes.

Upstream: https://numpy.org/doc/stable/reference/ufuncs.html. ``np.add.resolve_dtypes`` tells the
dtypes in which NumPy computes; arguments are cast to them. `na` differentiates them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

import nestarray as na
from nestarray.errors import ArgumentError, DtypeError, IndexingError, ShapeError
from nestarray.frontends.jax.numpy import functional
from nestarray.frontends.jax.promotion import axes_of, normal_axis
from nestarray.frontends.numpy.arrays import (
    as_array,
    available,
    cast,
    check_positions,
    first_array,
    is_number,
    numpy_dtype,
    positions_on,
    write,
)
from nestarray.frontends.numpy.checks import check_negative_powers
from nestarray.typing import Array

#: The package with the functions of this class, where pickle finds them by name.
_PACKAGE = "nestarray.frontends.numpy"

Dtypes = tuple[np.dtype[Any], ...]


@cache
def _loop(name: str, operands: tuple[Any, ...], dtype: Any, casting: Any) -> Dtypes:
    """The dtypes of NumPy's loop for these arguments and results (None for new ones)."""
    upstream = getattr(np, name)
    wanted = (
        {} if dtype is None else {"signature": (*[None] * upstream.nin, *[dtype] * upstream.nout)}
    )
    return _resolved(name, operands, casting=casting, **wanted)


@cache
def _reduction_loop(name: str, source: Any, dtype: Any, out: Any) -> np.dtype[Any]:
    """The dtype of the elements and results of NumPy's reduction."""
    wanted = {} if dtype is None else {"signature": (dtype, None, None)}
    loop = _resolved(name, (out, source, None), casting="unsafe", reduction=True, **wanted)
    if len({*loop}) > 1:
        raise DtypeError(f"{name}: got elements of {source}, whose results have another dtype")
    return loop[0]


def _resolved(name: str, operands: tuple[Any, ...], **settings: Any) -> Dtypes:
    try:
        return getattr(np, name).resolve_dtypes(operands, **settings)
    except TypeError as error:
        raise DtypeError(f"{name}: {error}") from None


@cache
def _is_reorderable(name: str) -> bool:
    """Whether NumPy reduces along several axes."""
    upstream = getattr(np, name)
    try:
        upstream.reduce(np.ones((1, 1), upstream.types[0][0]), axis=(0, 1))
    except ValueError:
        return False
    return True


def _operand(x: Any) -> Any:
    """The dtype of an operand, or the type of a weak Python number."""
    if is_number(x) and not isinstance(x, bool):
        return x.__class__
    return np.dtype(bool) if isinstance(x, bool) else numpy_dtype(x)


#: Functions with finite results and derivatives for all finite numbers.
_WITHOUT_POLES = frozenset(
    ["absolute", "add", "ceil", "conjugate", "cos", "equal", "fabs", "floor", "greater",
     "greater_equal", "less", "less_equal", "logical_and", "logical_not", "logical_or", "maximum",
     "minimum", "multiply", "negative", "not_equal", "positive", "rint", "sign", "sin", "square",
     "subtract", "tanh", "trunc"]
)  # fmt: skip


def has_poles(name: str, inputs: Sequence[Any]) -> bool:
    """Whether a function may be infinite or NaN, or have such derivatives."""
    if name == "power" and type(inputs[1]) is int:
        return inputs[1] < 0
    return name not in _WITHOUT_POLES


def filled(x: Array, mask: Array) -> Array:
    """`x` with the first selected element in place of those that a mask leaves out.

    A function computes them without need; at a pole, their derivative 0 · ∞ would be NaN.
    """
    sizes, rank = na.shape(x), len(na.shape(mask))
    if not math.prod(sizes):
        return x
    place = na.argmax(na.astype(na.reshape(mask, (-1,)), na.int32))
    rows = na.reshape(x, (math.prod(sizes[:rank]), *sizes[rank:]))
    first = na.stop_gradient(na.take(rows, place, axis=0))
    mask = na.expand_dims(mask, tuple(range(rank, len(sizes)))) if len(sizes) > rank else mask
    return na.where(mask, x, first)


class ufunc(functional.ufunc):
    """A universal function of NumPy on arrays of any framework.

    Args:
        name: in NumPy.
        function: of arrays of the loop's dtypes.

    Example:
        >>> import torch
        >>> from nestarray.frontends import numpy as np
        >>> np.add(torch.tensor([1, 2], dtype=torch.int32), torch.tensor([0.5, 0.5])).dtype
        torch.float64
        >>> int(np.multiply.reduce([2, 3, 4]))
        24
    """

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        upstream = getattr(np, name)
        self.__name__, self.__qualname__, self.__module__ = name, name, _PACKAGE
        self.__doc__ = function.__doc__
        self.nin, self.nout, self.nargs = upstream.nin, upstream.nout, upstream.nargs
        self.identity, self.types, self.ntypes = upstream.identity, upstream.types, upstream.ntypes
        self.signature, self.resolve_dtypes = upstream.signature, upstream.resolve_dtypes
        self._function = function

    def __repr__(self) -> str:
        return f"<ufunc {self.__name__!r}>"

    def __reduce__(self) -> str:
        return self.__name__

    def __call__(
        self,
        *args: Any,
        out: Any = None,
        where: Any = True,
        dtype: Any = None,
        casting: str = "same_kind",
        order: str = "K",
        subok: bool = True,
    ) -> Any:
        if not self.nin <= len(args) <= self.nargs:
            raise ArgumentError(f"{self.__name__}: got {len(args)} arguments, expected {self.nin}")
        if len(args) > self.nin:
            out = args[self.nin :]
        inputs, outs = args[: self.nin], out if isinstance(out, tuple) else (out,) * self.nout
        like = first_array((*inputs, *outs))
        are_weak = not all(map(is_number, inputs))
        inputs = [x if is_number(x) and are_weak else as_array(x, like) for x in inputs]
        if where is not True and has_poles(self.__name__, inputs):
            inputs = self._selected(inputs, where, like)
        if self.__name__ in _COMPARISONS:
            inputs = _comparable(inputs)
        dtype = None if dtype is None else np.dtype(dtype)
        operands = [*map(_operand, inputs), *[None if x is None else numpy_dtype(x) for x in outs]]
        loop = _loop(self.__name__, tuple(operands), dtype, casting)
        if self.__name__ == "power" and loop[0].kind in "iu":
            check_negative_powers(inputs[1])
        takes_numbers = like is not None and hasattr(self._function, "op") and len(set(loop)) == 1
        results = self._function(
            *[self._in_loop(x, t, like, takes_numbers) for x, t in zip(inputs, loop)]
        )
        several = results if self.nout > 1 else (results,)
        several = [cast(x, t) for x, t in zip(several, loop[self.nin :])]
        several = [self._placed(x, o, where, casting) for x, o in zip(several, outs)]
        return tuple(several) if self.nout > 1 else several[0]

    @staticmethod
    def _selected(inputs: list[Any], where: Any, like: Array | None) -> list[Any]:
        """The operands, `filled` where a mask is false."""
        mask = as_array(where, like)
        sizes = np.broadcast_shapes(*[na.shape(x) for x in inputs if not is_number(x)], mask.shape)
        mask = na.broadcast_to(mask, sizes)
        return [x if is_number(x) else filled(na.broadcast_to(x, sizes), mask) for x in inputs]

    @staticmethod
    def _in_loop(x: Any, dtype: np.dtype[Any], like: Array | None, takes_numbers: bool) -> Any:
        if is_number(x):
            if type(x) is x.__class__:  # no open size
                x = np.asarray(x, dtype).item()  # raises NumPy's OverflowError
            if takes_numbers:
                return x
            return na.full((), x, dtype=available(dtype, like), like=like)
        return cast(x, dtype)

    @staticmethod
    def _placed(result: Array, out: Any, where: Any, casting: str) -> Array:
        if out is not None:
            return write(out, result, where if where is True else as_array(where, result), casting)
        if where is True:
            return result
        return na.where(as_array(where, result), result, na.zeros_like(result))

    def outer(self, A: Any, B: Any, /, **kwargs: Any) -> Any:
        """The function of all pairs of elements."""
        like = first_array((A, B))
        A, B = as_array(A, like), as_array(B, like)
        return self(na.reshape(A, na.shape(A) + (1,) * len(na.shape(B))), B, **kwargs)

    def _reducible(self, array: Any, dtype: Any, out: Any) -> Array:
        """The elements in the dtype in which NumPy reduces: small integers are summed as int64."""
        if self.nin != 2 or self.nout != 1:
            raise ArgumentError(
                f"{self.__name__}: got {self.nin} operands, expected a function of 2"
            )
        a = as_array(array, first_array((array, out)))
        dtype = None if dtype is None else np.dtype(dtype)
        found = None if out is None else numpy_dtype(out)
        return cast(a, _reduction_loop(self.__name__, numpy_dtype(a), dtype, found))

    def reduce(
        self,
        array: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = np._NoValue,  # type: ignore[attr-defined]
        where: Any = True,
    ) -> Any:
        """The elements along axes, combined from first to last."""
        a = self._reducible(array, dtype, out)
        rank = len(na.shape(a))
        if isinstance(axis, list):
            raise ArgumentError(f"{self.__name__}.reduce: axis: got {axis}, expected a tuple")
        axes = () if not rank and axis in (0, -1) else axes_of(axis, rank)
        if len(axes) > 1 and not _is_reorderable(self.__name__):
            raise ArgumentError(f"{self.__name__}.reduce: axis: got {axis}, expected one axis")
        is_empty = any(na.shape(a)[i] == 0 for i in axes)
        if initial is np._NoValue:  # type: ignore[attr-defined]
            has_native = self.__name__ in _REDUCTIONS and not is_empty and where is True
            initial = None if has_native else self._identity(a)
        else:
            initial = na.asarray(np.asarray(initial, numpy_dtype(a)), like=a)
        if initial is None and (is_empty or where is not True):
            reason = "got no elements" if is_empty else "where: got a mask"
            raise ShapeError(f"{self.__name__}.reduce: {reason}, expected initial too")
        mask = None if where is True else na.broadcast_to(as_array(where, a), na.shape(a))
        found = self._reduced(a, axes, initial, mask)
        found = na.expand_dims(found, axes) if keepdims else found
        return found if out is None else write(out, found, casting="unsafe")

    def _identity(self, like: Array) -> Any:
        """The identity as an array of the dtype; None without one."""
        if self.identity is None:
            return None
        return na.asarray(np.asarray(self.identity).astype(numpy_dtype(like)), like=like)

    def _reduced(self, a: Array, axes: tuple[int, ...], initial: Any, mask: Any) -> Array:
        if any(na.shape(a)[i] == 0 for i in axes):
            sizes = [n for i, n in enumerate(na.shape(a)) if i not in axes]
            return na.broadcast_to(initial, sizes)
        native = _REDUCTIONS.get(self.__name__)
        if native is None or (na.dtype_of(a).kind == "complex" and native in (na.max, na.min)):
            return self._folded(a, axes, initial, mask)
        if mask is not None:
            a = na.where(mask, a, initial if self.identity is None else self._identity(a))
        kept = {"dtype": na.dtype_of(a)} if self.__name__ in ("add", "multiply") else {}
        found = native(a, axis=axes, **kept)
        return found if initial is None else self(initial, found)

    def _folded(self, a: Array, axes: tuple[int, ...], found: Any, mask: Any) -> Array:
        """The reduction of any function, element by element."""
        shape = na.shape(a)
        kept = [i for i in range(len(shape)) if i not in axes]
        sizes = [shape[i] for i in kept]

        def rows(x: Array) -> list[Array]:
            x = na.permute_dims(x, (*axes, *kept))
            return list(na.unstack(na.reshape(x, (math.prod(shape[i] for i in axes), *sizes))))

        items = rows(a)
        masks = [None] * len(items) if mask is None else rows(mask)
        found = None if found is None else na.broadcast_to(found, sizes)
        for item, chosen in zip(items, masks, strict=True):
            new = item if found is None else self(found, item)
            found = new if chosen is None else na.where(chosen, new, found)
        return found

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """The results of `reduce` for each number of elements along an axis."""
        a = self._reducible(array, dtype, out)
        if not na.shape(a):
            raise ArgumentError(f"{self.__name__}.accumulate: got a number, expected an axis")
        axis = normal_axis(axis, len(na.shape(a)))
        native = _ACCUMULATIONS.get(self.__name__)
        if native is not None:
            found = native(a, axis=axis, dtype=na.dtype_of(a))
        else:
            found = super().accumulate(a, axis) if na.shape(a)[axis] else a
        return found if out is None else write(out, found, casting="unsafe")

    def reduceat(
        self, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None
    ) -> Any:
        """The slices between positions, reduced without an identity."""
        a = self._reducible(array, dtype, out)
        axis = normal_axis(axis, len(na.shape(a)))
        size, starts = na.shape(a)[axis], [int(i) for i in indices]
        outside = [i for i in starts if not 0 <= i < size]
        if outside:
            raise IndexingError(
                f"{self.__name__}.reduceat: indices: got {outside[0]}, expected 0 <= index < {size}"
            )
        lead = (slice(None),) * axis
        parts = [
            na.getitem(a, (*lead, slice(start, max(stop, start + 1))))
            for start, stop in zip(starts, [*starts[1:], size], strict=False)
        ]
        if not parts:
            return na.getitem(a, (*lead, slice(0, 0)))
        found = na.stack([self._reduced(x, (axis,), None, None) for x in parts], axis=axis)
        return found if out is None else write(out, found, casting="unsafe")

    def at(self, a: Array, indices: Any, b: Any = None, /) -> None:
        """Apply the function to elements of `a` at positions, in place; repeated ones count."""
        shape, dtype = na.shape(a), numpy_dtype(a)
        if not math.prod(shape):  # PyTorch does not check indices without elements
            check_positions(f"{self.__name__}.at", indices, shape[0])
        places = na.reshape(na.arange(math.prod(shape), like=a), shape)
        places = na.getitem(places, positions_on(indices, a))
        values = []
        if self.nin > 1:
            b = as_array(b, a)
            values = [na.broadcast_to(b, na.shape(places))]
        loop = _loop(self.__name__, (dtype, *map(numpy_dtype, values), None), None, "same_kind")
        mode = _MODES.get(self.__name__)
        if mode is not None and loop[0] == dtype and dtype.kind not in "bc":
            new = na.reshape(cast(values[0], dtype), (-1,))
            new = na.negative(new) if self.__name__ == "subtract" else new
            found = na.setitem(na.reshape(a, (-1,)), na.reshape(places, (-1,)), new, mode=mode)
        else:
            found = na.reshape(a, (-1,))
            rows = [na.unstack(na.reshape(x, (-1,))) for x in (places, *values)]
            for place, *value in zip(*rows, strict=True):
                new = self(na.getitem(found, place), *value)
                found = na.setitem(found, place, cast(new, dtype))
        write(a, na.reshape(found, shape))


_REDUCTIONS: dict[str, Callable[..., Any]] = {
    "add": na.sum,
    "multiply": na.prod,
    "maximum": na.max,
    "minimum": na.min,
    "logical_and": na.all,
    "logical_or": na.any,
}
_ACCUMULATIONS: dict[str, Callable[..., Any]] = {
    "add": na.cumulative_sum,
    "multiply": na.cumulative_prod,
}
_MODES = {
    "add": "add",
    "subtract": "add",
    "multiply": "mul",
    "maximum": "max",
    "minimum": "min",
}


_COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")


def _comparable(inputs: list[Any]) -> list[Any]:
    """Operands of a comparison: integers beyond the limits of the other's dtype become arrays."""
    for i, (x, other) in enumerate(zip(inputs, inputs[::-1], strict=True)):
        if type(x) is int and not is_number(other) and numpy_dtype(other).kind in "iu":
            limits = np.iinfo(numpy_dtype(other))
            if not limits.min <= x <= limits.max:
                inputs[i] = as_array(x, other)
    return inputs
