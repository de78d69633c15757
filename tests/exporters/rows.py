"""Models whose native modules the tests compare with their graphs."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import equinox as eqx
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import torch
from flax import linen, nnx

import nestarray as na
from tests.graph.networks import ConvNet, Nested, Tied


@dataclasses.dataclass
class Row:
    """A model of nestarray and its arguments in NumPy."""

    model: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = dataclasses.field(default_factory=dict)


def _images(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype("float32")


def _torch(net: torch.nn.Module, *args: Any, **kwargs: Any) -> Row:
    def tensors(x: Any) -> Any:
        return torch.from_numpy(x) if isinstance(x, np.ndarray) else x

    given = na.tree.map(tensors, (list(args), kwargs))
    return Row(na.to_module(net.eval(), *given[0], **given[1]), args, kwargs)


def conv_net() -> Row:
    """Batch statistics and dropout of PyTorch."""
    torch.manual_seed(0)
    return _torch(ConvNet(), _images(4, 1, 8, 8))


def nested() -> Row:
    """Nests as arguments, dicts as output, a buffer and a constant."""
    torch.manual_seed(0)
    extra = {"a": _images(2, 2), "b": [_images(2)]}
    return _torch(Nested(), _images(2, 3), extra=extra)


def tied() -> Row:
    """One parameter under two names."""
    torch.manual_seed(0)
    return _torch(Tied(), np.arange(4).reshape(2, 2) % 5)


def recurrent() -> Row:
    """A loop, and a tuple as output."""
    torch.manual_seed(0)
    return _torch(torch.nn.LSTM(3, 4, batch_first=True), _images(2, 5, 3))


class _NnxNet(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(3, 4, rngs=rngs)
        self.norm = nnx.BatchNorm(4, rngs=rngs)
        self.out = nnx.Linear(4, 2, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.out(nnx.relu(self.norm(self.linear(x))))


def nnx_net() -> Row:
    """Parameters and batch statistics of Flax NNX."""
    x = _images(5, 3)
    return Row(na.to_module(_NnxNet(nnx.Rngs(0)), jnp.asarray(x)), (x,))


class _LinenNet(linen.Module):
    @linen.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        return linen.Dense(2)(linen.LayerNorm()(linen.gelu(linen.Dense(4)(x))))


def linen_graph() -> Row:
    """A Graph of Linen, in evaluation mode alone."""
    x = _images(5, 3)
    net = _LinenNet()
    variables = net.init(jax.random.key(0), x)
    return Row(na.trace_graph(net, jnp.asarray(x), variables=variables), (x,))


def haiku_graph() -> Row:
    """A Graph of Haiku, whose names have slashes."""
    x = _images(5, 3)
    net = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([4, 2])(x)))
    return Row(na.trace_graph(net, jnp.asarray(x), params=net.init(jax.random.key(0), x)), (x,))


def equinox_graph() -> Row:
    """A Graph of Equinox."""
    x = _images(3)
    net = eqx.nn.MLP(3, 2, width_size=4, depth=1, key=jax.random.key(0))
    return Row(na.trace_graph(net, jnp.asarray(x)), (x,))


def own_module() -> Row:
    """An `nn.Module`, which is not a graph."""
    net = na.nn.Sequential(
        na.nn.Linear(3, 4), na.nn.BatchNorm(4), na.relu, na.nn.Dropout(0.5), na.nn.Linear(4, 2)
    )
    return Row(net.init(na.random.key(0, backend="numpy")), (_images(5, 3),))


ROWS: dict[str, Callable[[], Row]] = {
    f.__name__: functools.cache(f)
    for f in (
        conv_net, nested, tied, recurrent, nnx_net, linen_graph, haiku_graph, equinox_graph,
        own_module,
    )
}  # fmt: skip
