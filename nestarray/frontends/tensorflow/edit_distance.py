"""The distance of sequences.

Upstream: https://www.tensorflow.org/api_docs/python/tf/edit_distance
"""

from __future__ import annotations

import math

import nestarray as na
from nestarray import dtypes
from nestarray.frontends.tensorflow.sparse.tensors import SparseTensor, padded_rows
from nestarray.typing import Array

__all__ = ["edit_distance"]


def edit_distance(
    hypothesis: SparseTensor,
    truth: SparseTensor,
    normalize: bool = True,
    name: str = "edit_distance",
) -> Array:
    """The least number of insertions, deletions and substitutions from one sequence to the other, float32.

    Args:
        hypothesis, truth: numbers; the elements along the last axis, in order, are a sequence.
        normalize: divide by the length of the true sequence; ∞ if that alone is empty.
        name: without effect.
    """
    lead = tuple([max(n) for n in zip(hypothesis.shape[:-1], truth.shape[:-1], strict=True)])
    a, of_a = padded_rows(hypothesis.indices, hypothesis.values, lead)
    b, of_b = padded_rows(truth.indices, truth.values, lead)
    count, columns = na.shape(b)
    places = na.arange(columns + 1, dtype=dtypes.float32, like=b)
    first = na.broadcast_to(places, (count, columns + 1))

    def step(row: Array, symbols: Array) -> tuple[Array, Array]:
        """The distances of one symbol more to all beginnings of the true sequence."""
        differs = na.astype(na.not_equal(symbols[:, None], b), dtypes.float32)
        found = na.minimum(row[:, 1:] + 1, row[:, :-1] + differs)
        found = na.concat([row[:, :1] + 1, found], axis=1)
        found = na.cummin(found - places, axis=1) + places  # insertions
        return found, found

    _, rows = na.scan(step, first, na.matrix_transpose(a))
    table = na.concat([first[None], rows])
    batch = na.arange(count, dtype=dtypes.int32, like=of_a)
    found = na.getitem(table, (of_a, batch, of_b))
    if normalize:
        empty = na.where(na.greater(of_a, 0), math.inf, na.zeros_like(found))
        share = na.divide(found, na.astype(na.maximum(of_b, 1), dtypes.float32))
        found = na.where(na.greater(of_b, 0), share, empty)
    return na.reshape(found, lead)
