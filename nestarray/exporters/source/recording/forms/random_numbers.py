"""Random numbers by the framework's own generator.

PyTorch and TensorFlow have a generator, NumPy takes one as an argument, JAX takes a key and splits
it. On plain arrays the numbers are `fixed_numbers`, by which a source is compared with its graph.
"""

from __future__ import annotations

import importlib
from typing import Any

from nestarray import ops, random
from nestarray.backends import core
from nestarray.dtypes import as_dtype
from nestarray.exporters.source.recording.fixed_numbers import fixed
from nestarray.exporters.source.recording.observation import (
    Observed,
    current,
    is_recording,
    observed,
)
from nestarray.exporters.source.recording.records import Call, Value
from nestarray.random.arguments import NATIVE

#: Framework → kind of numbers → its function.
_FUNCTIONS = {
    "torch": {"uniform": "rand", "normal": "randn", "integers": "randint"},
    "jax": {"uniform": "uniform", "normal": "normal", "integers": "randint"},
    "tensorflow": {"uniform": "uniform", "normal": "normal", "integers": "uniform"},
    "numpy": {"uniform": "random", "normal": "standard_normal", "integers": "integers"},
}


def draw(
    like: Any, key: Any, *, kind: str, shape: Any, dtype: Any, limits: tuple[Any, ...], backend: str
) -> Any:
    """Random numbers; in the shape of `like`, if there is such an array.

    Args:
        like: an array, or None.
        key: of JAX, if the model takes one.
        kind: ``"uniform"``, ``"normal"`` or ``"integers"``.
        shape, dtype: of the numbers.
        limits: the lowest number, and the end; none for normal numbers.
        backend: of the array.
    """
    kind_of_dtype = as_dtype(dtype)
    if not is_recording():
        if key is None:
            return ops.to_backend(fixed(kind, shape, kind_of_dtype.name, *limits), backend)
        if kind == "integers":
            low, high = limits
            return random.randint(key, shape, low, high, dtype)
        return getattr(random, kind)(key, shape, dtype, *limits)
    name, native = _FUNCTIONS[backend][kind], core(backend).native_dtype(kind_of_dtype)
    settings = {} if kind_of_dtype.name == "float32" else {"dtype": native}
    if backend in ("jax", "tensorflow"):
        if limits not in ((), (0.0, 1.0)):
            settings = dict(zip(("minval", "maxval"), limits, strict=True)) | settings
        function = getattr(importlib.import_module(backend).random, name)
        start = _for_jax(key, like, shape) if backend == "jax" else _for_tensorflow(like, shape)
        return observed(f"{backend}.random.{name}", function)(*start, **settings)
    if backend == "numpy":
        generator, bounds = current().key, limits if kind == "integers" else ()
        numbers = getattr(generator, name)(*bounds, _shape(like, shape), dtype=native)
    elif kind == "integers":
        numbers = _torch(name)(*limits, tuple(shape), dtype=native)
    else:
        numbers = _torch(name)(*shape, **settings) if like is None else _torch(f"{name}_like")(like)
    if kind != "uniform":
        return numbers
    low, high = limits
    numbers = numbers * (high - low) if high - low != 1.0 else numbers
    return numbers + low if low != 0.0 else numbers


class SourceKey:
    """The key of a function that is not lowered, by which it draws the numbers of `draw`."""

    shape = NATIVE

    def __init__(self, backend: str) -> None:
        self.backend, self.generator = backend, self

    def uniform(self, _: Any, shape: Any, dtype: Any) -> Any:
        """In [0, 1)."""
        return self._draw("uniform", shape, dtype, (0.0, 1.0))

    def normal(self, _: Any, shape: Any, dtype: Any) -> Any:
        """With mean 0 and variance 1."""
        return self._draw("normal", shape, dtype, ())

    def integers(self, _: Any, low: int, high: int, shape: Any, dtype: Any) -> Any:
        """From `low` to below `high`."""
        return self._draw("integers", shape, dtype, (low, high))

    def _draw(self, kind: str, shape: Any, dtype: Any, limits: tuple[Any, ...]) -> Any:
        return draw(
            None, None, kind=kind, shape=shape, dtype=dtype, limits=limits, backend=self.backend
        )


def _torch(name: str) -> observed:
    """https://docs.pytorch.org/docs/stable/torch.html#random-sampling"""
    return observed(f"torch.{name}", getattr(importlib.import_module("torch"), name))


def _for_jax(key: Any, like: Any, shape: Any) -> tuple[Any, Any]:
    """The key, by default a part of the model's, and the shape."""
    recorder = current()
    if key is None:
        recorder.key, key = observed("jax.random.split", _pair)(recorder.key)
        recorder.key._noted.dtype, key._noted.dtype = "key", "subkey"
    return key, _shape(like, shape)


def _for_tensorflow(like: Any, shape: Any) -> tuple[Any]:
    import tensorflow as tf

    return (tuple(shape) if like is None else observed("tensorflow.shape", tf.shape)(like),)


def _pair(key: Any) -> tuple[Any, Any]:
    import jax

    first, second = jax.random.split(key)
    return first, second


def fold_in(key: Any, data: Any) -> Any:
    """The key that a number gives."""
    if not is_recording():
        return random.fold_in(key, data if isinstance(data, int) else ops.reshape(data, ()))
    import jax

    data = data if isinstance(data, int) else ops.reshape(data, ())
    return observed("jax.random.fold_in", jax.random.fold_in)(key, data)


def _shape(like: Any, shape: Any) -> Any:
    """The shape of an array as a user reads it, or numbers."""
    if like is None:
        return tuple(shape)
    recorder, value = current(), Value((), "shape")
    recorder.calls.append(Call("attribute:shape", (like._noted,), {}, value, recorder.place))
    return Observed(tuple(like.shape), value)
