"""Positions in a sequence: vectors to add to embeddings, and biases of attention scores.

Positions are integers, so that a decoder continues where its cache ends. Biases depend on distances
alone; `GroupedQueryAttention` takes them as ``relative_bias=``, and a `RotaryEmbedding` as
``positions=``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

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
        frequencies = np.asarray(
            self.base ** (-np.arange(0, self.embedding_dim, 2) / self.embedding_dim), np.float32
        )
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

    The slopes mₕ are a geometric sequence, as in `na.alibi_bias`.

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
