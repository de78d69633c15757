"""PyTorch modules of models from other frameworks under ``torch.compile``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest
import torch
from flax import nnx

import nestarray as na


def test_torch_compiles_batch_normalization_of_series_of_jax() -> None:
    net, x = nnx.BatchNorm(4, rngs=nnx.Rngs(0)), np.ones((2, 3, 4), np.float32)
    native = na.to_module(net, jnp.asarray(x)).to_torch_module()
    linear = torch.nn.Linear(4, 4)  # which reads the layout of its input
    chain = torch.nn.Sequential(linear, native, linear)
    given = torch.tensor(x)
    compiled = torch.compile(chain, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(given), chain(given))


class Positions(torch.nn.Module):
    """Positions up to the length of the input: a condition on an open size."""

    def __init__(self) -> None:
        super().__init__()
        self.positions = torch.nn.Parameter(torch.linspace(0.0, 1.0, 24).reshape(8, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.dropout(x + self.positions[: x.shape[1]], 0.5, self.training)


def _of_conditions() -> Any:
    dynamic = {"x": {0: "batch", 1: "length"}}
    return na.to_module(Positions(), torch.zeros(2, 5, 3), dynamic=dynamic)


class _Counting(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.norm, self.drop = nnx.BatchNorm(3, rngs=rngs), nnx.Dropout(0.5, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.drop(self.norm(x))


def _of_counters() -> Any:
    """A count of random numbers in uint32, and means of an open number of rows."""
    dynamic = {"x": {0: "batch", 1: "length"}}
    return na.to_module(_Counting(nnx.Rngs(0)), jnp.zeros((2, 5, 3)), dynamic=dynamic)


class _Rows(eqx.Module):
    drop: eqx.nn.Dropout

    def __call__(self, x: jax.Array, key: jax.Array | None = None) -> jax.Array:
        if key is None:
            return x
        return jax.lax.map(lambda pair: self.drop(pair[0], key=pair[1]), (x, self._keys(x, key)))

    def _keys(self, x: jax.Array, key: jax.Array) -> jax.Array:
        return jax.random.split(key, x.shape[0])


def _of_rows() -> Any:
    """A function of each row."""
    return na.to_module(_Rows(eqx.nn.Dropout(0.5)), jnp.zeros((2, 5, 3)))


def _of_keras() -> Any:
    """Random bits of TensorFlow, and arrays of numbers."""
    keras.utils.clear_session()
    layers = [keras.Input((5, 3)), keras.layers.LayerNormalization(), keras.layers.Dropout(0.5)]
    return na.to_module(keras.Sequential(layers), np.zeros((2, 5, 3), np.float32))


class _Loop(eqx.Module):
    drop: eqx.nn.Dropout

    def __call__(self, x: jax.Array, key: jax.Array | None = None) -> jax.Array:
        mean = x.mean((0, 1))

        def step(y: jax.Array, factor: jax.Array) -> tuple[jax.Array, None]:
            return jnp.tanh(y * factor + mean) @ jnp.eye(3), None

        y, _ = jax.lax.scan(step, x, jnp.arange(1.0, 4.0))
        return self.drop(y + 1, key=key, inference=key is None)


def _of_loops() -> Any:
    """The step of a loop that reads a value of the program around it."""
    dynamic = {"x": {0: "batch", 1: "length"}}
    return na.to_module(_Loop(eqx.nn.Dropout(0.5)), jnp.zeros((2, 5, 3)), dynamic=dynamic)


class _Bags(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.bag = torch.nn.EmbeddingBag(5, 3, mode="mean")
        self.conv = torch.nn.Conv1d(3, 3, 3, padding="same", padding_mode="reflect")
        self.drop = torch.nn.Dropout(0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        words = self.bag(x.sum(2).long() % 5)
        return self.drop(self.conv(x.mT).mT + words[:, None])


def _of_bags() -> Any:
    """Sums by computed positions, and mirrored margins."""
    return na.to_module(_Bags(), torch.zeros(2, 5, 3))


@pytest.mark.one_in(12)
@pytest.mark.parametrize(
    "build", [_of_bags, _of_loops, _of_conditions, _of_counters, _of_rows, _of_keras]
)
def test_torch_compiles_training(build: Callable[[], Any]) -> None:
    module = build()
    native, twin = module.to_torch_module(), module.to_torch_module()  # which count their draws
    torch.compiler.reset()  # else the modules of all tests count as one function's recompilations
    compiled = torch.compile(native, backend="eager", fullgraph=True)
    sizes = [(2, 5, 3), (4, 6, 3)] if module.graph.sizes.ranges else [(2, 5, 3)]
    for shape in sizes:
        x = torch.arange(1.0, 1 + np.prod(shape)).reshape(shape)
        torch.testing.assert_close(compiled.eval()(x), twin.eval()(x))
        torch.manual_seed(0)
        got = compiled.train()(x)
        torch.manual_seed(0)
        torch.testing.assert_close(got, twin.train()(x))
        assert 0 < (got == 0).sum() < got.numel()


def test_torch_compiles_powers_of_complex_numbers() -> None:
    def roots(w: jax.Array, x: jax.Array) -> jax.Array:
        return (jnp.exp(1j * w)[:, None] ** jnp.arange(3) @ x).real

    w, x = jnp.ones(2), jnp.ones(3)
    native = na.trace_graph(roots, w, x, v="w").to_torch_module()
    compiled = torch.compile(native, backend="eager", fullgraph=True)  # which torch.fx prints
    torch.testing.assert_close(compiled(torch.ones(3)), native(torch.ones(3)))
