"""Discrete distributions of counts: Poisson, geometric, binomial and multinomial."""

from __future__ import annotations

import math
from typing import Any

from nestarray import dtypes, ops
from nestarray.errors import ArgumentError, ShapeError
from nestarray.numerics.rejection import as_counts
from nestarray.numerics.threefry import integer_type
from nestarray.random import sources
from nestarray.random.arguments import (
    floating,
    is_native,
    is_number,
    parameter,
    sampler,
    shape_of,
)
from nestarray.transforms.control_flow import scan
from nestarray.typing import Array, DTypeLike, Shape


@sampler
def poisson(
    key: Array, lam: float | Array, shape: Shape | None = None, dtype: DTypeLike = "int32"
) -> Array:
    """Sample the Poisson distribution: k with probability e^−λ λᵏ / k!.

    Knuth's products of uniform numbers for λ < 10, Hörmann's rejection above. The rejection test
    runs in float32, which leaves few digits at large rates: from λ = 1000 on, a sample may differ
    from ``jax.random``.

    Args:
        key: `(2,)`, uint32.
        lam: a number, or an array that broadcasts to `shape`; computed in float32.
        shape: of the result; None is the shape of `lam`.
        dtype: an integer type.

    Returns:
        array of `shape` and `dtype`, in which larger counts become the largest; −1 (of unsigned
        types the largest) where `lam` is NaN, infinite or negative.

    Raises:
        ArgumentError: `lam` is a negative number.
        DtypeError: `dtype` is not an integer type.
        ShapeError: `lam` does not broadcast to `shape`.

    Example:
        >>> import nestarray as na
        >>> x = na.random.poisson(na.random.key(0), 3.0, (10000,))
        >>> bool(abs(x.mean() - 3) < 0.1), bool(abs(x.var() - 3) < 0.2)
        (True, True)

    References:
        Hörmann, The transformed rejection method for generating Poisson random variables.
        Insurance: Mathematics and Economics, 1993.
        https://docs.jax.dev/en/latest/_autosummary/jax.random.poisson.html
    """
    wanted = integer_type("random.poisson", dtype)
    if is_number(lam) and not 0.0 <= lam < math.inf:
        raise ArgumentError(f"random.poisson: lam: got {lam}, expected a number of 0 and above")
    shape = shape_of("poisson", shape, lam=lam)
    rate = parameter(lam, dtypes.float32, key)
    rate = ops.where(ops.isinf(rate), ops.full_like(rate, math.nan), rate)  # a draw would not end
    rate = ops.broadcast_to(rate, shape)
    if is_native(key):
        return sources.generator_of(key).poisson(key, rate, wanted)
    return ops.random_poisson(key, rate, dtype=wanted)


@sampler
def geometric(
    key: Array, p: float | Array, shape: Shape | None = None, dtype: DTypeLike = "int32"
) -> Array:
    """Sample the geometric distribution, trials until a success: k with probability p (1 − p)ᵏ⁻¹, k ≥ 1.

    Args:
        key: `(2,)`, uint32.
        p: the probability of success, above 0 and at most 1; a number, or an array that
            broadcasts to `shape`.
        shape: of the result; None is the shape of `p`.
        dtype: an integer type; larger numbers become its largest.

    Returns:
        array of `shape` and `dtype`.

    Raises:
        ArgumentError: `p` is a number outside of (0, 1].
        DtypeError: `dtype` is not an integer type.
        ShapeError: `p` does not broadcast to `shape`.

    Example:
        >>> import nestarray as na
        >>> x = na.random.geometric(na.random.key(0), 0.25, (10000,))
        >>> int(x.min()), bool(abs(x.mean() - 4) < 0.1)
        (1, True)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.geometric.html
    """
    wanted = integer_type("random.geometric", dtype)
    if is_number(p) and not 0.0 < p <= 1.0:
        raise ArgumentError(
            f"random.geometric: p: got {p}, expected a probability above 0 and at most 1"
        )
    shape = shape_of("geometric", shape, p=p)
    inner = dtypes.dtype_of(p) if _is_floating(p) else dtypes.float32
    p = parameter(p, inner, key)
    u = sources.unit(key, shape, inner)
    one = ops.ones_like(u)
    log_u = ops.log(ops.where(ops.equal(u, 0.0), one, u))
    is_sure = ops.equal(p, 1.0)
    log_failure = ops.log1p(ops.negative(ops.where(is_sure, ops.full_like(p, 0.5), p)))
    log_failure = ops.where(is_sure, ops.full_like(p, -math.inf), log_failure)
    found = ops.add(ops.floor(ops.divide(log_u, log_failure)), one)
    return as_counts(ops, found, wanted)


