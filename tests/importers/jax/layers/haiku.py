"""Layers of Haiku and ``haiku.nets``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import haiku as hk
import jax
import jax.numpy as jnp

from tests.importers.jax.layers import (
    IDS,
    IMAGES,
    KEY,
    ROWS,
    SERIES,
    VOLUMES,
    Call,
    Row,
    array,
)


def layer(call: Callable[..., Any], *args: Any, state: int | None = None, rng: Any = None) -> Row:
    """A function of modules; with state if the number of arrays is given."""
    takes_mode = "is_training" in inspect.signature(call).parameters

    def called(train: bool) -> Call:
        mode = {"is_training": train} if takes_mode else {}
        transformed: Any
        if state is None:
            transformed = hk.transform(call)
            params = transformed.init(KEY, *args, **mode)
            return Call(
                transformed,
                args,
                {"params": params, **({} if rng is None else {"rng": rng})},
                lambda: transformed.apply(params, rng, *args, **mode),
            )
        transformed = hk.transform_with_state(call)
        trained = {"is_training": True} if takes_mode else {}
        params, before = transformed.init(KEY, *args, **trained)
        return Call(
            transformed,
            args,
            {"params": params, "state": before, **({} if rng is None else {"rng": rng})},
            lambda: transformed.apply(params, before, rng, *args, **mode)[0],
        )

    return Row(called, state or 0)


def core(make: Callable[[], Any], x: Any) -> Row:
    """Two steps of a recurrent core."""

    def call(x: Any) -> Any:
        module = make()
        y, state = module(x, module.initial_state(x.shape[0]))
        return module(jnp.cos(x), state), y

    return layer(call, x)


def unrolled(x: Any) -> Any:
    module = hk.LSTM(5)
    y, state = hk.dynamic_unroll(module, x, module.initial_state(2), time_major=False)
    z, _ = hk.static_unroll(hk.VanillaRNN(3), y, jnp.zeros((2, 3)), time_major=False)
    return y, state, z


def reset(x: Any) -> Any:
    module = hk.ResetCore(hk.GRU(5))
    state = jnp.ones((4, 5))
    return module((x, jnp.asarray([True, False, False, True])), state)


def deep(x: Any) -> Any:
    module = hk.deep_rnn_with_skip_connections([hk.LSTM(4), hk.GRU(3)])
    return module(x, module.initial_state(4))


def averaged(x: Any, is_training: bool) -> Any:
    y = hk.Linear(3)(x)
    mean = hk.ExponentialMovingAverage(0.9)(jnp.mean(y, 0), update_stats=is_training)
    return y - mean


def normalized_parameters(x: Any, is_training: bool) -> Any:
    w = {"a": {"w": hk.get_parameter("w", [6, 4], init=hk.initializers.RandomNormal())}}
    w = hk.SNParamsTree(ignore_regex="b")(w, update_stats=is_training)
    w = hk.EMAParamsTree(0.9)(w, update_stats=is_training)
    return x @ w["a"]["w"]


def repeated(x: Any) -> Any:
    """Layers with stacked parameters."""
    return hk.layer_stack(3)(lambda x: jnp.tanh(hk.Linear(6)(x)))(x)


def lifted(x: Any) -> Any:
    """Haiku's own loops and choices."""
    linear = hk.Linear(6)
    y = linear(x)
    y = hk.cond(y.sum() > 0, lambda a: linear(a), lambda a: -a, y)
    y = hk.switch(1, [lambda a: a, lambda a: linear(a)], y)
    y, ys = hk.scan(lambda c, _: (jnp.tanh(linear(c)), c.sum()), y, None, length=2)
    y = hk.vmap(linear, split_rng=False)(y)
    z = hk.fori_loop(0, 2, lambda i, c: jnp.sin(linear(c)), y)
    return hk.remat(linear)(y), hk.map(linear, y), ys, hk.grad(lambda a: linear(a).sum())(z)


def with_names(x: Any) -> Any:
    with hk.name_scope("outer"):
        y = hk.Linear(4, name="inner")(x)
    return hk.to_module(lambda y: hk.Bias()(y))("wrapped")(y)


