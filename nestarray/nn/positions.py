"""Positions in a sequence: rotations of queries and keys, biases of scores, and vectors to add.

Positions are integers, so that a decoder continues where its cache ends. Rotations and biases depend
on distances alone; attention layers take them as ``positions=`` and ``relative_bias=``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from nestarray import dtypes, ops
from nestarray.errors import ArgumentError
from nestarray.errors.signatures import signature_errors
from nestarray.nn import initializers
from nestarray.nn.embeddings import Embedding
from nestarray.nn.initializers import Initializer
from nestarray.nn.module import Module, Variable
from nestarray.typing import Array


def position_range(length: int | Array, like: Array) -> Array:
    """The integers 0 … length − 1, also of a length that is known at run time only.

    Args:
        length: an element of ``na.shape(x)``.
        like: an array whose framework and device to use.

    Returns:
        `(length,)`, int32.
    """
    if isinstance(length, int):
        return ops.arange(length, dtype=dtypes.int32, like=like)
    return ops.subtract(ops.cumulative_sum(ops.ones((length,), dtype=dtypes.int32, like=like)), 1)


class RotaryEmbedding(Module):
    """Rotates pairs of features by angles θᵢ = position · fᵢ, with fᵢ = base^(−2i / dim).

    The product of a rotated query and a rotated key depends on the distance of their positions.

    Args:
        dim: the number of rotated features, even; features beyond it are unchanged.
        base: of the frequencies.
        interleaved: pair the features 2i and 2i + 1; False pairs i and i + dim / 2, as Llama.
        frequencies: the dim / 2 frequencies f, such as `llama3_frequencies` and
            `yarn_frequencies` compute; None is the formula above.
        factor: of the rotated features, the attention factor of YaRN.

    Raises:
        ArgumentError: `dim` is odd, or the number of frequencies is not dim / 2.

    Example:
        >>> import numpy as np, nestarray as na
        >>> rotate = na.nn.RotaryEmbedding(2).init(na.random.key(0))
        >>> rotate(np.ones((3, 2), np.float32)).round(3)
        array([[ 1.   ,  1.   ],
               [-0.301,  1.382],
               [-1.325,  0.493]], dtype=float32)

    References:
        https://arxiv.org/abs/2104.09864
    """

    @signature_errors()
    def __init__(
        self,
        dim: int,
        base: float = 10000.0,
        *,
        interleaved: bool = False,
        frequencies: Sequence[float] | np.ndarray | None = None,
        factor: float = 1.0,
    ) -> None:
        if dim < 2 or dim % 2:
            raise ArgumentError(f"RotaryEmbedding: dim: got {dim}, expected an even number")
        self.dim, self.base, self.interleaved, self.factor = dim, base, interleaved, factor
        self._frequencies = np.asarray(
            _frequencies(dim, base) if frequencies is None else frequencies, np.float32
        )
        if self._frequencies.shape != (dim // 2,):
            raise ArgumentError(
                f"RotaryEmbedding: frequencies: got the shape {self._frequencies.shape}, expected "
                f"({dim // 2},) for dim={dim}"
            )

    def forward(self, x: Array, positions: Array | None = None) -> Array:
        """Rotate the features of each position.

        Args:
            x: `(*batch, length, features)`, or with `(batch, length)` positions
                `(batch, *heads, length, features)`.
            positions: `(length,)` or `(batch, length)`, integers; None is 0 … length − 1.

        Returns:
            the shape of x.
        """
        if positions is None:
            positions = position_range(ops.shape(x)[-2], x)
        places = ops.astype(positions, dtypes.float32)
        if len(positions.shape) > 1:
            places = ops.expand_dims(places, tuple(range(1, len(x.shape) - 2)))
        angles = ops.expand_dims(places, -1) * ops.asarray(self._frequencies, like=x)
        dtype = dtypes.dtype_of(x)
        cos, sin = (
            ops.astype(ops.multiply(wave(angles), self.factor), dtype)
            for wave in (ops.cos, ops.sin)
        )
        return ops.rotary_embedding(x, cos, sin, interleaved=self.interleaved)


def _frequencies(dim: int, base: float) -> np.ndarray:
    """base^(−2i / dim), float64."""
    return base ** (-np.arange(0, dim, 2) / dim)


@signature_errors()
def llama3_frequencies(
    dim: int,
    base: float = 500000.0,
    *,
    factor: float = 8.0,
    low_freq_factor: float = 1.0,
    high_freq_factor: float = 4.0,
    original_length: int = 8192,
) -> np.ndarray:
    """Rotary frequencies of Llama 3.1: long waves are divided by `factor`, short ones are unchanged.

    Args:
        dim: the number of rotated features.
        base: of the frequencies before scaling.
        factor: the divisor.
        low_freq_factor: a wave longer than ``original_length / low_freq_factor`` is long.
        high_freq_factor: a wave shorter than ``original_length / high_freq_factor`` is short;
            those between are interpolated.
        original_length: the length of the sequences of the first training.

    Returns:
        `(dim / 2,)`, float64.

    Example:
        >>> import nestarray as na
        >>> na.nn.positions.llama3_frequencies(4, 100.0, original_length=32)
        array([1.    , 0.0125])

    References:
        https://arxiv.org/abs/2407.21783
    """
    plain = _frequencies(dim, base)
    turns = original_length * plain / (2 * math.pi)
    share = (turns - low_freq_factor) / (high_freq_factor - low_freq_factor)
    share = np.clip(share, 0.0, 1.0)
    return plain * (share + (1 - share) / factor)


@signature_errors()
def yarn_frequencies(
    dim: int,
    base: float = 10000.0,
    *,
    factor: float,
    original_length: int,
    beta_fast: float = 32.0,
    beta_slow: float = 1.0,
    truncate: bool = True,
) -> np.ndarray:
    """Rotary frequencies of YaRN: a ramp over the features from the plain ones to those over `factor`.

    The layer multiplies rotated features by ``factor=0.1 * math.log(factor) + 1``.

    Args:
        dim: the number of rotated features.
        base: of the frequencies before scaling.
        factor: the new length over the original one.
        original_length: the length of the sequences of the first training.
        beta_fast: features with more turns in the original length are unchanged.
        beta_slow: features with fewer turns are divided by `factor`.
        truncate: whether the ends of the ramp are integers.

    Returns:
        `(dim / 2,)`, float64.

    Example:
        >>> import nestarray as na
        >>> na.nn.positions.yarn_frequencies(4, 100.0, factor=4.0, original_length=256)
        array([1.    , 0.0625])

    References:
        https://arxiv.org/abs/2309.00071
    """

    def place(turns: float) -> float:
        return dim * math.log(original_length / (turns * 2 * math.pi)) / (2 * math.log(base))

    low, high = place(beta_fast), place(beta_slow)
    if truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dim - 1)
    ramp = np.clip((np.arange(dim // 2) - low) / max(high - low, 0.001), 0.0, 1.0)
    plain = _frequencies(dim, base)
    return plain * (1 - ramp + ramp / factor)


class SinePositionEncoding(Module):
    """x + P with P[p, 2i] = sin(p · f), P[p, 2i + 1] = cos(p · f) and f = base^(−2i / dim).

    Args:
        embedding_dim: size of the last axis of x.
        base: of the frequencies.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.SinePositionEncoding(4).init(na.random.key(0))
        >>> net(np.zeros((2, 4), np.float32)).round(3)
        array([[0.   , 1.   , 0.   , 1.   ],
               [0.841, 0.54 , 0.01 , 1.   ]], dtype=float32)

    References:
        https://arxiv.org/abs/1706.03762
        https://keras.io/keras_hub/api/modeling_layers/sine_position_encoding/
    """

    @signature_errors()
    def __init__(self, embedding_dim: int, base: float = 10000.0) -> None:
        self.embedding_dim, self.base = embedding_dim, base

    def forward(self, x: Array, positions: Array | None = None) -> Array:
        """Add the encodings.

        Args:
            x: `(*batch, length, embedding_dim)`.
            positions: `(length,)` or `(*batch, length)`, integers; None is 0 … length − 1.

        Returns:
            the shape of x.
        """
        if positions is None:
            positions = position_range(ops.shape(x)[-2], x)
        count = (self.embedding_dim + 1) // 2
        frequencies = np.asarray(_frequencies(self.embedding_dim, self.base), np.float32)
        places = ops.expand_dims(ops.astype(positions, dtypes.float32), -1)
        angles = places * ops.asarray(frequencies, like=x)
        waves = ops.stack([ops.sin(angles), ops.cos(angles)], axis=-1)
        waves = ops.reshape(waves, (*ops.shape(positions), 2 * count))
        return ops.add(x, ops.astype(waves[..., : self.embedding_dim], dtypes.dtype_of(x)))


class PositionEmbedding(Module):
    """x + weight[positions], with learned vectors for the positions 0 … sequence_length − 1.

    Args:
        sequence_length: the number of positions.
        embedding_dim: size of the last axis of x.
        initializer: of the weight; None is normal with the standard deviation 0.02, as in GPT-2.

    Variables: weight `(sequence_length, embedding_dim)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.PositionEmbedding(16, 4).init(na.random.key(0))
        >>> net(np.ones((2, 5, 4), np.float32)).shape
        (2, 5, 4)

    References:
        https://keras.io/keras_hub/api/modeling_layers/position_embedding/
    """

    @signature_errors()
    def __init__(
        self, sequence_length: int, embedding_dim: int, *, initializer: Initializer | None = None
    ) -> None:
        self.sequence_length, self.embedding_dim = sequence_length, embedding_dim
        self._initializer = initializer or initializers.normal(0.02)

    def variables(self) -> Mapping[str, Variable]:
        """weight."""
        return {"weight": Variable((self.sequence_length, self.embedding_dim), self._initializer)}

    def forward(self, x: Array, positions: Array | None = None) -> Array:
        """Add the vectors.

        Args:
            x: `(*batch, length, embedding_dim)`.
            positions: `(length,)` or `(*batch, length)`, integers; None is 0 … length − 1.

        Returns:
            the shape of x.

        Raises:
            ArgumentError: `positions` is None, and x is longer than `sequence_length`.
        """
        length = ops.shape(x)[-2]
        if positions is not None:
            return ops.add(x, ops.embedding(positions, self.weight))
        if isinstance(length, int) and length > self.sequence_length:
            raise ArgumentError(
                f"PositionEmbedding: x: got a length of {length}, expected at most "
                f"sequence_length={self.sequence_length}"
            )
        return ops.add(x, self.weight[:length])


class AlibiBias(Module):
    """Attention with linear biases: −mₕ · |i − j| for head h, query i and key j.

    The slopes mₕ are those of `na.alibi_bias`.

    Args:
        num_heads: the number of heads.

    Example:
        >>> import numpy as np, nestarray as na
        >>> bias = na.nn.AlibiBias(2).init(na.random.key(0))
        >>> bias(np.arange(2), np.arange(2))[0]
        array([[ 0.    , -0.0625],
               [-0.0625,  0.    ]], dtype=float32)

    References:
        https://arxiv.org/abs/2108.12409
    """

    @signature_errors()
    def __init__(self, num_heads: int) -> None:
        if num_heads < 1:
            raise ArgumentError(f"AlibiBias: num_heads: got {num_heads}, expected one at least")
        self.num_heads = num_heads

    def forward(self, queries: Array, keys: Array) -> Array:
        """The biases of positions `(length,)` and `(source,)`: `(heads, length, source)`."""
        slopes = ops.abs(ops.alibi_bias(self.num_heads, 1, 2, like=queries)[:, :, :1])
        nearness = ops.negative(ops.abs(_distances(queries, keys)))
        return ops.multiply(slopes, ops.astype(nearness, dtypes.float32))


class RelativePositionBias(Module):
    """A learned bias for each head and bucket of distances, as in T5.

    Half of the buckets are exact distances; the others grow as a geometric sequence up to
    `max_distance`.

    Args:
        num_heads: the number of heads.
        num_buckets: the number of buckets, of both directions together.
        max_distance: larger distances share the last bucket.
        bidirectional: whether keys after the query have buckets too, as in an encoder.

    Variables: relative_attention_bias/weight `(num_buckets, heads)`.

    Raises:
        ArgumentError: there are too few buckets, or `max_distance` is within the exact ones.

    Example:
        >>> import numpy as np, nestarray as na
        >>> bias = na.nn.RelativePositionBias(2).init(na.random.key(0))
        >>> bias(np.arange(3), np.arange(5)).shape
        (2, 3, 5)

    References:
        https://arxiv.org/abs/1910.10683
    """

    @signature_errors()
    def __init__(
        self,
        num_heads: int,
        num_buckets: int = 32,
        max_distance: int = 128,
        bidirectional: bool = True,
    ) -> None:
        count = num_buckets // 2 if bidirectional else num_buckets
        if count < 2 or max_distance <= count // 2:
            raise ArgumentError(
                f"RelativePositionBias: num_buckets: got {num_buckets} with max_distance="
                f"{max_distance}, expected two buckets for a direction, and a larger distance than "
                "the exact ones"
            )
        self.num_heads, self.num_buckets = num_heads, num_buckets
        self.max_distance, self.bidirectional = max_distance, bidirectional
        self.relative_attention_bias = Embedding(num_buckets, num_heads)

    def forward(self, queries: Array, keys: Array) -> Array:
        """The biases of positions `(length,)` and `(source,)`: `(heads, length, source)`."""
        behind = _distances(queries, keys)
        if self.bidirectional:
            count = self.num_buckets // 2
            offset = ops.where(ops.less(behind, 0), count, 0)
            distance = ops.abs(behind)
        else:
            count, offset, distance = self.num_buckets, 0, ops.maximum(behind, 0)
        table = ops.asarray(_buckets(count, self.max_distance), like=queries)
        buckets = ops.take(table, ops.minimum(distance, self.max_distance), axis=0)
        return ops.moveaxis(self.relative_attention_bias(ops.add(buckets, offset)), -1, 0)


def _buckets(count: int, max_distance: int) -> np.ndarray:
    """The buckets of the distances 0 … max_distance, rounded in float32 as T5 does."""
    exact = count // 2
    distances = np.arange(max_distance + 1)
    ratio = np.log(np.maximum(distances, 1).astype(np.float32) / np.float32(exact))
    growth = ratio / np.float32(math.log(max_distance / exact)) * np.float32(count - exact)
    far = np.minimum(exact + growth.astype(np.int32), count - 1)
    return np.where(distances < exact, distances, far).astype(np.int32)


def _distances(queries: Array, keys: Array) -> Array:
    """i − j for query i and key j, int32."""
    first, second = (ops.astype(x, dtypes.int32) for x in (queries, keys))
    return ops.subtract(ops.expand_dims(first, -1), ops.expand_dims(second, -2))
