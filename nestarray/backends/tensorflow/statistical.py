"""TensorFlow: `nestarray.ops.statistical`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from nestarray import dtypes
from nestarray.backends import xp
from nestarray.backends.base import accumulation_dtype, mean_dtype, supports
from nestarray.backends.checks.shapes import check_elements
from nestarray.backends.precision import is_half
from nestarray.backends.tensorflow import products
from nestarray.backends.tensorflow.core import is_watched, native_dtype
from nestarray.backends.tensorflow.promotion import truth
from nestarray.numerics.axes import one_axis
from nestarray.numerics.logarithms import differentiable_log_sum


def _axes(axis: Any) -> Any:
    return list(axis) if isinstance(axis, tuple) else axis


def _rounded_once(function: Callable[..., Any], x: Any, *settings: Any) -> Any:
    """`function` of `x`, with half precision computed in float32: TensorFlow rounds at each step."""
    if not is_half(dtypes.as_dtype(x.dtype)):
        return function(x, *settings)
    return tf.cast(function(tf.cast(x, tf.float32), *settings), x.dtype)


def sum(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/math/reduce_sum"""
    wanted = accumulation_dtype(x, dtype)
    if wanted is dtypes.bool:
        return any(x, axis=axis, keepdims=keepdims)
    x = tf.cast(x, native_dtype(wanted))
    return _rounded_once(tf.reduce_sum, x, _axes(axis), keepdims)


def prod(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/math/reduce_prod"""
    wanted = accumulation_dtype(x, dtype)
    if wanted is dtypes.bool:
        return all(x, axis=axis, keepdims=keepdims)
    x = tf.cast(x, native_dtype(wanted))
    return _rounded_once(products.total, x, _axes(axis), keepdims)


def mean(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/math/reduce_mean"""
    x = tf.cast(x, native_dtype(mean_dtype(x)))
    if x.dtype.is_complex:  # reduce_mean is 0 without elements
        return tf.complex(
            *[tf.reduce_mean(f(x), _axes(axis), keepdims) for f in (tf.math.real, tf.math.imag)]
        )
    return _rounded_once(tf.reduce_mean, x, _axes(axis), keepdims)


def _extreme(name: str, reduce: Callable[..., Any], x: Any, axis: Any, keepdims: bool) -> Any:
    """`reduce`, which supports no bools and returns an infinity for empty arrays."""
    if x.shape.num_elements() == 0:
        check_elements(name, {"x": x, "axis": axis})
    if x.dtype == tf.bool:
        return tf.cast(reduce(tf.cast(x, tf.int8), _axes(axis), keepdims), tf.bool)
    return reduce(x, _axes(axis), keepdims)


def max(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/math/reduce_max"""
    return _extreme("max", tf.reduce_max, x, axis, keepdims)


def min(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/math/reduce_min"""
    return _extreme("min", tf.reduce_min, x, axis, keepdims)


def all(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/math/reduce_all"""
    return tf.reduce_all(truth(x), _axes(axis), keepdims)


def any(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/math/reduce_any"""
    return tf.reduce_any(truth(x), _axes(axis), keepdims)


def _no_initial(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False
) -> bool:
    return not include_initial


def _along(name: str, running: Callable[..., Any], x: Any, axis: Any, dtype: Any) -> Any:
    wanted = accumulation_dtype(x, dtype)
    is_bool = wanted is dtypes.bool
    x = tf.cast(truth(x) if is_bool else x, tf.int64 if is_bool else native_dtype(wanted))
    flat, axis = (tf.reshape(x, (-1,)), 0) if axis is None else (x, axis)
    found = _rounded_once(running, flat, one_axis(axis, len(flat.shape), name))
    return tf.cast(found, tf.bool) if is_bool else found


@supports(_no_initial)
def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/math/cumsum"""
    return _along("cumulative_sum", tf.cumsum, x, axis, dtype)


@supports(_no_initial)
def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/math/cumprod"""
    return _along("cumulative_prod", products.running, x, axis, dtype)


@supports(
    lambda x, b=None, return_sign=False, **_: (
        b is None and return_sign is False and not x.dtype.is_complex
    )
)
def logsumexp(
    x: Any,
    /,
    *,
    axis: Any = None,
    b: Any = None,
    keepdims: bool = False,
    return_sign: bool = False,
) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/math/reduce_logsumexp"""
    return _rounded_once(_log_sum, x, _axes(axis), keepdims)


def _log_sum(x: Any, axes: Any, keepdims: bool) -> Any:
    if not is_watched(x):
        return tf.reduce_logsumexp(x, axes, keepdims)
    is_nothing = tf.reduce_all(tf.equal(x, -math.inf), axes, keepdims)
    return differentiable_log_sum(
        xp, lambda x: tf.reduce_logsumexp(x, axes, keepdims), is_nothing, x
    )
