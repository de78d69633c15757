"""Hypothesis strategies for arguments of NumPy's functions: arrays, shapes, axes and whole calls.

A call is ``(args, kwargs)``. Strategies draw the bytes of an array at once and map them to small
numbers, which is fast, shrinks to zeros, and makes sums and products exact in every order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

Call = tuple[tuple[Any, ...], dict[str, Any]]
Calls = st.SearchStrategy[Call]

BOOL, INTEGERS = (
    ("bool",),
    ("int64", "int32", "int8", "uint8", "int16", "uint16", "uint32", "uint64"),
)
FLOATS, COMPLEX = ("float64", "float32", "float16"), ("complex128", "complex64")
REAL = (*FLOATS, *INTEGERS, *BOOL)
NUMERIC = (*REAL, *COMPLEX)
INEXACT = (*FLOATS, *COMPLEX)
WIDE = ("float64", "float32", "complex128", "complex64")
ALL_INTEGERS = (*INTEGERS, *BOOL)

#: The numbers of bytes 0 … 255, by the kind of dtype.
_HALVES = np.asarray([0, 1, 2, -1, 3, 0.5, -2, 1.5, 4, -0.5, -3, 2.5, -1.5, -4, 3.5, -2.5])
_COUNTS = {
    "i": np.asarray([0, 1, 2, -1, 3, -2, 4, -3, 5, -4, -5]),
    "u": np.arange(6),
    "b": np.arange(2),
}
_EXTREMES = np.asarray([np.nan, np.inf, -np.inf, -0.0, 10.25, -100.0, 0.125, np.nan])


def _numbers(codes: np.ndarray, dtype: np.dtype[Any], is_extreme: bool) -> np.ndarray:
    if dtype.kind == "c":
        parts = _numbers(codes, np.dtype(np.float64), is_extreme).reshape(2, -1)
        return (parts[0] + 1j * np.where(np.isfinite(parts[0]), parts[1], 0)).astype(dtype)
    values = _HALVES if dtype.kind == "f" else _COUNTS[dtype.kind]
    found = values[codes % len(values)].astype(dtype)
    if is_extreme and dtype.kind == "f":
        return np.where(codes >= 224, _EXTREMES[codes % 8], found).astype(dtype)
    if is_extreme and dtype.kind in "iu":
        limits = np.asarray([np.iinfo(dtype).max, np.iinfo(dtype).min], dtype)
        return np.where(codes >= 240, limits[codes % 2], found)
    return found


def shapes(min_dims: int = 0, max_dims: int = 3, min_side: int = 0, max_side: int = 3) -> Any:
    """Shapes, by their limits."""
    sides = st.integers(min_side, max_side)
    return st.lists(sides, min_size=min_dims, max_size=max_dims).map(tuple)


@st.composite
def arrays(
    draw: Any, dtypes: Any = NUMERIC, shape: Any = None, *, extreme: bool = False, **sides: int
) -> np.ndarray:
    """An array.

    Args:
        dtypes: the names of its dtypes.
        shape: a shape or a strategy; else limits for `shapes` are keywords.
        extreme: whether NaN, infinities and the limits of integers occur.
    """
    sizes = shapes(**sides) if shape is None else shape
    sizes = draw(sizes) if isinstance(sizes, st.SearchStrategy) else sizes
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    count = int(np.prod(sizes)) * (2 if dtype.kind == "c" else 1)
    codes = np.frombuffer(draw(st.binary(min_size=count, max_size=count)), np.uint8).astype(int)
    return _numbers(codes, dtype, extreme).reshape(sizes)


@st.composite
def broadcastable(
    draw: Any, count: int = 2, dtypes: Any = NUMERIC, numbers: bool = True, **limits: Any
) -> tuple[Any, ...]:
    """Arrays that broadcast together, but for one in sixteen; some are Python numbers."""
    extreme = limits.pop("extreme", False)
    shape = draw(shapes(**limits))
    found = []
    for _ in range(count):
        code = draw(st.integers(0, 15))
        if code == 15:
            found.append(draw(arrays(dtypes, extreme=extreme)))
        elif code == 14 and numbers:
            found.append(draw(arrays(("float64", "int64"), ())).item())
        else:
            own = tuple([n if code & 4 or i % 2 == code & 1 else 1 for i, n in enumerate(shape)])
            found.append(
                draw(arrays(dtypes, own[code & 3 :] if code & 8 else own, extreme=extreme))
            )
    return tuple(found)


@st.composite
def same_shape(
    draw: Any, count: int = 2, dtypes: Any = NUMERIC, **limits: Any
) -> tuple[np.ndarray, ...]:
    """Arrays of one shape."""
    shape = draw(shapes(**limits))
    return tuple([draw(arrays(dtypes, shape)) for _ in range(count)])


@st.composite
def joinable(draw: Any, **limits: Any) -> list[np.ndarray]:
    """Up to three arrays whose shapes differ along one axis at most."""
    shape, axis = draw(shapes(**limits)), draw(st.integers(0, 2))
    sizes = [
        tuple([draw(st.integers(0, 3)) if i == axis else n for i, n in enumerate(shape)])
        for _ in range(draw(st.integers(1, 3)))
    ]
    return [draw(arrays(shape=s)) for s in sizes]


@st.composite
def matrices(
    draw: Any, dtypes: Any = WIDE, batch: int = 1, square: bool = False, tall: bool = False
) -> np.ndarray:
    """Matrices of full rank, well conditioned, with up to `batch` axes before."""
    rows = draw(st.integers(1, 3))
    columns = rows if square else draw(st.integers(1, 3))
    rows = max(rows, columns) if tall else rows
    x = draw(arrays(dtypes, (*draw(shapes(max_dims=batch, max_side=2)), rows, columns)))
    return (x + 20 * np.eye(rows, columns) * np.arange(1, columns + 1)).astype(x.dtype)


AXIS = st.sampled_from([0, -1, 1, 2, -3])
AXES = st.sampled_from([None, 0, -1, 1, (0, 1), (0, -1), (), 2, (0, 0)])
SMALL = st.integers(-4, 4)
FLAG = st.booleans()
DTYPE = st.sampled_from(["float64", "float32", "int64", "int8", "complex128", "bool", "uint8"])


def call(*args: Any, **kwargs: Any) -> Calls:
    """Calls with these arguments; each keyword may be left out."""
    return st.tuples(st.tuples(*args), st.fixed_dictionaries({}, optional=kwargs))


def spread(args: Any, **kwargs: Any) -> Calls:
    """`call` with a strategy of all arguments."""
    return st.tuples(args.map(tuple), st.fixed_dictionaries({}, optional=kwargs))


def after(first: Any, rest: Callable[..., Calls]) -> Calls:
    """Calls whose other arguments depend on the first: `rest` of it gives a call without it."""
    return first.flatmap(lambda x: rest(x).map(lambda found: ((x, *found[0]), found[1])))


@st.composite
def with_out(draw: Any, function: Any, calls: Calls) -> Call:
    """Calls, one in four with an ``out`` of the result's shape and of any dtype."""
    args, kwargs = draw(calls)
    if draw(st.integers(0, 3)) == 3:
        try:
            with np.errstate(all="ignore"):
                found = function(*args, **kwargs)
        except (TypeError, ValueError, IndexError, OverflowError):
            return args, kwargs
        dtype = found.dtype if draw(st.booleans()) else draw(st.sampled_from(NUMERIC))
        return args, {**kwargs, "out": np.zeros(np.shape(found), dtype)}
    return args, kwargs


def array_shapes_for(size: int) -> Any:
    """Shapes for an array of `size` elements, some with −1."""
    found = [(size,), -1, (-1, 1), (1, size), (size, 1, 1), (2, -1), (size + 1,), ()]
    return st.sampled_from(found)


def basic_index(shape: tuple[int, ...]) -> Any:
    """Basic indices of an array, and some out of bounds."""
    return hnp.basic_indices(shape, allow_newaxis=True) if shape else st.just(...)
