"""Containers of abstract arrays: shape and dtype are known, values are not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import nestarray as na


def on_abstract_arrays(function: Callable[[na.Container], Any]) -> list[Any]:
    """Results of `function` for ``{"a": f32[2, 3]}``, with each kind of array that has no values.

    They are traced and transformed arrays, torch's meta device, JAX's shapes and a deleted array.
    """
    import jax
    import tensorflow as tf
    import torch

    found: list[Any] = []

    def seen(c: na.Container) -> na.Container:
        found.append(function(c))
        return c

    jax.jit(seen)(na.Container(a=np.ones((2, 3), "float32")))
    tf.function(seen)(na.Container(a=tf.ones((2, 3))))
    na.jit(seen)(na.Container(a=torch.ones(2, 3)))
    torch.func.vmap(seen)(na.Container(a=torch.ones(5, 2, 3)))
    seen(na.Container(a=torch.ones((2, 3), device="meta")))
    seen(na.Container(a=jax.ShapeDtypeStruct((2, 3), "float32")))
    deleted = jax.numpy.ones((2, 3))
    deleted.delete()
    seen(na.Container(a=deleted))
    assert len(found) == 7
    return found


def on_unknown_shapes(function: Callable[[na.Container], Any]) -> Iterator[Any]:
    """Results of `function` for ``f32[?, 3]`` and for float32 of unknown rank."""
    import tensorflow as tf

    for shape in ((None, 3), None):
        found = []
        seen = _appending(function, found)
        tf.function(seen).get_concrete_function(tf.TensorSpec(shape, tf.float32))
        yield found[0]


def _appending(function: Callable[[na.Container], Any], found: list[Any]) -> Callable[[Any], Any]:
    def seen(x: Any) -> Any:
        found.append(function(na.Container(a=x)))
        return x

    return seen
