"""Attention, https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html."""

from __future__ import annotations

import math

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.torch.dims import shape_of
from nestarray.frontends.torch.nn.functional.dropout import dropout
from nestarray.typing import Array


def scaled_dot_product_attention(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Array:
    """softmax(Q Kᵀ · scale + mask) V, over `(*batch, heads, length, dim)`.

    `key` is upstream's name of K, so that random numbers cannot come by this name:
    dropout is `dropout_attention`.
    """
    if dropout_p > 0:
        raise ArgumentError(
            f"scaled_dot_product_attention: dropout_p: got {dropout_p}, expected 0; "
            "dropout_attention takes the key that dropout needs"
        )
    return na.scaled_dot_product_attention(
        query, key, value, attn_mask, is_causal=is_causal, scale=scale, enable_gqa=enable_gqa
    )


def dropout_attention(
    query: Array,
    keys: Array,
    values: Array,
    attn_mask: Array | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    key: Array | None = None,
) -> Array:
    """`scaled_dot_product_attention` with dropout of the weights, random by `key`."""
    if enable_gqa:
        groups = shape_of(query)[-3] // shape_of(keys)[-3]
        keys, values = (na.repeat(x, groups, axis=-3) for x in (keys, values))
    factor = 1 / math.sqrt(shape_of(query)[-1]) if scale is None else scale
    scores = na.matmul(na.multiply(query, factor), na.swapaxes(keys, -2, -1))
    if is_causal:
        rows, columns = shape_of(scores)[-2:]
        attn_mask = na.tril(na.ones((rows, columns), dtype=dtypes.bool, like=query))
    if attn_mask is not None:
        scores = _masked(scores, attn_mask)
    weights = na.softmax(scores, axis=-1)
    if attn_mask is not None and dtypes.dtype_of(attn_mask) is dtypes.bool:
        # A row that may see nothing is zero, as it is without dropout.
        weights = na.where(na.isnan(weights), na.zeros_like(weights), weights)
    return na.matmul(dropout(weights, dropout_p, key=key), values)


def _masked(scores: Array, mask: Array) -> Array:
    if dtypes.dtype_of(mask) is not dtypes.bool:
        return na.add(scores, mask)
    never = na.full((), float("-inf"), dtype=dtypes.dtype_of(scores), like=scores)
    return na.where(mask, scores, never)
