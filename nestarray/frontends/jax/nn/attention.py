"""Attention.

Upstream: https://docs.jax.dev/en/latest/_autosummary/jax.nn.dot_product_attention.html
"""

from __future__ import annotations

import math
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.frontends.jax.promotion import cast
from nestarray.typing import Array

__all__ = ["dot_product_attention"]


def dot_product_attention(
    query: Array,
    key: Array,
    value: Array,
    bias: Array | None = None,
    mask: Array | None = None,
    *,
    scale: float | None = None,
    is_causal: bool = False,
    query_seq_lengths: Array | None = None,
    key_value_seq_lengths: Array | None = None,
    local_window_size: int | tuple[int, int] | None = None,
    implementation: str | None = None,
    return_residual: bool = False,
) -> Any:
    """softmax(scale · Q Kᵀ + bias) V, with masks; heads of Q may share heads of K and V.

    Args:
        query: `(batch, length, heads, features)`, or without batch.
        key, value: `(batch, source, groups, features)`; `groups` divides `heads`.
        bias, mask: broadcast to `(batch, heads, length, source)`.
        scale: by default 1/√features.
        is_causal: whether a position attends to no later one.
        query_seq_lengths, key_value_seq_lengths: `(batch,)`, the positions that are not padding.
        local_window_size: positions to the left and to the right that are attended to.
        implementation: has no effect.
        return_residual: whether to return the logsumexp of the logits too,
            `(batch, length, heads)`.
    """
    is_single = len(na.shape(query)) == 3
    if is_single:
        query, key, value = (na.expand_dims(x, 0) for x in (query, key, value))
        bias, mask = (None if x is None else _with_batch(x) for x in (bias, mask))
    dtype, length, source = na.dtype_of(query), na.shape(query)[1], na.shape(key)[1]
    repeats = na.shape(query)[2] // na.shape(key)[2]
    if repeats > 1:
        key, value = (na.repeat(x, repeats, axis=2) for x in (key, value))
    wide = dtypes.promote_types(dtype, dtypes.float32)
    logits = na.einsum("btnh,bsnh->bnts", cast(query, wide), cast(key, wide))
    logits = na.multiply(logits, 1 / math.sqrt(na.shape(query)[3]) if scale is None else scale)
    if bias is not None:
        logits = cast(na.add(logits, bias), wide)
    is_seen = _seen(
        query, length, source, mask, is_causal, query_seq_lengths, key_value_seq_lengths,
        local_window_size,
    )  # fmt: skip
    if is_seen is not None:  # upstream's number, whose softmax is defined without any position
        logits = na.where(is_seen, logits, na.full_like(logits, -0.7 * na.finfo(wide).max))
    logits = cast(logits, dtypes.float32)
    weights = cast(na.softmax(logits, axis=-1), na.dtype_of(key))
    found = na.einsum("bnts,bsnh->btnh", weights, value)
    if query_seq_lengths is not None:
        is_query = na.less(_steps(length, query), na.reshape(query_seq_lengths, (-1, 1)))
        found = na.multiply(
            found, cast(na.reshape(is_query, (-1, length, 1, 1)), na.dtype_of(found))
        )
    residual = na.stop_gradient(cast(na.logsumexp(logits, axis=-1), na.dtype_of(key)))
    results = [found, na.permute_dims(residual, (0, 2, 1))]
    results = [na.squeeze(x, axis=0) for x in results] if is_single else results
    return tuple(results) if return_residual else results[0]


def _with_batch(x: Array) -> Array:
    return na.expand_dims(x, 0) if len(na.shape(x)) == 3 else x


def _steps(size: int, like: Array) -> Array:
    return na.arange(size, dtype=dtypes.int32, like=like)


def _seen(
    like: Array,
    length: int,
    source: int,
    mask: Array | None,
    is_causal: bool,
    query_lengths: Array | None,
    source_lengths: Array | None,
    window: int | tuple[int, int] | None,
) -> Array | None:
    """Whether a position attends to another one; None if all do."""
    rows = na.reshape(_steps(length, like), (1, 1, length, 1))
    columns = na.reshape(_steps(source, like), (1, 1, 1, source))
    conditions = [] if mask is None else [mask]
    if is_causal:
        conditions.append(na.greater_equal(rows, columns))
    if window is not None:
        left, right = (window, window) if isinstance(window, int) else window
        conditions.append(na.less_equal(na.subtract(rows, columns), left))
        conditions.append(na.less_equal(na.subtract(columns, rows), right))
    if query_lengths is not None:
        conditions.append(na.less(rows, na.reshape(query_lengths, (-1, 1, 1, 1))))
    if source_lengths is not None:
        conditions.append(na.less(columns, na.reshape(source_lengths, (-1, 1, 1, 1))))
    if not conditions:
        return None
    found = conditions[0]
    for condition in conditions[1:]:
        found = na.logical_and(found, condition)
    return found
