"""Random numbers by the framework's own generator.

PyTorch and TensorFlow have a generator, NumPy takes one as an argument, JAX takes a key and splits
it. On plain arrays the numbers are `fixed_numbers`, by which a source is compared with its graph.
"""

from __future__ import annotations

from typing import Any

import numpy as np

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


def uniform(
    like: Any, key: Any, *, shape: Any, dtype: Any, low: float, high: float, backend: str
) -> Any:
    """Uniform in [low, high); in the shape of `like`, if there is such an array."""
    if not is_recording():
        if key is not None:
            return random.uniform(key, shape, dtype, low, high)
        return _fixed("uniform", shape, dtype, backend, low, high)
    limits = {} if (low, high) == (0.0, 1.0) else {"minval": low, "maxval": high}
    if backend == "jax":
        return _jax("uniform", like, key, shape, dtype, **limits)
    if backend == "tensorflow":
        return _tensorflow("uniform", like, shape, dtype, **limits)
    drawn = _torch("rand", like, shape, dtype) if backend == "torch" else (
        _numpy("random", like, shape, dtype)
    )  # fmt: skip
    drawn = drawn * (high - low) if high - low != 1.0 else drawn
    return drawn + low if low != 0.0 else drawn


def normal(like: Any, key: Any, *, shape: Any, dtype: Any, backend: str) -> Any:
    """Of the standard normal distribution; in the shape of `like`, if there is such an array."""
    if not is_recording():
        if key is not None:
            return random.normal(key, shape, dtype)
        return _fixed("normal", shape, dtype, backend)
    if backend == "jax":
        return _jax("normal", like, key, shape, dtype)
    if backend == "tensorflow":
        return _tensorflow("normal", like, shape, dtype)
    if backend == "torch":
        return _torch("randn", like, shape, dtype)
    return _numpy("standard_normal", like, shape, dtype)


def integers(
    like: Any, key: Any, *, shape: Any, dtype: Any, low: int, high: int, backend: str
) -> Any:
    """Integers from `low` on, below `high`."""
    if not is_recording():
        if key is not None:
            return random.randint(key, shape, low, high, dtype)
        return _fixed("integers", shape, dtype, backend, low, high)
    native = core(backend).native_dtype(as_dtype(dtype))
    if backend == "jax":
        return _jax("randint", like, key, shape, dtype, minval=low, maxval=high)
    if backend == "tensorflow":
        return _tensorflow("uniform", like, shape, dtype, minval=low, maxval=high)
    if backend == "torch":
        import torch

        return observed("torch.randint", torch.randint)(low, high, tuple(shape), dtype=native)
    return _generator().integers(low, high, _shape(like, shape), dtype=native)


def fold_in(key: Any, data: Any) -> Any:
    """The key that a number gives."""
    if not is_recording():
        return random.fold_in(key, data if isinstance(data, int) else ops.reshape(data, ()))
    import jax

    data = data if isinstance(data, int) else ops.reshape(data, ())
    return observed("jax.random.fold_in", jax.random.fold_in)(key, data)


def _fixed(kind: str, shape: Any, dtype: Any, backend: str, *limits: float) -> Any:
    return ops.to_backend(fixed(kind, shape, as_dtype(dtype).name, *limits), backend)


def _shape(like: Any, shape: Any) -> Any:
    """The shape of an array as a user reads it, or numbers."""
    if like is None:
        return tuple(shape)
    recorder, value = current(), Value((), "shape")
    recorder.calls.append(Call("attribute:shape", (like._noted,), {}, value, recorder.place))
    return Observed(tuple(like.shape), value)


def _torch(name: str, like: Any, shape: Any, dtype: Any) -> Any:
    """https://docs.pytorch.org/docs/stable/torch.html#random-sampling"""
    import torch

    if like is not None:
        return observed(f"torch.{name}_like", getattr(torch, f"{name}_like"))(like)
    settings = {} if as_dtype(dtype).name == "float32" else {"dtype": _native("torch", dtype)}
    return observed(f"torch.{name}", getattr(torch, name))(*shape, **settings)


def _jax(name: str, like: Any, key: Any, shape: Any, dtype: Any, **settings: Any) -> Any:
    """https://docs.jax.dev/en/latest/jax.random.html"""
    import jax

    recorder = current()
    if key is None:
        recorder.key, key = observed("jax.random.split", _pair)(recorder.key)
        recorder.key._noted.dtype, key._noted.dtype = "key", "subkey"
    if as_dtype(dtype).name != "float32":
        settings["dtype"] = _native("jax", dtype)
    function = observed(f"jax.random.{name}", getattr(jax.random, name))
    return function(key, _shape(like, shape), **settings)


def _pair(key: Any) -> tuple[Any, Any]:
    import jax

    first, second = jax.random.split(key)
    return first, second


def _tensorflow(name: str, like: Any, shape: Any, dtype: Any, **settings: Any) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/random"""
    import tensorflow as tf

    if as_dtype(dtype).name != "float32":
        settings["dtype"] = _native("tensorflow", dtype)
    size = tuple(shape) if like is None else observed("tensorflow.shape", tf.shape)(like)
    return observed(f"tensorflow.random.{name}", getattr(tf.random, name))(size, **settings)


def _numpy(name: str, like: Any, shape: Any, dtype: Any) -> Any:
    """https://numpy.org/doc/stable/reference/random/generator.html"""
    settings = {"dtype": np.dtype(as_dtype(dtype).name)}
    return getattr(_generator(), name)(_shape(like, shape), **settings)


def _generator() -> Observed:
    found = current().key
    assert found is not None
    return found


def _native(backend: str, dtype: Any) -> Any:
    return core(backend).native_dtype(as_dtype(dtype))
