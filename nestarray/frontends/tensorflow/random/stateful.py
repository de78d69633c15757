"""Random functions with a hidden state upstream, which is the argument `key` here.

The distributions are upstream's. The random bits come from `nestarray.random` and are equal on every
backend; `seed` has no effect, since a key determines all numbers.

Upstream: https://www.tensorflow.org/api_docs/python/tf/random
"""

from __future__ import annotations

from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.tensorflow.conversion import integers, tensor
from nestarray.frontends.tensorflow.random.stateless import Shape, between, scaled, sizes_of
from nestarray.typing import Array, DTypeLike

__all__ = ["categorical", "gamma", "normal", "poisson", "shuffle", "truncated_normal", "uniform"]


def required_key(name: str, key: Array | None) -> Array:
    """`key`.

    Raises:
        ArgumentError: it is None.
    """
    if key is None:
        raise ArgumentError(
            f"{name}: key: got None, expected a key: random functions take key=, for example "
            f"{name}(..., key=na.random.key(0)); the stateless functions take a seed"
        )
    return key


def uniform(
    shape: Shape,
    minval: Any = 0,
    maxval: Any = None,
    dtype: DTypeLike = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
    *,
    key: Array | None = None,
) -> Array:
    """Uniform numbers in [minval, maxval), floating or integers."""
    key, wanted, sizes = required_key("uniform", key), dtypes.as_dtype(dtype), sizes_of(shape)
    if wanted.kind == "float":
        high = 1 if maxval is None else maxval
        return between(na.random.uniform(key, sizes, dtype=wanted), minval, high)
    if maxval is None:
        raise ArgumentError("uniform: maxval: got None, expected a number for integers")
    return na.random.randint(key, sizes, minval, maxval, dtype=wanted)


def normal(
    shape: Shape,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: DTypeLike = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
    *,
    key: Array | None = None,
) -> Array:
    """Normal numbers."""
    drawn = na.random.normal(required_key("normal", key), sizes_of(shape), dtype=dtype)
    return scaled(drawn, mean, stddev)


def truncated_normal(
    shape: Shape,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: DTypeLike = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
    *,
    key: Array | None = None,
) -> Array:
    """Normal numbers of at most two standard deviations from the mean."""
    key = required_key("truncated_normal", key)
    drawn = na.random.truncated_normal(key, -2.0, 2.0, sizes_of(shape), dtype=dtype)
    return scaled(drawn, mean, stddev)


def gamma(
    shape: Shape,
    alpha: Any,
    beta: Any = None,
    dtype: DTypeLike = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
    *,
    key: Array | None = None,
) -> Array:
    """Numbers of the gamma distribution, `(*shape, *batch)`, with derivatives by both parameters."""
    key = required_key("gamma", key)
    alpha = tensor(alpha, dtype, key)
    beta = tensor(1 if beta is None else beta, dtype, alpha)
    batch = na.broadcast_shapes(na.shape(alpha), na.shape(beta))
    alpha = na.broadcast_to(alpha, (*sizes_of(shape), *batch))
    drawn = na.divide(na.random.gamma(key, alpha, dtype=dtypes.as_dtype(dtype)), beta)
    return na.maximum(drawn, dtypes.finfo(dtypes.dtype_of(drawn)).smallest_normal)


def poisson(
    shape: Shape,
    lam: Any,
    dtype: DTypeLike = dtypes.float32,
    seed: Any = None,
    name: str | None = None,
    *,
    key: Array | None = None,
) -> Array:
    """Poisson numbers of the rates `lam`, `(*shape, *batch)`."""
    key = required_key("poisson", key)
    lam = tensor(lam, like=key)
    drawn = na.random.poisson(key, lam, (*sizes_of(shape), *na.shape(lam)))
    return na.astype(drawn, dtype)


def categorical(
    logits: Any,
    num_samples: Any,
    dtype: DTypeLike | None = None,
    seed: Any = None,
    name: str | None = None,
    *,
    key: Array | None = None,
) -> Array:
    """Indices with the probabilities softmax(logits), `(batch, num_samples)`."""
    key = required_key("categorical", key)
    logits, count = tensor(logits, like=key), integers(num_samples)
    found = na.random.categorical(key, logits, axis=-1, shape=(count, na.shape(logits)[0]))
    return na.astype(na.matrix_transpose(found), dtypes.int64 if dtype is None else dtype)


def shuffle(
    value: Any, seed: Any = None, name: str | None = None, *, key: Array | None = None
) -> Array:
    """The slices along axis 0 in random order."""
    key = required_key("shuffle", key)
    return na.random.permutation(key, tensor(value, like=key), axis=0)