@sampler
def binomial(
    key: Array,
    n: float | Array,
    p: float | Array,
    shape: Shape | None = None,
    dtype: DTypeLike = "float32",
) -> Array:
    """Sample the binomial distribution: k with probability (n over k) pᵏ (1 − p)ⁿ⁻ᵏ.

    Below ten expected successes (or failures) by inversion, above by Hörmann's rejection.

    Args:
        key: `(2,)`, uint32.
        n: the number of trials; a number, or an array that broadcasts to `shape`.
        p: the probability of success; a number, or an array that broadcasts to `shape`.
        shape: of the result; None is the shape to which `n` and `p` broadcast.
        dtype: a floating type; narrow ones are rounded from float32.

    Returns:
        array of `shape` and `dtype`, of whole numbers; NaN where `n` is negative or not finite,
        or `p` outside of [0, 1].

    Raises:
        ArgumentError: `n` is a negative number, or `p` a number outside of [0, 1].
        DtypeError: `dtype` is not floating.
        ShapeError: `n` or `p` does not broadcast to `shape`.

    Example:
        >>> import nestarray as na
        >>> x = na.random.binomial(na.random.key(0), 100, 0.3, (10000,))
        >>> bool(abs(x.mean() - 30) < 0.3), bool(abs(x.var() - 21) < 1)
        (True, True)

    References:
        Hörmann, The generation of binomial random variates. Journal of Statistical Computation
        and Simulation, 1993.
        https://docs.jax.dev/en/latest/_autosummary/jax.random.binomial.html
    """
    wanted = floating("binomial", dtype)
    _check_trials("binomial", n)
    if is_number(p) and not 0.0 <= p <= 1.0:
        raise ArgumentError(f"random.binomial: p: got {p}, expected a probability from 0 to 1")
    shape = shape_of("binomial", shape, n=n, p=p)
    inner = _precise(wanted)
    pair = [ops.broadcast_to(parameter(x, inner, key), shape) for x in (n, p)]
    return ops.astype(ops.random_binomial(_threefry(key), pair[0], pair[1]), wanted, copy=False)


@sampler
def multinomial(
    key: Array,
    n: float | Array,
    p: Array,
    *,
    shape: Shape | None = None,
    dtype: DTypeLike = "float32",
) -> Array:
    """Sample the multinomial distribution: counts of k outcomes in `n` trials.

    Args:
        key: `(2,)`, uint32.
        n: the number of trials; a number, or an array that broadcasts to `shape`.
        p: `(..., k)`, the probabilities of the outcomes, with the sum 1.
        shape: of the draws, to which `n` and the axes of `p` before the last broadcast; None is
            the shape to which they do.
        dtype: a floating type; narrow ones are rounded from float32.

    Returns:
        array `(*shape, k)` of `dtype`.

    Raises:
        ArgumentError: `n` is a negative number.
        DtypeError: `dtype` is not floating.
        ShapeError: `p` has no axis; or `n` or `p` does not broadcast to `shape`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = na.random.multinomial(na.random.key(0), 10, np.asarray([0.2, 0.3, 0.5]), shape=(4,))
        >>> x.shape, x.sum(-1).tolist()
        ((4, 3), [10.0, 10.0, 10.0, 10.0])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.multinomial.html
    """
    wanted = floating("multinomial", dtype)
    _check_trials("multinomial", n)
    if not len(getattr(p, "shape", ())):
        raise ShapeError("random.multinomial: p: got no axis, expected an array (..., k)")
    inner = _precise(wanted)
    p = ops.moveaxis(parameter(p, inner, key), -1, 0)
    shape = shape_of("multinomial", shape, n=n, p=p[0])
    left = ops.flip(ops.cumulative_sum(ops.flip(p, axis=0), axis=0), axis=0)
    is_over = ops.equal(left, 0.0)
    share = ops.clip(ops.divide(p, ops.where(is_over, ops.ones_like(left), left)), 0.0, 1.0)
    count = int(p.shape[0])
    share = ops.broadcast_to(
        ops.reshape(share, (count, *(1,) * (len(shape) - share.ndim + 1), *share.shape[1:])),
        (count, *shape),
    )
    keys = ops.random_split(_threefry(key), num=count)
    trials = ops.broadcast_to(parameter(n, inner, key), shape)
    _, counts = scan(_next_outcome, trials, (share, keys))
    return ops.astype(ops.moveaxis(counts, 0, -1), wanted, copy=False)


def _next_outcome(left: Array, row: tuple[Array, Array]) -> tuple[Array, Array]:
    """The count of one outcome in the remaining trials, given its probability among the rest."""
    share, key = row
    count = ops.random_binomial(key, left, share)
    return ops.subtract(left, count), count


def _check_trials(name: str, n: Any) -> None:
    if is_number(n) and not 0.0 <= n < math.inf:
        raise ArgumentError(f"random.{name}: n: got {n}, expected a number of 0 and above")


def _is_floating(x: Any) -> bool:
    return not is_number(x) and dtypes.dtype_of(x).is_floating


def _precise(dtype: dtypes.DType) -> dtypes.DType:
    return dtype if dtype is dtypes.float64 else dtypes.float32


def _threefry(key: Array) -> Array:
    """A Threefry key for rejection rounds, drawn from a native key."""
    return sources.bits(key, (2,), dtypes.uint32) if is_native(key) else key
