"""Attention whose heads share keys and values, with a cache for decoding.

Positions, biases and normalizations are layers that the attention applies. A cache is a Container
that a call takes and returns, so decoding is a pure function as all calls are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nestarray import dtypes, ops
from nestarray.container import Container
from nestarray.errors import ArgumentError
from nestarray.errors.signatures import signature_errors
from nestarray.nn import initializers
from nestarray.nn.attention import attend, both_masks, extended_mask, merge_heads, split_heads
from nestarray.nn.linear import Linear
from nestarray.nn.module import Module, Variable
from nestarray.nn.positions import position_range
from nestarray.nn.regularization import Dropout
from nestarray.typing import Array


class GroupedQueryAttention(Module):
    """Attention whose heads share keys and values in groups: softmax(c · QₕKᵍᵀ + bias) Vᵍ.

    The variables have the paths of Llama, Gemma and gpt-oss in `transformers`, so
    ``Container.from_torch_module(layer)`` of such an attention fits. One head of keys and values is
    multi-query attention, as many as `num_heads` multi-head attention.

    Args:
        embed_dim: size of the last axis of the inputs and of the result.
        num_heads: number of heads of the queries.
        num_kv_heads: number of heads of the keys and values; divides `num_heads`.
        head_dim: size of a head; None is ``embed_dim / num_heads``.
        dropout: the probability of zeroing an attention weight in training mode.
        bias: whether the projections of the inputs have biases.
        out_bias: whether the projection of the result has a bias; None is `bias`.
        positions: rotates queries and keys, such as `RotaryEmbedding`; called with heads and their
            positions.
        relative_bias: biases of the scores, such as `AlibiBias` and `RelativePositionBias`; called
            with the positions of queries and keys.
        q_norm: normalizes the heads of the queries before rotation, such as ``RMSNorm(head_dim)``.
        k_norm: normalizes the heads of the keys.
        window: a query attends to keys at distances below it; None is all.
        sinks: whether a learned logit for each head, without a value, takes part in the softmax.
        scale: c, None is 1 / √head_dim.
        soft_cap: the bound b of the scores s before bias and mask, b · tanh(s / b); None: unbounded.

    Variables: q_proj/weight `(heads · dim, embed)`, k_proj/weight and v_proj/weight
    `(kv_heads · dim, embed)`, o_proj/weight `(embed, heads · dim)`, their biases, sinks `(heads,)`,
    and of the layers under their names.

    Raises:
        ArgumentError: the numbers of heads do not divide each other or `embed_dim`, or `window` is
            not positive.

    Example:
        >>> import numpy as np, nestarray as na
        >>> rotary = na.nn.RotaryEmbedding(4)
        >>> net = na.nn.GroupedQueryAttention(16, 4, 2, bias=False, positions=rotary)
        >>> net = net.init(na.random.key(0))
        >>> x = np.ones((2, 5, 16), np.float32)
        >>> cache = net.init_cache(2, 8)
        >>> out, cache = net(x, cache=cache)
        >>> out.shape, int(cache["length"])
        ((2, 5, 16), 5)

    References:
        https://arxiv.org/abs/2305.13245
        https://keras.io/api/layers/attention_layers/group_query_attention/
    """

    @signature_errors()
    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        num_kv_heads: int,
        head_dim: int | None = None,
        dropout: float = 0.0,
        bias: bool = True,
        *,
        out_bias: bool | None = None,
        positions: Module | None = None,
        relative_bias: Module | None = None,
        q_norm: Module | None = None,
        k_norm: Module | None = None,
        window: int | None = None,
        sinks: bool = False,
        scale: float | None = None,
        soft_cap: float | None = None,
    ) -> None:
        if num_kv_heads < 1 or num_heads < 1 or num_heads % num_kv_heads:
            raise ArgumentError(
                f"GroupedQueryAttention: num_kv_heads: got {num_kv_heads}, expected a divisor of "
                f"num_heads={num_heads}"
            )
        if head_dim is None and embed_dim % num_heads:
            raise ArgumentError(
                f"GroupedQueryAttention: num_heads: got {num_heads}, expected a divisor of "
                f"embed_dim={embed_dim}, or a head_dim"
            )
        if window is not None and window < 1:
            raise ArgumentError(
                f"GroupedQueryAttention: window: got {window}, expected a positive number"
            )
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.head_dim = embed_dim // num_heads if head_dim is None else head_dim
        size, kv_size = num_heads * self.head_dim, num_kv_heads * self.head_dim
        self.q_proj = Linear(embed_dim, size, bias)
        self.k_proj = Linear(embed_dim, kv_size, bias)
        self.v_proj = Linear(embed_dim, kv_size, bias)
        self.o_proj = Linear(size, embed_dim, bias if out_bias is None else out_bias)
        self.positions, self.relative_bias = positions, relative_bias
        self.q_norm, self.k_norm = q_norm, k_norm
        self.window, self.has_sinks, self.scale, self.soft_cap = window, sinks, scale, soft_cap
        self.dropout_rate, self.dropout = dropout, Dropout(dropout)

    def variables(self) -> Mapping[str, Variable]:
        """The logits of the sinks."""
        return {"sinks": Variable((self.num_heads,), initializers.zeros)} if self.has_sinks else {}

    def init_cache(
        self, batch: int, capacity: int, dtype: Any = "float32", *, like: Any = None
    ) -> Container:
        """A cache without tokens, for calls with ``cache=``.

        Args:
            batch: the number of sequences, times beams.
            capacity: the largest number of tokens, of prompt and generation.
            dtype: of keys and values.
            like: an array whose framework and device to use; None means the default backend.

        Returns:
            a Container: keys and values `(batch, kv_heads, capacity, dim)`, and the length,
            int32 of shape `()`. With a window, they have its size at most: token i is at place
            i mod window.
        """
        size = capacity if self.window is None else min(capacity, self.window)
        shape = (batch, self.num_kv_heads, size, self.head_dim)
        return Container(
            keys=ops.zeros(shape, dtype=dtype, like=like),
            values=ops.zeros(shape, dtype=dtype, like=like),
            length=ops.zeros((), dtype=dtypes.int32, like=like),
        )

    def forward(
        self,
        query: Array,
        source: Array | None = None,
        mask: Array | None = None,
        *,
        positions: Array | None = None,
        cache: Container | None = None,
        is_causal: bool = False,
    ) -> Any:
        """Attend from `query` to `source`, or to the tokens in a cache.

        Args:
            query: `(*batch, length, embed)`.
            source: the input of keys and values, `(*batch, source, embed)`; None is `query`.
            mask: broadcasts with `(*batch, heads, length, source)`; True where a query may
                attend, or numbers to add to the scores. With a cache, source are all tokens up to
                its capacity, also those that a window has passed.
            positions: `(length,)` or `(batch, length)`, for the rotation of queries and keys;
                None counts from the length of the cache.
            cache: from `init_cache` or the call before; attention is then causal.
            is_causal: whether query i attends only to keys 0 … i.

        Returns:
            `(*batch, length, embed)`; with a cache also the cache with the new tokens.

        Raises:
            ArgumentError: both `source` and `cache`.
        """
        if cache is not None and source is not None:
            raise ArgumentError(
                "GroupedQueryAttention: source: got an array with a cache, expected None"
            )
        source = query if source is None else source
        q = self._heads(self.q_proj(query), self.num_heads, self.q_norm)
        k = self._heads(self.k_proj(source), self.num_kv_heads, self.k_norm)
        v = split_heads(self.v_proj(source), self.num_kv_heads)
        places = position_range(ops.shape(q)[-2], q)
        if cache is not None:
            places = ops.add(places, cache["length"])
        if self.positions is not None:
            turns = places if positions is None else positions
            is_self = source is query
            q = self.positions(q, turns)
            k = self.positions(k, turns if is_self else None)
        keys = None
        if cache is not None:
            cache, past, keys = self._appended(cache, k, v, places)
            k, v = (ops.astype(past[name], dtypes.dtype_of(q)) for name in ("keys", "values"))
            if self.window is not None:
                mask = _at_places(mask, keys)
        out = self._attended(q, k, v, mask, places, is_causal, keys)
        out = self.o_proj(merge_heads(out))
        return out if cache is None else (out, cache)

    def _heads(self, x: Array, count: int, norm: Module | None) -> Array:
        heads = split_heads(x, count)
        return heads if norm is None else norm(heads)

    def _appended(
        self, cache: Container, k: Array, v: Array, places: Array
    ) -> tuple[Container, Container | dict[str, Array], Array]:
        """The next cache, the keys and values to attend to, and the places of these."""
        new = {name: ops.astype(x, cache[name].dtype) for name, x in (("keys", k), ("values", v))}
        length, size = ops.add(places[-1], 1), cache["keys"].shape[-2]
        if self.window is None:
            cache = _written(cache, new, places, length)
            return cache, cache, position_range(size, k)
        newest = {name: x[..., -size:, :] for name, x in new.items()}
        following = _written(cache, newest, ops.remainder(places[-size:], size), length)
        if places.shape == (1,):
            return following, following, _places_in_ring(length, size)
        # new tokens may replace tokens that the first of them attend to
        past = {name: ops.concat([cache[name], x], axis=-2) for name, x in new.items()}
        keys = ops.concat([_places_in_ring(cache["length"], size), places])
        return following, past, keys

    def _attended(
        self,
        q: Array,
        k: Array,
        v: Array,
        mask: Any,
        places: Array,
        is_causal: bool,
        keys: Array | None,
    ) -> Array:
        """Attention with the window, the biases and the sinks; `keys` are places in a cache."""
        cached = keys is not None
        if cached or self.window is not None or self.relative_bias is not None:
            keys = keys if cached else position_range(ops.shape(k)[-2], k)
            if cached or self.window is not None:
                mask = both_masks(mask, self._visible(places, keys, cached or is_causal))
            if cached:
                is_causal = False
            if self.relative_bias is not None:
                bias = self.relative_bias(places, keys)
                mask = both_masks(mask, ops.astype(bias, dtypes.dtype_of(q)))
        if self.has_sinks:  # a key of zeros, whose score is the logit
            mask, is_causal = extended_mask(mask, is_causal, q, k, 1, self.sinks), False
            k, v = (ops.concat([x, ops.zeros_like(x[..., :1, :])], axis=-2) for x in (k, v))
        drop = self.dropout if self.training and self.dropout_rate > 0 else None
        return attend(
            q, k, v, mask, drop,
            is_causal=is_causal, scale=self.scale, enable_gqa=True, soft_cap=self.soft_cap,
        )  # fmt: skip

    def _visible(self, places: Array, keys: Array, is_causal: bool) -> Array:
        """Whether the query at a place may attend to a key, `(length, source)`."""
        distance = ops.subtract(ops.expand_dims(places, 1), keys)
        if self.window is None:
            return ops.greater_equal(distance, 0)
        is_near = ops.less(distance, self.window)
        least = 0 if is_causal else 1 - self.window
        return ops.logical_and(is_near, ops.greater_equal(distance, least))


def _written(cache: Container, new: Mapping[str, Array], rows: Array, length: Array) -> Container:
    """The cache with new keys and values in these rows."""
    at = (slice(None), slice(None), rows)
    arrays = {name: ops.setitem(cache[name], at, x) for name, x in new.items()}
    return Container(arrays, length=length)


def _places_in_ring(length: Array, size: int) -> Array:
    """The place of the token in each row of a ring of the last tokens; negative in empty rows."""
    last = ops.subtract(length, 1)
    age = ops.remainder(ops.subtract(last, position_range(size, length)), size)
    return ops.subtract(last, age)


def _at_places(mask: Array | None, places: Array) -> Array:
    """The mask of keys at these places, which hides empty rows."""
    if mask is not None and mask.shape[-1] != 1:
        mask = ops.take(mask, ops.maximum(places, 0), axis=-1)
    return both_masks(mask, ops.greater_equal(places, 0))
