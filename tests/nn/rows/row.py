"""A layer, its twin in torch, and their inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

import nestarray as na
from nestarray import nn


@dataclass(frozen=True)
class Row:
    """A layer, its twin, and the inputs of both.

    Args:
        name: unique; the name of the layer first.
        layer: makes the layer.
        twin: makes the module of torch that computes the same; its parameters and buffers have the
            paths of the layer's variables and states. None: `reference` or tests of their own.
        *shapes: of the inputs, which are normal numbers.
        inputs: makes the inputs from a generator of NumPy, in place of `shapes`.
        draws: whether the layer draws random numbers in training.
        has_kinks: whether second derivatives are not defined everywhere.
    """

    name: str
    layer: Callable[[], nn.Module]
    twin: Callable[[], torch.nn.Module] | None
    shapes: tuple[tuple[int, ...], ...] = ()
    inputs: Callable[[np.random.Generator], tuple[Any, ...]] | None = None
    draws: bool = False
    has_kinks: bool = False

    def xs(self) -> tuple[np.ndarray, ...]:
        """The inputs, the same in each call."""
        rng = np.random.default_rng(0)
        if self.inputs is not None:
            return tuple(self.inputs(rng))
        return tuple([rng.normal(size=shape).astype(np.float32) for shape in self.shapes])

    def on(self, backend: str) -> tuple[Any, ...]:
        """The inputs as arrays of a backend."""
        return tuple([na.to_backend(x, backend) for x in self.xs()])

    def initialized(self) -> nn.Module:
        """The layer with variables and state that are not constant, on NumPy."""
        if self.twin is not None:
            return self.pair()[0].to_backend("numpy")
        layer = self.layer().init(na.random.key(0))
        rng = np.random.default_rng(1)

        def moved(x: Any) -> Any:
            is_floating = np.issubdtype(x.dtype, np.floating)
            return x + 0.1 * rng.random(x.shape).astype(x.dtype) if is_floating else x

        return layer.with_variables(layer.v.map(moved), layer.s.map(moved))

    def pair(self) -> tuple[nn.Module, torch.nn.Module]:
        """The layer with the variables and the state of its twin, which are not constant."""
        assert self.twin is not None
        torch.manual_seed(0)
        twin = self.twin().eval()
        with torch.no_grad():
            for tensor in (*twin.parameters(), *twin.buffers()):
                if tensor.is_floating_point():
                    tensor.add_(0.1 * torch.rand_like(tensor))
        tree = na.Container.from_torch_module(twin, buffers=True)
        return self.layer().with_variables(tree.map(lambda t: t.clone())), twin


def both(name: str, layer: Callable[[Any], Any], *shapes: tuple[int, ...], **options: Any) -> Row:
    """A row of a layer that the same call makes in `nestarray.nn` and `torch.nn`."""
    return Row(name, lambda: layer(nn), lambda: layer(torch.nn), shapes, **options)
