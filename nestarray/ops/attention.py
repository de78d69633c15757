"""Attention: means of values, weighted by the similarity of keys and queries."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from nestarray import dtypes, ops
from nestarray.dispatch import Trait, floating_op
from nestarray.errors import ArgumentError, ShapeError
from nestarray.typing import Array, check_range

__all__ = ["multi_head_attention", "scaled_dot_product_attention"]
TRAITS = Trait.PRODUCT


@floating_op(not_promoted=("mask", "dropout_key"))
def scaled_dot_product_attention(
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None = None,
    dropout_key: Array | None = None,
    *,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    attn_logits_soft_cap: float | None = None,
) -> Array:
    """Attention of queries to keys, softmax(scale · Q Kᵀ + mask) V, with optional dropout.

    The result is zero for a query whose row of the mask is all False or −∞.

    Args:
        query: `(*batch, heads, length, dim)`, floating; the heads are optional.
        key: `(*batch, heads, source, dim)`.
        value: `(*batch, heads, source, dim_v)`.
        mask: broadcasts with `(*batch, heads, length, source)`; bool, True where a query
            may attend to a key, or floating, added to the scores; None: everything.
        dropout_key: `(2,)`, uint32, from ``na.random.key``; weights are kept where
            ``na.random.bernoulli(dropout_key, 1 - dropout_p, shape)`` is True, with the shape
            `(*batch, heads, length, source)`. Required if `dropout_p` is positive.
        dropout_p: the probability to drop an attention weight; the others are scaled by
            1 / (1 − dropout_p).
        is_causal: query i attends to the keys 0 … i only, in addition to `mask`.
        scale: factor of the scores; None means 1 / √dim.
        enable_gqa: grouped-query attention: `key` and `value` may have fewer heads, each of which
            is shared by a group of consecutive heads of `query`.
        attn_logits_soft_cap: the bound c of the scores s before the mask, c · tanh(s / c); None:
            unbounded.

    Returns:
        `(*batch, heads, length, dim_v)`.

    Raises:
        ArgumentError: `dropout_p` is not a probability, or is positive without a `dropout_key`;
            `attn_logits_soft_cap` is not positive.
        ShapeError: the number of heads of `key` does not divide the number of heads of `query`, or
            `dropout_key` has another shape.

    Example:
        >>> import numpy as np, nestarray as na
        >>> query, key = np.zeros((1, 1, 2)), np.ones((1, 2, 2))
        >>> na.scaled_dot_product_attention(query, key, np.asarray([[[1.0], [3.0]]]))
        array([[[2.]]])

    References:
        https://arxiv.org/abs/1706.03762
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html
        https://keras.io/api/ops/nn/#dotproductattention-function
    """
    cap = attn_logits_soft_cap
    if cap is not None:
        check_range("scaled_dot_product_attention", "attn_logits_soft_cap", cap, 0, above=True)
    drop = _dropping("scaled_dot_product_attention", dropout_key, dropout_p)
    return attended(
        query, key, value, mask, is_causal=is_causal, scale=scale, enable_gqa=enable_gqa,
        drop=drop, soft_cap=cap,
    )  # fmt: skip


def attended(
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None,
    *,
    is_causal: bool,
    drop: Callable[[Array], Array] | None,
    scale: float | None = None,
    enable_gqa: bool = False,
    soft_cap: float | None = None,
) -> Array:
    """`scaled_dot_product_attention` with dropout of the attention weights by `drop`."""
    dim = query.shape[-1]
    if dim == 0:
        raise ShapeError(
            f"scaled_dot_product_attention: query: got shape {tuple(query.shape)}, expected a last axis "
            "of at least one element"
        )
    heads = 1
    if enable_gqa:
        heads = _heads_a_key(query, key)
    if heads > 1:  # (heads, …) → (heads of the key, heads that share them, …), for broadcasting
        query = _split_heads(query, heads)
        key, value = ops.expand_dims(key, -3), ops.expand_dims(value, -3)
        if mask is not None and len(mask.shape) > 2:
            mask = ops.expand_dims(mask, -3) if mask.shape[-3] == 1 else _split_heads(mask, heads)
    factor = dim**-0.5 if scale is None else scale
    own = dtypes.dtype_of(query)
    is_half = own.bits == 16
    if is_half:  # the exponential amplifies rounding errors of the scores
        query, key = ops.astype(query, dtypes.float32), ops.astype(key, dtypes.float32)
    scores = _scores(query, key, mask, is_causal, factor, soft_cap)
    weights = ops.softmax(scores, axis=-1) if mask is None else _safe_softmax(scores)
    weights = ops.astype(weights, own) if is_half else weights
    out = ops.matmul(weights if drop is None else drop(weights), value)
    return _merge_heads(out) if heads > 1 else out


@floating_op(not_promoted=("mask", "dropout_key"))
def multi_head_attention(
    query: Array,
    key: Array,
    value: Array,
    weights: Sequence[Array],
    biases: Sequence[Array] = (),
    mask: Array | None = None,
    dropout_key: Array | None = None,
    /,
    *,
    num_heads: int,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    need_weights: bool = False,
) -> Array | tuple[Array, Array]:
    """Attention of several heads with its projections: concat(softmax(QₕKₕᵀ / √d) Vₕ) Wₒᵀ + bₒ.

    Q, K and V are the projections of `query`, `key` and `value`; head h is the h-th part of their
    last axes. A query with a fully masked row returns the output bias.

    Args:
        query: `(*batch, length, embed)`, floating.
        key: `(*batch, source, embed_k)`.
        value: `(*batch, source, embed_v)`.
        weights: the projections of query `(dim, embed)`, key `(dim, embed_k)`, value
            `(dim_v, embed_v)` and of the result `(out, dim_v)`.
        biases: of these four, each `(rows,)`; empty: no biases.
        mask: broadcasts with `(*batch, heads, length, source)`; bool, True where a query may
            attend to a key, or floating, added to the scores; None: everything.
        dropout_key: `(2,)`, uint32, for dropout of the weights, as in
            `scaled_dot_product_attention`. Needed with `dropout_p` only.
        num_heads: the number of heads; divides dim and dim_v.
        dropout_p: the probability to drop an attention weight.
        is_causal: query i may attend to the keys 0 … i only; together with a mask both hold.
        need_weights: also return the weights of the values, after dropout.

    Returns:
        `(*batch, length, out)`; with `need_weights` also `(*batch, heads, length, source)`.

    Raises:
        ArgumentError: the number of weights or biases is not four; `dropout_p` is not a
            probability, or is positive without a `dropout_key`.
        ShapeError: `num_heads` does not divide the rows of the projections, or `dropout_key`
            has another shape.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x, same = np.asarray([[1.0, 2.0], [3.0, 4.0]]), np.eye(2)
        >>> na.multi_head_attention(x, x, x, [same] * 4, num_heads=2, is_causal=True)[0]
        array([1., 2.])

    References:
        https://arxiv.org/abs/1706.03762
        https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html
    """
    if len(weights) != 4 or len(biases) not in (0, 4):
        raise ArgumentError(
            f"multi_head_attention: got {len(weights)} weights and {len(biases)} biases, expected "
            "four: of query, key, value and of the result"
        )
    shifts: Sequence[Array | None] = biases or (None,) * 4
    for name, weight in zip(("query", "key", "value"), weights):
        if num_heads < 1 or weight.shape[0] % num_heads:
            raise ShapeError(
                f"multi_head_attention: the projection of {name} has shape {tuple(weight.shape)}, "
                f"expected rows that are a multiple of num_heads={num_heads}"
            )
    drop = _dropping("multi_head_attention", dropout_key, dropout_p)
    q, k, v = [
        _to_heads(ops.linear(x, weight, bias), num_heads)
        for x, weight, bias in zip((query, key, value), weights, shifts)
    ]
    if not need_weights:
        out = ops.scaled_dot_product_attention(
            q, k, v, mask, dropout_key, dropout_p=dropout_p, is_causal=is_causal
        )
        return ops.linear(_from_heads(out), weights[3], shifts[3])
    scores = _scores(q, k, mask, is_causal, q.shape[-1] ** -0.5)
    shares = ops.softmax(scores, axis=-1) if mask is None else _safe_softmax(scores)
    if drop is not None:
        shares = drop(shares)
    out = ops.linear(_from_heads(ops.matmul(shares, v)), weights[3], shifts[3])
    return out, shares


def _dropping(name: str, key: Array | None, p: float) -> Callable[[Array], Array] | None:
    """The dropout of weights by `key`, or None."""
    if not 0 <= p <= 1:
        raise ArgumentError(f"{name}: dropout_p: got {p!r}, expected a probability from 0 to 1")
    if p == 0:
        return None
    if key is None:
        raise ArgumentError(
            f"{name}: dropout_key: got None with dropout_p={p!r}, expected a key, such as "
            "na.random.key(0)"
        )
    if tuple(key.shape) not in (
        (2,),
        (),
    ):  # () is the shape of a typed key of JAX
        raise ShapeError(
            f"{name}: dropout_key: got the shape {tuple(key.shape)}, expected (2,), as "
            "na.random.key(0) makes it"
        )
    return partial(_dropped, key=key, p=p)


def _dropped(weights: Array, key: Array, p: float) -> Array:
    keep = ops.less(ops.random_uniform(key, shape=ops.shape(weights)), 1.0 - p)
    factor = 1.0 / (1.0 - p) if p < 1 else 0.0
    return ops.multiply(weights, ops.multiply(ops.astype(keep, dtypes.dtype_of(weights)), factor))


def _to_heads(x: Array, heads: int) -> Array:
    """`(*batch, length, heads · dim)` → `(*batch, heads, length, dim)`."""
    *lead, size = ops.shape(x)
    return ops.swapaxes(ops.reshape(x, (*lead, heads, size // heads)), -3, -2)


def _from_heads(x: Array) -> Array:
    *lead, heads, length, dim = ops.shape(x)
    return ops.reshape(ops.swapaxes(x, -3, -2), (*lead, length, heads * dim))


def _scores(
    query: Array,
    key: Array,
    mask: Array | None,
    is_causal: bool,
    scale: float,
    soft_cap: float | None = None,
) -> Array:
    """The masked scores; −∞ where a query may not attend."""
    scores = ops.matmul(query * scale, _transposed(key))
    if soft_cap is not None:
        scores = ops.multiply(ops.tanh(ops.divide(scores, soft_cap)), soft_cap)
    if is_causal:
        scores = _keep(_causal(scores), scores)
    if mask is None:
        return scores
    return _keep(mask, scores) if dtypes.dtype_of(mask) is dtypes.bool else ops.add(scores, mask)


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
    """Whether a key is not later than the query."""
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
    # The shift needs no derivative. The derivative of max compares all elements with the maximum,
    # and finds none where compiled code rounds them differently the second time.
    largest = ops.stop_gradient(ops.max(scores, axis=-1, keepdims=True))
    is_empty = ops.equal(largest, -math.inf)
    powers = ops.exp(scores - ops.where(is_empty, 0.0, largest))
    total = ops.sum(powers, axis=-1, keepdims=True)
    return powers / ops.where(is_empty, 1.0, total)
