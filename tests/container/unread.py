"""Containers whose arrays have a shape and a dtype, and no values that could be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import nestarray as na


def looked_at(look: Callable[[na.Container], Any]) -> list[Any]:
    """What `look` gives for ``{"a": f32[2, 3]}`` of each kind of array without values.

    They are those that frameworks trace and transform, torch's meta device, the shapes
    of JAX, and an array that is deleted.
    """
    import jax
    import tensorflow as tf
    import torch

    found: list[Any] = []

    def seen(c: na.Container) -> na.Container:
        found.append(look(c))
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


def of_unknown_shape(look: Callable[[na.Container], Any]) -> Iterator[Any]:
    """What `look` gives for ``f32[?, 3]`` and for float32 of a rank not known yet."""
    import tensorflow as tf

    for shape in ((None, 3), None):
        found = []
        seen = _appending(look, found)
        tf.function(seen).get_concrete_function(tf.TensorSpec(shape, tf.float32))
        yield found[0]


def _appending(look: Callable[[na.Container], Any], found: list[Any]) -> Callable[[Any], Any]:
    def seen(x: Any) -> Any:
        found.append(look(na.Container(a=x)))
        return x

    return seen
