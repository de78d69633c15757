"""Transformers of a decoder alone: one block with stacked variables, scanned over its layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nestarray import dtypes, ops
from nestarray.container import Container
from nestarray.errors.signatures import signature_errors
from nestarray.nn.frame import Frame
from nestarray.nn.linear import Linear
from nestarray.nn.module import Module
from nestarray.nn.stacking import Stacked
from nestarray.transforms.control_flow import scan
from nestarray.typing import Array


class GatedMLP(Module):
    """Gated affine maps, W_down (act(W_gate x) · W_up x), SwiGLU by default.

    Args:
        embed_dim: size of the last axis of the input and of the result.
        hidden_dim: size between the maps.
        activation: function of an array; None is `na.silu`.
        bias: whether the maps have biases.

    Variables: gate_proj/weight and up_proj/weight `(hidden, embed)`, down_proj/weight
    `(embed, hidden)`, and their biases.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.GatedMLP(4, 8).init(na.random.key(0))
        >>> net(np.ones((2, 4), np.float32)).shape
        (2, 4)

    References:
        https://arxiv.org/abs/2002.05202
    """

    @signature_errors()
    def __init__(
        self,
        embed_dim: int,
        hidden_dim: int,
        activation: Callable[[Array], Array] | None = None,
        bias: bool = False,
    ) -> None:
        self.gate_proj = Linear(embed_dim, hidden_dim, bias)
        self.up_proj = Linear(embed_dim, hidden_dim, bias)
        self.down_proj = Linear(hidden_dim, embed_dim, bias)
        self.activation = activation or ops.silu

    def forward(self, x: Array) -> Array:
        """x: `(*batch, embed)`; returns the same shape."""
        return self.down_proj(ops.multiply(self.activation(self.gate_proj(x)), self.up_proj(x)))


class CausalBlock(Module):
    """x + attention(norm(x)), then x + mlp(norm(x)): a layer of Llama, GPT-2 or Mixtral.

    Args:
        self_attn: causal attention with a cache, such as `GroupedQueryAttention`.
        mlp: function of the embeddings, such as `GatedMLP` or `MixtureOfExperts`.
        input_layernorm: the normalization before the attention.
        post_attention_layernorm: the normalization before `mlp`.

    Variables: of its four layers, with the paths of ``LlamaDecoderLayer`` of `transformers`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> from nestarray import nn
        >>> attention = nn.GroupedQueryAttention(8, 2, 1, positions=nn.RotaryEmbedding(4))
        >>> block = nn.CausalBlock(attention, nn.GatedMLP(8, 16), nn.RMSNorm(8), nn.RMSNorm(8))
        >>> block.init(na.random.key(0))(np.ones((2, 5, 8), np.float32)).shape
        (2, 5, 8)
    """

    @signature_errors()
    def __init__(
        self,
        self_attn: Module,
        mlp: Module,
        input_layernorm: Module,
        post_attention_layernorm: Module,
    ) -> None:
        self.self_attn, self.mlp = self_attn, mlp
        self.input_layernorm = input_layernorm
        self.post_attention_layernorm = post_attention_layernorm

    def init_cache(self, *args: Any, **kwargs: Any) -> Container:
        """An empty cache of the attention, with its arguments."""
        return self.self_attn.init_cache(*args, **kwargs)

    def forward(
        self,
        x: Array,
        mask: Array | None = None,
        *,
        positions: Array | None = None,
        cache: Container | None = None,
    ) -> Any:
        """The next embeddings; arguments of `GroupedQueryAttention`, which is causal here.

        Returns:
            the shape of x; with a cache also the next cache.
        """
        rows = self.input_layernorm(x)
        out = self.self_attn(rows, None, mask, positions=positions, cache=cache, is_causal=True)
        out, cache = (out, None) if cache is None else out
        x = ops.add(x, out)
        x = ops.add(x, self.mlp(self.post_attention_layernorm(x)))
        return x if cache is None else (x, cache)


class CausalTransformer(Stacked):
    """A chain of causal blocks, scanned: the compiled program has one block for any depth.

    Args:
        block: the block, such as `CausalBlock`; called with embeddings and a mask, and the keywords
            positions and cache.
        num_layers: the number of blocks.
        norm: a normalization of the result, or None.

    Variables: of the block under ``layers``, each with a first axis of `num_layers`; of norm.

    Example:
        >>> import numpy as np, nestarray as na
        >>> from nestarray import nn
        >>> class Decoder(nn.Module):
        ...     def __init__(self):
        ...         attention = nn.GroupedQueryAttention(8, 2, 1, positions=nn.RotaryEmbedding(4))
        ...         mlp, norms = nn.GatedMLP(8, 16), [nn.RMSNorm(8) for _ in range(3)]
        ...         self.embed = nn.Embedding(10, 8)
        ...         self.model = nn.CausalTransformer(nn.CausalBlock(attention, mlp, *norms[:2]), 3, norms[2])
        ...     def forward(self, tokens, cache, positions=None, mask=None):
        ...         x, cache = self.model(self.embed(tokens), mask, positions=positions, cache=cache)
        ...         return x @ self.embed.weight.T, cache
        >>> net = Decoder().init(na.random.key(0))
        >>> prompt = np.asarray([[1, 2, 3]])
        >>> na.decoding.generate(net, net.model.init_cache(1, 7), prompt, 4).shape
        (1, 4)
    """

    @signature_errors()
    def __init__(self, block: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__(block, num_layers, "layers")
        self.norm = norm

    def _complete(self, frame: Frame, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        x = args[0] if args else kwargs["x"]  # masks and caches do not determine sizes
        super()._complete(frame, (x,), {})

    def init_cache(
        self, batch: int, capacity: int, dtype: Any = "float32", *, like: Any = None
    ) -> Container:
        """Empty caches of all blocks, for calls with ``cache=`` and for `na.decoding.generate`.

        Args:
            batch: the number of sequences, times beams.
            capacity: the largest number of tokens, of prompt and generation.
            dtype: of keys and values.
            like: an array whose framework and device to use; None means the default backend.

        Returns:
            a Container: arrays of the block's cache as `(batch, layers, …)`, scalars once.
        """
        cache = self.layer.init_cache(batch, capacity, dtype, like=like)
        return cache.map(lambda x: ops.stack([x] * self._count, axis=1) if len(x.shape) else x)

    def forward(
        self,
        x: Array,
        mask: Array | None = None,
        *,
        positions: Array | None = None,
        cache: Container | None = None,
    ) -> Any:
        """Apply the blocks in order.

        Args:
            x: `(batch, length, embed)`.
            mask: `(batch, source)`, False or 0 at padding; source is the length, or the capacity
                of the cache. Masks of more axes broadcast with `(batch, heads, length, source)`.
            positions: `(length,)` or `(batch, length)`, of the tokens; None counts from the length
                of the cache.
            cache: from `init_cache` or the call before.

        Returns:
            `(batch, length, embed)`; with a cache also the next one.
        """
        if mask is not None and len(mask.shape) == 2:
            mask = ops.expand_dims(ops.astype(mask, dtypes.bool), (1, 2))

        def step(x: Array, row: Any) -> tuple[Array, Any]:
            sets, past = row
            out, s = self._applied(sets, x, mask, positions=positions, cache=past)
            out, past = (out, None) if past is None else out
            return out, (s, past)

        past = None if cache is None else cache.map(self._by_layer)
        x, (s, past) = scan(step, x, (self._sets(), past), length=self._count)
        self._update(s)
        x = x if self.norm is None else self.norm(x)
        return x if past is None else (x, past.map(_by_row))

    def _by_layer(self, x: Array) -> Array:
        """`(batch, layers, …)` to `(layers, batch, …)`, and scalars to `(layers,)`."""
        if len(x.shape):
            return ops.swapaxes(x, 0, 1)
        return ops.broadcast_to(x, (self._count,))


def _by_row(x: Array) -> Array:
    """The inverse of `CausalTransformer._by_layer`."""
    return ops.swapaxes(x, 0, 1) if len(x.shape) > 1 else x[0]
