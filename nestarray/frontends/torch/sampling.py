"""Random numbers. Each function takes a `key`, the one parameter that upstream does not have.

Upstream: https://docs.pytorch.org/docs/stable/torch.html#random-sampling, one page a function:
https://docs.pytorch.org/docs/stable/generated/torch.rand.html. The distributions are
upstream's; the random bits come from `nestarray.random` and are equal on every backend.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.torch.dims import sizes
from nestarray.frontends.torch.promotion import cast
from nestarray.typing import Array, DTypeLike

__all__ = [
    "bernoulli", "binomial", "multinomial", "normal", "poisson", "rand", "rand_like", "randint",
    "randint_like", "randn", "randn_like", "randperm",
]  # fmt: skip


def required_key(name: str, key: Array | None) -> Array:
    """`key`.

    Raises:
        ArgumentError: it is None.
    """
    if key is None:
        raise ArgumentError(
            f"{name}: key: got None, expected a key: random functions take "
            f"key=, for example {name}(..., key=na.random.key(0))"
        )
    return key


def rand(*size: Any, dtype: DTypeLike | None = None, key: Array | None = None) -> Array:
    """Uniform in [0, 1)."""
    return na.random.uniform(required_key("rand", key), sizes(size), dtype=_float(dtype))


def rand_like(input: Array, *, dtype: DTypeLike | None = None, key: Array | None = None) -> Array:
    """Uniform in [0, 1), of the shape and dtype of `input`."""
    wanted = dtypes.dtype_of(input) if dtype is None else dtype
    return na.random.uniform(required_key("rand_like", key), na.shape(input), dtype=wanted)


def randn(*size: Any, dtype: DTypeLike | None = None, key: Array | None = None) -> Array:
    """Normal with mean 0 and variance 1."""
    return na.random.normal(required_key("randn", key), sizes(size), dtype=_float(dtype))


def randn_like(input: Array, *, dtype: DTypeLike | None = None, key: Array | None = None) -> Array:
    """Normal with mean 0 and variance 1, of the shape and dtype of `input`."""
    wanted = dtypes.dtype_of(input) if dtype is None else dtype
    return na.random.normal(required_key("randn_like", key), na.shape(input), dtype=wanted)


def normal(
    mean: Array | float,
    std: Array | float = 1.0,
    size: Sequence[int] | None = None,
    *,
    dtype: DTypeLike | None = None,
    key: Array | None = None,
) -> Array:
    """Normal with these means and standard deviations."""
    shape = size if size is not None else na.broadcast_shapes(na.shape(mean), na.shape(std))
    array = next((x for x in (mean, std) if hasattr(x, "dtype")), None)
    wanted = dtypes.dtype_of(array) if dtype is None and array is not None else _float(dtype)
    draw = na.random.normal(required_key("normal", key), tuple(shape), dtype=wanted)
    return na.add(na.multiply(draw, std), mean)


def randint(
    low: int,
    high: int | None = None,
    size: Sequence[int] = (),
    *,
    dtype: DTypeLike | None = None,
    key: Array | None = None,
) -> Array:
    """Integers in [low, high)."""
    if high is None:
        low, high = 0, low
    draw = na.random.randint(required_key("randint", key), tuple(size), low, high)
    return cast(draw, dtypes.int64 if dtype is None else dtype)


def randint_like(
    input: Array,
    low: int,
    high: int | None = None,
    *,
    dtype: DTypeLike | None = None,
    key: Array | None = None,
) -> Array:
    """Integers in [low, high), of the shape and dtype of `input`."""
    wanted = dtypes.dtype_of(input) if dtype is None else dtype
    return randint(low, high, na.shape(input), dtype=wanted, key=required_key("randint_like", key))


def randperm(n: int, *, dtype: DTypeLike = dtypes.int64, key: Array | None = None) -> Array:
    """0 … n − 1 in random order."""
    return cast(na.random.permutation(required_key("randperm", key), n), dtype)


def bernoulli(input: Array, p: float | None = None, *, key: Array | None = None) -> Array:
    """1 with probability `input` (or `p`), else 0; of the dtype of `input`."""
    probability = input if p is None else p
    draw = na.random.bernoulli(required_key("bernoulli", key), probability, na.shape(input))
    return na.astype(draw, dtypes.dtype_of(input))


def poisson(input: Array, *, key: Array | None = None) -> Array:
    """Poisson samples with mean `input`, in the dtype of `input`."""
    draw = na.random.poisson(required_key("poisson", key), input, na.shape(input))
    return na.astype(draw, dtypes.dtype_of(input))


def binomial(count: Array, prob: Array, *, key: Array | None = None) -> Array:
    """Binomial samples: the successes in `count` trials, in the dtype of `count`."""
    wanted = dtypes.dtype_of(count)
    return na.random.binomial(required_key("binomial", key), count, prob, dtype=wanted)


def _standard_gamma(input: Array, *, key: Array | None = None) -> Array:
    """Gamma samples with concentration `input` and rate 1, differentiable."""
    wanted = dtypes.dtype_of(input)
    return na.random.gamma(required_key("_standard_gamma", key), input, dtype=wanted)


def _sample_dirichlet(input: Array, *, key: Array | None = None) -> Array:
    """Dirichlet samples with concentrations `input` along the last axis, differentiable."""
    wanted = dtypes.dtype_of(input)
    return na.random.dirichlet(required_key("_sample_dirichlet", key), input, dtype=wanted)


def multinomial(
    input: Array, num_samples: int, replacement: bool = False, *, key: Array | None = None
) -> Array:
    """Indices drawn by the probabilities of each row, by the Gumbel top-k method."""
    key = required_key("multinomial", key)
    shape = na.shape(input)
    draws = (num_samples, *shape) if replacement else shape
    dtype = dtypes.dtype_of(input)
    uniform = na.random.uniform(key, draws, dtype=dtype, minval=na.finfo(dtype).smallest_normal)
    score = na.subtract(na.log(input), na.log(na.negative(na.log(uniform))))
    if replacement:
        return cast(na.moveaxis(na.argmax(score, axis=-1), 0, -1), dtypes.int64)
    order = na.argsort(score, axis=-1, descending=True)
    return cast(na.getitem(order, (..., slice(0, num_samples))), dtypes.int64)


def uniform(
    input: Array, from_: float = 0.0, to: float = 1.0, *, key: Array | None = None
) -> Array:
    """Uniform in [from, to): ``uniform_`` as a function."""
    _expect_order("uniform", from_, to)
    key, wanted = required_key("uniform", key), dtypes.dtype_of(input)
    return na.random.uniform(key, na.shape(input), dtype=wanted, minval=from_, maxval=to)


def exponential(input: Array, lambd: float = 1.0, *, key: Array | None = None) -> Array:
    """Exponential samples, density λ e^(−λx): ``exponential_`` as a function."""
    _expect_positive("exponential", "lambd", lambd)
    key, wanted = required_key("exponential", key), dtypes.dtype_of(input)
    return na.divide(na.random.exponential(key, na.shape(input), dtype=wanted), lambd)


def cauchy(
    input: Array, median: float = 0.0, sigma: float = 1.0, *, key: Array | None = None
) -> Array:
    """Cauchy samples with location `median` and scale `sigma`: ``cauchy_`` as a function."""
    _expect_positive("cauchy", "sigma", sigma)
    key, wanted = required_key("cauchy", key), dtypes.dtype_of(input)
    draw = na.random.cauchy(key, na.shape(input), dtype=wanted)
    return na.add(na.multiply(draw, sigma), median)


def log_normal(
    input: Array, mean: float = 1.0, std: float = 2.0, *, key: Array | None = None
) -> Array:
    """Log-normal samples: ``log_normal_`` as a function."""
    _expect_positive("log_normal", "std", std)
    key, wanted = required_key("log_normal", key), dtypes.dtype_of(input)
    draw = na.random.normal(key, na.shape(input), dtype=wanted)
    return na.exp(na.add(na.multiply(draw, std), mean))


def geometric(input: Array, p: float, *, key: Array | None = None) -> Array:
    """The number of trials up to the first success: ``geometric_`` as a function."""
    if not 0 < p < 1:
        raise ArgumentError(f"geometric: p: got {p}, expected a number between 0 and 1")
    key, wanted = required_key("geometric", key), dtypes.dtype_of(input)
    wide = dtypes.float64 if wanted is dtypes.float64 else dtypes.float32
    waited = na.random.exponential(key, na.shape(input), dtype=wide)
    trials = na.ceil(na.divide(waited, -math.log1p(-p)))
    return cast(na.maximum(trials, na.ones_like(trials)), wanted)


def _expect_positive(name: str, argument: str, value: float) -> None:
    if not value > 0:
        raise ArgumentError(f"{name}: {argument}: got {value}, expected a positive number")


def _expect_order(name: str, low: float, high: float) -> None:
    if low > high:
        raise ArgumentError(f"{name}: from_, to: got {low} and {high}, expected them in order")


def _float(dtype: DTypeLike | None) -> DTypeLike:
    return dtypes.float32 if dtype is None else dtype
