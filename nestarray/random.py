"""Random numbers from explicit keys: the same numbers on every backend, those of ``jax.random``.

A key is an array of two uint32, as ``jax.random.PRNGKey`` makes it, and lives on one
backend; what is drawn from it lives there too. Nothing here has a state: the same key
gives the same numbers. So take new keys by `split` or `fold_in`, and use each one once.

Integers, uniform numbers and draws of `bernoulli` have the bits that ``jax.random`` draws
from the same key; normal and other numbers that go through erf⁻¹ or a logarithm agree to
the rounding of these, and so do uniform numbers in other ranges than [0, 1): a compiler may
multiply and add with one rounding. Functions of arrays work inside ``jit`` and on Containers of keys.

Example:
    >>> import nestarray as na
    >>> first, second = na.random.split(na.random.key(0))
    >>> na.random.uniform(first, (2,))
    array([0.8423141 , 0.18237865], dtype=float32)
"""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np

from nestarray import backends, dtypes, ops
from nestarray.backends.threefry import check_uniform_dtype, rounded
from nestarray.config import check_backend_name, current_backend
from nestarray.errors import ArgumentError, DtypeError, ShapeError
from nestarray.typing import Array, DTypeLike, Shape

__all__ = [
    "bernoulli",
    "bits",
    "categorical",
    "fold_in",
    "gumbel",
    "key",
    "normal",
    "permutation",
    "randint",
    "split",
    "truncated_normal",
    "uniform",
]


