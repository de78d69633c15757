"""Largest elements, permutations, and quasi-random numbers.

Upstream: https://www.tensorflow.org/api_docs/python/tf/math/top_k
"""

from __future__ import annotations

from typing import Any, NamedTuple

import nestarray as na
from nestarray import dtypes, lazy_imports
from nestarray.errors import ArgumentError
from nestarray.frontends.tensorflow.conversion import integers, tensor
from nestarray.typing import Array, DTypeLike

__all__ = [
    "approx_max_k", "approx_min_k", "in_top_k", "invert_permutation", "sobol_sample", "top_k",
]  # fmt: skip


class TopKV2(NamedTuple):
    """The largest elements and their indices."""

    values: Any
    indices: Any


def top_k(
    input: Any,
    k: Any = 1,
    sorted: bool = True,
    index_type: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> TopKV2:
    """The k largest elements of the last axis, in descending order, and their indices."""
    values, indices = na.top_k(tensor(input), integers(k))
    return TopKV2(values, na.astype(indices, index_type))


def approx_max_k(
    operand: Any,
    k: Any,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> tuple[Array, Array]:
    """The k largest elements of an axis and their indices, exactly."""
    values, indices = na.top_k(tensor(operand), integers(k), axis=reduction_dimension)
    return values, na.astype(indices, dtypes.int32)


def approx_min_k(
    operand: Any,
    k: Any,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> tuple[Array, Array]:
    """The k smallest elements of an axis and their indices, exactly."""
    x = tensor(operand)
    values, indices = na.top_k(x, integers(k), axis=reduction_dimension, largest=False)
    return values, na.astype(indices, dtypes.int32)


def in_top_k(targets: Any, predictions: Any, k: Any, name: str | None = None) -> Array:
    """Whether the score of each target is among the k largest of its row; ties are."""
    return na.in_top_k(tensor(targets), tensor(predictions), k=integers(k))


def invert_permutation(x: Any, name: str | None = None) -> Array:
    """The inverse of a permutation of 0 to n − 1."""
    x = tensor(x)
    return na.astype(na.argsort(x), dtypes.dtype_of(x))


def sobol_sample(
    dim: Any,
    num_results: Any,
    skip: Any = 0,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Array:
    """Points of the Sobol sequence in the unit cube, computed by SciPy.

    Args:
        dim: the number of dimensions, up to 1111.
        num_results: the number of points.
        skip: the number of points to leave out at the beginning, after the origin.
        dtype: float32 or float64.
        name: has no effect.

    Returns:
        `(num_results, dim)`, on the default backend.
    """
    dim, count, skip = integers(dim), integers(num_results), integers(skip)
    if not 1 <= dim <= 1111:
        raise ArgumentError(f"sobol_sample: dim: got {dim}, expected 1 to 1111")
    qmc = lazy_imports.optional("scipy.stats.qmc", "tf.math.sobol_sample needs", extra="jax")
    sequence = qmc.Sobol(dim, scramble=False, bits=32)
    sequence.fast_forward(skip + 1)
    return na.asarray(sequence.random(count), dtype=dtype)
