"""Attention with learned projections."""

from __future__ import annotations

from collections.abc import Mapping

from nestarray import ops
from nestarray.errors import ArgumentError
from nestarray.errors.signatures import signature_errors
from nestarray.nn import initializers
from nestarray.nn.linear import Linear
from nestarray.nn.module import Module, Variable
from nestarray.nn.regularization import Dropout
from nestarray.ops.attention import attended
from nestarray.typing import Array


class MultiHeadAttention(Module):
    """Attention of several heads: concat(softmax(QₕKₕᵀ / √d) Vₕ) Wₒᵀ + bₒ.

    The three input projections are one matrix, as in ``torch.nn.MultiheadAttention``.

    Args:
        embed_dim: size of the last axis of the inputs and of the result.
        num_heads: number of heads; divides `embed_dim`.
        bias: whether the projections have biases.
        dropout: the probability of zeroing an attention weight in training mode.

    Variables: in_proj_weight `(3 · embed, embed)`, in_proj_bias `(3 · embed,)`,
    out_proj/weight `(embed, embed)`, out_proj/bias `(embed,)`.

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
        self, embed_dim: int, num_heads: int, bias: bool = True, dropout: float = 0.0
    ) -> None:
        if embed_dim % num_heads:
            raise ArgumentError(
                f"MultiHeadAttention: num_heads: got {num_heads}, expected a divisor of "
                f"embed_dim={embed_dim}"
            )
        self.embed_dim, self.num_heads, self.has_bias = embed_dim, num_heads, bias
        self.out_proj = Linear(embed_dim, embed_dim, bias)
        self.dropout = Dropout(dropout)

    def variables(self) -> Mapping[str, Variable]:
        """The weight and the bias of the input projections."""
        shape = (3 * self.embed_dim, self.embed_dim)
        found = {"in_proj_weight": Variable(shape, initializers.glorot_uniform())}
        if self.has_bias:
            found["in_proj_bias"] = Variable((3 * self.embed_dim,), initializers.zeros)
        return found

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
            source: the input of the keys, `(*batch, source, embed)`; None is `query`.
            values: the input of the values; None is `source`.
            mask: broadcasts with `(*batch, heads, length, source)`; True where a query may
                attend, or numbers to add to the scores.
            is_causal: whether query i attends only to keys 0 … i.

        Returns:
            `(*batch, length, embed)`.
        """
        source = query if source is None else source
        values = source if values is None else values
        weights = ops.split(self.in_proj_weight, self.embed_dim)
        biases = ops.split(self.in_proj_bias, self.embed_dim) if self.has_bias else (None,) * 3
        q, k, v = [
            self._split(ops.linear(x, weight, bias))
            for x, weight, bias in zip((query, source, values), weights, biases)
        ]
        if self.training and self.dropout.p > 0:
            out = attended(q, k, v, mask, is_causal=is_causal, drop=self.dropout)
        else:
            out = ops.scaled_dot_product_attention(q, k, v, mask, is_causal=is_causal)
        return self.out_proj(ops.reshape(ops.swapaxes(out, -3, -2), ops.shape(query)))

    def _split(self, x: Array) -> Array:
        """`(*batch, length, embed)` to `(*batch, heads, length, dim)`."""
        shape = (*ops.shape(x)[:-1], self.num_heads, self.embed_dim // self.num_heads)
        return ops.swapaxes(ops.reshape(x, shape), -3, -2)
