"""An optimizer, its twin, and the variables and gradients of both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Any

import jax
import numpy as np
import optax
import torch

import nestarray as na
from nestarray import nn

STEPS = 50

_RNG = np.random.default_rng(0)

#: Variables: matrices that are high, wide and square, a vector, a tensor, a kernel, a scalar.
START = {
    "a": {"high": _RNG.normal(size=(4, 3)), "wide": _RNG.normal(size=(2, 5))},
    "square": _RNG.normal(size=(3, 3)),
    "vector": _RNG.normal(size=(4,)),
    "tensor": _RNG.normal(size=(2, 3, 2)),
    "kernel": _RNG.normal(size=(2, 3, 1, 2)),
    "scalar": _RNG.normal(size=()),
}
GRADS = [jax.tree.map(lambda x: _RNG.normal(size=x.shape), START) for _ in range(STEPS)]

Params = dict[str, Any]


@dataclass(frozen=True)
class Row:
    """An optimizer with its twin.

    Args:
        name: unique; the name of the optimizer first.
        optimizer: makes the optimizer.
        twin: steps of the twin: the variables after all gradients.
        paths: the leaves that the twin can train; None is all.
    """

    name: str
    optimizer: Callable[[], nn.Optimizer]
    twin: Callable[[Params, list[Params]], Params]
    paths: tuple[str, ...] | None = None

    def variables(self, backend: str, dtype: str = "float64") -> na.Container:
        """The first variables."""
        return self._part(START, backend, dtype)

    def grads(self, backend: str, dtype: str = "float64") -> Iterator[na.Container]:
        """The gradients of all steps."""
        return (self._part(grads, backend, dtype) for grads in GRADS)

    def _part(self, tree: Params, backend: str, dtype: str) -> na.Container:
        c = na.Container(tree) if self.paths is None else na.Container(tree).select(*self.paths)
        return c.map(lambda x: x.astype(dtype)).to_backend(backend)


@cache
def expected(row: Row) -> na.Container:
    """The variables of the twin after all steps, float64 in NumPy."""
    grads = [g.to_dict() for g in row.grads("numpy")]
    return na.Container(row.twin(row.variables("numpy").to_dict(), grads))


@contextmanager
def float64(backend: str) -> Iterator[None]:
    """JAX with float64."""
    with jax.enable_x64(True) if backend == "jax" else nullcontext():
        yield


def optax_steps(make: Callable[[], Any]) -> Callable[[Params, list[Params]], Params]:
    """Steps of a transformation of optax."""

    def steps(v: Params, grads: list[Params]) -> Params:
        with jax.enable_x64(True):
            transformation = make()
            v = jax.tree.map(jax.numpy.asarray, v)
            state = transformation.init(v)

            @jax.jit
            def step(v: Params, g: Params, state: Any) -> Any:
                updates, state = transformation.update(g, state, v)
                return optax.apply_updates(v, updates), state

            for g in grads:
                v, state = step(v, jax.tree.map(jax.numpy.asarray, g), state)
            return jax.tree.map(np.asarray, v)

    return steps


def torch_steps(make: Callable[[list[Any]], Any]) -> Callable[[Params, list[Params]], Params]:
    """Steps of an optimizer of PyTorch, whose numbers of a step are float64 too."""

    def steps(v: Params, grads: list[Params]) -> Params:
        torch.set_default_dtype(torch.float64)
        try:
            c = na.Container(v).to_backend("torch").map(lambda x: x.clone())
            optimizer = make(list(c.leaves()))
            for g in grads:
                for path, slope in na.Container(g).to_backend("torch").flat_items():
                    c[path].grad = slope.clone()
                optimizer.step()
        finally:
            torch.set_default_dtype(torch.float32)
        return c.to_backend("numpy").to_dict()

    return steps


def numpy_steps(
    make: Callable[[np.ndarray], Callable[[np.ndarray, np.ndarray], np.ndarray]],
) -> Callable[[Params, list[Params]], Params]:
    """Steps of each leaf: ``make(x)`` is a function with a memory of (x, gradient) → x."""

    def steps(v: Params, grads: list[Params]) -> Params:
        functions = jax.tree.map(make, v)
        for g in grads:
            v = jax.tree.map(lambda f, x, g: f(x, g), functions, v, g)
        return v

    return steps
