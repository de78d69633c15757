"""Samplers by rejection: each element has its own part of the stream of a seed.

A round draws for all elements, until all have accepted a number. Upstream computes in double
precision, and so do backends that have it. A block's uniform numbers are used from the last to the
first, as upstream's kernels do.

Upstream: https://www.tensorflow.org/api_docs/python/tf/random/stateless_gamma
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import nestarray as na
from nestarray import backends, dtypes
from nestarray.dtypes import DType
from nestarray.errors import ShapeError
from nestarray.frontends.tensorflow.conversion import tensor
from nestarray.frontends.tensorflow.random import streams
from nestarray.frontends.tensorflow.random.stateless import Shape, sizes_of
from nestarray.numerics import binomial
from nestarray.typing import Array, DTypeLike

__all__ = ["stateless_binomial", "stateless_gamma", "stateless_poisson"]

#: Blocks between the parts of two elements.
_RESERVED = 256
_Words = Callable[[Array | int], list[Array]]


def _columns(name: str, sizes: tuple[int, ...], *parameters: Array) -> tuple[list[Array], int]:
    """Parameters of all elements, column by column, and the number of rows of the result.

    The result has the shape (rows, columns), and the columns have one set of parameters each.
    """
    batch = na.broadcast_shapes(*[na.shape(x) for x in parameters])
    if tuple(batch) != sizes[len(sizes) - len(batch) :]:
        raise ShapeError(
            f"{name}: shape: got {sizes}, expected one that ends with {tuple(batch)}, the shape of "
            "the parameters"
        )
    rows = math.prod(sizes[: len(sizes) - len(batch)])
    flat = [na.reshape(na.broadcast_to(x, batch), (-1, 1)) for x in parameters]
    return [na.reshape(na.broadcast_to(x, (na.shape(x)[0], rows)), (-1,)) for x in flat], rows


def _in_rows(found: Array, sizes: tuple[int, ...], rows: int) -> Array:
    """Numbers column by column as an array of the shape of the result."""
    columns = na.reshape(found, (math.prod(sizes) // rows if rows else 0, rows))
    return na.reshape(na.matrix_transpose(columns), sizes)


def _uniforms(block: Sequence[Array], dtype: DType) -> list[Array]:
    """The two uniform numbers of 52 bits of a block, in their order of use."""
    pairs = (block[2:], block[:2])
    return [streams.fraction_of_pair(*pair, dtype=dtype) for pair in pairs]


# -- gamma ---------------------------------------------------------------------------------------


def stateless_gamma(
    shape: Shape,
    seed: Any,
    alpha: Any,
    beta: Any = None,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Array:
    """Numbers of the density xᵃ⁻¹ e⁻ᵇˣ bᵃ / Γ(a), with derivatives by a and b.

    Marsaglia and Tsang's method, https://doi.org/10.1145/358407.358414.
    """
    sizes, stream = sizes_of(shape), streams.philox(streams.beside(seed, alpha, beta))
    alpha = tensor(alpha, dtype, stream.key[0])
    beta = tensor(1 if beta is None else beta, dtype, alpha)
    alpha = na.broadcast_to(alpha, na.broadcast_shapes(na.shape(alpha), na.shape(beta)))
    (flat,), rows = _columns("stateless_gamma", sizes, alpha)
    draws = _in_rows(_gamma_with_derivative(stream, flat), sizes, rows)
    least = dtypes.finfo(dtypes.dtype_of(alpha)).smallest_normal
    return na.maximum(na.divide(draws, beta), least)


def _gamma_with_derivative(stream: streams.Philox, alpha: Array) -> Array:
    @na.custom_vjp
    def draw(alpha: Array) -> Array:
        return _gamma(stream, alpha)

    def forward(alpha: Array) -> tuple[Array, tuple[Array, Array]]:
        found = _gamma(stream, alpha)
        return found, (alpha, found)

    def backward(saved: tuple[Array, Array], cotangent: Array) -> tuple[Array]:
        return (na.multiply(cotangent, sample_derivative(*saved)),)

    draw.defvjp(forward, backward)
    return draw(alpha)


def sample_derivative(alpha: Array, sample: Array) -> Array:
    """The derivative by `alpha` of a gamma sample at a fixed level."""
    level, pull = na.vjp(lambda a: na.gammainc(a, sample), alpha)
    by_alpha = pull(na.ones_like(level))[0]
    log_density = na.xlogy(na.subtract(alpha, 1), sample) - sample - na.lgamma(alpha)
    return na.negative(na.divide(by_alpha, na.exp(log_density)))


def _gamma(stream: streams.Philox, alpha: Array) -> Array:
    wide, narrow = backends.widest_float(alpha), dtypes.dtype_of(alpha)
    words = stream.of_each(na.shape(alpha)[0], _RESERVED)
    a = na.astype(alpha, wide)
    is_small = na.less(a, 1)
    d = na.add(a, na.where(is_small, na.full_like(a, 2 / 3), na.full_like(a, -1 / 3)))
    c = na.divide(1 / 3, na.sqrt(d))
    none = na.zeros_like(a, dtype="uint32")

    def normals(block: Array) -> list[Array]:
        second, first = streams.box_muller(*reversed(_uniforms(words(block), wide)))
        return [first, second]

    def uniforms(block: Array) -> list[Array]:
        return _uniforms(words(block), wide)

    def is_unfinished(state: tuple[Any, ...]) -> Array:
        return na.any(na.logical_not(state[1]))

    def attempt(state: tuple[Any, ...]) -> tuple[Any, ...]:
        found, is_done, used, normal_state, uniform_state = state
        is_active = na.logical_not(is_done)
        x, used, normal_state = _next(normals, used, normal_state, is_active)
        v = na.add(na.multiply(c, x), 1)
        is_active = na.logical_and(is_active, na.greater(v, 0))
        v = na.where(is_active, v, na.ones_like(v))
        v = v * v * v
        u, used, uniform_state = _next(uniforms, used, uniform_state, is_active)
        squeeze = na.less(u, 1 - 0.0331 * (x * x) * (x * x))
        log_u = na.log(na.maximum(u, dtypes.finfo(wide).smallest_normal))
        is_below = na.less(log_u, 0.5 * x * x + d * (1 - v + na.log(v)))
        is_taken = na.logical_and(is_active, na.logical_or(squeeze, is_below))
        found = na.where(is_taken, d * v, found)
        return found, na.logical_or(is_done, is_taken), used, normal_state, uniform_state

    start = (na.zeros_like(a), na.logical_not(na.greater(a, 0)), none, (none, none), (none, none))
    found, _, used, _, state = na.while_loop(is_unfinished, attempt, start)
    u, _, _ = _next(uniforms, used, state, is_small)
    power = na.pow(u, na.divide(1, na.where(is_small, a, na.ones_like(a))))
    found = na.where(is_small, na.multiply(found, power), found)
    exponential = na.negative(na.log1p(na.negative(uniforms(none)[0])))
    found = na.where(na.equal(a, 1), exponential, found)
    return na.astype(na.where(na.greater(a, 0), found, na.full_like(a, math.nan)), narrow)


def _next(
    numbers: Callable[[Array], list[Array]],
    used: Array,
    buffer: tuple[Array, Array],
    is_active: Array,
) -> tuple[Array, Array, tuple[Array, Array]]:
    """The next number of each active element: from the rest of its last block, or a new block.

    Args:
        numbers: block → its two numbers, in their order of use.
        used: the number of blocks that each element has used.
        buffer: the last block of each element, and how many of its numbers are left.
        is_active: the elements that take a number.
    """
    block, left = buffer
    is_empty = na.logical_and(is_active, na.equal(left, 0))
    one = na.ones_like(used)
    block = na.where(is_empty, used, block)
    used = na.where(is_empty, na.add(used, one), used)
    first, second = numbers(block)
    drawn = na.where(is_empty, first, second)
    new = na.where(is_empty, one, na.zeros_like(left))
    return drawn, used, (block, na.where(is_active, new, left))


# -- poisson -------------------------------------------------------------------------------------


def stateless_poisson(
    shape: Shape,
    seed: Any,
    lam: Any,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Array:
    """Poisson numbers of the rates `lam`.

    Rates below 10 use Knuth's method, others Hörmann's, https://doi.org/10.1016/0167-6687(93)90997-4.
    """
    sizes, stream = sizes_of(shape), streams.philox(streams.beside(seed, lam))
    (rate,), rows = _columns("stateless_poisson", sizes, tensor(lam, like=stream.key[0]))
    rate = na.astype(rate, backends.widest_float(rate))
    words = stream.of_each(na.shape(rate)[0], _RESERVED)
    is_few = na.less(rate, 10)
    few = _knuth(words, na.where(is_few, rate, na.zeros_like(rate)))
    many = _hormann(words, na.where(is_few, na.full_like(rate, 1e5), rate))
    counts = na.where(is_few, few, many)
    return _in_rows(na.astype(counts, dtype), sizes, rows)


def _knuth(words: _Words, rate: Array) -> Array:
    """The number of uniform factors whose product stays above e^−rate."""
    limit, dtype = na.exp(na.negative(rate)), dtypes.dtype_of(rate)

    def is_unfinished(state: tuple[Array, ...]) -> Array:
        return na.any(na.greater(state[1], limit))

    def use_block(state: tuple[Array, ...]) -> tuple[Array, ...]:
        block, product, count = state
        for u in _uniforms(words(block), dtype):
            is_above = na.greater(product, limit)
            product = na.where(is_above, na.multiply(product, u), product)
            count = na.add(
                count, na.astype(na.logical_and(is_above, na.greater(product, limit)), dtype)
            )
        return na.add(block, na.ones_like(block)), product, count

    start = (na.zeros_like(rate, dtype="uint32"), na.ones_like(rate), na.zeros_like(rate))
    return na.while_loop(is_unfinished, use_block, start)[2]


def _hormann(words: _Words, rate: Array) -> Array:
    """Hörmann: a scaled and rounded quotient of two uniform numbers, if accepted."""
    dtype = dtypes.dtype_of(rate)
    log_rate = na.log(rate)
    b = 0.931 + 2.53 * na.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse = 1.1239 + 1.1328 / (b - 3.4)
    enough = 0.9277 - 3.6224 / (b - 2)

    def propose(u: Array, v: Array) -> tuple[Array, Array]:
        u = na.subtract(u, 0.5)
        shifted = 0.5 - na.abs(u)
        k = na.floor((2 * a / shifted + b) * u + rate + 0.43)
        is_inside = na.logical_and(na.greater_equal(shifted, 0.07), na.less_equal(v, enough))
        is_tail = na.logical_and(na.less(shifted, 0.013), na.greater(v, shifted))
        is_refused = na.logical_or(na.less(k, 0), is_tail)
        safe = na.maximum(k, 0)
        log_v = na.log(na.maximum(v, dtypes.finfo(dtype).smallest_normal))
        ratio = log_v + na.log(inverse / (a / (shifted * shifted) + b))
        log_density = safe * log_rate - rate - na.lgamma(safe + 1)
        is_below = na.logical_and(na.logical_not(is_refused), na.less_equal(ratio, log_density))
        return k, na.logical_or(is_inside, is_below)

    return _accepted(words, rate, propose)


def _accepted(
    words: _Words, like: Array, propose: Callable[[Array, Array], tuple[Array, Array]]
) -> Array:
    """The first accepted proposal of each element, from two uniform numbers each."""
    dtype = dtypes.dtype_of(like)

    def is_unfinished(state: tuple[Array, ...]) -> Array:
        return na.any(na.logical_not(state[2]))

    def use_block(state: tuple[Array, ...]) -> tuple[Array, ...]:
        block, found, is_done = state
        numbers = _uniforms(words(block), dtype)
        for u, v in zip(numbers[::2], numbers[1::2], strict=True):
            k, is_taken = propose(u, v)
            found = na.where(na.logical_and(is_taken, na.logical_not(is_done)), k, found)
            is_done = na.logical_or(is_done, is_taken)
        return na.add(block, na.ones_like(block)), found, is_done

    none = na.zeros_like(like, dtype="uint32")
    start = (none, na.zeros_like(like), na.zeros_like(like, dtype="bool"))
    return na.while_loop(is_unfinished, use_block, start)[1]


# -- binomial ------------------------------------------------------------------------------------


def stateless_binomial(
    shape: Shape,
    seed: Any,
    counts: Any,
    probs: Any,
    output_dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Array:
    """The successes in `counts` trials of probability `probs`.

    Fewer than ten expected successes use inversion, more use Hörmann's method,
    https://doi.org/10.1080/00949659308811496.
    """
    sizes, stream = sizes_of(shape), streams.philox(streams.beside(seed, counts, probs))
    probs = tensor(probs, like=stream.key[0])
    counts = tensor(counts, dtypes.dtype_of(probs), probs)
    (count, p), rows = _columns("stateless_binomial", sizes, counts, probs)
    is_low = na.less_equal(p, 0.5)
    q = na.where(is_low, p, na.subtract(1, p))
    is_many = na.greater_equal(na.multiply(count, q), 10)
    is_certain = na.logical_or(na.less_equal(q, 0), na.less_equal(count, 0))
    wide = backends.widest_float(p)
    count, q = na.astype(count, wide), na.astype(q, wide)
    is_wrong = na.isnan(na.add(count, q))
    is_plain = na.logical_not(na.logical_or(is_certain, is_wrong))
    inverts = na.logical_and(is_plain, na.logical_not(is_many))
    rejects = na.logical_and(is_plain, is_many)
    few = _inversion(
        stream.of_each(na.shape(p)[0], 42),
        na.where(inverts, count, na.zeros_like(count)),
        na.where(inverts, q, na.full_like(q, 0.5)),
    )
    many = _btrs(
        stream.of_each(na.shape(p)[0], _RESERVED),
        na.where(rejects, count, na.full_like(count, 1e4)),
        na.where(rejects, q, na.full_like(q, 0.5)),
    )
    found = na.where(is_many, many, few)
    found = na.where(is_certain, na.zeros_like(found), found)
    found = na.where(is_low, found, na.subtract(na.maximum(count, 0), found))
    found = na.where(is_wrong, na.full_like(found, math.nan), found)
    return _in_rows(na.astype(found, output_dtype), sizes, rows)


def _inversion(words: _Words, count: Array, p: Array) -> Array:
    """The number of geometric numbers, distances between successes, that sum to at most `count`."""
    dtype = dtypes.dtype_of(count)
    log_failure, least = na.log1p(na.negative(p)), dtypes.finfo(dtype).smallest_normal

    def is_unfinished(state: tuple[Array, ...]) -> Array:
        return na.any(na.less_equal(state[1], count))

    def use_block(state: tuple[Array, ...]) -> tuple[Array, ...]:
        block, total, found = state
        for u in _uniforms(words(block), dtype):
            distance = na.ceil(na.divide(na.log(na.maximum(u, least)), log_failure))
            total = na.add(total, distance)
            found = na.add(found, na.astype(na.less_equal(total, count), dtype))
        return na.add(block, na.ones_like(block)), total, found

    none = na.zeros_like(count, dtype="uint32")
    start = (none, na.zeros_like(count), na.zeros_like(count))
    return na.while_loop(is_unfinished, use_block, start)[2]


def _btrs(words: _Words, count: Array, p: Array) -> Array:
    """Hörmann's transformed rejection with squeeze."""
    dtype = dtypes.dtype_of(count)
    deviation = na.sqrt(count * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    center, enough, odds = count * p + 0.5, 0.92 - 4.2 / b, p / (1 - p)
    alpha = (2.83 + 5.1 / b) * deviation
    mode = na.floor((count + 1) * p)
    error = lambda k: binomial.stirling_error(na, k)  # noqa: E731

    def propose(u: Array, v: Array) -> tuple[Array, Array]:
        u = na.subtract(u, 0.5)
        shifted = 0.5 - na.abs(u)
        found = na.floor((2 * a / shifted + b) * u + center)
        k = na.minimum(na.maximum(found, 0), count)
        is_inside = na.logical_and(na.greater_equal(shifted, 0.07), na.less_equal(v, enough))
        log_v = na.log(na.maximum(v, dtypes.finfo(dtype).smallest_normal))
        ratio = log_v + na.log(alpha / (a / (shifted * shifted) + b))
        bound = (mode + 0.5) * na.log((mode + 1) / (odds * (count - mode + 1)))
        bound = bound + (count + 1) * na.log((count - mode + 1) / (count - k + 1))
        bound = bound + (k + 0.5) * na.log(odds * (count - k + 1) / (k + 1))
        bound = bound + error(mode) + error(count - mode) - error(k) - error(count - k)
        is_below = na.logical_and(na.equal(k, found), na.less_equal(ratio, bound))
        return found, na.logical_or(is_inside, is_below)

    return _accepted(words, count, propose)
