"""Functions of functions, and ufuncs.

Upstream: https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ufunc.html
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import nestarray as na
from nestarray.errors import ArgumentError
from nestarray.frontends.jax.in_place import refuse_in_place
from nestarray.frontends.jax.promotion import as_array, axes_of, cast, normal_axis
from nestarray.typing import Array

__all__ = ["apply_along_axis", "apply_over_axes", "frompyfunc", "ufunc", "vectorize"]


def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: Array, *args: Any, **kwargs: Any
) -> Array:
    """A function of each vector along an axis; its result takes the place of the axis."""
    arr = as_array(arr)
    rank = len(na.shape(arr))
    axis = normal_axis(axis, rank)
    moved = na.moveaxis(arr, axis, -1)
    function = lambda x: func1d(x, *args, **kwargs)  # noqa: E731
    for _ in range(rank - 1):
        function = na.vmap(function)
    found = function(moved)
    count = len(na.shape(found)) - (rank - 1)
    sources = tuple(range(rank - 1, rank - 1 + count))
    return na.moveaxis(found, sources, tuple(range(axis, axis + count)))


def apply_over_axes(func: Callable[..., Array], a: Array, axes: Any) -> Array:
    """A reduction ``func(a, axis)`` over one axis after the other, all of which are kept."""
    for axis in axes if hasattr(axes, "__iter__") else [axes]:
        found = func(a, axis)
        if len(na.shape(found)) != len(na.shape(a)):
            found = na.expand_dims(found, axis)
        a = found
    return a


_SIGNATURE = re.compile(r"^(\([\w,]*\))(,\([\w,]*\))*->(\([\w,]*\))(,\([\w,]*\))*$")


def vectorize(
    pyfunc: Callable[..., Any],
    *,
    excluded: Any = frozenset(),
    signature: str | None = None,
) -> Callable[..., Any]:
    """A function of broadcast arrays, from one of single elements, or of the core axes of `signature`."""
    cores = None if signature is None else _cores(signature)

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        left = [i for i in range(len(args)) if i not in excluded and args[i] is not None]
        arrays = [as_array(args[i]) for i in left]
        ranks = [0] * len(arrays) if cores is None else [len(cores[i]) for i in left]
        leads = [na.shape(x)[: len(na.shape(x)) - r] for x, r in zip(arrays, ranks)]
        shape = na.broadcast_shapes(*leads) if leads else ()

        def call(*values: Any) -> Any:
            inputs = list(args)
            for i, value in zip(left, values):
                inputs[i] = value
            return pyfunc(*inputs, **kwargs)

        function = call
        for _ in shape:
            function = na.vmap(function)
        spread = [
            na.broadcast_to(x, (*shape, *na.shape(x)[len(na.shape(x)) - r :]))
            for x, r in zip(arrays, ranks)
        ]
        return function(*spread)

    wrapped.__name__ = getattr(pyfunc, "__name__", "vectorized")
    wrapped.__doc__ = getattr(pyfunc, "__doc__", None)
    return wrapped


def _cores(signature: str) -> list[tuple[str, ...]]:
    """The core axes of each argument, ``"(m,n),(n)->(m)"``."""
    text = signature.replace(" ", "")
    if not _SIGNATURE.match(text):
        raise ArgumentError(f"vectorize: signature: got {signature!r}, expected '(n),(n)->()'")
    inputs = text.partition("->")[0]
    return [tuple(filter(None, x.split(","))) for x in re.findall(r"\(([\w,]*)\)", inputs)]


class ufunc:
    """A function of single elements, with reductions.

    Args:
        func: of `nin` elements.
        nin, nout: numbers of arguments and results.
        identity: the neutral value of reductions.
    """

    def __init__(
        self, func: Callable[..., Any], nin: int, nout: int, *, identity: Any = None
    ) -> None:
        self.nin, self.nout, self.nargs, self.identity = nin, nout, nin + nout, identity
        self.__name__ = getattr(func, "__name__", "ufunc")
        self._call = vectorize(func)

    def __call__(self, *args: Any) -> Any:
        if len(args) != self.nin:
            raise ArgumentError(f"{self.__name__}: got {len(args)} arguments, expected {self.nin}")
        return self._call(*args)

    def outer(self, A: Array, B: Array, /) -> Any:
        """The function of all pairs of elements."""
        A, B = as_array(A), as_array(B)
        rank = len(na.shape(B))
        return self(na.reshape(A, na.shape(A) + (1,) * rank), B)

    def reduce(
        self,
        a: Array,
        axis: Any = 0,
        dtype: Any = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Array | None = None,
    ) -> Array:
        """The elements along an axis, combined from first to last."""
        refuse_in_place("reduce", out)
        a = cast(a, dtype)
        initial = self.identity if initial is None else initial
        if where is not None:
            if initial is None:
                raise ArgumentError(f"{self.__name__}.reduce: where: expected initial too")
            a = na.where(where, a, na.full_like(a, initial))
        shape = na.shape(a)
        axes = axes_of(axis, len(shape))
        kept = [i for i in range(len(shape)) if i not in axes]
        rows = na.permute_dims(a, (*axes, *kept))
        rows = na.reshape(rows, (math.prod(shape[i] for i in axes), *[shape[i] for i in kept]))
        items = list(na.unstack(rows))
        if initial is not None:
            sizes = [shape[i] for i in kept]
            items.insert(0, na.full(sizes, initial, dtype=na.dtype_of(a), like=a))
        if not items:
            raise ArgumentError(f"{self.__name__}.reduce: got no elements, expected initial too")
        found = items[0]
        for item in items[1:]:
            found = self(found, item)
        return na.expand_dims(found, axes) if keepdims else found

    def accumulate(self, a: Array, axis: int = 0, dtype: Any = None, out: None = None) -> Array:
        """The results of `reduce` for each number of elements along an axis."""
        refuse_in_place("accumulate", out)
        found: list[Array] = []
        for item in na.unstack(cast(a, dtype), axis=axis):
            found.append(self(found[-1], item) if found else item)
        return na.stack(found, axis=axis)

    def reduceat(
        self, a: Array, indices: Sequence[int], axis: int = 0, dtype: Any = None, out: None = None
    ) -> Array:
        """`reduce` of the slices between positions."""
        refuse_in_place("reduceat", out)
        starts = [int(i) for i in indices]
        length = na.shape(a)[axis]
        lead = (slice(None),) * normal_axis(axis, len(na.shape(a)))
        found = []
        for start, stop in zip(starts, [*starts[1:], length]):
            part = na.getitem(a, (*lead, slice(start, max(stop, start + 1))))
            found.append(self.reduce(part, axis, dtype))
        return na.stack(found, axis=axis)

    def at(self, a: Array, indices: Any, b: Any = None, *, inplace: bool = True) -> Array:
        """`a` with the function applied to elements at positions; `inplace` must be False."""
        if inplace:
            raise ArgumentError(f"{self.__name__}.at: inplace: got True, expected False")
        if self.nin == 1:
            return na.setitem(a, indices, self(na.getitem(a, indices)))
        places = na.reshape(as_array(indices), (-1,))
        values = na.broadcast_to(as_array(b), na.shape(places) + na.shape(a)[1:])
        for place, value in zip(na.unstack(places), na.unstack(values)):
            a = na.setitem(a, place, self(na.getitem(a, place), value))
        return a


def frompyfunc(func: Callable[..., Any], /, nin: int, nout: int, *, identity: Any = None) -> ufunc:
    """A `ufunc` of a function of single elements."""
    return ufunc(func, nin, nout, identity=identity)
