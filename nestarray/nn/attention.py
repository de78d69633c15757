"""Attention of several heads with learned projections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nestarray import dtypes, ops
from nestarray.errors import ArgumentError
from nestarray.errors.signatures import signature_errors
from nestarray.nn import initializers
from nestarray.nn.linear import Linear
from nestarray.nn.module import Module, Variable
from nestarray.nn.positions import position_range
from nestarray.nn.regularization import Dropout
from nestarray.ops.attention import attended
from nestarray.typing import Array


class MultiHeadAttention(Module):
    """Attention of several heads: concat(softmax(QₕKₕᵀ / √d) Vₕ) Wₒᵀ + bₒ.

    The batch is first by default, and a mask is True where a query may attend, as in
    `na.scaled_dot_product_attention`; the other arguments are as in torch.

    Args:
        embed_dim: size of the last axis of the query and of the result.
        num_heads: number of heads; divides `embed_dim`.
        dropout: the probability of zeroing an attention weight in training mode.
        bias: whether the projections have biases.
        add_bias_kv: whether to append a learned key and value, to which every query may attend.
        add_zero_attn: whether to append a key and a value of zeros.
        kdim: size of the last axis of the input of the keys; None is `embed_dim`.
        vdim: size of the last axis of the input of the values; None is `embed_dim`.
        batch_first: False puts the length first, `(length, *batch, embed)`.

    Variables: in_proj_weight `(3 · embed, embed)`, or q_proj_weight `(embed, embed)`, k_proj_weight
    `(embed, kdim)` and v_proj_weight `(embed, vdim)` if a size differs; in_proj_bias `(3 · embed,)`,
    bias_k and bias_v `(1, 1, embed)`, out_proj/weight `(embed, embed)`, out_proj/bias `(embed,)`.

    Raises:
        ArgumentError: `num_heads` does not divide `embed_dim`, or `dropout` is not a probability.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.MultiHeadAttention(8, 2).init(na.random.key(0))
        >>> net(np.ones((4, 5, 8), np.float32)).shape
        (4, 5, 8)

    References:
        https://arxiv.org/abs/1706.03762
        https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html
    """

    @signature_errors()
    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = True,
    ) -> None:
        if num_heads < 1 or embed_dim % num_heads:
            raise ArgumentError(
                f"MultiHeadAttention: num_heads: got {num_heads}, expected a divisor of "
                f"embed_dim={embed_dim}"
            )
        self.embed_dim, self.num_heads, self.has_bias = embed_dim, num_heads, bias
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.add_bias_kv, self.add_zero_attn = add_bias_kv, add_zero_attn
        self.batch_first = batch_first
        self.dropout_rate = dropout
        self.out_proj = Linear(embed_dim, embed_dim, bias)
        self.dropout = Dropout(dropout)

    def variables(self) -> Mapping[str, Variable]:
        """The weights and the biases of the input projections."""
        size = self.embed_dim
        if self._is_packed():
            shapes = {"in_proj_weight": (3 * size, size)}
        else:
            sizes = {"q": size, "k": self.kdim, "v": self.vdim}
            shapes = {f"{name}_proj_weight": (size, columns) for name, columns in sizes.items()}
        declared = {
            n: Variable(shape, initializers.glorot_uniform()) for n, shape in shapes.items()
        }
        if self.has_bias:
            declared["in_proj_bias"] = Variable((3 * size,), initializers.zeros)
        if self.add_bias_kv:
            extra = Variable((1, 1, size), initializers.glorot_normal())
            declared |= {"bias_k": extra, "bias_v": extra}
        return declared

    def forward(
        self,
        query: Array,
        source: Array | None = None,
        values: Array | None = None,
        mask: Array | None = None,
        *,
        is_causal: bool = False,
    ) -> Array:
        """Attend from `query` to `source`.

        Args:
            query: `(*batch, length, embed)`.
            source: the input of the keys, `(*batch, source, kdim)`; None is `query`.
            values: the input of the values, `(*batch, source, vdim)`; None is `source`.
            mask: broadcasts with `(*batch, heads, length, source)`; True where a query may
                attend, or numbers to add to the scores.
            is_causal: whether query i attends only to keys 0 … i.

        Returns:
            `(*batch, length, embed)`.
        """
        source = query if source is None else source
        values = source if values is None else values
        inputs = (query, source, values)
        if not self.batch_first:
            inputs = tuple([ops.moveaxis(x, 0, -2) for x in inputs])
        biases = ops.split(self.in_proj_bias, self.embed_dim) if self.has_bias else (None,) * 3
        q, k, v = map(ops.linear, inputs, self._weights(), biases)
        extra = self.add_bias_kv + self.add_zero_attn
        if extra:
            mask, is_causal = extended_mask(mask, is_causal, q, k, extra), False
            k, v = self._appended(k, "bias_k"), self._appended(v, "bias_v")
        q, k, v = (split_heads(x, self.num_heads) for x in (q, k, v))
        drop = self.dropout if self.training and self.dropout_rate > 0 else None
        out = self.out_proj(merge_heads(attend(q, k, v, mask, drop, is_causal=is_causal)))
        return out if self.batch_first else ops.moveaxis(out, -2, 0)

    def _is_packed(self) -> bool:
        return self.kdim == self.vdim == self.embed_dim

    def _weights(self) -> tuple[Array, ...]:
        """The projections of queries, keys and values."""
        if self._is_packed():
            return ops.split(self.in_proj_weight, self.embed_dim)
        return self.q_proj_weight, self.k_proj_weight, self.v_proj_weight

    def _appended(self, x: Array, name: str) -> Array:
        """Keys or values with the learned one and the one of zeros at their end."""
        one = ops.zeros_like(x[..., :1, :])
        parts = [x]
        if self.add_bias_kv:
            parts.append(ops.add(one, self._running(name)[0]))
        if self.add_zero_attn:
            parts.append(one)
        return ops.concat(parts, axis=-2)


def attend(q: Array, k: Array, v: Array, mask: Any, drop: Any, **settings: Any) -> Array:
    """Attention by the op of the backend, or with dropout of its weights by a layer."""
    if drop is not None:
        settings = {"is_causal": False} | settings
        return attended(q, k, v, mask, drop=drop, **settings)
    if "soft_cap" in settings:
        settings["attn_logits_soft_cap"] = settings.pop("soft_cap")
    return ops.scaled_dot_product_attention(q, k, v, mask, **settings)


def split_heads(x: Array, heads: int) -> Array:
    """`(*batch, length, heads · dim)` to `(*batch, heads, length, dim)`."""
    *lead, size = ops.shape(x)
    return ops.swapaxes(ops.reshape(x, (*lead, heads, size // heads)), -3, -2)


def merge_heads(x: Array) -> Array:
    """`(*batch, heads, length, dim)` to `(*batch, length, heads · dim)`."""
    x = ops.swapaxes(x, -3, -2)
    *lead, heads, dim = ops.shape(x)
    return ops.reshape(x, (*lead, heads * dim))


def _is_bool(mask: Array) -> bool:
    return dtypes.dtype_of(mask) is dtypes.bool


def _biases(mask: Array) -> Array:
    """A mask as numbers to add."""
    return ops.where(mask, 0.0, -float("inf")) if _is_bool(mask) else mask


def both_masks(first: Array | None, second: Array) -> Array:
    """The mask that hides what either hides, and adds the numbers of both."""
    if first is None:
        return second
    if _is_bool(first) and _is_bool(second):
        return ops.logical_and(first, second)
    return ops.add(_biases(first), _biases(second))


def extended_mask(
    mask: Any, is_causal: bool, q: Array, k: Array, extra: int, logits: Array | None = None
) -> Array | None:
    """The mask of keys with `extra` ones at the end, which all queries see.

    Args:
        mask: of the other keys.
        is_causal: whether query i attends only to keys 0 … i of these.
        q: `(…, length, dim)`.
        k: `(…, source, dim)`.
        extra: the number of new keys.
        logits: `(heads,)`, to add to their scores; None is 0.
    """
    if is_causal:
        rows, columns = (position_range(ops.shape(x)[-2], x) for x in (q, k))
        mask = both_masks(mask, ops.greater_equal(ops.expand_dims(rows, 1), columns))
    if mask is None and logits is None:
        return None
    if mask is None:
        mask = ops.zeros((1, ops.shape(k)[-2]), dtype=dtypes.dtype_of(k), like=k)
    if logits is None:
        end = ops.ones_like(mask[..., :1]) if _is_bool(mask) else ops.zeros_like(mask[..., :1])
        return ops.concat([mask] + [end] * extra, axis=-1)
    mask = ops.astype(_biases(mask), dtypes.dtype_of(logits))
    end = ops.add(ops.zeros_like(mask[..., :1]), ops.reshape(logits, (-1, 1, 1)))
    mask = ops.add(mask, ops.zeros_like(end))
    return ops.concat([mask, end], axis=-1)