def dropped(x: Any, is_training: bool) -> Any:
    x = hk.Linear(5)(x)
    if is_training:
        x = hk.dropout(hk.next_rng_key(), 0.3, x)
        x = x + 0.1 * jax.random.normal(hk.next_rng_key(), x.shape)
    return x


def quantized(module: Callable[..., Any]) -> Callable[..., Any]:
    def call(x: Any, is_training: bool) -> Any:
        found = module(embedding_dim=3, num_embeddings=7, commitment_cost=0.25)(x, is_training)
        return {key: found[key] for key in ("quantize", "loss", "perplexity", "encoding_indices")}

    return call


def small(make: Callable[..., Any], **settings: Any) -> Callable[..., Any]:
    """A residual network with few blocks."""
    return lambda x, is_training: make(num_classes=3, **settings)(x, is_training)


RESNET: dict[str, Any] = {
    "blocks_per_group": (1, 1, 1, 1),
    "channels_per_group": (8, 8, 8, 8),
}
LARGE = array(2, 32, 32, 3)
TABLE: dict[str, Row] = {
    "Linear": layer(lambda x: hk.Linear(4)(x), ROWS),
    "Bias": layer(lambda x: hk.Bias(bias_dims=[-1])(x), ROWS),
    "Conv1D": layer(lambda x: hk.Conv1D(4, 3, stride=2, padding="VALID")(x), SERIES),
    "Conv2D": layer(lambda x: hk.Conv2D(4, 3)(x), IMAGES),
    "Conv2D/channels_first": layer(
        lambda x: hk.Conv2D(4, 3, rate=2, data_format="NCHW", feature_group_count=1)(x), array(2, 3, 8, 8)
    ),
    "Conv2D/padding": layer(
        lambda x: hk.Conv2D(6, 3, padding=[hk.pad.causal, hk.pad.same], feature_group_count=3)(x), IMAGES
    ),
    "Conv3D": layer(lambda x: hk.Conv3D(3, 2)(x), VOLUMES),
    "ConvND": layer(lambda x: hk.ConvND(1, 4, 3, mask=jnp.ones((3, 3, 4)).at[2].set(0))(x), SERIES),
    "Conv1DTranspose": layer(lambda x: hk.Conv1DTranspose(4, 3, 2)(x), SERIES),
    "Conv2DTranspose": layer(lambda x: hk.Conv2DTranspose(4, 3, 2, output_shape=(16, 16))(x), IMAGES),
    "Conv3DTranspose": layer(lambda x: hk.Conv3DTranspose(3, 2, 2, padding="VALID")(x), VOLUMES),
    "ConvNDTranspose": layer(lambda x: hk.ConvNDTranspose(2, 4, 3, data_format="NCHW")(x), array(2, 3, 8, 8)),
    "DepthwiseConv1D": layer(lambda x: hk.DepthwiseConv1D(2, 3)(x), SERIES),
    "DepthwiseConv2D": layer(lambda x: hk.DepthwiseConv2D(2, 3, stride=2)(x), IMAGES),
    "DepthwiseConv3D": layer(lambda x: hk.DepthwiseConv3D(1, 2)(x), VOLUMES),
    "SeparableDepthwiseConv2D": layer(lambda x: hk.SeparableDepthwiseConv2D(2, 3)(x), IMAGES),
    "AvgPool": layer(lambda x: hk.AvgPool((2, 2, 1), (2, 2, 1), "SAME")(x), IMAGES),
    "MaxPool": layer(lambda x: hk.MaxPool((3, 3, 1), (2, 2, 1), "VALID")(x), IMAGES),
    "pool": layer(lambda x: (hk.avg_pool(x, (2, 2, 1), (2, 2, 1), "VALID"), hk.max_pool(x, (3, 3, 1), 1, "SAME")), IMAGES),
    "BatchNorm": layer(
        lambda x, is_training: hk.BatchNorm(True, True, 0.9)(x, is_training), IMAGES, state=6
    ),
    "LayerNorm": layer(lambda x: hk.LayerNorm((1, 2), True, True, param_axis=-1)(x), SERIES),
    "RMSNorm": layer(lambda x: hk.RMSNorm(-1)(x), ROWS),
    "GroupNorm": layer(lambda x: hk.GroupNorm(3)(x), IMAGES),
    "InstanceNorm": layer(lambda x: hk.InstanceNorm(True, True)(x), IMAGES),
    "SpectralNorm": layer(
        lambda x, is_training: hk.SpectralNorm()(x, update_stats=is_training), ROWS, state=2
    ),
    "SNParamsTree": layer(normalized_parameters, ROWS, state=5),
    "EMAParamsTree": layer(normalized_parameters, ROWS, state=5),
    "ExponentialMovingAverage": layer(averaged, ROWS, state=3),
    "Embed": layer(lambda i: hk.Embed(5, 4)(i), IDS),
    "Embed/one_hot": layer(lambda i: hk.Embed(5, 4, lookup_style="ONE_HOT")(i), IDS),
    "Flatten": layer(lambda x: hk.Flatten(-2)(x), IMAGES),
    "Reshape": layer(lambda x: hk.Reshape((3, -1))(x), IMAGES),
    "Sequential": layer(lambda x: hk.Sequential([hk.Linear(4), jax.nn.relu, hk.Linear(2)])(x), ROWS),
    "MultiHeadAttention": layer(
        lambda x: hk.MultiHeadAttention(2, 4, w_init=hk.initializers.VarianceScaling(1.0), model_size=5)(
            x, jnp.cos(x), x, mask=jnp.tri(8, dtype=bool)[None, None]
        ),
        SERIES,
    ),
    "LSTM": core(lambda: hk.LSTM(5), ROWS),
    "GRU": core(lambda: hk.GRU(5), ROWS),
    "VanillaRNN": core(lambda: hk.VanillaRNN(5, double_bias=False), ROWS),
    "Conv1DLSTM": core(lambda: hk.Conv1DLSTM((8,), 4, 3), SERIES),
    "Conv2DLSTM": core(lambda: hk.Conv2DLSTM((8, 8), 4, 3), IMAGES),
    "Conv3DLSTM": core(lambda: hk.Conv3DLSTM((5, 5, 5), 2, 2), VOLUMES),
    "DeepRNN": layer(deep, ROWS),
    "ResetCore": layer(reset, ROWS),
    "IdentityCore": layer(lambda x: hk.IdentityCore()(x, ()), ROWS),
    "dynamic_unroll": layer(unrolled, SERIES),
    "dropout": layer(dropped, ROWS, rng=KEY),
    "layer_stack": layer(repeated, ROWS),
    "lifted": layer(lifted, ROWS),
    "BatchApply": layer(lambda x: hk.BatchApply(hk.Linear(4))(x), SERIES),
    "names": layer(with_names, ROWS),
    "nets.MLP": layer(
        lambda x, is_training: hk.nets.MLP([8, 4], activate_final=True)(
            x, 0.3 if is_training else None, hk.next_rng_key() if is_training else None
        ),
        ROWS,
        rng=jax.random.key(2),
    ),
    "nets.ResNet": layer(
        small(hk.nets.ResNet, resnet_v2=True, bottleneck=True, **RESNET), LARGE, state=78
    ),
    "nets.ResNet18": layer(small(hk.nets.ResNet18), LARGE, state=120),
    "nets.MobileNetV1": layer(
        small(hk.nets.MobileNetV1, strides=(1, 2), channels=(8, 8)), LARGE, state=30
    ),
    "nets.VectorQuantizer": layer(quantized(hk.nets.VectorQuantizer), ROWS[:, :3]),
    "nets.VectorQuantizerEMA": layer(
        quantized(lambda **s: hk.nets.VectorQuantizerEMA(decay=0.9, **s)), ROWS[:, :3], state=7
    ),
}  # fmt: skip
#: Layers without a row.
WITHOUT = {
    "Module": "the base class",
    "RNNCore": "the base class",
    **{f"nets.ResNet{n}": "nets.ResNet with more blocks" for n in (34, 50, 101, 152, 200)},
}


def public() -> list[str]:
    """The classes of layers of Haiku."""
    return [
        prefix + name
        for prefix, module in (("", hk), ("nets.", hk.nets))
        for name in dir(module)
        if inspect.isclass(getattr(module, name)) and issubclass(getattr(module, name), hk.Module)
    ]
