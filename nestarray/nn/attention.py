"""Attention with learned projections.

Positions, biases and normalizations are layers that an attention layer applies. A cache is a
Container that a call takes and returns, so decoding is a pure function as all calls are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nestarray import dtypes, ops
from nestarray.container import Container
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

    The arguments are those of ``torch.nn.MultiheadAttention``. The batch is first by default, and
    a mask is True where a query may attend, as in `na.scaled_dot_product_attention`.

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
            mask, is_causal = _extended(mask, is_causal, q, k, extra), False
            k, v = self._appended(k, "bias_k"), self._appended(v, "bias_v")
        q, k, v = (_split(x, self.num_heads) for x in (q, k, v))
        drop = self.dropout if self.training and self.dropout_rate > 0 else None
        out = self.out_proj(_merged(_attend(q, k, v, mask, drop, is_causal=is_causal)))
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


class GroupedQueryAttention(Module):
    """Attention whose heads share keys and values in groups: softmax(c · QₕKᵍᵀ + bias) Vᵍ.

    The paths are those of Llama, Gemma and gpt-oss in `transformers`, so
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
    and those of the layers under their names.

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
            int32 of shape `()`.
        """
        shape = (batch, self.num_kv_heads, capacity, self.head_dim)
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
                attend, or numbers to add to the scores. With a cache, source is its capacity.
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
        v = _split(self.v_proj(source), self.num_kv_heads)
        places = position_range(ops.shape(q)[-2], q)
        if cache is not None:
            places = ops.add(places, cache["length"])
        if self.positions is not None:
            turns = places if positions is None else positions
            is_self = source is query
            q = self.positions(q, turns)
            k = self.positions(k, turns if is_self else None)
        if cache is not None:
            cache = _appended(cache, k, v, places)
            k, v = (ops.astype(cache[name], dtypes.dtype_of(q)) for name in ("keys", "values"))
        out = self._attended(q, k, v, mask, places, is_causal, cache is not None)
        out = self.o_proj(_merged(out))
        return out if cache is None else (out, cache)

    def _heads(self, x: Array, count: int, norm: Module | None) -> Array:
        heads = _split(x, count)
        return heads if norm is None else norm(heads)

    def _attended(
        self, q: Array, k: Array, v: Array, mask: Any, places: Array, is_causal: bool, cached: bool
    ) -> Array:
        """Attention with the window, the biases and the sinks."""
        if cached or self.window is not None or self.relative_bias is not None:
            keys = position_range(ops.shape(k)[-2], k)
            if cached or self.window is not None:
                mask = _both(mask, self._visible(places, keys, cached or is_causal))
            if cached:
                is_causal = False
            if self.relative_bias is not None:
                bias = self.relative_bias(places, keys)
                mask = _both(mask, ops.astype(bias, dtypes.dtype_of(q)))
        if self.has_sinks:  # a key of zeros, whose score is the logit
            mask, is_causal = _extended(mask, is_causal, q, k, 1, self.sinks), False
            k, v = (ops.concat([x, ops.zeros_like(x[..., :1, :])], axis=-2) for x in (k, v))
        drop = self.dropout if self.training and self.dropout_rate > 0 else None
        return _attend(
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


def _attend(q: Array, k: Array, v: Array, mask: Any, drop: Any, **settings: Any) -> Array:
    """Attention by the op of the backend, or with dropout of its weights by a layer."""
    if drop is not None:
        settings = {"is_causal": False} | settings
        return attended(q, k, v, mask, drop=drop, **settings)
    if "soft_cap" in settings:
        settings["attn_logits_soft_cap"] = settings.pop("soft_cap")
    return ops.scaled_dot_product_attention(q, k, v, mask, **settings)


def _split(x: Array, heads: int) -> Array:
    """`(*batch, length, heads · dim)` to `(*batch, heads, length, dim)`."""
    *lead, size = ops.shape(x)
    return ops.swapaxes(ops.reshape(x, (*lead, heads, size // heads)), -3, -2)


def _merged(x: Array) -> Array:
    """`(*batch, heads, length, dim)` to `(*batch, length, heads · dim)`."""
    x = ops.swapaxes(x, -3, -2)
    *lead, heads, dim = ops.shape(x)
    return ops.reshape(x, (*lead, heads * dim))


def _appended(cache: Container, k: Array, v: Array, places: Array) -> Container:
    """The cache with the keys and values of new tokens at their places."""
    new = {
        name: ops.setitem(
            cache[name], (slice(None), slice(None), places), ops.astype(x, cache[name].dtype)
        )
        for name, x in (("keys", k), ("values", v))
    }
    return Container(new, length=ops.add(places[-1], 1))


def _is_bool(mask: Array) -> bool:
    return dtypes.dtype_of(mask) is dtypes.bool


def _biases(mask: Array) -> Array:
    """A mask as numbers to add."""
    return ops.where(mask, 0.0, -float("inf")) if _is_bool(mask) else mask


def _both(first: Array | None, second: Array) -> Array:
    """The mask that hides what either hides, and adds the numbers of both."""
    if first is None:
        return second
    if _is_bool(first) and _is_bool(second):
        return ops.logical_and(first, second)
    return ops.add(_biases(first), _biases(second))


def _extended(
    mask: Array | None, is_causal: bool, q: Array, k: Array, extra: int, logits: Array | None = None
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
        mask = _both(mask, ops.greater_equal(ops.expand_dims(rows, 1), columns))
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
