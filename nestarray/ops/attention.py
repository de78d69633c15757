"""Attention: means of values, weighted by how well keys match queries."""

from __future__ import annotations

import math

from nestarray import dtypes, ops
from nestarray.dispatch import op
from nestarray.errors import ShapeError
from nestarray.typing import Array

__all__ = ["scaled_dot_product_attention"]


@op
def scaled_dot_product_attention(
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None = None,
    *,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Array:
    """softmax(scale · Q Kᵀ + mask) V.

    A query that may attend to no key, because its row of the mask is False or −∞
    throughout, gets zeros.

    Args:
        query: `(*batch, heads, length, dim)`, floating; the heads are optional.
        key: `(*batch, heads, source, dim)`.
        value: `(*batch, heads, source, dim_v)`.
        mask: broadcasts with `(*batch, heads, length, source)`; bool, True where a query
            may attend to a key, or floating, added to the scores; None: everything.
        is_causal: query i may attend to the keys 0 … i only; together with a mask both hold.
        scale: what the scores are multiplied by; None: 1 / √dim.
        enable_gqa: `key` and `value` may have fewer heads, each of which serves as many
            neighbouring heads of `query`.

    Returns:
        `(*batch, heads, length, dim_v)`.

    Raises:
        ShapeError: the number of heads of `key` does not divide that of `query`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> query, key = np.zeros((1, 1, 2)), np.ones((1, 2, 2))
        >>> na.scaled_dot_product_attention(query, key, np.asarray([[[1.0], [3.0]]]))
        array([[[2.]]])

    References:
        https://arxiv.org/abs/1706.03762
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html
    """
    dim = query.shape[-1]
    heads = 1
    if enable_gqa:
        heads = _heads_a_key(query, key)
    if heads > 1:  # (heads, …) → (heads of the key, heads that share it, …), by broadcasting
        query = _split_heads(query, heads)
        key, value = ops.expand_dims(key, -3), ops.expand_dims(value, -3)
        if mask is not None and len(mask.shape) > 2:
            mask = ops.expand_dims(mask, -3) if mask.shape[-3] == 1 else _split_heads(mask, heads)
    scores = ops.matmul(query * (dim**-0.5 if scale is None else scale), _transposed(key))
    if is_causal:
        scores = _keep(_causal(scores), scores)
    if mask is not None:
        is_bool = dtypes.dtype_of(mask) is dtypes.bool
        scores = _keep(mask, scores) if is_bool else scores + mask
    weights = ops.softmax(scores, axis=-1) if mask is None else _safe_softmax(scores)
    out = ops.matmul(weights, value)
    return _merge_heads(out) if heads > 1 else out


def _heads_a_key(query: Array, key: Array) -> int:
    of_query, of_key = query.shape[-3], key.shape[-3]
    if of_query % of_key:
        raise ShapeError(
            f"scaled_dot_product_attention: query has {of_query} heads, key {of_key}; expected "
            "a number of heads of query that is a multiple of that of key"
        )
    return of_query // of_key


def _split_heads(x: Array, heads: int) -> Array:
    *lead, count, length, dim = ops.shape(x)
    return ops.reshape(x, (*lead, count // heads, heads, length, dim))


def _merge_heads(x: Array) -> Array:
    *lead, count, heads, length, dim = ops.shape(x)
    return ops.reshape(x, (*lead, count * heads, length, dim))


def _transposed(x: Array) -> Array:
    count = len(x.shape)
    return ops.permute_dims(x, (*range(count - 2), count - 1, count - 2))


def _causal(scores: Array) -> Array:
    """Where a key is not later than the query."""
    length, source = ops.shape(scores)[-2:]
    if not (isinstance(length, int) and isinstance(source, int)):  # known at run time only
        return ops.greater(ops.tril(ops.ones_like(scores)), 0)
    rows = ops.arange(length, like=scores, dtype=dtypes.int32)
    columns = ops.arange(source, like=scores, dtype=dtypes.int32)
    return ops.greater_equal(ops.expand_dims(rows, 1), ops.expand_dims(columns, 0))


def _keep(mask: Array, scores: Array) -> Array:
    return ops.where(mask, scores, -math.inf)


def _safe_softmax(scores: Array) -> Array:
    """softmax over the last axis, with zeros where all scores are −∞."""
    largest = ops.max(scores, axis=-1, keepdims=True)
    is_empty = ops.equal(largest, -math.inf)
    powers = ops.exp(scores - ops.where(is_empty, 0.0, largest))
    total = ops.sum(powers, axis=-1, keepdims=True)
    return powers / ops.where(is_empty, 1.0, total)
