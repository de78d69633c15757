"""Models of Flax, Haiku and Equinox, in the style of their examples.

A row is a function of `train` that returns (source, arguments, keyword arguments) of
`trace_graph`, and the number of arrays that training writes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import flax.linen as nn
import haiku as hk
import jax
import jax.numpy as jnp
from flax import nnx

from tests.arrays import normal as array

KEY = jax.random.PRNGKey(0)


IMAGES = array(2, 16, 16, 3)
IDS = jnp.asarray([[1, 4, 0, 2, 6], [3, 3, 5, 1, 0]])


class Row(NamedTuple):
    """A model.

    Attributes:
        make: returns (source, arguments, keyword arguments), for `train`.
        state: the number of arrays that training writes.
        eval_state: the same in evaluation.
    """

    make: Callable[[bool], Any]
    state: int = 0
    eval_state: int = 0


def linen(module: nn.Module, *args: Any, state: int = 0, rngs: Any = None, **kwargs: Any) -> Row:
    """A module with an argument `train`, or without."""

    def make(train: bool) -> Any:
        variables = module.init({"params": KEY, "dropout": KEY}, *args, **kwargs)
        given = kwargs | ({"rngs": rngs} if rngs is not None and train else {})
        return module, args, {"variables": variables, **given}

    return Row(make, state)


# -- linen ---------------------------------------------------------------------------------------


class Bottleneck(nn.Module):
    features: int
    strides: int = 1

    @nn.compact
    def __call__(self, x: Any, train: bool) -> Any:
        norm = lambda **s: nn.BatchNorm(use_running_average=not train, momentum=0.9, **s)  # noqa: E731
        y = nn.relu(norm()(nn.Conv(self.features, (1, 1), use_bias=False)(x)))
        y = nn.Conv(self.features, (3, 3), self.strides, use_bias=False)(y)
        y = nn.Conv(2 * self.features, (1, 1), use_bias=False)(nn.relu(norm()(y)))
        y = norm(scale_init=nn.initializers.zeros_init())(y)
        if x.shape != y.shape:
            x = norm()(nn.Conv(2 * self.features, (1, 1), self.strides, use_bias=False)(x))
        return nn.relu(x + y)


class ResNet(nn.Module):
    @nn.compact
    def __call__(self, x: Any, train: bool = True) -> Any:
        x = nn.Conv(8, (7, 7), (2, 2), padding=[(3, 3), (3, 3)], use_bias=False)(x)
        x = nn.relu(nn.BatchNorm(use_running_average=not train)(x))
        x = nn.max_pool(x, (3, 3), (2, 2), "SAME")
        for i in range(2):
            x = Bottleneck(4 * 2**i, 1 + i)(x, train)
        return nn.Dense(10)(jnp.mean(x, (1, 2)))


class UNet(nn.Module):
    @nn.compact
    def __call__(self, x: Any, train: bool = False) -> Any:
        def block(x: Any, n: int) -> Any:
            x = nn.Conv(n, (3, 3))(x)
            x = nn.BatchNorm(use_running_average=not train)(x)
            return nn.Dropout(0.2, deterministic=not train)(nn.leaky_relu(x))

        kept = []
        for n in (4, 8):
            x = block(x, n)
            kept.append(x)
            x = nn.avg_pool(x, (2, 2), (2, 2))
        x = block(x, 16)
        for n, skip in zip((8, 4), reversed(kept)):
            x = nn.ConvTranspose(n, (2, 2), (2, 2))(x)
            x = block(jnp.concatenate([x, skip], -1), n)
        size = (x.shape[0], 20, 20, x.shape[-1])
        return nn.Conv(2, (1, 1))(jax.image.resize(x, size, "bilinear"))


class MixerBlock(nn.Module):
    @nn.compact
    def __call__(self, x: Any) -> Any:
        y = jnp.swapaxes(nn.LayerNorm()(x), 1, 2)
        y = nn.Dense(y.shape[-1])(nn.gelu(nn.Dense(12)(y)))
        x = x + jnp.swapaxes(y, 1, 2)
        return x + nn.Dense(x.shape[-1])(nn.gelu(nn.Dense(16)(nn.LayerNorm()(x))))


class Mixer(nn.Module):
    @nn.compact
    def __call__(self, x: Any) -> Any:
        x = nn.Conv(8, (4, 4), (4, 4), name="stem")(x)
        x = x.reshape(x.shape[0], -1, x.shape[-1])
        for _ in range(2):
            x = MixerBlock()(x)
        return nn.Dense(3, kernel_init=nn.initializers.normal(0.1))(nn.LayerNorm()(x).mean(1))


class ViT(nn.Module):
    @nn.compact
    def __call__(self, x: Any, train: bool = False) -> Any:
        x = nn.Conv(8, (4, 4), (4, 4), padding="VALID")(x).reshape(x.shape[0], -1, 8)
        token = self.param("cls", nn.initializers.normal(0.1), (1, 1, 8))
        x = jnp.concatenate([jnp.tile(token, (x.shape[0], 1, 1)), x], 1)
        x = x + self.param("positions", nn.initializers.normal(0.02), (1, 17, 8))
        x = nn.Dropout(0.1)(x, deterministic=not train)
        for _ in range(2):
            y = nn.LayerNorm()(x)
            x = x + nn.MultiHeadDotProductAttention(2, deterministic=not train, dropout_rate=0.1)(y)
            x = x + nn.Dense(8)(nn.gelu(nn.Dense(16)(nn.LayerNorm()(x))))
        return nn.Dense(5)(nn.LayerNorm()(x)[:, 0])


class ConvNeXt(nn.Module):
    @nn.compact
    def __call__(self, x: Any) -> Any:
        x = nn.LayerNorm(epsilon=1e-6)(nn.Conv(8, (4, 4), (4, 4))(x))
        for i in range(2):
            y = nn.LayerNorm()(nn.Conv(8, (7, 7), feature_group_count=8)(x))
            y = nn.gelu(nn.Dense(32)(y), approximate=False)
            norm = jnp.sqrt(jnp.sum(y**2, (1, 2), keepdims=True) + 1e-6)
            y = y * norm / (norm.mean(-1, keepdims=True) + 1e-6)
            y = nn.Dense(8)(y) * self.param(f"gamma_{i}", nn.initializers.constant(0.1), (8,))
            x = x + y
        return nn.Dense(3)(x.mean((1, 2)))


class Captioner(nn.Module):
    """A convolutional encoder and a text decoder with cross attention."""

    @nn.compact
    def __call__(self, images: Any, ids: Any) -> Any:
        memory = nn.relu(nn.Conv(8, (4, 4), (4, 4))(images)).reshape(images.shape[0], -1, 8)
        embed = nn.Embed(7, 8)
        position = jnp.arange(ids.shape[1])
        angle = position[:, None] / 10000 ** (jnp.arange(0, 8, 2) / 8)
        x = embed(ids) + jnp.concatenate([jnp.sin(angle), jnp.cos(angle)], -1)
        mask = nn.combine_masks(nn.make_causal_mask(ids), nn.make_attention_mask(ids > 0, ids > 0))
        x = x + nn.MultiHeadDotProductAttention(2)(nn.LayerNorm()(x), mask=mask)
        x = x + nn.MultiHeadDotProductAttention(2)(nn.LayerNorm()(x), memory)
        return embed.attend(x + nn.Dense(8)(nn.relu(nn.Dense(16)(nn.LayerNorm()(x)))))


class Perceiver(nn.Module):
    @nn.compact
    def __call__(self, x: Any) -> Any:
        x = x.reshape(x.shape[0], -1, x.shape[-1])
        latents = self.param("latents", nn.initializers.normal(1.0), (4, 8))
        z = jnp.broadcast_to(latents, (x.shape[0], 4, 8))
        attention = nn.MultiHeadDotProductAttention(2, qkv_features=8, out_features=8)
        for _ in range(2):  # weights are shared
            z = z + attention(z, x)
            z = z + nn.Dense(8)(jnp.tanh(z))
        return nn.Dense(3)(z.mean(1))


class WaveNet(nn.Module):
    @nn.compact
    def __call__(self, x: Any) -> Any:
        x, skips = nn.Dense(6)(x), 0
        for i in range(3):
            a, b = (nn.Conv(6, (2,), kernel_dilation=2**i, padding="CAUSAL")(x) for _ in range(2))
            y = jnp.tanh(a) * nn.sigmoid(b)
            skips += nn.Dense(6)(y)
            x = x + nn.Dense(6)(y)
        return nn.Dense(4)(nn.relu(skips))


class LanguageModel(nn.Module):
    """Layers of LSTMs with tied embeddings; the loss of the following tokens."""

    @nn.compact
    def __call__(self, ids: Any, train: bool = False) -> Any:
        embed = nn.Embed(7, 6)
        x = embed(ids[:, :-1])
        for _ in range(2):
            x = nn.RNN(nn.OptimizedLSTMCell(6))(x)
            x = nn.Dropout(0.3, deterministic=not train)(x)
        logp = nn.log_softmax(embed.attend(x))
        weights = ids[:, 1:] > 0
        nll = -jnp.take_along_axis(logp, ids[:, 1:, None], -1)[..., 0]
        return jnp.sum(nll * weights) / weights.sum(), jnp.exp(nll.mean())


class Llama(nn.Module):
    """Rotary positions, grouped queries, gated layers, repeated by a scan."""

    @nn.compact
    def __call__(self, ids: Any) -> Any:
        class Block(nn.Module):
            @nn.compact
            def __call__(self, x: Any, _: Any) -> Any:
                h = nn.RMSNorm()(x)
                q = nn.DenseGeneral((4, 4), use_bias=False, name="q")(h)
                k, v = (nn.DenseGeneral((2, 4), use_bias=False, name=n)(h) for n in "kv")
                q, k = rotated(q), rotated(k)
                k, v = jnp.repeat(k, 2, axis=2), jnp.repeat(v, 2, axis=2)
                scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 2
                mask = jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool))
                weights = nn.softmax(jnp.where(mask, scores, jnp.finfo(x.dtype).min))
                y = jnp.einsum("bhqk,bkhd->bqhd", weights, v)
                x = x + nn.DenseGeneral(8, axis=(-2, -1), use_bias=False, name="o")(y)
                h = nn.RMSNorm()(x)
                gate, up = (nn.Dense(12, use_bias=False, name=n)(h) for n in ("gate", "up"))
                return x + nn.Dense(8, use_bias=False, name="down")(nn.silu(gate) * up), None

        x = nn.Embed(7, 8)(ids)
        stack = nn.scan(nn.remat(Block), {"params": 0}, split_rngs={"params": True}, length=2)
        x, _ = stack(name="layers")(x, None)
        return nn.Dense(7, use_bias=False)(nn.RMSNorm()(x))


def rotated(x: Any) -> Any:
    angles = jnp.arange(x.shape[1])[:, None] / 100 ** (jnp.arange(2) / 2)
    a, b = jnp.split(x, 2, -1)
    sin, cos = jnp.sin(angles)[:, None], jnp.cos(angles)[:, None]
    return jnp.concatenate([a * cos - b * sin, a * sin + b * cos], -1)


class Autoregressive(nn.Module):
    """A decoder with a cache, one token per call."""

    @nn.compact
    def __call__(self, ids: Any) -> Any:
        x = nn.Embed(7, 8)(ids)
        index = self.variable("cache", "index", lambda: jnp.zeros((), jnp.int32))
        positions = self.param("positions", nn.initializers.normal(1.0), (5, 8))
        x = x + jax.lax.dynamic_slice(positions, (index.value, 0), (1, 8))
        index.value += 1
        x = x + nn.MultiHeadDotProductAttention(2, decode=True)(nn.LayerNorm()(x))
        return nn.Dense(7)(x)


def decoder(train: bool) -> Any:
    module = Autoregressive()
    variables = module.init(KEY, IDS[:, :1])
    variables["cache"]["index"] = jnp.zeros((), jnp.int32)
    return module, (IDS[:, :1],), {"variables": variables}


# -- nnx -----------------------------------------------------------------------------------------


class Transformer(nnx.Module):
    """A decoder of the style of GPT."""

    def __init__(self, decode: bool = False) -> None:
        rngs = nnx.Rngs(0, dropout=1)
        self.embed = nnx.Embed(7, 8, rngs=rngs)
        self.position = nnx.Param(0.1 * array(5, 8))
        self.norms = nnx.List([nnx.LayerNorm(8, rngs=rngs) for _ in range(4)])
        self.attention = nnx.List(
            [nnx.MultiHeadAttention(2, 8, decode=decode, rngs=rngs) for _ in range(2)]
        )
        self.up = nnx.List([nnx.Linear(8, 16, rngs=rngs) for _ in range(2)])
        self.down = nnx.List([nnx.Linear(16, 8, rngs=rngs) for _ in range(2)])
        self.dropout = nnx.Dropout(0.2, rngs=rngs)
        self.index = nnx.Cache(jnp.zeros((), jnp.int32))
        self.decode = decode

    def __call__(self, ids: Any) -> Any:
        n = ids.shape[1]
        x = self.embed(ids)
        if self.decode:
            x = x + jax.lax.dynamic_slice(self.position[...], (self.index[...], 0), (1, 8))
            self.index[...] += 1
            mask = None
        else:
            x, mask = x + self.position[...][:n], nnx.make_causal_mask(ids)
        for i in range(2):
            x = x + self.attention[i](self.norms[2 * i](x), mask=mask)
            h = nnx.gelu(self.up[i](self.norms[2 * i + 1](x)))
            x = x + self.dropout(self.down[i](h))
        return self.embed.attend(x)


def cached() -> Transformer:
    model = Transformer(decode=True)
    for attention in model.attention:
        attention.init_cache((2, 5, 8))
    return model


class GAN(nnx.Module):
    """A generator with batch normalization and transposed convolutions."""

    def __init__(self) -> None:
        rngs = nnx.Rngs(0)
        self.dense = nnx.Linear(3, 4 * 4 * 8, rngs=rngs)
        self.norm = nnx.BatchNorm(8, rngs=rngs)
        self.up = nnx.ConvTranspose(8, 4, (4, 4), (2, 2), rngs=rngs)
        self.out = nnx.ConvTranspose(4, 1, (4, 4), (2, 2), rngs=rngs)

    def __call__(self, z: Any) -> Any:
        x = self.dense(z).reshape(-1, 4, 4, 8)
        return nnx.tanh(self.out(nnx.leaky_relu(self.up(nnx.relu(self.norm(x))))))


class Seq2Seq(nnx.Module):
    """An encoder and a decoder with attention over its outputs."""

    def __init__(self) -> None:
        rngs = nnx.Rngs(0)
        self.embed = nnx.Embed(7, 6, rngs=rngs)
        self.encoder = nnx.Bidirectional(
            nnx.RNN(nnx.GRUCell(6, 4, rngs=rngs)), nnx.RNN(nnx.GRUCell(6, 4, rngs=rngs))
        )
        self.cell = nnx.GRUCell(6, 8, rngs=rngs)
        self.out = nnx.Linear(16, 7, rngs=rngs)

    def __call__(self, source: Any, target: Any) -> Any:
        memory = self.encoder(self.embed(source))
        h, outputs = jnp.zeros((source.shape[0], 8)), []
        for t in range(target.shape[1]):
            h, _ = self.cell(h, self.embed(target[:, t]))
            weights = nnx.softmax(jnp.einsum("bd,btd->bt", h, memory))
            outputs.append(
                self.out(jnp.concatenate([h, jnp.einsum("bt,btd->bd", weights, memory)], -1))
            )
        return jnp.stack(outputs, 1)


# -- Haiku ---------------------------------------------------------------------------------------


def vq_vae(x: Any, is_training: bool) -> Any:
    h = hk.Conv2D(8, 4, stride=2)(x)
    h = hk.Conv2D(4, 3)(jax.nn.relu(hk.BatchNorm(True, True, 0.9)(h, is_training)))
    found = hk.nets.VectorQuantizerEMA(4, 6, commitment_cost=0.25, decay=0.9)(h, is_training)
    y = jax.nn.relu(hk.Conv2DTranspose(8, 4, stride=2)(found["quantize"]))
    y = hk.Conv2D(3, 3)(y)
    return jnp.mean((y - x) ** 2) + found["loss"], {"y": y, "perplexity": found["perplexity"]}


def core_agent(x: Any, is_training: bool) -> Any:
    """An actor and critic over time with a reset core."""
    net = hk.ResetCore(hk.DeepRNN([hk.Linear(6), jax.nn.relu, hk.LSTM(5)]))
    resets = jnp.zeros(x.shape[:2], bool).at[2, 0].set(True)
    y, state = hk.dynamic_unroll(net, (x, resets), net.initial_state(x.shape[1]))
    y = hk.dropout(hk.next_rng_key(), 0.2 if is_training else 0.0, y)
    return hk.BatchApply(hk.Linear(3))(y), hk.BatchApply(hk.Linear(1))(y)[..., 0], state


def haiku(call: Any, *args: Any, state: int = 0, rng: Any = None) -> Row:
    def make(train: bool) -> Any:
        transformed = hk.transform_with_state(call)
        params, before = transformed.init(KEY, *args, is_training=True)
        given = {} if rng is None else {"rng": rng}
        return transformed, args, {"params": params, "state": before, **given}

    return Row(make, state)


# -- Equinox -------------------------------------------------------------------------------------


class Diffusion(eqx.Module):
    """A U-Net of a time and an image, with group normalization and attention."""

    time: eqx.nn.MLP
    down: list[eqx.nn.Conv2d]
    norms: list[eqx.nn.GroupNorm]
    attention: eqx.nn.MultiheadAttention
    up: eqx.nn.ConvTranspose2d
    out: eqx.nn.Conv2d
    dropout: eqx.nn.Dropout

    def __init__(self, key: Any) -> None:
        keys = iter(jax.random.split(key, 8))
        self.time = eqx.nn.MLP(4, 8, 8, 1, jax.nn.silu, key=next(keys))
        self.down = [
            eqx.nn.Conv2d(3, 8, 3, padding=1, key=next(keys)),
            eqx.nn.Conv2d(8, 8, 3, stride=2, padding=1, key=next(keys)),
        ]
        self.norms = [eqx.nn.GroupNorm(2, 8), eqx.nn.GroupNorm(4, 8)]
        self.attention = eqx.nn.MultiheadAttention(2, 8, key=next(keys))
        self.up = eqx.nn.ConvTranspose2d(8, 8, 4, stride=2, padding=1, key=next(keys))
        self.out = eqx.nn.Conv2d(16, 3, 1, key=next(keys))
        self.dropout = eqx.nn.Dropout(0.2)

    def __call__(self, t: Any, x: Any, *, key: Any = None) -> Any:
        frequencies = jnp.exp(jnp.arange(2.0)) * t
        embedded = self.time(jnp.concatenate([jnp.sin(frequencies), jnp.cos(frequencies)]))
        first = jax.nn.silu(self.norms[0](self.down[0](x)) + embedded[:, None, None])
        h = self.dropout(jax.nn.silu(self.norms[1](self.down[1](first))), key=key)
        c, height, width = h.shape
        flat = h.reshape(c, -1).T
        h = (flat + self.attention(flat, flat, flat)).T.reshape(c, height, width)
        return self.out(jnp.concatenate([self.up(h), first]))


class NeuralCDE(eqx.Module):
    """A recurrent cell over a series, scanned."""

    cell: eqx.nn.GRUCell
    out: eqx.nn.Linear
    first: jax.Array

    def __init__(self, key: Any) -> None:
        a, b = jax.random.split(key)
        self.cell = eqx.nn.GRUCell(3, 6, key=a)
        self.out = eqx.nn.Linear(6, 2, key=b)
        self.first = jnp.zeros(6)

    def __call__(self, xs: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            h = self.cell(x, h)
            return h, h

        h, hs = jax.lax.scan(step, self.first, xs)
        return jax.nn.softmax(self.out(h)), jax.vmap(self.out)(hs)


class Classifier(eqx.Module):
    """Convolutions with batch normalization, with state."""

    conv: eqx.nn.Conv2d
    norm: eqx.nn.BatchNorm
    spectral: eqx.nn.SpectralNorm
    head: eqx.nn.Linear

    def __init__(self) -> None:
        self.conv = eqx.nn.Conv2d(3, 4, 3, key=KEY)
        self.norm = eqx.nn.BatchNorm(4, "batch", mode="batch")
        self.spectral = eqx.nn.SpectralNorm(eqx.nn.Linear(4, 4, key=KEY), "weight", key=KEY)
        self.head = eqx.nn.Linear(4, 2, key=KEY)

    def __call__(self, x: Any, state: Any) -> Any:
        x, state = self.norm(self.conv(x), state)
        x, state = self.spectral(jax.nn.relu(x).mean((1, 2)), state)
        return self.head(x), state


def classifier(train: bool) -> Any:
    module, state = eqx.nn.make_with_state(Classifier)()
    function = jax.vmap(
        eqx.nn.inference_mode(module, value=not train),
        axis_name="batch", in_axes=(0, None), out_axes=(0, None),
    )  # fmt: skip
    return function, (array(4, 3, 6, 6), state), {}


MODELS: dict[str, Row] = {
    "linen-resnet": linen(ResNet(), IMAGES, state=16),
    "linen-unet": linen(UNet(), IMAGES, state=10, rngs={"dropout": KEY}),
    "linen-mixer": linen(Mixer(), IMAGES),
    "linen-vit": linen(ViT(), IMAGES, rngs={"dropout": jax.random.key(1)}),
    "linen-convnext": linen(ConvNeXt(), IMAGES),
    "linen-captioner": linen(Captioner(), IMAGES, IDS),
    "linen-perceiver": linen(Perceiver(), IMAGES),
    "linen-wavenet": linen(WaveNet(), array(2, 9, 2)),
    "linen-lstm": linen(LanguageModel(), IDS, rngs={"dropout": KEY}),
    "linen-llama": linen(Llama(), IDS),
    "linen-decoder": Row(decoder, 4, 4),
    "nnx-transformer": Row(lambda train: (Transformer(), (IDS,), {}), 1),
    "nnx-decoder": Row(lambda train: (cached(), (IDS[:, :1],), {}), 8, 7),
    "nnx-gan": Row(lambda train: (GAN(), (array(3, 3),), {}), 2),
    "nnx-seq2seq": Row(lambda train: (Seq2Seq(), (IDS, IDS[:, ::-1]), {}), 1, 1),
    "haiku-vq-vae": haiku(vq_vae, IMAGES, state=13),
    "haiku-agent": haiku(core_agent, array(4, 2, 3), rng=KEY),
    "equinox-diffusion": Row(
        lambda train: (Diffusion(KEY), (jnp.asarray(0.3), array(3, 8, 8)), {"key": KEY})
    ),
    "equinox-rnn": Row(lambda train: (NeuralCDE(KEY), (array(5, 3),), {})),
    "equinox-classifier": Row(classifier, 5),
}
