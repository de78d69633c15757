"""Layers of ``equinox.nn``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from tests.importers.jax.layers import KEY, ROWS, Call, Row, array

SERIES, IMAGE, VOLUME = array(3, 8), array(3, 8, 8), array(2, 5, 5, 5)


def layer(module: Callable[[], Any], *args: Any, **kwargs: Any) -> Row:
    """A module for one example."""

    def called(train: bool) -> Call:
        built = module()
        mode = eqx.nn.inference_mode(built, value=not train)
        return Call(built, args, kwargs, lambda: mode(*args, **kwargs))

    return Row(called)


def batched(make: Callable[[], Any], x: Any, state: int) -> Row:
    """A module with state, over the examples of a batch."""

    def called(train: bool) -> Call:
        module, before = eqx.nn.make_with_state(make)()
        module = eqx.nn.inference_mode(module, value=not train)
        function = jax.vmap(module, axis_name="batch", in_axes=(0, None), out_axes=(0, None))
        return Call(function, (x, before), {}, lambda: function(x, before)[0])

    return Row(called, state)


def stateful(make: Callable[[], Any], x: Any, state: int) -> Row:
    """A module with state."""

    def called(train: bool) -> Call:
        module, before = eqx.nn.make_with_state(make)()
        mode = eqx.nn.inference_mode(module, value=not train)
        return Call(module, (x, before), {}, lambda: mode(x, before)[0])

    return Row(called, state)


class Tied(eqx.Module):
    """Layers of which one has the weight of another."""

    shared: eqx.nn.Shared

    def __init__(self) -> None:
        embedding = eqx.nn.Embedding(5, 4, key=KEY)
        linear = eqx.nn.Linear(4, 5, use_bias=False, key=KEY)
        self.shared = eqx.nn.Shared(
            (embedding, linear), where=lambda pair: pair[1].weight, get=lambda pair: pair[0].weight
        )

    def __call__(self, i: Any) -> Any:
        embedding, linear = self.shared()
        return linear(embedding(i))


class Attention(eqx.Module):
    """Attention of two sequences."""

    attention: eqx.nn.MultiheadAttention

    def __call__(self, query: Any, other: Any, mask: Any = None, key: Any = None) -> Any:
        return self.attention(query, other, other, mask, key=key)


def attention(**settings: Any) -> Attention:
    return Attention(eqx.nn.MultiheadAttention(2, 6, key=KEY, **settings))


TABLE: dict[str, Row] = {
    "Linear": layer(lambda: eqx.nn.Linear(6, 4, key=KEY), ROWS[0]),
    "Linear/scalar": layer(lambda: eqx.nn.Linear(6, "scalar", use_bias=False, key=KEY), ROWS[0]),
    "Identity": layer(lambda: eqx.nn.Identity(), ROWS),
    "Lambda": layer(lambda: eqx.nn.Lambda(jnp.sin), ROWS),
    "Conv": layer(lambda: eqx.nn.Conv(1, 3, 4, 3, key=KEY), SERIES),
    "Conv1d": layer(lambda: eqx.nn.Conv1d(3, 4, 3, stride=2, dilation=2, key=KEY), SERIES),
    "Conv2d": layer(lambda: eqx.nn.Conv2d(3, 6, 3, padding="SAME", groups=3, key=KEY), IMAGE),
    "Conv2d/circular": layer(
        lambda: eqx.nn.Conv2d(3, 4, 3, padding=(1, 2), padding_mode="CIRCULAR", key=KEY), IMAGE
    ),
    "Conv2d/reflect": layer(
        lambda: eqx.nn.Conv2d(3, 4, 3, padding=1, padding_mode="REFLECT", key=KEY), IMAGE
    ),
    "Conv2d/replicate": layer(
        lambda: eqx.nn.Conv2d(3, 4, 3, padding=1, padding_mode="REPLICATE", key=KEY), IMAGE
    ),
    "Conv3d": layer(lambda: eqx.nn.Conv3d(2, 3, 2, key=KEY), VOLUME),
    "ConvTranspose": layer(lambda: eqx.nn.ConvTranspose(1, 3, 4, 3, stride=2, key=KEY), SERIES),
    "ConvTranspose1d": layer(
        lambda: eqx.nn.ConvTranspose1d(3, 4, 4, stride=2, padding=1, key=KEY), SERIES
    ),
    "ConvTranspose2d": layer(
        lambda: eqx.nn.ConvTranspose2d(3, 6, 3, 2, output_padding=1, groups=3, key=KEY), IMAGE
    ),
    "ConvTranspose3d": layer(
        lambda: eqx.nn.ConvTranspose3d(2, 3, 2, dilation=2, use_bias=False, key=KEY), VOLUME
    ),
    "GRUCell": layer(lambda: eqx.nn.GRUCell(6, 5, key=KEY), ROWS[0], array(5)),
    "LSTMCell": layer(lambda: eqx.nn.LSTMCell(6, 5, key=KEY), ROWS[0], (array(5), array(5, seed=2))),
    "MultiheadAttention": layer(lambda: attention(), ROWS, ROWS[:3]),
    "MultiheadAttention/mask": layer(
        lambda: attention(use_query_bias=True, use_output_bias=True, output_size=3),
        ROWS,
        ROWS,
        jnp.tri(4, dtype=bool),
    ),
    "MultiheadAttention/dropout": layer(
        lambda: attention(dropout_p=0.3), ROWS, ROWS, key=jax.random.key(5)
    ),
    "Dropout": layer(lambda: eqx.nn.Dropout(0.4), ROWS, key=KEY),
    "LayerNorm": layer(lambda: eqx.nn.LayerNorm((4, 6)), ROWS),
    "RMSNorm": layer(lambda: eqx.nn.RMSNorm(6, use_bias=True), ROWS[0]),
    "GroupNorm": layer(lambda: eqx.nn.GroupNorm(3, 3), IMAGE),
    "BatchNorm": batched(lambda: eqx.nn.BatchNorm(6, "batch", mode="batch"), ROWS, 3),
    "BatchNorm/ema": batched(lambda: eqx.nn.BatchNorm(3, "batch", mode="ema"), array(4, 3, 2), 3),
    "StatefulLayer": batched(
        lambda: eqx.nn.Sequential(
            [
                eqx.nn.Linear(6, 4, key=KEY),
                eqx.nn.BatchNorm(4, "batch", mode="batch", channelwise_affine=False),
                eqx.nn.Lambda(jax.nn.relu),
            ]
        ),
        ROWS,
        3,
    ),
    "SpectralNorm": stateful(
        lambda: eqx.nn.SpectralNorm(eqx.nn.Linear(6, 4, key=KEY), "weight", key=KEY), ROWS[0], 2
    ),
    "WeightNorm": layer(
        lambda: eqx.nn.WeightNorm(eqx.nn.Linear(6, 4, key=KEY), "weight", axis=0), ROWS[0]
    ),
    "Embedding": layer(lambda: eqx.nn.Embedding(5, 4, key=KEY), jnp.asarray(3)),
    "RotaryPositionalEmbedding": layer(lambda: eqx.nn.RotaryPositionalEmbedding(6), ROWS),
    "AvgPool1d": layer(lambda: eqx.nn.AvgPool1d(3, 2, padding=1), SERIES),
    "AvgPool2d": layer(lambda: eqx.nn.AvgPool2d(3, 2, padding=((1, 0), (0, 1))), IMAGE),
    "AvgPool3d": layer(lambda: eqx.nn.AvgPool3d(2, use_ceil=True), VOLUME),
    "MaxPool1d": layer(lambda: eqx.nn.MaxPool1d(3, 2), SERIES),
    "MaxPool2d": layer(lambda: eqx.nn.MaxPool2d(3, 2, padding=1, use_ceil=True), IMAGE),
    "MaxPool3d": layer(lambda: eqx.nn.MaxPool3d(2, 2), VOLUME),
    "Pool": layer(
        lambda: eqx.nn.Pool(0.0, jax.lax.add, 2, kernel_size=(2, 3), stride=(2, 1)), IMAGE
    ),
    "AdaptivePool": layer(lambda: eqx.nn.AdaptivePool((2, 3), 2, jnp.sum), IMAGE),
    "AdaptiveAvgPool1d": layer(lambda: eqx.nn.AdaptiveAvgPool1d(3), SERIES),
    "AdaptiveAvgPool2d": layer(lambda: eqx.nn.AdaptiveAvgPool2d((3, 4)), IMAGE),
    "AdaptiveAvgPool3d": layer(lambda: eqx.nn.AdaptiveAvgPool3d(2), VOLUME),
    "AdaptiveMaxPool1d": layer(lambda: eqx.nn.AdaptiveMaxPool1d(3), SERIES),
    "AdaptiveMaxPool2d": layer(lambda: eqx.nn.AdaptiveMaxPool2d((3, 4)), IMAGE),
    "AdaptiveMaxPool3d": layer(lambda: eqx.nn.AdaptiveMaxPool3d(2), VOLUME),
    "PReLU": layer(lambda: eqx.nn.PReLU(), ROWS),
    "MLP": layer(
        lambda: eqx.nn.MLP(6, 2, 8, 2, activation=jax.nn.gelu, final_activation=jnp.tanh, key=KEY),
        ROWS[0],
    ),
    "Sequential": layer(
        lambda: eqx.nn.Sequential(
            [eqx.nn.Linear(6, 4, key=KEY), eqx.nn.Lambda(jax.nn.silu), eqx.nn.Dropout(0.3)]
        ),
        ROWS[0],
        key=KEY,
    ),
    "Shared": layer(Tied, jnp.asarray(2)),
}  # fmt: skip

#: Layers without a row.
WITHOUT = {"StateIndex": "the place of an array in a state, without a call"}


def public() -> list[str]:
    """The classes of layers of ``equinox.nn``."""
    members = {name: getattr(eqx.nn, name) for name in dir(eqx.nn)}
    return [n for n, c in members.items() if inspect.isclass(c) and issubclass(c, eqx.Module)]
