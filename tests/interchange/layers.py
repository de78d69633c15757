"""One layer of each kind in each library, with its variables and a call on channels-last arrays."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

os.environ.setdefault("KERAS_BACKEND", "jax")

import nestarray as na


class Network(NamedTuple):
    """A model, its variables, and its output for other variables.

    `inputs` converts a batch with channels last to the arguments of the model; None if the model is
    called in another way.
    """

    model: Any
    variables: na.Container
    call: Callable[[na.Container, np.ndarray], np.ndarray]
    inputs: Callable[[np.ndarray], np.ndarray] | None = lambda x: x


def randomized(v: na.Container) -> na.Container:
    """Random numbers, positive variances; counters are kept."""
    rng = np.random.default_rng(0)

    def value(path: str, x: Any) -> Any:
        if not x.ndim:
            return x
        numbers = rng.uniform(-0.5, 0.5, x.shape)
        return (abs(numbers) + 0.5 if "var" in path else numbers).astype("float32")

    return v.map(value, with_path=True)


def channels_first(x: np.ndarray) -> np.ndarray:
    return np.moveaxis(x, -1, 1)


def channels_last(x: np.ndarray) -> np.ndarray:
    return np.moveaxis(x, 1, -1)


def of_torch(net: Any, is_spatial: bool = False) -> Network:
    import torch

    net = net.eval()
    first, last = (channels_first, channels_last) if is_spatial else (lambda x: x, lambda x: x)

    def call(v: na.Container, x: np.ndarray) -> np.ndarray:
        tensors = na.to_backend(v, "torch").to_torch_state_dict()
        out = torch.func.functional_call(net, tensors, (torch.as_tensor(first(x)),))
        return last((out[0] if isinstance(out, tuple) else out).detach().numpy())

    v = na.Container.from_torch_module(net, buffers=True).map(lambda x: x.numpy())
    return Network(net, randomized(v), call, first)


def of_keras(layer: Any, x: np.ndarray) -> Network:
    layer(x)
    call = lambda v, x: np.asarray(v.load_into_keras(layer)(x))  # noqa: E731
    return Network(layer, randomized(na.Container.from_keras(layer).map(np.asarray)), call)


def of_linen(module: Any, x: np.ndarray) -> Network:
    import jax

    variables = module.init(jax.random.key(0), x)
    call = lambda v, x: np.asarray(module.apply(v.to_flax(), x))  # noqa: E731
    return Network(module, randomized(na.Container.from_flax(variables).map(np.asarray)), call)


def of_nnx(module: Any) -> Network:
    module.eval()
    call = lambda v, x: np.asarray(v.to_flax(like=module)(x))  # noqa: E731
    v = na.Container.from_flax(module)
    return Network(module, randomized(v.exclude("Rng*/**").map(np.asarray)), call)


def of_equinox(module: Any, is_spatial: bool = False) -> Network:
    import jax

    first, last = (channels_first, channels_last) if is_spatial else (lambda x: x, lambda x: x)

    def call(v: na.Container, x: np.ndarray) -> np.ndarray:
        return last(np.asarray(jax.vmap(v.to_equinox(module))(first(x))))

    return Network(
        module,
        randomized(na.Container.from_equinox(module).map(np.asarray)),
        call,
        lambda x: first(x)[0],  # one example
    )


def of_haiku(function: Callable[[Any], Any], x: np.ndarray) -> Network:
    import haiku as hk
    import jax

    f = hk.transform(function)
    parameters = f.init(jax.random.key(0), x)
    call = lambda v, x: np.asarray(f.apply(v.to_haiku(), None, x))  # noqa: E731
    return Network(f, randomized(na.Container.from_haiku(parameters).map(np.asarray)), call)


# -- layers ---------------------------------------------------------------------------------------

#: x of each family of layers: sequences (length 5) and images (7 × 6), of 4 channels.
SEQUENCE = np.random.default_rng(1).normal(size=(2, 5, 4)).astype("float32")
IMAGE = np.random.default_rng(2).normal(size=(2, 7, 6, 4)).astype("float32")
VOLUME = np.random.default_rng(3).normal(size=(2, 4, 5, 3, 4)).astype("float32")


def _x(rank: int) -> np.ndarray:
    return (SEQUENCE, IMAGE, VOLUME)[rank - 1]


def _convolution(size: tuple[int, ...], out: int = 4, groups: int = 1) -> dict[str, Any]:
    """Convolutions without padding; the size is a kernel of 1 to 3 axes."""
    import equinox as eqx
    import flax.linen as fl
    import haiku as hk
    import jax
    import keras
    from flax import nnx
    from torch import nn

    n = len(size)
    x = _x(n)
    grouped = {} if groups == 1 else {"feature_group_count": groups}
    builders = {
        "torch": lambda: of_torch(
            getattr(nn, f"Conv{n}d")(4, out, size, groups=groups), is_spatial=True
        ),
        "keras": lambda: of_keras(getattr(keras.layers, f"Conv{n}D")(out, size, groups=groups), x),
        "linen": lambda: of_linen(fl.Conv(out, size, padding="VALID", **grouped), x),
        "nnx": lambda: of_nnx(nnx.Conv(4, out, size, padding="VALID", rngs=nnx.Rngs(0), **grouped)),
        "haiku": lambda: of_haiku(
            lambda x: getattr(hk, f"Conv{n}D")(out, size, padding="VALID", **grouped)(x), x
        ),
        "equinox": lambda: of_equinox(
            eqx.nn.Conv(n, 4, out, size, groups=groups, key=jax.random.key(0)), is_spatial=True
        ),
    }
    if n == 3 and groups > 1:
        del builders["keras"]  # its backend refuses groups of three axes
    return builders


def _depthwise(size: tuple[int, ...], multiplier: int) -> dict[str, Any]:
    import haiku as hk
    import keras

    n, x = len(size), _x(len(size))
    builders = _convolution(size, 4 * multiplier, groups=4)
    builders["keras"] = lambda: of_keras(
        getattr(keras.layers, f"DepthwiseConv{n}D")(size, depth_multiplier=multiplier), x
    )
    builders["haiku"] = lambda: of_haiku(
        lambda x: getattr(hk, f"DepthwiseConv{n}D")(multiplier, size, padding="VALID")(x), x
    )
    return builders


def _transposed(size: tuple[int, ...], out: int, strides: int) -> dict[str, Any]:
    import equinox as eqx
    import flax.linen as fl
    import haiku as hk
    import jax
    import keras
    from flax import nnx
    from torch import nn

    n = len(size)
    x = _x(n)
    strided = (strides,) * n

    def linen(**settings: Any) -> Network:
        return of_linen(fl.ConvTranspose(out, size, strided, padding="VALID", **settings), x)

    def of_nnx_with(**settings: Any) -> Network:
        rngs = nnx.Rngs(0)
        return of_nnx(
            nnx.ConvTranspose(4, out, size, strided, padding="VALID", rngs=rngs, **settings)
        )

    return {
        "torch": lambda: of_torch(
            getattr(nn, f"ConvTranspose{n}d")(4, out, size, strides), is_spatial=True
        ),
        "keras": lambda: of_keras(
            getattr(keras.layers, f"Conv{n}DTranspose")(out, size, strides), x
        ),
        "linen": linen,
        "linen, transpose_kernel": lambda: linen(transpose_kernel=True),
        "nnx": of_nnx_with,
        "nnx, transpose_kernel": lambda: of_nnx_with(transpose_kernel=True),
        "haiku": lambda: of_haiku(
            lambda x: getattr(hk, f"Conv{n}DTranspose")(out, size, strides, padding="VALID")(x), x
        ),
        "equinox": lambda: of_equinox(
            eqx.nn.ConvTranspose(n, 4, out, size, strides, key=jax.random.key(0)), is_spatial=True
        ),
    }


def _linear(out: int) -> dict[str, Any]:
    import equinox as eqx
    import flax.linen as fl
    import haiku as hk
    import jax
    import keras
    from flax import nnx
    from torch import nn

    return {
        "torch": lambda: of_torch(nn.Linear(4, out)),
        "keras": lambda: of_keras(keras.layers.Dense(out), SEQUENCE),
        "keras, einsum": lambda: of_keras(
            keras.layers.EinsumDense("abc,cd->abd", (None, out), bias_axes="d"), SEQUENCE
        ),
        "linen": lambda: of_linen(fl.Dense(out), SEQUENCE),
        "linen, general": lambda: of_linen(fl.DenseGeneral(out), SEQUENCE),
        "nnx": lambda: of_nnx(nnx.Linear(4, out, rngs=nnx.Rngs(0))),
        "nnx, general": lambda: of_nnx(nnx.LinearGeneral(4, out, rngs=nnx.Rngs(0))),
        "haiku": lambda: of_haiku(lambda x: hk.Linear(out)(x), SEQUENCE),
        "equinox": lambda: _vmapped(eqx.nn.Linear(4, out, key=jax.random.key(0))),
    }


def _vmapped(layer: Any) -> Network:
    """A layer of Equinox for vectors, on sequences."""
    import jax

    network = of_equinox(layer)
    call = lambda v, x: np.asarray(jax.vmap(jax.vmap(v.to_equinox(layer)))(x))  # noqa: E731
    return network._replace(call=call, inputs=None)


def _embedding(rows: int, columns: int) -> dict[str, Any]:
    import equinox as eqx
    import flax.linen as fl
    import haiku as hk
    import jax
    import keras
    from flax import nnx
    from torch import nn

    return {
        "torch": lambda: of_torch(nn.Embedding(rows, columns)),
        "keras": lambda: of_keras(keras.layers.Embedding(rows, columns), TOKENS),
        "linen": lambda: of_linen(fl.Embed(rows, columns), TOKENS),
        "nnx": lambda: of_nnx(nnx.Embed(rows, columns, rngs=nnx.Rngs(0))),
        "haiku": lambda: of_haiku(lambda x: hk.Embed(rows, columns)(x), TOKENS),
        "equinox": lambda: _vmapped(eqx.nn.Embedding(rows, columns, key=jax.random.key(0))),
    }


TOKENS = np.array([[0, 1, 2], [3, 2, 0]])


def _norm(torch_layer: Any, keras_layer: Any, linen_layer: Any, nnx_layer: Any, haiku_layer: Any,
          x: np.ndarray) -> dict[str, Any]:  # fmt: skip
    builders = {
        "torch": lambda: of_torch(torch_layer(), is_spatial=x.ndim == 4),
        "keras": lambda: of_keras(keras_layer(), x),
        "linen": lambda: of_linen(linen_layer(), x),
        "nnx": lambda: of_nnx(nnx_layer()),
    }
    if haiku_layer is not None:
        builders["haiku"] = lambda: of_haiku(lambda x: haiku_layer()(x), x)
    return builders


def _batch_norm() -> dict[str, Any]:
    import flax.linen as fl
    import keras
    from flax import nnx
    from torch import nn

    return _norm(
        lambda: nn.BatchNorm2d(4),
        lambda: keras.layers.BatchNormalization(epsilon=1e-5),
        lambda: fl.BatchNorm(use_running_average=True, epsilon=1e-5),
        lambda: nnx.BatchNorm(4, use_running_average=True, epsilon=1e-5, rngs=nnx.Rngs(0)),
        None,
        IMAGE,
    )


def _layer_norm() -> dict[str, Any]:
    import flax.linen as fl
    import haiku as hk
    import keras
    from flax import nnx
    from torch import nn

    return _norm(
        lambda: nn.LayerNorm(4),
        lambda: keras.layers.LayerNormalization(epsilon=1e-5),
        lambda: fl.LayerNorm(epsilon=1e-5),
        lambda: nnx.LayerNorm(4, epsilon=1e-5, rngs=nnx.Rngs(0)),
        lambda: hk.LayerNorm(-1, True, True, eps=1e-5),
        SEQUENCE,
    )


def _group_norm() -> dict[str, Any]:
    import flax.linen as fl
    import haiku as hk
    import keras
    from flax import nnx
    from torch import nn

    return _norm(
        lambda: nn.GroupNorm(2, 4),
        lambda: keras.layers.GroupNormalization(2, epsilon=1e-5),
        lambda: fl.GroupNorm(2, epsilon=1e-5),
        lambda: nnx.GroupNorm(4, 2, epsilon=1e-5, rngs=nnx.Rngs(0)),
        lambda: hk.GroupNorm(2, eps=1e-5),
        IMAGE,
    )


def _rms_norm() -> dict[str, Any]:
    import flax.linen as fl
    import haiku as hk
    import keras
    from flax import nnx
    from torch import nn

    return _norm(
        lambda: nn.RMSNorm(4, eps=1e-6),
        lambda: keras.layers.RMSNormalization(epsilon=1e-6),
        lambda: fl.RMSNorm(epsilon=1e-6),
        lambda: nnx.RMSNorm(4, epsilon=1e-6, rngs=nnx.Rngs(0)),
        lambda: hk.RMSNorm(-1, eps=1e-6, create_scale=True),
        SEQUENCE,
    )


def _over_time(cell: Any) -> Network:
    """A cell of Equinox over sequences, from zeros."""
    import jax
    import jax.numpy as jnp

    network = of_equinox(cell)
    is_lstm = type(cell).__name__ == "LSTMCell"

    def call(v: na.Container, x: np.ndarray) -> np.ndarray:
        step = v.to_equinox(cell)
        zeros = jnp.zeros(cell.hidden_size)

        def scan(carry: Any, row: Any) -> Any:
            carry = step(row, carry)
            return carry, carry[0] if is_lstm else carry

        run = lambda rows: jax.lax.scan(scan, (zeros, zeros) if is_lstm else zeros, rows)[1]  # noqa: E731
        return np.asarray(jax.vmap(run)(x))

    return network._replace(call=call, inputs=None)


def _unrolled(make_cell: Any, size: int) -> Network:
    """A core of Haiku over sequences, from zeros."""
    import haiku as hk

    def forward(x: Any) -> Any:
        core = make_cell()
        return hk.dynamic_unroll(core, x, core.initial_state(len(x)), time_major=False)[0]

    return of_haiku(forward, SEQUENCE)


def _lstm(size: int) -> dict[str, Any]:
    import equinox as eqx
    import flax.linen as fl
    import haiku as hk
    import jax
    import keras
    from flax import nnx
    from torch import nn

    rngs = nnx.Rngs(0)
    return {
        "torch": lambda: of_torch(nn.LSTM(4, size, batch_first=True)),
        "keras": lambda: of_keras(keras.layers.LSTM(size, return_sequences=True), SEQUENCE),
        "linen": lambda: of_linen(fl.RNN(fl.LSTMCell(size)), SEQUENCE),
        "nnx": lambda: of_nnx(nnx.RNN(nnx.LSTMCell(4, size, rngs=rngs), rngs=rngs)),
        "nnx, optimized": lambda: of_nnx(
            nnx.RNN(nnx.OptimizedLSTMCell(4, size, rngs=rngs), rngs=rngs)
        ),
        "haiku": lambda: _unrolled(lambda: hk.LSTM(size), size),
        "equinox": lambda: _over_time(eqx.nn.LSTMCell(4, size, key=jax.random.key(0))),
    }


def _gru(size: int, bias: bool = True) -> dict[str, Any]:
    import equinox as eqx
    import flax.linen as fl
    import jax
    import keras
    from torch import nn

    builders = {
        "torch": lambda: of_torch(nn.GRU(4, size, batch_first=True, bias=bias)),
        "keras": lambda: of_keras(
            keras.layers.GRU(size, return_sequences=True, use_bias=bias), SEQUENCE
        ),
        "equinox": lambda: _over_time(
            eqx.nn.GRUCell(4, size, use_bias=bias, key=jax.random.key(0))
        ),
    }
    if bias:
        builders["linen"] = lambda: of_linen(fl.RNN(fl.GRUCell(size)), SEQUENCE)
    return builders


def _rnn(size: int) -> dict[str, Any]:
    import flax.linen as fl
    import keras
    from flax import nnx
    from torch import nn

    rngs = nnx.Rngs(0)
    return {
        "torch": lambda: of_torch(nn.RNN(4, size, batch_first=True)),
        "keras": lambda: of_keras(keras.layers.SimpleRNN(size, return_sequences=True), SEQUENCE),
        "linen": lambda: of_linen(fl.RNN(fl.SimpleCell(size)), SEQUENCE),
        "nnx": lambda: of_nnx(nnx.RNN(nnx.SimpleCell(4, size, rngs=rngs), rngs=rngs)),
    }


def _bidirectional(size: int) -> dict[str, Any]:
    import flax.linen as fl
    import keras
    from torch import nn

    return {
        "torch": lambda: of_torch(nn.LSTM(4, size, batch_first=True, bidirectional=True)),
        "keras": lambda: of_keras(
            keras.layers.Bidirectional(keras.layers.LSTM(size, return_sequences=True)), SEQUENCE
        ),
        "linen": lambda: of_linen(
            fl.Bidirectional(fl.RNN(fl.LSTMCell(size)), fl.RNN(fl.LSTMCell(size))), SEQUENCE
        ),
    }


def _stacked(size: int) -> dict[str, Any]:
    import flax.linen as fl
    import keras
    from torch import nn

    def stack() -> Any:
        layers = [keras.layers.GRU(size, return_sequences=True) for _ in range(2)]
        return keras.Sequential([keras.Input(SEQUENCE.shape[1:]), *layers])

    return {
        "torch": lambda: of_torch(nn.GRU(4, size, num_layers=2, batch_first=True)),
        "keras": lambda: of_keras(stack(), SEQUENCE),
        "linen": lambda: of_linen(
            fl.Sequential([fl.RNN(fl.GRUCell(size)), fl.RNN(fl.GRUCell(size))]), SEQUENCE
        ),
    }


def _separable(size: tuple[int, int], multiplier: int) -> dict[str, Any]:
    import keras
    from torch import nn

    inner = 4 * multiplier
    parts = [nn.Conv2d(4, inner, size, groups=4, bias=False), nn.Conv2d(inner, 4, 1)]
    layer = keras.layers.SeparableConv2D(4, size, depth_multiplier=multiplier)
    return {
        "torch": lambda: of_torch(nn.Sequential(*parts), is_spatial=True),
        "keras": lambda: of_keras(layer, IMAGE),
    }


def _attention() -> dict[str, Any]:
    """Self-attention, with all projections square."""
    import equinox as eqx
    import flax.linen as fl
    import jax
    import keras
    from flax import nnx
    from torch import nn

    class OfTorch(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention = nn.MultiheadAttention(4, 2, batch_first=True)

        def forward(self, x: Any) -> Any:
            return self.attention(x, x, x)[0]

    class OfKeras(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.attention = keras.layers.MultiHeadAttention(2, 2, name="attention")

        def call(self, x: Any) -> Any:
            return self.attention(x, x)

    class OfLinen(fl.Module):
        @fl.compact
        def __call__(self, x: Any) -> Any:
            return fl.MultiHeadDotProductAttention(2, name="attention")(x)

    class OfNnx(nnx.Module):
        def __init__(self) -> None:
            self.attention = nnx.MultiHeadAttention(
                2, in_features=4, decode=False, rngs=nnx.Rngs(0)
            )

        def __call__(self, x: Any) -> Any:
            return self.attention(x)

    class OfEquinox(eqx.Module):
        attention: eqx.nn.MultiheadAttention

        def __call__(self, x: Any) -> Any:
            return self.attention(x, x, x)

    biases = {f"use_{name}_bias": True for name in ("query", "key", "value", "output")}
    return {
        "torch": lambda: of_torch(OfTorch()),
        "keras": lambda: of_keras(OfKeras(), SEQUENCE),
        "linen": lambda: of_linen(OfLinen(), SEQUENCE),
        "nnx": lambda: of_nnx(OfNnx()),
        "equinox": lambda: of_equinox(
            OfEquinox(eqx.nn.MultiheadAttention(2, 4, key=jax.random.key(0), **biases))
        ),
    }


LAYERS: dict[str, Callable[[], dict[str, Any]]] = {
    "linear": lambda: _linear(3),
    "square linear": lambda: _linear(4),
    "embedding": lambda: _embedding(5, 3),
    "square embedding": lambda: _embedding(4, 4),
    "conv1d": lambda: _convolution((3,), 6),
    "conv1d, square": lambda: _convolution((4,), 4),
    "conv2d": lambda: _convolution((3, 2), 6),
    "conv2d, square": lambda: _convolution((4, 4), 4),
    "conv3d": lambda: _convolution((2, 2, 2), 4),
    "conv2d, groups": lambda: _convolution((3, 2), 6, groups=2),
    "conv2d, square groups": lambda: _convolution((2, 2), 4, groups=2),
    "depthwise conv1d": lambda: _depthwise((3,), 1),
    "depthwise conv2d": lambda: _depthwise((3, 2), 1),
    "depthwise conv2d, square": lambda: _depthwise((4, 4), 1),
    "depthwise conv2d, multiplier": lambda: _depthwise((3, 3), 2),
    "separable conv2d": lambda: _separable((3, 3), 1),
    "separable conv2d, square": lambda: _separable((4, 4), 2),
    "transposed conv1d": lambda: _transposed((3,), 6, 2),
    "transposed conv2d": lambda: _transposed((3, 2), 6, 2),
    "transposed conv2d, square": lambda: _transposed((4, 4), 4, 1),
    "transposed conv2d, one output": lambda: _transposed((3, 3), 1, 2),
    "transposed conv3d": lambda: _transposed((2, 2, 2), 4, 1),
    "attention": _attention,
    "batch norm": _batch_norm,
    "layer norm": _layer_norm,
    "group norm": _group_norm,
    "RMS norm": _rms_norm,
    "LSTM": lambda: _lstm(3),
    "square LSTM": lambda: _lstm(4),
    "GRU": lambda: _gru(3),
    "GRU without bias": lambda: _gru(4, bias=False),
    "RNN": lambda: _rnn(3),
    "bidirectional LSTM": lambda: _bidirectional(3),
    "stacked GRU": lambda: _stacked(4),
}
