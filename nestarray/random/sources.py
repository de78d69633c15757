"""The basic draws, from either kind of key.

Keys of two words go through Threefry (`nestarray.ops.random`); keys of four are seeds of
the framework's own generator, ``backends/<name>/generators.py``. Settings have been checked
when they come here.
"""

from __future__ import annotations

from typing import Any

from nestarray import backends, dtypes, ops
from nestarray.errors import UnsupportedError
from nestarray.numerics import threefry
from nestarray.random.arguments import is_native
from nestarray.random.keys import split
from nestarray.typing import Array, DTypeLike, Shape


def generator_of(key: Array) -> Any:
    """The functions of the framework's own generator for a key of four words."""
    if hasattr(key, "generator"):  # a key that draws in its own way
        return key.generator
    threefry.check_words(key=key)
    backend = backends.backend_of_type(type(key))
    if backend is None:
        raise UnsupportedError(
            "random: calls with a native key cannot be recorded; give the graph a key such as "
            "na.random.key(0)"
        )
    return backends.chapter(backend, "generators")


def bits(key: Array, shape: Shape, dtype: DTypeLike) -> Array:
    """Fair bits."""
    if not is_native(key):
        return ops.random_bits(key, shape=shape, dtype=dtype)
    wanted = threefry.check_bits_dtype("random.bits", dtype)
    return generator_of(key).bits(key, tuple(shape), wanted)


def unit(key: Array, shape: Shape, dtype: DTypeLike) -> Array:
    """Uniform in [0, 1)."""
    if not is_native(key):
        return ops.random_uniform(key, shape=shape, dtype=dtype)
    wanted = dtypes.as_dtype(dtype)
    return generator_of(key).uniform(key, tuple(shape), wanted)


def halves(key: Array) -> tuple[Array, Array]:
    """Two new keys."""
    pair = split(key)
    return pair[0], pair[1]
