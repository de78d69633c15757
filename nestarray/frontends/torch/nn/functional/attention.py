"""Attention, https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, DtypeError
from nestarray.frontends.torch.dims import shape_of
from nestarray.frontends.torch.nn.functional.dropout import dropout
from nestarray.frontends.torch.promotion import expect_one_dtype
from nestarray.frontends.torch.shaping import chunk
from nestarray.ops.attention import attended
from nestarray.typing import Array

__all__ = ["dropout_attention", "multi_head_attention_forward", "scaled_dot_product_attention"]


def scaled_dot_product_attention(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    dropout_key: Array | None = None,
) -> Array:
    """softmax(Q Kᵀ · scale + mask) V, over `(*batch, heads, length, dim)`.

    `key` is upstream's name of K, so the random key is `dropout_key`, required for dropout.
    """
    expect_one_dtype("scaled_dot_product_attention", query, key=key, value=value)
    _check_mask(query, attn_mask)
    if dropout_p > 0 and dropout_key is not None:
        return dropout_attention(
            query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa, key=dropout_key
        )
    return na.scaled_dot_product_attention(
        query, key, value, attn_mask, dropout_p=dropout_p, is_causal=is_causal, scale=scale,
        enable_gqa=enable_gqa,
    )  # fmt: skip


def _check_mask(query: Array, mask: Array | None) -> None:
    """A mask is boolean, of query's dtype, or of float32.

    Raises:
        DtypeError: it is of another dtype.
    """
    if mask is None:
        return
    own, dtype = dtypes.dtype_of(query), dtypes.dtype_of(mask)
    if dtype not in (dtypes.bool, own, dtypes.float32):
        raise DtypeError(
            f"scaled_dot_product_attention: attn_mask: got {dtype.name}, expected bool, "
            f"{own.name} or float32"
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
    """`scaled_dot_product_attention` with dropout, with `key` as the random key.

    Graphs call this function: they pass random keys by this name.
    """
    drop = partial(dropout, p=dropout_p, key=key)
    return attended(
        query, keys, values, attn_mask, is_causal=is_causal, scale=scale, enable_gqa=enable_gqa,
        drop=drop,
    )  # fmt: skip


def _masked(scores: Array, mask: Array) -> Array:
    if dtypes.dtype_of(mask) is not dtypes.bool:
        return na.add(scores, mask)
    never = na.full((), float("-inf"), dtype=dtypes.dtype_of(scores), like=scores)
    return na.where(mask, scores, never)


def multi_head_attention_forward(
    query: Array,
    key: Array,
    value: Array,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Array | None,
    in_proj_bias: Array | None,
    bias_k: Array | None,
    bias_v: Array | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Array,
    out_proj_bias: Array | None,
    training: bool = True,
    key_padding_mask: Array | None = None,
    need_weights: bool = True,
    attn_mask: Array | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Array | None = None,
    k_proj_weight: Array | None = None,
    v_proj_weight: Array | None = None,
    static_k: Array | None = None,
    static_v: Array | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
    *,
    dropout_key: Array | None = None,
) -> tuple[Array, Array | None]:
    """Projections, attention of each head, and a projection; `(length, batch, dim)`, also without batch.

    Boolean masks are true at hidden positions; other masks are added. `key` is upstream's name
    of K, so the random key is `dropout_key`, required for dropout.
    """
    name = "multi_head_attention_forward"
    drops = training and dropout_p > 0
    if drops and dropout_key is None:
        raise ArgumentError(
            f"{name}: dropout_key: got None with dropout_p={dropout_p} in training, expected a "
            "key, such as na.random.key(0)"
        )
    if shape_of(query)[-1] != embed_dim_to_check or embed_dim_to_check % num_heads:
        raise ArgumentError(
            f"{name}: got vectors of {shape_of(query)[-1]} and {num_heads} heads, expected "
            f"embed_dim_to_check={embed_dim_to_check} and a divisor of it"
        )
    if is_causal and attn_mask is None:
        raise ArgumentError(f"{name}: attn_mask: got None with is_causal=True, expected the mask")
    is_batched = len(shape_of(query)) == 3
    if not is_batched:
        query, key, value = (na.expand_dims(x, axis=1) for x in (query, key, value))
        if key_padding_mask is not None:
            key_padding_mask = na.expand_dims(key_padding_mask, axis=0)
    length, batch, width = shape_of(query)
    if use_separate_proj_weight:
        weights: Sequence[Array | None] = (q_proj_weight, k_proj_weight, v_proj_weight)
    else:
        weights = chunk(in_proj_weight, 3)
    biases = (None,) * 3 if in_proj_bias is None else chunk(in_proj_bias, 3)
    q, k, v = (na.linear(*given) for given in zip((query, key, value), weights, biases))
    if bias_k is not None and bias_v is not None:
        k, v = (
            na.concat([x, na.broadcast_to(bias, (1, batch, width))], axis=0)
            for x, bias in ((k, bias_k), (v, bias_v))
        )
    q, k, v = (_heads(x, num_heads) for x in (q, k, v))
    k, v = (_static(given, x) for given, x in ((static_k, k), (static_v, v)))
    if add_zero_attn:
        nothing = na.zeros((batch, num_heads, 1, shape_of(k)[-1]), dtype=k.dtype, like=k)
        k, v = (na.concat([x, nothing], axis=2) for x in (k, v))
    scores = na.matmul(q, na.swapaxes(k, -2, -1))
    scores = na.multiply(scores, 1 / math.sqrt(shape_of(q)[-1]))
    if attn_mask is not None:
        heads = shape_of(attn_mask)
        if len(heads) == 3:
            attn_mask = na.reshape(attn_mask, (batch, num_heads, *heads[1:]))
        scores = _hidden(scores, attn_mask)
    if key_padding_mask is not None:
        scores = _hidden(scores, na.expand_dims(key_padding_mask, axis=(1, 2)))
    weights_of_heads = na.softmax(scores, axis=-1)
    if drops:
        weights_of_heads = dropout(weights_of_heads, dropout_p, key=dropout_key)
    joined = na.permute_dims(na.matmul(weights_of_heads, v), (2, 0, 1, 3))
    output = na.linear(na.reshape(joined, (length, batch, -1)), out_proj_weight, out_proj_bias)
    shown = na.mean(weights_of_heads, axis=1) if average_attn_weights else weights_of_heads
    if not is_batched:
        output, shown = na.squeeze(output, axis=1), na.squeeze(shown, axis=0)
    return output, shown if need_weights else None


def _heads(x: Array, count: int) -> Array:
    """`(length, batch, heads · dim)` → `(batch, heads, length, dim)`."""
    length, batch, width = shape_of(x)
    return na.permute_dims(na.reshape(x, (length, batch, count, width // count)), (1, 2, 0, 3))


def _static(given: Array | None, x: Array) -> Array:
    """Projected keys or values from the caller, `(batch · heads, length, dim)`."""
    if given is None:
        return x
    return na.reshape(given, (*shape_of(x)[:2], *shape_of(given)[1:]))


def _hidden(scores: Array, mask: Array) -> Array:
    """Apply a mask to `scores`; missing columns at the end are not masked."""
    more = shape_of(scores)[-1] - shape_of(mask)[-1]
    if more:
        mask = na.pad(mask, [(0, 0)] * (len(shape_of(mask)) - 1) + [(0, more)])
    is_bool = dtypes.dtype_of(mask) is dtypes.bool
    return _masked(scores, na.logical_not(mask) if is_bool else mask)