def key(
    seed: int, *, backend: str | None = None, like: Array | None = None, device: Any = None
) -> Array:
    """The key of a seed: the two halves of a 64-bit integer.

    Args:
        seed: any integer; its lowest 64 bits count.
        backend: where the key lives; None is the backend of `like`, else the default one.
        like: an array on whose backend the key shall live.
        device: of the backend, or None.

    Returns:
        `(2,)`, uint32.

    Raises:
        ArgumentError: `seed` is not an integer.

    Example:
        >>> import nestarray as na
        >>> na.random.key(42)
        array([ 0, 42], dtype=uint32)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.PRNGKey.html
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise ArgumentError(
            f"random.key: seed: got {type(seed).__name__}, expected an integer; to mix a traced "
            "number into a key, use na.random.fold_in"
        )
    if backend is None:
        backend = current_backend() if like is None else backends.backend_of(like)
    words = np.asarray([int(seed) >> 32 & 0xFFFFFFFF, int(seed) & 0xFFFFFFFF], np.uint32)
    return backends.core(check_backend_name(backend)).from_numpy(words, device)


def split(key: Array, num: int = 2) -> Array:
    """`num` new keys that are independent of each other and of `key`.

    Args:
        key: `(2,)`, uint32.
        num: how many.

    Returns:
        `(num, 2)`, uint32; unpack it or index its first axis.

    Example:
        >>> import nestarray as na
        >>> na.random.split(na.random.key(0), 3).shape
        (3, 2)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.split.html
    """
    return ops.random_split(key, num=num)


def fold_in(key: Array, data: int | str | Array) -> Array:
    """A new key from `key` and a number or a name, such as a step or the path of a layer.

    Args:
        key: `(2,)`, uint32.
        data: an integer, its lowest 32 bits count; an integer array of shape `()`, which
            may be traced; or a string, of which 32 bits of its BLAKE2 hash are taken.

    Returns:
        `(2,)`, uint32.

    Example:
        >>> import nestarray as na
        >>> na.random.fold_in(na.random.key(0), 7)
        array([2716826189,  292468403], dtype=uint32)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.fold_in.html
    """
    if isinstance(data, str):
        data = int.from_bytes(hashlib.blake2b(data.encode(), digest_size=4).digest(), "little")
    zero = ops.zeros_like(key[0:1])
    if isinstance(data, int):
        low = ops.full_like(zero, data & 0xFFFFFFFF)
    else:
        low = ops.reshape(ops.astype(data, "uint32"), (1,))
    return ops.concat(ops.threefry2x32(key, zero, low), axis=0)


def bits(key: Array, shape: Shape = (), dtype: DTypeLike = "uint32") -> Array:
    """Uniform random unsigned integers over the whole range of `dtype`.

    Args:
        key: `(2,)`, uint32.
        shape: of the result.
        dtype: uint8, uint16, uint32 or uint64.

    Returns:
        array of `shape` and `dtype`.

    Raises:
        DtypeError: `dtype` is no unsigned integer type.

    Example:
        >>> import nestarray as na
        >>> na.random.bits(na.random.key(0), (2,), "uint8")
        array([167, 146], dtype=uint8)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.bits.html
    """
    return ops.random_bits(key, shape=shape, dtype=dtype)


def uniform(
    key: Array,
    shape: Shape = (),
    dtype: DTypeLike = "float32",
    minval: float | Array = 0.0,
    maxval: float | Array = 1.0,
) -> Array:
    """Uniform random numbers in [minval, maxval).

    Args:
        key: `(2,)`, uint32.
        shape: of the result.
        dtype: a floating type.
        minval: a number, or an array that broadcasts to `shape`.
        maxval: a number, or an array that broadcasts to `shape`.

    Returns:
        array of `shape` and `dtype`.

    Raises:
        DtypeError: `dtype` is no floating type.

    Example:
        >>> import nestarray as na
        >>> na.random.uniform(na.random.key(0), (2,), minval=-1.0)
        array([0.895334  , 0.95715976], dtype=float32)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.uniform.html
    """
    numbers = ops.random_uniform(key, shape=shape, dtype=dtype)
    low, high = _as_number(minval, dtype), _as_number(maxval, dtype)
    if isinstance(low, float) and isinstance(high, float):
        if low == 0.0 and high == 1.0:
            return numbers
        span = rounded(high - low, dtype)
        return ops.maximum(ops.add(ops.multiply(numbers, span), low), low)
    span = ops.subtract(high, low)
    return ops.maximum(ops.add(ops.multiply(numbers, span), low), low)


def _as_number(bound: float | Array, dtype: DTypeLike) -> float | Array:
    """A bound in `dtype`, so that the four frameworks compute with the same one."""
    is_number = isinstance(bound, (int, float))
    return rounded(bound, dtype) if is_number else ops.astype(bound, dtype)


def normal(key: Array, shape: Shape = (), dtype: DTypeLike = "float32") -> Array:
    """Standard normal random numbers, √2 erf⁻¹(u) of u uniform in (−1, 1).

    Args:
        key: `(2,)`, uint32.
        shape: of the result.
        dtype: a floating type.

    Returns:
        array of `shape` and `dtype`.

    Raises:
        DtypeError: `dtype` is no floating type.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = na.random.normal(na.random.key(0), (10000,))
        >>> bool(abs(x.mean()) < 0.05), bool(abs(x.std() - 1) < 0.05)
        (True, True)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.normal.html
    """
    above = -1.0 + _spacing_below_one(dtype)
    return ops.normal_quantile(uniform(key, shape, dtype, above, 1.0))


def _spacing_below_one(dtype: DTypeLike) -> float:
    """1 minus the number before it."""
    return 2.0 ** -(check_uniform_dtype("random.normal", dtype)[1] + 1)


def truncated_normal(
    key: Array,
    lower: float | Array,
    upper: float | Array,
    shape: Shape | None = None,
    dtype: DTypeLike = "float32",
) -> Array:
    """Standard normal random numbers between `lower` and `upper`.

    Args:
        key: `(2,)`, uint32.
        lower: a number, or an array that broadcasts to `shape`.
        upper: a number, or an array that broadcasts to `shape`.
        shape: of the result; None is the shape to which the bounds broadcast.
        dtype: a floating type.

    Returns:
        array of `shape` and `dtype`, inside of the open interval.

    Raises:
        DtypeError: `dtype` is no floating type.

    Example:
        >>> import nestarray as na
        >>> x = na.random.truncated_normal(na.random.key(0), -2.0, 2.0, (1000,))
        >>> bool((abs(x) < 2).all())
        True

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.truncated_normal.html
    """
    low, high = (_bound(key, x, dtype) for x in (lower, upper))
    if shape is None:
        shape = np.broadcast_shapes(tuple(low.shape), tuple(high.shape))
    root = rounded(math.sqrt(2), dtype)
    a, b = ops.erf(low / root), ops.erf(high / root)
    x = ops.normal_quantile(uniform(key, shape, dtype, a, b))
    infinity = _bound(key, math.inf, dtype)
    return ops.minimum(ops.maximum(x, ops.nextafter(low, infinity)), ops.nextafter(high, -infinity))


def _bound(key: Array, bound: float | Array, dtype: DTypeLike) -> Array:
    if isinstance(bound, (int, float)):
        return ops.full((), float(bound), dtype=dtype, like=key)
    return ops.astype(bound, dtype)


def bernoulli(key: Array, p: float | Array = 0.5, shape: Shape | None = None) -> Array:
    """True with probability `p`.

    Args:
        key: `(2,)`, uint32.
        p: a number (its draws are compared in float32), or a floating array.
        shape: of the result, to which `p` broadcasts; None is the shape of `p`.

    Returns:
        array of `shape`, bool.

    Raises:
        DtypeError: `p` is not floating.

    Example:
        >>> import nestarray as na
        >>> na.random.bernoulli(na.random.key(0), 0.7, (4,))
        array([False, False,  True,  True])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.bernoulli.html
    """
    dtype = dtypes.float32 if isinstance(p, (int, float)) else dtypes.dtype_of(p)
    if not dtype.is_floating:
        raise DtypeError(f"random.bernoulli: p: got an array of {dtype}, expected a floating one")
    if shape is None:
        shape = tuple(getattr(p, "shape", ()))
    return ops.less(ops.random_uniform(key, shape=shape, dtype=dtype), _as_number(p, dtype))


def randint(
    key: Array, shape: Shape, minval: int, maxval: int, dtype: DTypeLike = "int32"
) -> Array:
    """Uniform random integers in [minval, maxval).

    Args:
        key: `(2,)`, uint32.
        shape: of the result.
        minval: the smallest result.
        maxval: one more than the largest result.
        dtype: an integer type; int32 is what every backend has.

    Returns:
        array of `shape` and `dtype`; `minval` everywhere if `maxval` is not above it.

    Raises:
        DtypeError: `dtype` is no integer type.

    Example:
        >>> import nestarray as na
        >>> na.random.randint(na.random.key(0), (5,), 0, 10)
        array([9, 0, 2, 3, 1], dtype=int32)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.randint.html
    """
    return ops.random_integers(key, low=minval, high=maxval, shape=shape, dtype=dtype)


def permutation(key: Array, x: int | Array, *, axis: int = 0) -> Array:
    """The slices of `x` along `axis` in random order; of an integer n, 0 … n − 1 in random order.

    Args:
        key: `(2,)`, uint32.
        x: array, or an integer.
        axis: the one to shuffle; other axes stay together.

    Returns:
        array of the shape and dtype of `x`; of an integer, int64 (int32 on JAX without x64).

    Raises:
        ShapeError: `x` is an array of shape `()`.

    Example:
        >>> import nestarray as na
        >>> sorted(na.random.permutation(na.random.key(0), 5).tolist())
        [0, 1, 2, 3, 4]

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.permutation.html
    """
    if isinstance(x, int):
        return _shuffled(key, ops.arange(x, like=key), x)
    if not len(x.shape):
        raise ShapeError(
            "random.permutation: x: got an array of shape (), expected an axis to shuffle"
        )
    size = int(x.shape[axis])
    if len(x.shape) == 1:
        return _shuffled(key, x, size)
    return ops.take(x, _shuffled(key, ops.arange(size, like=key), size), axis=axis)


def _shuffled(key: Array, x: Array, size: int) -> Array:
    """Sort by random words, again until collisions of words are improbable."""
    for _ in range(math.ceil(3 * math.log(max(1, size)) / math.log(2**32 - 1))):
        pair = split(key)
        key, words = pair[0], bits(pair[1], (size,))
        # as signed numbers in the same order: PyTorch cannot sort unsigned ones
        words = ops.add(ops.astype(words, "int32"), -(2**31))
        x = ops.take(x, ops.argsort(words, stable=True), axis=0)
    return x


def gumbel(key: Array, shape: Shape = (), dtype: DTypeLike = "float32") -> Array:
    """Standard Gumbel random numbers, −ln(−ln u).

    Args:
        key: `(2,)`, uint32.
        shape: of the result.
        dtype: a floating type.

    Returns:
        array of `shape` and `dtype`.

    Raises:
        DtypeError: `dtype` is no floating type.

    Example:
        >>> import nestarray as na
        >>> x = na.random.gumbel(na.random.key(0), (10000,))
        >>> bool(abs(x.mean() - 0.5772) < 0.05)
        True

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.gumbel.html
    """
    tiny = {"float16": 2.0**-14, "float64": 2.0**-1022}.get(dtypes.as_dtype(dtype).name, 2.0**-126)
    return -ops.log(-ops.log(uniform(key, shape, dtype, tiny, 1.0)))


def categorical(key: Array, logits: Array, *, axis: int = -1, shape: Shape | None = None) -> Array:
    """Random indices, i with probability softmax(logits)ᵢ, by the Gumbel trick.

    Args:
        key: `(2,)`, uint32.
        logits: floating, unnormalized log probabilities along `axis`.
        axis: of the categories.
        shape: of the result; leading axes before the shape of `logits` without `axis` are
            further draws. None is that shape alone.

    Returns:
        array of `shape`, of integers.

    Raises:
        ShapeError: `shape` does not end in the shape of `logits` without `axis`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.random.categorical(na.random.key(0), np.asarray([0.0, 50.0, 0.0]), shape=(3,))
        array([1, 1, 1])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.categorical.html
    """
    sizes = list(logits.shape)
    axis = axis - len(sizes) if axis >= 0 else axis
    number = sizes.pop(axis)
    shape = tuple(sizes) if shape is None else tuple(shape)
    lead = len(shape) - len(sizes)
    if lead < 0 or list(shape[lead:]) != sizes:
        raise ShapeError(
            f"random.categorical: shape: got {shape}, expected one that ends in {tuple(sizes)}, "
            "the shape of logits without the axis"
        )
    drawn = list(shape)
    drawn.insert(len(drawn) + axis + 1, number)
    noise = gumbel(key, tuple(drawn), dtypes.dtype_of(logits))
    return ops.argmax(ops.add(noise, logits), axis=axis)
