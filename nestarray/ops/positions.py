"""Position encodings for attention: rotary embeddings and linear biases."""

from __future__ import annotations

import math

import numpy as np

from nestarray import dtypes, ops
from nestarray.dispatch import Trait, floating_op, op
from nestarray.errors import ArgumentError, ShapeError
from nestarray.typing import Array, DTypeLike

__all__ = ["alibi_bias", "rotary_embedding"]
TRAITS = Trait.HALF_SAFE


@floating_op
def rotary_embedding(x: Array, cos: Array, sin: Array, /, *, interleaved: bool = False) -> Array:
    """Rotate pairs of features by angles θ: (a, b) → (a cos θ − b sin θ, a sin θ + b cos θ).

    With angles that grow along the sequence, products of queries and keys depend on the
    distance of their positions. Features beyond the rotated ones are unchanged.

    Args:
        x: `(*batch, length, dim)`, floating.
        cos: `(length, half)`, or an array that broadcasts with `(*batch, length, half)`: the cosines
            of the angles; 2 · half is at most dim.
        sin: the sines of the angles, of the shape of `cos`.
        interleaved: pair the features 2i and 2i + 1; False pairs i and i + half.

    Returns:
        array of the shape of x and the promoted dtype.

    Raises:
        ShapeError: there are more angles than pairs, or `cos` and `sin` differ in shape.

    Example:
        >>> import numpy as np, nestarray as na
        >>> quarter = np.asarray([[np.pi / 2]])
        >>> na.rotary_embedding(np.asarray([[1.0, 2.0]]), np.cos(quarter), np.sin(quarter)) + 0.0
        array([[-2.,  1.]])

    References:
        https://arxiv.org/abs/2104.09864
    """
    half = cos.shape[-1]
    if tuple(cos.shape) != tuple(sin.shape) or 2 * half > x.shape[-1]:
        raise ShapeError(
            f"rotary_embedding: got x {tuple(x.shape)}, cos {tuple(cos.shape)} and sin "
            f"{tuple(sin.shape)}, expected cos and sin of one shape with at most half the last "
            "axis of x"
        )
    if interleaved:
        first, second = x[..., 0 : 2 * half : 2], x[..., 1 : 2 * half : 2]
    else:
        first, second = x[..., :half], x[..., half : 2 * half]
    turned = (first * cos - second * sin, first * sin + second * cos)
    rest = x[..., 2 * half :]
    if interleaved:
        pairs = ops.stack(turned, axis=-1)
        turned = (ops.reshape(pairs, (*ops.shape(pairs)[:-2], 2 * half)),)
    return ops.concat((*turned, rest), axis=-1) if 2 * half < x.shape[-1] else _joined(turned)


def _joined(parts: tuple[Array, ...]) -> Array:
    return parts[0] if len(parts) == 1 else ops.concat(parts, axis=-1)


@op
def alibi_bias(
    num_heads: int,
    length: int,
    source: int | None = None,
    *,
    dtype: DTypeLike | None = None,
    like: Array | None = None,
) -> Array:
    """Attention with linear biases (ALiBi): −mₕ · |i − j| for query i and key j.

    The slopes mₕ are a geometric sequence, 2^(−8h/n) for h = 1 … n heads. If n is not a power of
    two, the slopes for the next lower power come first, then every second slope for the next
    higher power. The queries are the last ones of the sequence of keys.

    Args:
        num_heads: the number of heads.
        length: the number of queries.
        source: the number of keys; None: `length`.
        dtype: a floating type; None means float32.
        like: an array whose framework and device to use; None means the default backend.

    Returns:
        `(heads, length, source)`; a causal mask is separate.

    Raises:
        ArgumentError: `heads` is 0, or there are more queries than keys.

    Example:
        >>> import nestarray as na
        >>> na.alibi_bias(2, 2)[0]
        array([[ 0.    , -0.0625],
               [-0.0625,  0.    ]], dtype=float32)

    References:
        https://arxiv.org/abs/2108.12409
    """
    source = length if source is None else source
    if num_heads < 1 or not 0 <= length <= source:
        raise ArgumentError(
            f"alibi_bias: got num_heads={num_heads}, length={length}, source={source}, expected a "
            "head at least and no more queries than keys"
        )
    power = 2 ** int(math.log2(num_heads))
    slopes = [2.0 ** (-8.0 * (h + 1) / power) for h in range(power)]
    slopes += [2.0 ** (-4.0 * (h + 1) / power) for h in range(0, 2 * (num_heads - power), 2)]
    distance = np.abs(np.arange(source - length, source)[:, None] - np.arange(source))
    bias = -np.asarray(slopes)[:, None, None] * distance + 0.0  # no negative zero
    return ops.asarray(bias, dtype=dtypes.float32 if dtype is None else dtype, like=like)
