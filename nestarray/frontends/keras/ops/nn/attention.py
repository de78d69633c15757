"""Attention.

Upstream: https://keras.io/api/ops/nn/
"""

from __future__ import annotations

import math
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ShapeError, UnsupportedError
from nestarray.frontends.keras.promotion import as_array, cast, promote, result_type
from nestarray.typing import Array

__all__ = ["dot_product_attention"]

#: The logits of masked positions.
_MASKED = {dtypes.float16: -0.7 * 65500.0}
_OTHERS_MASKED = -0.7 * 3.38953e38


def dot_product_attention(
    query: Array,
    key: Array,
    value: Array,
    bias: Array | None = None,
    mask: Array | None = None,
    scale: float | None = None,
    is_causal: bool = False,
    flash_attention: bool | None = None,
    attn_logits_soft_cap: float | None = None,
) -> Array:
    """softmax(q · kᵀ · scale + bias) · v, with the axes (batch, length, heads, channels).

    Args:
        query: `(batch, length, heads, channels)`.
        key, value: `(batch, source, kv_heads, channels)`; `kv_heads` divides `heads`.
        bias: broadcasts to `(batch, heads, length, source)`, added to the logits.
        mask: of bools, broadcasts to the same shape; False excludes a position.
        scale: the factor of the logits; None: 1 / √channels.
        is_causal: exclude positions after each one.
        flash_attention: None or False: there is one implementation.
        attn_logits_soft_cap: None; upstream applies it on TPUs only.

    Raises:
        ShapeError: `query` does not have four axes.
        UnsupportedError: `flash_attention` or `attn_logits_soft_cap` is set.
    """
    for name, given in (
        ("flash_attention", flash_attention),
        ("attn_logits_soft_cap", attn_logits_soft_cap),
    ):
        if given:
            raise UnsupportedError(f"dot_product_attention: {name}: got {given!r}, expected None")
    query, key, value = promote(query, key, value)
    if len(na.shape(query)) != 4:
        raise ShapeError(
            f"dot_product_attention: query: got the shape {na.shape(query)}, expected "
            "(batch, length, heads, channels)"
        )
    dtype = dtypes.dtype_of(key)
    heads, groups = na.shape(query)[2], na.shape(key)[2]
    if heads > groups > 1:
        key, value = (na.repeat(x, heads // groups, axis=2) for x in (key, value))
    logits = na.einsum("btnh,bsnh->bnts", query, key)
    logits = cast(logits, result_type(query, dtypes.float32))
    logits = na.multiply(logits, 1 / math.sqrt(na.shape(key)[-1]) if scale is None else scale)
    if bias is not None:
        logits = na.add(logits, cast(as_array(bias), dtypes.dtype_of(logits)))
    logits = _masked(logits, mask, is_causal)
    weights = cast(na.softmax(logits, axis=-1), dtype)
    return na.einsum("bnts,bsnh->btnh", weights, value)


def _masked(logits: Array, mask: Any, is_causal: bool) -> Array:
    """The logits, with a large negative number at excluded positions."""
    fill = _MASKED.get(dtypes.dtype_of(logits), _OTHERS_MASKED)
    if mask is not None:
        logits = na.where(cast(as_array(mask), dtypes.bool), logits, fill)
    if is_causal:
        length, source = na.shape(logits)[-2:]
        logits = na.where(na.tri(length, source, dtype=dtypes.bool, like=logits), logits, fill)
    return logits
