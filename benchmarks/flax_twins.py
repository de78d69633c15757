"""Flax implementations of the converted networks, with equal sizes.

Each function takes a configuration of `transformers` and an example, and returns
``(apply, variables)``; `tests/benchmarks/test_flax_twins.py` compares numbers of parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from flax import linen as nn
from jax import numpy as jnp

Twin = tuple[Callable[[Any, Any], Any], Any]


def _made(net: nn.Module, example: Any) -> Twin:
    return net.apply, jax.jit(net.init)(jax.random.key(0), example)


# -- convolutions ----------------------------------------------------------------------------


class _Bottleneck(nn.Module):
    width: int
    stride: int

    @nn.compact
    def __call__(self, x: Any) -> Any:
        def conv(x: Any, features: int, size: int, stride: int = 1) -> Any:
            pad = [(size // 2, size // 2)] * 2
            y = nn.Conv(features, (size, size), stride, pad, use_bias=False)(x)
            return nn.BatchNorm(use_running_average=True)(y)

        y = nn.relu(conv(x, self.width, 1))
        y = nn.relu(conv(y, self.width, 3, self.stride))
        y = conv(y, 4 * self.width, 1)
        if x.shape != y.shape:
            x = conv(x, 4 * self.width, 1, self.stride)
        return nn.relu(x + y)


class _ResNet(nn.Module):
    config: Any

    @nn.compact
    def __call__(self, x: Any) -> Any:
        x = nn.Conv(64, (7, 7), 2, [(3, 3)] * 2, use_bias=False)(x.transpose(0, 2, 3, 1))
        x = nn.relu(nn.BatchNorm(use_running_average=True)(x))
        around: Any = [(1, 1)] * 2
        x = nn.max_pool(x, (3, 3), (2, 2), around)
        for i, count in enumerate(self.config.depths):
            for j in range(count):
                x = _Bottleneck(64 * 2**i, 2 if i and not j else 1)(x)
        return nn.Dense(self.config.num_labels)(x.mean(axis=(1, 2)))


def resnet(config: Any, images: Any) -> Twin:
    """A residual network, for images with the channels first."""
    return _made(_ResNet(config), images)


# -- transformers ----------------------------------------------------------------------------


class _Attention(nn.Module):
    heads: int
    causal: bool = False

    @nn.compact
    def __call__(self, x: Any) -> Any:
        size = x.shape[-1]
        q, k, v = (nn.DenseGeneral((self.heads, size // self.heads))(x) for _ in range(3))
        mask = nn.make_causal_mask(x[..., 0]) if self.causal else None
        return nn.DenseGeneral(size, axis=(-2, -1))(nn.dot_product_attention(q, k, v, mask=mask))


class _Block(nn.Module):
    heads: int
    hidden: int
    eps: float
    norm_first: bool = True
    causal: bool = False
    approximate: bool = False

    @nn.compact
    def __call__(self, x: Any) -> Any:
        norms = [nn.LayerNorm(epsilon=self.eps) for _ in range(2)]
        parts = [_Attention(self.heads, self.causal), self._feed_forward]
        for norm, part in zip(norms, parts, strict=True):
            x = x + part(norm(x)) if self.norm_first else norm(x + part(x))
        return x

    def _feed_forward(self, x: Any) -> Any:
        y = nn.gelu(nn.Dense(self.hidden)(x), approximate=self.approximate)
        return nn.Dense(x.shape[-1])(y)


class _ViT(nn.Module):
    config: Any

    @nn.compact
    def __call__(self, images: Any) -> Any:
        c, size = self.config, self.config.hidden_size
        patch = (c.patch_size, c.patch_size)
        x = nn.Conv(size, patch, patch, "VALID")(images.transpose(0, 2, 3, 1))
        x = x.reshape(x.shape[0], -1, size)
        first = self.param("cls", nn.initializers.zeros, (1, 1, size))
        x = jnp.concatenate([first.repeat(x.shape[0], 0), x], 1)
        x = x + self.param("positions", nn.initializers.normal(0.02), (1, x.shape[1], size))
        for _ in range(c.num_hidden_layers):
            x = _Block(c.num_attention_heads, c.intermediate_size, 1e-12)(x)
        return nn.Dense(c.num_labels)(nn.LayerNorm(epsilon=1e-12)(x)[:, 0])


class _Bert(nn.Module):
    config: Any

    @nn.compact
    def __call__(self, ids: Any) -> Any:
        c = self.config
        x = nn.Embed(c.vocab_size, c.hidden_size)(ids)
        x = x + nn.Embed(c.max_position_embeddings, c.hidden_size)(jnp.arange(ids.shape[1]))
        x = x + nn.Embed(c.type_vocab_size, c.hidden_size)(jnp.zeros_like(ids))
        x = nn.LayerNorm(epsilon=c.layer_norm_eps)(x)
        for _ in range(c.num_hidden_layers):
            x = _Block(
                c.num_attention_heads, c.intermediate_size, c.layer_norm_eps, norm_first=False
            )(x)
        return x, nn.tanh(nn.Dense(c.hidden_size)(x[:, 0]))


class _GPT2(nn.Module):
    config: Any

    @nn.compact
    def __call__(self, ids: Any) -> Any:
        c = self.config
        x = nn.Embed(c.vocab_size, c.n_embd)(ids)
        x = x + nn.Embed(c.n_positions, c.n_embd)(jnp.arange(ids.shape[1]))
        for _ in range(c.n_layer):
            x = _Block(c.n_head, 4 * c.n_embd, c.layer_norm_epsilon, causal=True, approximate=True)(
                x
            )
        return nn.LayerNorm(epsilon=c.layer_norm_epsilon)(x)


def vit(config: Any, images: Any) -> Twin:
    """A vision transformer with a classifier, for images with the channels first."""
    return _made(_ViT(config), images)


def bert(config: Any, ids: Any) -> Twin:
    """A text encoder, which returns the sequence and the pooled first token."""
    return _made(_Bert(config), ids)


def gpt2(config: Any, ids: Any) -> Twin:
    """A text decoder, which returns the sequence."""
    return _made(_GPT2(config), ids)


#: Name of `torch_in.MODELS` → the twin of that model.
TWINS: dict[str, Callable[[Any, Any], Twin]] = {
    "ResNet-50": resnet,
    "ViT-B/16": vit,
    "BERT-base": bert,
    "GPT-2": gpt2,
}
