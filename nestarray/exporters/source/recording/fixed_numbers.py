"""Random numbers that depend on their shape only, by which a source is compared with its graph."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from nestarray import ops


def fixed(kind: str, shape: Any, dtype: str, *limits: float) -> np.ndarray:
    """The numbers of a shape.

    Args:
        kind: "uniform", "normal" or "integers".
        shape: the shape.
        dtype: its name.
        *limits: of uniform numbers and integers.
    """
    sizes = tuple(map(int, shape))
    generator = np.random.default_rng([len(sizes), *sizes])
    if kind == "normal":
        return generator.standard_normal(sizes).astype(dtype)
    low, high = limits or (0.0, 1.0)
    if kind == "uniform":
        return generator.uniform(low, high, sizes).astype(dtype)
    return generator.integers(int(low), int(high), sizes).astype(dtype)


def _limits(minval: float = 0.0, maxval: float = 1.0) -> tuple[float, float]:
    return minval, maxval


class FixedGenerator:
    """The methods of ``numpy.random.Generator`` that sources call."""

    def random(self, shape: Any, dtype: Any) -> np.ndarray:
        return fixed("uniform", shape, np.dtype(dtype).name)

    def standard_normal(self, shape: Any, dtype: Any) -> np.ndarray:
        return fixed("normal", shape, np.dtype(dtype).name)

    def integers(self, low: int, high: int, shape: Any, dtype: Any) -> np.ndarray:
        return fixed("integers", shape, np.dtype(dtype).name, low, high)


class Replaced:
    """A framework with another namespace `random`."""

    def __init__(self, framework: ModuleType, random: SimpleNamespace) -> None:
        self._framework, self.random = framework, random

    def __getattr__(self, name: str) -> Any:
        return getattr(self._framework, name)


def jax_random() -> SimpleNamespace:
    """The functions of ``jax.random`` that sources call; without a key the numbers are fixed."""
    import jax

    def draw(kind: str, name: str) -> Any:
        def drawn(key: Any, shape: Any, dtype: Any = "float32", **limits: Any) -> Any:
            if key is not None:
                return getattr(jax.random, name)(key, shape, dtype=dtype, **limits)
            array = fixed(kind, shape, np.dtype(dtype).name, *_limits(**limits))
            return ops.to_backend(array, "jax")

        return drawn

    kinds = {"uniform": "uniform", "normal": "normal", "randint": "integers"}
    functions = {name: draw(kind, name) for name, kind in kinds.items()}
    functions["split"] = lambda key, num=2: (
        [None] * num if key is None else jax.random.split(key, num)
    )
    return SimpleNamespace(**{**vars(jax.random), **functions})


def tensorflow_random() -> SimpleNamespace:
    """The functions of ``tf.random`` that sources call."""
    import tensorflow as tf

    def draw(kind: str) -> Any:
        def drawn(shape: Any, dtype: Any = tf.float32, **limits: Any) -> Any:
            numbers = kind if dtype.is_floating else "integers"
            return tf.constant(fixed(numbers, shape, dtype.name, *_limits(**limits)))

        return drawn

    return SimpleNamespace(uniform=draw("uniform"), normal=draw("normal"))


def mlx_random() -> SimpleNamespace:
    """The functions of ``mx.random`` that sources call."""
    import mlx.core as mx

    def normal(shape: Any, dtype: Any = mx.float32) -> Any:
        return mx.array(fixed("normal", shape, _name(dtype)))

    def uniform(low: float = 0.0, high: float = 1.0, *, shape: Any, dtype: Any = mx.float32) -> Any:
        return mx.array(fixed("uniform", shape, _name(dtype), low, high))

    def randint(low: int, high: int, shape: Any, dtype: Any = mx.int32) -> Any:
        return mx.array(fixed("integers", shape, _name(dtype), low, high))

    return SimpleNamespace(
        **{**vars(mx.random), "normal": normal, "uniform": uniform, "randint": randint}
    )


def _name(dtype: Any) -> str:
    """The name of a dtype of PyTorch or MLX."""
    return str(dtype).rpartition(".")[2]


def keras_random() -> SimpleNamespace:
    """The functions of ``keras.random`` that sources call."""
    import keras

    def draw(kind: str) -> Any:
        def drawn(
            shape: Any, *limits: Any, dtype: str = "float32", seed: Any = None, **named: Any
        ) -> Any:
            bounds = limits or ((0, 1) if kind == "integers" else _limits(**named))
            return keras.ops.convert_to_tensor(fixed(kind, shape, dtype, *bounds))

        return drawn

    kinds = {"uniform": "uniform", "normal": "normal", "randint": "integers"}
    functions = {name: draw(kind) for name, kind in kinds.items()}
    return SimpleNamespace(**{**vars(keras.random), **functions})


def torch_functions() -> dict[Any, Any]:
    """Function of PyTorch → the function of fixed numbers."""
    import torch

    def of(kind: str) -> Any:
        def drawn(*shape: Any, dtype: Any = torch.float32) -> Any:
            return torch.from_numpy(fixed(kind, shape, _name(dtype)))

        return drawn

    def like(kind: str) -> Any:
        return lambda x: of(kind)(*x.shape, dtype=x.dtype)

    def integers(low: int, high: int, shape: Any, dtype: Any = torch.int64) -> Any:
        name = _name(dtype)
        return torch.from_numpy(fixed("integers", shape, name, low, high))

    return {
        torch.rand: of("uniform"), torch.rand_like: like("uniform"),
        torch.randn: of("normal"), torch.randn_like: like("normal"), torch.randint: integers,
    }  # fmt: skip
