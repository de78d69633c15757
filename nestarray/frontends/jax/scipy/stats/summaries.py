"""Modes, ranks and standard errors.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#module-jax.scipy.stats
"""

from __future__ import annotations

import math
from typing import NamedTuple

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, UnsupportedError
from nestarray.frontends.jax import numpy as jnp
from nestarray.frontends.jax import promotion
from nestarray.typing import Array

__all__ = ["mode", "rankdata", "sem"]


class _ModeResult(NamedTuple):
    mode: Array
    count: Array


def mode(
    a: Array, axis: int | None = 0, nan_policy: str = "propagate", keepdims: bool = False
) -> _ModeResult:
    """(mode, count): the smallest of the most frequent elements along an axis, and its number."""
    _expect_propagation("mode", nan_policy)
    a = jnp.atleast_1d(a)
    rank = len(na.shape(a))
    if axis is None:
        a = na.reshape(a, (-1,))
    place = 0 if axis is None else promotion.normal_axis(axis, rank)
    x = na.sort(a, axis=place)
    size = na.shape(x)[place]
    shape = [size if i == place else 1 for i in range(len(na.shape(x)))]
    steps = na.reshape(na.arange(size, dtype=dtypes.int32, like=x), shape)
    is_same = na.equal(x, na.roll(x, shift=1, axis=place))
    if dtypes.dtype_of(x).is_inexact:  # NaN counts as one value
        both = na.logical_and(na.isnan(x), na.isnan(na.roll(x, shift=1, axis=place)))
        is_same = na.logical_or(is_same, both)
    is_first = na.logical_or(na.logical_not(is_same), na.equal(steps, 0))
    start = na.cummax(na.where(is_first, steps, na.zeros_like(steps)), axis=place)
    counts = na.add(na.subtract(steps, start), 1)
    best = na.argmax(counts, axis=place, keepdims=True)
    found = [na.take_along_axis(values, best, axis=place) for values in (x, counts)]
    if keepdims and axis is None:
        found = [na.reshape(values, (1,) * rank) for values in found]
    if not keepdims:
        found = [na.squeeze(values, axis=place) for values in found]
    return _ModeResult(found[0], na.astype(found[1], dtypes.int32))


def rankdata(
    a: Array, method: str = "average", *, axis: int | None = None, nan_policy: str = "propagate"
) -> Array:
    """The ranks of the elements, from 1; NaN for all if one is NaN.

    Args:
        a: any shape.
        method: the rank of equal elements: "average", "min", "max"; "dense", without gaps;
            "ordinal", in order.
        axis: the axis to rank; all elements for None.
        nan_policy: "propagate".
    """
    _expect_propagation("rankdata", nan_policy)
    if method not in ("average", "min", "max", "dense", "ordinal"):
        raise ArgumentError(
            f"rankdata: method: got {method!r}, expected 'average', 'min', 'max', 'dense' or 'ordinal'"
        )
    if axis is not None:
        return jnp.apply_along_axis(lambda x: rankdata(x, method), axis, a)
    a = na.reshape(a, (-1,))
    order = na.argsort(a, stable=True)
    x, places = na.take(a, order, axis=0), na.argsort(order)
    if method == "ordinal":
        ranks = na.add(places, 1)
    elif method == "dense":
        is_new = na.not_equal(x, na.roll(x, shift=1))
        is_new = na.logical_or(is_new, na.equal(na.arange(na.shape(x)[0], like=x), 0))
        ranks = na.take(na.cumulative_sum(na.astype(is_new, dtypes.int32)), places, axis=0)
    else:
        first = na.add(na.searchsorted(x, a, side="left"), 1)
        last = na.searchsorted(x, a, side="right")
        ranks = {"min": first, "max": last}.get(method)
        ranks = (
            na.multiply(na.astype(na.add(first, last), dtypes.float32), 0.5)
            if ranks is None
            else ranks
        )
    ranks = na.astype(ranks, dtypes.float32)
    if not dtypes.dtype_of(a).is_inexact:
        return ranks
    return na.where(na.any(na.isnan(a)), na.full_like(ranks, float("nan")), ranks)


def sem(
    a: Array,
    axis: int | None = 0,
    ddof: int = 1,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Array:
    """The standard error of the mean; `nan_policy` "omit" ignores NaN."""
    a = promotion.inexact(a)
    dtype = dtypes.dtype_of(a)
    if nan_policy == "propagate":
        size = math.prod(na.shape(a)) if axis is None else na.shape(a)[axis]
        return na.divide(jnp.std(a, axis, ddof=ddof, keepdims=keepdims), size**0.5)
    if nan_policy != "omit":
        raise ArgumentError(f"sem: nan_policy: got {nan_policy!r}, expected 'propagate' or 'omit'")
    count = jnp.sum(na.logical_not(na.isnan(a)), axis, keepdims=keepdims)
    deviation = jnp.nanstd(a, axis, ddof=ddof, keepdims=keepdims)
    return na.divide(deviation, na.sqrt(na.astype(count, dtype)))


def _expect_propagation(function: str, nan_policy: str) -> None:
    if nan_policy != "propagate":
        raise UnsupportedError(f"{function}: nan_policy: got {nan_policy!r}, expected 'propagate'")
