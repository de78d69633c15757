"""Custom derivatives of this backend."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import tensorflow as tf

#: The features used by the mapped code that `tf.vectorized_map` does not support: custom
#: derivatives and branches. None outside of `vmap`.
lost: ContextVar[list[str] | None] = ContextVar("nestarray_lost", default=None)

#: The number of nested mapped functions around the running code.
depth: ContextVar[int] = ContextVar("nestarray_depth", default=0)


def is_mapped() -> bool:
    """Whether the running code is inside of a mapped function."""
    return depth.get() > 0


def lose(name: str) -> None:
    """Record that mapping loses the derivatives of the running code."""
    names = lost.get()
    if names is not None:
        names.append(name)


@contextmanager
def losing() -> Iterator[list[str]]:
    """The names of the features that the code inside uses; code around it uses them too."""
    around, names = lost.get(), []
    token = lost.set(names)
    try:
        yield names
    finally:
        lost.reset(token)
    if around is not None:
        around.extend(names)


def custom_gradient(fn: Callable[..., Any]) -> Callable[..., Any]:
    """``tf.custom_gradient`` with a rule that `vmap` keeps."""
    native = tf.custom_gradient(fn)

    @functools.wraps(fn)
    def call(*args: Any) -> Any:
        lose(fn.__name__)
        return native(*args)

    return call


def with_derivative_of(
    smooth: Callable[..., Any], native: Callable[..., Any]
) -> Callable[..., Any]:
    """`native` with the derivatives of `smooth`, a function with the same values."""

    @custom_gradient
    @functools.wraps(native)
    def function(*args: Any) -> Any:
        def gradient(upstream: Any) -> Any:
            # the graph of a loop's gradient has other tensors in place of the loop's
            inputs = tf.identity_n(args)
            with tf.GradientTape() as tape:
                tape.watch(inputs)
                y = smooth(*inputs)
            return tape.gradient(y, inputs, upstream)

        return native(*args), gradient

    return function


def summed(by_first: Any, by_second: Any, x1: Any, x2: Any) -> tuple[Any, Any]:
    """The gradients of broadcast operands, summed to the shapes of `x1` and `x2`."""
    shapes = tf.shape(x1), tf.shape(x2)
    axes = tf.raw_ops.BroadcastGradientArgs(s0=shapes[0], s1=shapes[1])
    return (
        tf.reshape(tf.reduce_sum(by_first, axes[0]), shapes[0]),
        tf.reshape(tf.reduce_sum(by_second, axes[1]), shapes[1]),
    )
