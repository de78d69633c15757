"""Elementwise primitives, reductions, and functions that keep the shape."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from nestarray import dtypes
from nestarray.dispatch import OPS
from nestarray.dtypes import DType
from nestarray.sizes import IntOrSize
from nestarray.transforms.abstract.interpreter import (
    RULES,
    Results,
    axes_of,
    dtype_of,
    promoted,
    rule,
    sizes_of,
)
from nestarray.transforms.abstract.values import Abstract


def broadcast(new: Results, *shapes: tuple[IntOrSize, ...]) -> tuple[IntOrSize, ...]:
    """The shape of arrays that are broadcast together."""
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    return tuple([_common(new, sizes) for sizes in zip(*padded, strict=True)])


def _common(new: Results, sizes: tuple[IntOrSize, ...]) -> IntOrSize:
    result, *others = sizes
    for size in others:
        if isinstance(size, int) and size == 1:
            continue
        if isinstance(result, int) and result == 1:
            result = size
        elif result != size:
            result = _joined(new, result, size)
    return result


def _joined(new: Results, a: IntOrSize, b: IntOrSize) -> IntOrSize:
    if new.scope.decide(a, "==", b):
        return b if isinstance(b, int) else a
    if new.scope.decide(a, "==", 1):
        return b
    new.scope.require(new.op, b, "==", 1)
    return a


def real_of(dtype: DType) -> DType:
    """The dtype of the parts of a complex number; others unchanged."""
    pairs = {dtypes.complex64: dtypes.float32, dtypes.complex128: dtypes.float64}
    return pairs.get(dtype, dtype)


def floating(*operands: Any) -> DType:
    """The common dtype, float32 for integers."""
    dtype = promoted(*operands)
    return dtype if dtype.is_inexact else dtypes.float32


def _of_parts(x: Any) -> DType:
    return real_of(dtype_of(x))


def _of_first(x: Any, *others: Any) -> DType:
    return dtype_of(x)


def _boolean(*operands: Any) -> DType:
    return dtypes.bool


def _elementwise(dtype: Callable[..., DType], new: Results, **operands: Any) -> Abstract:
    arrays = list(operands.values())
    return new(broadcast(new, *map(sizes_of, arrays)), dtype(*arrays))


#: Primitives by the dtype of their results.
_ELEMENTWISE: dict[Callable[..., DType], str] = {
    promoted: "negative positive square sign add subtract multiply floor_divide remainder fmod pow "
    "maximum minimum ceil floor trunc nextafter conj bitwise_and bitwise_or bitwise_xor "
    "bitwise_invert gcd",
    floating: "reciprocal divide copysign exp expm1 exp2 log log1p log2 log10 logaddexp sqrt sin cos "
    "tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh hypot",
    _of_parts: "abs real imag",
    _boolean: "equal not_equal less less_equal greater greater_equal logical_and logical_or "
    "logical_xor logical_not isfinite isinf isnan signbit",
    _of_first: "bitwise_left_shift bitwise_right_shift",
}
for _dtype, _names in _ELEMENTWISE.items():
    RULES.update(dict.fromkeys(_names.split(), partial(_elementwise, _dtype)))


@rule
def complex_(new: Results, **parts: Any) -> Abstract:
    dtype = promoted(*parts.values())
    wide = dtypes.complex128 if dtype is dtypes.float64 else dtypes.complex64
    return new(broadcast(new, *map(sizes_of, parts.values())), wide)


@rule
def where(new: Results, condition: Any, x1: Any, x2: Any) -> Abstract:
    return new(broadcast(new, *map(sizes_of, (condition, x1, x2))), promoted(x1, x2))


# -- reductions ----------------------------------------------------------------------------


def reduced(x: Any, axis: Any, keepdims: bool) -> list[IntOrSize]:
    """The shape without some axes, or with 1 in their place."""
    sizes = sizes_of(x)
    axes = axes_of(axis, len(sizes))
    if keepdims:
        return [1 if i in axes else n for i, n in enumerate(sizes)]
    return [n for i, n in enumerate(sizes) if i not in axes]


def _summed(x: Any) -> DType:
    """The dtype of a sum: at least 64 bits for integers."""
    dtype = dtype_of(x)
    if dtype.is_inexact:
        return dtype
    return dtypes.uint64 if dtype.kind == "uint" else dtypes.int64


def _accumulation(new: Results, x: Any, axis: Any, dtype: Any, keepdims: bool) -> Abstract:
    return new(reduced(x, axis, keepdims), _summed(x) if dtype is None else dtypes.as_dtype(dtype))


def _reduction(
    dtype: Callable[[Any], DType], new: Results, x: Any, axis: Any, keepdims: bool
) -> Abstract:
    return new(reduced(x, axis, keepdims), dtype(x))


def _index(x: Any) -> DType:
    return dtypes.int64


RULES.update(sum=_accumulation, prod=_accumulation, mean=partial(_reduction, floating))
RULES.update(dict.fromkeys(("max", "min"), partial(_reduction, dtype_of)))
RULES.update(dict.fromkeys(("all", "any"), partial(_reduction, _boolean)))
RULES.update(dict.fromkeys(("argmax", "argmin"), partial(_reduction, _index)))


# -- the same shape ------------------------------------------------------------------------


def _same_shape(new: Results, x: Any, **settings: Any) -> Abstract:
    return new(sizes_of(x), dtype_of(x))


for _name in ("stop_gradient", "flip", "roll", "sort"):
    RULES[_name] = _same_shape


@rule
def argsort(new: Results, x: Any, **settings: Any) -> Abstract:
    return new(sizes_of(x), dtypes.int64)


@rule
def astype(new: Results, x: Any, dtype: Any, **settings: Any) -> Abstract:
    return new(sizes_of(x), dtypes.as_dtype(dtype))


@rule
def bitcast(new: Results, x: Any, dtype: Any) -> Abstract:
    result, sizes, before = dtypes.as_dtype(dtype), list(sizes_of(x)), dtype_of(x).bits
    if sizes:
        sizes[-1] = sizes[-1] * before // result.bits
    return new(sizes, result)


@rule
def searchsorted(new: Results, x1: Any, x2: Any, **settings: Any) -> Abstract:
    return new(sizes_of(x2), dtypes.int64)


@rule
def round_(new: Results, x: Any, decimals: int) -> Abstract:
    return new(sizes_of(x), dtype_of(x))


for _name in ("lgamma", "digamma"):
    RULES[_name] = partial(_elementwise, floating)


def _cumulative(new: Results, x: Any, axis: Any, dtype: Any, include_initial: bool) -> Abstract:
    sizes = list(sizes_of(x)) if axis is not None else [math.prod(sizes_of(x))]
    axis = axes_of(axis or 0, len(sizes))[0]
    sizes[axis] = sizes[axis] + int(include_initial)
    return new(sizes, _summed(x) if dtype is None else dtypes.as_dtype(dtype))


RULES.update(cumulative_sum=_cumulative, cumulative_prod=_cumulative)

_unknown = set(RULES) - OPS.keys()
assert not _unknown, _unknown
