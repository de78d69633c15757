"""Rows of tables by their indices.

Upstream: https://www.tensorflow.org/api_docs/python/tf/nn/embedding_lookup
"""

from __future__ import annotations

from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.tensorflow.conversion import integers, tensor
from nestarray.frontends.tensorflow.math.segments import unsorted_segment_sum
from nestarray.typing import Array

__all__ = ["embedding_lookup", "embedding_lookup_sparse", "safe_embedding_lookup_sparse"]


def embedding_lookup(
    params: Any, ids: Any, max_norm: float | None = None, name: str | None = None
) -> Array:
    """The rows of a table, or of tables one below the other; `max_norm` bounds the norms of rows."""
    parts = list(params) if isinstance(params, (list, tuple)) else [params]
    table = parts[0] if len(parts) == 1 else na.concat(parts, axis=0)
    found = na.take(table, tensor(ids, like=table), axis=0)
    if max_norm is None:
        return found
    axes = tuple(range(len(na.shape(tensor(ids))), len(na.shape(found))))
    square = na.sum(na.square(found), axis=axes, keepdims=True)
    is_there = na.greater(square, 0)
    norm = na.where(is_there, na.sqrt(na.where(is_there, square, na.ones_like(square))), square)
    is_large = na.greater(norm, max_norm)
    limited = na.divide(na.multiply(found, max_norm), na.where(is_large, norm, na.ones_like(norm)))
    return na.where(is_large, limited, found)


def embedding_lookup_sparse(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    combiner: str | None = None,
    max_norm: float | None = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Array:
    """Weighted sums of the rows of a table, for each row of ids.

    Args:
        params: the table.
        sp_ids: a sparse matrix of ids: an object with `indices`, sorted by rows, `values` and
            `dense_shape`.
        sp_weights: a sparse matrix of weights with the same indices; None: ones.
        combiner: ``"sum"``; ``"mean"``, divided by the sum of weights, which is the default; or
            ``"sqrtn"``, divided by the root of the sum of their squares.
        max_norm: the largest norm of a row.
        name, allow_fast_lookup: have no effect.

    Returns:
        a row for each row of ids up to the last one with an id.
    """
    combiner = combiner or "mean"
    if combiner not in ("sum", "mean", "sqrtn"):
        raise ArgumentError(
            f"embedding_lookup_sparse: combiner: got {combiner!r}, expected 'sum', 'mean' or 'sqrtn'"
        )
    rows = na.getitem(sp_ids.indices, (slice(None), 0))
    count = int(na.max(rows)) + 1 if na.shape(rows)[0] else 0
    return _combined(params, sp_ids, sp_weights, rows, count, combiner, max_norm)


def _combined(
    params: Any, ids: Any, weights: Any, rows: Array, count: int, combiner: str, max_norm: Any
) -> Array:
    found = embedding_lookup(params, ids.values, max_norm)
    if weights is None:
        factors = na.ones((na.shape(found)[0],), dtype=dtypes.dtype_of(found), like=found)
    else:
        factors = na.astype(weights.values, dtypes.dtype_of(found))
    column = na.reshape(factors, (-1,) + (1,) * (len(na.shape(found)) - 1))
    total = unsorted_segment_sum(na.multiply(found, column), rows, count)
    if combiner == "sum":
        return total
    squares = na.square(column) if combiner == "sqrtn" else column
    divisor = unsorted_segment_sum(squares, rows, count)
    if combiner == "sqrtn":
        divisor = na.sqrt(divisor)
    return na.divide_no_nan(total, na.broadcast_to(divisor, na.shape(total)))


def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str = "mean",
    default_id: int | None = None,
    max_norm: float | None = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Array:
    """`embedding_lookup_sparse` without negative ids and weights, for matrices with empty rows.

    Returns:
        a row for each row of ids; for rows without ids the row `default_id` of the table, or zeros.
    """
    rows = na.getitem(sparse_ids.indices, (slice(None), 0))
    is_valid = na.greater_equal(sparse_ids.values, 0)
    if sparse_weights is not None and combiner != "sum":
        is_valid = na.logical_and(is_valid, na.greater(sparse_weights.values, 0))
    count = integers(sparse_ids.dense_shape)[0]
    zeros = na.zeros_like(sparse_ids.values)
    ids = _Values(na.where(is_valid, sparse_ids.values, zeros))
    table = embedding_weights
    if isinstance(table, (list, tuple)):
        table = table[0] if len(table) == 1 else na.concat(list(table), axis=0)
    dtype = dtypes.dtype_of(table)
    weights = na.astype(is_valid, dtype)
    if sparse_weights is not None:
        weights = na.multiply(na.astype(sparse_weights.values, dtype), weights)
    found = _combined(table, ids, _Values(weights), rows, count, combiner, max_norm)
    if default_id is None:
        return found
    filled = unsorted_segment_sum(na.astype(is_valid, dtypes.int32), rows, count)
    is_empty = na.reshape(na.equal(filled, 0), (-1,) + (1,) * (len(na.shape(found)) - 1))
    default = na.getitem(embedding_lookup(table, [default_id], max_norm), 0)
    return na.where(is_empty, default, found)


class _Values:
    """The values of a sparse tensor."""

    def __init__(self, values: Array) -> None:
        self.values = values
