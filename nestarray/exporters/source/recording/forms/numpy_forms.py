"""NumPy: `nestarray.exporters.source.recording.forms`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray import dtypes
from nestarray.backends.base import supports, whole_range
from nestarray.backends.numpy.core import native_dtype
from nestarray.dtypes import dtype_of
from nestarray.exporters.source.recording.forms import layers

abs = np.abs
square = np.square


def _is_floating(x: Any) -> bool:
    return dtype_of(x).is_floating


relu = supports(_is_floating)(lambda x: np.maximum(x, 0))
sqrt = supports(_is_floating)(lambda x: np.sqrt(x))
exp = supports(_is_floating)(lambda x: np.exp(x))
log = supports(_is_floating)(lambda x: np.log(x))
tanh = supports(_is_floating)(lambda x: np.tanh(x))
expm1 = supports(lambda x: dtype_of(x).is_inexact)(lambda x: np.expm1(x))


@supports(lambda real, imag: dtype_of(real) == dtype_of(imag) and _is_floating(real))
def complex(real: Any, imag: Any) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.imag.html"""
    return real + 1j * imag


@supports(lambda x, *, dtype=None, **_: dtype is None and _is_floating(x))
def sum(x: Any, *, axis: Any = None, keepdims: bool = False, **_: Any) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.sum.html"""
    return np.sum(x, axis=axis, keepdims=keepdims)


def _reduction(function: Any) -> Any:
    return lambda x, *, axis=None, keepdims=False: function(x, axis=axis, keepdims=keepdims)


max, min, all, any = map(_reduction, (np.max, np.min, np.all, np.any))


def getitem(x: Any, index: Any) -> Any:
    """https://numpy.org/doc/stable/user/basics.indexing.html"""
    return x[index]


@supports(layers.has_indices)
def embedding(indices: Any, weight: Any) -> Any:
    """https://numpy.org/doc/stable/user/basics.indexing.html"""
    return weight[indices]


@supports(layers.is_aligned)
def gather(x: Any, indices: Any, *, axis: int) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.take_along_axis.html"""
    return np.take_along_axis(x, indices, axis)


@supports(whole_range)
def arange(start: Any, stop: Any = None, step: int = 1, *, dtype: Any = None, **_: Any) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.arange.html"""
    first, end = (0, start) if stop is None else (start, stop)
    return np.arange(first, end, step, dtype=native_dtype(dtypes.int64 if dtype is None else dtype))


def reshape(x: Any, shape: Any, *, order: Any = "C", copy: Any = None) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.reshape.html"""
    return np.reshape(x, shape, order=order)


def asarray(obj: Any, *, dtype: Any = None, **_: Any) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.asarray.html"""
    return np.asarray(obj, dtype=native_dtype(dtype_of(obj) if dtype is None else dtype))
