"""Random permutations, samples with and without replacement, and categories."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nestarray import backends, dtypes, ops
from nestarray.errors import ArgumentError, DtypeError, IndexingError, ShapeError
from nestarray.random import sources
from nestarray.random.arguments import is_native, is_number, sampler, sizes
from nestarray.random.continuous import gumbel, uniform
from nestarray.random.discrete import randint
from nestarray.typing import Array, Shape


@sampler
def permutation(key: Array, x: int | Array, axis: int = 0, independent: bool = False) -> Array:
    """The slices of `x` along `axis` in random order; of an integer n, 0 … n − 1 in random order.

    Args:
        key: `(2,)`, uint32.
        x: array, or an integer.
        axis: the one to shuffle; other axes stay together.
        independent: shuffle each line along `axis` separately.

    Returns:
        array of the shape and dtype of `x`; of an integer, int64 (int32 on JAX without x64).

    Raises:
        ArgumentError: `x` is a negative number, or none that is whole.
        IndexingError: `x` has no such axis.
        ShapeError: `x` is an array of shape `()`.

    Example:
        >>> import nestarray as na
        >>> sorted(na.random.permutation(na.random.key(0), 5).tolist())
        [0, 1, 2, 3, 4]

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.permutation.html
    """
    if isinstance(x, (int, float, np.generic)) or not hasattr(x, "shape"):
        size = _whole("permutation", "x", x)
        return _shuffled(key, ops.arange(size, like=key), size)
    if not len(x.shape):
        raise ShapeError(
            "random.permutation: x: got an array of shape (), expected an axis to shuffle"
        )
    axis = _axis("permutation", axis, x)
    size = int(x.shape[axis])
    if len(x.shape) == 1:
        return _shuffled(key, x, size)
    if independent:
        return _shuffled_lines(key, x, axis)
    return ops.take(x, _shuffled(key, ops.arange(size, like=key), size), axis=axis)


def _whole(function: str, argument: str, x: Any) -> int:
    if isinstance(x, bool) or not isinstance(x, (int, np.integer)) or x < 0:
        raise ArgumentError(
            f"random.{function}: {argument}: got {x!r}, expected an array or an integer of 0 and above"
        )
    return int(x)


def _axis(function: str, axis: int, x: Array) -> int:
    rank = len(x.shape)
    if not -rank <= axis < rank:
        raise IndexingError(
            f"random.{function}: axis: got {axis} for an array of shape {tuple(x.shape)}"
        )
    return axis % rank


def _rounds(size: int) -> int:
    """The number of sorts after which collisions of 32-bit words are improbable."""
    return math.ceil(3 * math.log(max(1, size)) / math.log(2**32 - 1))


def _ordered(words: Array) -> Array:
    """Words as signed numbers in the same order: PyTorch cannot sort unsigned ones."""
    return ops.add(ops.astype(words, "int32"), -(2**31))


def _shuffled(key: Array, x: Array, size: int) -> Array:
    """`x` sorted repeatedly by random words."""
    if is_native(key):
        return ops.take(x, sources.generator_of(key).order(key, size), axis=0)
    for _ in range(_rounds(size)):
        key, own = sources.halves(key)
        words = _ordered(sources.bits(own, (size,), "uint32"))
        x = ops.take(x, ops.argsort(words, stable=True), axis=0)
    return x


def _shuffled_lines(key: Array, x: Array, axis: int) -> Array:
    for _ in range(_rounds(math.prod(x.shape))):
        key, own = sources.halves(key)
        words = _ordered(sources.bits(own, tuple(x.shape), "uint32"))
        x = ops.take_along_axis(x, ops.argsort(words, axis=axis, stable=True), axis=axis)
    return x


@sampler
def choice(
    key: Array,
    a: int | Array,
    shape: Shape = (),
    replace: bool = True,
    p: Array | None = None,
    axis: int = 0,
    mode: str = "low",
) -> Array:
    """Random slices of `a` along `axis`; of an integer n, random numbers below n.

    Without replacement, samples are the first slices of a permutation or, with probabilities,
    the slices with the largest log p plus Gumbel noise.

    Args:
        key: `(2,)`, uint32.
        a: array, or an integer.
        shape: of the draws.
        replace: whether a slice may be drawn more than once.
        p: `(n,)`, floating, unnormalized probabilities; None is uniform. Compiled code does not
            check that they are not negative.
        axis: of `a`.
        mode: of the `gumbel` noise.

    Returns:
        array of the dtype of `a`, with `shape` in the place of `axis`; of an integer, of
        `shape`, int64 (int32 on JAX without x64).

    Raises:
        ArgumentError: there is nothing to draw from, or too little without replacement; a
            probability is negative or NaN.
        DtypeError: `p` is not floating.
        IndexingError: `a` has no such axis.
        ShapeError: `p` is not of shape `(n,)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.random.choice(na.random.key(0), np.asarray([10.0, 20.0, 30.0]), (4,))
        array([20., 10., 30., 20.])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.choice.html
    """
    is_count = is_number(a) or not hasattr(a, "shape")
    table: Any = a
    if not is_count and not len(table.shape):
        raise ShapeError(
            "random.choice: a: got an array of shape (), expected an axis to draw from"
        )
    axis = 0 if is_count else _axis("choice", axis, table)
    number = _whole("choice", "a", a) if is_count else int(table.shape[axis])
    shape = sizes("choice", shape)
    draws = math.prod(shape)
    _check_choice(number, draws, replace, p)
    if p is None and not replace:
        order = permutation(key, number if is_count else a, axis)
        cut = (slice(None),) * axis + (slice(draws),)
        taken = order[cut]
        return ops.reshape(taken, shape if is_count else _put(table, axis, shape))
    index = _integers(key, _drawn(key, number, shape, replace, p, mode))
    if is_count:
        return index
    taken = ops.take(table, ops.reshape(index, (-1,)), axis=axis)
    return ops.reshape(taken, _put(table, axis, shape))


def _put(a: Array, axis: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    return (*a.shape[:axis], *shape, *a.shape[axis + 1 :])


def _integers(key: Array, index: Array) -> Array:
    """`index` in the default integer dtype of the backend."""
    return ops.astype(index, dtypes.dtype_of(ops.arange(1, like=key)), copy=False)


def _check_choice(number: int, draws: int, replace: bool, p: Array | None) -> None:
    if draws and not number:
        raise ArgumentError(f"random.choice: a: got nothing to draw {draws} from")
    if not replace and draws > number:
        raise ArgumentError(
            f"random.choice: shape: got {draws} draws of {number} without replacement; draw fewer, "
            "or replace=True"
        )
    if p is None:
        return
    if not hasattr(p, "shape") or tuple(p.shape) != (number,):
        shown = getattr(p, "shape", type(p).__name__)
        shown = shown if isinstance(shown, str) else f"shape {tuple(shown)}"
        raise ShapeError(f"random.choice: p: got {shown}, expected an array of shape ({number},)")
    if not dtypes.dtype_of(p).is_floating:
        raise DtypeError(f"random.choice: p: got {dtypes.dtype_of(p)}, expected a floating dtype")
    backend = backends.backend_of_type(type(p))
    is_known = backend is not None and not backends.core(backend).is_traced(p)
    if is_known and not bool(ops.all(ops.greater_equal(p, 0))):
        raise ArgumentError("random.choice: p: got a negative probability or NaN, expected p >= 0")


def _drawn(
    key: Array, number: int, shape: tuple[int, ...], replace: bool, p: Array | None, mode: str
) -> Array:
    """Positions sampled with replacement, or by probabilities."""
    if p is None:
        return randint(key, shape, 0, max(number, 1))
    dtype = dtypes.dtype_of(p)
    if not replace:
        is_some = ops.greater(p, 0.0)  # NumPy warns of the logarithm of 0
        log_p = ops.log(ops.where(is_some, p, ops.ones_like(p)))
        log_p = ops.where(is_some, log_p, ops.full_like(p, -math.inf))
        noisy = ops.add(gumbel(key, (number,), dtype, mode), log_p)
        return ops.reshape(ops.top_k(noisy, math.prod(shape)).indices, shape)
    ends = ops.cumulative_sum(p)
    u = ops.subtract(1.0, uniform(key, shape, dtype))
    places = ops.reshape(ops.multiply(ends[-1], u), (-1,))
    return ops.reshape(ops.searchsorted(ends, places), shape)


@sampler
def categorical(
    key: Array,
    logits: Array,
    axis: int = -1,
    shape: Shape | None = None,
    replace: bool = True,
    mode: str = "low",
) -> Array:
    """Random indices, i with probability softmax(logits)ᵢ, by the Gumbel trick.

    Args:
        key: `(2,)`, uint32.
        logits: floating, unnormalized log probabilities along `axis`.
        axis: of the categories.
        shape: of the result; leading axes before the shape of `logits` without `axis` are
            further draws. None is that shape alone.
        replace: whether the further draws may give an index more than once.
        mode: of the `gumbel` noise.

    Returns:
        array of `shape`, of integers.

    Raises:
        ArgumentError: more draws than there are categories, without replacement.
        DtypeError: `logits` are not floating.
        IndexingError: `logits` have no such axis.
        ShapeError: `shape` does not end in the shape of `logits` without `axis`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.random.categorical(na.random.key(0), np.asarray([0.0, 50.0, 0.0]), shape=(3,))
        array([1, 1, 1])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.categorical.html
    """
    dtype = dtypes.dtype_of(logits)
    if not dtype.is_floating:
        raise DtypeError(f"random.categorical: logits: got {dtype}, expected a floating dtype")
    batch = list(logits.shape)
    axis = _axis("categorical", axis, logits) - len(batch)
    number = batch.pop(axis)
    shape = tuple(batch) if shape is None else sizes("categorical", shape)
    lead = len(shape) - len(batch)
    if lead < 0 or list(shape[lead:]) != batch:
        raise ShapeError(
            f"random.categorical: shape: got {shape}, expected one that ends in {tuple(batch)}, "
            "the shape of logits without the axis"
        )
    if not replace:
        return _without_replacement(key, logits, axis, shape, lead, mode)
    drawn = list(shape)
    drawn.insert(len(drawn) + axis + 1, number)
    return ops.argmax(ops.add(gumbel(key, tuple(drawn), dtype, mode), logits), axis=axis)


def _without_replacement(
    key: Array, logits: Array, axis: int, shape: tuple[int, ...], lead: int, mode: str
) -> Array:
    number, draws = int(logits.shape[axis]), math.prod(shape[:lead])
    if draws > number:
        raise ArgumentError(
            f"random.categorical: shape: got {draws} draws of {number} categories without "
            "replacement; draw fewer, or replace=True"
        )
    noise = gumbel(key, tuple(logits.shape), dtypes.dtype_of(logits), mode)
    best = ops.top_k(ops.moveaxis(ops.add(noise, logits), axis, -1), draws).indices
    return ops.reshape(ops.moveaxis(best, -1, 0), shape)
