"""Functions that make arrays of a given size."""

from __future__ import annotations

import math
from typing import Any, NoReturn

from nestarray import dtypes
from nestarray.sizes import IntOrSize, Size, real, rounded
from nestarray.transforms.abstract.interpreter import (
    RULES,
    Results,
    axis_of,
    dtype_of,
    promoted,
    rule,
    sizes_of,
)
from nestarray.transforms.abstract.scope import UndecidedSize
from nestarray.transforms.abstract.values import Abstract


def _created(
    new: Results, shape: Any, dtype: Any, device: Any, like: Any, fill_value: Any = 0.0
) -> Abstract:
    sizes = shape if isinstance(shape, (tuple, list)) else (shape,)
    return new(sizes, dtype_of(fill_value) if dtype is None else dtypes.as_dtype(dtype))


def _created_like(new: Results, x: Any, dtype: Any, device: Any, fill_value: Any = 0.0) -> Abstract:
    return new(sizes_of(x), dtype_of(x) if dtype is None else dtypes.as_dtype(dtype))


for _name in ("zeros", "ones", "empty", "full"):
    RULES[_name], RULES[f"{_name}_like"] = _created, _created_like


@rule
def arange(
    new: Results, start: Any, stop: Any, step: Any, dtype: Any, device: Any, like: Any
) -> Abstract:
    first, end = (0, start) if stop is None else (start, stop)
    numbers = [x for x in (start, stop, step) if x is not None]
    if dtype is None:
        dtype = promoted(*numbers)
    return new([new.scope.larger(_steps(first, end, step), 0)], dtypes.as_dtype(dtype))


def _steps(first: Any, end: Any, step: Any) -> IntOrSize:
    """``ceil((end - first) / step)``."""
    if all(isinstance(x, (int, Size)) for x in (first, end, step)):
        return -((first - end) // step)
    return rounded("math.ceil", real("/", real("-", end, first), step))


@rule
def asarray(new: Results, obj: Any, dtype: Any, **settings: Any) -> Abstract:
    sizes, leaves = _nested(obj)
    return new(sizes, promoted(*leaves) if dtype is None else dtypes.as_dtype(dtype))


def _nested(nest: Any) -> tuple[tuple[IntOrSize, ...], list[Any]]:
    """The sizes and the leaves of nested sequences."""
    if not isinstance(nest, (list, tuple)):
        return sizes_of(nest), [nest]
    items = [_nested(item) for item in nest]
    return (len(nest), *items[0][0]), [leaf for _, leaves in items for leaf in leaves]


@rule
def eye(
    new: Results,
    n_rows: Any,
    n_cols: Any,
    k: Any,
    dtype: Any,
    device: Any,
    like: Any,
    batch_shape: Any = (),
) -> Abstract:
    columns = n_rows if n_cols is None else n_cols
    return new((*batch_shape, n_rows, columns), dtypes.as_dtype(dtype or "float32"))


RULES["tri"] = eye


@rule
def repeat(new: Results, x: Any, repeats: Any, axis: Any, total_repeat_length: Any) -> Abstract:
    sizes = list(sizes_of(x)) if axis is not None else [math.prod(sizes_of(x))]
    axis = axis_of(axis or 0, len(sizes))
    if total_repeat_length is not None:
        sizes[axis] = total_repeat_length
    elif isinstance(repeats, (int, Size)):
        sizes[axis] = sizes[axis] * repeats
    else:
        raise UndecidedSize("repeat: values decide the size of the result")
    return new(sizes, dtype_of(x))


# -- sizes that values decide --------------------------------------------------------------


def _sized_by_values(new: Results, **arguments: Any) -> NoReturn:
    raise UndecidedSize(f"{new.op}: values decide the size of the result")


for _name in (
    "nonzero", "argwhere", "unique_all", "unique_counts", "unique_inverse", "unique_values",
    "bincount", "trim_zeros",
):  # fmt: skip
    RULES[_name] = _sized_by_values
