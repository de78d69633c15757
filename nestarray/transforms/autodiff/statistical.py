"""Rules of reductions and cumulative ops."""

from __future__ import annotations

import math
from typing import Any

from nestarray import dtypes, ops
from nestarray.numerics.axes import many_axes, one_axis
from nestarray.transforms.autodiff.rules import (
    Composed,
    Linear,
    Rule,
    Weighted,
    kept,
)


def _sum(ct: Any, x: Any, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    axes = many_axes(axis, len(x.shape), "sum")
    return ops.broadcast_to(kept(ct, x, axes), x.shape)


def _mean(ct: Any, x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    axes = many_axes(axis, len(x.shape), "mean")
    count = math.prod([x.shape[i] for i in axes])
    return ops.broadcast_to(kept(ops.divide(ct, count), x, axes), x.shape)


def _extremum(y: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """Equal extrema share the gradient evenly."""
    hits = ops.astype(ops.equal(x, y), x.dtype)
    return ops.divide(hits, ops.sum(hits, axis=axes, keepdims=True))


def _logsumexp(y: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """exp(x − y); 0 of nothing but −∞."""
    return ops.exp(ops.subtract(x, ops.where(ops.equal(y, -math.inf), 0.0, y)))


class _Logsumexp(Weighted):
    without = frozenset(("b", "return_sign"))


def _cumulative_sum(
    ct: Any, x: Any, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    along = 0 if axis is None else one_axis(axis, len(x.shape), "cumulative_sum")
    if include_initial:
        ct = ops.getitem(ct, ((slice(None),) * along + (slice(1, None),)))
    later = ops.flip(ops.cumulative_sum(ops.flip(ct, axis=along), axis=along), axis=along)
    return ops.reshape(later, x.shape)


def _product(x: Any, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """Products of halves, without division, so zeros need no special case."""
    if dtype is not None:
        x = ops.astype(x, dtype)
    axes = many_axes(axis, len(x.shape), "prod")
    rest = [i for i in range(len(x.shape)) if i not in axes]
    shape = tuple([1 if i in axes else n for i, n in enumerate(x.shape)])
    factors = ops.reshape(
        ops.permute_dims(x, (*rest, *axes)),
        (*(x.shape[i] for i in rest), math.prod([x.shape[i] for i in axes])),
    )
    if not factors.shape[-1]:
        factors = ops.ones_like(ops.sum(factors, axis=-1, keepdims=True))
    while (n := factors.shape[-1]) > 1:
        half = n // 2
        product = ops.multiply(factors[..., :half], factors[..., half : 2 * half])
        factors = ops.concat([product, factors[..., -1:]], axis=-1) if n % 2 else product
    return ops.reshape(factors, shape if keepdims else tuple([x.shape[i] for i in rest]))


def _cumulative_prod(
    x: Any, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    """Cumulative products by doubling: each element times the one 1, 2, 4, … positions before."""
    if dtype is not None:
        x = ops.astype(x, dtype)
    if axis is None:
        x, axis = ops.reshape(x, (-1,)), 0
    before = (slice(None),) * one_axis(axis, len(x.shape), "cumulative_prod")
    distance = 1
    while distance < x.shape[axis]:
        head = x[(*before, slice(None, distance))]
        product = ops.multiply(x[(*before, slice(None, -distance))], x[(*before, slice(distance, None))])  # fmt: skip
        x = ops.concat([head, product], axis=axis)
        distance *= 2
    if include_initial:
        shape = tuple([1 if i == len(before) else n for i, n in enumerate(x.shape)])
        x = ops.concat([ops.ones(shape, dtype=dtypes.dtype_of(x), like=x), x], axis=axis)
    return x


RULES: dict[str, Rule] = {
    "sum": Linear(_sum),
    "mean": Linear(_mean),
    "max": Weighted(_extremum),
    "min": Weighted(_extremum),
    "logsumexp": _Logsumexp(_logsumexp),
    "prod": Composed(_product),
    "cumulative_sum": Linear(_cumulative_sum),
    "cumulative_prod": Composed(_cumulative_prod),
}
