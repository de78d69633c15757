"""Random keys and samples: the bits of upstream's Threefry keys.

Upstream: https://docs.jax.dev/en/latest/jax.random.html. A key is an array uint32[2]. Samples that
are computed with logarithms and other such functions agree up to rounding. ``out_sharding`` is not
a parameter, and ``dtype`` is not None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import nestarray as na
from nestarray import dtypes
from nestarray.dtypes import DType
from nestarray.frontends.jax.promotion import as_dtype, as_index
from nestarray.typing import Array, DTypeLike

__all__ = [
    "PRNGKey", "ball", "bernoulli", "beta", "binomial", "bits", "categorical", "cauchy",
    "chisquare", "choice", "clone", "dirichlet", "double_sided_maxwell", "exponential", "f",
    "fold_in", "gamma", "generalized_normal", "geometric", "gumbel", "key", "key_data", "key_dtype", "key_impl",
    "laplace", "loggamma", "logistic", "lognormal", "maxwell", "multinomial",
    "multivariate_normal", "normal", "orthogonal", "pareto", "permutation", "poisson",
    "rademacher", "randint", "rayleigh", "split", "t", "triangular", "truncated_normal", "uniform",
    "wald", "weibull_min", "wrap_key_data",
]  # fmt: skip

Shape = Sequence[int]

# -- keys ----------------------------------------------------------------------------------------


def key(seed: Any) -> Array:
    """The key of a seed, on the backend of the seed."""
    if not hasattr(seed, "dtype"):
        return na.random.key(seed)
    low = na.astype(seed, dtypes.uint32)
    is_wide = dtypes.dtype_of(seed).bits == 64
    high = na.astype(na.bitwise_right_shift(seed, 32), dtypes.uint32) if is_wide else low * 0
    return na.stack([high, low], axis=-1)


PRNGKey = key


def wrap_key_data(key_bits_array: Array) -> Array:
    """A key of these bits."""
    return key_bits_array


def key_dtype(impl_spec: Any = None) -> DType:
    """The dtype of keys."""
    return dtypes.uint32


def key_data(keys: Array) -> Array:
    """The bits of a key."""
    return keys


def key_impl(keys: Array) -> str:
    """The name of the generator."""
    return "threefry2x32"


def clone(key: Array) -> Array:
    """The key itself."""
    return key


def fold_in(key: Array, data: Array) -> Array:
    """A key made of a key and a number; keys of an array and its numbers are broadcast."""
    batch = np.broadcast_shapes(tuple(key.shape[:-1]), na.shape(data))
    if not batch:
        return na.random.fold_in(key, data)
    keys = na.reshape(na.broadcast_to(key, (*batch, 2)), (-1, 2))
    numbers = na.reshape(na.broadcast_to(na.asarray(data, like=key), batch), (-1,))
    return na.reshape(na.vmap(na.random.fold_in)(keys, numbers), (*batch, 2))


def split(key: Array, num: int | Shape = 2) -> Array:
    """Keys made of a key, along new axes; of each key of an array."""
    return _of_each(key, lambda key: na.random.split(key, num))


def _of_each(key: Array, function: Callable[[Array], Array]) -> Array:
    """The value for a key, or the values for an array of keys."""
    batch = tuple(key.shape[:-1])
    if not batch:
        return function(key)
    found = na.vmap(function)(na.reshape(key, (-1, 2)))
    return na.reshape(found, (*batch, *found.shape[1:]))


# -- samples: na has upstream's parameters -------------------------------------------------------


def bits(key: Array, shape: Shape = (), dtype: DTypeLike | None = None) -> Array:
    """Random bits, of uint32 by default; for each key of an array."""
    wanted = dtypes.uint32 if dtype is None else as_dtype(dtype)
    return _of_each(key, lambda key: na.random_bits(key, shape=tuple(shape), dtype=wanted))


ball = na.random.ball
bernoulli = na.random.bernoulli
beta = na.random.beta
binomial = na.random.binomial
cauchy = na.random.cauchy
chisquare = na.random.chisquare
dirichlet = na.random.dirichlet
double_sided_maxwell = na.random.double_sided_maxwell
exponential = na.random.exponential
f = na.random.f
gamma = na.random.gamma
generalized_normal = na.random.generalized_normal
geometric = na.random.geometric
gumbel = na.random.gumbel
laplace = na.random.laplace
loggamma = na.random.loggamma
logistic = na.random.logistic
lognormal = na.random.lognormal
maxwell = na.random.maxwell
multinomial = na.random.multinomial
multivariate_normal = na.random.multivariate_normal
normal = na.random.normal
orthogonal = na.random.orthogonal
pareto = na.random.pareto
poisson = na.random.poisson
rademacher = na.random.rademacher
randint = na.random.randint
rayleigh = na.random.rayleigh
triangular = na.random.triangular
truncated_normal = na.random.truncated_normal
uniform = na.random.uniform
wald = na.random.wald
weibull_min = na.random.weibull_min
t = na.random.student_t

# -- integers have JAX's default dtype -----------------------------------------------------------


def categorical(
    key: Array,
    logits: Array,
    axis: int = -1,
    shape: Shape | None = None,
    replace: bool = True,
    mode: str = "low",
) -> Array:
    """Random indices with probabilities softmax(logits)."""
    return as_index(na.random.categorical(key, logits, axis, shape, replace, mode))


def choice(
    key: Array,
    a: int | Array,
    shape: Shape = (),
    replace: bool = True,
    p: Array | None = None,
    axis: int = 0,
    mode: str = "low",
) -> Array:
    """Random slices along an axis; of an integer, random numbers below it."""
    return na.random.choice(key, _numbers(a, key), shape, replace, p, axis, mode)


def permutation(key: Array, x: int | Array, axis: int = 0, independent: bool = False) -> Array:
    """The slices along an axis in random order; of an integer, the numbers below it."""
    return na.random.permutation(key, _numbers(x, key), axis, independent)


def _numbers(x: int | Array, like: Array) -> Array:
    return na.arange(x, dtype=as_dtype(int), like=like) if isinstance(x, int) else x
