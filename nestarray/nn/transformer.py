"""Transformers of an encoder and a decoder, with the paths and arguments of ``torch.nn``.

The batch is first by default, and masks are True where a query may attend.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, ClassVar

from nestarray import ops
from nestarray.errors import ArgumentError
from nestarray.errors.signatures import signature_errors
from nestarray.nn.attention import MultiHeadAttention
from nestarray.nn.linear import Linear
from nestarray.nn.module import Module
from nestarray.nn.normalization import LayerNorm
from nestarray.nn.regularization import Dropout
from nestarray.typing import Array

Activation = str | Callable[[Array], Array]


class _Layer(Module):
    """Attentions and two affine maps, each in a residual branch with dropout and a normalization."""

    attentions: ClassVar[tuple[str, ...]]

    @signature_errors()
    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = True,
        norm_first: bool = False,
        bias: bool = True,
    ) -> None:
        settings = {"dropout": dropout, "bias": bias, "batch_first": batch_first}
        for name in self.attentions:
            setattr(self, name, MultiHeadAttention(d_model, nhead, **settings))
        self.linear1 = Linear(d_model, dim_feedforward, bias)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias)
        branches = range(1, len(self.attentions) + 2)
        for i in branches:
            setattr(self, f"norm{i}", LayerNorm(d_model, layer_norm_eps, bias=bias))
        for i in branches:
            setattr(self, f"dropout{i}", Dropout(dropout))
        self.activation = _activation(type(self).__name__, activation)
        self.norm_first = norm_first

    def _residual(self, x: Array, branch: Callable[[Array], Array], norm: Module) -> Array:
        if self.norm_first:
            return ops.add(x, branch(norm(x)))
        return norm(ops.add(x, branch(x)))

    def _feed_forward(self, x: Array) -> Array:
        hidden = self.dropout(self.activation(self.linear1(x)))
        last = getattr(self, f"dropout{len(self.attentions) + 1}")
        return last(self.linear2(hidden))


class TransformerEncoderLayer(_Layer):
    """Self-attention and two affine maps, each in a residual branch with a normalization.

    ``norm(x + branch(x))``, or ``x + branch(norm(x))`` with `norm_first`.

    Args:
        d_model: size of the last axis of the input and of the result.
        nhead: number of heads; divides `d_model`.
        dim_feedforward: size between the affine maps.
        dropout: the probability of a zero in training mode, of attention weights too.
        activation: ``"relu"``, ``"gelu"`` or a function of an array.
        layer_norm_eps: added to variances.
        batch_first: False puts the length first, `(length, batch, d_model)`.
        norm_first: whether normalizations come before the branches.
        bias: whether affine maps and normalizations have biases.

    Variables: of self_attn, linear1, linear2, norm1 and norm2.

    Raises:
        ArgumentError: `nhead` does not divide `d_model`, or `activation` is unknown.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.TransformerEncoderLayer(8, 2, 16).init(na.random.key(0))
        >>> net(np.ones((4, 5, 8), np.float32)).shape
        (4, 5, 8)

    References:
        https://arxiv.org/abs/1706.03762
        https://docs.pytorch.org/docs/stable/generated/torch.nn.TransformerEncoderLayer.html
    """

    attentions = ("self_attn",)

    def forward(self, src: Array, mask: Array | None = None, *, is_causal: bool = False) -> Array:
        """Encode a sequence.

        Args:
            src: `(batch, length, d_model)`.
            mask: broadcasts with `(batch, heads, length, length)`; True where a query may attend,
                or numbers to add to the scores.
            is_causal: whether element i attends only to 0 … i.

        Returns:
            the shape of src.
        """

        def attend(x: Array) -> Array:
            return self.dropout1(self.self_attn(x, mask=mask, is_causal=is_causal))

        x = self._residual(src, attend, self.norm1)
        return self._residual(x, self._feed_forward, self.norm2)


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to a memory, and two affine maps, each in a residual branch.

    ``norm(x + branch(x))``, or ``x + branch(norm(x))`` with `norm_first`.

    Args:
        d_model: size of the last axis of the inputs and of the result.
        nhead: number of heads; divides `d_model`.
        dim_feedforward: size between the affine maps.
        dropout: the probability of a zero in training mode, of attention weights too.
        activation: ``"relu"``, ``"gelu"`` or a function of an array.
        layer_norm_eps: added to variances.
        batch_first: False puts the length first, `(length, batch, d_model)`.
        norm_first: whether normalizations come before the branches.
        bias: whether affine maps and normalizations have biases.

    Variables: of self_attn, multihead_attn, linear1, linear2, norm1, norm2 and norm3.

    Raises:
        ArgumentError: `nhead` does not divide `d_model`, or `activation` is unknown.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.TransformerDecoderLayer(8, 2, 16).init(na.random.key(0))
        >>> net(np.ones((4, 5, 8), np.float32), np.ones((4, 7, 8), np.float32)).shape
        (4, 5, 8)

    References:
        https://arxiv.org/abs/1706.03762
        https://docs.pytorch.org/docs/stable/generated/torch.nn.TransformerDecoderLayer.html
    """

    attentions = ("self_attn", "multihead_attn")

    def forward(
        self,
        tgt: Array,
        memory: Array,
        tgt_mask: Array | None = None,
        memory_mask: Array | None = None,
        *,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Array:
        """Decode a sequence.

        Args:
            tgt: `(batch, length, d_model)`.
            memory: the result of the encoder, `(batch, source, d_model)`.
            tgt_mask: broadcasts with `(batch, heads, length, length)`; True where a query may
                attend, or numbers to add to the scores.
            memory_mask: broadcasts with `(batch, heads, length, source)`.
            tgt_is_causal: whether element i attends only to 0 … i of `tgt`.
            memory_is_causal: whether element i attends only to 0 … i of `memory`.

        Returns:
            the shape of tgt.
        """

        def attend(x: Array) -> Array:
            return self.dropout1(self.self_attn(x, mask=tgt_mask, is_causal=tgt_is_causal))

        def recall(x: Array) -> Array:
            out = self.multihead_attn(x, memory, mask=memory_mask, is_causal=memory_is_causal)
            return self.dropout2(out)

        x = self._residual(tgt, attend, self.norm1)
        x = self._residual(x, recall, self.norm2)
        return self._residual(x, self._feed_forward, self.norm3)


class TransformerEncoder(Module):
    """A chain of encoder layers.

    Args:
        encoder_layer: the layer; each of the chain is a copy of it.
        num_layers: how many.
        norm: a normalization of the result, or None.

    Variables: of layers/0, layers/1, … and norm.

    Example:
        >>> import numpy as np, nestarray as na
        >>> layer = na.nn.TransformerEncoderLayer(8, 2, 16)
        >>> net = na.nn.TransformerEncoder(layer, 2).init(na.random.key(0))
        >>> net(np.ones((4, 5, 8), np.float32), is_causal=True).shape
        (4, 5, 8)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.TransformerEncoder.html
    """

    @signature_errors()
    def __init__(self, encoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        self.layers = [copy.deepcopy(encoder_layer) for _ in range(num_layers)]
        self.norm = norm

    def forward(self, src: Array, mask: Array | None = None, *, is_causal: bool = False) -> Array:
        """The layers in order; arguments of `TransformerEncoderLayer`."""
        for layer in self.layers:
            src = layer(src, mask, is_causal=is_causal)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    """A chain of decoder layers.

    Args:
        decoder_layer: the layer; each of the chain is a copy of it.
        num_layers: how many.
        norm: a normalization of the result, or None.

    Variables: of layers/0, layers/1, … and norm.

    Example:
        >>> import numpy as np, nestarray as na
        >>> layer = na.nn.TransformerDecoderLayer(8, 2, 16)
        >>> net = na.nn.TransformerDecoder(layer, 2).init(na.random.key(0))
        >>> net(np.ones((4, 5, 8), np.float32), np.ones((4, 7, 8), np.float32)).shape
        (4, 5, 8)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.TransformerDecoder.html
    """

    @signature_errors()
    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        self.layers = [copy.deepcopy(decoder_layer) for _ in range(num_layers)]
        self.norm = norm

    def forward(self, tgt: Array, memory: Array, *masks: Array | None, **settings: Any) -> Array:
        """The layers in order; arguments of `TransformerDecoderLayer`."""
        for layer in self.layers:
            tgt = layer(tgt, memory, *masks, **settings)
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder of the source and a decoder of the target, which attends to its result.

    Args:
        d_model: size of the last axis of the inputs and of the result.
        nhead: number of heads; divides `d_model`.
        num_encoder_layers: number of layers of the encoder.
        num_decoder_layers: number of layers of the decoder.
        dim_feedforward: size between the affine maps.
        dropout: the probability of a zero in training mode.
        activation: ``"relu"``, ``"gelu"`` or a function of an array.
        custom_encoder: in place of the encoder.
        custom_decoder: in place of the decoder.
        layer_norm_eps: added to variances.
        batch_first: False puts the length first, `(length, batch, d_model)`.
        norm_first: whether normalizations come before the branches.
        bias: whether affine maps and normalizations have biases.

    Variables: of encoder/layers/0, …, encoder/norm, decoder/layers/0, … and decoder/norm.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Transformer(8, 2, 1, 1, 16).init(na.random.key(0))
        >>> net(np.ones((4, 7, 8), np.float32), np.ones((4, 5, 8), np.float32)).shape
        (4, 5, 8)

    References:
        https://arxiv.org/abs/1706.03762
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Transformer.html
    """

    @signature_errors()
    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = "relu",
        custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = True,
        norm_first: bool = False,
        bias: bool = True,
    ) -> None:
        settings = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps)
        options = {"batch_first": batch_first, "norm_first": norm_first, "bias": bias}
        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*settings, **options),
            num_encoder_layers,
            LayerNorm(d_model, layer_norm_eps, bias=bias),
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*settings, **options),
            num_decoder_layers,
            LayerNorm(d_model, layer_norm_eps, bias=bias),
        )

    def forward(
        self,
        src: Array,
        tgt: Array,
        src_mask: Array | None = None,
        tgt_mask: Array | None = None,
        memory_mask: Array | None = None,
        *,
        src_is_causal: bool = False,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Array:
        """Encode `src`, and decode `tgt`; arguments of the layers.

        Returns:
            the shape of tgt.
        """
        memory = self.encoder(src, src_mask, is_causal=src_is_causal)
        return self.decoder(
            tgt, memory, tgt_mask, memory_mask,
            tgt_is_causal=tgt_is_causal, memory_is_causal=memory_is_causal,
        )  # fmt: skip


def _activation(layer: str, activation: Any) -> Callable[[Array], Array]:
    if callable(activation):
        return activation
    if activation not in ("relu", "gelu"):
        raise ArgumentError(
            f"{layer}: activation: got {activation!r}, expected 'relu', 'gelu' or a function"
        )
    return ops.relu if activation == "relu" else ops.gelu
